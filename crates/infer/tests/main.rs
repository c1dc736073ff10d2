//! Tests of the crate from outside, in one program: each that is linked for itself costs seconds.

mod adaptive;
mod bad_input;
mod calibration;
mod common;
mod damaged_logs;
mod fat_layout;
mod published_logs;
