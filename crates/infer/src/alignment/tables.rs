//! Printed align tables as rows of contrasts: what a log leaves when the samples are gone.

use crate::numbers::median;
use flashscope_model::observation::{AlignData, AlignEvidence, Printed};
use flashscope_model::{Data, Direction, Observations};
use flashscope_units::{Bytes, Contrast};
use std::ops::RangeInclusive;

/// Fewer rows than this hold no structure.
const FEWEST_ROWS: usize = 5;

/// This many places show the share of multiples; a record may claim any number.
const MOST_PLACES: u64 = 1024;

/// All runs of the classic read test at one block size.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table {
    /// Size of the accesses.
    pub(super) block: Bytes,
    /// Typical time of an access that crosses no boundary, in nanoseconds.
    pub(super) access: f64,
    /// The rows, smallest alignment first.
    pub(super) rows: Vec<Row>,
    /// How many runs are in it.
    pub(super) runs: usize,
}

/// One alignment of a [`Table`].
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// The alignment.
    pub(super) align: Bytes,
    /// The contrast as a share of [`Table::access`].
    pub(super) share: f64,
    /// Its standard error from repetition and rounding, as a share as well; zero where neither is known.
    pub(super) error: f64,
    /// Places over which a figure is a mean (7 in the original).
    pub(super) places: u64,
}

/// The tables of all block sizes, smallest block first.
pub(super) fn read_tables(observations: &Observations) -> Vec<Table> {
    let mut runs: Vec<(Bytes, &AlignData)> =
        observations.runs.iter().filter_map(|run| printed_reads(&run.data)).collect();
    runs.sort_by_key(|(block, _)| *block);
    runs.chunk_by(|(left, _), (right, _)| left == right)
        .filter_map(|same| Table::new(same[0].0, same.iter().map(|(_, data)| *data)))
        .collect()
}

/// The table with the largest alignment; of several, that of the smallest block.
pub(super) fn longest(tables: &[Table]) -> Option<&Table> {
    tables.iter().rev().max_by_key(|table| table.rows.last().map(|row| row.align))
}

/// The alignment in a range before which most tables rise most, as whoever looks at them for a step sees it.
pub(crate) fn largest_rise(observations: &Observations, range: &RangeInclusive<Bytes>) -> Option<Bytes> {
    let tables = observations.runs.iter().filter_map(|run| printed_reads(&run.data));
    let rises: Vec<Bytes> = tables.filter_map(|(_, table)| rise(table, range)).collect();
    rises.iter().copied().max_by_key(|align| (rises.iter().filter(|rise| *rise == align).count(), *align))
}

fn rise(table: &AlignData, range: &RangeInclusive<Bytes>) -> Option<Bytes> {
    let mut cells: Vec<Cell> = Cell::all(table).collect();
    cells.sort_by_key(|cell| cell.align);
    let rises = cells.windows(2).map(|pair| (pair[1].align, pair[1].diff - pair[0].diff));
    let up = rises.filter(|(align, rise)| range.contains(align) && *rise > 0.0);
    up.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(align, _)| align)
}

/// Whether there is a write-align table.
pub(super) fn has_writes(observations: &Observations) -> bool {
    observations.runs.iter().any(|run| matches!(&run.data, Data::Align(align) if align.direction == Direction::Write))
}

fn printed_reads(data: &Data) -> Option<(Bytes, &AlignData)> {
    let Data::Align(align) = data else { return None };
    let printed = align.rows.iter().any(|row| matches!(row.evidence, AlignEvidence::Printed { .. }));
    let smallest = align.rows.iter().map(|row| row.align).min()?;
    (align.direction == Direction::Read && printed).then(|| (align.block.unwrap_or(smallest / 2), align))
}

/// What one row of one run says, in nanoseconds.
struct Cell {
    align: Bytes,
    diff: f64,
    quantum: f64,
    access: Option<f64>,
    places: Option<u32>,
}

impl Cell {
    fn all(table: &AlignData) -> impl Iterator<Item = Cell> {
        table.rows.iter().filter_map(|row| Cell::new(row.align, &row.evidence))
    }

