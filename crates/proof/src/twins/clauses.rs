//! Whether a twin is good: clauses (a), (b) and (c) of "when a twin is good".

use super::{Cell, Replay, Test, Twin, cells};
use flashscope_model::Experiment;
use flashscope_twin::goodness::{self, OPERATIONS, SHARE, WITHIN};
pub use flashscope_twin::goodness::{BAND_SEEDS, CLOSE_SEEDS};
use flashscope_units::Bytes;
use std::collections::BTreeMap;

/// Where chance is in the published log: blocks from here on.
const LARGE: Bytes = Bytes::mib(1);
/// The published card keeps eight units open: beyond, every write merges and nothing is left to chance.
const OPEN_UNITS: u32 = 8;

/// What a cell is held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clause {
    /// (a): close to the published figure.
    Close,
    /// (b): with the other rows of its plateau.
    Plateau,
    /// (c): the published figure in the band of simulated ones.
    Band,
    /// Nothing, and why.
    Nothing(&'static str),
}

/// The clause that a cell falls under.
pub fn clause(cell: &Cell, twin: &Twin) -> Clause {
    if let Some(excluded) = twin.excludes(cell) {
        return Clause::Nothing(excluded.why);
    }
    let chance = cell.row >= LARGE && cell.units <= OPEN_UNITS;
    match (cell.test, cell.column.as_str()) {
        (Test::Align, "diff") => Clause::Plateau,
        (Test::WriteAlign | Test::WriteAlignOnce, "diff") => Clause::Nothing("follows from pre, on and post"),
        (Test::WriteAlignOnce, _) => Clause::Band,
        (Test::OpenAu | Test::Fat, _) if chance => Clause::Band,
        (Test::Align | Test::WriteAlign | Test::Interval, _) => Clause::Close,
        (Test::OpenAu, _) if cell.row == Bytes::mib(4) => Clause::Band,
        _ if cell.operations >= OPERATIONS => Clause::Close,
        _ => Clause::Nothing("fewer than 16 operations"),
    }
}

/// Clause (a) for one test.
#[derive(Clone, Debug)]
pub struct Close {
    /// The test.
    pub test: Test,
    /// Number of cells.
    pub cells: usize,
    /// Share of them within 15 %.
    pub within: f64,
    /// Median of the errors' sizes.
    pub median: f64,
    /// The cells beyond 15 %.
    pub misses: Vec<Cell>,
}

impl Close {
    /// Whether the clause is met.
    pub fn holds(&self) -> bool {
        goodness::close(self.within, self.median)
    }
}

/// Clause (b) for one plateau of one table.
#[derive(Clone, Debug)]
pub struct Plateau {
    /// The table.
    pub table: String,
    /// What the boundaries are of.
    pub level: &'static str,
    /// Mean of the published differences, in nanoseconds.
    pub published: f64,
    /// Mean of the simulated ones.
    pub simulated: f64,
}

impl Plateau {
    /// Whether the clause is met.
    pub fn holds(&self) -> bool {
        goodness::level_holds(self.simulated, self.published)
    }
}

/// Clause (c) for one cell.
#[derive(Clone, Debug)]
pub struct Band {
    /// The cell; its simulated figure is the median.
    pub cell: Cell,
    /// Lower end of the central 95 %.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Largest less smallest published replicate.
    pub spread: f64,
}

impl Band {
    /// Whether the published figure lies in the band; it may have been rounded by half of its last digit.
    pub fn inside(&self) -> bool {
        let half = self.cell.quantum / 2.0;
        (self.low - half..=self.high + half).contains(&self.cell.measured)
    }

    /// Whether the band is narrow enough; rounding may have taken one last digit from the spread.
    pub fn narrow(&self) -> bool {
        self.high - self.low <= 2.0 * (self.spread + self.cell.quantum)
    }

    /// Whether the clause is met.
    pub fn holds(&self) -> bool {
        self.inside() && self.narrow()
    }
}

/// All clauses.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Every cell, with the median of the seeds of clause (a) as the simulated figure.
    pub cells: Vec<Cell>,
    /// Clause (a).
    pub close: Vec<Close>,
    /// How many of the seeds of clause (a) meet it with their own figures instead of the median.
    pub alone: u64,
    /// Clause (b).
    pub plateaus: Vec<Plateau>,
    /// Clause (c).
    pub bands: Vec<Band>,
}

impl Verdict {
    /// Whether (a) and (b) are met.
    pub fn is_close(&self) -> bool {
        self.close.iter().all(Close::holds) && self.plateaus.iter().all(Plateau::holds)
    }

    /// Share of the chance cells that meet (c); 1 where there are none.
    pub fn band_share(&self) -> f64 {
        let held = self.bands.iter().filter(|band| band.holds()).count();
        if self.bands.is_empty() { 1.0 } else { held as f64 / self.bands.len() as f64 }
    }

    /// Whether (c) is met: by 95 % of the cells, as a band of 95 % leaves out one cell in twenty of a perfect twin.
    pub fn covers_chance(&self) -> bool {
        self.band_share() >= SHARE
    }
}

/// Clauses (a) and (b) of `spec` (a model, or a changed one) against a twin's log.
pub fn judge_close(twin: &Twin, replay: &Replay, spec: &str) -> Verdict {
    let runs: Vec<Vec<Cell>> = (1..=CLOSE_SEEDS).map(|seed| one(replay, spec, seed)).collect();
    let alone = runs.iter().filter(|cells| closes(twin, cells).iter().all(Close::holds)).count() as u64;
    let cells = medians(&runs);
    Verdict { close: closes(twin, &cells), alone, plateaus: plateaus(&cells, twin), bands: Vec::new(), cells }
}

