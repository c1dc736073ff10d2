//! Whether `inspect` and `bench` say the same of how fast a device is.
//!
//! Both state a long-run rate with a 95 % interval ([`flashscope_stats::sustained`]). A cell of the performance table agrees where
//! its interval and that of `bench` overlap, [`MARGIN`] allowed for: on a fresh copy of the device, over what `bench` takes where
//! nothing is said (all of it, for [`SHORT`]), with writes as durable as those of the table. What one of the two has not reached yet
//! the other may have: a log that was not full after ten seconds, a unit that was left open. So where they differ, `bench` goes on
//! for [`LONG`], and its last rate may agree with the table, or the rate before a change of one with the rate of the other. And a
//! device may not be alike all over: an area at its start differs, half of a fake is not there. So where they still differ, `bench`
//! goes to the place that `inspect` measured.

use crate::{Nobody, jobs};
use flashscope_device::{Target, WriteGrant};
use flashscope_load::job::{Job, Mix, Mode, Pattern, Sizes, Span, Stop};
use flashscope_model::bench::LongRun;
use flashscope_model::finding::PerformanceCell;
use flashscope_model::plan::{Budget, Purpose};
use flashscope_model::{Data, Direction, Order, StopReason};
use flashscope_session::{Options, SessionReport, inspect, usual_write_budget};
use flashscope_sim::SimTarget;
use flashscope_units::{Bytes, Nanos};
use std::fmt;

/// Rates within this factor are the same: what differs less differs between two runs of either.
pub const MARGIN: f64 = 1.05;

/// How long `bench` runs at random where nothing is said.
pub const SHORT: Nanos = flashscope_load::job::RANDOM_TIME;

/// How long it runs where ten seconds showed another state.
pub const LONG: Nanos = Nanos::secs(60);

/// A cell of the performance table beside `bench`.
#[derive(Clone, Debug)]
pub struct Compared {
    /// What `inspect` says.
    pub cell: PerformanceCell,
    /// What `bench` says, the short run first.
    pub bench: Vec<LongRun>,
    /// Whether they agree.
    pub agrees: bool,
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PerformanceCell { direction, order, block, mean_rate, long_run, .. } = &self.cell;
        write!(f, "{direction:?} {order:?} {block}: inspect {mean_rate}")?;
        if let Some(run) = long_run {
            write!(f, " ({} to {})", run.low, run.high)?;
        }
        for run in &self.bench {
            write!(f, ", bench {:.4} MB/s ({:.4} to {:.4})", run.bytes_per_s / 1e6, run.low / 1e6, run.high / 1e6)?;
        }
        Ok(())
    }
}

/// What `inspect` found on a device, and its speeds beside `bench`.
#[derive(Clone, Debug)]
pub struct Looked {
    /// The run of `inspect`.
    pub report: SessionReport,
    /// Every cell of its performance table.
    pub cells: Vec<Compared>,
}

/// Inspects a device, and sets every cell that was measured beside `bench`. `open` gives a fresh copy of the device for a seed.
///
/// # Errors
/// Where `inspect` did not come to its end, or `bench` cannot be run, with the reason.
pub fn speeds(open: &dyn Fn(u64) -> Result<SimTarget, String>, seed: u64) -> Result<Looked, String> {
    let mut target = open(seed)?;
    let write = usual_write_budget(target.facts().capacity);
    let mut grant = WriteGrant::simulated(target.facts(), write).ok_or("no grant for a simulated device")?;
    let options = Options { seed, budget: Budget { write, time: None } };
    let report = inspect(&mut target, Some(&mut grant), options, &mut Nobody);
    if report.stop != StopReason::Complete {
        return Err(format!("inspect did not come to its end: {:?}", report.stop));
    }
    let cells = report.findings.performance.iter().map(|cell| compared(cell, &report, open, &target));
    Ok(Looked { cells: cells.collect::<Result<_, String>>()?, report })
}

fn compared(
    cell: &PerformanceCell,
    report: &SessionReport,
    open: &dyn Fn(u64) -> Result<SimTarget, String>,
    inspected: &SimTarget,
) -> Result<Compared, String> {
    // Of a device that was blank only what inspect filled holds data: bench runs there, as whoever read the table would.
    let filled = report.observations.runs.iter().find_map(|run| match &run.data {
        Data::Throughput(data) if data.purpose == Purpose::Fill => Some((data.start, data.length)),
        _ => None,
    });
    let mut found = Compared { cell: cell.clone(), bench: Vec::new(), agrees: false };
    for (part, time) in [(filled, SHORT), (filled, LONG), (place(cell, report), LONG)] {
        let mut target = if filled.is_some() { inspected.clone() } else { open(report.plan.seed ^ 0xbe)? };
        let Some(run) = bench(&mut target, cell, part, time)? else { continue };
        found.agrees = agree(cell, &run);
        found.bench.push(run);
        if found.agrees {
            break;
        }
    }
    Ok(found)
}

/// Where `inspect` measured a cell.
fn place(cell: &PerformanceCell, report: &SessionReport) -> Option<(Bytes, Bytes)> {
    let runs = report.observations.runs.iter().rev();
    runs.filter_map(|run| match &run.data {
        Data::Throughput(data) if data.purpose == Purpose::Performance => Some(data),
        _ => None,
    })
    .find(|data| (data.direction, data.order, data.block) == (cell.direction, cell.order, cell.block))
    .map(|data| (data.start, data.length))
}

/// Whether two figures with their intervals are of one rate.
fn agree(cell: &PerformanceCell, bench: &LongRun) -> bool {
    // Of requests too few for an interval the rate itself is what is claimed.
    let Some(inspect) = &cell.long_run else {
        let rate = cell.mean_rate.get();
        return rate <= bench.high * MARGIN && bench.low <= rate * MARGIN;
    };
    let overlap = |one: (f64, f64), other: (f64, f64)| one.0 <= other.1 * MARGIN && other.0 <= one.1 * MARGIN;
    let table = (inspect.low.get(), inspect.high.get());
    let run = (bench.low, bench.high);
    let first = inspect.first.map(|(_, rate)| (rate.get(), rate.get()));
    let before = bench.first.map(|first| (first.bytes_per_s, first.bytes_per_s));
    overlap(table, run)
        || before.is_some_and(|before| overlap(table, before))
        || first.is_some_and(|first| overlap(first, run))
}

/// What `bench` says of the same requests.
fn bench(
    target: &mut SimTarget,
    cell: &PerformanceCell,
    part: Option<(Bytes, Bytes)>,
    time: Nanos,
) -> Result<Option<LongRun>, String> {
    let mut job = Job::new("bench");
    job.mix = if cell.direction == Direction::Read { Mix::READ } else { Mix::WRITE };
    job.pattern = if cell.order == Order::InOrder { Pattern::Sequential } else { Pattern::Random };
    (job.read_sizes, job.write_sizes) = (Sizes::one(cell.block), Sizes::one(cell.block));
    job.mode = if cell.direction == Direction::Write { Mode::Dsync } else { Mode::Direct };
    job.stop = Stop { time: Some(time), ..Stop::default() };
    if let Some((start, length)) = part {
        // Another device, which must not agree, may be smaller.
        let there = target.facts().capacity.saturating_sub(start);
        job.span = Span { start, length: Some(length.min(there).align_down(cell.block)) };
    }
    Ok(jobs::run(target, &job, |_, _| false)?.long_run)
}
