//! Tests of the crate from outside, in one program: each that is linked for itself costs seconds.

mod agreement;
mod ahead;
mod blank;
mod catalogue;
mod collection;
mod discard;
mod drives;
mod explain;
mod fast_area;
mod fitted_twins;
mod limits;
mod memory;
mod mixed_logs;
mod readings;
mod shifted;
mod twin_round_trip;
mod twins;
