//! How well a twin fits: every measured figure beside the simulated one, pooled by test, and four clauses.
//!
//! - (a) figures over at least 16 requests, minima, and the three times around a boundary: per test, 95 % of the
//!   cells within 15 %, and the median error at most 7 %;
//! - (b) what straddling costs: the mean of each level within 15 % or 10 µs;
//! - (c) rows that are chance (open-au and find-fat rows of fewer than 16 requests): the measured figure lies in the
//!   central 95 % of 200 seeds, and that band is at most twice as wide as the measured replicates scatter;
//! - (d) models that are wrong on purpose fit worse.

use crate::FitError;
use crate::card::{Card, Origin};
use crate::cells::{self, Cell, Test};
use crate::fit::Watch;
use crate::refine::distance;
use crate::replay::Replay;
use crate::shape::Shape;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_stats::location::median;
use flashscope_units::Bytes;
use std::collections::BTreeMap;

/// Number of seeds: the simulated figure is their median, so that one collection in one cell does not decide.
pub const CLOSE_SEEDS: u64 = 11;
/// Seeds of clause (c).
pub const BAND_SEEDS: u64 = 200;
/// Clauses (a) and (b): how far a figure may be off, as a share of it.
pub const WITHIN: f64 = 0.15;
/// Share of the cells that clauses (a) and (c) ask for.
pub const SHARE: f64 = 0.95;
/// Clause (a): the median error.
const MEDIAN: f64 = 0.07;
/// Clause (b), in nanoseconds.
const ABSOLUTE_NS: f64 = 10e3;
/// Fewer requests than this make a figure chance.
pub const OPERATIONS: u64 = 16;
/// Fewer replicates have no spread to speak of.
const REPLICATES: usize = 3;
/// Rows of chance need tables down to this share of a unit.
const UPPER_ROWS: u64 = 64;
/// Clause (d): a wrong model's figures are farther off by this factor at least.
const WORSE: f64 = 1.1;

/// How well a twin fits.
#[derive(Clone, Debug)]
pub struct Goodness {
    /// Every figure that both sides have.
    pub cells: Vec<Cell>,
    /// Pooled by test.
    pub tests: Vec<Pool>,
    /// Clause (b), one per table and level.
    pub plateaus: Vec<Plateau>,
    /// Clause (c).
    pub bands: Vec<Band>,
    /// Clause (d).
    pub wrong: Vec<Wrong>,
}

/// The cells of one test.
#[derive(Clone, Debug)]
pub struct Pool {
    /// The test.
    pub test: Test,
    /// All its cells but contrasts: how many, the share within 15 %, and the median size of the error.
    pub all: Errors,
    /// Those that clause (a) is about; none where there is no such figure.
    pub close: Option<Errors>,
}

/// Errors of some cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// How many cells.
    pub cells: usize,
    /// Share within 15 %.
    pub within: f64,
    /// Median size of the error.
    pub median: f64,
}

impl Errors {
    fn of<'c>(cells: impl Iterator<Item = &'c Cell>) -> Option<Errors> {
        let errors: Vec<f64> = cells.map(|cell| cell.error().abs()).filter(|error| error.is_finite()).collect();
        let within = errors.iter().filter(|error| **error <= WITHIN).count() as f64 / errors.len().max(1) as f64;
        median(&errors).map(|median| Errors { cells: errors.len(), within, median })
    }

    /// Whether clause (a) is met.
    pub fn hold(&self) -> bool {
        close(self.within, self.median)
    }
}

/// Whether clause (a) is met by cells of which a share `within` is near enough, and whose median error is `median`.
pub fn close(within: f64, median: f64) -> bool {
    within >= SHARE && median <= MEDIAN
}

/// Whether clause (b) is met by a level's mean contrasts, in nanoseconds.
pub fn level_holds(simulated: f64, measured: f64) -> bool {
    (simulated - measured).abs() <= ABSOLUTE_NS.max(WITHIN * measured.abs())
}

/// What straddling costs on one level of one table.
#[derive(Clone, Debug)]
pub struct Plateau {
    /// The table.
    pub table: String,
    /// What the boundaries are of.
    pub level: &'static str,
    /// Mean of the measured contrasts, in nanoseconds.
    pub measured: f64,
    /// Mean of the simulated ones.
    pub simulated: f64,
}

