//! A shelf of devices on one host: what a plan asks for, what may run beside what, and who holds which run.
//!
//! Pure: no file, clock, process or database. A [`Plan`] is read from TOML and holds no command, path or option that is not
//! known here ([`work`]). [`expand`] makes [`Run`]s of it and of the devices that the host found, each with an id that is a
//! hash of the device's identity and of the work, so that the same run handed out twice is the same run. [`topology`] says
//! which parts of the host devices share, [`Schedule`] which runs may be under way at once, [`neighbour`] whether one device
//! disturbs another all the same. An [`Engine`] keeps the runs; the program `flashscope-lab` has one in SQLite, and one of many hosts in NATS
//! JetStream. There a [`Coordinator`] hands runs out as [`Order`]s and judges what comes back; [`keep`] says what an agent does
//! with its records.

pub mod ask;
mod coordinate;
mod engine;
mod fleet;
mod host_file;
pub mod keep;
mod ledger;
pub mod neighbour;
mod order;
mod plan;
mod qualification;
mod run;
mod schedule;
pub mod topology;
pub mod work;

pub use coordinate::{Archive, Coordinator, Judge, Terms, sha256};
pub use engine::{Attempt, AttemptEnd, Claim, Completion, Engine, Entry, RunState};
pub use fleet::{FleetPlan, is_simulated};
pub use host_file::{HostFile, Power};
pub use ledger::{Kept, Ledger};
pub use order::{Order, Refusal};
pub use plan::{Address, DevicePlan, NeighbourPlan, Plan, PlanError};
pub use qualification::{Asked, FIGURES, Qualification, REQUIREMENTS};
pub use run::{Device, Phase, Run, expand, run_id};
pub use schedule::{Hold, Limits, Mode, Schedule, Task};
pub use work::{Command, Work};
