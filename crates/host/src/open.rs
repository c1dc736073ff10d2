//! Opening: for reading, or for writing after everything was checked, and checked again with the device in hand.

use crate::blocks::{FileId, Node};
use crate::engine::Files;
use crate::entry::{by_descriptor, inode};
use crate::error::HostError;
use crate::ioctl;
use crate::list;
use crate::load::OwnFile;
use crate::safety::{self, Checked, Claim, Place, Stamp};
use crate::sysfs::{DeviceNumber, SysRoot};
use crate::target::{HostTarget, Parts};
use crate::uses::Snapshot;
use flashscope_device::{Capabilities, Consent, Refusal, RefusalKind, SafetyReport, WriteGrant};
use flashscope_model::run::PathTaken;
use flashscope_model::{Claims, DeviceFacts, DeviceKind};
use flashscope_units::{Bytes, Nanos};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{FallocateFlags, FlockOperation, Mode, OFlags, SeekFrom, StatxFlags};
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// How to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    /// Read a device even though others use it; the record then says by whom. Never serves for writing.
    pub read_in_use: bool,
    /// Go through the page cache where the file system does not do direct I/O; the record then says so.
    pub allow_buffered: bool,
    /// Give a request up that takes longer. `None`: wait for as long as the kernel does, with the least overhead.
    pub hang_after: Option<Nanos>,
}

/// Opens a block device or regular file for reading. A device that others use is refused, unless the caller asked
/// for that; what it is used by is then in [`PathTaken::in_use`].
pub fn open_for_reading(sys: &SysRoot, path: &Path, options: &OpenOptions) -> Result<HostTarget, HostError> {
    let place = Place::find(sys, path)?;
    let mut uses = safety::uses(&place);
    uses.retain(|refusal| safety::is_use(refusal.kind));
    let refused = |refusals| HostError::Refused { path: path.to_owned(), refusals, writing: false };
    if !uses.is_empty() && !options.read_in_use {
        return Err(refused(uses));
    }
    let mut opened = match Opened::new(&place, Access::Read { exclusive: uses.is_empty() }, options) {
        Err(HostError::Refused { refusals, .. }) if options.read_in_use => {
            uses.extend(refusals);
            Opened::new(&place, Access::Read { exclusive: false }, options)?
        }
        opened => opened?,
    };
    let changes = opened.changes(&Stamp { disk_sequence: None, ..Stamp::of(&place) });
    if !changes.is_empty() {
        return Err(refused(changes));
    }
    opened.path_taken.in_use = uses.into_iter().map(|found| found.what).collect();
    Ok(opened.into_target(sys, &place, options))
}

/// Opens what was checked for writing, and gives the right to write `budget` bytes to it.
///
/// The report and the operator's consent are weighed first. Then it is opened exclusively, compared with what was
/// checked, and checked once more: the grant stands on that second report. Where anything speaks against it, nothing
/// was written and the error is [`HostError::Refused`].
pub fn open_for_writing(
    sys: &SysRoot,
    checked: &Checked,
    consent: &Consent,
    budget: Bytes,
    options: &OpenOptions,
) -> Result<(HostTarget, WriteGrant), HostError> {
    let path = &checked.path;
    let refused = |refusals| HostError::Refused { path: path.clone(), refusals, writing: true };
    WriteGrant::decide(&checked.report, consent, budget).map_err(refused)?;
    let place = Place::find(sys, path)?;
    let opened = Opened::new(&place, Access::Write, options)?;
    let mut changes = opened.changes(&checked.stamp);
    let again = safety::inspect(sys, path, checked.min_capacity, Claim::Ourselves)?;
    if again.stamp != checked.stamp || again.report.identity != checked.report.identity {
        changes.extend(changed(path));
    }
    if !changes.is_empty() {
        changes.truncate(1);
        return Err(refused(changes));
    }
    let grant = WriteGrant::decide(&again.report, consent, budget).map_err(refused)?;
    // The page cache writes back whole pages.
    let grant = if opened.direct { grant } else { grant.counting_in(crate::page_size()) };
    let mut target = opened.into_target(sys, &place, options);
    target.bind(&grant);
    Ok((target, grant))
}

