//! The first units beside units from elsewhere: figures of the trials, of single units and of printed tables, each held
//! against the controls of its own run and block size.

use super::{LARGE, OPENING, SMALL, UNITS_AT_START};
use crate::assumed::{TableUnit, unit_of_first};
use crate::numbers::{ln_rate, median, median_rate};
use crate::{open_units, survey};
use flashscope_model::observation::{FastAreaData, FatData, RateEvidence, ThroughputData, UnitTimes};
use flashscope_model::plan::Purpose;
use flashscope_model::{Data, Direction, Observations, Order};
use flashscope_stats::location::MAD_NORMAL_FACTOR;
use flashscope_stats::test::cliffs_delta;
use flashscope_stats::two_sided_t;
use flashscope_units::Bytes;
use std::collections::BTreeMap;

/// Share of pairs by which the requests of a unit that differs are on one side of those of the controls.
const CLEAR_DELTA: f64 = 0.5;

/// A unit that is like the others differs by as much with this probability.
const BY_CHANCE: f64 = 3e-4;

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
pub(super) fn trials(observations: &Observations) -> Option<Compared> {
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
            add_trial(run, data, &mut compared);
        }
    }
    (!compared.rows.is_empty()).then_some(compared)
}

/// By how much long writes to the first half of what was compared at the start of the device are faster than those to its
/// second half, where that is by this factor at least and so nowhere else.
pub(super) fn begins_otherwise(observations: &Observations, factor: f64) -> Option<f64> {
    let halves = |unit: &UnitTimes| {
        let seconds: Vec<f64> = unit.times.iter().skip(OPENING).map(|time| time.as_secs_f64()).collect();
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
pub(super) fn one_by_one(observations: &Observations) -> Option<Compared> {
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
    add_trial(0, &data, &mut compared);
    (!compared.rows.is_empty()).then_some(compared)
}

fn add_trial(run: usize, data: &FastAreaData, compared: &mut Compared) {
    // The first requests pay for what was open before.
    let seconds = |unit: &UnitTimes| -> Vec<f64> {
        let steady = &unit.times[OPENING.min(unit.times.len() / 2)..];
        steady.iter().map(|time| time.as_secs_f64()).filter(|s| *s > 0.0).collect()
    };
    let pool: Vec<f64> = data.controls.iter().flat_map(seconds).collect();
    let Some(control) = median(&pool) else { return };
    if data.order == Order::InOrder && data.block >= LARGE && data.controls.len() > 1 {
        let away = data.controls.iter().filter_map(|unit| Some((control / median(&seconds(unit))?).ln()));
        compared.controls.push(away.collect());
    }
    for suspect in &data.suspects {
        let times = seconds(suspect);
        let (Some(middle), Ok(delta)) = (median(&times), cliffs_delta(&times, &pool)) else { continue };
        let rate = |seconds: f64| data.block.as_f64() / seconds;
        let row = Row {
            run,
            block: data.block,
            ln_ratio: (control / middle).ln(),
            rates: (rate(middle), rate(control)),
            distinct: delta.abs() > CLEAR_DELTA,
            error: error_of_median(&times).hypot(error_of_median(&pool)),
            random: data.order == Order::Random,
        };
        compared.rows.entry(compared.start(suspect.at)).or_default().push(row);
    }
}

/// Standard error of the logarithm of a median: that of a normal sample, whose width the median deviation tells.
fn error_of_median(seconds: &[f64]) -> f64 {
    let logs: Vec<f64> = seconds.iter().map(|seconds| seconds.ln()).collect();
    let middle = median(&logs).unwrap_or(0.0);
    let away: Vec<f64> = logs.iter().map(|log| (log - middle).abs()).collect();
    let deviation = MAD_NORMAL_FACTOR * median(&away).unwrap_or(0.0);
    1.2533 * deviation / (logs.len().max(1) as f64).sqrt()
}
