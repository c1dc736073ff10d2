//! Whether the printed align tables of a log are of one device.
//!
//! The largest alignment follows from the size of the device alone, reads of one block size take the same in every
//! run, and so do the steps at boundaries. Repeated runs of one card differ by 1–6 % in the first and by a tenth at most
//! in the second, where there are steps at all; two cards mostly differ by far more in one of the three. It knows nothing of the order
//! in which the cards were mixed but that the tables of each stand together.

use super::largest_printed_alignment;
use crate::numbers::{digits, median};
use flashscope_model::observation::{AlignEvidence, Run, Source};
use flashscope_model::{Data, Direction, Observations};
use flashscope_units::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// Fewer rows in common tell nothing.
const FEWEST_ROWS: usize = 6;

/// Reads of another device, or behind another reader, differ by this factor.
const FLOOR_FACTOR: f64 = 1.3;

/// Where repeats on either side show how steady reads are, this factor is enough.
const STEADY_FACTOR: f64 = 1.15;
/// How many times the scatter of the repeats such a factor must be.
const TIMES_SCATTER: f64 = 5.0;

/// Share of the rows that must be on one side.
const ONE_SIDE: f64 = 0.9;

/// Contrasts differ by this share of their size only on another device.
const OTHER_CONTRASTS: f64 = 0.3;
/// How many times the difference between repeats such a difference must be.
const TIMES_REPEATS: f64 = 3.0;

/// Tables of which one lost its head are alike within this factor in their reads.
const ALIKE_FLOORS: f64 = 1.1;
/// Largest difference of the contrasts of such tables, as a share of their size.
const ALIKE_CONTRASTS: f64 = 0.25;

/// What the align tables of a log say of its being about one device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Disagreement {
    /// Two devices, or two readers.
    Devices(String),
    /// Nothing differs but the largest alignment: most likely rows are lost.
    LostHead(String),
}

/// What sets the tables apart, if anything.
pub(crate) fn disagreement(observations: &Observations) -> Option<Disagreement> {
    let tables: Vec<Table> = observations.runs.iter().filter_map(Table::new).collect();
    let blocks: BTreeSet<Bytes> = tables.iter().map(|table| table.block).collect();
    let parted = blocks.iter().find_map(|block| {
        let same: Vec<&Table> = tables.iter().filter(|table| table.block == *block).collect();
        (1..same.len()).find_map(|at| parted(&same[..at], &same[at..]))
    });
    let tops: BTreeSet<Bytes> = tables.iter().filter_map(|table| table.top).collect();
    let (least, most) = (tops.first()?, tops.last()?);
    let what = match (parted, least == most) {
        (None, true) => return None,
        (Some(what), true) => what,
        (parted, false) => {
            let what =
                format!("the align tables begin at {least} and at {most}, and a device has one largest alignment");
            match parted {
                Some(more) => format!("{what}; {more}"),
                None if all_alike(&tables) => {
                    return Some(Disagreement::LostHead(format!("{what}: the first rows of a table seem to be lost")));
                }
                None => format!("{what} (unless the first rows of a table are lost)"),
            }
        }
    };
    Some(Disagreement::Devices(what))
}

/// The rows of a printed table of reads.
struct Table {
    block: Bytes,
    top: Option<Bytes>,
    rows: BTreeMap<Bytes, Row>,
    /// Where it stands, in words.
    place: String,
}

/// Nanoseconds of a read on no boundary, and what crossing one takes more.
#[derive(Clone, Copy)]
struct Row {
    floor: f64,
    contrast: f64,
}

impl Table {
    fn new(run: &Run) -> Option<Table> {
        let Data::Align(table) = &run.data else { return None };
        let row = |evidence: &AlignEvidence| match evidence {
            AlignEvidence::Printed { pre: Some(pre), on: Some(on), post: Some(post), .. } => {
                let (pre, on, post) = (pre.value.get(), on.value.get(), post.value.get());
                let row = Row { floor: pre.min(post), contrast: on - (pre + post) / 2.0 };
                (row.floor > 0.0).then_some(row)
            }
            _ => None,
        };
        let rows: BTreeMap<Bytes, Row> =
            table.rows.iter().filter_map(|one| Some((one.align, row(&one.evidence)?))).collect();
        let smallest = table.rows.iter().map(|row| row.align).min()?;
        let place = match run.source {
            Source::Log { first_line, .. } => format!("line {first_line}"),
            Source::Probe { .. } => "another run".to_owned(),
        };
        (table.direction == Direction::Read && rows.len() >= FEWEST_ROWS).then(|| Table {
            block: table.block.unwrap_or(smallest / 2),
            top: largest_printed_alignment(run),
            rows,
            place,
        })
    }

