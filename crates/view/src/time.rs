//! Service times: summaries, histograms, and times by size, position or index.

use crate::axis;
use flashscope_model::finding::TransferLine;
use flashscope_model::observation::{ScatterData, SlideData, SurveyData, ThroughputData};
use flashscope_model::plan::Purpose;
use flashscope_model::{Direction, Order};
use flashscope_stats::location;
use flashscope_units::{ByteRate, Bytes, Contrast, Nanos};

/// Points that are drawn at most, across and up: more would print on top of each other.
const GRID: (usize, usize) = (200, 80);
/// Bins of a histogram per factor of ten.
const BINS_PER_DECADE: f64 = 30.0;
/// Fewest bins of a histogram over the whole range, however narrow.
const BINS_AT_LEAST: usize = 24;
/// Fewest requests of which a distribution is worth drawing.
const REQUESTS_AT_LEAST: usize = 24;

/// Service times in five figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many.
    pub requests: usize,
    /// Shortest.
    pub min: Nanos,
    /// Median.
    pub median: Nanos,
    /// Mean.
    pub mean: Nanos,
    /// 99th percentile, where ten requests and more lie above it.
    pub p99: Option<Nanos>,
    /// Longest.
    pub max: Nanos,
}

/// Read time by size, and the straight line through it.
#[derive(Clone, Debug, PartialEq)]
pub struct TransferView {
    /// Time at size zero.
    pub access: Contrast,
    /// Slope as a rate.
    pub rate: ByteRate,
    /// One entry per size.
    pub points: Vec<TransferPoint>,
}

/// One size of [`TransferView`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransferPoint {
    /// The size.
    pub size: Bytes,
    /// Shortest time measured.
    pub time: Nanos,
    /// Time on the line.
    pub line: Contrast,
    /// Measured less line.
    pub residual: Contrast,
    /// Residual over the line's time.
    pub residual_ratio: f64,
}

/// Read time by position.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterView {
    /// Bytes read at each position, where known.
    pub length: Option<Bytes>,
    /// How many positions were read.
    pub positions: usize,
    /// Position and shortest time, in ascending order, less those that would print on top of another.
    pub points: Vec<(Bytes, Nanos)>,
}

/// Reads at random places.
#[derive(Clone, Debug, PartialEq)]
pub struct SurveyView {
    /// Size of each read.
    pub block: Bytes,
    /// Where, in ascending order, the shortest time, and the byte that fills the block where one does.
    pub places: Vec<(Bytes, Nanos, Option<u8>)>,
}

/// Distribution and course of the service times of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceTimesView {
    /// Reads or writes.
    pub direction: Direction,
    /// Order of the blocks.
    pub order: Order,
    /// Block size.
    pub block: Bytes,
    /// The figures.
    pub summary: Summary,
    /// Bins of equal width on a logarithmic scale, gapless, shortest first.
    pub histogram: Vec<Bin>,
    /// Index in the order of issue and time, less those that would print on top of another.
    pub course: Vec<(usize, Nanos)>,
}

/// One bin of a histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Its lower edge in nanoseconds.
    pub low: f64,
    /// Its upper edge in nanoseconds.
    pub high: f64,
    /// Requests in it.
    pub count: usize,
}

/// The summary of service times; `None` of no samples.
pub fn summary(times: &[Nanos]) -> Option<Summary> {
    let ns: Vec<f64> = times.iter().map(|time| time.as_f64()).collect();
    let at = |p| location::quantile(&ns, p).map(|ns| Nanos(ns.round() as u64));
    let total: u128 = times.iter().map(|time| u128::from(time.get())).sum();
    Some(Summary {
        requests: times.len(),
        min: *times.iter().min()?,
        median: at(0.5)?,
        mean: Nanos((total / times.len() as u128) as u64),
        p99: if times.len() >= 1000 { at(0.99) } else { None },
        max: *times.iter().max()?,
    })
}

/// The view of a transfer line.
pub fn transfer(line: &TransferLine) -> TransferView {
    let point = |&(size, time, residual): &(Bytes, Nanos, Contrast)| {
        let on_line = time.as_f64() - residual.get();
        TransferPoint {
            size,
            time,
            line: Contrast(on_line),
            residual,
            residual_ratio: if on_line > 0.0 { residual.get() / on_line } else { 0.0 },
        }
    };
    TransferView { access: line.access, rate: line.rate, points: line.residuals.iter().map(point).collect() }
}

