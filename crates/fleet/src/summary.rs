//! A fleet counted up.

use crate::Fleet;
use crate::calibration::calibration;
use crate::run::{DeviceRun, Scored};
use crate::score::Parameter;
use flashscope_model::fleet::{Calibration, CostSummary, Coverage, DeviceCost, Percentiles, Row, Verdict};
use flashscope_stats::location::quantile;
use flashscope_units::Nanos;

/// Whose findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// `inspect`.
    Inspect,
    /// The by-hand procedure, read by rule of thumb.
    Naive,
    /// `infer` on the log of that procedure.
    Log,
}

impl Reader {
    fn scored(self, run: &DeviceRun) -> &[Scored] {
        match self {
            Reader::Inspect => &run.findings,
            Reader::Naive => &run.naive,
            Reader::Log => &run.log,
        }
    }
}

/// Confidence from which on a claim is called sure.
pub(crate) const SURE: f64 = 0.99;

fn count(row: &mut Row, scored: &Scored) {
    let judged = &scored.judged;
    let sure = judged.claim.is_some_and(|(stated, _)| stated >= SURE);
    if judged.verdict == Verdict::Unscored {
        row.unscored += 1;
        return;
    }
    row.devices += 1;
    row.told += u32::from(scored.can_be_told);
    row.unfound += u32::from(scored.judged.declared && !scored.can_be_told);
    row.false_alarms += u32::from(judged.false_alarm);
    match (judged.verdict, scored.can_be_told) {
        (Verdict::Exact, true) => row.exact += 1,
        (Verdict::Exact, false) => row.exact_beyond += 1,
        (Verdict::OneStep, _) => row.one_step += 1,
        (Verdict::Wrong, _) => row.wrong += 1,
        (Verdict::Silent, true) => row.missed += 1,
        (Verdict::Silent, false) => row.silent += 1,
        (Verdict::Unscored, _) => {}
    }
    row.wrong_sure += u32::from(sure && matches!(judged.verdict, Verdict::OneStep | Verdict::Wrong));
}

/// An answer that is wrong, or missing where it can be told.
#[derive(Clone, Debug, PartialEq)]
pub struct WorstCase {
    /// The device.
    pub index: u32,
    /// Seed of its run.
    pub seed: u64,
    /// What the device is.
    pub title: String,
    /// The answer.
    pub scored: Scored,
}

/// A device that took long.
#[derive(Clone, Debug, PartialEq)]
pub struct Slow {
    /// The device.
    pub index: u32,
    /// Seed of its run.
    pub seed: u64,
    /// What the device is.
    pub title: String,
    /// Processor time.
    pub work: Nanos,
}

/// Number of the slowest devices that are named.
const SLOWEST: usize = 10;

/// A fleet counted up.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Findings of `inspect`, by parameter.
    pub inspect: Vec<(Parameter, Row)>,
    /// Those of the naive reader; no devices where he did not read.
    pub naive: Vec<(Parameter, Row)>,
    /// Those of `infer` on the same tables as flashbench prints them; no devices where there are none.
    pub log: Vec<(Parameter, Row)>,
    /// Confidence of `infer` on these logs, over all parameters.
    pub log_calibration: Calibration,
    /// Confidence over all parameters.
    pub calibration: Calibration,
    /// Confidence by parameter.
    pub calibration_by: Vec<(Parameter, Calibration)>,
    /// Intervals over all devices.
    pub coverage: Coverage,
    /// All of `inspect`.
    pub cost: CostSummary,
    /// Its geometry alone.
    pub geometry_cost: CostSummary,
    /// The by-hand procedure; absent where it was not done.
    pub by_hand_cost: Option<CostSummary>,
    /// Wrong answers, surest first, then missing ones.
    pub worst: Vec<WorstCase>,
    /// Devices without a result, with the reason.
    pub failures: Vec<(u32, String)>,
    /// What the devices took of our processors, in seconds.
    pub work_s: Percentiles,
    /// The devices that took the most of it, the one that took most first.
    pub slowest: Vec<Slow>,
    /// Runs of `inspect` that did not come to their end.
    pub cut_short: u32,
}

