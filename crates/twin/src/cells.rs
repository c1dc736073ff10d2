//! Measured figures, each beside the simulated one.

use flashscope_model::Data;
use flashscope_model::observation::{
    AlignEvidence, IntervalEvidence, PatternTimes, Printed, RateEvidence, Run, Straddle,
};
use flashscope_model::plan::PatternPart;
use flashscope_model::{Direction, Order};
use flashscope_units::{ByteRate, Bytes, Contrast, Nanos};

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
    /// One block again and again.
    Floor,
    /// Boundaries of sizes that need not be powers of two.
    Boundaries,
    /// A few rounds over several units.
    OpenUnits,
    /// First units against others.
    FastArea,
    /// `-s`.
    Scatter,
    /// Reads over a region.
    ReadRate,
    /// Writes over a region.
    WriteRate,
    /// Requests as applications mix them.
    Patterns,
}

impl Test {
    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Test::Align => "align",
            Test::WriteAlign => "write-align",
            Test::WriteAlignOnce => "write-align, once",
            Test::OpenAu => "open-au",
            Test::Fat => "fat",
            Test::Interval => "interval",
            Test::Program => "program",
            Test::Floor => "floor",
            Test::Boundaries => "boundaries",
            Test::OpenUnits => "open-units",
            Test::FastArea => "fast-area",
            Test::Scatter => "scatter",
            Test::ReadRate => "reads",
            Test::WriteRate => "writes",
            Test::Patterns => "patterns",
        }
    }

    /// Whether it only reads.
    pub const fn is_read(self) -> bool {
        matches!(self, Test::Align | Test::Interval | Test::Floor | Test::Boundaries | Test::Scatter | Test::ReadRate)
    }
}

/// What a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Nanoseconds.
    Time,
    /// Bytes per second.
    Rate,
}

impl Figure {
    /// A figure as a log prints it, three digits and a unit.
    pub fn show(self, value: f64) -> String {
        match self {
            Figure::Time => Contrast(value).to_string(),
            Figure::Rate => ByteRate(value).to_string(),
        }
    }
}

/// One measured figure and the simulated one.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The test.
    pub test: Test,
    /// The run in the log, counted from 0.
    pub run: usize,
    /// The command, for people.
    pub table: String,
    /// Random order, or units written randomly.
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
    /// As measured.
    pub measured: f64,
    /// As printed, the last digit is worth this; 0 where samples are at hand.
    pub quantum: f64,
    /// As simulated.
    pub simulated: f64,
    /// Requests that the simulated figure is over.
    pub operations: u64,
}

impl Cell {
    /// Simulated over measured, less 1.
    pub fn error(&self) -> f64 {
        self.simulated / self.measured - 1.0
    }

    /// Which pattern of its run it is of, counted from 0.
    pub(crate) fn pattern(&self) -> usize {
        self.index / COLUMNS_OF_A_PATTERN
    }

    /// Whether it is the mean of a pattern's requests, and not their median.
    pub(crate) fn is_mean(&self) -> bool {
        self.index.is_multiple_of(2)
    }
}

/// All cells of a measurement: those figures that both sides have.
pub fn all(measured: &[Run], simulated: &[Run]) -> Vec<Cell> {
    let both = measured.iter().zip(simulated).enumerate();
    both.flat_map(|(run, (left, right))| {
        let simulated = entries(&right.data);
        let table = table_of(&left.data);
        let beside = entries(&left.data).into_iter().filter_map(move |entry| {
            let other = simulated.iter().find(|other| (other.row, other.index) == (entry.row, entry.index))?;
            Some(table.cell(run, &entry, other))
        });
        beside.collect::<Vec<Cell>>()
    })
    .collect()
}

/// What all figures of a run have in common.
struct Table {
    test: Test,
    name: String,
    random: bool,
    units: u32,
    block: Bytes,
}

impl Table {
    fn cell(&self, run: usize, measured: &Entry, simulated: &Entry) -> Cell {
        Cell {
            test: self.test,
            run,
            table: self.name.clone(),
            random: self.random || (self.test == Test::Program && measured.index >= 4),
            units: self.units,
            block: self.block,
            row: measured.row,
            column: measured.column.clone(),
            index: measured.index,
            figure: measured.figure,
            measured: measured.value,
            quantum: measured.quantum,
            simulated: simulated.value,
            operations: simulated.operations,
        }
    }
}