/// Opens a file that this run has made for itself, by what was opened when it was made: nothing has to be checked or consented to.
/// With a budget it is opened for writing, and comes with the right to write that many bytes; without one it is opened for reading.
///
/// # Errors
/// Whatever the system says.
pub fn open_own(
    sys: &SysRoot,
    own: &OwnFile,
    budget: Option<Bytes>,
    options: &OpenOptions,
) -> Result<(HostTarget, Option<WriteGrant>), HostError> {
    let path = own.path().to_owned();
    let found = rustix::fs::fstat(own.file()).map_err(|error| HostError::from_errno("look at", &path, error))?;
    let (file, size) = (inode(&found), found.st_size as u64);
    let place = Place { path: path.clone(), file, node: None, size, snapshot: Snapshot::take(sys) };
    let access = if budget.is_some() { Access::Write } else { Access::Read { exclusive: true } };
    let opened = Opened::by(&place, &by_descriptor(own.file()), access, options)?;
    let mut target = opened.into_target(sys, &place, options);
    let Some(budget) = budget else { return Ok((target, None)) };
    let report = SafetyReport { identity: None, kind: DeviceKind::File, capacity: Bytes(size), refusals: Vec::new() };
    let consent = Consent { allow_file: true, ..Consent::default() };
    let grant = WriteGrant::decide(&report, &consent, budget).map_err(|refusals| HostError::Refused {
        path,
        refusals,
        writing: true,
    })?;
    target.bind(&grant);
    Ok((target, Some(grant)))
}

/// Makes one right of the rights to several targets, as [`WriteGrant::join`] does, and tells the targets.
pub fn join_grants(targets: &mut [HostTarget], grants: Vec<WriteGrant>) -> Option<WriteGrant> {
    let joint = WriteGrant::join(grants)?;
    targets.iter_mut().for_each(|target| target.bind(&joint));
    Some(joint)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Read { exclusive: bool },
    Write,
}

/// An open file and how it was opened.
#[derive(Debug)]
struct Opened {
    path: PathBuf,
    file: OwnedFd,
    durable: Option<OwnedFd>,
    write: bool,
    direct: bool,
    path_taken: PathTaken,
}

impl Stamp {
    fn of(place: &Place) -> Stamp {
        Stamp { file: place.file, disk_sequence: None, size: place.size }
    }
}

impl Opened {
    fn new(place: &Place, access: Access, options: &OpenOptions) -> Result<Opened, HostError> {
        Opened::by(place, &place.path, access, options)
    }

    /// Opens what `way` leads to and calls it by its own path.
    fn by(place: &Place, way: &Path, access: Access, options: &OpenOptions) -> Result<Opened, HostError> {
        let write = access == Access::Write;
        let exclusive = access != Access::Read { exclusive: false };
        let block = matches!(place.file, FileId::Block(_));
        let mut flags = if write { OFlags::RDWR } else { OFlags::RDONLY };
        let mut names = vec![if write { "O_RDWR" } else { "O_RDONLY" }.to_owned()];
        if block && exclusive {
            flags |= OFlags::EXCL;
            names.push("O_EXCL".to_owned());
        }
        let path = &place.path;
        let (file, refusal) = open_direct(way, path, flags, write)?;
        if let Some(why) = &refusal
            && !options.allow_buffered
        {
            return Err(HostError::DirectRefused { path: path.clone(), why: why.clone() });
        }
        if !block && exclusive {
            lock(&file, path, write)?;
        }
        let direct = refusal.is_none();
        names.extend(direct.then(|| "O_DIRECT".to_owned()));
        let durable = write.then(|| reopen_durable(&file, path, direct)).transpose()?;
        names.extend(write.then(|| "O_DSYNC for durable writes".to_owned()));
        let mut fallbacks: Vec<String> =
            refusal.into_iter().map(|why| format!("buffered I/O through the page cache: {why}")).collect();
        fallbacks.extend(place.node.as_ref().and_then(|node| cached_loop(place, node)));
        let engine = match options.hang_after {
            None => "pread/pwrite".to_owned(),
            Some(limit) => format!("pread/pwrite in a thread of its own, given up after {limit}"),
        };
        let path_taken = PathTaken { engine, flags: names, queue_depth: 1, fallbacks, in_use: Vec::new() };
        Ok(Opened { path: path.clone(), file, durable, write, direct, path_taken })
    }

