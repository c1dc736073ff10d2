//! However a run ends, what was measured until then comes back.

use crate::common::{one_of_each, run_reported};
use flashscope_device::{DeviceError, Target, WriteGrant};
use flashscope_model::Data;
use flashscope_model::Run;
use flashscope_model::observation::{AlignEvidence, IntervalEvidence, RateEvidence, Straddle};
use flashscope_model::plan::{Floor, Purpose, Throughput};
use flashscope_model::{Direction, ExperimentName, Order};
use flashscope_model::{Experiment, StopReason};
use flashscope_probe::{Context, HOPELESS_FAILURES, KEPT_FAILURES, Observer, ProbeError, Progress, cost, run};
use flashscope_testkit::{Failing, Recording, ScriptedTarget, Vanishing};
use flashscope_units::{Bytes, Nanos};
use std::ops::ControlFlow;

const CAPACITY: Bytes = Bytes::gib(1);

fn slow() -> ScriptedTarget {
    ScriptedTarget::steady(CAPACITY, Nanos::millis(60))
}

/// Samples in the figures of a run.
fn samples(run: &Run) -> u64 {
    let straddles = |places: &[Straddle]| -> usize {
        places.iter().map(|place| place.pre.len() + place.on.len() + place.post.len()).sum()
    };
    let rate = |rate: &RateEvidence| match rate {
        RateEvidence::Times(times) => times.len(),
        RateEvidence::Printed(_) => panic!("a live run holds samples"),
    };
    let count: usize = match &run.data {
        Data::Floor(data) => data.times.len(),
        Data::Survey(data) => data.places.iter().map(|place| place.times.len()).sum(),
        Data::Align(data) => data
            .rows
            .iter()
            .map(|row| match &row.evidence {
                AlignEvidence::Places(places) => straddles(places),
                AlignEvidence::Printed { .. } => panic!("a live run holds samples"),
            })
            .sum(),
        Data::Boundaries(data) => data.candidates.iter().map(|candidate| straddles(&candidate.places)).sum(),
        Data::OpenUnits(data) => data.rows.iter().map(|row| rate(&row.rate)).sum(),
        Data::Fat(data) => data.rows.iter().flat_map(|row| &row.units).map(rate).sum(),
        Data::FastArea(data) => data.suspects.iter().chain(&data.controls).map(|unit| unit.times.len()).sum(),
        Data::Scatter(data) => data.places.iter().map(|place| place.times.len()).sum(),
        Data::Interval(data) => data
            .rows
            .iter()
            .map(|row| match &row.evidence {
                IntervalEvidence::Times(times) => times.len(),
                IntervalEvidence::Printed { .. } => panic!("a live run holds samples"),
            })
            .sum(),
        Data::Program(data) => data.rows.iter().flat_map(|row| &row.columns).map(rate).sum(),
        Data::Throughput(data) => data.times.len(),
        Data::SlcCache(data) => data.bursts.iter().map(|burst| burst.times.len()).sum(),
        Data::Slide(data) => data.places.iter().map(|place| place.times.len()).sum(),
        Data::Overwrite(data) => data.in_order.len() + data.random.len(),
        Data::Patterns(data) => {
            data.patterns.iter().flat_map(|seen| seen.times.iter().chain([&seen.flushes])).map(Vec::len).sum()
        }
        Data::Cells(data) => data.places.iter().map(|place| place.times.len()).sum(),
        Data::Buffer(_) | Data::ReadCache(_) | Data::Parallel(_) | Data::MapReach(_) | Data::Discard(_) => {
            panic!("not every request of these leaves a sample")
        }
    };
    count as u64
}

#[test]
fn a_device_that_vanishes_leaves_its_samples() {
    for error in [DeviceError::Vanished("x".into()), DeviceError::Hung("x".into())] {
        for experiment in one_of_each() {
            let total = cost(&experiment, slow().facts()).requests;
            for served in [0, 1, total / 2, total - 1] {
                let mut target = Vanishing::with_error(slow(), served, error.clone());
                let (result, _) = run_reported(&experiment, &mut target, 1, Bytes::gib(1));
                let Err(ProbeError::Device { error: got, partial }) = result else { panic!("{}", experiment.name()) };
                assert_eq!(got, error);
                assert!(!partial.complete);
                assert_eq!(samples(&partial), served, "{}", experiment.name());
                assert_eq!(partial.spent.time, Nanos::millis(60 * served));
            }
        }
    }
}

struct StopAfter {
    requests: u64,
    seen: Vec<Progress>,
}