fn table_of(data: &Data) -> Table {
    let plain = |test: Test, name: String| Table { test, name, random: false, units: 1, block: Bytes::ZERO };
    match data {
        Data::Align(data) => {
            let block = data.block.unwrap_or(Bytes::ZERO);
            let once = data
                .rows
                .iter()
                .any(|row| matches!(&row.evidence, AlignEvidence::Printed { on: Some(on), .. } if on.tries == Some(1)));
            let test = match (data.direction, once) {
                (Direction::Read, _) => Test::Align,
                (Direction::Write, false) => Test::WriteAlign,
                (Direction::Write, true) => Test::WriteAlignOnce,
            };
            let name = match block {
                Bytes::ZERO => test.name().to_owned(),
                block => format!("{}, {} B blocks", test.name(), block.get()),
            };
            Table { block, ..plain(test, name) }
        }
        Data::Boundaries(data) => {
            let name = format!("boundaries, {} B reads", data.block.get());
            Table { block: data.block, ..plain(Test::Boundaries, name) }
        }
        Data::OpenUnits(data) => {
            let units = data.count.unwrap_or(data.units.len() as u32).max(1);
            let random = data.order == Order::Random;
            // A trial of a few rounds fills no unit: its first rounds count for more, so it is a test of its own.
            let rounds = match data.rows.first().map(|row| &row.rate) {
                Some(RateEvidence::Times(_)) if data.rows.len() == 1 => Test::OpenUnits,
                _ => Test::OpenAu,
            };
            let plural = if units == 1 { "" } else { "s" };
            let name = format!("{}, {units} unit{plural}{}", rounds.name(), if random { ", random" } else { "" });
            Table { random, units, ..plain(rounds, name) }
        }
        Data::Fat(data) => {
            let random = data.order == Some(Order::Random);
            Table { random, ..plain(Test::Fat, format!("fat{}", if random { ", random" } else { "" })) }
        }
        Data::FastArea(data) => {
            let random = data.order == Order::Random;
            let name = format!("fast-area{}", if random { ", random" } else { ", sequential" });
            Table { random, ..plain(Test::FastArea, name) }
        }
        Data::Throughput(data) => {
            let random = data.order == Order::Random;
            let test = if data.direction == Direction::Read { Test::ReadRate } else { Test::WriteRate };
            Table { random, ..plain(test, format!("{}{}", test.name(), if random { ", random" } else { "" })) }
        }
        Data::Patterns(_) => plain(Test::Patterns, "patterns".to_owned()),
        Data::Floor(_) => plain(Test::Floor, "floor".to_owned()),
        Data::Scatter(_) => plain(Test::Scatter, "scatter".to_owned()),
        Data::Interval(_) => plain(Test::Interval, "interval".to_owned()),
        _ => plain(Test::Program, "program".to_owned()),
    }
}

/// One figure of one side.
struct Entry {
    row: Bytes,
    column: String,
    index: usize,
    figure: Figure,
    value: f64,
    quantum: f64,
    operations: u64,
}