    /// How what is open differs from what was looked at.
    fn changes(&self, stamp: &Stamp) -> Vec<Refusal> {
        let file = rustix::fs::fstat(&self.file).ok().map(|found| match stamp.file {
            FileId::Block(_) => FileId::Block(DeviceNumber::from_raw(found.st_rdev)),
            FileId::File(..) => FileId::File(DeviceNumber::from_raw(found.st_dev), found.st_ino),
        });
        let size = rustix::fs::seek(&self.file, SeekFrom::End(0)).ok();
        let sequence = ioctl::disk_sequence(&self.file).ok();
        let other_disk = stamp.disk_sequence.is_some_and(|checked| sequence != Some(checked));
        if file != Some(stamp.file) || size != Some(stamp.size) || other_disk {
            changed(&self.path).into_iter().collect()
        } else {
            Vec::new()
        }
    }

    fn into_target(self, sys: &SysRoot, place: &Place, options: &OpenOptions) -> HostTarget {
        let block_device = place.node.is_some() || matches!(place.file, FileId::Block(_));
        let (mut facts, discard) = match &place.node {
            Some(node) => device_facts(sys, place, node),
            None => (file_facts(place, &self.file, self.direct), !block_device && self.write && punches(&self)),
        };
        let granularity = facts.logical_block;
        // Whatever the device could take, this way hands over one request at a time.
        facts.queue_depth = Some(1);
        let capabilities = Capabilities {
            write: self.write,
            flush: self.write,
            discard: discard && self.write,
            queue_depth: 1,
            granularity,
        };
        let name = self.path.display().to_string();
        let files = Files { plain: self.file, durable: self.durable, block_device, name };
        let path = self.path_taken;
        HostTarget::new(Parts { facts, capabilities, path, files, hang_after: options.hang_after })
    }
}

/// Opens with `O_DIRECT`, or without it where the file system refuses; then also says why.
fn open_direct(way: &Path, path: &Path, flags: OFlags, writing: bool) -> Result<(OwnedFd, Option<String>), HostError> {
    let flags = flags | OFlags::CLOEXEC;
    let open = |flags| rustix::fs::open(way, flags, Mode::empty());
    let operation = if writing { "open for writing" } else { "open for reading" };
    let failed = |error| match error {
        Errno::BUSY => HostError::Refused { path: path.to_owned(), refusals: vec![taken(path)], writing },
        error => HostError::from_errno(operation, path, error),
    };
    match open(flags | OFlags::DIRECT) {
        // Since Linux 6.6 tmpfs takes the flag, though there is nothing but memory behind it.
        Ok(file) => match memory_file_system(&file) {
            None => Ok((file, None)),
            Some(name) => Ok((open(flags).map_err(failed)?, Some(format!("the file system is {name}, in memory")))),
        },
        Err(Errno::INVAL) => {
            let file = open(flags).map_err(failed)?;
            Ok((file, Some("the file system does not do direct I/O".to_owned())))
        }
        Err(error) => Err(failed(error)),
    }
}

pub(crate) fn memory_file_system(file: &OwnedFd) -> Option<&'static str> {
    let metadata = rustix::fs::fstat(file).ok()?;
    let is_file = rustix::fs::FileType::from_raw_mode(metadata.st_mode) == rustix::fs::FileType::RegularFile;
    if is_file { in_memory(file) } else { None }
}

/// The file system that something open lies on, where it is one in memory.
pub(crate) fn in_memory(opened: &OwnedFd) -> Option<&'static str> {
    // From `linux/magic.h`.
    match rustix::fs::fstatfs(opened).ok()?.f_type as u64 & 0xffff_ffff {
        0x0102_1994 => Some("tmpfs"),
        0x8584_58f6 => Some("ramfs"),
        _ => None,
    }
}

/// The same open file with `O_DSYNC`, by its descriptor, so that no name can lead elsewhere.
fn reopen_durable(file: &OwnedFd, path: &Path, direct: bool) -> Result<OwnedFd, HostError> {
    let mut flags = OFlags::RDWR | OFlags::DSYNC | OFlags::CLOEXEC;
    flags.set(OFlags::DIRECT, direct);
    let by_descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
    rustix::fs::open(by_descriptor, flags, Mode::empty())
        .map_err(|error| HostError::from_errno("open for durable writing", path, error))
}

fn lock(file: &OwnedFd, path: &Path, writing: bool) -> Result<(), HostError> {
    let operation =
        if writing { FlockOperation::NonBlockingLockExclusive } else { FlockOperation::NonBlockingLockShared };
    match rustix::fs::flock(file, operation) {
        Err(Errno::AGAIN) => Err(HostError::Refused { path: path.to_owned(), refusals: vec![taken(path)], writing }),
        // A file system without locks has nobody who could hold one.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOLCK | Errno::NOSYS) => Ok(()),
        Err(error) => Err(HostError::from_errno("lock", path, error)),
    }
}

