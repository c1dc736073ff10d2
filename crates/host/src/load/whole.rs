//! Whole files: every request is one file of its own in a folder. A write makes it, writes it and closes it; a read opens it, reads
//! it to its end and closes it. What programs do that copy, unpack and install, and what small files cost a file system.
//!
//! A position means the file of that number; the files of one size lie in a folder of that size, a thousand to a folder below,
//! since some file systems take few names in one folder.

use super::buffers::SlotBuffers;
use super::files::Opening;
use super::lane::status_of;
use super::own::OpenFolder;
use super::{LaneError, LaneOptions};
use crate::clock::MonotonicClock;
use crate::error::HostError;
use crate::payload;
use flashscope_device::{DeviceError, FailureDetail, Fill, Lane, LaneCompletion, Op, Request, Seal, Status, Wait};
use flashscope_units::{Bytes, Instant};
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, Mode, OFlags, fadvise, openat, syncfs};
use rustix::io::{Errno, pread, pwrite};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files in one folder.
const A_FOLDER: u64 = 1000;

/// The files of one size.
#[derive(Clone, Debug)]
pub struct WholeFiles {
    /// The folder that holds the folder of this size, open.
    above: Arc<OpenFolder>,
    /// A path to the folder of this size that goes by what is open.
    folder: PathBuf,
    size: Bytes,
}

impl WholeFiles {
    /// Files of this size below a folder that is there. Nothing is made yet.
    pub(super) fn new(above: &Arc<OpenFolder>, size: Bytes) -> WholeFiles {
        WholeFiles { folder: above.place().join(size.get().to_string()), above: Arc::clone(above), size }
    }

    /// The folder of this size, for people.
    fn name(&self) -> PathBuf {
        self.above.path().join(self.size.get().to_string())
    }

