//! The straight line through read time against size: access time, and rate of transfer.
//!
//! Minimum times, because what delays a read only ever adds. Their errors grow with the time itself, so that the fit is
//! one of relative errors, and it goes over the sizes where a line holds: below a page the size does not matter, and
//! above the largest request a read is several.

use crate::numbers::median;
use flashscope_model::finding::TransferLine;
use flashscope_model::observation::{IntervalEvidence, IntervalRow};
use flashscope_model::{Data, Observations};
use flashscope_stats::line::{Line, weighted_least_squares};
use flashscope_units::{ByteRate, Bytes, Contrast, Nanos};
use std::collections::BTreeMap;

/// A line is one where no time is off it by more than this share.
const HOLDS_WITHIN: f64 = 0.1;

/// Fewer sizes than this make a line by chance.
const LEAST_SIZES: usize = 4;

/// The line over the longest range of sizes where one holds; of equally long ones the straighter.
pub(crate) fn estimate(observations: &Observations) -> Option<TransferLine> {
    let mut minima: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    for run in &observations.runs {
        let Data::Interval(data) = &run.data else { continue };
        for row in &data.rows {
            minima.entry(row.size).or_default().extend(minimum(row));
        }
    }
    let points: Vec<(Bytes, f64)> = minima
        .into_iter()
        .filter_map(|(size, times)| Some((size, median(&times).filter(|time| *time > 0.0)?)))
        .collect();
    let ranges = (0..points.len()).flat_map(|from| (from + LEAST_SIZES..=points.len()).map(move |to| (from, to)));
    let (_, _, line) = ranges
        .filter_map(|(from, to)| {
            let (line, worst) = fit(&points[from..to])?;
            (worst <= HOLDS_WITHIN).then_some((to - from, worst, line))
        })
        .max_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)))?;
    let residual = |size: Bytes, time: f64| Contrast(time - line.at(size.as_f64()));
    let residuals =
        points.iter().map(|(size, time)| (*size, Nanos(time.round() as u64), residual(*size, *time))).collect();
    Some(TransferLine { access: Contrast(line.intercept), rate: ByteRate(1e9 / line.slope), residuals })
}

/// The line of least relative errors, and by which share the worst point is off it; `None` where time does not grow with
/// size.
fn fit(points: &[(Bytes, f64)]) -> Option<(Line, f64)> {
    let sizes: Vec<f64> = points.iter().map(|(size, _)| size.as_f64()).collect();
    let times: Vec<f64> = points.iter().map(|(_, time)| *time).collect();
    let weights: Vec<f64> = times.iter().map(|time| time.powi(-2)).collect();
    let line = weighted_least_squares(&sizes, &times, &weights).ok().filter(|line| line.slope > 0.0)?;
    let worst = line.residuals.iter().zip(&times).map(|(residual, time)| (residual / time).abs()).fold(0.0, f64::max);
    Some((line, worst))
}

fn minimum(row: &IntervalRow) -> Option<f64> {
    match &row.evidence {
        IntervalEvidence::Times(times) => times.iter().min().map(|time| time.as_f64()),
        IntervalEvidence::Printed { min, .. } => min.map(|printed| printed.value.get()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::observation::{AreaState, IntervalData, Run, Source, Spent};
    use flashscope_units::Instant;

    fn read(times: &[(u64, f64)]) -> Option<TransferLine> {
        let rows = times
            .iter()
            .map(|(size, micros)| IntervalRow {
                size: Bytes(*size),
                evidence: IntervalEvidence::Times(vec![Nanos((micros * 1e3) as u64)]),
            })
            .collect();
        let run = Run {
            source: Source::Probe { started: Instant(0) },
            state: AreaState::Unknown,
            complete: true,
            spent: Spent::default(),
            failures: Vec::new(),
            data: Data::Interval(IntervalData { rows }),
        };
        estimate(&Observations { capacity: None, runs: vec![run], ..Observations::default() })
    }

    #[test]
    fn access_time_is_no_artefact_of_the_largest_sizes() {
        // 500 µs and 40 MB/s up to requests of 512 KiB; what is larger goes in pieces and pays again for each.
        let time = |size: u64| 500.0 * size.div_ceil(512 << 10) as f64 + size as f64 / 40.0;
        let times: Vec<(u64, f64)> = (9..23).map(|power| (1 << power, time(1 << power))).collect();
        let line = read(&times).unwrap();
        assert!((line.access.get() / 500e3 - 1.0).abs() < 0.05, "{line:?}");
        assert!((line.rate.get() / 40e6 - 1.0).abs() < 0.05, "{line:?}");
    }

    #[test]
    fn where_no_line_holds_there_is_none() {
        let times: Vec<(u64, f64)> =
            (9..20).map(|power| (1 << power, if power % 2 == 0 { 900.0 } else { 300.0 })).collect();
        assert_eq!(read(&times), None);
        assert_eq!(read(&[(512, 300.0), (1024, 310.0)]), None);
    }
}
