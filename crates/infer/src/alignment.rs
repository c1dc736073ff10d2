//! Allocation unit, page and inner page, from reads that straddle boundaries.
//!
//! A read across a boundary of a structural unit costs more than reads on either side of it. Printed tables leave the
//! mean contrast of each power of two ([`tables`], [`ladder`], [`printed`]). Start at [`estimate`] and [`wanted`].

mod from_tables;
mod ladder;
mod levels;
mod noise;
mod printed;
mod prior;
mod tables;
#[cfg(test)]
mod tests;

use crate::Choice;
use flashscope_model::{DeviceFacts, Estimate, Observations, finding::Note};
use flashscope_units::Bytes;

/// What can be said of the alignment of a device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AlignmentFindings {
    /// What the controller erases, maps and collects as one.
    pub(crate) allocation_unit: Estimate<Bytes>,
    /// The effective page.
    pub(crate) page: Estimate<Bytes>,
    /// A page level inside the effective page.
    pub(crate) page_inner: Estimate<Bytes>,
    /// What else a reader must know.
    pub(crate) notes: Vec<Note>,
}

/// Concludes from all reads around boundaries.
pub(crate) fn estimate(observations: &Observations) -> AlignmentFindings {
    let tables = tables::read_tables(observations);
    from_tables::estimate(&tables, tables::has_writes(observations), observations)
}

/// The read-only experiment that would settle most about alignment, or `None` when none is worth its reads.
pub(crate) fn wanted(device: &DeviceFacts, observations: &Observations, seed: u64) -> Option<Choice> {
    let _ = (device, observations, seed);
    None
}
