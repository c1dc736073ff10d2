//! Tests of the crate from outside, in one program: each that is linked for itself costs seconds.

mod ageing;
mod catalogue;
mod ebench;
mod invariants;
mod single_edits;
mod snapshot;
mod ssd_consumer;
mod state;