impl Plateau {
    /// Whether clause (b) is met.
    pub fn holds(&self) -> bool {
        level_holds(self.simulated, self.measured)
    }
}

/// A row of chance.
#[derive(Clone, Debug)]
pub struct Band {
    /// The cell; its simulated figure is the median of the seeds.
    pub cell: Cell,
    /// Lower end of the central 95 %.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Largest less smallest of the measured figures that would be equal if there were no chance; none of too few.
    pub spread: Option<f64>,
}

impl Band {
    /// Whether clause (c) is met; rounding may have moved a printed figure by half its last digit, and the spread by one.
    pub fn holds(&self) -> bool {
        let half = self.cell.quantum / 2.0;
        let inside = (self.low - half..=self.high + half).contains(&self.cell.measured);
        let narrow = self.spread.is_none_or(|spread| self.high - self.low <= 2.0 * (spread + self.cell.quantum));
        inside && narrow
    }
}

/// A model that is wrong on purpose.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// What is wrong with it.
    pub what: &'static str,
    /// How far its figures are off, against the twin's.
    pub farther: f64,
}

impl Wrong {
    /// Whether clause (d) tells it from the twin.
    pub fn is_rejected(&self) -> bool {
        self.farther >= WORSE
    }
}

impl Goodness {
    /// Share of all cells within 15 %, contrasts left out.
    pub fn within(&self) -> f64 {
        self.mean_of(|errors| errors.within)
    }

    /// By how much of itself a figure of the usual test is off: the median of each test, by how many cells it has.
    pub fn error(&self) -> f64 {
        self.mean_of(|errors| errors.median)
    }

    /// Mean over all tests, by how many cells each has; 0 without any.
    fn mean_of(&self, figure: impl Fn(&Errors) -> f64) -> f64 {
        let cells: usize = self.tests.iter().map(|pool| pool.all.cells).sum();
        let sum: f64 = self.tests.iter().map(|pool| figure(&pool.all) * pool.all.cells as f64).sum();
        sum / cells.max(1) as f64
    }
}

/// What a cell is held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clause {
    /// (a): close to the measured figure.
    Close,
    /// (b): with the other rows of its level.
    Plateau,
    /// (c): in the band of simulated ones.
    Band,
    /// Nothing: it follows from others, or is over too few requests.
    Nothing,
}

impl Clause {
    /// The clause that a cell falls under.
    pub fn of(cell: &Cell) -> Clause {
        match (cell.test, cell.column.as_str()) {
            (Test::Align | Test::Boundaries, "diff") => Clause::Plateau,
            (_, "diff") | (Test::WriteAlignOnce, _) => Clause::Nothing,
            (Test::Align | Test::Boundaries | Test::WriteAlign | Test::Interval | Test::Floor, _) => Clause::Close,
            _ if cell.operations >= OPERATIONS => Clause::Close,
            (Test::OpenAu | Test::Fat, _) => Clause::Band,
            _ => Clause::Nothing,
        }
    }

    /// Its letter.
    pub const fn letter(self) -> &'static str {
        match self {
            Clause::Close => "a",
            Clause::Plateau => "b",
            Clause::Band => "c",
            Clause::Nothing => "–",
        }
    }
}

/// Holds a model against what was measured.
pub(crate) fn judge(card: &Card, shape: &Shape, replay: &Replay, watch: &mut dyn Watch) -> Result<Goodness, FitError> {
    let cells = medians(&simulated(card, replay, CLOSE_SEEDS, "goodness of fit", watch)?);
    let upper = replay.upper_rows(UPPER_ROWS);
    let bands = bands(&simulated(card, &upper, BAND_SEEDS, "rows of chance", watch)?, shape);
    let wrong = wrong(card, shape, replay, watch)?;
    let offset = |run: usize| {
        replay.measured.get(run).map_or(Bytes::ZERO, |run| match &run.data {
            Data::Boundaries(data) => data.offset,
            _ => Bytes::ZERO,
        })
    };
    Ok(Goodness { tests: pools(&cells), plateaus: plateaus(&cells, shape, offset), bands, wrong, cells })
}

