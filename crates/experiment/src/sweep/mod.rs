//! Sweeps: knobs, the conditions that their values make, and what each knob does.
//!
//! A sweep is a [`Campaign`](crate::Campaign) whose sides are the [`conditions`], the baseline first. What it comes to is asked
//! of the campaign at any moment by [`effects`] and [`answers`]; [`decided`] says when no question is left.

mod answer;
mod contrast;
mod plan;

pub use answer::{answers, decided};
pub use contrast::effects;
pub use plan::{SweepError, check, conditions};
