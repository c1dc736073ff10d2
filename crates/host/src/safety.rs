//! What speaks against writing to a device or file.
//!
//! Everything is looked up by the device's number or the file's inode, never by its name, so that a symbolic link
//! or another name for the same thing makes no difference. Looking opens the device for reading at most. The kernel
//! has the last word: an exclusive open fails whenever it knows of a use that this module does not.

use crate::blocks::{FileId, Node};
use crate::contents;
use crate::error::HostError;
use crate::list;
use crate::mounts;
use crate::openers::{self, Hold, Opener};
use crate::signature;
use crate::sysfs::SysRoot;
use crate::uses::{Snapshot, quoted};
use flashscope_device::{Refusal, RefusalKind, SafetyReport};
use flashscope_model::DeviceKind;
use flashscope_units::Bytes;
use rustix::fs::{Access, FlockOperation, Mode, OFlags, SeekFrom, access, flock, open, seek};
use rustix::io::Errno;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The outcome of a check, and what was checked, so that opening can tell whether it is still the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// What was found.
    pub report: SafetyReport,
    pub(crate) path: PathBuf,
    pub(crate) min_capacity: Bytes,
    pub(crate) stamp: Stamp,
}

/// What tells one device or file from another that has taken its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) file: FileId,
    /// The kernel's count of disks and media; `None` for files and before Linux 5.15.
    pub(crate) disk_sequence: Option<u64>,
    pub(crate) size: u64,
}

/// Looks for everything that speaks against writing to `path`, a block device or a regular file that has to hold
/// `min_capacity`. Nothing is written, and nothing is opened for writing.
pub fn safety(sys: &SysRoot, path: &Path, min_capacity: Bytes) -> Result<Checked, HostError> {
    inspect(sys, path, min_capacity, Claim::Nobody)
}

/// Who holds the device exclusively, as far as the caller knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// It should be free: a probe will tell.
    Nobody,
    /// The caller does.
    Ourselves,
}

pub(crate) fn inspect(sys: &SysRoot, path: &Path, min_capacity: Bytes, claim: Claim) -> Result<Checked, HostError> {
    let place = Place::find(sys, path)?;
    let mut refusals = match &place.node {
        Some(node) => device_refusals(sys, &place, node),
        None => file_refusals(&place),
    };
    if place.node.is_none() && matches!(place.file, FileId::Block(_)) {
        let what = format!("the kernel's sysfs does not know {}", path.display());
        refusals.push(Refusal { kind: RefusalKind::Unchecked, what, release: None });
    }
    refusals.extend(too_small(&place, min_capacity));
    match refusals_by_reading(sys, &place, claim, &refusals) {
        Ok(found) => refusals.extend(found),
        // Whoever may not even read it learns first why it is out of the question anyway.
        Err(HostError::PermissionDenied { .. }) if refusals.iter().any(|refusal| is_final_use(refusal.kind)) => {
            let what = format!("{} may not be read, so what is on it is unknown", place.name());
            refusals.push(Refusal { kind: RefusalKind::Unchecked, what, release: None });
        }
        Err(error) => return Err(error),
    }
    dedup(&mut refusals);
    Ok(Checked { report: place.report(sys, refusals), path: path.to_owned(), min_capacity, stamp: place.stamp() })
}

/// A path and what it leads to.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) file: FileId,
    /// The block device; `None` for a regular file.
    pub(crate) node: Option<Node>,
    pub(crate) size: u64,
    pub(crate) snapshot: Snapshot,
}

impl Place {
    pub(crate) fn find(sys: &SysRoot, path: &Path) -> Result<Place, HostError> {
        let metadata = fs::metadata(path).map_err(|error| HostError::from_io("look at", path, &error))?;
        let Some(file) = FileId::of_metadata(&metadata) else {
            let what = if metadata.is_dir() { "a directory" } else { "a special file" };
            return Err(HostError::NotATarget { path: path.to_owned(), what });
        };
        let snapshot = Snapshot::take(sys);
        let node = match file {
            FileId::Block(number) => snapshot.blocks.by_number(number).cloned(),
            FileId::File(..) => None,
        };
        let size = node.as_ref().map_or(metadata.len(), Node::bytes);
        Ok(Place { path: path.to_owned(), file, node, size, snapshot })
    }

    /// What to call it: the path as given, and where that is another name, the kernel's.
    fn name(&self) -> String {
        match &self.node {
            Some(node) if node.path() != self.path => format!("{} ({})", self.path.display(), node.path().display()),
            _ => self.path.display().to_string(),
        }
    }

