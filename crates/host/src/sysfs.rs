//! Reading `/sys` and `/proc`, of this machine or of a recorded tree.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Where `sys`, `proc` and the rest of the file system are found: the running machine, or a recorded tree. Links of a recorded tree
/// lead to places in it, whatever they say, so that nothing is ever read of the machine that it happens to lie on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SysRoot {
    root: PathBuf,
    /// Whether the tree is a copy of `/sys` alone.
    is_sys: bool,
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
        SysRoot { root: PathBuf::from("/"), is_sys: false }
    }

    /// A tree that holds a recorded `sys` and, where there is one, `proc`; or a copy of `/sys` itself, beside which `proc` may lie.
    pub fn at(root: impl Into<PathBuf>) -> SysRoot {
        let root = root.into();
        let is_sys = !root.join("sys").is_dir() && root.join("block").is_dir();
        let beside = root.parent().filter(|above| is_sys && root.ends_with("sys") && above.join("proc").is_dir());
        match beside {
            Some(above) => SysRoot { root: above.to_owned(), is_sys: false },
            None => SysRoot { root, is_sys },
        }
    }

    /// Whether it is the running machine.
    pub(crate) fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    /// An absolute path of the tree's machine as a path on this one, all links followed but in a path of the running machine.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        match self.is_live() {
            true => Path::new("/").join(path),
            false => self.on_this_machine(&self.resolved(path.as_ref())),
        }
    }

    /// The same path without links; `None` where nothing is there.
    pub(crate) fn canonical(&self, path: &Path) -> Option<PathBuf> {
        if self.is_live() {
            return fs::canonicalize(path).ok();
        }
        let resolved = self.resolved(path);
        self.on_this_machine(&resolved).symlink_metadata().is_ok().then_some(resolved)
    }

    /// Follows every link of a recorded tree within it: an absolute one begins at its root again, and nothing is above that.
    fn resolved(&self, path: &Path) -> PathBuf {
        let (mut at, mut links) = (PathBuf::from("/"), 0);
        let mut left: Vec<OsString> = parts(path);
        while let Some(part) = left.pop() {
            if part == ".." {
                at.pop();
                continue;
            }
            let next = at.join(&part);
            match fs::read_link(self.on_this_machine(&next)) {
                // As many as Linux follows.
                Ok(target) if links < 40 => {
                    links += 1;
                    if target.is_absolute() {
                        at = PathBuf::from("/");
                    }
                    left.extend(parts(&target));
                }
                _ => at = next,
            }
        }
        at
    }

    /// Where a path of a recorded tree without links lies.
    fn on_this_machine(&self, path: &Path) -> PathBuf {
        let inside = path.strip_prefix("/").unwrap_or(path);
        match inside.strip_prefix("sys") {
            Ok(inside) if self.is_sys => self.root.join(inside),
            // There is no `sys` in such a tree, hence nothing below it.
            Err(_) if self.is_sys => self.root.join("sys").join(inside),
            _ => self.root.join(inside),
        }
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

/// The names of a path, the last one first; without the root and `.`.
fn parts(path: &Path) -> Vec<OsString> {
    let name = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(name).collect()
}

/// One directory of sysfs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Directory {
    sys: SysRoot,
    /// On the tree's machine.
    path: PathBuf,
}

impl Directory {
    /// `/sys/block`, with an entry for each disk.
    pub(crate) fn of_disks(sys: &SysRoot) -> Directory {
        Directory { sys: sys.clone(), path: PathBuf::from("/sys/block") }
    }

    /// An attribute without surrounding white space; `None` where it is missing, unreadable or empty.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.sys.text(self.path.join(name))
    }

    /// An attribute that is no text.
    pub(crate) fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.sys.path(self.path.join(name))).ok()
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
        self.sys.path(&self.path).join(name).symlink_metadata().is_ok()
    }

    /// A directory below, links followed; `None` where it is missing.
    pub(crate) fn below(&self, name: &str) -> Option<Directory> {
        let path = self.sys.canonical(&self.path.join(name))?;
        Some(Directory { sys: self.sys.clone(), path })
    }

    /// The directory above.
    pub(crate) fn above(&self) -> Option<Directory> {
        self.path.parent().map(|parent| Directory { sys: self.sys.clone(), path: parent.to_owned() })
    }

    /// Where it is in the tree.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The last part of its path.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The last part of where a link points (`subsystem` → `usb`).
    pub(crate) fn link_name(&self, name: &str) -> Option<String> {
        let target = fs::read_link(self.sys.path(&self.path).join(name)).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }

    /// The names in it, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        names(&self.sys.path(&self.path))
    }

    /// The names in a directory below, sorted.
    pub(crate) fn names_in(&self, name: &str) -> Vec<String> {
        names(&self.sys.path(self.path.join(name)))
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
