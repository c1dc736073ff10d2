//! The registers of SD cards and eMMC parts: what they say, and whether the part does it.
//!
//! Three rooms. Decoding: [`Registers`] are the bytes of a part, read from a dump by [`read_dump`], and [`decode`] says what each field
//! of them means; the fields are data in tables. Checking: [`check`] sends commands to a [`Part`] and holds what it does against what its
//! registers claim. A part that is simulated: [`Responder`] answers commands by a state machine over any target.
//!
//! Pure functions and state machines: no file, no clock, no device is reached but through what is handed in. Every command that
//! flashscope ever sends to such a part is one of [`Command`], and none of them changes anything for good.
//!
//! After the public SD Physical Layer Simplified Specification (versions 2.00 to 9.00) and what is public of JESD84-B51. A field that a
//! register does not define is `None`, never a guess.

mod bits;
mod check;
mod cid;
mod command;
mod csd;
mod decode;
mod dump;
mod field;
mod health;
mod makers;
mod part;
mod plant;
mod responder;
mod scr;
mod set;
mod ssr;
mod summary;
mod table;

pub use bits::Family;
pub use check::{Asked, CheckError, Checked, Outcome, Row, check};
pub use cid::{Cid, Month};
pub use command::{BlockCount, Command, Encoded, EraseHow, Setting};
pub use csd::{Csd, EraseGroup};
pub use decode::{Decoded, Shown, decode};
pub use dump::{DumpError, DumpHint, read_dump, write_dump};
pub use field::{Access, Unit};
pub use health::{estimates, health_words};
pub use part::{NotSent, Part, Reply};
pub use plant::Plant;
pub use responder::{Profile, Responder, features};
pub use scr::Scr;
pub use set::{EXT_CSD_BYTES, ExtCsd, RegisterKind, Registers};
pub use ssr::Ssr;
pub use summary::summary;
