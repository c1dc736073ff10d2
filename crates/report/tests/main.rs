//! Tests of the crate from outside, in one program: each that is linked for itself costs seconds.

mod capacity;
#[path = "../../record/tests/fixture/mod.rs"]
mod fixture;
mod iozone;
mod page;
mod report;