    /// The file itself, or the whole disk with all partitions; then whatever that stands on, down to the lowest.
    fn layers(&self, sys: &SysRoot) -> Vec<Layer> {
        let file = |name: String, file: FileId, path: &Path| Layer {
            name,
            path: path.to_owned(),
            files: names_of(sys, file, path),
        };
        let Some(node) = &self.node else { return vec![file(self.name(), self.file, &self.path)] };
        let blocks = &self.snapshot.blocks;
        let (mut layers, mut seen, mut left) = (Vec::new(), Vec::new(), vec![blocks.disk_of(node)]);
        while let Some(disk) = left.pop() {
            if seen.contains(&disk.number) {
                continue;
            }
            let below = |path: &Path| format!("{}, which {} stands on,", path.display(), self.name());
            let is_target = seen.is_empty();
            let name = if is_target { self.name() } else { below(&disk.path()) };
            let path = if is_target { self.path.clone() } else { disk.path() };
            seen.push(disk.number);
            let of_disk = blocks.nodes.iter().filter(|other| blocks.disk_of(other).number == disk.number);
            layers.push(Layer { name, path, files: of_disk.map(|other| FileId::Block(other.number)).collect() });
            left.extend(blocks.slaves(disk).map(|slave| blocks.disk_of(slave)));
            let Some(backing) = &disk.backing else { continue };
            match backing.file {
                Some(FileId::Block(number)) => left.extend(blocks.by_number(number).map(|node| blocks.disk_of(node))),
                Some(found) => layers.push(file(below(&backing.path), found, &backing.path)),
                None => {}
            }
        }
        layers
    }

    fn stamp(&self) -> Stamp {
        let disk = self.node.as_ref().map(|node| self.snapshot.blocks.disk_of(node));
        let disk_sequence = disk.and_then(|disk| disk.directory.number("diskseq"));
        Stamp { file: self.file, disk_sequence, size: self.size }
    }

    fn report(&self, sys: &SysRoot, refusals: Vec<Refusal>) -> SafetyReport {
        // A block device without an identity would pass for a plain file, so it gets its number.
        let unknown = || format!("{}:{}", self.path.display(), self.size);
        let (identity, kind) = match (&self.node, self.file) {
            (Some(node), _) => {
                let identity = list::identity_of(sys, &self.snapshot.blocks, node).0;
                (Some(identity), list::kind_of(sys, &self.snapshot.blocks, node))
            }
            (None, FileId::Block(_)) => (Some(unknown()), DeviceKind::Other),
            (None, FileId::File(..)) => (None, DeviceKind::File),
        };
        SafetyReport { identity, kind, capacity: Bytes(self.size), refusals }
    }
}

/// A target, or something that it stands on.
struct Layer {
    /// What to call it in a refusal.
    name: String,
    /// Where it is.
    path: PathBuf,
    /// Everything that counts as it.
    files: Vec<FileId>,
}

/// A file, and once more with the number by which the kernel's tables of locks and mappings call its file system: btrfs tells
/// `stat` another one.
fn names_of(sys: &SysRoot, file: FileId, path: &Path) -> Vec<FileId> {
    let FileId::File(device, inode) = file else { return vec![file] };
    // The path of a backing file may lead elsewhere by now.
    let there = sys.path(path);
    let known = FileId::of(&there) == Some(file);
    let of_mount = known.then(|| mounts::super_block(sys, &there)).flatten().filter(|other| *other != device);
    std::iter::once(file).chain(of_mount.map(|other| FileId::File(other, inode))).collect()
}

/// Whether it means that someone else works with the device, so that reading it needs asking for as well.
pub(crate) fn is_use(kind: RefusalKind) -> bool {
    use RefusalKind::*;
    matches!(kind, Mounted | MountedElsewhere | Swap | Holder | LoopBacked | Busy)
}

/// Every use of a place: of the device and what is stacked on it, and for a loop device of what it stands on.
pub(crate) fn uses(place: &Place) -> Vec<Refusal> {
    let Some(node) = &place.node else {
        let uses = place.snapshot.uses_of_file(place.file, &place.path);
        return uses.iter().map(|found| found.refusal()).collect();
    };
    let above = place.snapshot.uses(node).into_iter().map(|found| found.refusal());
    let disk = place.snapshot.blocks.disk_of(node);
    let below = place.snapshot.uses_below(disk).into_iter().map(|found| {
        let Refusal { what, release, .. } = found.refusal();
        let what = format!("{} stands on something that is in use: {what}", disk.path().display());
        Refusal { kind: RefusalKind::LoopBacked, what, release }
    });
    above.chain(below).collect()
}