impl Observer for StopAfter {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        self.seen.push(progress);
        if progress.done >= self.requests { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn a_stopped_run_keeps_every_sample() {
    for experiment in one_of_each() {
        let mut target = Recording::new(slow());
        let total = cost(&experiment, target.facts()).requests;
        let mut grant = WriteGrant::simulated(target.facts(), Bytes::gib(1)).unwrap();
        let mut observer = StopAfter { requests: total / 2, seen: Vec::new() };
        let mut context = Context::writing(&mut grant, 1, &mut observer);
        let result = run(&experiment, &mut target, &mut context).unwrap();
        assert_eq!(context.report.stop, Some(StopReason::Interrupted));
        assert!(!result.complete);
        assert_eq!(samples(&result), total / 2, "{}", experiment.name());
        assert_eq!(target.log().len() as u64, total / 2);
        let expect: Vec<(u64, u64)> = (1..=total / 2).map(|done| (done, total)).collect();
        let seen: Vec<(u64, u64)> = observer.seen.iter().map(|progress| (progress.done, progress.total)).collect();
        assert_eq!(seen, expect, "{}", experiment.name());
        assert!(observer.seen.windows(2).all(|pair| pair[0].elapsed < pair[1].elapsed), "{}", experiment.name());
    }
}

#[test]
fn a_stop_after_the_last_request_spoils_nothing() {
    let experiment = Experiment::Floor(Floor { block: Bytes(512), at: Bytes::ZERO, count: 5 });
    let mut observer = StopAfter { requests: 5, seen: Vec::new() };
    let mut context = Context::reading(1, &mut observer);
    assert!(run(&experiment, &mut slow(), &mut context).unwrap().complete);
    assert_eq!(context.report.stop, None);
}

/// Fast requests are not reported one by one: about one call per 50 ms of the target's time, and one at the end.
#[test]
fn the_observer_does_not_slow_a_fast_device_down() {
    let experiment = Experiment::Floor(Floor { block: Bytes(512), at: Bytes::ZERO, count: 2500 });
    let mut observer = StopAfter { requests: u64::MAX, seen: Vec::new() };
    let mut context = Context::reading(1, &mut observer);
    run(&experiment, &mut ScriptedTarget::steady(CAPACITY, Nanos::micros(100)), &mut context).unwrap();
    let done: Vec<u64> = observer.seen.iter().map(|progress| progress.done).collect();
    assert_eq!(done, [500, 1000, 1500, 2000, 2500]);
}

#[test]
fn the_budget_is_never_overrun() {
    for experiment in one_of_each() {
        let mut target = Recording::new(slow());
        let told = cost(&experiment, target.facts());
        if told.written == Bytes::ZERO {
            continue;
        }
        for budget in [Bytes::ZERO, Bytes(told.written.get() / 2), told.written - Bytes(1)] {
            let before = (target.written(), target.log().len());
            let (result, report) = run_reported(&experiment, &mut target, 1, budget);
            let result = result.unwrap();
            let written = target.written() - before.0;
            assert!(written <= budget, "{}", experiment.name());
            assert!(!result.complete);
            assert_eq!((report.stop, result.spent.written), (Some(StopReason::BudgetSpent), written));
            assert_eq!(samples(&result), (target.log().len() - before.1) as u64, "{}", experiment.name());
        }
    }
}

#[test]
fn failures_are_kept_and_their_samples_left_out() {
    for experiment in one_of_each() {
        // Fails whatever touches every third mebibyte.
        let bad = (0..342).map(|i| (3 * i) << 20..(3 * i + 1) << 20);
        let mut target = Failing::new(Recording::new(slow()), bad, "EIO: input/output error");
        let (result, report) = run_reported(&experiment, &mut target, 1, Bytes::gib(1));
        let result = result.unwrap();
        let asked = target.inner().log().len() as u64;
        assert_eq!(samples(&result) + report.failed, asked, "{}", experiment.name());
        assert_eq!(result.failures.len() as u64, report.failed.min(KEPT_FAILURES as u64));
        assert!(result.failures.iter().all(|failure| failure.reason.starts_with("EIO: input/output error")));
        let some = result.failures.first();
        let direction = if cost(&experiment, target.facts()).read == Bytes::ZERO { "Write" } else { "Read" };
        // Those of both directions begin with either.
        let is_mixed = matches!(experiment.name(), ExperimentName::Program | ExperimentName::Patterns);
        assert!(some.is_none_or(|failure| is_mixed || format!("{:?}", failure.direction) == direction));
        assert_eq!(result.complete, report.stop.is_none());
    }
}

#[test]
fn all_failures_are_counted_and_a_hopeless_run_ends() {
    let experiment = Experiment::Floor(Floor { block: Bytes(512), at: Bytes::ZERO, count: 1000 });
    let mut target = Failing::new(Recording::new(slow()), Some(0..512), "EIO");
    let (result, report) = run_reported(&experiment, &mut target, 1, Bytes::ZERO);
    let result = result.unwrap();
    assert_eq!(report.stop, Some(StopReason::Failing));
    assert_eq!(report.failed, HOPELESS_FAILURES);
    assert_eq!(target.inner().log().len() as u64, HOPELESS_FAILURES);
    assert_eq!(result.failures.len(), KEPT_FAILURES);
    assert_eq!(result.failures[KEPT_FAILURES - 2].reason, "EIO");
    assert_eq!(result.failures[KEPT_FAILURES - 1].reason, "EIO (and 100 more requests failed)");
    assert!(!result.complete && samples(&result) == 0 && result.spent.read == Bytes::ZERO);
}

#[test]
fn a_device_that_fails_every_other_time_is_not_given_up() {
    let block = Bytes::kib(4);
    let experiment = Experiment::Throughput(Throughput {
        direction: Direction::Read,
        order: Order::InOrder,
        block,
        start: Bytes::ZERO,
        length: block * 2,
        requests: 1000,
        most_time: None,
        purpose: Purpose::Performance,
    });
    let mut target = Failing::new(slow(), Some(0..4096), "EIO");
    let (result, report) = run_reported(&experiment, &mut target, 1, Bytes::ZERO);
    assert!(result.unwrap().complete);
    assert_eq!(report.failed, 500);
}
