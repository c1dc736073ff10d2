//! Published figures, each beside the simulated one.

use super::replay::rate;
use flashscope_model::observation::{
    AlignData, AlignEvidence, AlignRow, Data, IntervalEvidence, Printed, RateEvidence, Run, Straddle,
};
use flashscope_model::{Direction, Order};
use flashscope_units::{Bytes, Contrast, Nanos};

/// Which test a cell is of; cells are pooled by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Test {
    /// `-a`.
    Align,
    /// The private `-A`, minimum of eight tries.
    WriteAlign,
    /// The same, a single try.
    WriteAlignOnce,
    /// `-O`.
    OpenAu,
    /// `-f`.
    Fat,
    /// `-i`.
    Interval,
    /// `-p`.
    Program,
}

/// What a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Nanoseconds.
    Time,
    /// Bytes per second.
    Rate,
}

/// One published figure and the simulated one.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The test.
    pub test: Test,
    /// The run in the log, counted from 0.
    pub run: usize,
    /// The command, for people.
    pub table: String,
    /// Random order, or units written at random.
    pub random: bool,
    /// Number of units written alternately (open-au); else 1.
    pub units: u32,
    /// Block size of an align test.
    pub block: Bytes,
    /// Alignment or block size: what the row is called.
    pub row: Bytes,
    /// What the column is called.
    pub column: String,
    /// Column, counted from 0.
    pub index: usize,
    /// What the figures are.
    pub figure: Figure,
    /// As published.
    pub published: f64,
    /// As printed, the last digit is worth this.
    pub quantum: f64,
    /// As simulated.
    pub simulated: f64,
    /// Requests that the simulated figure is over.
    pub operations: u64,
}

impl Cell {
    /// Simulated over published, less 1.
    pub fn error(&self) -> f64 {
        self.simulated / self.published - 1.0
    }
}

/// All cells of a log.
pub fn all(published: &[Run], simulated: &[Run]) -> Vec<Cell> {
    published.iter().zip(simulated).enumerate().flat_map(|(run, (left, right))| of_run(run, left, right)).collect()
}

