//! Tests of the crate from outside, in one program: each that is linked for itself costs seconds.

mod benchstat;
mod campaign;
mod recorded;
mod sweep;
