//! Tests of the crate from outside, in one program: each that is linked for itself costs seconds.

mod knobs;
mod list;
mod openers;
mod outputs;
mod power;
mod purge;
mod safety;
mod signatures;
mod support;
mod target;
mod ways;
