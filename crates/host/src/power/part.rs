//! Finding a part again that was without power: by what names it, wherever the kernel puts it now.

use crate::blocks::{FileId, Node};
use crate::list;
use crate::safety::Place;
use crate::sysfs::SysRoot;
use crate::uses::Snapshot;
use flashscope_units::Bytes;
use std::path::{Path, PathBuf};

/// A device, or a file of an emulated one, as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    path: PathBuf,
    capacity: Bytes,
    name: Name,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Name {
    /// The identity of a block device without its size, which may not be the same any more.
    Identity(String),
    /// The inode of a file.
    Inode(u64),
}

/// What stands where it stood, or elsewhere under its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Back {
    pub(super) path: PathBuf,
    pub(super) capacity: Bytes,
    pub(super) read_only: bool,
}

/// What is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// It is.
    Back(Back),
    /// Nothing of its name, or nothing in it yet.
    Nothing,
    /// Something else is at its place, or it cannot be told from something else.
    Other(String),
}

impl Part {
    pub(super) fn of(sys: &SysRoot, place: &Place) -> Part {
        let name = match (&place.node, place.file) {
            (Some(node), _) => Name::Identity(identity(sys, &place.snapshot, node)),
            (None, FileId::File(_, inode)) => Name::Inode(inode),
            (None, FileId::Block(number)) => Name::Identity(format!("{}:{}", number.major, number.minor)),
        };
        Part { path: place.path.clone(), capacity: Bytes(place.size), name }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn capacity(&self) -> Bytes {
        self.capacity
    }

    /// Looks for it.
    pub(super) fn look(&self, sys: &SysRoot) -> Sight {
        let identity = match &self.name {
            Name::Inode(inode) => return self.look_at_file(sys, *inode),
            Name::Identity(identity) => identity,
        };
        let snapshot = Snapshot::take(sys);
        let named = |node: &&Node| self::identity(sys, &snapshot, node) == *identity && node.bytes() > 0;
        let found: Vec<&Node> = snapshot.blocks.nodes.iter().filter(named).collect();
        let here = found.iter().find(|node| node.path() == self.path.canonicalize().unwrap_or(self.path.clone()));
        match (here, &found[..]) {
            (Some(node), _) | (None, [node]) => Sight::Back(Back {
                path: node.path(),
                capacity: Bytes(node.bytes()),
                read_only: [node, snapshot.blocks.disk_of(node)]
                    .iter()
                    .any(|one| one.directory.flag("ro") == Some(true)),
            }),
            (None, []) => self.in_its_place(sys, &snapshot),
            (None, [_, _, ..]) => Sight::Other(format!("there are {} devices of its name", found.len())),
        }
    }

    fn look_at_file(&self, sys: &SysRoot, inode: u64) -> Sight {
        match Place::find(sys, &self.path) {
            Ok(Place { file: FileId::File(_, found), size, .. }) if found == inode && size > 0 => {
                Sight::Back(Back { path: self.path.clone(), capacity: Bytes(size), read_only: false })
            }
            Ok(Place { file: FileId::File(_, found), .. }) if found == inode => Sight::Nothing,
            Ok(_) => Sight::Other(format!("another file is at {}", self.path.display())),
            Err(_) => Sight::Nothing,
        }
    }

    fn in_its_place(&self, sys: &SysRoot, snapshot: &Snapshot) -> Sight {
        let Some(FileId::Block(number)) = FileId::of(&self.path) else { return Sight::Nothing };
        match snapshot.blocks.by_number(number).filter(|node| node.bytes() > 0) {
            Some(node) if !self::identity(sys, snapshot, node).is_empty() => {
                Sight::Other(format!("another device is at {}", self.path.display()))
            }
            _ => Sight::Nothing,
        }
    }
}

/// What names a device, without its size; empty where it has no name. A loop device is named by its file.
fn identity(sys: &SysRoot, snapshot: &Snapshot, node: &Node) -> String {
    let identity = list::identity_of(sys, &snapshot.blocks, node).0;
    match identity.strip_prefix("loop:") {
        Some(_) => identity,
        None => identity.rsplit_once(':').map_or(identity.clone(), |(name, _)| name.to_owned()),
    }
}
