//! Plain data that flows through flashscope, in the order in which it comes to be:
//! [`facts`] of a device → a [`plan`] of experiments → [`observation`]s → [`finding`]s → a whole [`run`].
//!
//! Nothing here computes, does I/O or knows how it is printed or stored. Absent is `Option::None`,
//! never zero. Start at [`envelope::Envelope`], which every record has, and at [`run::RunRecord`], which holds all the
//! others, or at [`bench::BenchRecord`] for load.

pub mod app;
pub mod bench;
pub mod capacity;
pub mod certificate;
pub mod comparison;
pub mod discard;
pub mod endurance;
pub mod envelope;
mod experiment;
pub mod explanation;
pub mod facts;
pub mod finding;
pub mod fleet;
pub mod integrity;
pub mod iozone;
pub mod lab;
pub mod memory;
pub mod observation;
pub mod plan;
pub mod preset;
pub mod qualification;
mod record;
pub mod run;
pub mod state;
pub mod stress;
pub mod sweep;
pub mod trace;
pub mod twin;

pub use envelope::{Envelope, Kind, StopReason};
pub use experiment::{About, Data, Drawn, Experiment, ExperimentName, Form, Rows, Writes};
pub use facts::{Claims, DeviceFacts, DeviceKind, Health, Identity};
pub use finding::{Estimate, Finding, Findings, Geometry, Reason};
pub use observation::{Observations, Run};
pub use plan::Budget;
pub use record::AnyRecord;
pub use run::RunRecord;
pub use state::DeviceState;

/// Which way data moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the device.
    Read,
    /// To the device.
    Write,
}

/// The order in which the blocks of a region are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// Rising addresses.
    InOrder,
    /// A pseudo-random permutation.
    Random,
}
