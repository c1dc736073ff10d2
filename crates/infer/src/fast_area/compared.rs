//! The first units beside units from elsewhere: figures of the trials, of single units and of printed tables, each held
//! against the controls of its own run and block size.

use super::beside::{Controls, seconds};
use super::{LARGE, SMALL, UNITS_AT_START};
use crate::assumed::{TableUnit, unit_of_first};
use crate::numbers::{ln_rate, median, median_rate};
use crate::{Memo, open_units, survey};
use flashscope_model::observation::{FastAreaData, FatData, RateEvidence, ThroughputData, UnitTimes};
use flashscope_model::plan::Purpose;
use flashscope_model::{Data, Direction, Observations, Order};
use flashscope_stats::test::cliffs_delta;
use flashscope_stats::two_sided_t;
use flashscope_units::Bytes;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// Share of pairs by which the requests of a unit that differs are on one side of those of the controls.
const CLEAR_DELTA: f64 = 0.5;

/// A unit that is like the others differs by as much with this probability.
const BY_CHANCE: f64 = 3e-4;

/// Differences of two units are about as large where their quotient, as logarithms, is within this.
const ALIKE: RangeInclusive<f64> = 0.5..=2.0;

/// So many units in a row are off by chance with this probability, where it cannot be told from an area.
const IN_A_ROW: f64 = 0.05;

/// Fewer degrees of freedom than this do not tell how much units differ.
const LEAST_FREEDOM: usize = 3;

/// One unit against the controls at one block size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) run: usize,
    pub(super) block: Bytes,
    /// Logarithm of its rate over that of the controls.
    pub(super) ln_ratio: f64,
    /// Its rate and that of the controls.
    pub(super) rates: (f64, f64),
    /// Whether the samples behind it are told apart; taken for granted where a log left none.
    pub(super) distinct: bool,
    /// Standard error of `ln_ratio`; 0 where a log left no samples, and units that are alike must tell.
    pub(super) error: f64,
    /// Whether the offsets within the unit came at random.
    pub(super) random: bool,
}

impl Row {
    /// Blocks up to this size are small.
    pub(super) fn is_small(&self) -> bool {
        self.block <= SMALL
    }

    /// Writes of a trial at random, longer than any that may take a separate path: what copies cost.
    pub(super) fn is_scattered(&self) -> bool {
        self.random && self.block > SMALL && self.error > 0.0
    }
}

/// All rows, by the start of what was compared.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    /// Size of the units.
    pub(super) unit: Bytes,
    /// End of the piece of a unit in front of the first whole one; zero where units begin at the first address.
    pub(super) front: Bytes,
    /// All rows of one unit, or of the piece.
    pub(super) rows: BTreeMap<Bytes, Vec<Row>>,
    /// By how much the controls of a run differ from their middle, as logarithms, at long writes in order.
    controls: Vec<Vec<f64>>,
}

impl Compared {
    fn new(unit: Bytes) -> Self {
        Compared { unit, front: Bytes::ZERO, rows: BTreeMap::new(), controls: Vec::new() }
    }

    /// By how much a unit differs from others as good as never, as a logarithm, where enough of them were timed: from the scatter
    /// among the controls of each run, by Student's t. The last unit that was compared is hardly within the area, and one of them.
    pub(super) fn by_chance(&self) -> Option<f64> {
        let of_last = self.rows.values().next_back()?.iter().filter(|row| self.is_large(row)).map(|row| row.ln_ratio);
        let last = median(&of_last.collect::<Vec<f64>>())?;
        let away = self.controls.iter().flatten().chain([&last]);
        let freedom = self.controls.iter().map(|run| run.len() - 1).sum::<usize>() + 1;
        let variance = away.map(|away| away * away).sum::<f64>() / freedom as f64;
        (freedom >= LEAST_FREEDOM).then(|| two_sided_t(1.0 - BY_CHANCE, freedom as f64) * variance.sqrt())
    }

    /// How many controls are off by about as much as units are that differ by this, as logarithms, and of how many, where so many
    /// units in a row would be so by chance.
    pub(super) fn as_far_off(&self, units: impl Iterator<Item = f64>) -> Option<(usize, usize)> {
        let units: Vec<f64> = units.collect();
        let typical = median(&units)?;
        let of = self.controls.iter().map(Vec::len).sum::<usize>();
        let off = self.controls.iter().flatten().filter(|away| ALIKE.contains(&(*away / typical))).count();
        // Laplace's rule of succession.
        let share = (off + 1) as f64 / (of + 2) as f64;
        (off > 0 && share.powi(units.len() as i32) > IN_A_ROW).then_some((off, of))
    }

    /// Rate of long writes in order to the units that the first ones are compared with.
    pub(super) fn rate_elsewhere(&self) -> Option<f64> {
        median(
            &self.rows.values().flatten().filter(|row| self.is_large(row)).map(|row| row.rates.1).collect::<Vec<f64>>(),
        )
    }

