//! How often a stated 95 % interval holds the truth.
//!
//! The intervals of a run are those of median service times. What such a median really is, is measured on a
//! fresh copy of the device with another seed and many more requests, for reads: a write changes the device.

use flashscope_device::Target;
use flashscope_model::fleet::Coverage;
use flashscope_model::observation::ThroughputData;
use flashscope_model::plan::{Purpose, Throughput};
use flashscope_model::{Data, Direction, Experiment};
use flashscope_probe::{Context, Observer, Progress};
use flashscope_session::SessionReport;
use flashscope_stats::location::median;
use std::ops::ControlFlow;

/// How many times the requests of the run give the truth.
const MORE_REQUESTS: u32 = 12;

/// Fewest requests of an interval that is looked at: fewer make no 95 % interval of a median worth the name.
const LEAST_REQUESTS: usize = 30;

/// The reads of a run against a fresh copy of its device. A run that had to fill the device first is left out.
pub(crate) fn of<T: Target>(report: &SessionReport, mut fresh: T, stop: &dyn Fn() -> bool) -> Coverage {
    let mut coverage = Coverage::default();
    let runs = &report.observations.runs;
    let throughputs = runs.iter().filter_map(|run| match &run.data {
        Data::Throughput(data) => Some(data),
        _ => None,
    });
    if throughputs.clone().any(|data| data.purpose == Purpose::Fill) {
        return coverage;
    }
    let cells = throughputs.filter(|data| {
        data.direction == Direction::Read && data.purpose == Purpose::Performance && data.times.len() >= LEAST_REQUESTS
    });
    for data in cells {
        let stated = report
            .findings
            .performance
            .iter()
            .find(|cell| (cell.direction, cell.order, cell.block) == (data.direction, data.order, data.block));
        let (Some(stated), Some(truth)) = (stated, long_median(data, &mut fresh, stop)) else { continue };
        let interval = stated.service_time;
        let holds = interval.low.as_f64() <= truth && truth <= interval.high.as_f64();
        coverage.intervals += 1;
        coverage.hold += u32::from(holds);
    }
    coverage
}

struct Until<'a>(&'a dyn Fn() -> bool);

impl Observer for Until<'_> {
    fn progress(&mut self, _progress: Progress) -> ControlFlow<()> {
        if (self.0)() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn long_median<T: Target>(data: &ThroughputData, fresh: &mut T, stop: &dyn Fn() -> bool) -> Option<f64> {
    let requests = u32::try_from(data.times.len()).ok()?.saturating_mul(MORE_REQUESTS);
    let plan = Throughput {
        direction: data.direction,
        order: data.order,
        block: data.block,
        start: data.start,
        length: data.length,
        requests,
        most_time: None,
        purpose: data.purpose,
    };
    let mut until = Until(stop);
    let mut context = Context::reading(0x5eed, &mut until);
    let run = flashscope_probe::run(&Experiment::Throughput(plan), fresh, &mut context).ok()?;
    let Data::Throughput(long) = run.data else { return None };
    median(&long.times.iter().map(|time| time.as_f64()).collect::<Vec<f64>>())
}
