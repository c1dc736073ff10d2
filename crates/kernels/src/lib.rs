//! Loops over memory: streams over long arrays, chases from pointer to pointer, and the pages that both run on.
//!
//! The second room for `unsafe` beside the host layer, and nothing else is in it: no clock, no thread, no file, no plan. Every
//! function that can be called from outside is safe; what it needs to be sound it checks itself. Start at [`Buffer`], which is
//! memory straight from the kernel, at [`stream`] for loops and at [`Ring`] for chases.

mod buffer;
mod ring;
pub mod stream;
pub mod verify;

pub use buffer::{Buffer, BufferError, Pages};
pub use ring::Ring;
