//! The by-hand procedure of flashbench's users, what a naive reader makes of its tables, and the log that it leaves.
//!
//! Procedure: align at six block sizes; open-au with 1 … limit + 1 units in both orders; find-fat. The naive reader stops
//! where he sees a fall, be it the limit's or one of chance, or looks once more; where he sees none, the true limit says how
//! far he goes (8 where there is none, never more than [`MOST_UNITS`]): that makes it cheaper than it is, not dearer. He sees
//! nothing but the tables. Another operator, whose logs are counted beside, goes as far as published logs do.

use crate::run::NoResult;
use flashscope_device::{Target, Wear, WriteGrant};
use flashscope_model::finding::{AreaKind, FastArea, Penalty};
use flashscope_model::fleet::DeviceCost;
use flashscope_model::observation::{AlignData, AlignEvidence, OpenUnitsRow, RateEvidence, Spent, Straddle};
use flashscope_model::{Data, Estimate, Experiment, Geometry, Order, Reason};
use flashscope_probe::{Context, Observer, ProbeError, Progress, classic};
use flashscope_sim::truth::Truth;
use flashscope_stats::location::median;
use flashscope_units::{ByteRate, Bytes, Nanos};
use std::ops::{ControlFlow, RangeInclusive};

/// More units than this are never tried, which spares the reader's device and our time.
pub(crate) const MOST_UNITS: u32 = 16;

/// Where there is no limit to find, people stop about here.
const USUAL_UNITS: u32 = 8;

/// As far as the published logs go.
const PUBLISHED_UNITS: RangeInclusive<u32> = 5..=10;

/// Block sizes of the align tables.
const ALIGN_BLOCKS: [Bytes; 6] =
    [Bytes::kib(1), Bytes::kib(2), Bytes::kib(4), Bytes::kib(8), Bytes::kib(16), Bytes::kib(32)];

/// A unit is looked for between these alignments, and a page up to the third.
const LEAST_UNIT: Bytes = Bytes::kib(256);
/// Largest alignment at which a unit is looked for.
const MOST_UNIT: Bytes = Bytes::mib(128);
/// Largest alignment at which a page is looked for.
const MOST_PAGE: Bytes = Bytes::kib(128);

/// Blocks of one unit in the smallest row of the write tests: 16 KiB blocks in a unit of 4 MiB.
const BLOCKS_PER_UNIT: u64 = 256;

/// A unit at the start is different when its rate is off by more than this.
const AREA_CONTRAST: f64 = 1.25;

/// What came of it.
pub(crate) struct ByHand {
    /// What the naive reader says; no confidence, as he has none.
    pub(crate) reading: Geometry,
    /// What flashbench would have left on the terminal: each command and what it printed.
    pub(crate) log: String,
    /// What the procedure cost.
    pub(crate) cost: DeviceCost,
}

/// Who works through a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    /// Writes by the unit that the tables of reads show to a naive reader, or by the tool's own where they show none.
    Naive,
    /// Knows the unit, from a data sheet or from trying others, as most of those did whose logs are published.
    KnowsTheUnit,
}

/// Works through a fresh device.
pub(crate) fn work_through<T: Target>(
    target: T,
    operator: Operator,
    truth: &Truth,
    seed: u64,
    stop: &dyn Fn() -> bool,
) -> Result<ByHand, NoResult> {
    let mut bench = Bench::new(target, seed, stop)?;
    let mut tables = Vec::new();
    for block in ALIGN_BLOCKS {
        if let Some(Data::Align(table)) = bench.run(&Experiment::Align(classic::align(block)))? {
            tables.push(table);
        }
    }
    let unit = jump(&tables, LEAST_UNIT, MOST_UNIT);
    let page = jump(&tables, Bytes::ZERO, MOST_PAGE);

    // A unit that does not fit, or that nobody found, is replaced by the tool's own default.
    let assumed = match operator {
        Operator::Naive => unit,
        Operator::KnowsTheUnit => truth.allocation_unit.value.or(unit),
    };
    let erase = assumed.filter(|unit| *unit * 64 <= bench.target.facts().capacity).unwrap_or(classic::ERASE);
    let rounds = |limit: Option<u32>| match operator {
        Operator::Naive => Rounds::UntilItFalls { most: limit.unwrap_or(USUAL_UNITS) + 1, more: (seed % 2) as u32 },
        Operator::KnowsTheUnit => {
            let span = u64::from(PUBLISHED_UNITS.end() - PUBLISHED_UNITS.start()) + 1;
            Rounds::Fixed(PUBLISHED_UNITS.start() + (seed % span) as u32)
        }
    };
    let linear = open_au(&mut bench, erase, Order::InOrder, rounds(truth.open_units_linear.value))?;
    let random = open_au(&mut bench, erase, Order::Random, rounds(truth.open_units_random.value))?;
    let area = fat(&mut bench, erase)?;
    let (wear, spent) = (bench.target.wear().unwrap_or_default(), bench.spent);
    let reading = Geometry {
        allocation_unit: value(unit),
        page: value(page),
        open_units_linear: limit(&linear),
        open_units_random: limit(&random),
        random_order_penalty: value(penalty(&linear, &random)),
        fast_area: value(area),
        // The procedure does not ask for the rest.
        ..Geometry::unknown(Reason::NotMeasured)
    };
    Ok(ByHand { reading, log: bench.log, cost: crate::cost::between(spent, Wear::default(), wear) })
}

