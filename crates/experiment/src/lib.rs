//! Comparisons: which runs to do in which order, what their figures come to, and when enough is known.
//!
//! Pure: figures go in, verdicts come out. It neither runs anything nor knows where a figure came from. The effect is the
//! logarithm of a ratio throughout, so that "12 % slower" and "12 % faster" are alike and IOPS, MB/s and ms stand on one axis.
//!
//! Where to start: [`compare`] for runs that were done, [`Campaign`] for runs that are done while it decides, [`mod@sweep`] for
//! what the conditions of a campaign say of the knobs that make them,
//! [`limit`] for one figure against what it must come to.

mod campaign;
mod control;
mod design;
mod judge;
mod levels;
pub mod limit;
mod recorded;
mod settings;
pub mod sweep;
pub mod table;

pub use campaign::Campaign;
pub use design::{Block, Design, Slot};
pub use recorded::compare;
pub use settings::{Settings, SettingsError};
