//! How fast the device is: one cell for each direction, order and block size that was measured for this purpose.

use crate::numbers::clock_step;
use flashscope_model::finding::{Interval, PerformanceCell};
use flashscope_model::observation::ThroughputData;
use flashscope_model::plan::Purpose;
use flashscope_model::{Data, Direction, Observations, Order};
use flashscope_stats::interval::median_interval;
use flashscope_stats::location::{MAD_NORMAL_FACTOR, mad, median, quantile};
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
    let swing = swing(observations);
    let cell = |((direction, order, block), times): (_, Vec<Nanos>)| cell(direction, order, block, &times, swing);
    cells.into_iter().filter_map(cell).collect()
}

/// By how many nanoseconds reads of the same kind differ between runs, beyond chance: a host that swings slowly moves all
/// reads of one cell together, which no cell shows by itself.
fn swing(observations: &Observations) -> f64 {
    let mut medians: BTreeMap<(Bytes, Nanos), Vec<(f64, f64)>> = BTreeMap::new();
    for run in &observations.runs {
        let Data::Boundaries(data) = &run.data else { continue };
        let places = data.candidates.iter().flat_map(|candidate| &candidate.places);
        let times: Vec<f64> = places.flat_map(|place| &place.pre).map(|time| time.as_f64()).collect();
        if let (Some(middle), Some(away)) = (median(&times), mad(&times)) {
            let error = MEDIAN_ERROR * away / (times.len() as f64).sqrt();
            medians.entry((data.block, data.rest)).or_default().push((middle, error));
        }
    }
    let beyond_chance = |runs: &Vec<(f64, f64)>| {
        let least = runs.iter().map(|run| run.0).fold(f64::INFINITY, f64::min);
        let most = runs.iter().map(|run| run.0).fold(f64::MIN, f64::max);
        let error = median(&runs.iter().map(|run| run.1).collect::<Vec<f64>>()).unwrap_or(0.0);
        (most - least - RANGE * error).max(0.0)
    };
    medians.values().filter(|runs| runs.len() >= LEAST_RUNS).map(beyond_chance).fold(0.0, f64::max)
}

/// Standard error of a median, of the median deviation and the root of how many there are: [`MAD_NORMAL_FACTOR`], and the
/// √(π/2) of a normal sample.
const MEDIAN_ERROR: f64 = MAD_NORMAL_FACTOR * 1.2533;

/// The range of a dozen medians that differ by chance alone, in standard errors.
const RANGE: f64 = 4.0;

/// Fewer runs show no range.
const LEAST_RUNS: usize = 3;

/// Requests in a row share the state of host and device, so that the medians of batches differ by more than their sizes
/// explain: where they do, the interval is widened by as much (as batch means do for a mean); and always by one step of the
/// clock, to multiples of which times are rounded, and by what the host swings from run to run.
fn allowing_for_drift(values: &[f64], middle: f64, (low, high): (f64, f64), swing: f64) -> (f64, f64) {
    let batches: Vec<f64> = values.chunks(values.len().div_ceil(BATCHES)).filter_map(median).collect();
    let count = batches.len() as f64;
    let mean = batches.iter().sum::<f64>() / count;
    let spread = (batches.iter().map(|batch| (batch - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0)).sqrt();
    // What batches of independent requests would differ by, from the interval of all of them.
    let expected = (high - low) / (2.0 * Z_95) * count.sqrt();
    let wider = if spread > CHANCE * expected && expected > 0.0 { spread / expected } else { 1.0 };
    let margin = clock_step(values.to_vec()) + swing;
    (middle - (middle - low) * wider - margin, middle + (high - middle) * wider + margin)
}

/// Parts that a cell is cut into.
const BATCHES: usize = 8;

/// Medians of this many batches differ by less than this times what is expected in 95 of 100 cases: √(χ²₀.₉₅(7) / 7).
const CHANCE: f64 = 1.42;

/// Standard deviations on either side of 95 %.
const Z_95: f64 = 1.96;

fn key(data: &ThroughputData) -> (Direction, Order, Bytes) {
    (data.direction, data.order, data.block)
}

fn cell(direction: Direction, order: Order, block: Bytes, times: &[Nanos], swing: f64) -> Option<PerformanceCell> {
    let values: Vec<f64> = times.iter().map(|time| time.as_f64()).collect();
    let middle = median(&values)?;
    // Too few for an interval of 95 %: the extremes are what is known.
    let extremes = (quantile(&values, 0.0)?, quantile(&values, 1.0)?);
    let (low, high) = median_interval(&values, 0.95)
        .map_or(extremes, |interval| allowing_for_drift(&values, middle, (interval.low, interval.high), swing));
    // A median is no shorter than the shortest time and no longer than the longest, however much they drift.
    let (low, high) = (low.max(extremes.0), high.min(extremes.1));
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
