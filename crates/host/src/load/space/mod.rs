//! Whole files, in the ways that programs have: [`HostFiles`] is the [`FileSpace`] of this machine.
//!
//! Only files that were made here are removed or made anew; one that was there before is emptied where its owner consented, and
//! else only read. A file is known by what was opened when it was made, or first seen; its name is not gone by again.

mod map;
mod queue;
mod records;
mod stdio;
mod work;

pub use work::HostFile;

use super::evidence::Sampler;
use crate::clock::MonotonicClock;
use crate::entry::{Entry, by_descriptor};
use crate::errno::{self, Verdict};
use crate::sysfs::{DeviceNumber, SysRoot};
use flashscope_device::{Durable, FileCounts, FileError, FileOpening, FileSpace, WriteGrant};
use flashscope_units::{Bytes, Instant};
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, FileType, Mode, OFlags, Stat, fadvise, fdatasync, fstat, fstatvfs, ftruncate, stat};
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
    held: Mutex<Held>,
}

/// What is at a place.
#[derive(Debug, Default)]
struct Held {
    /// The file, open; `None` where there is none.
    file: Option<OwnedFd>,
    /// Its name, where it was made here.
    made: Option<Entry>,
}

impl HostFiles {
    /// Files of these names. What is there already is held on to, and nothing is made yet.
    pub fn new(sys: &SysRoot, clock: MonotonicClock, names: &[PathBuf], consent: bool) -> HostFiles {
        let there = |path: &Path| rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok();
        let held = |path: &Path| Mutex::new(Held { file: there(path), made: None });
        let place = |path: &PathBuf| Place { path: path.clone(), held: held(path) };
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

    fn held(&self, number: usize) -> MutexGuard<'_, Held> {
        self.places[number].held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens what is held once more.
    fn again(&self, number: usize, flags: OFlags) -> Result<OwnedFd, Errno> {
        let held = self.held(number);
        let way = by_descriptor(held.file.as_ref().ok_or(Errno::NOENT)?);
        rustix::fs::open(way, flags | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())
    }

    fn reading(&self, number: usize) -> Result<OwnedFd, FileError> {
        let path = &self.places[number].path;
        let file = self.again(number, OFlags::RDONLY).map_err(|error| failed("open", path, error))?;
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
        let not_ours = || FileError::NotOurs { name: path.display().to_string() };
        let mut held = self.held(number);
        if held.file.is_none() {
            let entry = Entry::of(path).map_err(|error| failed("make", path, error))?;
            let file = entry.make().map_err(|error| match error {
                // It came after we had looked, so nobody can have meant it.
                Errno::EXIST => not_ours(),
                error => failed("make", path, error),
            })?;
            *held = Held { file: Some(file), made: Some(entry) };
            return Ok(());
        }
        drop(held);
        if !self.consent {
            return Err(not_ours());
        }
        let file = self.again(number, OFlags::RDWR).map_err(|error| failed("open", path, error))?;
        regular(&fstat(&file).map_err(|error| failed("look at", path, error))?, path)?;
        ftruncate(&file, 0).map_err(|error| failed("empty", path, error))
    }

    fn open(&self, number: usize, opening: FileOpening) -> Result<HostFile, FileError> {
        let path = &self.places[number].path;
        if opening.grant.is_some() && self.held(number).made.is_none() && !self.consent {
            return Err(FileError::NotOurs { name: path.display().to_string() });
        }
        let mut flags = if opening.grant.is_some() { OFlags::RDWR } else { OFlags::RDONLY };
        flags.set(OFlags::DIRECT, opening.direct);
        flags |= match opening.durable {
            Durable::No => OFlags::empty(),
            Durable::Data => OFlags::DSYNC,
            Durable::All => OFlags::SYNC,
            Durable::Reads => OFlags::SYNC | OFlags::RSYNC,
        };
        let file = self.again(number, flags).map_err(|error| match error {
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
        let found = fstat(self.held(number).file.as_ref()?).ok()?;
        (FileType::from_raw_mode(found.st_mode) == FileType::RegularFile).then_some(Bytes(found.st_size as u64))
    }

    fn settle(&self, number: usize) -> Result<(), FileError> {
        let file = self.reading(number)?;
        fdatasync(&file).map_err(|error| failed("flush", &self.places[number].path, error))
    }

    fn remove(&self, number: usize) -> Result<(), FileError> {
        let path = &self.places[number].path;
        let mut held = self.held(number);
        let Some(entry) = held.made.take() else { return Ok(()) };
        let file = held.file.take();
        file.map_or(Ok(()), |file| entry.remove_if(file)).map_err(|error| failed("remove", path, error))
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
            self.held(number).made.take();
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_device::{Consent, FileWay, FileWork, SafetyReport, Step};
    use flashscope_model::DeviceKind;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::AtomicBool;

    fn grant() -> WriteGrant {
        let report =
            SafetyReport { identity: None, kind: DeviceKind::File, capacity: Bytes::mib(1), refusals: Vec::new() };
        WriteGrant::decide(&report, &Consent { allow_file: true, ..Consent::default() }, Bytes::mib(1)).unwrap()
    }

    fn write(files: &HostFiles) {
        let record = Bytes(4096);
        let (way, durable, grant) = (FileWay::Positioned, Durable::No, Some(grant()));
        let opening = FileOpening { way, direct: false, durable, record, length: record, check: false, grant };
        let mut file = files.open(0, opening).unwrap();
        let passed = file.pass([Step { offset: 0, write: true }].into_iter(), &AtomicBool::new(false));
        assert_eq!((passed.records, passed.failed), (1, None));
    }

    /// Whether it was made here or its owner gave it: the name leads to the victim before it is opened again.
    fn check(there: bool) {
        let folder = std::env::temp_dir().join(format!("flashscope-space-{}-{there}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (name, victim) = (folder.join("file"), folder.join("victim"));
        fs::write(&victim, "mine").unwrap();
        if there {
            fs::write(&name, "given").unwrap();
        }
        let swap = || {
            fs::rename(&name, folder.join("elsewhere")).unwrap();
            symlink(&victim, &name).unwrap();
        };
        let files = HostFiles::new(&SysRoot::live(), MonotonicClock::start(), std::slice::from_ref(&name), there);
        if there {
            swap();
        }
        files.make(0, &grant()).unwrap();
        if !there {
            swap();
        }
        write(&files);
        files.settle(0).unwrap();
        assert_eq!(files.length(0), Some(Bytes(4096)));
        assert_eq!(fs::metadata(folder.join("elsewhere")).unwrap().len(), 4096, "it went to the file itself");
        drop(files);
        assert_eq!(fs::read(&victim).unwrap(), b"mine", "another file was written to");
        assert!(name.is_symlink(), "what others put there is not ours to remove");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_link_put_in_the_place_of_a_file_leads_nobody_astray() {
        check(false);
        check(true);
    }
}
