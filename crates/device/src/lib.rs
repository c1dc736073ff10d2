//! What a target is, as probes see it.
//!
//! A [`Target`] takes batches of [`Request`]s and gives [`Completion`]s, each stamped by the target's
//! own clock, so that a simulated device on virtual time and a real one mean the same. A write can
//! only be asked for with a [`WriteGrant`], which is made in one place ([`grant`]) from the
//! safety report and the operator's consent, and which counts every byte.
//!
//! A [`Lane`] is the lean way to the same device, for load generation.
//!
//! A [`FileSpace`] is work on whole files, in the ways that programs have.
//!
//! A [`PowerSwitch`] is a target that can lose its power and get it back, [`PoweredBytes`] one that carries other people's bytes.
//!
//! [`Purge`] are the ways to make a device forget that no request can say.
//!
//! This crate knows no device: `sim` and `host` implement it.

mod file_space;
pub mod grant;
mod lane;
mod power;
mod purge;
mod request;
pub mod stretch;
mod target;

pub use file_space::{Durable, FileCounts, FileError, FileOpening, FileSpace, FileWay, FileWork, Passed, Step};
pub use grant::{Consent, GrantError, Refusal, RefusalKind, SafetyReport, Seal, WriteGrant};
pub use lane::{FailureDetail, Foresight, Lane, LaneCompletion, Status, Wait};
// For `forward!`, whose users may not name these crates.
#[doc(hidden)]
pub use {flashscope_model as model, flashscope_units as units};

pub use power::{PowerSwitch, PoweredBytes, Restored};
pub use purge::{Availability, NoPurge, Purge, PurgeError, PurgeStep};
pub use request::{Completion, Content, Fill, Op, Outcome, Request};
pub use stretch::{FoundFile, Holds, Known, Stretch};
pub use target::{Capabilities, DeviceError, ExecuteExt, Target, Wear};
