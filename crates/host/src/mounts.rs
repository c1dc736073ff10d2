//! What is mounted, in every mount namespace that a process lives in, and what is swapped on.

use crate::blocks::{Blocks, FileId};
use crate::sysfs::{DeviceNumber, SysRoot, names};
use rustix::fs::{AtFlags, StatxFlags};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Every block device that it is known to stand on (several for btrfs); empty for virtual file systems.
    pub(crate) devices: Vec<DeviceNumber>,
    /// Where.
    pub(crate) point: String,
    /// Type of file system.
    pub(crate) file_system: String,
    /// Super-block options.
    pub(crate) options: String,
    /// A process that lives in its mount namespace where that is not our own.
    pub(crate) elsewhere: Option<u32>,
}

/// One swap area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Swap {
    /// Path as the kernel prints it.
    pub(crate) path: String,
    /// What is there.
    pub(crate) file: Option<FileId>,
}

/// The mounts of our own namespace, then those of all others.
pub(crate) fn mounts(sys: &SysRoot, blocks: &Blocks) -> Vec<Mount> {
    let resolve = Resolver { sys, blocks, btrfs: btrfs(sys) };
    let mut mounts = resolve.table("self", None);
    let mut seen: HashSet<String> = namespace(sys, "self").into_iter().collect();
    for name in names(&sys.path("/proc")) {
        let Ok(pid) = name.parse::<u32>() else { continue };
        if namespace(sys, &name).is_some_and(|namespace| seen.insert(namespace)) {
            mounts.extend(resolve.table(&name, Some(pid)));
        }
    }
    mounts
}

/// Everything that is swapped on.
pub(crate) fn swaps(sys: &SysRoot, blocks: &Blocks) -> Vec<Swap> {
    let table = sys.text("/proc/swaps").unwrap_or_default();
    let paths = table.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    paths
        .map(|path| {
            let path = unescape(path.trim_end_matches("\\040(deleted)"));
            let file = file_at(sys, blocks, &path);
            Swap { path, file }
        })
        .collect()
}

/// What is at a path of the tree's machine; a recorded tree has no device nodes, so names serve there.
pub(crate) fn file_at(sys: &SysRoot, blocks: &Blocks, path: &str) -> Option<FileId> {
    let by_name = || {
        let name = path.strip_prefix("/dev/")?;
        let mapped = name.strip_prefix("mapper/");
        let node = blocks.nodes.iter().find(|node| match mapped {
            Some(mapped) => node.directory.text("dm/name").as_deref() == Some(mapped),
            None => node.name == name.replace('/', "!"),
        })?;
        Some(FileId::Block(node.number))
    };
    match sys.is_live() {
        true => FileId::of(Path::new(path)).or_else(by_name),
        false => by_name().or_else(|| FileId::in_tree(sys, Path::new(path))),
    }
}

/// The number of the file system on which a file lies, as the kernel's own tables give it; `None` before Linux 5.8.
pub(crate) fn super_block(sys: &SysRoot, path: &Path) -> Option<DeviceNumber> {
    mounted_at(sys, path).map(|mount| mount.device)
}

/// A mount of our own namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MountedAt {
    /// Where.
    pub(crate) point: PathBuf,
    /// The file system, by the number of the kernel's own tables.
    pub(crate) device: DeviceNumber,
    /// Its kind (`ext4`).
    pub(crate) file_system: String,
    /// What it was mounted from.
    pub(crate) source: String,
    /// The options of the mount, then those of the file system.
    pub(crate) options: Vec<String>,
}

