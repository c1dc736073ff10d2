//! Tests of the inference of alignment.

mod fixture;
mod live;
mod logs;