    /// The rows that both have.
    fn beside<'a>(&'a self, other: &'a Table) -> Option<Vec<(Row, Row)>> {
        let pairs: Vec<(Row, Row)> =
            self.rows.iter().filter_map(|(align, row)| Some((*row, *other.rows.get(align)?))).collect();
        (pairs.len() >= FEWEST_ROWS).then_some(pairs)
    }
}

/// How two tables differ.
#[derive(Clone, Copy)]
struct Distance {
    /// Logarithm of the middle ratio of the reads.
    floors: f64,
    /// Share of the rows in which the ratio is on the same side of one.
    one_side: f64,
    /// Difference of the contrasts as a share of their size: 0 for the same, 1 for noise.
    contrasts: f64,
}

fn distance(left: &Table, right: &Table) -> Option<Distance> {
    let pairs = left.beside(right)?;
    let ratios: Vec<f64> = pairs.iter().map(|(left, right)| (right.floor / left.floor).ln()).collect();
    let floors = median(&ratios)?;
    let agreeing = ratios.iter().filter(|ratio| **ratio * floors > 0.0).count();
    let apart: f64 = pairs.iter().map(|(left, right)| (left.contrast - right.contrast).abs()).sum();
    let size: f64 = pairs.iter().map(|(left, right)| left.contrast.abs() + right.contrast.abs()).sum();
    Some(Distance {
        floors,
        one_side: agreeing as f64 / pairs.len() as f64,
        contrasts: if size > 0.0 { apart / size } else { 0.0 },
    })
}

/// Why the tables of one block size up to here are not of the device that the others are of, if they are not.
fn parted(left: &[&Table], right: &[&Table]) -> Option<String> {
    let across: Vec<Distance> =
        left.iter().flat_map(|one| right.iter().map(move |other| distance(one, other))).collect::<Option<_>>()?;
    let within: Vec<Distance> = [left, right]
        .iter()
        .flat_map(|side| {
            side.iter().enumerate().flat_map(|(at, one)| side[..at].iter().map(|other| distance(one, other)))
        })
        .flatten()
        .collect();
    let repeated = left.len() >= 2 && right.len() >= 2;
    let scatter = within.iter().map(|repeat| repeat.floors.abs()).fold(0.0, f64::max);
    let far = |distance: &Distance| {
        let factor = distance.floors.abs();
        let steady = repeated && factor > STEADY_FACTOR.ln() && factor > TIMES_SCATTER * scatter;
        distance.one_side >= ONE_SIDE && (factor > FLOOR_FACTOR.ln() || steady)
    };
    let [before, after] = [left, right].map(|side| side.iter().flat_map(|table| table.rows.values()));
    let (first, second) = (left.first()?, right.first()?);
    if across.iter().all(far) {
        let micros = |rows: Vec<f64>| median(&rows).map(|nanos| digits(nanos / 1e3));
        return Some(format!(
            "reads of {} take {} µs in the align table from {} on, and {} µs in that from {} on",
            first.block,
            micros(before.map(|row| row.floor).collect())?,
            first.place,
            micros(after.map(|row| row.floor).collect())?,
            second.place,
        ));
    }
    let repeats = within.iter().map(|repeat| repeat.contrasts).fold(0.0, f64::max);
    let other =
        |distance: &Distance| distance.contrasts > OTHER_CONTRASTS && distance.contrasts > TIMES_REPEATS * repeats;
    (!within.is_empty() && across.iter().all(other)).then(|| {
        format!(
            "the boundaries in the align table from {} on cost other times than those in the one from {} on",
            first.place, second.place
        )
    })
}

/// Whether tables of the same block size are alike in all but where they begin.
fn all_alike(tables: &[Table]) -> bool {
    let mut compared = tables.iter().enumerate().flat_map(|(at, one)| {
        tables[..at].iter().filter(|other| other.block == one.block).map(|other| distance(one, other))
    });
    let alike = |distance: Option<Distance>| {
        distance
            .is_some_and(|distance| distance.floors.abs() < ALIKE_FLOORS.ln() && distance.contrasts < ALIKE_CONTRASTS)
    };
    compared.next().is_some_and(alike) && compared.all(alike)
}