fn simulated(
    card: &Card,
    replay: &Replay,
    seeds: u64,
    what: &str,
    watch: &mut dyn Watch,
) -> Result<Vec<Vec<Cell>>, FitError> {
    if replay.experiments.is_empty() {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for seed in 1..=seeds {
        watch.progress(what, seed as u32, seeds as u32);
        if watch.stop() {
            return Err(FitError::Stopped);
        }
        all.push(cells::all(&replay.measured, &replay.simulate(card.open(seed)?, seed)?));
    }
    Ok(all)
}

fn medians(runs: &[Vec<Cell>]) -> Vec<Cell> {
    let Some(first) = runs.first() else { return Vec::new() };
    let middle = |index: usize| {
        let figures: Vec<f64> = runs.iter().filter_map(|cells| Some(cells.get(index)?.simulated)).collect();
        median(&figures)
    };
    let cells = first.iter().enumerate();
    cells.filter_map(|(index, cell)| Some(Cell { simulated: middle(index)?, ..cell.clone() })).collect()
}

fn pools(cells: &[Cell]) -> Vec<Pool> {
    let mut tests: BTreeMap<Test, Vec<&Cell>> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| cell.column != "diff") {
        tests.entry(cell.test).or_default().push(cell);
    }
    let pool = |(test, cells): (Test, Vec<&Cell>)| {
        let all = Errors::of(cells.iter().copied())?;
        let close = Errors::of(cells.into_iter().filter(|cell| Clause::of(cell) == Clause::Close));
        Some(Pool { test, all, close })
    };
    tests.into_iter().filter_map(pool).collect()
}

/// The level that a boundary of this size belongs to, by the twin's own geometry.
fn level(size: Bytes, shape: &Shape) -> &'static str {
    match size {
        _ if !shape.unit.is_default() && size.is_multiple_of(shape.unit.value) => "unit",
        _ if shape.half_shows() && size.is_multiple_of(shape.sub_unit.value) => "half unit",
        _ if size.is_multiple_of(shape.page.value) => "page",
        _ if size.is_multiple_of(shape.page_inner.value) => "inner page",
        _ => "inside a page",
    }
}