    fn new(align: Bytes, evidence: &AlignEvidence) -> Option<Cell> {
        let AlignEvidence::Printed { pre, on, post, diff } = evidence else { return None };
        let derived = match (pre, on, post) {
            (Some(pre), Some(on), Some(post)) => Some((
                on.value.get() - 0.5 * (pre.value.get() + post.value.get()),
                on.quantum.get() + 0.5 * (pre.quantum.get() + post.quantum.get()),
            )),
            _ => None,
        };
        let (value, quantum) = diff.map(|diff| (diff.value.get(), diff.quantum.get())).or(derived)?;
        let access = match (pre, post) {
            (Some(pre), Some(post)) => Some(0.5 * (pre.value.get() + post.value.get())),
            _ => None,
        };
        let places = [diff, on, pre].into_iter().flatten().find_map(|figure: &Printed<Contrast>| figure.places);
        Some(Cell { align, diff: value, quantum, access, places })
    }
}

impl Table {
    fn new<'a>(block: Bytes, runs: impl Iterator<Item = &'a AlignData>) -> Option<Table> {
        let mut count = 0;
        let mut cells: Vec<Cell> = Vec::new();
        for run in runs {
            count += 1;
            cells.extend(Cell::all(run));
        }
        let access = median(&cells.iter().filter_map(|cell| cell.access).collect::<Vec<_>>())?;
        cells.sort_by_key(|cell| cell.align);
        let groups: Vec<&[Cell]> = cells.chunk_by(|left, right| left.align == right.align).collect();
        let scatter = scatter_of_runs(&groups);
        let rows: Vec<Row> = groups
            .iter()
            .map(|group| {
                let rounding = group.iter().map(|cell| cell.quantum).fold(0.0, f64::max) / 12f64.sqrt();
                Row {
                    align: group[0].align,
                    share: middle(group.iter().map(|cell| cell.diff).collect()) / access,
                    error: (scatter.powi(2) + rounding.powi(2)).sqrt() / (group.len() as f64).sqrt() / access,
                    places: u64::from(group.iter().find_map(|cell| cell.places).unwrap_or(7)),
                }
            })
            .collect();
        (rows.len() >= FEWEST_ROWS && access > 0.0).then_some(Table { block, access, rows, runs: count })
    }

    /// A share as nanoseconds.
    pub(super) fn nanos(&self, share: f64) -> Contrast {
        Contrast(share * self.access)
    }

    /// Share of the places of a row that are multiples of `unit`, with the positions of the original: `align` plus
    /// 0, 1, 2 … times the largest alignment, wrapped at the capacity where that is known.
    pub(super) fn share_of_multiples(&self, row: &Row, unit: Bytes, capacity: Option<Bytes>) -> f64 {
        let largest = self.rows.last().map_or(row.align, |last| last.align);
        let wrap = capacity.filter(|capacity| capacity.get() > 0);
        let places = row.places.clamp(1, MOST_PLACES);
        let hits = (0..places)
            .map(|place| row.align + largest * place)
            .map(|at| wrap.map_or(at, |capacity| at % capacity))
            .filter(|at| at.is_multiple_of(unit))
            .count();
        hits as f64 / places as f64
    }
}

/// Typical standard deviation of one run about its row's middle, in nanoseconds; zero without repeated runs.
fn scatter_of_runs(groups: &[&[Cell]]) -> f64 {
    let spreads: Vec<f64> = groups
        .iter()
        .filter(|group| group.len() > 1)
        .map(|group| {
            let mean = group.iter().map(|cell| cell.diff).sum::<f64>() / group.len() as f64;
            let squares: f64 = group.iter().map(|cell| (cell.diff - mean).powi(2)).sum();
            (squares / (group.len() - 1) as f64).sqrt()
        })
        .collect();
    median(&spreads).unwrap_or(0.0)
}

/// The median of three or more runs, else the mean.
fn middle(values: Vec<f64>) -> f64 {
    if values.len() < 3 { values.iter().sum::<f64>() / values.len() as f64 } else { median(&values).unwrap_or(0.0) }
}
