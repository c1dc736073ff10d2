//! Where the level of a figure changed.

use crate::{Point, Series};
use flashscope_model::comparison::Better;
use flashscope_stats::change::{SHORTEST, Shifts, level_shifts};
use flashscope_stats::location::median;
use serde_json::{Value, json};

/// Confidence of the intervals.
pub const CONFIDENCE: f64 = 0.95;

/// A series with its changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// The points that count: a value that is not above 0 has no logarithm.
    pub series: Series,
    /// Points that do not.
    pub left_out: usize,
    /// The changes in the order of time; `None` where there are too few points to look for any.
    pub marks: Option<Vec<Mark>>,
    /// Scatter about the levels, as a ratio: 1.02 is 2 %; `None` as for the marks.
    pub scatter: Option<f64>,
    /// How alike neighbours are beyond the level that they share, 0 to 0.8; `None` as for the marks.
    pub correlation: Option<f64>,
}

/// A change of the level.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Index of the first point of the new level.
    pub at: usize,
    /// That point can be any from here …
    pub earliest: usize,
    /// … up to here.
    pub latest: usize,
    /// New level over the old one.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Medians before and after, up to the next change, in the unit of the figure.
    pub levels: [f64; 2],
    /// Whether the new level is what users want.
    pub is_better: bool,
}

impl Trend {
    /// Looks for changes.
    pub fn of(mut series: Series) -> Trend {
        let all = series.points.len();
        series.points.retain(|point| point.value > 0.0);
        let left_out = all - series.points.len();
        let logs: Vec<f64> = series.points.iter().map(|point| point.value.ln()).collect();
        // Only too few points are refused: logarithms of finite values above 0 are finite.
        let found = level_shifts(&logs, CONFIDENCE).ok();
        let marks = found.as_ref().map(|found| marks(&series, found));
        let scatter = found.as_ref().map(|found| found.noise_sd.exp());
        let correlation = found.map(|found| found.correlation);
        Trend { series, left_out, marks, scatter, correlation }
    }

    /// Points that a series must have before changes are looked for.
    pub const SHORTEST: usize = SHORTEST;

    /// As programs are told of it; `points` is null where the points are not wanted.
    pub fn json(&self, with_points: bool) -> Value {
        let Series { metric, points, part, device, setup } = &self.series;
        let point = |at: usize| json!({ "record": points[at].record, "at": points[at].at });
        let mark = |mark: &Mark| {
            json!({
                "first": point(mark.at), "earliest": point(mark.earliest), "latest": point(mark.latest),
                "ratio": mark.ratio, "ratio_low": mark.low, "ratio_high": mark.high,
                "before": mark.levels[0], "after": mark.levels[1], "better": mark.is_better,
            })
        };
        let value = |point: &Point| json!({ "record": point.record, "at": point.at, "value": point.value, "spread": point.spread });
        json!({
            "figure": metric.name, "unit": metric.unit,
            "better": if metric.better == Better::Higher { "higher" } else { "lower" },
            "part": part, "device": device, "setup": setup.lines().collect::<Vec<_>>(),
            "records": points.len(), "points": with_points.then(|| points.iter().map(value).collect::<Vec<_>>()),
            "left_out": self.left_out, "confidence": CONFIDENCE, "scatter_ratio": self.scatter,
            "correlation": self.correlation,
            "changes": self.marks.as_ref().map(|marks| marks.iter().map(mark).collect::<Vec<_>>()),
        })
    }
}

fn marks(series: &Series, found: &Shifts) -> Vec<Mark> {
    let starts: Vec<usize> = found.shifts.iter().map(|shift| shift.start).collect();
    let level = |from: usize, to: usize| {
        let values: Vec<f64> = series.points[from..to].iter().map(|point| point.value).collect();
        median(&values).unwrap_or(f64::NAN)
    };
    let of = |(number, shift): (usize, &flashscope_stats::change::Shift)| {
        let before = if number == 0 { 0 } else { starts[number - 1] };
        let after = starts.get(number + 1).copied().unwrap_or(series.points.len());
        Mark {
            at: shift.start,
            earliest: shift.earliest,
            latest: shift.latest,
            ratio: shift.size.exp(),
            low: shift.interval.low.exp(),
            high: shift.interval.high.exp(),
            levels: [level(before, shift.start), level(shift.start, after)],
            is_better: (shift.size > 0.0) == (series.metric.better == Better::Higher),
        }
    };
    found.shifts.iter().enumerate().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Point;
    use flashscope_model::comparison::Metric;
    use flashscope_stats::Rng;

    fn series(values: impl Iterator<Item = f64>) -> Series {
        let point = |(i, value)| Point { record: i as i64, at: String::new(), value, spread: None };
        Series {
            metric: Metric { name: "p99".to_owned(), unit: "ns".to_owned(), better: Better::Lower },
            part: String::new(),
            device: String::new(),
            setup: String::new(),
            points: values.enumerate().map(point).collect(),
        }
    }

    #[test]
    fn a_time_that_grew_got_worse_and_zeros_do_not_count() {
        // Scatter of 0.3 %, and a tenth more from the 30th point on.
        let mut rng = Rng::new(141);
        let mut value = |i: u32| (1.0 + 0.003 * rng.normal()) * if i < 30 { 2e6 } else { 2.2e6 };
        let trend = Trend::of(series((0..60).map(&mut value).chain([0.0])));
        let marks = trend.marks.expect("enough points");
        assert_eq!((marks.len(), trend.left_out, trend.series.points.len()), (1, 1, 60));
        let mark = &marks[0];
        assert_eq!((mark.at, mark.earliest, mark.latest, mark.is_better), (30, 30, 30, false));
        assert!(mark.low < 1.1 && 1.1 < mark.high && mark.high - mark.low < 0.01, "{mark:?}");
        assert!((mark.levels[1] / mark.levels[0] - 1.1).abs() < 0.01, "{mark:?}");
    }

    #[test]
    fn of_few_points_nothing_is_said() {
        let trend = Trend::of(series((0..11).map(f64::from)));
        assert_eq!((trend.marks, trend.scatter, trend.left_out), (None, None, 1));
    }
}