fn plateaus(cells: &[Cell], shape: &Shape, offset: impl Fn(usize) -> Bytes) -> Vec<Plateau> {
    let mut groups: BTreeMap<(usize, &'static str), Vec<&Cell>> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| Clause::of(cell) == Clause::Plateau) {
        groups.entry((cell.run, level(shape.alignment(cell.row, offset(cell.run)), shape))).or_default().push(cell);
    }
    let mean =
        |cells: &[&Cell], of: fn(&Cell) -> f64| cells.iter().map(|cell| of(cell)).sum::<f64>() / cells.len() as f64;
    let plateau = |((run, level), cells): ((usize, &'static str), Vec<&Cell>)| Plateau {
        table: cells.first().map_or_else(String::new, |cell| format!("{} (table {})", cell.table, run + 1)),
        level,
        measured: mean(&cells, |cell| cell.measured),
        simulated: mean(&cells, |cell| cell.simulated),
    };
    groups.into_iter().map(plateau).collect()
}

fn bands(runs: &[Vec<Cell>], shape: &Shape) -> Vec<Band> {
    let Some(first) = runs.first() else { return Vec::new() };
    let chance: Vec<usize> = (0..first.len()).filter(|&i| Clause::of(&first[i]) == Clause::Band).collect();
    chance
        .iter()
        .map(|&i| {
            let mut figures: Vec<f64> = runs.iter().filter_map(|cells| Some(cells.get(i)?.simulated)).collect();
            figures.sort_by(f64::total_cmp);
            let tail = figures.len() / 40;
            let alike = chance.iter().filter(|&&j| group(&first[j], shape) == group(&first[i], shape));
            let replicates: Vec<f64> = alike.map(|&j| first[j].measured).collect();
            let ends = |pick: fn(f64, f64) -> f64| replicates.iter().copied().reduce(pick).unwrap_or(0.0);
            Band {
                cell: Cell { simulated: figures[figures.len() / 2], ..first[i].clone() },
                low: figures[tail],
                high: figures[figures.len() - 1 - tail],
                spread: (replicates.len() >= REPLICATES).then(|| ends(f64::max) - ends(f64::min)),
            }
        })
        .collect()
}

/// Figures of one group would be equal if there were no chance: the same block, written the same way to units of the same
/// kind.
fn group(cell: &Cell, shape: &Shape) -> (Test, bool, Bytes, u64) {
    let kind = match cell.test {
        Test::Fat => {
            let at = shape.unit.value * cell.index as u64;
            u64::from(shape.area.is_some_and(|(start, end)| start <= at && at < end))
        }
        _ if shape.limits.of(cell.random).is_some_and(|limit| cell.units > limit) => u64::from(cell.units),
        _ => 0,
    };
    (cell.test, cell.random, cell.row, kind)
}

/// Models that are wrong in what is known of the device.
fn wrong(card: &Card, shape: &Shape, replay: &Replay, watch: &mut dyn Watch) -> Result<Vec<Wrong>, FitError> {
    // What is wrong with a card on purpose, a drive does not have.
    if card.is_drive() {
        return Ok(Vec::new());
    }
    let own = distance(&medians(&simulated(card, replay, 1, "wrong models", watch)?));
    let mut found = Vec::new();
    for (what, card) in wrong_models(card, shape) {
        // A model that cannot be made, or cannot do the experiments, is no rival.
        let Ok(target) = card.open(1) else { continue };
        let (replay, left_out) = replay.fitting(target.facts());
        if !left_out.is_empty() {
            continue;
        }
        let cells = medians(&simulated(&card, &replay, 1, "wrong models", watch)?);
        found.push(Wrong { what, farther: distance(&cells) / own.max(1e-6) });
    }
    Ok(found)
}

fn wrong_models(card: &Card, shape: &Shape) -> Vec<(&'static str, Card)> {
    let mut models = vec![("no geometry", flat(card))];
    if !shape.unit.is_default() {
        models.push(("half the unit", with_unit(card, shape, 1, 2)));
        models.push(("double the unit", with_unit(card, shape, 2, 1)));
    }
    if !shape.page.is_default() {
        models.push(("half the page", with_page(card, shape, 1, 2)));
        models.push(("double the page", with_page(card, shape, 2, 1)));
    }
    if let Some(limit) = shape.limits.of(false) {
        if limit > 1 {
            models.push(("half the open units", with_logs(card, shape, 1, 2)));
        }
        models.push(("double the open units", with_logs(card, shape, 2, 1)));
    }
    models
}

fn on_purpose() -> Origin {
    Origin::Default("wrong on purpose".to_owned())
}

fn flat(card: &Card) -> Card {
    let mut flat = card.clone();
    for path in [
        "mapping.read.sense",
        "mapping.read.decode",
        "mapping.read.inner_edge",
        "mapping.read.unit_edge.time",
        "mapping.read.sub_unit_edge.time",
        "mapping.merge.copy",
        "mapping.merge.fixed",
    ] {
        flat.set_time(path, 0.0, on_purpose());
    }
    flat
}

fn with_unit(card: &Card, shape: &Shape, times: u64, over: u64) -> Card {
    let mut wrong = card.clone();
    for path in ["mapping.unit", "mapping.sub_unit", "mapping.stripe", "mapping.random_log"] {
        let size = card.size(path).unwrap_or(shape.unit.value);
        wrong.set_size(path, size * times / over, on_purpose());
    }
    if let Some((start, end)) = card.area() {
        wrong.set_area(start * times / over, end * times / over);
    }
    wrong
}

/// The time of a page goes with its size, so that only the geometry is wrong.
fn with_page(card: &Card, shape: &Shape, times: u64, over: u64) -> Card {
    let mut wrong = card.clone();
    let page = shape.page.value * times / over;
    wrong.set_size("mapping.page", page, on_purpose());
    let inner = if shape.page_inner.value < shape.page.value { shape.page_inner.value.min(page) } else { page };
    wrong.set_size("mapping.page_inner", inner, on_purpose());
    let share = times as f64 / over as f64;
    for path in ["mapping.program.page", "mapping.merge.copy", "mapping.areas.0.program"] {
        wrong.set_time(path, card.number(path) * share, on_purpose());
    }
    wrong
}

fn with_logs(card: &Card, shape: &Shape, times: u64, over: u64) -> Card {
    let mut wrong = card.clone();
    for (path, count) in
        [("mapping.logs_in_order", shape.logs_in_order.value), ("mapping.logs_random", shape.logs_random.value)]
    {
        wrong.set_count(path, u64::from(count) * times / over, on_purpose());
    }
    wrong
}
