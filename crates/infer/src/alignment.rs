//! Allocation unit, page and inner page, from reads that straddle boundaries.
//!
//! A read across a boundary of a structural unit costs more than reads on either side of it. Two kinds of evidence
//! serve: measured places with their addresses ([`places`], [`structure`], [`from_places`]) and printed tables, which
//! leave only the mean contrast of each power of two ([`tables`], [`ladder`], [`printed`], [`from_tables`]). Start at
//! [`estimate`] and [`wanted`].

mod changes;
mod classes;
mod families;
mod from_places;
mod from_tables;
mod gathering;
mod kinds;
mod ladder;
mod levels;
mod noise;
mod offset;
mod places;
mod printed;
mod prior;
mod settle;
mod slid;
mod straddling;
mod structure;
mod tables;
#[cfg(test)]
mod tests;

pub(crate) use kinds::Kinds;
pub(crate) use tables::largest_rise;

use crate::Choice;
use crate::memo::{Memo, Question, Shared};
use flashscope_model::{DeviceFacts, Estimate, Observations, finding::Note, plan::Span};
use flashscope_units::{Bytes, Contrast, Nanos};
use gathering::Gathering;

/// What can be said of the alignment of a device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AlignmentFindings {
    /// What the controller erases, maps and collects as one.
    pub(crate) allocation_unit: Estimate<Bytes>,
    /// Where the first unit begins.
    pub(crate) boundary_offset: Estimate<Bytes>,
    /// The effective page.
    pub(crate) page: Estimate<Bytes>,
    /// A page level inside the effective page.
    pub(crate) page_inner: Estimate<Bytes>,
    /// How much more a read across a page's edge takes than one on no edge; `None` where no places were measured.
    pub(crate) page_step: Option<Contrast>,
    /// Pages of several kinds in turn, where they show.
    pub(crate) kinds: Option<Kinds>,
    /// What else a reader must know.
    pub(crate) notes: Vec<Note>,
}

/// The weighing of all hypotheses on measured places, for a [`Memo`].
#[derive(Debug)]
struct Weighing;

impl Question for Weighing {
    type Given = Shared<places::Places>;
    type Answer = Option<structure::Posterior>;
}

/// Concludes from all reads around boundaries. Measured places speak first; tables fill in what those leave open.
pub(crate) fn estimate(observations: &Observations, memo: &Memo) -> AlignmentFindings {
    let measured = from_places::estimate(observations, memo);
    let tables = tables::read_tables(observations);
    let Some(mut findings) = measured else {
        return from_tables::estimate(&tables, tables::has_writes(observations), observations);
    };
    if tables.is_empty() {
        return findings;
    }
    let printed = from_tables::estimate(&tables, false, observations);
    if findings.allocation_unit.is_unknown() {
        findings.allocation_unit = printed.allocation_unit;
        findings.boundary_offset = printed.boundary_offset;
        findings.notes.extend(printed.notes);
    }
    if findings.page.is_unknown() {
        (findings.page, findings.page_inner) = (printed.page, printed.page_inner);
    }
    findings
}

/// Whether reads that come one after another wait for what the device fetches unasked behind each.
pub(crate) fn reads_wait(observations: &Observations, memo: &Memo) -> bool {
    memo.of::<Gathering>().rest(observations).is_some_and(|rest| rest > Nanos::ZERO)
}

/// The read-only experiment that would settle most about alignment, or `None` when none is worth its reads. `within` is the
/// part of the device that holds data, where not all of it does.
pub(crate) fn wanted(
    device: &DeviceFacts,
    observations: &Observations,
    memo: &Memo,
    within: Option<Span>,
) -> Option<Choice> {
    settle::wanted(device, observations, memo, within)
}
