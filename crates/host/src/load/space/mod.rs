//! Whole files, in the ways that programs have: [`HostFiles`] is the [`FileSpace`] of this machine.
//!
//! Only files that were made here are removed or made anew; one that was there before is emptied where its owner consented, and
//! else only read. What is ours is known by its inode, not by its name.

mod map;
mod queue;
mod records;
mod stdio;
mod work;

pub use work::HostFile;

use super::evidence::Sampler;
use crate::clock::MonotonicClock;
use crate::errno::{self, Verdict};
use crate::sysfs::{DeviceNumber, SysRoot};
use flashscope_device::{Durable, FileCounts, FileError, FileOpening, FileSpace, WriteGrant};
use flashscope_units::{Bytes, Instant};
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, FileType, Mode, OFlags, Stat, fadvise, fdatasync, fstat, fstatvfs, ftruncate, lstat, stat};
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Files of this machine, by number.
#[derive(Debug)]
pub struct HostFiles {
    sys: SysRoot,
    clock: MonotonicClock,
    /// Whether files that are there already may be emptied and written to.
    consent: bool,
    places: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    path: PathBuf,
    /// Device and inode of the file that was made here.
    made: Mutex<Option<(u64, u64)>>,
}

impl HostFiles {
    /// Files of these names. Nothing is opened or made yet.
    pub fn new(sys: &SysRoot, clock: MonotonicClock, names: &[PathBuf], consent: bool) -> HostFiles {
        let place = |path: &PathBuf| Place { path: path.clone(), made: Mutex::new(None) };
        HostFiles { sys: sys.clone(), clock, consent, places: names.iter().map(place).collect() }
    }

    /// Space that is left for files of anybody where file `number` lies or is to lie; `None` where that cannot be told.
    pub fn free(&self, number: usize) -> Option<Bytes> {
        let path = &self.places[number].path;
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = rustix::fs::open(folder, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let there = fstatvfs(folder).ok()?;
        Some(Bytes(there.f_bavail.saturating_mul(there.f_frsize)))
    }

    fn made(&self, number: usize) -> MutexGuard<'_, Option<(u64, u64)>> {
        self.places[number].made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reading(&self, number: usize) -> Result<OwnedFd, FileError> {
        let path = &self.places[number].path;
        let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty());
        let file = file.map_err(|error| failed("open", path, error))?;
        regular(&fstat(&file).map_err(|error| failed("look at", path, error))?, path)?;
        Ok(file)
    }
}

