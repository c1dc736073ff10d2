//! The file system: one file, `disk`, that is the device; beside it `stats.json`, which says how it goes.
//!
//! One thread reads requests from the kernel and gives them to the disk in the order in which they came. Answers that are due at
//! once go out from here, all others through the pacer.

use crate::clock::PacedClock;
use crate::disk::{Disk, Origin, Promise};
use crate::floor::{FLOOR_NAME, FLOOR_SIZE, FloorFile, Floors};
use crate::journal::Operation;
use crate::log::Served;
use crate::meter::Meter;
use crate::options::Speed;
use crate::pacer::{Answer, Due, Pacer};
use flashscope_units::{Instant, Nanos};
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig,
    LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs,
    ReplyWrite, Request, WriteFlags,
};
use rustix::fs::{FallocateFlags, OFlags};
use std::ffi::OsStr;
use std::hint::spin_loop;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

/// Name of the file that is the device.
pub const DISK_NAME: &str = "disk";
/// Name of the file that says how it goes.
pub const STATISTICS_NAME: &str = "stats.json";

/// Largest request that the kernel passes on in one piece.
pub(crate) const LARGEST: u32 = 1 << 20;
/// Requests that the kernel passes on before the first is answered.
const OUTSTANDING: u16 = 256;
/// So short a wait is not worth another thread.
const AT_ONCE: Nanos = Nanos::micros(20);
/// Nothing changes behind the kernel's back.
pub(crate) const FOREVER: Duration = Duration::from_secs(1 << 20);

/// Inode of the folder, which FUSE fixes.
pub(crate) const ROOT: INodeNo = INodeNo(1);
/// Inode of the device's file.
pub(crate) const DISK: INodeNo = INodeNo(2);
/// Inode of the file with the figures of the run.
const STATISTICS: INodeNo = INodeNo(3);
/// Inode of the file that the floor is measured on.
const FLOOR: INodeNo = INodeNo(4);

/// What the file system and the rest of the emulator share.
pub(crate) struct Shared {
    pub(crate) disk: Disk,
    pub(crate) clock: PacedClock,
    pub(crate) pacer: Pacer,
    pub(crate) meter: Meter,
    pub(crate) floor_file: FloorFile,
    pub(crate) floors: OnceLock<Floors>,
    pub(crate) model: String,
    pub(crate) seed: u64,
    pub(crate) speed: Speed,
}

/// The file system.
pub(crate) struct DiskFs {
    shared: Arc<Shared>,
    /// Bytes of a read that is answered at once. One thread uses it.
    bytes: Mutex<Vec<u8>>,
}

impl DiskFs {
    pub(crate) fn new(shared: Arc<Shared>) -> DiskFs {
        DiskFs { shared, bytes: Mutex::new(Vec::new()) }
    }

    /// Sends an answer when it is due.
    fn answer(&self, mut due: Due) {
        let clock = &self.shared.clock;
        if due.at > clock.now() + AT_ONCE {
            return self.shared.pacer.push(due);
        }
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let prepared = due.prepare(&self.shared.disk, &mut bytes);
        while clock.now() < due.at {
            spin_loop();
        }
        let admitted = due.admit(&self.shared.disk, prepared);
        self.shared.meter.sent(&due, clock.now());
        due.send(admitted, &bytes);
    }

    /// The device takes a request that has just arrived; the answer goes out when it is due, less the floor.
    fn serve(
        &self,
        operation: Operation,
        offset: u64,
        length: u64,
        take: impl FnOnce(Option<Instant>) -> Promise,
        answer: impl FnOnce(&mut Promise) -> Answer,
    ) {
        let Shared { clock, meter, floors, .. } = &*self.shared;
        let arrived = clock.now();
        let mut promise = take(clock.virtual_at(arrived));
        let floor = floors.get().map_or(Nanos::ZERO, |floors| match operation {
            Operation::Read => floors.of_read(length),
            // A discard carries nothing, however much it covers.
            Operation::Discard => floors.of_write(0),
            _ => floors.of_write(length),
        });
        let done = clock.real_at(promise.due);
        let at = Instant(done.0.saturating_sub(floor.get()));
        meter.took(operation, length, promise.result.is_err(), at < arrived);
        let answer = answer(&mut promise);
        let done = clock.virtual_at(arrived).map(|_| done);
        let served = Some(Served { operation, offset, length, arrived, done });
        self.answer(Due { at, result: promise.result, promised: Some(promise.promised()), answer, served });
    }

    /// The file that the floor is measured on takes nothing and holds zeros.
    fn serve_floor(&self, answer: Answer) {
        let at = self.shared.clock.now() + self.shared.floor_file.delay();
        self.answer(Due { at, result: Ok(()), promised: None, answer, served: None });
    }

    fn attributes(&self, inode: INodeNo) -> Option<FileAttr> {
        let (perm, size) = match inode {
            ROOT => (0o755, 0),
            DISK => (0o600, self.shared.disk.size()),
            STATISTICS => (0o444, 0),
            FLOOR => (0o600, FLOOR_SIZE),
            _ => return None,
        };
        Some(attributes(inode, size, perm))
    }
}