fn taken(path: &Path) -> Refusal {
    Refusal {
        kind: RefusalKind::Busy,
        what: format!("{} is opened exclusively by someone else", path.display()),
        release: Some(format!("fuser -v {} (shows who; end that program)", path.display())),
    }
}

fn changed(path: &Path) -> Option<Refusal> {
    let what = format!("{} is no longer the device that was checked", path.display());
    let release = Some("look at it again with `flashscope list`, then start over".to_owned());
    Some(Refusal { kind: RefusalKind::Changed, what, release })
}

/// A loop device that goes through the page cache of its file measures memory.
fn cached_loop(place: &Place, node: &Node) -> Option<String> {
    let disk = place.snapshot.blocks.disk_of(node);
    let cached = disk.backing.is_some() && disk.directory.flag("loop/dio") == Some(false);
    cached.then(|| format!("{} goes through the page cache of its backing file", disk.path().display()))
}

fn device_facts(sys: &SysRoot, place: &Place, node: &Node) -> (DeviceFacts, bool) {
    let listed = list::describe(sys, &place.snapshot, &place.snapshot.system_devices(sys), node);
    let discard = listed.queue.discard_max.is_some();
    let mut facts = listed.facts();
    let backing = place.snapshot.blocks.disk_of(node).backing.as_ref();
    if facts.kind == DeviceKind::Loop && backing.is_some_and(|backing| is_fuse(&backing.path)) {
        facts.kind = DeviceKind::Emulated;
    }
    if node.whole.is_some() {
        facts.name = format!("{} ({})", facts.name, node.name);
        facts.capacity = Bytes(place.size);
        facts.identity = Some(list::identity_of(sys, &place.snapshot.blocks, node));
    }
    (facts, discard)
}

/// Whether a program answers for a file, instead of a file system on a disk.
fn is_fuse(path: &Path) -> bool {
    /// Type of a FUSE file system (`linux/magic.h`).
    const FUSE_SUPER_MAGIC: u64 = 0x6573_5546;
    rustix::fs::statfs(path).is_ok_and(|found| found.f_type as u64 & 0xffff_ffff == FUSE_SUPER_MAGIC)
}

fn file_facts(place: &Place, file: &OwnedFd, direct: bool) -> DeviceFacts {
    let is_file = matches!(place.file, FileId::File(..));
    let name = place.path.file_name().map(|name| name.to_string_lossy().into_owned());
    DeviceFacts {
        name: name.unwrap_or_else(|| place.path.display().to_string()),
        kind: if is_file { DeviceKind::File } else { DeviceKind::Other },
        simulated: false,
        capacity: Bytes(place.size),
        logical_block: if direct { file_granularity(place, file) } else { Bytes::SECTOR },
        physical_block: None,
        max_request: None,
        queue_depth: None,
        claims: Claims::default(),
        identity: None,
    }
}

/// What direct I/O on a file has to be aligned to: as the kernel says (Linux 6.1 or later), else the logical block
/// of the disk below, else 4 KiB, which serves everywhere.
fn file_granularity(place: &Place, file: &OwnedFd) -> Bytes {
    let flags = rustix::fs::AtFlags::EMPTY_PATH;
    let told = rustix::fs::statx(file, "", flags, StatxFlags::DIOALIGN).ok();
    let told = told.map(|found| u64::from(found.stx_dio_offset_align)).filter(|align| *align > 0);
    let of_disk = || match place.file {
        FileId::File(number, _) => {
            let node = place.snapshot.blocks.by_number(number)?;
            place.snapshot.blocks.disk_of(node).directory.number("queue/logical_block_size")
        }
        FileId::Block(_) => None,
    };
    Bytes(told.or_else(of_disk).unwrap_or(4096)).max(Bytes::SECTOR)
}

/// Whether the file system can punch holes: asked with a hole behind the end of the file, which changes nothing.
fn punches(opened: &Opened) -> bool {
    let Ok(end) = rustix::fs::seek(&opened.file, SeekFrom::End(0)) else { return false };
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(&opened.file, punch, end.next_multiple_of(1 << 20), 4096).is_ok()
}