/// The view of a `scatter` run; `None` of no positions.
pub fn scatter(data: &ScatterData) -> Option<ScatterView> {
    let shortest = |place: &flashscope_model::observation::ScatterPlace| {
        Some((place.at.as_f64(), place.times.iter().min()?.as_f64()))
    };
    let mut points: Vec<(f64, f64)> = data.places.iter().filter_map(shortest).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let drawn = axis::thin(&points, GRID).into_iter().map(|(at, ns)| (Bytes(at as u64), Nanos(ns as u64)));
    (!points.is_empty()).then(|| ScatterView { length: data.length, positions: points.len(), points: drawn.collect() })
}

/// The view of a `slide` run; `None` of no positions.
pub fn slide(data: &SlideData) -> Option<ScatterView> {
    scatter(&ScatterData { length: Some(data.block), places: data.places.clone() })
}

/// The view of a `survey` run; `None` of no places.
pub fn survey(data: &SurveyData) -> Option<SurveyView> {
    let mut places: Vec<_> =
        data.places.iter().filter_map(|place| Some((place.at, *place.times.iter().min()?, place.uniform))).collect();
    places.sort_unstable();
    (!places.is_empty()).then_some(SurveyView { block: data.block, places })
}

/// The view of a run of the performance table; `None` for other runs and of too few requests.
pub fn service_times(data: &ThroughputData) -> Option<ServiceTimesView> {
    if data.purpose != Purpose::Performance || data.times.len() < REQUESTS_AT_LEAST {
        return None;
    }
    let course: Vec<(f64, f64)> =
        data.times.iter().enumerate().map(|(index, time)| (index as f64, time.as_f64().max(1.0).ln())).collect();
    let drawn = axis::thin(&course, GRID).into_iter().map(|(index, _)| (index as usize, data.times[index as usize]));
    Some(ServiceTimesView {
        direction: data.direction,
        order: data.order,
        block: data.block,
        summary: summary(&data.times)?,
        histogram: histogram(&data.times),
        course: drawn.collect(),
    })
}

/// Bins of equal width on a logarithmic scale over the whole range of the times.
fn histogram(times: &[Nanos]) -> Vec<Bin> {
    let log = |time: &Nanos| time.as_f64().max(1.0).log10();
    let (Some(min), Some(max)) = (times.iter().min(), times.iter().max()) else {
        return Vec::new();
    };
    let (low, high) = (log(min), log(max));
    let count = BINS_AT_LEAST.max(((high - low) * BINS_PER_DECADE).ceil() as usize);
    // All times alike still make a bin of some width.
    let width = ((high - low) / count as f64).max(1e-4);
    let edge = |bin: usize| 10f64.powf(low + width * bin as f64);
    let mut bins: Vec<Bin> = (0..count).map(|bin| Bin { low: edge(bin), high: edge(bin + 1), count: 0 }).collect();
    for time in times {
        let bin = ((log(time) - low) / width) as usize;
        bins[bin.min(count - 1)].count += 1;
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries() {
        let times: Vec<Nanos> = (1..=1001).map(Nanos).collect();
        let seen = summary(&times).unwrap();
        assert_eq!((seen.min, seen.median, seen.mean, seen.max), (Nanos(1), Nanos(501), Nanos(501), Nanos(1001)));
        assert_eq!(seen.p99, Some(Nanos(991)));
        assert_eq!(summary(&times[..500]).unwrap().p99, None);
        assert_eq!(summary(&[]), None);
    }

    #[test]
    fn a_histogram_keeps_every_request() {
        for times in [vec![Nanos(500); 30], (1..4000).map(|k| Nanos(k * k)).collect(), vec![Nanos(0), Nanos(9)]] {
            let bins = histogram(&times);
            assert_eq!(bins.iter().map(|bin| bin.count).sum::<usize>(), times.len());
            assert!(bins.windows(2).all(|pair| pair[0].high == pair[1].low));
        }
    }

    #[test]
    fn a_line_is_what_is_left_of_a_time_without_its_residual() {
        let line = TransferLine {
            access: Contrast(50.0),
            rate: ByteRate(1e9),
            residuals: vec![(Bytes(50), Nanos(120), Contrast(20.0))],
        };
        let point = transfer(&line).points[0];
        assert_eq!(point.line, Contrast(100.0));
        assert_eq!(point.residual_ratio, 0.2);
    }
}
