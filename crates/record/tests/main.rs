//! Tests of the crate from outside, in one program: each that is linked for itself costs seconds.

mod capacity;
mod endurance;
mod fixture;
mod old;
mod record;
mod sweep;
