//! Reading `/sys` and `/proc`, of this machine or of a recorded tree.

use std::fs;
use std::path::{Path, PathBuf};

/// Where `sys`, `proc` and the rest of the file system are found: the running machine, or a recorded tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SysRoot {
    root: PathBuf,
}

/// A block device's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

impl SysRoot {
    /// The running machine.
    pub fn live() -> SysRoot {
        SysRoot { root: PathBuf::from("/") }
    }

    /// A tree that holds a recorded `sys` and `proc`.
    pub fn at(root: impl Into<PathBuf>) -> SysRoot {
        SysRoot { root: root.into() }
    }

    /// Whether it is the running machine.
    pub(crate) fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    /// An absolute path of the tree's machine as a path on this one.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The content of a file without surrounding white space; `None` where it is missing, unreadable or empty.
    pub(crate) fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        read(&self.path(path))
    }
}

impl DeviceNumber {
    /// From the `254:0` of `/sys/…/dev` and mountinfo.
    pub(crate) fn parse(text: &str) -> Option<DeviceNumber> {
        let (major, minor) = text.split_once(':')?;
        Some(DeviceNumber { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// From `st_rdev` or `st_dev`.
    pub(crate) fn from_raw(raw: u64) -> DeviceNumber {
        DeviceNumber { major: rustix::fs::major(raw), minor: rustix::fs::minor(raw) }
    }
}

impl std::fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// One directory of sysfs, by its path on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    /// An attribute without surrounding white space; `None` where it is missing, unreadable or empty.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        read(&self.0.join(name))
    }

    /// A decimal attribute.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    /// An attribute that is 0 or 1.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.number(name).map(|number| number != 0)
    }

    /// Whether there is such an attribute, directory or link.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.join(name).symlink_metadata().is_ok()
    }

    /// A directory below, links followed; `None` where it is missing.
    pub(crate) fn below(&self, name: &str) -> Option<Directory> {
        fs::canonicalize(self.0.join(name)).ok().map(Directory)
    }

    /// The directory above.
    pub(crate) fn above(&self) -> Option<Directory> {
        self.0.parent().map(|parent| Directory(parent.to_owned()))
    }

    /// The last part of its path.
    pub(crate) fn name(&self) -> String {
        self.0.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The last part of where a link points (`subsystem` → `usb`).
    pub(crate) fn link_name(&self, name: &str) -> Option<String> {
        let target = fs::read_link(self.0.join(name)).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }

    /// The names in it, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        names(&self.0)
    }
}

/// The names in a directory, sorted so that numbers rise (`loop2` before `loop10`); empty where it cannot be read.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_by(|a, b| natural_key(a).cmp(&natural_key(b)));
    names
}

fn natural_key(name: &str) -> (&str, u64, &str) {
    let start = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    let end = name[start..].find(|c: char| !c.is_ascii_digit()).map_or(name.len(), |length| start + length);
    (&name[..start], name[start..end].parse().unwrap_or(0), &name[end..])
}

fn read(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    // Some SCSI and eMMC attributes are padded with zero bytes.
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_rise() {
        let mut names = ["loop10", "mmcblk0", "loop2", "mmcblk0boot1", "mmcblk0boot0", "sda"];
        names.sort_by(|a, b| natural_key(a).cmp(&natural_key(b)));
        assert_eq!(names, ["loop2", "loop10", "mmcblk0", "mmcblk0boot0", "mmcblk0boot1", "sda"]);
    }

    #[test]
    fn device_numbers() {
        assert_eq!(DeviceNumber::parse("254:0"), Some(DeviceNumber { major: 254, minor: 0 }));
        assert_eq!(DeviceNumber::parse("254"), None);
    }
}
