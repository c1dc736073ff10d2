//! How fast the device is: one cell for each direction, order and block size that was measured for this purpose.

use crate::numbers::clock_step;
use flashscope_model::finding::{Interval, PerformanceCell};
use flashscope_model::observation::ThroughputData;
use flashscope_model::plan::Purpose;
use flashscope_model::{Data, Direction, Observations, Order};
use flashscope_stats::interval::median_interval;
use flashscope_stats::location::{median, quantile};
use flashscope_units::{ByteRate, Bytes, Iops, Nanos};
use std::collections::BTreeMap;

/// A 99th percentile needs values beyond it: ten of them make it more than an outlier.
const COUNT_FOR_P99: usize = 1000;

/// The table, reads before writes, in order before random, small blocks before large.
pub(crate) fn table(observations: &Observations) -> Vec<PerformanceCell> {
    let mut cells: BTreeMap<(Direction, Order, Bytes), Vec<Nanos>> = BTreeMap::new();
    for run in &observations.runs {
        if let Data::Throughput(data) = &run.data
            && data.purpose == Purpose::Performance
        {
            cells.entry(key(data)).or_default().extend(&data.times);
        }
    }
    cells.into_iter().filter_map(|((direction, order, block), times)| cell(direction, order, block, &times)).collect()
}

/// Requests in a row share the state of host and device, so that the medians of batches differ by more than their sizes
/// explain: the interval is widened by as much (as batch means do for a mean), and by one step of the clock, to multiples
/// of which times are rounded.
fn allowing_for_drift(values: &[f64], middle: f64, (low, high): (f64, f64)) -> (f64, f64) {
    let batches: Vec<f64> = values.chunks(values.len().div_ceil(BATCHES)).filter_map(median).collect();
    let count = batches.len() as f64;
    let mean = batches.iter().sum::<f64>() / count;
    let spread = (batches.iter().map(|batch| (batch - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0)).sqrt();
    // What batches of independent requests would differ by, from the interval of all of them.
    let expected = (high - low) / (2.0 * Z_95) * count.sqrt();
    let wider = if expected > 0.0 { (spread / expected).max(1.0) } else { 1.0 };
    let step = clock_step(values.to_vec());
    (middle - (middle - low) * wider - step, middle + (high - middle) * wider + step)
}

/// Parts that a cell is cut into.
const BATCHES: usize = 8;

/// Standard deviations on either side of 95 %.
const Z_95: f64 = 1.96;

fn key(data: &ThroughputData) -> (Direction, Order, Bytes) {
    (data.direction, data.order, data.block)
}

fn cell(direction: Direction, order: Order, block: Bytes, times: &[Nanos]) -> Option<PerformanceCell> {
    let values: Vec<f64> = times.iter().map(|time| time.as_f64()).collect();
    let middle = median(&values)?;
    // Too few for an interval of 95 %: the extremes are what is known.
    let extremes = (quantile(&values, 0.0)?, quantile(&values, 1.0)?);
    let (low, high) = median_interval(&values, 0.95)
        .map_or(extremes, |interval| allowing_for_drift(&values, middle, (interval.low, interval.high)));
    let total: Nanos = times.iter().copied().sum();
    let nanos = |value: f64| Nanos(value.round() as u64);
    Some(PerformanceCell {
        direction,
        order,
        block,
        queue_depth: 1,
        requests: u32::try_from(times.len()).unwrap_or(u32::MAX),
        service_time: Interval { value: nanos(middle), low: nanos(low), high: nanos(high) },
        mean_rate: ByteRate::of(block * times.len() as u64, total)?,
        iops: Iops(times.len() as f64 / total.as_secs_f64()),
        service_time_p99: (times.len() >= COUNT_FOR_P99).then(|| quantile(&values, 0.99).map(nanos)).flatten(),
        service_time_max: nanos(extremes.1),
    })
}
