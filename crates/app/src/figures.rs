//! What runs come to: response times per operation, run times per app and case, and the waits that people notice.

use flashscope_model::app::{
    AppFigures, AppRun, Chunks, Given, OperationFigures, OperationRun, Spread, Stall, Underruns,
};
use flashscope_model::trace::{ChunkClass, TraceOp};
use flashscope_stats::location::{median, quantile};
use flashscope_stats::test::Summary;
use flashscope_units::{ByteRate, Bytes, Nanos};

/// Stalls that are listed.
const STALLS: usize = 20;
/// A percentile is given where at least two performances lie beyond it.
const BEYOND: f64 = 2.0;

/// What these runs come to, one entry per app and case, in the order in which they were first played. A run that ended early
/// counts for its operations but not for the run time.
pub fn figures(runs: &[AppRun]) -> Vec<AppFigures> {
    let mut groups: Vec<Vec<&AppRun>> = Vec::new();
    for run in runs {
        match groups.iter_mut().find(|group| group[0].app == run.app && group[0].place == run.place) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups.iter().map(|group| of_group(group)).collect()
}

fn of_group(runs: &[&AppRun]) -> AppFigures {
    let whole: Vec<&AppRun> = runs.iter().copied().filter(|run| run.ended.is_none()).collect();
    let times: Vec<f64> = whole.iter().map(|run| run.run_time().as_f64()).collect();
    let total: f64 = times.iter().sum();
    let share = |part: f64| (total > 0.0).then(|| part / total);
    let busy: Option<f64> = whole.iter().map(|run| Some(run.device?.outstanding().as_f64())).sum();
    let own: f64 = whole.iter().map(|run| run.own.as_f64()).sum();
    let operations = runs[0].operations.iter().filter_map(|operation| of_operation(&operation.name, runs));
    AppFigures {
        app: runs[0].app.clone(),
        case: runs[0].case.clone(),
        place: runs[0].place,
        runs: whole.len() as u32,
        run_time: spread(&times),
        // The kernel counts whole milliseconds, so that a busy device seems a little busier than the run was long.
        device_share: busy.and_then(share).map(|share| share.min(1.0)),
        own_share: share(own),
        chunks: chunks(&whole, Nanos(total as u64)),
        operations: operations.collect(),
        stalls: stalls(runs),
    }
}

/// What the device was given in this time, by size; nothing where it was not written down in every run.
fn chunks(runs: &[&AppRun], time: Nanos) -> Vec<Chunks> {
    let given: Option<Vec<&Given>> = runs.iter().map(|run| run.given.as_ref()).collect();
    let given = given.unwrap_or_default();
    let ways = [TraceOp::Read, TraceOp::Write];
    let rows = ways.into_iter().flat_map(|op| ChunkClass::ALL.into_iter().map(move |class| (op, class)));
    let row = |(op, class): (TraceOp, ChunkClass)| {
        let alike = given.iter().flat_map(|given| &given.classes).filter(|one| one.op == op && one.class == class);
        let (requests, bytes) =
            alike.fold((0, Bytes::ZERO), |(requests, bytes), one| (requests + one.requests, bytes + one.bytes));
        let iops = requests as f64 / time.as_secs_f64();
        let rate = ByteRate::of(bytes, time)?;
        (requests > 0).then_some(Chunks { op, class, requests, bytes, iops, rate })
    };
    rows.filter_map(row).collect()
}

/// Mean, deviation and interval of times in nanoseconds; `None` of none.
pub fn spread(times: &[f64]) -> Option<Spread> {
    let nanos = |time: f64| Nanos(time.max(0.0).round() as u64);
    if let [only] = times {
        return Some(Spread { mean: nanos(*only), deviation: None, interval: None });
    }
    let summary = Summary::of(times).ok()?;
    // Of two or three times that scatter it would reach below nothing, and say nothing.
    let interval = summary.interval(0.95).ok().filter(|interval| interval.low > 0.0);
    Some(Spread {
        mean: nanos(summary.mean),
        deviation: Some(nanos(summary.deviation)),
        interval: interval.map(|interval| (nanos(interval.low), nanos(interval.high))),
    })
}

fn of_name<'a>(name: &'a str, runs: &'a [&AppRun]) -> impl Iterator<Item = (&'a AppRun, &'a OperationRun)> {
    let each = move |run: &'a AppRun| Some((run, run.operations.iter().find(|operation| operation.name == name)?));
    runs.iter().copied().filter_map(each)
}