struct Bench<'a, T> {
    target: T,
    grant: WriteGrant,
    seed: u64,
    spent: Spent,
    log: String,
    stop: &'a dyn Fn() -> bool,
}

impl<'a, T: Target> Bench<'a, T> {
    fn new(target: T, seed: u64, stop: &'a dyn Fn() -> bool) -> Result<Self, NoResult> {
        let grant = WriteGrant::simulated(target.facts(), Bytes(u64::MAX));
        let grant = grant.ok_or_else(|| NoResult::Failed("no grant for a simulated device".to_owned()))?;
        Ok(Bench { target, grant, seed, spent: Spent::default(), log: String::new(), stop })
    }

    /// The figures of an experiment; none where it makes no sense on this device.
    fn run(&mut self, experiment: &Experiment) -> Result<Option<Data>, NoResult> {
        self.seed = self.seed.wrapping_add(1);
        let mut until = Until { stop: self.stop, stopped: false };
        let mut context = Context::writing(&mut self.grant, self.seed, &mut until);
        let outcome = flashscope_probe::run(experiment, &mut self.target, &mut context);
        if until.stopped {
            return Err(NoResult::Stopped);
        }
        match outcome {
            Ok(run) => {
                self.spent.read += run.spent.read;
                self.spent.written += run.spent.written;
                self.spent.time += run.spent.time;
                if let Some((arguments, printed)) = arguments(experiment).zip(flashscope_transcript::write(&run.data)) {
                    self.log.push_str(&format!("# ./flashbench {arguments} /dev/sdx\n{printed}"));
                }
                Ok(Some(run.data))
            }
            Err(ProbeError::Device { error, .. }) => Err(NoResult::Failed(format!("by hand: {error}"))),
            Err(_) => Ok(None),
        }
    }
}

/// How flashbench is asked for an experiment of the procedure.
fn arguments(experiment: &Experiment) -> Option<String> {
    let regions = |erase: Bytes, block: Bytes, order: Order| {
        let random = if order == Order::Random { " --random" } else { "" };
        format!("--erasesize={} --blocksize={}{random}", erase.get(), block.get())
    };
    match experiment {
        Experiment::Align(plan) => Some(format!("-a --blocksize={}", plan.block.get())),
        Experiment::OpenAu(plan) => {
            Some(format!("--open-au --open-au-nr={} {}", plan.count, regions(plan.erase, plan.block, plan.order)))
        }
        Experiment::Fat(plan) => {
            Some(format!("--find-fat --fat-nr={} {}", plan.count, regions(plan.erase, plan.block, plan.order)))
        }
        _ => None,
    }
}

struct Until<'a> {
    stop: &'a dyn Fn() -> bool,
    stopped: bool,
}

