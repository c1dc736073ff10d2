//! Devices of this machine whose power the operator's commands cut and bring back.
//!
//! [`SwitchedTarget`] is a [`crate::HostTarget`] that is closed while it is without power and opened anew when it is back: found by
//! what names it, whatever the kernel calls it then. Start there. [`SwitchedTarget::dry_cut`] shows, before anything is written, that the
//! commands do what they are to do, and to nothing else. [`SwitchedBytes`] is one that a relay serves other people's bytes from.

mod beside;
mod bytes;
mod command;
mod part;
mod switched;

pub use beside::stands_on;
pub use bytes::{PlainBytes, SwitchedBytes};
pub use command::PowerCommand;
pub use switched::{DryCut, Switch, SwitchedTarget, boot_id};