    /// End of what begins here.
    pub(super) fn end(&self, at: Bytes) -> Bytes {
        if at < self.front { self.front } else { at + self.unit }
    }

    /// Whether there is a piece in front of the first whole unit that was not compared as the unit was.
    pub(super) fn leaves_front_out(&self) -> bool {
        let rows = |at: Bytes| self.rows.get(&at).map_or(0, Vec::len);
        self.front > Bytes::ZERO && rows(Bytes::ZERO) < rows(self.front)
    }

    /// Adds what a trial told, as that of this run.
    fn add(&mut self, run: usize, trial: &Trial) {
        self.controls.extend(trial.away.clone());
        for (at, row) in &trial.rows {
            self.rows.entry(self.start(*at)).or_default().push(Row { run, ..*row });
        }
    }

    /// Start of what a suspect stands for: blocks within the piece in front need not begin at its first byte.
    fn start(&self, at: Bytes) -> Bytes {
        if at < self.front { Bytes::ZERO } else { at }
    }

    /// Rows of large blocks; whole units are left out where there are others, for the first row after an erase lies.
    pub(super) fn is_large(&self, row: &Row) -> bool {
        // Of trials, those at random show what copies cost.
        row.block >= LARGE && row.block < self.unit && !(row.random && row.error > 0.0)
    }
}

/// Tables of the first units, flashbench `-f`: the later half are the controls. Tables with another unit cannot be laid
/// over each other: those with most figures speak.
pub(super) fn tables(observations: &Observations) -> Option<(TableUnit, Compared)> {
    let mut by_unit: BTreeMap<TableUnit, Compared> = BTreeMap::new();
    let tables = observations.runs.iter().filter_map(|run| match &run.data {
        Data::Fat(data) => Some(data),
        _ => None,
    });
    for (run, data) in tables.enumerate() {
        let Some(unit) = unit_of_first(observations, data) else { continue };
        add_table(run, data, by_unit.entry(unit).or_insert_with(|| Compared::new(unit.size)));
    }
    let figures = |compared: &Compared| compared.rows.values().map(Vec::len).sum::<usize>();
    by_unit.into_iter().filter(|(_, compared)| !compared.rows.is_empty()).max_by_key(|(_, compared)| figures(compared))
}

fn add_table(run: usize, data: &FatData, compared: &mut Compared) {
    let offset = data.offset.unwrap_or(Bytes::ZERO);
    for row in &data.rows {
        let rates: Vec<Option<f64>> = row.units.iter().map(|evidence| ln_unit_rate(row.block, evidence)).collect();
        let controls: Vec<f64> = rates.iter().skip(rates.len().div_ceil(2)).flatten().copied().collect();
        let (Some(control), true) = (median(&controls), controls.len() >= 2) else { continue };
        for (index, rate) in rates.iter().enumerate() {
            let Some(rate) = rate else { continue };
            let row = Row {
                run,
                block: row.block,
                ln_ratio: rate - control,
                rates: (rate.exp(), control.exp()),
                distinct: true,
                error: 0.0,
                random: data.order == Some(Order::Random),
            };
            compared.rows.entry(offset + compared.unit * index as u64).or_default().push(row);
        }
    }
}

/// Rate of one unit as a logarithm: where every request was timed, that of the middle one, since the first may have to
/// wait until another unit is closed.
fn ln_unit_rate(block: Bytes, evidence: &RateEvidence) -> Option<f64> {
    match evidence {
        RateEvidence::Times(times) if times.len() >= 4 => median_rate(block, times).map(f64::ln),
        _ => ln_rate(block, evidence),
    }
}

/// Suspect units against controls, every request timed.
pub(super) fn trials(observations: &Observations, memo: &Memo) -> Option<Compared> {
    // On a blank device the controls lie where it was filled, and copies cost as much as there is to copy.
    let blank = survey::blank_share(observations).is_some_and(|share| share >= survey::BLANK);
    let trials = || {
        let each = observations.runs.iter().filter_map(|run| match &run.data {
            Data::FastArea(data) => Some(data),
            _ => None,
        });
        each.enumerate()
    };
    let (_, first) = trials().next()?;
    let mut compared = Compared::new(first.unit);
    compared.front = first.suspects.iter().map(|suspect| suspect.at).min()? % first.unit;
    for (run, data) in trials() {
        let copies = data.order == Order::Random && data.block > SMALL;
        if data.unit == first.unit && !(blank && copies) {
            compared.add(run, &trial(data, memo));
        }
    }
    (!compared.rows.is_empty()).then_some(compared)
}