impl Observer for Until<'_> {
    fn progress(&mut self, _progress: Progress) -> ControlFlow<()> {
        self.stopped |= (self.stop)();
        if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The alignment before which most tables have their largest jump of `diff`; the larger one where two are level.
fn jump(tables: &[AlignData], least: Bytes, most: Bytes) -> Option<Bytes> {
    let votes: Vec<Bytes> = tables.iter().filter_map(|table| largest_jump(&diffs(table), least, most)).collect();
    votes.iter().copied().max_by_key(|align| (votes.iter().filter(|vote| *vote == align).count(), *align))
}

fn largest_jump(diffs: &[(Bytes, f64)], least: Bytes, most: Bytes) -> Option<Bytes> {
    let pairs = diffs.windows(2).map(|pair| (pair[1].0, pair[1].1 - pair[0].1));
    let steps = pairs.filter(|(align, rise)| (least..=most).contains(align) && *rise > 0.0);
    steps.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(align, _)| align)
}

/// Alignment and the original's `diff`, smallest alignment first.
fn diffs(table: &AlignData) -> Vec<(Bytes, f64)> {
    let mut diffs: Vec<(Bytes, f64)> = table
        .rows
        .iter()
        .filter_map(|row| match &row.evidence {
            AlignEvidence::Places(places) => Some((row.align, diff(places)?)),
            AlignEvidence::Printed { .. } => None,
        })
        .collect();
    diffs.sort_by_key(|(align, _)| *align);
    diffs
}

fn diff(places: &[Straddle]) -> Option<f64> {
    let mean = |role: fn(&Straddle) -> &[Nanos]| {
        let least: Vec<f64> = places.iter().filter_map(|place| role(place).iter().min()).map(|t| t.as_f64()).collect();
        (!least.is_empty()).then(|| least.iter().sum::<f64>() / least.len() as f64)
    };
    Some(mean(|place| &place.on)? - (mean(|place| &place.pre)? + mean(|place| &place.post)?) / 2.0)
}

/// Number of units, and the rate at the smallest block.
type Rates = Vec<(u32, Bytes, f64)>;

/// How many units someone goes up to.
#[derive(Clone, Copy, Debug)]
enum Rounds {
    /// Until the rate falls, and so many more; or, where it does not, up to `most` and so many more.
    UntilItFalls {
        /// Where none falls.
        most: u32,
        /// Further ones.
        more: u32,
    },
    /// This many, whatever shows.
    Fixed(u32),
}

impl Rounds {
    fn last(self) -> u32 {
        match self {
            Rounds::UntilItFalls { most, more } => most + more,
            Rounds::Fixed(last) => last,
        }
        .min(MOST_UNITS)
    }

    fn end_at(self, count: u32, rates: &Rates) -> bool {
        match self {
            Rounds::UntilItFalls { more, .. } => limit(rates).value().is_some_and(|seen| count > seen + more),
            Rounds::Fixed(_) => false,
        }
    }
}

fn open_au<T: Target>(bench: &mut Bench<'_, T>, erase: Bytes, order: Order, rounds: Rounds) -> Result<Rates, NoResult> {
    let block = classic::BLOCK.max(erase / BLOCKS_PER_UNIT);
    let mut rates = Vec::new();
    for count in 1..=rounds.last() {
        let mut plan = classic::open_au(count, order);
        (plan.erase, plan.block) = (erase, block);
        let Some(Data::OpenUnits(table)) = bench.run(&Experiment::OpenAu(plan))? else { break };
        if let Some(rate) = table.rows.last().and_then(row_rate) {
            rates.push((count, block, rate));
        }
        if rounds.end_at(count, &rates) {
            break;
        }
    }
    Ok(rates)
}

fn row_rate(row: &OpenUnitsRow) -> Option<f64> {
    rate(row.block, &row.rate)
}

fn rate(block: Bytes, evidence: &RateEvidence) -> Option<f64> {
    let RateEvidence::Times(times) = evidence else { return None };
    let time = Nanos(times.iter().map(|time| time.get()).sum());
    ByteRate::of(block * times.len() as u64, time).map(ByteRate::get)
}

/// The first number of units at which the rate halves is one too many.
fn limit(rates: &Rates) -> Estimate<u32> {
    let cliff = rates.windows(2).find(|pair| pair[1].2 * 2.0 < pair[0].2).map(|pair| pair[0].0);
    match (cliff, rates.last()) {
        (Some(limit), _) => value(Some(limit)),
        (None, Some((count, ..))) => Estimate::at_least(*count, 0.5, "no cliff", &[]),
        (None, None) => value(None),
    }
}

fn penalty(linear: &Rates, random: &Rates) -> Option<Penalty> {
    let ((_, block, in_order), (.., at_random)) = (*linear.first()?, *random.first()?);
    let (in_order, random) = (ByteRate(in_order), ByteRate(at_random));
    Some(Penalty { ratio: in_order.0 / random.0, block, in_order, random })
}