impl Filesystem for DiskFs {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        limit(config);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let inode = match name.to_str() {
            Some(DISK_NAME) => DISK,
            Some(STATISTICS_NAME) => STATISTICS,
            Some(FLOOR_NAME) => FLOOR,
            _ => return reply.error(Errno::ENOENT),
        };
        match self.attributes(inode).filter(|_| parent == ROOT) {
            Some(attributes) => reply.entry(&FOREVER, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(inode) {
            Some(attributes) => reply.attr(&FOREVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        _size: Option<u64>,
        _atime: Option<fuser::TimeOrNow>,
        _mtime: Option<fuser::TimeOrNow>,
        _ctime: Option<std::time::SystemTime>,
        _handle: Option<FileHandle>,
        _crtime: Option<std::time::SystemTime>,
        _chgtime: Option<std::time::SystemTime>,
        _bkuptime: Option<std::time::SystemTime>,
        _flags: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        // Like a block device, it cannot be cut to a size, and tools that try need not know.
        match self.attributes(inode) {
            Some(attributes) => reply.attr(&Duration::ZERO, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match inode {
            DISK | FLOOR | STATISTICS => opened(inode, reply),
            _ => reply.error(Errno::EISDIR),
        }
    }

    fn read(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let within = |end: u64| u64::from(size).min(end.saturating_sub(offset));
        match inode {
            DISK => {
                let length = within(self.shared.disk.size());
                if length == 0 {
                    return reply.data(&[]);
                }
                let answer = |promise: &mut Promise| Answer::Read {
                    reply,
                    length: length as usize,
                    found: std::mem::take(&mut promise.found),
                };
                self.serve(Operation::Read, offset, length, |now| self.shared.disk.read(now, offset, length), answer);
            }
            FLOOR => {
                let length = within(FLOOR_SIZE);
                let found = vec![(length, Origin::Byte(0))];
                self.serve_floor(Answer::Read { reply, length: length as usize, found });
            }
            STATISTICS => {
                let text = self.shared.statistics().to_json() + "\n";
                let start = (offset as usize).min(text.len());
                reply.data(&text.as_bytes()[start..(start + size as usize).min(text.len())]);
            }
            _ => reply.error(Errno::EISDIR),
        }
    }

    fn write(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let length = data.len() as u32;
        match inode {
            DISK => {
                // `O_SYNC` has the bit of `O_DSYNC` in it.
                let durable = flags.0 & OFlags::DSYNC.bits() as i32 != 0;
                let take = |now| self.shared.disk.write(now, offset, data, durable);
                self.serve(Operation::Write { durable }, offset, data.len() as u64, take, |_| Answer::Write {
                    reply,
                    length,
                });
            }
            FLOOR => self.serve_floor(Answer::Write { reply, length }),
            _ => reply.error(Errno::EACCES),
        }
    }

    fn fsync(&self, _: &Request, inode: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        match inode {
            DISK => self.serve(Operation::Flush, 0, 0, |now| self.shared.disk.flush(now), |_| Answer::Done { reply }),
            _ => reply.ok(),
        }
    }

    fn fallocate(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let hole = (FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE).bits() as i32;
        match inode {
            DISK if mode == hole => {
                let take = |now| self.shared.disk.discard(now, offset, length);
                self.serve(Operation::Discard, offset, length, take, |_| Answer::Done { reply });
            }
            FLOOR if mode == hole => reply.ok(),
            // No card writes zeros by itself: the kernel then sends them.
            _ => reply.error(Errno::EOPNOTSUPP),
        }
    }

    fn readdir(&self, _: &Request, inode: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        if inode != ROOT {
            return reply.error(Errno::ENOTDIR);
        }
        let entries = [
            (ROOT, FileType::Directory, "."),
            (ROOT, FileType::Directory, ".."),
            (DISK, FileType::RegularFile, DISK_NAME),
            (STATISTICS, FileType::RegularFile, STATISTICS_NAME),
        ];
        for (index, (inode, kind, name)) in entries.into_iter().enumerate().skip(offset as usize) {
            if reply.add(inode, index as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        // The block size is what a loop device takes as the grain of discards.
        let block = self.shared.disk.block as u32;
        reply.statfs(self.shared.disk.size() / u64::from(block), 0, 0, 2, 0, block, 255, block);
    }
}

/// The folder, or a file of this size and these rights.
pub(crate) fn attributes(inode: INodeNo, size: u64, perm: u16) -> FileAttr {
    let (kind, nlink, size) =
        if inode == ROOT { (FileType::Directory, 2, 0) } else { (FileType::RegularFile, 1, size) };
    FileAttr {
        ino: inode,
        size,
        blocks: size.div_ceil(512),
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind,
        perm,
        nlink,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

/// How large requests may be, and how many at once. Older kernels take less: then requests are smaller, or wait for each other.
pub(crate) fn limit(config: &mut KernelConfig) {
    let _ = config.set_max_write(LARGEST);
    let _ = config.set_max_background(OUTSTANDING);
    let _ = config.set_congestion_threshold(OUTSTANDING);
    for wish in [InitFlags::FUSE_ASYNC_DIO, InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP] {
        let _ = config.add_capabilities(wish);
    }
}

/// Opens a file past the page cache.
pub(crate) fn opened(inode: INodeNo, reply: ReplyOpen) {
    reply.opened(FileHandle(inode.0), FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES);
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("capacity", &self.disk.size()).finish_non_exhaustive()
    }
}
