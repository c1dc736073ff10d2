//! What use does to a device, as far as its model says so: the `[ageing]` section, and the registers that tell of it.

mod params;
mod registers;

pub(crate) use params::{AgeingParams, SECTION, defaults};
pub(crate) use registers::{health, share_of_life};