fn of_operation(name: &str, runs: &[&AppRun]) -> Option<OperationFigures> {
    let times: Vec<f64> =
        of_name(name, runs).flat_map(|(_, operation)| operation.times.iter().map(|time| time.as_f64())).collect();
    let time = spread(&times)?;
    let at = |p: f64| {
        let is_known = times.len() as f64 * (1.0 - p) >= BEYOND;
        quantile(&times, p).filter(|_| is_known).map(|time| Nanos(time as u64))
    };
    let ends = |pick: fn(f64, f64) -> f64| Nanos(times.iter().copied().reduce(pick).unwrap_or_default() as u64);
    let deadlines = of_name(name, runs).filter_map(|(_, operation)| Some((operation.deadline?, operation)));
    let late = deadlines.flat_map(|(deadline, operation)| {
        operation.times.iter().filter(move |time| **time > deadline).map(move |time| *time - deadline)
    });
    let late: Vec<Nanos> = late.collect();
    let is_paced = of_name(name, runs).any(|(_, operation)| operation.deadline.is_some());
    let underruns = is_paced
        .then(|| Underruns { count: late.len() as u64, longest: late.iter().copied().max().unwrap_or(Nanos::ZERO) });
    Some(OperationFigures {
        name: name.to_owned(),
        count: times.len() as u64,
        time,
        min: ends(f64::min),
        median: Nanos(median(&times)? as u64),
        p90: at(0.9),
        p99: at(0.99),
        max: ends(f64::max),
        per_second: (time.mean > Nanos::ZERO).then(|| 1e9 / time.mean.as_f64()),
        underruns,
    })
}

fn stalls(runs: &[&AppRun]) -> Vec<Stall> {
    let mut found = Vec::new();
    for operation in &runs[0].operations {
        let all: Vec<f64> = of_name(&operation.name, runs)
            .flat_map(|(_, other)| other.times.iter().map(|time| time.as_f64()))
            .collect();
        let Some(median) = median(&all) else { continue };
        for (run, operation) in of_name(&operation.name, runs) {
            for (at, time) in operation.starts.iter().zip(&operation.times) {
                let Some(times_median) = Stall::times_median(*time, median) else { continue };
                found.push(Stall {
                    operation: operation.name.clone(),
                    run: run.number,
                    at: *at,
                    time: *time,
                    times_median: times_median as u64,
                });
            }
        }
    }
    found.sort_by_key(|stall| std::cmp::Reverse(stall.time));
    found.truncate(STALLS);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u32, times: &[u64], ended: Option<&str>) -> AppRun {
        let times: Vec<Nanos> = times.iter().map(|time| Nanos::millis(*time)).collect();
        let elapsed = times.iter().copied().sum::<Nanos>() + Nanos::millis(30);
        AppRun {
            app: "a".to_owned(),
            case: "main".to_owned(),
            place: 1,
            number,
            prepared: Nanos::ZERO,
            elapsed,
            thinking: Nanos::millis(20),
            own: Nanos::millis(10),
            settled: Nanos::ZERO,
            device: None,
            given: None,
            operations: vec![OperationRun {
                name: "op".to_owned(),
                thread: "main".to_owned(),
                starts: times.iter().scan(Nanos::ZERO, |at, time| Some(std::mem::replace(at, *at + *time))).collect(),
                times,
                deadline: Some(Nanos::millis(15)),
                ..OperationRun::default()
            }],
            failures: Vec::new(),
            ended: ended.map(str::to_owned),
        }
    }

    #[test]
    fn thinking_and_own_time_are_no_part_of_the_run_time_and_a_run_cut_short_has_none() {
        let times: Vec<u64> = (0..40).map(|at| if at == 7 { 900 } else { 10 }).collect();
        let runs = [run(1, &times, None), run(2, &[10; 40], None), run(3, &[10, 10], Some("no space"))];
        let [figures] = &figures(&runs)[..] else { panic!("one app, one case") };
        let time = figures.run_time.expect("two whole runs");
        assert_eq!((figures.runs, time.mean), (2, Nanos::millis((390 + 900 + 400) / 2)));
        let operation = &figures.operations[0];
        assert_eq!((operation.count, operation.median, operation.max), (82, Nanos::millis(10), Nanos::millis(900)));
        assert!(operation.p90.is_some() && operation.p99.is_none(), "82 have less than two beyond 99 %");
        assert_eq!(operation.underruns, Some(Underruns { count: 1, longest: Nanos::millis(885) }));
        let [stall] = &figures.stalls[..] else { panic!("{:?}", figures.stalls) };
        assert_eq!((stall.run, stall.at, stall.times_median), (1, Nanos::millis(70), 90));
        assert_eq!(figures.own_share, Some(20.0 / 1690.0));
    }

    #[test]
    fn one_time_has_no_spread_and_no_time_nothing() {
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[5.0]), Some(Spread { mean: Nanos(5), deviation: None, interval: None }));
        let far = spread(&[1e9, 2e9]).expect("two");
        assert!(far.deviation.is_some() && far.interval.is_none(), "it would reach below nothing");
        assert!(spread(&[1e9, 1.01e9]).expect("two").interval.is_some());
    }
}