fn of_run(run: usize, published: &Run, simulated: &Run) -> Vec<Cell> {
    match (&published.data, &simulated.data) {
        (Data::Align(left), Data::Align(right)) => align(run, left, right),
        (Data::OpenUnits(left), Data::OpenUnits(right)) => {
            let units = left.count.unwrap_or(1);
            let random = left.order == Order::Random;
            let table = format!("open-au, {units} unit{}{}", plural(units), if random { ", random" } else { "" });
            left.rows
                .iter()
                .zip(&right.rows)
                .filter_map(|(l, r)| rate_cell(Test::OpenAu, run, &table, l.block, ("rate", 0), &l.rate, &r.rate))
                .map(|cell| Cell { random, units, ..cell })
                .collect()
        }
        (Data::Fat(left), Data::Fat(right)) => left
            .rows
            .iter()
            .zip(&right.rows)
            .flat_map(|(l, r)| {
                l.units.iter().zip(&r.units).enumerate().filter_map(move |(unit, (pub_, sim))| {
                    rate_cell(Test::Fat, run, "fat", l.block, (&format!("AU {unit}"), unit), pub_, sim)
                })
            })
            .collect(),
        (Data::Program(left), Data::Program(right)) => {
            const COLUMNS: [&str; 8] =
                ["zeros", "ones", "0x5a", "read", "zeros, random", "ones, random", "0x5a, random", "read, random"];
            left.rows
                .iter()
                .zip(&right.rows)
                .flat_map(|(l, r)| {
                    l.columns.iter().zip(&r.columns).enumerate().filter_map(move |(i, (pub_, sim))| {
                        let column = COLUMNS.get(i).copied().unwrap_or("?");
                        let cell = rate_cell(Test::Program, run, "program", l.block, (column, i), pub_, sim)?;
                        Some(Cell { random: i >= 4, ..cell })
                    })
                })
                .collect()
        }
        (Data::Interval(left), Data::Interval(right)) => left
            .rows
            .iter()
            .zip(&right.rows)
            .filter_map(|(l, r)| match (&l.evidence, &r.evidence) {
                (IntervalEvidence::Printed { min: Some(min), .. }, IntervalEvidence::Times(times)) => {
                    let simulated = times.iter().min()?.as_f64();
                    let cell = time_cell(Test::Interval, run, "interval", l.size, ("min", 0), min, simulated);
                    Some(Cell { operations: times.len() as u64, ..cell })
                }
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn align(run: usize, left: &AlignData, right: &AlignData) -> Vec<Cell> {
    let block = left.block.unwrap_or(Bytes::ZERO);
    let once = left
        .rows
        .iter()
        .any(|row| matches!(&row.evidence, AlignEvidence::Printed { on: Some(on), .. } if on.tries == Some(1)));
    let (test, name) = match (left.direction, once) {
        (Direction::Read, _) => (Test::Align, "align"),
        (Direction::Write, false) => (Test::WriteAlign, "write-align"),
        (Direction::Write, true) => (Test::WriteAlignOnce, "write-align, once"),
    };
    let table = format!("{name}, {} B blocks", block.get());
    left.rows
        .iter()
        .filter_map(|row| Some((row, right.rows.iter().find(|other| other.align == row.align)?)))
        .flat_map(|(row, other)| align_row(test, run, &table, row, other))
        .map(|cell| Cell { block, ..cell })
        .collect()
}

fn align_row(test: Test, run: usize, table: &str, left: &AlignRow, right: &AlignRow) -> Vec<Cell> {
    let (AlignEvidence::Printed { pre, on, post, diff }, AlignEvidence::Places(places)) =
        (&left.evidence, &right.evidence)
    else {
        return Vec::new();
    };
    let operations = places.iter().map(|place| place.pre.len() as u64).sum();
    let times = [|p: &Straddle| p.pre.clone(), |p: &Straddle| p.on.clone(), |p: &Straddle| p.post.clone()]
        .map(|role| mean_of_minima(places, role));
    let simulated = [times[0], times[1], times[2], times[1] - (times[0] + times[2]) / 2.0];
    [pre, on, post, diff]
        .into_iter()
        .zip(["pre", "on", "post", "diff"])
        .zip(simulated)
        .enumerate()
        .filter_map(|(i, ((printed, column), simulated))| {
            let cell = time_cell(test, run, table, left.align, (column, i), printed.as_ref()?, simulated);
            Some(Cell { operations, ..cell })
        })
        .collect()
}

fn mean_of_minima(places: &[Straddle], role: impl Fn(&Straddle) -> Vec<Nanos>) -> f64 {
    let minima: Vec<f64> = places.iter().filter_map(|place| Some(role(place).into_iter().min()?.as_f64())).collect();
    minima.iter().sum::<f64>() / minima.len() as f64
}

fn time_cell(
    test: Test,
    run: usize,
    table: &str,
    row: Bytes,
    (column, index): (&str, usize),
    published: &Printed<Contrast>,
    simulated: f64,
) -> Cell {
    Cell {
        test,
        run,
        table: table.to_owned(),
        random: false,
        units: 1,
        block: Bytes::ZERO,
        row,
        column: column.to_owned(),
        index,
        figure: Figure::Time,
        published: published.value.get(),
        quantum: published.quantum.get(),
        simulated,
        operations: 0,
    }
}

fn rate_cell(
    test: Test,
    run: usize,
    table: &str,
    row: Bytes,
    (column, index): (&str, usize),
    published: &RateEvidence,
    simulated: &RateEvidence,
) -> Option<Cell> {
    let RateEvidence::Printed(printed) = published else { return None };
    let (simulated, operations) = rate(simulated, row);
    Some(Cell {
        test,
        run,
        table: table.to_owned(),
        random: false,
        units: 1,
        block: Bytes::ZERO,
        row,
        column: column.to_owned(),
        index,
        figure: Figure::Rate,
        published: printed.value.get(),
        quantum: printed.quantum.get(),
        simulated,
        operations,
    })
}

fn plural(count: u32) -> &'static str {
    if count == 1 { "" } else { "s" }
}
