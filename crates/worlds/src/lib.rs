//! Devices of other worlds: a second generator of simulated devices, by which inference is judged and never tuned.
//!
//! [`draw`] makes a [`World`] from a seed and a number; [`World::open`] is the device, [`World::truth`] what is true of it. It
//! shares no code with crate `sim`: its mechanisms are those of the literature (docs/worlds.md names the papers), and its
//! noise has other shapes. Nobody may fit anything in `infer` to what is drawn here, or it judges no longer.
//!
//! Inside: `target` owns clock, queue and content; `card` (units with log blocks) and `drive` (pages over channels) own the
//! flash, behind the seam in `flash`.

mod around;
mod card;
mod chance;
mod content;
mod draw;
mod drive;
mod evict;
mod flash;
mod measured;
mod target;
mod truth;
mod world;

pub use draw::draw;
pub use target::WorldTarget;
pub use truth::{Area, Discarded, Fact, Inner, Penalty, Truth};
pub use world::{Kind, World};
