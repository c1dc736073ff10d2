//! When a device that is written over and over shows its first error: milestones that were reached, and a forecast.
//!
//! A forecast rests on what moves: registers that tell how much of the rated life is used (`course.rs`), or how much of the
//! spare is gone. Either leads to a scale; how much earlier or later than that the first error came on simulated devices whose
//! end is known, is a table of quantiles (`table.rs`). What passed without an error is left out of it. Where nothing moves,
//! nothing is told but what went without an error.

mod course;
mod table;

pub use course::{Clue, Course, life_used};
pub use table::{Quantiles, STEPS, quantiles};

use flashscope_model::Health;
use flashscope_model::endurance::{Basis, End, Forecast, Milestone, Pass, Reached};
use flashscope_units::Bytes;

/// Share of the forecasts whose interval is to hold.
pub const COVERAGE: f64 = 0.9;

/// Milestones that were reached, in order. Of a device that ended without a bad sector the end is the first error.
pub fn milestones(passes: &[Pass], claimed: Bytes, end: &End) -> Vec<Reached> {
    let reached = |milestone: Milestone| {
        let is_it = |pass: &Pass| milestone.is_reached(pass.bad(), claimed);
        let died = milestone == Milestone::FirstError && end.kind.is_death();
        let at = passes.iter().position(is_it).or_else(|| passes.len().checked_sub(1).filter(|_| died))?;
        let written: Bytes = passes[..=at].iter().map(|pass| pass.written).sum();
        let capacity_writes = written.as_f64() / claimed.as_f64().max(1.0);
        Some(Reached { milestone, pass: passes[at].number, written, capacity_writes })
    };
    Milestone::ALL.iter().filter_map(|milestone| reached(*milestone)).collect()
}

/// When the first error comes; where it has come, when it did.
pub fn forecast(before: Option<&Health>, passes: &[Pass], claimed: Bytes, end: &End) -> Forecast {
    forecast_by(quantiles(), before, passes, claimed, end)
}

/// The same by a table of one's own.
pub fn forecast_by(table: &Quantiles, before: Option<&Health>, passes: &[Pass], claimed: Bytes, end: &End) -> Forecast {
    if let Some(first) = milestones(passes, claimed, end).first() {
        return seen(first, passes, claimed);
    }
    let course = Course::of(before, passes, claimed);
    let now = course.written();
    let nothing = |evidence: String| Forecast {
        basis: Basis::Nothing,
        capacity_writes: None,
        low: now,
        high: None,
        evidence: format!("{evidence}; {now:.1} capacity-writes went without an error"),
    };
    let Some(clue) = course.clue() else { return nothing(course.silence().to_owned()) };
    // Devices on which the first error would have come already are not this one.
    let ahead: Vec<f64> =
        table.of(clue.regime()).iter().map(|quantile| clue.at(*quantile)).filter(|at| *at > now).collect();
    let at = |share: f64| flashscope_stats::location::quantile(&ahead, share);
    let tail = (1.0 - COVERAGE) / 2.0;
    match (ahead.len() >= LEAST_AHEAD, at(tail), at(0.5), at(1.0 - tail)) {
        (true, Some(low), Some(middle), Some(high)) => Forecast {
            basis: clue.basis(),
            capacity_writes: Some(middle),
            low,
            high: Some(high),
            evidence: clue.evidence(),
        },
        _ => nothing(format!("{}, later than the first error came on any device that was counted", clue.evidence())),
    }
}

/// Quantiles that must lie ahead: with fewer, the device is older than the table knows.
const LEAST_AHEAD: usize = 4;

fn seen(first: &Reached, passes: &[Pass], claimed: Bytes) -> Forecast {
    let before: Bytes = passes.iter().filter(|pass| pass.number < first.pass).map(|pass| pass.written).sum();
    Forecast {
        basis: Basis::Seen,
        capacity_writes: Some(first.capacity_writes),
        low: before.as_f64() / claimed.as_f64().max(1.0),
        high: Some(first.capacity_writes),
        evidence: format!("the first error came in pass {}", first.pass),
    }
}

#[cfg(test)]
mod tests;
