//! What use does to a device, as far as its model says so: the `[ageing]` section, the blocks that go bad, what that costs,
//! and the registers that tell of it. Both mappings ask the same [`Ageing`].

mod blocks;
mod params;
mod registers;

pub(crate) use blocks::{Ageing, Fate, SavedAgeing};
pub(crate) use params::{AgeingParams, SECTION, defaults};
pub(crate) use registers::{health, share_of_life};
