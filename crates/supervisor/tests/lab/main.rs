//! The program as a whole: plans on simulated devices, kills, and machines whose sysfs was written down.
#![allow(clippy::print_stderr)]

mod fleet;
mod harness;
mod kills;
mod limits;
mod many_hosts;
mod plans;
mod qualify;
mod server;
mod shelves;