impl Summary {
    /// Counts a fleet up.
    pub fn of(fleet: &Fleet) -> Summary {
        let done: Vec<&DeviceRun> = fleet.devices.iter().filter(|run| run.failure.is_none()).collect();
        let claims = |reader: Reader, parameter: Option<Parameter>| {
            let all = done.iter().flat_map(move |run| reader.scored(run)).map(|scored| &scored.judged);
            all.filter(move |judged| parameter.is_none_or(|one| judged.parameter == one))
                .filter_map(|judged| judged.claim)
        };
        let by_hand: Vec<DeviceCost> = done.iter().filter_map(|run| run.by_hand_cost).collect();
        Summary {
            inspect: rows(&done, Reader::Inspect),
            naive: rows(&done, Reader::Naive),
            log: rows(&done, Reader::Log),
            log_calibration: calibration(claims(Reader::Log, None)),
            calibration: calibration(claims(Reader::Inspect, None)),
            calibration_by: Parameter::all()
                .into_iter()
                .map(|one| (one, calibration(claims(Reader::Inspect, Some(one)))))
                .collect(),
            coverage: done.iter().fold(Coverage::default(), |sum, run| Coverage {
                intervals: sum.intervals + run.coverage.intervals,
                hold: sum.hold + run.coverage.hold,
            }),
            cost: costs(&done.iter().map(|run| run.cost).collect::<Vec<DeviceCost>>()),
            geometry_cost: costs(&done.iter().map(|run| run.geometry_cost).collect::<Vec<DeviceCost>>()),
            by_hand_cost: (!by_hand.is_empty()).then(|| costs(&by_hand)),
            worst: worst(&done),
            failures: fleet.devices.iter().filter_map(|run| Some((run.index, run.failure.clone()?))).collect(),
            work_s: percentiles(&fleet.devices.iter().map(|run| run.work.as_secs_f64()).collect::<Vec<f64>>()),
            slowest: slowest(&fleet.devices),
            cut_short: done.iter().filter(|run| !run.complete).count() as u32,
        }
    }

    /// The row of a parameter.
    pub fn row(&self, reader: Reader, parameter: Parameter) -> Row {
        let rows = match reader {
            Reader::Inspect => &self.inspect,
            Reader::Naive => &self.naive,
            Reader::Log => &self.log,
        };
        rows.iter().find(|(one, _)| *one == parameter).map(|(_, row)| *row).unwrap_or_default()
    }
}

fn rows(done: &[&DeviceRun], reader: Reader) -> Vec<(Parameter, Row)> {
    let row = |parameter: Parameter| {
        let mut row = Row::default();
        for run in done {
            reader
                .scored(run)
                .iter()
                .filter(|scored| scored.judged.parameter == parameter)
                .for_each(|one| count(&mut row, one));
        }
        (parameter, row)
    };
    Parameter::all().into_iter().map(row).collect()
}

fn costs(costs: &[DeviceCost]) -> CostSummary {
    let over = |figure: fn(&DeviceCost) -> f64| percentiles(&costs.iter().map(figure).collect::<Vec<f64>>());
    CostSummary {
        written_bytes: over(|cost| cost.written.as_f64()),
        erases: over(|cost| cost.erases as f64),
        programmed_bytes: over(|cost| cost.programmed.as_f64()),
        read_bytes: over(|cost| cost.read.as_f64()),
        time_s: over(|cost| cost.time.as_secs_f64()),
    }
}

fn percentiles(figures: &[f64]) -> Percentiles {
    let at = |p: f64| quantile(figures, p).unwrap_or_default();
    Percentiles { p50: at(0.5), p95: at(0.95), total: figures.iter().sum() }
}

fn slowest(devices: &[DeviceRun]) -> Vec<Slow> {
    let mut all: Vec<&DeviceRun> = devices.iter().collect();
    all.sort_by_key(|run| std::cmp::Reverse(run.work));
    let named = all.into_iter().take(SLOWEST);
    named.map(|run| Slow { index: run.index, seed: run.seed, title: run.title.clone(), work: run.work }).collect()
}

fn worst(done: &[&DeviceRun]) -> Vec<WorstCase> {
    let bad = |scored: &Scored| match scored.judged.verdict {
        Verdict::Wrong => Some((0, scored.judged.claim.map_or(0.0, |(stated, _)| stated))),
        Verdict::OneStep => Some((1, scored.judged.claim.map_or(0.0, |(stated, _)| stated))),
        Verdict::Silent if scored.can_be_told => Some((2, 0.0)),
        _ => None,
    };
    let mut cases: Vec<((u8, f64), WorstCase)> = done
        .iter()
        .flat_map(|run| run.findings.iter().map(move |scored| (run, scored)))
        .filter_map(|(run, scored)| {
            let (index, seed, title) = (run.index, run.seed, run.title.clone());
            Some((bad(scored)?, WorstCase { index, seed, title, scored: scored.clone() }))
        })
        .collect();
    cases.sort_by(|(a, one), (b, other)| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(one.index.cmp(&other.index)));
    cases.into_iter().map(|(_, case)| case).collect()
}
