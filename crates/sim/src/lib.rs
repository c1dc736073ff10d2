//! Simulated flash devices on virtual time whose inside is known.
//!
//! [`open`] makes a [`SimTarget`] from a name in the [`catalogue()`] (or a model file) and changes to its parameters. It
//! implements [`flashscope_device::Target`], so that everything that runs on a real device runs on it; an hour
//! of device time takes a blink, and the same seed gives the same times. What is true of it is in [`truth`],
//! which only scoring may read.
//!
//! Inside: `target` owns clock, queue, content and noise; a mapping behind the seam in `ftl` owns the flash. Nothing here
//! does I/O, knows a clock or draws chance that was not seeded.

mod ageing;
mod au_log;
mod catalogue;
mod chance;
mod content;
mod discard;
mod error;
mod fault;
mod ftl;
mod memory;
mod model;
mod noise;
pub mod page_map;
mod range;
mod snapshot;
mod spec;
mod target;
mod text;
pub mod truth;

pub use catalogue::{Entry, catalogue};
pub use error::SimError;
pub use fault::{FakeKind, MediumBytes, MediumChange, Place, Placement, PowerCut, Recovery};
pub use ftl::Counters;
pub use snapshot::LARGEST_STATE;
pub use spec::show;
pub use target::{Files, SimTarget, Source, open, open_from, open_with};
