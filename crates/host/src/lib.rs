//! Linux block devices and regular files as targets, and the real clock.
//!
//! Start at [`list`] to see what there is, at [`safety`] for what speaks against writing to it, and at
//! [`open_for_reading`] and [`open_for_writing`] for a [`HostTarget`]. This is the only crate that may hold
//! `unsafe`, and it does so in the files that begin by allowing it. It draws no conclusions and prints nothing.

mod block_trace;
mod blocks;
mod buffer;
mod clock;
mod conditions;
mod contents;
mod date;
mod engine;
mod entry;
mod errno;
mod error;
mod folder;
mod h2w;
mod hashes;
mod ioctl;
pub mod knob;
mod list;
pub mod load;
mod loop_device;
mod mmc;
mod mounts;
mod open;
mod openers;
mod outputs;
pub mod payload;
pub mod power;
pub mod purge;
mod safety;
mod schedule;
mod signature;
mod sysfs;
pub mod tags;
mod target;
mod undo;
mod uses;
pub mod volume;

pub use block_trace::{BlockTrace, Traceable, clean_block_traces};
pub use clock::{MonotonicClock, clock_resolution, wall_clock};
pub use conditions::{Surroundings, pin_cpu, pin_cpus};
pub use error::HostError;
pub use folder::Folder;
pub use h2w::{H2wFiles, H2wSet};
pub use hashes::{Bytewise, hashes, sha256};
pub use list::{
    Bus, BusMode, DeviceAbove, ListedDevice, LoopFacts, MmcFacts, NvmeFacts, Partition, Queue, ScsiFacts, UsbFacts,
    devices_above, disk_under, list,
};
pub use loop_device::{LoopDevice, LoopOptions};
pub use mmc::{CardRegisters, HostPart, card_registers, registers_in};
pub use open::{OpenOptions, join_grants, open_for_reading, open_for_writing, open_own};
pub use outputs::{Output, Outputs, is_among_devices};
pub use safety::{Checked, safety};
pub use schedule::{exact_timers, run_before_others};
pub use sysfs::{DeviceNumber, SysRoot};
pub use target::HostTarget;
pub use undo::{PutBack, UndoError, UndoJournal, Undoing};
pub use uses::{Use, UsedBy};

/// What the kernel keeps files and devices in, and writes back at least.
pub fn page_size() -> flashscope_units::Bytes {
    flashscope_units::Bytes(rustix::param::page_size() as u64)
}
