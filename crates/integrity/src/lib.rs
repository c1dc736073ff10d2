//! What survives a power cut: the promise of a storage device, and whether it keeps it.
//!
//! The promise: a flush covers the writes that had completed before it was issued, a durable (FUA) write covers itself. After
//! a cut every logical sector holds the last value that was covered, or any value that was issued for it later; sectors that
//! nobody wrote are untouched; the device comes back, with its capacity. Writes that nothing covers have no order, and losing
//! them is no fault.
//!
//! [`run`] does the cuts on a [`flashscope_device::PowerSwitch`]: `sequence` draws the requests of a cut from its seed and `round` issues
//! them, a [`Journal`] notes what was acknowledged, a [`ledger::Ledger`] keeps it outside the device, [`judge`](judge::judge) holds what stands on the device afterwards against it, and
//! `verdict` names what was found over all cuts. Nothing here knows whether the device is simulated. [`under`] does the same with a file
//! system or a database on the device.

mod journal;
pub mod judge;
mod kept;
pub mod ledger;
pub mod log_writes;
mod look;
mod map;
mod round;
mod run;
mod sequence;
pub mod under;
pub mod verdict;

pub use journal::{Done, Flush, Journal, Write};
pub use kept::judge_kept;
pub use run::{Ended, Plan, Report, Seen, Watcher, first_generation, most_written, run, usual_region};