    /// Removes all files of all sizes below a folder.
    ///
    /// # Errors
    /// What the system said.
    pub(super) fn clear(folder: &Arc<OpenFolder>) -> Result<(), HostError> {
        let failed = |error: std::io::Error| system("remove what is in", folder.path(), &error);
        for entry in std::fs::read_dir(folder.place()).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_type().map_err(failed)?.is_dir() {
                std::fs::remove_dir_all(entry.path()).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Makes the folders for `count` files and, where they are to be read, those of the files that are not there. `progress` hears how
    /// many there are, and ends it by `false`.
    ///
    /// # Errors
    /// What the system said, or that it was ended.
    pub fn prepare(&self, count: u64, read: bool, mut progress: impl FnMut(u64) -> bool) -> Result<(), HostError> {
        let failed = |error: std::io::Error| system("make files in", &self.name(), &error);
        for folder in 0..count.div_ceil(A_FOLDER) {
            std::fs::create_dir_all(self.folder.join(format!("{folder:03}"))).map_err(failed)?;
        }
        let mut bytes = vec![0; self.size.get().next_multiple_of(8) as usize];
        let mut name = String::new();
        for number in 0..if read { count } else { 0 } {
            name_of(number, &mut name);
            let path = self.folder.join(&name);
            if path.exists() {
                continue;
            }
            payload::fill(Fill::Tagged { generation: 0 }, number * self.size.get(), &mut bytes);
            std::fs::write(path, &bytes[..self.size.get() as usize]).map_err(failed)?;
            if number % 64 == 0 && !progress(number) {
                return Err(system("make files in", &self.name(), &std::io::Error::other("interrupted")));
            }
        }
        Ok(())
    }

    /// Writes back what is dirty and drops `count` files from the page cache.
    ///
    /// # Errors
    /// What the system said.
    pub fn drop_cache(&self, count: u64) -> Result<(), HostError> {
        let failed = |error: Errno| HostError::from_errno("drop from the page cache", &self.name(), error);
        let folder = open_folder(&self.folder).map_err(failed)?;
        syncfs(&folder).map_err(failed)?;
        let mut name = String::new();
        (0..count)
            .try_for_each(|number| {
                name_of(number, &mut name);
                let file = openat(&folder, &*name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
                fadvise(&file, 0, None, Advice::DontNeed)
            })
            .map_err(failed)
    }
}

/// A lane whose requests are whole files.
#[derive(Debug)]
pub struct WholeLane {
    folder: OwnedFd,
    name: String,
    size: u64,
    flags: OFlags,
    clock: MonotonicClock,
    buffers: SlotBuffers,
    pending: Option<u32>,
    /// The file's name, kept so that none is allocated per request.
    file: String,
}

impl WholeLane {
    pub(super) fn new(
        files: Option<WholeFiles>,
        opening: Opening,
        seal: Option<Seal>,
        options: &LaneOptions,
    ) -> Result<WholeLane, LaneError> {
        options.check()?;
        let failed = |error| LaneError::System {
            operation: "open the folder of the files",
            said: crate::errno::describe(error),
        };
        let files = files.ok_or_else(|| failed(Errno::NOENT))?;
        let folder = open_folder(&files.folder).map_err(failed)?;
        let mut flags = OFlags::CLOEXEC;
        flags.set(OFlags::DIRECT, opening.direct);
        flags.set(OFlags::DSYNC, opening.durable);
        let buffers = SlotBuffers::new(options.depth, options.largest.get() as usize, options.fill, seal);
        let name = files.name().display().to_string();
        let size = options.largest.get();
        Ok(WholeLane { folder, name, size, flags, clock: options.clock, buffers, pending: None, file: String::new() })
    }

    fn write(&mut self, slot: u32, length: usize) -> Result<usize, Errno> {
        let flags = self.flags | OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let file = openat(&self.folder, &*self.file, flags, Mode::RUSR | Mode::WUSR)?;
        all(length, |done| pwrite(&file, &self.buffers.of(slot, length)[done..], done as u64))
    }

    fn read(&mut self, slot: u32, length: usize) -> Result<usize, Errno> {
        let file = openat(&self.folder, &*self.file, self.flags | OFlags::RDONLY, Mode::empty())?;
        all(length, |done| pread(&file, &mut self.buffers.of_mut(slot, length)[done..], done as u64))
    }
}

impl Lane for WholeLane {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn push(&mut self, request: &Request) {
        if self.buffers.take(request) {
            self.pending = Some(request.id() as u32);
        }
    }

    fn turn(&mut self, _: Wait, mut complete: impl FnMut(LaneCompletion)) -> Result<Instant, DeviceError> {
        self.buffers.all_granted()?;
        let Some(slot) = self.pending.take() else { return Ok(self.clock.now()) };
        let request = *self.buffers.request(slot);
        let length = request.length().get() as usize;
        name_of(request.offset().get() / self.size, &mut self.file);
        let issued = self.clock.now();
        let result = match request.op() {
            Op::Read => self.read(slot, length),
            Op::Write { .. } => self.write(slot, length),
            Op::Flush | Op::Discard => syncfs(&self.folder).map(|()| 0),
        };
        let completed = self.clock.now();
        let status = match result {
            Ok(moved) => self.buffers.judge(slot, moved),
            Err(error) => status_of(error, &request, &self.name)?,
        };
        complete(LaneCompletion { slot, issued, completed, status });
        Ok(completed)
    }

    fn sleep_until(&mut self, at: Instant) {
        self.clock.sleep_until(at);
    }

    fn explain(&self, slot: u32, status: Status) -> FailureDetail {
        self.buffers.explain(slot, status)
    }
}

/// Until all is moved, or the file ends.
fn all(length: usize, mut more: impl FnMut(usize) -> Result<usize, Errno>) -> Result<usize, Errno> {
    let mut done = 0;
    while done < length {
        match more(done) {
            Ok(0) => break,
            Ok(moved) => done += moved,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

fn name_of(number: u64, name: &mut String) {
    name.clear();
    let written = write!(name, "{:03}/{:03}", number / A_FOLDER, number % A_FOLDER);
    debug_assert!(written.is_ok(), "a text takes whatever is written to it");
}

fn open_folder(path: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

fn system(operation: &'static str, path: &Path, error: &std::io::Error) -> HostError {
    let said = Errno::from_io_error(error).map_or_else(|| error.to_string(), crate::errno::describe);
    HostError::System { operation, path: path.to_owned(), said }
}
