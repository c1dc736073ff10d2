//! Checks that several experiments share.

use crate::error::PlanError;
use flashscope_model::DeviceFacts;
use flashscope_units::Bytes;

pub(crate) fn in_range(what: &'static str, value: u64, least: u64, most: u64) -> Result<(), PlanError> {
    if (least..=most).contains(&value) { Ok(()) } else { Err(PlanError::OutOfRange { what, value, least, most }) }
}

pub(crate) fn at_least(what: &'static str, value: u64, least: u64) -> Result<(), PlanError> {
    in_range(what, value, least, u64::MAX)
}

/// A size: not zero, and a whole number of the device's logical blocks.
pub(crate) fn size(what: &'static str, value: Bytes, facts: &DeviceFacts) -> Result<(), PlanError> {
    at_least(what, value.get(), facts.logical_block.get())?;
    position(what, value, facts)
}

/// A position: a whole number of the device's logical blocks.
pub(crate) fn position(what: &'static str, value: Bytes, facts: &DeviceFacts) -> Result<(), PlanError> {
    let unit = facts.logical_block;
    if value.is_multiple_of(unit) {
        return Ok(());
    }
    Err(PlanError::Unaligned { what, value, unit, why: "the device takes whole logical blocks only" })
}

/// A block that is also read shifted by half of itself.
pub(crate) fn halvable(what: &'static str, value: Bytes, facts: &DeviceFacts) -> Result<(), PlanError> {
    let unit = facts.logical_block * 2;
    if value > Bytes::ZERO && value.is_multiple_of(unit) {
        return Ok(());
    }
    let why = "half of it must be a whole number of the device's logical blocks";
    Err(PlanError::Unaligned { what, value, unit, why })
}

/// Nothing may reach beyond the device.
pub(crate) fn fits(
    what: &'static str,
    facts: &DeviceFacts,
    needs: Option<u128>,
    hint: &'static str,
) -> Result<(), PlanError> {
    // Beyond 128 bits is beyond any device.
    let needs = needs.unwrap_or(u128::MAX);
    if needs <= u128::from(facts.capacity.get()) {
        return Ok(());
    }
    Err(PlanError::DoesNotFit { what, needs, has: facts.capacity, hint })
}

/// `start + steps·step + length` without overflow.
pub(crate) fn end_of(start: Bytes, steps: u64, step: Bytes, length: Bytes) -> Option<u128> {
    u128::from(steps)
        .checked_mul(u128::from(step.get()))?
        .checked_add(u128::from(start.get()))?
        .checked_add(u128::from(length.get()))
}

/// `small` times a power of two.
pub(crate) fn halves(what: &'static str, large: Bytes, small: Bytes) -> Result<(), PlanError> {
    if large.is_multiple_of(small) && (large / small).is_power_of_two() {
        return Ok(());
    }
    Err(PlanError::NotHalves { what, large, small })
}

/// `large`, half of it … `small`.
pub(crate) fn halvings(large: Bytes, small: Bytes) -> impl Iterator<Item = Bytes> {
    std::iter::successors(Some(large), |&block| Some(block / 2)).take_while(move |&block| block >= small)
}

/// Units of the same size that lie inside the device and apart from each other.
pub(crate) fn units(
    what: &'static str,
    starts: impl Iterator<Item = Bytes>,
    unit: Bytes,
    facts: &DeviceFacts,
) -> Result<(), PlanError> {
    let mut sorted: Vec<Bytes> = starts.collect();
    sorted.sort_unstable();
    for &start in &sorted {
        position("start of a unit", start, facts)?;
        fits(what, facts, end_of(start, 0, Bytes::ZERO, unit), "choose units inside the device")?;
    }
    match sorted.windows(2).find(|pair| pair[1] - pair[0] < unit) {
        Some(pair) => Err(PlanError::Overlap { what, at: pair[1] }),
        None => Ok(()),
    }
}