fn entries(data: &Data) -> Vec<Entry> {
    match data {
        Data::Align(data) => data.rows.iter().flat_map(|row| align_row(row.align, &row.evidence)).collect(),
        Data::Boundaries(data) => {
            data.candidates.iter().flat_map(|candidate| straddles(candidate.size, &candidate.places)).collect()
        }
        Data::OpenUnits(data) => data.rows.iter().filter_map(|row| rate(row.block, ("rate", 0), &row.rate)).collect(),
        Data::Fat(data) => {
            let cell = |block: Bytes, (unit, evidence): (usize, &RateEvidence)| {
                rate(block, (&format!("AU {unit}"), unit), evidence)
            };
            data.rows.iter().flat_map(|row| row.units.iter().enumerate().filter_map(|at| cell(row.block, at))).collect()
        }
        Data::FastArea(data) => {
            let times =
                |at: Bytes, index: usize, times: &[Nanos]| rate_of(data.block, (&format!("at {at}"), index), times);
            let units = data.suspects.iter().chain(&data.controls).enumerate();
            units.filter_map(|(index, unit)| times(unit.at, index, &unit.times)).collect()
        }
        Data::Program(data) => {
            /// Names of the columns of flashbench's program test.
            const COLUMNS: [&str; 8] =
                ["zeros", "ones", "0x5a", "read", "zeros, random", "ones, random", "0x5a, random", "read, random"];
            let named = |index: usize| COLUMNS.get(index).copied().unwrap_or("?");
            let rows = data.rows.iter();
            rows.flat_map(|row| {
                let columns = row.columns.iter().enumerate();
                columns.filter_map(|(index, evidence)| rate(row.block, (named(index), index), evidence))
            })
            .collect()
        }
        Data::Throughput(data) => rate_of(data.block, ("rate", 0), &data.times).into_iter().collect(),
        Data::Patterns(data) => data.patterns.iter().enumerate().flat_map(pattern).collect(),
        Data::Interval(data) => data.rows.iter().filter_map(|row| interval_row(row.size, &row.evidence)).collect(),
        Data::Floor(data) => minimum(data.block, &data.times).into_iter().collect(),
        Data::Scatter(data) => {
            let minima: Vec<f64> =
                data.places.iter().filter_map(|place| Some(place.times.iter().min()?.as_f64())).collect();
            let median = flashscope_stats::location::median(&minima);
            let length = data.length.unwrap_or(Bytes::ZERO);
            median.map(|value| time(length, ("median", 0), value, 0.0, minima.len() as u64)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Figures of one pattern at most: its columns are numbered in pieces of this size.
const COLUMNS_OF_A_PATTERN: usize = 32;

/// Of each kind of requests of a pattern, streams together, and of its flushes: the mean, which rare long ones count in, and the
/// median, which they do not.
fn pattern((number, seen): (usize, &PatternTimes)) -> Vec<Entry> {
    let mut kinds: Vec<(PatternPart, Vec<Nanos>)> = Vec::new();
    for (part, times) in seen.pattern.parts.iter().zip(&seen.times) {
        let alike =
            |one: &PatternPart| (one.direction, one.order, one.block) == (part.direction, part.order, part.block);
        match kinds.iter_mut().find(|(one, _)| alike(one)) {
            Some((_, all)) => all.extend(times),
            None => kinds.push((*part, times.clone())),
        }
    }
    let both = |block: Bytes, index: usize, what: &str, times: &[Nanos]| -> Vec<Entry> {
        let all: Vec<f64> = times.iter().map(|time| time.as_f64()).collect();
        let Some(middle) = flashscope_stats::location::median(&all) else { return Vec::new() };
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let figures = [("mean", mean), ("median", middle)].into_iter().enumerate();
        let entry = |(which, (name, value)): (usize, (&str, f64))| {
            let index = number * COLUMNS_OF_A_PATTERN + 2 * index + which;
            time(block, (&format!("{} {what}, {name}", number + 1), index), value, 0.0, all.len() as u64)
        };
        figures.map(entry).collect()
    };
    let flushes = both(Bytes::ZERO, kinds.len(), "flush", &seen.flushes);
    let of_kind = |(index, (part, times)): (usize, &(PatternPart, Vec<Nanos>))| {
        both(part.block, index, &flashscope_view::table::work(part.direction, part.order), times)
    };
    kinds.iter().enumerate().flat_map(of_kind).chain(flushes).collect()
}

fn align_row(align: Bytes, evidence: &AlignEvidence) -> Vec<Entry> {
    match evidence {
        AlignEvidence::Places(places) => straddles(align, places),
        AlignEvidence::Printed { pre, on, post, diff } => {
            let columns = [("pre", pre), ("on", on), ("post", post), ("diff", diff)].into_iter().enumerate();
            columns
                .filter_map(|(index, (name, printed))| {
                    let Printed { value, quantum, .. } = printed.as_ref()?;
                    Some(time(align, (name, index), value.get(), quantum.get(), 0))
                })
                .collect()
        }
    }
}

fn straddles(row: Bytes, places: &[Straddle]) -> Vec<Entry> {
    let operations = places.iter().map(|place| place.pre.len() as u64).sum();
    let means = [|p: &Straddle| p.pre.clone(), |p: &Straddle| p.on.clone(), |p: &Straddle| p.post.clone()]
        .map(|role| mean_of_minima(places, role));
    let [Some(pre), Some(on), Some(post)] = means else { return Vec::new() };
    let columns = [("pre", pre), ("on", on), ("post", post), ("diff", on - (pre + post) / 2.0)].into_iter().enumerate();
    columns.map(|(index, (name, value))| time(row, (name, index), value, 0.0, operations)).collect()
}

fn mean_of_minima(places: &[Straddle], role: impl Fn(&Straddle) -> Vec<Nanos>) -> Option<f64> {
    let minima: Vec<f64> = places.iter().filter_map(|place| Some(role(place).into_iter().min()?.as_f64())).collect();
    (!minima.is_empty()).then(|| minima.iter().sum::<f64>() / minima.len() as f64)
}

fn interval_row(size: Bytes, evidence: &IntervalEvidence) -> Option<Entry> {
    match evidence {
        IntervalEvidence::Times(times) => minimum(size, times),
        IntervalEvidence::Printed { min, .. } => {
            let Printed { value, quantum, .. } = min.as_ref()?;
            Some(time(size, ("min", 0), value.get(), quantum.get(), 0))
        }
    }
}

fn minimum(row: Bytes, times: &[Nanos]) -> Option<Entry> {
    Some(time(row, ("min", 0), times.iter().min()?.as_f64(), 0.0, times.len() as u64))
}

fn time(row: Bytes, (column, index): (&str, usize), value: f64, quantum: f64, operations: u64) -> Entry {
    Entry { row, column: column.to_owned(), index, figure: Figure::Time, value, quantum, operations }
}

/// Bytes over time.
fn rate(row: Bytes, column: (&str, usize), evidence: &RateEvidence) -> Option<Entry> {
    match evidence {
        RateEvidence::Times(times) => rate_of(row, column, times),
        RateEvidence::Printed(Printed { value, quantum, .. }) => Some(Entry {
            row,
            column: column.0.to_owned(),
            index: column.1,
            figure: Figure::Rate,
            value: value.get(),
            quantum: quantum.get(),
            operations: 0,
        }),
    }
}

fn rate_of(row: Bytes, (column, index): (&str, usize), times: &[Nanos]) -> Option<Entry> {
    let total: Nanos = times.iter().copied().sum();
    (total > Nanos::ZERO).then(|| Entry {
        row,
        column: column.to_owned(),
        index,
        figure: Figure::Rate,
        value: row.as_f64() * times.len() as f64 / total.as_secs_f64(),
        quantum: 0.0,
        operations: times.len() as u64,
    })
}
