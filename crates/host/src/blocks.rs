//! The block devices of a machine and how they stand on each other.

use crate::ioctl;
use crate::sysfs::{DeviceNumber, Directory, SysRoot};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// One block device or partition.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The kernel's name (`sda1`, `cciss!c0d0`).
    pub(crate) name: String,
    pub(crate) number: DeviceNumber,
    pub(crate) directory: Directory,
    /// For a partition, the disk that it is on.
    pub(crate) whole: Option<String>,
    /// For a bound loop device, what it stands on.
    pub(crate) backing: Option<Backing>,
}

/// What a loop device stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Backing {
    /// The path as the kernel prints it, without a mark of deletion.
    pub(crate) path: PathBuf,
    /// What is there; `None` where that cannot be told.
    pub(crate) file: Option<FileId>,
    /// Whether the loop device has no node through which it could be asked. Then the path is all there is, and that may mean another
    /// file or device by now.
    pub(crate) unseen: bool,
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FileId {
    /// A block device.
    Block(DeviceNumber),
    /// A regular file: its file system's device number and its inode.
    File(DeviceNumber, u64),
}

/// All of them.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    pub(crate) nodes: Vec<Node>,
}

impl Blocks {
    pub(crate) fn read(sys: &SysRoot) -> Blocks {
        let mut nodes = Vec::new();
        let disks = Directory::of_disks(sys);
        for name in disks.names() {
            let Some(directory) = disks.below(&name) else { continue };
            let Some(disk) = Node::read(sys, &directory, name.clone(), None) else { continue };
            nodes.push(disk);
            for part in directory.names() {
                let Some(below) = directory.below(&part).filter(|below| below.has("partition")) else { continue };
                nodes.extend(Node::read(sys, &below, part, Some(name.clone())));
            }
        }
        Blocks { nodes }
    }

    pub(crate) fn by_name(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }

    pub(crate) fn by_number(&self, number: DeviceNumber) -> Option<&Node> {
        self.nodes.iter().find(|node| node.number == number)
    }

    pub(crate) fn partitions<'a>(&'a self, disk: &'a Node) -> impl Iterator<Item = &'a Node> + 'a {
        self.nodes.iter().filter(move |node| node.whole.as_deref() == Some(&disk.name))
    }

    /// Device-mapper, md, bcache … devices that stand on a device.
    pub(crate) fn holders<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = &'a Node> + 'a {
        node.linked("holders").into_iter().filter_map(|name| self.by_name(&name))
    }

    /// What a device-mapper or md device stands on.
    pub(crate) fn slaves<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = &'a Node> + 'a {
        node.linked("slaves").into_iter().filter_map(|name| self.by_name(&name))
    }

    /// Loop devices that stand on a file or device.
    pub(crate) fn loops_on(&self, file: FileId) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(move |node| node.backing.as_ref().is_some_and(|backing| backing.file == Some(file)))
    }

    /// The disk of a partition, or the device itself.
    pub(crate) fn disk_of<'a>(&'a self, node: &'a Node) -> &'a Node {
        node.whole.as_ref().and_then(|disk| self.by_name(disk)).unwrap_or(node)
    }
}

impl Node {
    fn read(sys: &SysRoot, directory: &Directory, name: String, whole: Option<String>) -> Option<Node> {
        let number = DeviceNumber::parse(&directory.text("dev")?)?;
        let backing = Backing::read(sys, directory, &name);
        Some(Node { name, number, directory: directory.clone(), whole, backing })
    }

    /// Where its node in `/dev` is.
    pub(crate) fn path(&self) -> PathBuf {
        Path::new("/dev").join(self.name.replace('!', "/"))
    }

    /// sysfs counts sectors of 512 bytes whatever the logical block.
    pub(crate) fn bytes(&self) -> u64 {
        self.directory.number("size").unwrap_or(0) * 512
    }

    fn linked(&self, directory: &str) -> Vec<String> {
        self.directory.names_in(directory)
    }
}

impl Backing {
    fn read(sys: &SysRoot, directory: &Directory, name: &str) -> Option<Backing> {
        let printed = directory.text("loop/backing_file")?;
        let deleted = printed.ends_with(DELETED);
        let path = PathBuf::from(printed.trim_end_matches(DELETED));
        // The path may lead elsewhere or nowhere by now, or mean another mount namespace; the kernel keeps the numbers.
        let asked = if sys.is_live() { ask_loop(name) } else { Err(Errno::NOSYS) };
        let file = match asked {
            Ok(file) => Some(file),
            Err(_) if deleted => None,
            Err(_) => FileId::in_tree(sys, &path),
        };
        Some(Backing { path, file, unseen: asked == Err(Errno::NOENT) })
    }
}

impl FileId {
    /// What is at a path, links followed; `None` where there is nothing, or neither a file nor a block device.
    pub(crate) fn of(path: &Path) -> Option<FileId> {
        FileId::of_metadata(&fs::metadata(path).ok()?)
    }

    /// What is at a path of a tree's machine. A regular file of a recorded tree lies on no disk of that machine.
    pub(crate) fn in_tree(sys: &SysRoot, path: &Path) -> Option<FileId> {
        match FileId::of(&sys.path(path))? {
            FileId::File(_, inode) if !sys.is_live() => Some(FileId::File(DeviceNumber { major: 0, minor: 0 }, inode)),
            file => Some(file),
        }
    }

    pub(crate) fn is_block(&self) -> bool {
        matches!(self, FileId::Block(_))
    }

    pub(crate) fn of_metadata(found: &fs::Metadata) -> Option<FileId> {
        if found.file_type().is_block_device() {
            Some(FileId::Block(DeviceNumber::from_raw(found.rdev())))
        } else if found.is_file() {
            Some(FileId::File(DeviceNumber::from_raw(found.dev()), found.ino()))
        } else {
            None
        }
    }
}

/// What the kernel prints behind the path of a file that was removed.
const DELETED: &str = " (deleted)";

/// Asks a loop device itself what it stands on.
fn ask_loop(name: &str) -> Result<FileId, Errno> {
    let path = Path::new("/dev").join(name);
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let status = ioctl::loop_status(rustix::fs::open(&path, flags, Mode::empty())?)?;
    Ok(match status.block_device {
        Some(number) => FileId::Block(DeviceNumber::from_raw(number)),
        None => FileId::File(DeviceNumber::from_raw(status.device), status.inode),
    })
}
