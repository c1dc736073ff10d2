//! A simulated device as a real Linux block device.
//!
//! [`Emulator::start`] mounts a FUSE file system with one file, `disk`, that is the device of a model from `sim`, and on
//! wish binds a loop device to it. Requests reach the model in the order in which the kernel has them, at the virtual time that belongs
//! to their arrival; they are answered when the model has them done, less what the way there and back costs.
//!
//! Inside: `fuse` talks to the kernel, `disk` is the device (model, bytes, journal), `pacer` answers in time, `floor`
//! measures the way, `registry` and `backing` keep what outlives a kill, `seen` tells those who measure it. Start at `emulator`. What the model answers (a
//! failure, a device that is gone) reaches the kernel as an error number; nothing is decided here.
//!
//! Beside it [`Relay`] is a block device whose every request passes through this program, over any [`Medium`], and [`DirectDisk`] a
//! simulated device with bytes in it, without a kernel around it.

mod backing;
mod clock;
mod direct;
mod disk;
mod emulator;
mod error;
mod files;
mod floor;
mod fuse;
mod gate;
mod histogram;
mod journal;
mod log;
mod meter;
mod options;
mod pacer;
mod payload;
mod ranges;
mod registry;
mod relay;
mod seen;
pub mod signals;
mod statistics;
mod versions;

pub use direct::DirectDisk;
pub use emulator::{Emulator, Stop};
pub use error::EmulateError;
pub use files::SimFiles;
pub use fuse::{DISK_NAME, STATISTICS_NAME};
pub use options::{LogTo, Options, Speed};
pub use relay::{Medium, Relay};
pub use seen::{Seen, seen};
pub use statistics::{Lateness, Requests, Statistics};

use std::path::Path;

/// Where it is noted which directories belong to running emulators.
pub const REGISTRY: &str = "/run/flashscope/emulate";

/// Removes what killed emulators left: mounts that nobody serves and loop devices on them. Says what was removed.
///
/// # Errors
/// Not root; something is still in use.
pub fn clean(registry: &Path) -> Result<Vec<String>, EmulateError> {
    if !rustix::process::geteuid().is_root() {
        return Err(EmulateError::NotRoot);
    }
    registry::clean(registry)
}