fn closes(twin: &Twin, cells: &[Cell]) -> Vec<Close> {
    let mut tests: BTreeMap<Test, Vec<Cell>> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| clause(cell, twin) == Clause::Close) {
        tests.entry(cell.test).or_default().push(cell.clone());
    }
    tests.into_iter().map(|(test, cells)| close(test, &cells)).collect()
}

/// All clauses.
pub fn judge(twin: &Twin, replay: &Replay, spec: &str) -> Verdict {
    let mut verdict = judge_close(twin, replay, spec);
    verdict.bands = bands(twin, replay, spec);
    verdict
}

fn close(test: Test, cells: &[Cell]) -> Close {
    let mut errors: Vec<f64> = cells.iter().map(|cell| cell.error().abs()).collect();
    errors.sort_by(f64::total_cmp);
    let misses: Vec<Cell> = cells.iter().filter(|cell| cell.error().abs() > WITHIN).cloned().collect();
    Close {
        test,
        cells: cells.len(),
        within: 1.0 - misses.len() as f64 / cells.len() as f64,
        median: errors[errors.len() / 2],
        misses,
    }
}

/// The levels that the published tables show, by alignment.
fn level(align: Bytes) -> &'static str {
    match align {
        _ if align >= Bytes::mib(4) => "unit",
        _ if align >= Bytes::mib(2) => "half unit",
        _ if align >= Bytes::kib(16) => "page",
        _ => "chunk",
    }
}

fn plateaus(cells: &[Cell], twin: &Twin) -> Vec<Plateau> {
    let mut groups: BTreeMap<(usize, &'static str), Vec<&Cell>> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| clause(cell, twin) == Clause::Plateau) {
        groups.entry((cell.run, level(cell.row))).or_default().push(cell);
    }
    let mean =
        |cells: &[&Cell], of: fn(&Cell) -> f64| cells.iter().map(|cell| of(cell)).sum::<f64>() / cells.len() as f64;
    groups
        .into_iter()
        .map(|((run, level), cells)| Plateau {
            table: format!("{} (table {})", cells[0].table, run + 1),
            level,
            published: mean(&cells, |cell| cell.measured),
            simulated: mean(&cells, |cell| cell.simulated),
        })
        .collect()
}

/// Only what is chance and what was done around it: the reads before and after do not matter to it.
fn bands(twin: &Twin, replay: &Replay, spec: &str) -> Vec<Band> {
    let replay = replay.only(|experiment| match experiment {
        Experiment::Align(align) => align.tries == 1,
        Experiment::OpenAu(_) | Experiment::Fat(_) => true,
        _ => false,
    });
    let runs: Vec<Vec<Cell>> = (1..=BAND_SEEDS).map(|seed| one(&replay, spec, seed)).collect();
    let Some(first) = runs.first() else { return Vec::new() };
    let chance: Vec<usize> = (0..first.len()).filter(|&i| clause(&first[i], twin) == Clause::Band).collect();
    chance
        .iter()
        .map(|&i| {
            let mut figures: Vec<f64> = runs.iter().map(|cells| cells[i].simulated).collect();
            figures.sort_by(f64::total_cmp);
            let tail = figures.len() / 40;
            let replicates = chance.iter().filter(|&&j| group(&first[j]) == group(&first[i])).map(|&j| &first[j]);
            Band {
                cell: Cell { simulated: figures[figures.len() / 2], ..first[i].clone() },
                low: figures[tail],
                high: figures[figures.len() - 1 - tail],
                spread: spread(replicates),
            }
        })
        .collect()
}

/// Cells of one group would be equal if there were no chance: they are each other's replicates.
fn group(cell: &Cell) -> (Test, bool, u64, String) {
    match cell.test {
        // Blocks of 1 MiB and more are written at the card's pace, to whichever unit; whole units to however many.
        Test::OpenAu => (cell.test, cell.random, 0, String::new()),
        Test::Fat => (cell.test, false, u64::from(cell.index == 1), String::new()),
        // Up to 4 KiB no access leaves its page: pre, on and post are the same.
        _ if cell.row <= Bytes::kib(4) => (cell.test, false, 0, String::new()),
        _ => (cell.test, false, once_class(cell.row), cell.column.clone()),
    }
}

/// Alignments that mean the same accesses to the published eMMC.
fn once_class(align: Bytes) -> u64 {
    match align {
        _ if align >= Bytes::mib(4) => 4,
        _ if align >= Bytes::kib(32) => 3,
        _ if align >= Bytes::kib(16) => 2,
        _ => 1,
    }
}

fn spread<'c>(cells: impl Iterator<Item = &'c Cell>) -> f64 {
    let (low, high) =
        cells.fold((f64::MAX, f64::MIN), |(low, high), cell| (low.min(cell.measured), high.max(cell.measured)));
    high - low
}

fn one(replay: &Replay, spec: &str, seed: u64) -> Vec<Cell> {
    cells::all(&replay.measured, &super::simulate(replay, spec, seed))
}

fn medians(runs: &[Vec<Cell>]) -> Vec<Cell> {
    let Some(first) = runs.first() else { return Vec::new() };
    (0..first.len())
        .map(|i| {
            let mut figures: Vec<f64> = runs.iter().map(|cells| cells[i].simulated).collect();
            figures.sort_by(f64::total_cmp);
            Cell { simulated: figures[figures.len() / 2], ..first[i].clone() }
        })
        .collect()
}
