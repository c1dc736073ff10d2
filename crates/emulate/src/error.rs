//! Why a device cannot be emulated.

use flashscope_device::DeviceError;
use flashscope_host::HostError;
use flashscope_sim::SimError;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a device cannot be emulated. Prints as one line, and a hint on its own line.
#[derive(Debug)]
pub enum EmulateError {
    /// No such model, or not a valid one.
    Model(SimError),
    /// Only root can mount and bind.
    NotRoot,
    /// The kernel has no FUSE here.
    NoFuse(io::Error),
    /// The directory is not there, or not a directory.
    BadDirectory {
        /// As it was given.
        at: PathBuf,
        /// What is wrong with it.
        why: String,
        /// What to do about it.
        hint: String,
    },
    /// Another emulator runs there, or with that backing file.
    Running {
        /// The directory or the backing file.
        what: PathBuf,
        /// Who, as far as that is known.
        process: Option<u32>,
    },
    /// What a killed emulator left cannot be cleaned up.
    Leftover {
        /// What.
        what: PathBuf,
        /// Why not.
        why: String,
        /// What to do about it.
        hint: String,
    },
    /// The backing file is not usable.
    BadBacking {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
        /// What to do about it.
        hint: String,
    },
    /// Mounting failed.
    Mount {
        /// Where.
        at: PathBuf,
        /// What the system said.
        said: io::Error,
    },
    /// No loop device.
    Loop(HostError),
    /// The floor could not be measured.
    Floor(io::Error),
    /// The simulated device cannot be driven.
    Device(DeviceError),
    /// Nobody keeps track of what is safe on this device.
    NoPowerFaults {
        /// Its model.
        model: String,
    },
    /// Something else that the system would not do.
    System {
        /// What was tried.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// What it said.
        said: io::Error,
    },
}

impl fmt::Display for EmulateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(error) => write!(f, "{error}"),
            Self::NotRoot => {
                write!(
                    f,
                    "emulate must be root, to mount a file system and to bind loop devices\nhint: run it with sudo"
                )
            }
            Self::NoFuse(said) => write!(
                f,
                "cannot open /dev/fuse: {said}\nhint: load the module with `modprobe fuse`; in a container, let it have the \
                 device (--device /dev/fuse --cap-add SYS_ADMIN)"
            ),
            Self::BadDirectory { at, why, hint } => write!(f, "{} {why}\nhint: {hint}", at.display()),
            Self::Running { what, process } => {
                write!(f, "another emulator is using {}", what.display())?;
                match process {
                    Some(process) => {
                        write!(f, " (process {process})\nhint: stop it with `kill {process}`, or name another")
                    }
                    None => write!(f, "\nhint: stop it, or name another"),
                }
            }
            Self::Leftover { what, why, hint } => {
                write!(
                    f,
                    "{} was left by an emulator that was killed, and cannot be cleaned up: {why}\nhint: {hint}",
                    what.display()
                )
            }
            Self::BadBacking { file, why, hint } => {
                write!(f, "backing file {} {why}\nhint: {hint}", file.display())
            }
            Self::Mount { at, said } => write!(
                f,
                "cannot mount at {}: {said}\nhint: in a container this needs CAP_SYS_ADMIN; `dmesg` may say more",
                at.display()
            ),
            Self::Loop(error) => write!(
                f,
                "no loop device could be bound: {error}\nhint: `losetup -a` shows those in use, `losetup -D` frees idle ones; \
                 without --loop the file itself can be used"
            ),
            Self::Floor(said) => write!(f, "cannot measure the floor of the emulation: {said}"),
            Self::Device(error) => write!(f, "{error}"),
            Self::NoPowerFaults { model } => write!(
                f,
                "the power of {model} cannot be cut: without a [fault] section nobody keeps track of what is safe\nhint: start it \
                 as {model},write_cache=mapping, with which nothing else is wrong"
            ),
            Self::System { operation, path, said } => write!(f, "cannot {operation} {}: {said}", path.display()),
        }
    }
}

impl std::error::Error for EmulateError {}

impl From<SimError> for EmulateError {
    fn from(error: SimError) -> EmulateError {
        EmulateError::Model(error)
    }
}