impl FileSpace for HostFiles {
    type File = HostFile;

    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn make(&self, number: usize, _: &WriteGrant) -> Result<(), FileError> {
        let path = &self.places[number].path;
        self.remove(number)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => {
                let found = fstat(&file).map_err(|error| failed("look at", path, error))?;
                *self.made(number) = Some(identity(&found));
                Ok(())
            }
            Err(Errno::EXIST) if self.consent => {
                let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK;
                let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| failed("open", path, error))?;
                regular(&fstat(&file).map_err(|error| failed("look at", path, error))?, path)?;
                ftruncate(&file, 0).map_err(|error| failed("empty", path, error))
            }
            Err(Errno::EXIST) => Err(FileError::NotOurs { name: path.display().to_string() }),
            Err(error) => Err(failed("make", path, error)),
        }
    }

    fn open(&self, number: usize, opening: FileOpening) -> Result<HostFile, FileError> {
        let path = &self.places[number].path;
        if opening.grant.is_some() && self.made(number).is_none() && !self.consent {
            return Err(FileError::NotOurs { name: path.display().to_string() });
        }
        let mut flags = if opening.grant.is_some() { OFlags::RDWR } else { OFlags::RDONLY };
        flags |= OFlags::CLOEXEC | OFlags::NONBLOCK;
        flags.set(OFlags::DIRECT, opening.direct);
        flags |= match opening.durable {
            Durable::No => OFlags::empty(),
            Durable::Data => OFlags::DSYNC,
            Durable::All => OFlags::SYNC,
            Durable::Reads => OFlags::SYNC | OFlags::RSYNC,
        };
        let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
            Errno::INVAL if opening.direct => FileError::System {
                operation: "open past the page cache",
                name: path.display().to_string(),
                said: "EINVAL: its file system does no direct I/O".to_owned(),
            },
            error => failed("open", path, error),
        })?;
        regular(&fstat(&file).map_err(|error| failed("look at", path, error))?, path)?;
        HostFile::new(file, &path.display().to_string(), &opening)
    }

    fn length(&self, number: usize) -> Option<Bytes> {
        let found = stat(&self.places[number].path).ok()?;
        (FileType::from_raw_mode(found.st_mode) == FileType::RegularFile).then_some(Bytes(found.st_size as u64))
    }

    fn settle(&self, number: usize) -> Result<(), FileError> {
        let file = self.reading(number)?;
        fdatasync(&file).map_err(|error| failed("flush", &self.places[number].path, error))
    }

    fn remove(&self, number: usize) -> Result<(), FileError> {
        let path = &self.places[number].path;
        let Some(ours) = self.made(number).take() else { return Ok(()) };
        match lstat(path) {
            Ok(found) if identity(&found) == ours => {
                rustix::fs::unlink(path).map_err(|error| failed("remove", path, error))
            }
            // Somebody else has put something there, or taken ours away.
            Ok(_) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(failed("look at", path, error)),
        }
    }

    fn drop_cache(&self, number: usize) -> Result<(), FileError> {
        let path = &self.places[number].path;
        let file = self.reading(number)?;
        fdatasync(&file).map_err(|error| failed("flush", path, error))?;
        fadvise(&file, 0, None, Advice::DontNeed).map_err(|error| failed("drop from the page cache", path, error))
    }

    fn counts(&self, number: usize) -> FileCounts {
        let Ok(file) = self.reading(number) else {
            return FileCounts { device: self.folder_counts(number), ..FileCounts::default() };
        };
        let Ok(found) = fstat(&file) else { return FileCounts::default() };
        let in_memory = crate::open::memory_file_system(&file);
        let device = Some(DeviceNumber::from_raw(found.st_dev)).filter(|_| in_memory.is_none());
        let sample = Sampler::new(&self.sys, device).sample(&file, 0, found.st_size as u64);
        FileCounts {
            device: sample.device.map(|device| (device.read, device.written)),
            cached: sample.residency.map(|found| found.cached),
            dirty: sample.residency.and_then(|found| found.dirty),
            in_memory,
        }
    }
}

impl HostFiles {
    /// What the device below has moved, where the file is not there yet.
    fn folder_counts(&self, number: usize) -> Option<(Bytes, Bytes)> {
        let path = &self.places[number].path;
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let number = DeviceNumber::from_raw(stat(folder).ok()?.st_dev);
        Sampler::new(&self.sys, Some(number)).quick().device.map(|device| (device.read, device.written))
    }
}

impl Drop for HostFiles {
    /// What was made here goes, unless it was handed over by [`HostFiles::keep`].
    fn drop(&mut self) {
        for number in 0..self.places.len() {
            let _ = self.remove(number);
        }
    }
}

impl HostFiles {
    /// Leaves the files that were made there.
    pub fn keep(&self) {
        for number in 0..self.places.len() {
            self.made(number).take();
        }
    }
}

fn identity(found: &Stat) -> (u64, u64) {
    (found.st_dev, found.st_ino)
}

fn regular(found: &Stat, path: &Path) -> Result<(), FileError> {
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => Ok(()),
        _ => Err(FileError::System {
            operation: "work on",
            name: path.display().to_string(),
            said: "it is no regular file".to_owned(),
        }),
    }
}

/// Sorts an error number: what the device or file system failed to do is an outcome.
fn failed(operation: &'static str, path: &Path, error: Errno) -> FileError {
    let (name, said) = (path.display().to_string(), errno::describe(error));
    let is_outcome = matches!(error, Errno::NOSPC | Errno::DQUOT | Errno::IO | Errno::FBIG)
        || (operation == "flush" && errno::judge(error) == Verdict::Failed);
    match is_outcome {
        true => FileError::Failed { operation, name, said },
        false => FileError::System { operation, name, said },
    }
}
