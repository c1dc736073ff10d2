//! Targets opened once more for load, with exactly the flags that were asked for.

use super::evidence::{Sample, Sampler};
use super::lane::{AnyLane, LaneError, LaneKind, LaneOptions};
use super::opened::Opened;
use super::own::{OpenFolder, OwnFolder};
use super::{AioLane, MapLane, NullLane, SyncLane, UringLane, WholeFiles, WholeLane};
use crate::error::HostError;
use crate::sysfs::{DeviceNumber, SysRoot};
use crate::target::HostTarget;
use flashscope_device::{Seal, Target};
use flashscope_model::run::PathTaken;
use flashscope_units::Bytes;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{Advice, FileType, Mode, OFlags, fadvise, fstat};
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a target is opened for load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Past the page cache.
    pub direct: bool,
    /// Every write waits for the medium.
    pub durable: bool,
    /// For writing, too; the target must have been opened for that.
    pub write: bool,
}

/// A target opened for load. The [`HostTarget`] that it was made from stays open meanwhile: it holds the locks.
#[derive(Clone, Debug)]
pub struct LoadFile {
    files: Arc<Opened>,
    name: Arc<str>,
    write: bool,
    seal: Option<Seal>,
    opening: Opening,
    /// Whether reads leave the time of the last access alone.
    quietly: bool,
    memory: Option<&'static str>,
    sampler: Sampler,
    folder: Option<Arc<OpenFolder>>,
}

impl LoadFile {
    /// Opens what the targets have open once more, by their descriptors, so that no name can lead elsewhere. Several are used
    /// as one, laid end to end, of each as many bytes as `each` says or else all; then they have the same size. They are written to
    /// under one grant.
    ///
    /// # Errors
    /// [`HostError::DirectRefused`] where the file system does no direct I/O, and whatever the system says.
    pub fn of(
        sys: &SysRoot,
        targets: &[HostTarget],
        each: Option<Bytes>,
        opening: Opening,
    ) -> Result<LoadFile, HostError> {
        let nothing =
            |said: &str| HostError::System { operation: "open for load", path: PathBuf::new(), said: said.into() };
        let whole = targets.first().map_or(Bytes::ZERO, |target| target.facts().capacity);
        let part = each.unwrap_or(whole);
        let (mut files, mut name, mut seal, mut quietly) = (Vec::new(), String::new(), None, true);
        for target in targets {
            let Some((opened, its)) = target.opened() else {
                return Err(nothing("the target is in another thread's hands"));
            };
            let capacity = target.facts().capacity;
            if capacity < part || (each.is_none() && capacity != whole) || (!files.is_empty() && its != seal) {
                return Err(nothing("the files differ in size, or in the right to write to them"));
            }
            let (file, quiet) = reopen(&opened.plain, Path::new(&opened.name), opening)?;
            files.push(file);
            quietly &= quiet;
            (name, seal) = (opened.name.clone(), its);
        }
        let Some(first) = files.first() else { return Err(nothing("there is no file")) };
        let memory = crate::open::memory_file_system(first);
        let sampler = Sampler::new(sys, device_of(first).filter(|_| memory.is_none()));
        if let Some(folder) = Path::new(&name).parent().filter(|_| files.len() > 1) {
            name = format!("{} files in {}", files.len(), folder.display());
        }
        Ok(LoadFile {
            files: Arc::new(Opened::new(files, part.get())),
            name: name.as_str().into(),
            write: opening.write,
            seal,
            opening,
            quietly,
            memory,
            sampler,
            folder: None,
        })
    }

    /// The same, where every request has a file of its own in this folder.
    #[must_use]
    pub fn within(self, folder: &OwnFolder) -> LoadFile {
        LoadFile { folder: Some(Arc::clone(folder.open())), ..self }
    }

    /// The files of their own for requests of this size; `None` where there is no folder for them.
    pub fn whole(&self, size: Bytes) -> Option<WholeFiles> {
        self.folder.as_ref().map(|folder| WholeFiles::new(folder, size))
    }

    /// Removes all files that requests have of their own.
    ///
    /// # Errors
    /// What the system said.
    pub fn clear_whole(&self) -> Result<(), HostError> {
        self.folder.as_ref().map_or(Ok(()), WholeFiles::clear)
    }

    /// Makes a worker's lane; a lane along `io_uring` must be made in the thread that drives it.
    ///
    /// # Errors
    /// Where the engine is not to be had, or its buffers take too much memory.
    pub fn lane(&self, options: &LaneOptions) -> Result<AnyLane, LaneError> {
        let (files, name) = (Arc::clone(&self.files), Arc::clone(&self.name));
        Ok(match options.kind {
            LaneKind::Sync => AnyLane::Sync(SyncLane::new(files, name, self.seal, options)?),
            LaneKind::Uring => {
                AnyLane::Uring(Box::new(UringLane::new(files, name, self.seal, self.memory.is_some(), options)?))
            }
            LaneKind::Aio => AnyLane::Aio(Box::new(AioLane::new(files, name, self.seal, options)?)),
            LaneKind::Map => AnyLane::Map(MapLane::new(files, name, self.write, self.seal, options)?),
            LaneKind::Whole => {
                let whole = self.whole(options.largest);
                AnyLane::Whole(Box::new(WholeLane::new(whole, self.opening, self.seal, options)?))
            }
            LaneKind::Null => AnyLane::Null(NullLane::new(options)),
        })
    }