/// Units whose rate with blocks of 128 KiB and more is off that of the others; from the first to the last in a row.
fn fat<T: Target>(bench: &mut Bench<'_, T>, erase: Bytes) -> Result<Option<FastArea>, NoResult> {
    let mut plan = classic::fat(Order::InOrder);
    (plan.erase, plan.block) = (erase, Bytes::kib(128).min(erase));
    let Some(Data::Fat(table)) = bench.run(&Experiment::Fat(plan))? else { return Ok(None) };
    let rates: Vec<f64> = (0..plan.count as usize)
        .filter_map(|unit| {
            let rows = table.rows.iter().filter_map(|row| rate(row.block, row.units.get(unit)?));
            median(&rows.collect::<Vec<f64>>())
        })
        .collect();
    let Some(usual) = median(&rates) else { return Ok(None) };
    let kind_of = |rate: f64| match rate / usual {
        ratio if ratio > AREA_CONTRAST => AreaKind::Faster,
        ratio if ratio < 1.0 / AREA_CONTRAST => AreaKind::Slower,
        _ => AreaKind::None,
    };
    let Some(first) = rates.iter().position(|rate| kind_of(*rate) != AreaKind::None) else {
        return Ok(Some(FastArea { first: Bytes::ZERO, end: Bytes::ZERO, kind: AreaKind::None, ratio: 1.0 }));
    };
    let kind = kind_of(rates[first]);
    let units = rates[first..].iter().take_while(|rate| kind_of(**rate) == kind).count();
    let (first, units) = (first as u64, units as u64);
    Ok(Some(FastArea {
        first: erase * first,
        end: erase * (first + units),
        kind,
        ratio: rates[first as usize] / usual,
    }))
}

fn value<T>(value: Option<T>) -> Estimate<T> {
    match value {
        Some(value) => Estimate::known(value, 0.5, "by rule of thumb", &[]),
        None => Estimate::not_measured(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_jump_within_its_range_is_taken() {
        let diffs: Vec<(Bytes, f64)> =
            [(8, 5.0), (16, 60.0), (32, 61.0), (2048, 62.0), (4096, 160.0), (8192, 158.0), (262_144, 400.0)]
                .map(|(kib, diff)| (Bytes::kib(kib), diff))
                .to_vec();
        assert_eq!(largest_jump(&diffs, LEAST_UNIT, MOST_UNIT), Some(Bytes::mib(4)));
        assert_eq!(largest_jump(&diffs, Bytes::ZERO, MOST_PAGE), Some(Bytes::kib(16)));
        assert_eq!(largest_jump(&diffs[4..6], LEAST_UNIT, MOST_UNIT), None, "a fall is no jump");
    }

    #[test]
    fn who_sees_a_fall_stops_or_looks_once_more() {
        let rates: Rates =
            [10.0, 9.8, 3.0, 2.9].iter().zip(1..).map(|(rate, at)| (at, Bytes::kib(16), *rate)).collect();
        let ends = |rounds: Rounds| (1..=4).find(|at| rounds.end_at(*at, &rates[..*at as usize].to_vec()));
        assert_eq!(ends(Rounds::UntilItFalls { most: 8, more: 0 }), Some(3));
        assert_eq!(ends(Rounds::UntilItFalls { most: 8, more: 1 }), Some(4));
        assert_eq!(ends(Rounds::Fixed(3)), None);
        assert_eq!(Rounds::UntilItFalls { most: 16, more: 1 }.last(), MOST_UNITS);
    }

    #[test]
    fn the_first_count_whose_rate_halves_is_one_too_many() {
        let rates = |rates: &[f64]| -> Rates {
            rates.iter().zip(1..).map(|(rate, count)| (count, Bytes::kib(16), *rate)).collect()
        };
        assert_eq!(limit(&rates(&[10.0, 9.8, 9.9, 3.0, 2.9])).value(), Some(3));
        assert_eq!(limit(&rates(&[10.0, 7.0, 5.0])).least(), Some(3));
        assert_eq!(limit(&rates(&[10.0, 7.0, 5.0])).value(), None);
        assert!(limit(&rates(&[])).is_unknown());
    }
}
