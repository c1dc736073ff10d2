//! Allocation units one beside the other: open units, fat and fast area.

use super::RateEvidence;
use crate::{Direction, Order};
use flashscope_units::{Bytes, Nanos};

/// Writes to several units in turn.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenUnitsData {
    /// Order of the offsets within each unit.
    pub order: Order,
    /// Number of units, where known.
    pub count: Option<u32>,
    /// Assumed unit, where known.
    pub unit: Option<Bytes>,
    /// Where the units start, where known.
    pub units: Vec<Bytes>,
    /// One entry per block size, in the order measured.
    pub rows: Vec<OpenUnitsRow>,
}

/// One block size of [`OpenUnitsData`].
#[derive(Clone, Debug, PartialEq)]
pub struct OpenUnitsRow {
    /// Block size.
    pub block: Bytes,
    /// Times in the order of issue, `count` of them per round; or the printed throughput.
    pub rate: RateEvidence,
}

/// Throughput of each of the first units.
#[derive(Clone, Debug, PartialEq)]
pub struct FatData {
    /// Order of the offsets within each unit, where known.
    pub order: Option<Order>,
    /// Assumed unit, where known (else the largest block is it).
    pub unit: Option<Bytes>,
    /// Where unit 0 starts, where known.
    pub offset: Option<Bytes>,
    /// One entry per block size.
    pub rows: Vec<FatRow>,
}

/// One block size of [`FatData`].
#[derive(Clone, Debug, PartialEq)]
pub struct FatRow {
    /// Block size.
    pub block: Bytes,
    /// One entry per unit, unit 0 first.
    pub units: Vec<RateEvidence>,
}

/// Suspect units against controls.
#[derive(Clone, Debug, PartialEq)]
pub struct FastAreaData {
    /// Assumed unit.
    pub unit: Bytes,
    /// How much of each was used, from its start: less than a unit where the piece in front of the first whole one was
    /// under suspicion.
    pub reach: Bytes,
    /// Reads or writes.
    pub direction: Direction,
    /// Order within each unit.
    pub order: Order,
    /// Block size.
    pub block: Bytes,
    /// Units at the start.
    pub suspects: Vec<UnitTimes>,
    /// Units from elsewhere.
    pub controls: Vec<UnitTimes>,
}

/// Service times within one unit.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitTimes {
    /// Start of the unit.
    pub at: Bytes,
    /// Times in the order of issue.
    pub times: Vec<Nanos>,
}
