//! What a job comes to that was to go on until it is steady, and is not.

use flashscope_infer::steady::predict;
use flashscope_load::job::{Mix, Pattern};
use flashscope_load::plan::Resolved;
use flashscope_model::bench::{JobRun, SteadyAhead, SteadySeen};
use flashscope_stats::steady::WINDOW;
use flashscope_units::Bytes;

/// Says where the rate is going, of random writes that did not become steady; nothing where their course does not tell.
pub(super) fn foretell(mut run: JobRun, plan: &Resolved) -> JobRun {
    if let Some(seen) = run.steady.filter(|seen| !seen.steady) {
        run.steady = Some(SteadySeen { ahead: ahead(&run, plan), ..seen });
    }
    run
}

fn ahead(run: &JobRun, plan: &Resolved) -> Option<SteadyAhead> {
    let round = plan.job.stop.steady?.round.as_secs_f64();
    if plan.job.mix != Mix::WRITE || plan.job.pattern != Pattern::Random {
        return None;
    }
    let period = run.series.period.as_secs_f64();
    // The last period is not full.
    let full = run.series.periods.len().saturating_sub(1);
    let course: Vec<(f64, f64)> =
        run.series.periods[..full].iter().map(|one| (one.written.as_f64(), period)).filter(|one| one.0 > 0.0).collect();
    let span: Bytes = plan.parts.iter().map(|(_, length)| *length).max()?;
    let found = predict(&course, span)?;
    let written: f64 = course.iter().map(|(bytes, _)| bytes).sum();
    // From there on a whole window has to be even.
    let rest = (found.after.as_f64() - written).max(0.0) / found.rate;
    let rounds = (rest / round).ceil() as u32 + WINDOW as u32;
    Some(SteadyAhead { bytes_per_s: found.rate, low: found.low, high: found.high, rounds })
}
