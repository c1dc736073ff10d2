//! The unit that tables were written by, where no command says it.
//!
//! flashbench's tables begin with one write per unit, so that the largest block is the unit. But a pasted table may have
//! lost its head: tables of one log belong together, and what one of them lost another still has.

use crate::open_units::is_table;
use flashscope_model::observation::{FatData, OpenUnitsData};
use flashscope_model::{Data, Observations};
use flashscope_units::Bytes;

/// No unit is smaller than this: where the largest block of a whole log is, the heads of its tables are lost.
const LEAST_UNIT: Bytes = Bytes::kib(256);

/// The unit of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TableUnit {
    /// Its size; for a lost one the largest block that is left.
    pub(crate) size: Bytes,
    /// How it is known.
    pub(crate) known: Known,
}

/// How the unit of a table is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Known {
    /// A command says it.
    Told,
    /// It is the largest block of all tables that go with this one.
    Guessed,
    /// The heads of all tables are lost.
    Lost,
}

impl TableUnit {
    /// Whether a block is a part of the unit; of a lost unit every block is.
    pub(crate) fn divides_into(self, block: Bytes) -> bool {
        self.known == Known::Lost || block < self.size
    }
}

/// The unit of a table of writes to several units.
pub(crate) fn unit_of_counts(observations: &Observations, data: &OpenUnitsData) -> Option<TableUnit> {
    unit_of(observations, data.unit, data.rows.iter().map(|row| row.block).max())
}

/// The unit of a table of the first units.
pub(crate) fn unit_of_first(observations: &Observations, data: &FatData) -> Option<TableUnit> {
    unit_of(observations, data.unit, data.rows.iter().map(|row| row.block).max())
}

/// The unit of a table that says `told`, or of one that says nothing and whose largest block is `largest`.
fn unit_of(observations: &Observations, told: Option<Bytes>, largest: Option<Bytes>) -> Option<TableUnit> {
    if let Some(size) = told {
        return Some(TableUnit { size, known: Known::Told });
    }
    let largest = largest.filter(|block| *block > Bytes::ZERO)?;
    // Halvings of 3 MiB and of 4 MiB never meet, and do not come from the same command.
    let belongs = |other: &Bytes| other.is_multiple_of(largest) && (*other / largest).is_power_of_two();
    let size = heads(observations).filter(belongs).max().unwrap_or(largest);
    Some(TableUnit { size, known: if size < LEAST_UNIT { Known::Lost } else { Known::Guessed } })
}

/// Units of all tables of writes, told or seen as the largest block.
fn heads(observations: &Observations) -> impl Iterator<Item = Bytes> {
    observations.runs.iter().filter_map(|run| match &run.data {
        Data::OpenUnits(data) if is_table(data) => data.unit.or(data.rows.iter().map(|row| row.block).max()),
        Data::Fat(data) => data.unit.or(data.rows.iter().map(|row| row.block).max()),
        _ => None,
    })
}