    /// The way that requests take with this engine.
    pub fn path(&self, lane: &AnyLane, depth: u32) -> PathTaken {
        let (engine, extra, notes) = match lane {
            AnyLane::Sync(_) => ("pread/pwrite", vec![], vec![]),
            AnyLane::Uring(lane) => ("io_uring", lane.flags(), lane.notes().to_vec()),
            AnyLane::Aio(_) => (
                "POSIX aio",
                vec!["one request of a file after another, by the C library's threads".to_owned()],
                vec![],
            ),
            AnyLane::Map(_) => ("memory map", vec![], vec![]),
            AnyLane::Whole(_) => ("open, pread or pwrite, close", vec!["a file per request".to_owned()], vec![]),
            AnyLane::Null(_) => ("null: nothing is moved", vec![], vec![]),
        };
        let quietly = (self.quietly && !matches!(lane, AnyLane::Whole(_))).then(|| "O_NOATIME".to_owned());
        let flags = self.opening.names().into_iter().chain(quietly).chain(extra).collect();
        PathTaken { engine: engine.to_owned(), flags, queue_depth: depth, fallbacks: notes, in_use: Vec::new() }
    }

    /// Why there is no device behind it: the name of the file system in memory that holds it.
    pub fn in_memory(&self) -> Option<&'static str> {
        self.memory
    }

    /// The device whose counters are in a sample; `None` where there is none.
    pub fn device(&self) -> Option<DeviceNumber> {
        self.sampler.device()
    }

    /// Memory counters, the device's counters and residency of `length` bytes from `offset`, now.
    pub fn sample(&self, offset: Bytes, length: Bytes) -> Sample {
        // Residency is asked of one range of one file; of several it is not known.
        match self.files.only() {
            Some(file) => self.sampler.sample(file, offset.get(), length.get()),
            None => self.quick_sample(),
        }
    }

    /// The same without residency.
    pub fn quick_sample(&self) -> Sample {
        self.sampler.quick()
    }

    /// Writes back what is dirty and drops the range from the page cache, as far as the kernel follows.
    ///
    /// # Errors
    /// What the system said.
    pub fn drop_cache(&self, offset: Bytes, length: Bytes) -> Result<(), HostError> {
        let failed = |error| HostError::from_errno("drop from the page cache", Path::new(&*self.name), error);
        match self.files.flush() {
            Ok(()) | Err(Errno::INVAL | Errno::ROFS) => {}
            Err(error) => return Err(failed(error)),
        }
        match self.files.only() {
            Some(file) => {
                let length = std::num::NonZero::new(length.get());
                fadvise(file, offset.get(), length, Advice::DontNeed).map_err(failed)
            }
            None => {
                self.files.all().iter().try_for_each(|file| fadvise(file, 0, None, Advice::DontNeed)).map_err(failed)
            }
        }
    }

    /// Bytes that the file really takes, where that is less than its size: then parts of it are holes, which are read
    /// from nothing.
    pub fn sparse(&self) -> Option<Bytes> {
        let taken = |file: &OwnedFd| {
            let found = fstat(file).ok()?;
            let taken = Bytes(found.st_blocks as u64 * 512);
            (FileType::from_raw_mode(found.st_mode) == FileType::RegularFile && taken.get() < found.st_size as u64)
                .then_some(taken)
        };
        self.files.all().iter().find_map(taken)
    }
}

impl Opening {
    fn flags(self) -> [(bool, OFlags, &'static str); 2] {
        [(self.direct, OFlags::DIRECT, "O_DIRECT"), (self.durable, OFlags::DSYNC, "O_DSYNC")]
    }

    fn names(self) -> Vec<String> {
        let wanted = self.flags().into_iter().filter(|(wanted, ..)| *wanted).map(|(_, _, name)| name);
        std::iter::once(if self.write { "O_RDWR" } else { "O_RDONLY" }).chain(wanted).map(str::to_owned).collect()
    }
}

/// Also says whether reads leave the time of the last access alone, which only a file's owner may ask for.
fn reopen(file: &OwnedFd, path: &Path, opening: Opening) -> Result<(OwnedFd, bool), HostError> {
    let mut flags = OFlags::CLOEXEC | if opening.write { OFlags::RDWR } else { OFlags::RDONLY };
    flags |= opening.flags().into_iter().filter(|(wanted, ..)| *wanted).map(|(_, flag, _)| flag).collect();
    let by_descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
    let open = |flags| rustix::fs::open(&by_descriptor, flags, Mode::empty());
    let opened = match open(flags | OFlags::NOATIME) {
        Err(Errno::PERM) => open(flags).map(|file| (file, false)),
        opened => opened.map(|file| (file, true)),
    };
    opened.map_err(|error| match error {
        Errno::INVAL if opening.direct => {
            HostError::DirectRefused { path: path.to_owned(), why: "the file system does not do direct I/O".to_owned() }
        }
        error => HostError::from_errno("open for load", path, error),
    })
}

/// The block device itself, or the one that the file lies on.
fn device_of(file: &OwnedFd) -> Option<DeviceNumber> {
    let found = fstat(file).ok()?;
    match FileType::from_raw_mode(found.st_mode) {
        FileType::BlockDevice => Some(DeviceNumber::from_raw(found.st_rdev)),
        FileType::RegularFile => Some(DeviceNumber::from_raw(found.st_dev)),
        _ => None,
    }
}
