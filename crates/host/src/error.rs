//! Why the host could not do what was asked.

use crate::errno;
use flashscope_device::Refusal;
use rustix::io::Errno;
use std::fmt;
use std::path::{Path, PathBuf};

/// Why a target could not be looked at or opened. Prints as one line, and a hint on its own line where
/// there is something to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostError {
    /// There is nothing at this path.
    NotFound {
        /// The path as given.
        path: PathBuf,
    },
    /// The caller has not the right to do it.
    PermissionDenied {
        /// What was tried (`open for reading`).
        operation: &'static str,
        /// The path as given.
        path: PathBuf,
    },
    /// A directory, a character device, a socket …
    NotATarget {
        /// The path as given.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A block device, or a directory, that has no registers of an SD card or eMMC part.
    NoRegisters {
        /// The path as given.
        path: PathBuf,
        /// Why (`it is no SD card or eMMC part on a native host`).
        why: &'static str,
    },
    /// The file system does not do direct I/O, and the caller did not allow to go through the page cache.
    DirectRefused {
        /// The path as given.
        path: PathBuf,
        /// Why (`the file system is tmpfs`).
        why: String,
    },
    /// Reading was refused because the device is in use, or writing because something speaks against it.
    Refused {
        /// The path as given.
        path: PathBuf,
        /// Everything that speaks against it; never empty.
        refusals: Vec<Refusal>,
        /// Whether it was to be written to.
        writing: bool,
    },
    /// The operating system said no.
    System {
        /// What was tried.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// What it said (`EINVAL: invalid argument`).
        said: String,
    },
}

impl HostError {
    /// Sorts an error number from an operation on a path.
    pub(crate) fn from_errno(operation: &'static str, path: &Path, error: Errno) -> HostError {
        let path = path.to_owned();
        match error {
            Errno::NOENT | Errno::NOTDIR => HostError::NotFound { path },
            Errno::ACCESS | Errno::PERM => HostError::PermissionDenied { operation, path },
            _ => HostError::System { operation, path, said: errno::describe(error) },
        }
    }

    /// The same for the standard library's errors.
    pub(crate) fn from_io(operation: &'static str, path: &Path, error: &std::io::Error) -> HostError {
        match Errno::from_io_error(error) {
            Some(errno) => HostError::from_errno(operation, path, errno),
            None => HostError::System { operation, path: path.to_owned(), said: error.to_string() },
        }
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { path } => {
                write!(
                    f,
                    "there is no file or device {}\nhint: `flashscope list` shows the devices of this machine, `flashscope sim \
                     list` simulated ones",
                    path.display()
                )
            }
            Self::PermissionDenied { operation, path } => write!(
                f,
                "may not {operation} {}: permission denied\nhint: run with sudo, or let an administrator add you to \
                 the group that owns it (`disk` on most systems)",
                path.display()
            ),
            Self::NoRegisters { path, why } => write!(
                f,
                "there are no registers to read of {}: {why}\nhint: `flashscope list` shows the devices of this machine and their buses",
                path.display()
            ),
            Self::NotATarget { path, what } => write!(
                f,
                "{} is {what}, not a block device or a regular file\nhint: `flashscope list` shows the devices of \
                 this machine",
                path.display()
            ),
            Self::DirectRefused { path, why } => write!(
                f,
                "{} cannot be read past the page cache: {why}\nhint: put the file on a disk's file system, or add \
                 --allow-cached, which then measures memory and says so",
                path.display()
            ),
            Self::Refused { path, refusals, writing } => refused(f, path, refusals, *writing),
            Self::System { operation, path, said } => write!(f, "cannot {operation} {}: {said}", path.display()),
        }
    }
}

impl std::error::Error for HostError {}

fn refused(f: &mut fmt::Formatter<'_>, path: &Path, refusals: &[Refusal], writing: bool) -> fmt::Result {
    let deed = if writing { "writing to" } else { "reading" };
    write!(f, "{deed} {} is refused", path.display())?;
    for refusal in refusals {
        write!(f, "\n  {}", refusal.what)?;
        if let Some(release) = &refusal.release {
            write!(f, "\n  hint: {release}")?;
        }
    }
    if !writing {
        write!(f, "\nhint: --read-in-use reads it all the same, and the record says so")?;
    }
    Ok(())
}