/// By how much long writes to the first half of what was compared at the start of the device are faster than those to its
/// second half, where that is by this factor at least and so nowhere else.
pub(super) fn begins_otherwise(observations: &Observations, factor: f64) -> Option<f64> {
    let halves = |unit: &UnitTimes| {
        let seconds = seconds(unit);
        let (first, second) = seconds.split_at(seconds.len() / 2);
        let distinct = cliffs_delta(second, first).is_ok_and(|delta| delta > CLEAR_DELTA);
        let ratio = median(second)? / median(first)?;
        (distinct && ratio > factor).then_some(ratio)
    };
    observations.runs.iter().find_map(|run| match &run.data {
        Data::FastArea(data) if data.order == Order::InOrder && data.block >= LARGE => {
            let start = data.suspects.iter().find(|suspect| suspect.at < data.unit)?;
            let ratio = halves(start)?;
            let others = data.suspects.iter().filter(|suspect| suspect.at >= data.unit).chain(&data.controls);
            others.into_iter().all(|other| halves(other).is_none()).then_some(ratio)
        }
        _ => None,
    })
}

/// Addresses of the single units of this size, or pieces of one, that were written one after the other with such blocks.
pub(crate) fn singles(observations: &Observations, unit: Bytes, block: Bytes) -> impl Iterator<Item = Bytes> {
    single_runs(observations)
        .filter(move |data| data.block == block && data.length.align_up(unit) == unit)
        .map(|data| data.start)
}

fn single_runs(observations: &Observations) -> impl Iterator<Item = &ThroughputData> {
    observations.runs.iter().filter_map(|run| match &run.data {
        Data::Throughput(data)
            if (data.purpose, data.direction, data.order) == (Purpose::OneUnit, Direction::Write, Order::InOrder) =>
        {
            Some(data)
        }
        _ => None,
    })
}

/// The first units and others, written one after the other where only one can be open: those that share the block size of
/// the one at the start.
pub(super) fn one_by_one(observations: &Observations, memo: &Memo) -> Option<Compared> {
    let unit = open_units::trial_unit(observations)?;
    let first = single_runs(observations).find(|data| data.start < unit)?;
    let timed = |data: &ThroughputData| UnitTimes { at: data.start, times: data.times.clone() };
    let same = single_runs(observations).filter(|data| data.block == first.block && data.length <= unit);
    let at_start = |data: &&ThroughputData| data.start < unit * UNITS_AT_START;
    let (suspects, controls): (Vec<&ThroughputData>, Vec<&ThroughputData>) = same.partition(at_start);
    if controls.len() < 2 {
        return None;
    }
    let data = FastAreaData {
        unit,
        reach: unit,
        direction: Direction::Write,
        order: Order::InOrder,
        block: first.block,
        suspects: suspects.into_iter().map(timed).collect(),
        controls: controls.into_iter().map(timed).collect(),
    };
    let mut compared = Compared::new(unit);
    compared.front = data
        .suspects
        .iter()
        .map(|suspect| suspect.at)
        .filter(|at| *at >= unit)
        .min()
        .map_or(Bytes::ZERO, |at| at % unit);
    compared.add(0, &trial(&data, memo));
    (!compared.rows.is_empty()).then_some(compared)
}

/// What one trial tells.
#[derive(Clone, Debug, Default)]
struct Trial {
    /// Where each suspect is, and how it differs.
    rows: Vec<(Bytes, Row)>,
    /// By how much its controls differ from their middle, as logarithms, if they are several with long writes in order.
    away: Option<Vec<f64>>,
}

/// Trials that were looked at before.
type Looked = RefCell<Vec<(FastAreaData, Rc<Trial>)>>;

/// What a trial tells, worked out once.
fn trial(data: &FastAreaData, memo: &Memo) -> Rc<Trial> {
    let looked = memo.of::<Looked>();
    if let Some((_, told)) = looked.borrow().iter().find(|(before, _)| before == data) {
        return Rc::clone(told);
    }
    let told = Rc::new(look(data));
    looked.borrow_mut().push((data.clone(), Rc::clone(&told)));
    told
}

fn look(data: &FastAreaData) -> Trial {
    let pool: Vec<f64> = data.controls.iter().flat_map(seconds).collect();
    let Some(control) = median(&pool) else { return Trial::default() };
    let long = data.order == Order::InOrder && data.block >= LARGE;
    let away = (long && data.controls.len() > 1)
        .then(|| data.controls.iter().filter_map(|unit| Some((control / median(&seconds(unit))?).ln())).collect());
    let controls = Controls::of(data);
    let row = |suspect: &UnitTimes| {
        let times = seconds(suspect);
        let (longer, error) = controls.shift(&times)?;
        let elsewhere = data.block.as_f64() / control;
        let row = Row {
            run: 0,
            block: data.block,
            ln_ratio: -longer,
            rates: ((-longer).exp() * elsewhere, elsewhere),
            distinct: cliffs_delta(&times, &pool).ok()?.abs() > CLEAR_DELTA,
            error,
            random: data.order == Order::Random,
        };
        Some((suspect.at, row))
    };
    Trial { rows: data.suspects.iter().filter_map(row).collect(), away }
}