fn device_refusals(sys: &SysRoot, place: &Place, node: &Node) -> Vec<Refusal> {
    let mut refusals = uses(place);
    let disk = place.snapshot.blocks.disk_of(node);
    // A partition is not written to while any other part of its disk is in use.
    let siblings = place.snapshot.uses(disk).into_iter().map(|found| found.refusal());
    let new: Vec<Refusal> = siblings.filter(|refusal| !refusals.contains(refusal)).collect();
    refusals.extend(new);
    let system = place.snapshot.system_devices(sys);
    if system.contains(&node.number) || system.contains(&disk.number) {
        let what = format!("the running system is on {}", disk.path().display());
        refusals.push(Refusal { kind: RefusalKind::SystemDisk, what, release: None });
    }
    if node.directory.flag("ro") == Some(true) || disk.directory.flag("ro") == Some(true) {
        let what = format!("{} is read-only", place.name());
        refusals.push(Refusal { kind: RefusalKind::ReadOnly, what, release: make_writable(disk) });
    }
    if let Some(backing) = disk.backing.as_ref().filter(|backing| backing.file.is_none()) {
        let what = format!("what {} stands on ({}) cannot be found", disk.path().display(), backing.path.display());
        refusals.push(Refusal { kind: RefusalKind::Unchecked, what, release: None });
    }
    let unseen =
        |other: &&Node| other.number != disk.number && other.backing.as_ref().is_some_and(|backing| backing.unseen);
    for other in place.snapshot.blocks.nodes.iter().filter(unseen) {
        let (path, number) = (other.path(), other.number);
        let what = format!(
            "{} is bound but has no node, so that it cannot be asked whether it stands on {}",
            path.display(),
            place.name()
        );
        let release = Some(format!("mknod {} b {} {}", path.display(), number.major, number.minor));
        refusals.push(Refusal { kind: RefusalKind::Unchecked, what, release });
    }
    refusals
}

fn is_final_use(kind: RefusalKind) -> bool {
    is_use(kind) || kind == RefusalKind::SystemDisk
}

/// What takes opening the device for reading.
fn refusals_by_reading(
    sys: &SysRoot,
    place: &Place,
    claim: Claim,
    known: &[Refusal],
) -> Result<Vec<Refusal>, HostError> {
    let explained = known.iter().any(|refusal| is_use(refusal.kind));
    let busy = busy(sys, place, claim, explained)?;
    Ok(busy.into_iter().chain(signatures(place)?).collect())
}

fn make_writable(disk: &Node) -> Option<String> {
    if disk.directory.has("force_ro") {
        Some(format!("echo 0 > /sys/block/{}/force_ro", disk.name))
    } else if disk.backing.is_some() {
        Some(format!("losetup -d {}, then attach its file again without -r", disk.path().display()))
    } else {
        Some(format!("blockdev --setrw {} (a card's lock switch may say no)", disk.path().display()))
    }
}

fn file_refusals(place: &Place) -> Vec<Refusal> {
    let mut refusals = uses(place);
    let name = place.path.display();
    let (kind, what, release) = match access(&place.path, Access::WRITE_OK) {
        Ok(()) => return refusals,
        Err(Errno::ROFS) => (RefusalKind::ReadOnly, format!("{name} is on a read-only file system"), None),
        Err(Errno::TXTBSY) => (RefusalKind::Busy, format!("{name} is running as a program or swapped on"), None),
        Err(_) => {
            let release = format!("ls -l {} (shows who may; run as that user)", quoted(&place.path.to_string_lossy()));
            (RefusalKind::ReadOnly, format!("{name} may not be written to by this user"), Some(release))
        }
    };
    refusals.push(Refusal { kind, what, release });
    refusals
}

fn too_small(place: &Place, min_capacity: Bytes) -> Option<Refusal> {
    let what = match place.size {
        0 => format!("{} is empty: no medium, or a file without a size", place.name()),
        size if size < min_capacity.get() => {
            format!("{} holds {}, the plan needs {min_capacity}", place.name(), Bytes(size))
        }
        _ => return None,
    };
    Some(Refusal { kind: RefusalKind::TooSmall, what, release: None })
}

