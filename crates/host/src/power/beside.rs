//! Whether a file lies on a device that is to lose its power.

use crate::blocks::{FileId, Node};
use crate::error::HostError;
use crate::mounts;
use crate::safety::Place;
use crate::sysfs::SysRoot;
use crate::uses::Snapshot;
use std::path::Path;

/// Whether what is at `path`, or would be in its folder, lies on the device or file at `target`, or on something that stands on it.
///
/// # Errors
/// The target cannot be looked at.
pub fn stands_on(sys: &SysRoot, path: &Path, target: &Path) -> Result<bool, HostError> {
    let target = Place::find(sys, target)?;
    let mut below = Vec::new();
    walk_path(sys, &target.snapshot, path, &mut below);
    Ok(itself(&target).iter().any(|file| below.contains(file)))
}

/// Everything that counts as the target: its whole disk with all partitions, and the file of a loop device.
fn itself(target: &Place) -> Vec<FileId> {
    let Some(node) = &target.node else { return vec![target.file] };
    let blocks = &target.snapshot.blocks;
    let disk = blocks.disk_of(node);
    let parts = blocks.nodes.iter().filter(|other| blocks.disk_of(other).number == disk.number);
    let backing = disk.backing.as_ref().and_then(|backing| backing.file);
    parts.map(|part| FileId::Block(part.number)).chain(backing).collect()
}

/// Everything that the file system stands on, on which a path lies.
fn walk_path(sys: &SysRoot, snapshot: &Snapshot, path: &Path, found: &mut Vec<FileId>) {
    let there = path.ancestors().find(|part| part.exists()).unwrap_or(Path::new("."));
    let Some(mounted) = mounts::mounted_at(sys, there) else { return };
    let mine = |mount: &&mounts::Mount| mount.elsewhere.is_none() && Path::new(&mount.point) == mounted.point;
    // btrfs and the like have several devices, and a number that belongs to none of them.
    let listed = snapshot.mounts.iter().filter(mine).flat_map(|mount| &mount.devices).copied();
    for number in listed.chain([mounted.device]) {
        if let Some(node) = snapshot.blocks.by_number(number) {
            walk_node(sys, snapshot, node, found);
        }
    }
}

fn walk_node(sys: &SysRoot, snapshot: &Snapshot, node: &Node, found: &mut Vec<FileId>) {
    let own = FileId::Block(node.number);
    if found.contains(&own) {
        return;
    }
    found.push(own);
    let blocks = &snapshot.blocks;
    let disk = blocks.disk_of(node);
    for below in blocks.slaves(node).chain([disk]) {
        walk_node(sys, snapshot, below, found);
    }
    let Some(backing) = &disk.backing else { return };
    match backing.file {
        Some(FileId::Block(number)) => {
            blocks.by_number(number).into_iter().for_each(|below| walk_node(sys, snapshot, below, found));
        }
        Some(file) => {
            found.push(file);
            walk_path(sys, snapshot, &backing.path, found);
        }
        None => {}
    }
}