/// The mount that a path lies on; `None` before Linux 5.8.
pub(crate) fn mounted_at(sys: &SysRoot, path: &Path) -> Option<MountedAt> {
    let found = rustix::fs::statx(rustix::fs::CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    let id = (found.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(found.stx_mnt_id)?.to_string();
    let table = sys.text("/proc/self/mountinfo")?;
    let line = table.lines().find(|line| line.split(' ').next() == Some(&id)).and_then(Line::parse)?;
    let mut options: Vec<String> = line.options.split(',').map(str::to_owned).collect();
    for word in line.of_file_system.split(',') {
        // Of both there is one of these, and the mount's own decides.
        if !["rw", "ro", ""].contains(&word) {
            options.push(word.to_owned());
        }
    }
    let (device, file_system, source) = (line.number, line.file_system.to_owned(), line.source);
    Some(MountedAt { point: PathBuf::from(line.point), device, file_system, source, options })
}

/// One line of mountinfo (proc(5)): `36 35 98:0 /root /point options optional… - type source super-options`.
struct Line<'a> {
    number: DeviceNumber,
    point: String,
    /// Of the mount.
    options: &'a str,
    file_system: &'a str,
    source: String,
    /// Of the super block.
    of_file_system: &'a str,
}

impl Line<'_> {
    fn parse(line: &str) -> Option<Line<'_>> {
        let (mount, super_block) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(2);
        let number = DeviceNumber::parse(mount.next()?)?;
        let point = unescape(mount.nth(1)?);
        let options = mount.next().unwrap_or("");
        let mut super_block = super_block.split(' ');
        let (file_system, source) = (super_block.next()?, unescape(super_block.next()?));
        Some(Line { number, point, options, file_system, source, of_file_system: super_block.next().unwrap_or("") })
    }
}

struct Resolver<'a> {
    sys: &'a SysRoot,
    blocks: &'a Blocks,
    /// The devices of every mounted btrfs.
    btrfs: Vec<Vec<DeviceNumber>>,
}

impl Resolver<'_> {
    fn table(&self, process: &str, elsewhere: Option<u32>) -> Vec<Mount> {
        let table = self.sys.text(format!("/proc/{process}/mountinfo")).unwrap_or_default();
        table.lines().filter_map(|line| self.line(line, elsewhere)).collect()
    }

    fn line(&self, line: &str, elsewhere: Option<u32>) -> Option<Mount> {
        let Line { number, point, file_system, source, of_file_system, .. } = Line::parse(line)?;
        let devices = self.devices(number, file_system, &source);
        Some(Mount {
            devices,
            point,
            file_system: file_system.to_owned(),
            options: of_file_system.to_owned(),
            elsewhere,
        })
    }

    fn devices(&self, number: DeviceNumber, file_system: &str, source: &str) -> Vec<DeviceNumber> {
        if number.major != 0 {
            return vec![number];
        }
        // btrfs, bcachefs and the like number themselves; a bcachefs source names all devices with colons.
        let named: Vec<DeviceNumber> = source
            .split(':')
            .filter(|source| source.starts_with("/dev/"))
            .filter_map(|source| match file_at(self.sys, self.blocks, source) {
                Some(FileId::Block(number)) => Some(number),
                _ => None,
            })
            .collect();
        let whole = |set: &&Vec<DeviceNumber>| named.iter().any(|number| set.contains(number));
        match self.btrfs.iter().find(whole) {
            Some(set) if file_system == "btrfs" => set.clone(),
            _ => named,
        }
    }
}

fn btrfs(sys: &SysRoot) -> Vec<Vec<DeviceNumber>> {
    let root = sys.path("/sys/fs/btrfs");
    let devices = |id: &String| {
        let directory = root.join(id).join("devices");
        let number =
            |name: &String| DeviceNumber::parse(fs::read_to_string(directory.join(name).join("dev")).ok()?.trim());
        names(&directory).iter().filter_map(number).collect()
    };
    names(&root).iter().map(devices).collect()
}

/// The mount namespace of a process: `mnt:[4026531841]`.
fn namespace(sys: &SysRoot, process: &str) -> Option<String> {
    let link = fs::read_link(sys.path(format!("/proc/{process}/ns")).join("mnt")).ok()?;
    Some(link.to_string_lossy().into_owned())
}

/// Undoes the kernel's `\040` for blanks and the like.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let octal = (*first == b'\\').then(|| tail.get(..3)).flatten().and_then(octal);
        bytes.push(octal.unwrap_or(*first));
        rest = if octal.is_some() { &tail[3..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn octal(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        let check = |text: &str, expect: &str| assert_eq!(unescape(text), expect);
        check("/mnt/my\\040card", "/mnt/my card");
        check("/mnt/plain", "/mnt/plain");
        check("/a\\134b\\011", "/a\\b\t");
        check("/odd\\04", "/odd\\04");
        check("\\", "\\");
    }
}