/// Asks the kernel for an exclusive open, which is given back at once (unless we hold it ourselves), and looks for
/// processes that write to the device, to any part of its disk or to what it stands on, or hold a lock there.
fn busy(sys: &SysRoot, place: &Place, claim: Claim, explained: bool) -> Result<Vec<Refusal>, HostError> {
    let layers = place.layers(sys);
    let files: Vec<FileId> = layers.iter().flat_map(|layer| &layer.files).copied().collect();
    let openers = openers::openers(sys, &files);
    let taken = claim == Claim::Nobody && is_taken(place)?;
    if taken && explained {
        return Ok(Vec::new());
    }
    let mut refusals = Vec::new();
    let mut refuse = |path: &Path, what: String| {
        let release = Some(format!("fuser -v {} (shows who; end that program)", quoted(&path.to_string_lossy())));
        refusals.push(Refusal { kind: RefusalKind::Busy, what, release });
    };
    for (index, layer) in layers.iter().enumerate() {
        let mine = |opener: &&Opener| layer.files.contains(&opener.file);
        let (locks, writers): (Vec<&Opener>, Vec<&Opener>) =
            openers.iter().filter(mine).partition(|opener| opener.by == Hold::Lock);
        let (name, who) = (&layer.name, openers::in_words(writers.iter().copied()));
        let exclusively = taken && index == 0;
        match (exclusively, writers.is_empty()) {
            (true, true) if locks.is_empty() => {
                refuse(&place.path, format!("{name} is opened exclusively by someone else"));
            }
            (true, false) => {
                refuse(&place.path, format!("{name} is opened exclusively by someone else; {who} may write to it"))
            }
            (false, false) => refuse(&layer.path, format!("{name} is opened for writing by {who}")),
            (_, true) => {}
        }
        if !locks.is_empty() {
            refuse(&layer.path, format!("{name} is locked by {}", openers::in_words(locks)));
        }
    }
    Ok(refusals)
}

fn is_taken(place: &Place) -> Result<bool, HostError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let exclusive = if matches!(place.file, FileId::Block(_)) { OFlags::EXCL } else { OFlags::empty() };
    match open(&place.path, flags | exclusive, Mode::empty()) {
        Ok(file) if exclusive.is_empty() => {
            let free = flock(&file, FlockOperation::NonBlockingLockExclusive);
            Ok(free == Err(Errno::AGAIN))
        }
        Ok(_) => Ok(false),
        Err(Errno::BUSY) => Ok(true),
        // An empty card reader; its size of zero is refused elsewhere.
        Err(Errno::NOMEDIUM) => Ok(false),
        Err(error) => Err(HostError::from_errno("open for reading", &place.path, error)),
    }
}

fn signatures(place: &Place) -> Result<Vec<Refusal>, HostError> {
    let mut refusals: Vec<Refusal> = Vec::new();
    let mut refuse = |what: String| {
        let release = Some("add --destroy-signatures if nothing of it is needed any more".to_owned());
        refusals.push(Refusal { kind: RefusalKind::Signature, what, release });
    };
    if let Some(node) = &place.node {
        let names: Vec<String> = place.snapshot.blocks.partitions(node).map(|part| part.name.clone()).collect();
        if !names.is_empty() {
            refuse(format!("{} has partitions: {}", place.name(), names.join(", ")));
        }
    }
    if place.size == 0 {
        return Ok(refusals);
    }
    let file = File::open(&place.path).map_err(|error| HostError::from_io("open for reading", &place.path, &error))?;
    let read = |at: u64, length: usize| {
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, at).map(|()| bytes)
    };
    // A file is named by its path alone, so that whatever somebody keeps in it is asked about; a device by its identity.
    let data = |found: &[signature::Signature]| match place.file {
        FileId::File(..) if found.is_empty() => contents::find(&extents(&file, place.size), read),
        _ => Ok(None),
    };
    match signature::find(place.size, read).and_then(|found| Ok((data(&found)?, found))) {
        Ok((data, found)) => {
            found.iter().for_each(|found| refuse(format!("{} holds data: {}", place.name(), found.name)));
            data.into_iter().for_each(|data| refuse(format!("{} holds {data}", place.name())));
        }
        Err(error) => {
            let what = format!("{} cannot be searched for file systems: {error}", place.name());
            refusals.push(Refusal { kind: RefusalKind::Unchecked, what, release: None });
        }
    }
    Ok(refusals)
}

/// Offset and length of the parts of a file that are no holes.
fn extents(file: &File, size: u64) -> Vec<(u64, u64)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < size {
        let start = match seek(file, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(Errno::NXIO) => break,
            // A file system that knows of no holes.
            Err(_) => return vec![(0, size)],
        };
        let end = seek(file, SeekFrom::Hole(start)).unwrap_or(size).min(size);
        if start >= end {
            break;
        }
        found.push((start, end - start));
        at = end;
    }
    found
}

fn dedup(refusals: &mut Vec<Refusal>) {
    let mut kept: Vec<Refusal> = Vec::with_capacity(refusals.len());
    for refusal in refusals.drain(..) {
        if !kept.contains(&refusal) {
            kept.push(refusal);
        }
    }
    *refusals = kept;
}
