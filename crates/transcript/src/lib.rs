//! Reading and writing flashbench's text formats.
//!
//! [`parse`] reads a pasted console log, with whatever else is in it, and returns the tables of the
//! classic tests as observations; [`write()`] prints observations in the original's layout, so that they
//! can be laid beside a published table. A row that was printed becomes a row that was observed and
//! nothing more: this crate draws no conclusions, and what a log does not say stays absent.
//!
//! Start at [`parse`] (`read/assemble.rs` groups rows into runs; `read/row.rs` knows what a row looks
//! like; `read/clean.rs` undoes what terminals, forums and mail programs do to text).

mod read;
mod write;

pub use read::{LogDevice, Parsed, SEVERAL_DEVICES, parse, parse_bytes};
pub use write::write;
