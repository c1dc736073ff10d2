//! Tests of the crate from outside, in one program: each that is linked for itself costs seconds.

mod cuts;
mod judge;
mod kept;
mod log_writes;
