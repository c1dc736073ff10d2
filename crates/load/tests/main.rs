//! Tests of the crate from outside, in one program: each that is linked for itself costs seconds.

mod engine;
mod open_loop;
