//! What is asked of a memory, and what follows from its answers; no clock, no thread, no file.
//!
//! [`plan`] says how large arrays are and which questions are asked, [`wire`] what is said between `flashscope mem` and the
//! program that measures.

pub mod plan;
pub mod wire;
