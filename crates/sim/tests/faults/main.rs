//! Fakes and faults, as a host meets them.

mod common;
mod cuts;
mod events;
mod payload;
mod power;
mod sectors;
mod size;
