//! iozone's tests, by iozone's rules: its command line, the matrix of file sizes and record sizes, the passes of its
//! thirteen tests, and where in the matrix memory ends.
//!
//! [`options::parse`] reads a command line as iozone does, except that what it does not know is an error. [`plan::plan`]
//! works out the cells. [`measure`] makes one pass after another along a [`flashscope_device::FileSpace`], which it is given, and
//! [`regions`] says what they show. Nothing here touches a file, a clock or a thread.
//!
//! The rules were found by running iozone 3.489 and watching its system calls (`docs/iozone.md`).

pub mod evidence;
pub mod measure;
pub mod options;
pub mod plan;
pub mod regions;
pub mod sizes;
pub mod steps;

pub use options::{Options, parse};
pub use plan::{Plan, plan};
