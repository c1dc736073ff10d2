//! The straight line through read time against size: access time, and rate of transfer.
//!
//! Minimum times, because what delays a read only ever adds; flashbench leaves the three smallest sizes out of the
//! fit (they hide behind the command), and so does this, so that its figures stand beside published ones.

use crate::numbers::median;
use flashscope_model::finding::TransferLine;
use flashscope_model::observation::{IntervalEvidence, IntervalRow};
use flashscope_model::{Data, Observations};
use flashscope_units::{ByteRate, Bytes, Contrast, Nanos};
use std::collections::BTreeMap;

/// Sizes left out at the small end.
const LEFT_OUT: usize = 3;

/// The line, where at least three sizes above the smallest were read.
pub(crate) fn estimate(observations: &Observations) -> Option<TransferLine> {
    let mut minima: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    for run in &observations.runs {
        let Data::Interval(data) = &run.data else { continue };
        for row in &data.rows {
            minima.entry(row.size).or_default().extend(minimum(row));
        }
    }
    let points: Vec<(Bytes, f64)> =
        minima.into_iter().filter_map(|(size, times)| Some((size, median(&times)?))).collect();
    let fitted = points.get(LEFT_OUT..).filter(|rest| rest.len() >= 3)?;
    let (access, slope) = least_squares(fitted)?;
    let residuals = points
        .iter()
        .map(|(size, time)| (*size, Nanos(time.round() as u64), Contrast(time - access - slope * size.as_f64())))
        .collect();
    Some(TransferLine { access: Contrast(access), rate: ByteRate(1e9 / slope), residuals })
}

fn minimum(row: &IntervalRow) -> Option<f64> {
    match &row.evidence {
        IntervalEvidence::Times(times) => times.iter().min().map(|time| time.as_f64()),
        IntervalEvidence::Printed { min, .. } => min.map(|printed| printed.value.get()),
    }
}

/// Intercept in nanoseconds and slope in nanoseconds per byte; `None` where time does not grow with size.
fn least_squares(points: &[(Bytes, f64)]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    let mean_x = points.iter().map(|(size, _)| size.as_f64()).sum::<f64>() / n;
    let mean_y = points.iter().map(|(_, time)| time).sum::<f64>() / n;
    let xy: f64 = points.iter().map(|(size, time)| (size.as_f64() - mean_x) * (time - mean_y)).sum();
    let xx: f64 = points.iter().map(|(size, _)| (size.as_f64() - mean_x).powi(2)).sum();
    let slope = xy / xx;
    (slope.is_finite() && slope > 0.0).then_some((mean_y - slope * mean_x, slope))
}
