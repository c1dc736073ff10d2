//! What is asked of a memory, and what follows from its answers; no clock, no thread, no file.
//!
//! [`plan`] says how large arrays are and which questions are asked, [`course`] in which order places are visited, [`question`] is
//! what a memory is asked, [`inspect`](mod@inspect) asks and concludes (by [`infer`]), [`sim`] is a simulated memory whose inside is known,
//! and [`wire`] what is said between `flashscope mem` and the program that measures.

pub mod course;
pub mod infer;
pub mod inspect;
pub mod plan;
pub mod question;
pub mod sim;
pub mod wire;
