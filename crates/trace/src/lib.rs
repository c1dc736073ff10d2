//! Block traces: requests as a device was given them.
//!
//! [`mod@file`] is the format of our own, [`import()`] and [`export`] are those of others, [`Figures`] is what a trace shows,
//! [`filter`] stands for changes to a driver, and [`replay`] gives a trace to a device again.
//!
//! Nothing here opens a file or knows a clock: readers and writers work on [`std::io::Read`] and [`std::io::Write`], and a
//! replay on what it is handed.

#![forbid(unsafe_code)]

mod error;
pub mod event;
pub mod export;
mod figures;
pub mod file;
pub mod filter;
pub mod import;
pub mod kernel;
pub mod replay;
mod request;

pub use error::{Place, TraceError};
pub use figures::Figures;
pub use import::{Format, Imported, import};
pub use request::{Flags, Op, Traced};
