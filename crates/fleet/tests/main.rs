//! Tests of the crate from outside, in one program: each that is linked for itself costs seconds.

mod capacities;
mod claims;
mod endurance;
mod integrity;
mod otava;
mod small_fleet;
mod states;
