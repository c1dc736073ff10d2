//! Which directories belong to emulators, so that what a killed one left can be found and removed.
//!
//! A note per directory, locked for as long as the emulator lives: a note that can be locked belongs to nobody. What
//! counts is what the kernel says (mounts that do not answer, loop devices on files below the directory); the note only says where to look.

use crate::error::EmulateError;
use flashscope_host::LoopDevice;
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Type of the file system, as `/proc/mounts` has it.
const FILE_SYSTEM: &str = "fuse.flashscope";
/// What `subtype=` makes that type.
pub(crate) const SUBTYPE: &str = "flashscope";

/// The right to a directory.
#[derive(Debug)]
pub(crate) struct Claim {
    note: File,
    path: PathBuf,
}

impl Claim {
    /// Claims a directory, after what a killed emulator left there is removed; says what that was.
    ///
    /// # Errors
    /// Another emulator has it; what was left is in use.
    pub(crate) fn of(registry: &Path, directory: &Path) -> Result<(Claim, Vec<String>), EmulateError> {
        fs::create_dir_all(registry).map_err(|said| system("make", registry, said))?;
        let path = registry.join(format!("{:016x}", hash(directory)));
        let claim = match Claim::take(&path)? {
            Some(claim) => claim,
            None => return Err(EmulateError::Running { what: directory.to_owned(), process: owner(&path) }),
        };
        let removed = remove_leftovers(directory)?;
        Ok((claim, removed))
    }

    /// Writes down whose it is.
    pub(crate) fn note(&mut self, directory: &Path) -> Result<(), EmulateError> {
        let text = format!("process {}\ndirectory {}\n", std::process::id(), directory.display());
        self.note
            .set_len(0)
            .and_then(|()| self.note.rewind())
            .and_then(|()| self.note.write_all(text.as_bytes()))
            .map_err(|said| system("write", &self.path, said))
    }

    /// Locks a note, which is made where there is none. `None`: it is someone's.
    fn take(path: &Path) -> Result<Option<Claim>, EmulateError> {
        loop {
            let note = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
            let note = note.map_err(|said| system("open", path, said))?;
            match note.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(said)) => return Err(system("lock", path, said)),
            }
            // The one who had it may have removed it in between: then what was locked is no longer there.
            let still = note.metadata().ok().zip(fs::metadata(path).ok()).is_some_and(|(a, b)| a.ino() == b.ino());
            if still {
                return Ok(Some(Claim { note, path: path.to_owned() }));
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes what killed emulators left, wherever it is; says what.
///
/// # Errors
/// What was left is in use.
pub(crate) fn clean(registry: &Path) -> Result<Vec<String>, EmulateError> {
    let mut removed = Vec::new();
    let notes = fs::read_dir(registry).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut alive = Vec::new();
    for path in notes {
        let directory = field(&path, "directory ").map(PathBuf::from);
        match (Claim::take(&path)?, directory) {
            (Some(_claim), Some(directory)) => removed.extend(remove_leftovers(&directory)?),
            (Some(_), None) => {}
            (None, directory) => alive.extend(directory),
        }
    }
    // Those of which the note was lost.
    for directory in mounts() {
        if !alive.contains(&directory) && does_not_answer(&directory) {
            removed.extend(remove_leftovers(&directory)?);
        }
    }
    Ok(removed)
}

/// Whether a mount is there that nobody serves any more.
pub(crate) fn does_not_answer(directory: &Path) -> bool {
    let error = fs::metadata(directory).err();
    error
        .and_then(|error| Errno::from_io_error(&error))
        .is_some_and(|errno| matches!(errno, Errno::NOTCONN | Errno::CONNABORTED))
}

/// The mounts of emulators, dead and alive.
fn mounts() -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let line = |line: &str| {
        let mut fields = line.split(' ');
        let (_, point, kind) = (fields.next()?, fields.next()?, fields.next()?);
        (kind == FILE_SYSTEM)
            .then(|| PathBuf::from(point.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")))
    };
    table.lines().filter_map(line).collect()
}

/// Unbinds the loop devices on files below a directory that belongs to nobody, and unmounts it.
fn remove_leftovers(directory: &Path) -> Result<Vec<String>, EmulateError> {
    let mut removed = Vec::new();
    if !mounts().iter().any(|mount| mount == directory) {
        return Ok(removed);
    }
    // Ends what still waits for an answer, so that nothing below can hang.
    let _ = unmount(directory, UnmountFlags::FORCE);
    for device in LoopDevice::backed_below(directory) {
        let path = device.path();
        match device.detach() {
            Ok(true) => removed.push(format!("unbound {}", path.display())),
            Ok(false) => {
                let hint =
                    format!("unmount or close it (`findmnt {0}`, `fuser -vm {0}`), then clean again", path.display());
                return Err(EmulateError::Leftover { what: path, why: "it is in use".to_owned(), hint });
            }
            Err(error) => {
                let hint = format!("`losetup -d {}`", path.display());
                return Err(EmulateError::Leftover { what: path, why: error.to_string(), hint });
            }
        }
    }
    unmount_dead(directory)?;
    removed.push(format!("unmounted {}", directory.display()));
    Ok(removed)
}

/// Unmounts what nobody serves. It may be busy for a moment after its loop device went.
fn unmount_dead(directory: &Path) -> Result<(), EmulateError> {
    for _ in 0..20 {
        if !mounts().iter().any(|mount| mount == directory) {
            return Ok(());
        }
        let _ = unmount(directory, UnmountFlags::FORCE);
        sleep(Duration::from_millis(5));
    }
    // Someone has a file open there, or stands there: it goes when they do.
    unmount(directory, UnmountFlags::DETACH).map_err(|errno| EmulateError::Leftover {
        what: directory.to_owned(),
        why: io::Error::from(errno).to_string(),
        hint: format!("`umount -l {}`", directory.display()),
    })
}

fn owner(note: &Path) -> Option<u32> {
    field(note, "process ")?.parse().ok()
}

fn field(note: &Path, name: &str) -> Option<String> {
    let mut text = String::new();
    File::open(note).ok()?.read_to_string(&mut text).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned)
}

/// FNV-1a of the path.
fn hash(path: &Path) -> u64 {
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn system(operation: &'static str, path: &Path, said: io::Error) -> EmulateError {
    EmulateError::System { operation, path: path.to_owned(), said }
}
