//! Digital twins: a simulated device fitted to a measured one.
//!
//! [`Measured`] puts the logs or records of one device together. [`fit()`] makes a model of it: what kind of device it is
//! comes from the findings (`shape`), its times from the observations, first in closed form (`reads`, `writes`) and then by
//! trying the same experiments on virtual devices (`refine`). [`Replay`] does a measurement's experiments again on
//! a model, [`cells`] lays every figure beside the simulated one, and [`goodness`] says how well they agree. Nothing here does I/O.

mod card;
pub mod cells;
mod drive;
mod error;
mod findings;
mod fit;
pub mod goodness;
mod log_card;
mod measured;
mod memory;
pub mod original;
mod patterns;
mod reads;
mod refine;
mod replay;
mod shape;
mod told;
mod trust;
mod writes;

pub use card::{Origin, Parameter};
pub use cells::{Cell, Figure, Test};
pub use error::FitError;
pub use findings::{Outcome, TwinFinding};
pub use fit::{Fit, Model, Unattended, Watch, fit, fit_model};
pub use goodness::Goodness;
pub use measured::{Measured, Part};
pub use replay::{Replay, ReplayError};
pub use trust::{Trust, WITHIN};
