//! What of the kernel's settings may be changed for a measurement, and put back afterwards.
//!
//! [`Knobs`] finds a knob by its name for a target: in the table of known ones, or by its path below `/sys` and `/proc/sys`.
//! A knob stands for files of the kernel, or for the options of a mount (`spot`).
//! [`Held`] changes knobs. Before the first change it writes the old values down (`note`), so that they are put back
//! whatever ends the program: at its end, in a panic, and by the next one after a kill. Nothing here decides what to vary.

mod error;
mod file;
mod find;
mod held;
mod mount;
mod note;
mod spot;
mod table;

pub use error::KnobError;
pub use find::{Knob, Knobs, ListedKnob, is_known};
pub use held::{Held, Restored, Wanted, finish_left};
