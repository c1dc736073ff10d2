//! Rounds until steady, by the rule of SNIA's performance test specification.
//!
//! After every round each tracked figure has one more value. The state is steady when, over the same last five rounds,
//! every one of them keeps within 20 % and its straight line rises or falls by no more than 10 % ([`steady_state`]), and
//! as much was written before as the definition asks for: a cache that is filled at an even rate looks steady too.

use crate::figure::Take;
use flashscope_model::bench::{BenchPhase, JobRun};
use flashscope_model::preset::{Rounds, Tracked};
use flashscope_stats::steady::{SteadyState, WINDOW, steady_state};
use flashscope_units::Bytes;

/// When rounds end.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundRule {
    /// After so many at the latest.
    pub(crate) at_most: u32,
    /// Names of the figures that must be steady.
    pub(crate) track: Vec<String>,
    /// Nothing is steady before the rounds have written the span so many times.
    pub(crate) spans_before: f64,
    /// They end when they have written it so many times.
    pub(crate) spans_at_most: Option<f64>,
    /// What it may be called where nothing was changed and everything was reached.
    pub(crate) standard: Option<String>,
}

/// A figure that is followed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Follow {
    pub(crate) name: String,
    pub(crate) take: Take,
}

/// Where rounds stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// More are needed.
    Open,
    /// The last five are steady.
    Steady,
    /// No more are allowed.
    Spent,
}

impl RoundRule {
    /// Where rounds stand, and what was seen.
    pub(crate) fn look(&self, follow: &[Follow], phases: &[BenchPhase], span: Bytes) -> (Standing, Rounds) {
        let tracked: Vec<Tracked> = follow.iter().map(|follow| track(follow, phases)).collect();
        let run = tracked.iter().map(|tracked| tracked.values.len()).min().unwrap_or(0);
        let written = |round: usize| written_after(phases, round);
        let enough = |rounds: usize| written(rounds) >= self.spans_before * span.as_f64();
        let steady = |rounds: usize| {
            enough(rounds)
                && tracked.iter().all(|tracked| {
                    rounds >= WINDOW && steady_state(&tracked.values[..rounds]).is_ok_and(|seen| seen.is_steady)
                })
        };
        let steady_at = (1..=run).find(|rounds| steady(*rounds)).map(|rounds| rounds as u32);
        let spent =
            run as u32 >= self.at_most || self.spans_at_most.is_some_and(|spans| written(run) >= spans * span.as_f64());
        let standing = match steady_at {
            Some(_) => Standing::Steady,
            None if spent => Standing::Spent,
            None => Standing::Open,
        };
        let why = why(run, steady_at, &tracked, enough(run), self.spans_before);
        (standing, Rounds { run: run as u32, steady_at, tracked, why })
    }
}

fn why(run: usize, steady_at: Option<u32>, tracked: &[Tracked], enough: bool, spans: f64) -> String {
    let of_one = |tracked: &Tracked| {
        let share = |ratio: Option<f64>| ratio.map_or("?".to_owned(), |ratio| format!("{:.1} %", ratio * 100.0));
        let (range, slope) = (share(tracked.range_ratio), share(tracked.slope_ratio));
        format!("{}: within {range}, slope {slope}", tracked.name)
    };
    let figures = tracked.iter().map(of_one).collect::<Vec<_>>().join("; ");
    match steady_at {
        Some(round) => format!("steady in rounds {} to {round} ({figures})", round - 4),
        None if run < WINDOW => format!("not steady: {run} rounds are too few to tell, it takes {WINDOW}"),
        None if !enough => {
            format!("not steady: the rounds wrote less than {spans} × the span, which is asked for first")
        }
        None => format!("not steady after {run} rounds ({figures}; at most 20 % and ±10 % are)"),
    }
}

fn track(follow: &Follow, phases: &[BenchPhase]) -> Tracked {
    let runs = runs_of(phases, &follow.take.job);
    let values: Vec<f64> = runs.iter().map_while(|job| follow.take.of(job)).collect();
    let mut sum = 0.0;
    let written: Vec<f64> = runs
        .iter()
        .take(values.len())
        .filter_map(|job| job.write.as_ref())
        .map(|moved| {
            sum += moved.bytes.as_f64();
            sum
        })
        .collect();
    let seen: Option<SteadyState> = steady_state(&values).ok();
    Tracked {
        name: follow.name.clone(),
        unit: follow.take.measure.unit(),
        written: if written.len() == values.len() { written } else { Vec::new() },
        values,
        mean: seen.map(|seen| seen.mean),
        range_ratio: seen.map(|seen| seen.range_ratio),
        slope_ratio: seen.map(|seen| seen.slope_ratio),
    }
}

/// What all phases that repeat had written after so many rounds.
fn written_after(phases: &[BenchPhase], rounds: usize) -> f64 {
    let of = |phase: &BenchPhase| {
        let jobs = phase.runs.iter().take(rounds).flat_map(|run| &run.jobs);
        jobs.filter_map(|job| job.write.as_ref()).map(|moved| moved.bytes.as_f64()).sum::<f64>()
    };
    phases.iter().map(of).sum()
}

/// The runs of the job of this name, in order.
pub(crate) fn runs_of<'a>(phases: &'a [BenchPhase], name: &str) -> Vec<&'a JobRun> {
    let jobs = phases.iter().flat_map(|phase| &phase.runs).flat_map(|run| &run.jobs);
    jobs.filter(|job| job.name == name).collect()
}

impl Take {
    pub(crate) fn of(&self, job: &JobRun) -> Option<f64> {
        self.measure.of(job).map(|value| value * self.times)
    }
}

/// The values of the steady window, or else of the last one, which is then told apart by [`Rounds::steady_at`]; `None` with
/// fewer rounds than a window has.
pub(crate) fn window(rounds: &Rounds, values: &[f64]) -> Option<Vec<f64>> {
    let end = rounds.steady_at.unwrap_or(rounds.run) as usize;
    values.get(end.checked_sub(WINDOW)?..end).map(<[f64]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Measure;
    use crate::made::phase;
    use flashscope_model::bench::CacheVerdict;

    fn look(rates: &[f64], spans_before: f64, spans_at_most: Option<f64>) -> (Standing, Rounds) {
        let take = Take { job: "w".into(), measure: Measure::parse("write requests/s", None).unwrap(), times: 1.0 };
        let follow = [Follow { name: "writes".into(), take }];
        let rule = RoundRule { at_most: 25, track: vec!["writes".into()], spans_before, spans_at_most, standard: None };
        rule.look(&follow, &[phase("w", rates, CacheVerdict::Device)], Bytes::mib(8))
    }

    #[test]
    fn a_series_that_declines_is_never_steady() {
        for fall in [0.97f64, 0.95, 0.9, 0.7] {
            let rates: Vec<f64> = (0..25).map(|round| 10_000.0 * fall.powi(round)).collect();
            for rounds in 1..=25 {
                let (standing, seen) = look(&rates[..rounds], 0.0, None);
                assert_eq!(seen.steady_at, None, "fall {fall}, {rounds} rounds: {}", seen.why);
                assert_eq!(standing, if rounds == 25 { Standing::Spent } else { Standing::Open });
            }
        }
    }

    #[test]
    fn the_first_steady_window_counts() {
        let mut rates = vec![900.0, 700.0, 500.0, 300.0, 100.0];
        rates.extend([101.0, 99.0, 100.0, 100.0]);
        let (standing, seen) = look(&rates, 0.0, None);
        assert_eq!((standing, seen.steady_at), (Standing::Steady, Some(9)));
        assert_eq!(window(&seen, &rates), Some(vec![100.0, 101.0, 99.0, 100.0, 100.0]));
        assert_eq!(look(&rates[..8], 0.0, None).0, Standing::Open);
        // Without a steady one it is the last; fewer rounds are none.
        let (_, seen) = look(&rates[..8], 0.0, None);
        assert_eq!(window(&seen, &rates[..8]), Some(vec![300.0, 100.0, 101.0, 99.0, 100.0]));
        assert_eq!(window(&look(&rates[..4], 0.0, None).1, &rates[..4]), None);
    }

    #[test]
    fn an_even_start_is_not_steady_before_enough_was_written() {
        // Eight rounds of a MiB are one span of 8 MiB.
        let even = [100.0; 12];
        assert_eq!(look(&even[..7], 1.0, None).1.steady_at, None);
        assert!(look(&even[..7], 1.0, None).1.why.contains("less than 1 × the span"));
        assert_eq!(look(&even, 1.0, None).1.steady_at, Some(8));
        let falls: Vec<f64> = (0..16).map(|round| 10_000.0 * 0.8f64.powi(round)).collect();
        assert_eq!(look(&falls, 0.0, Some(2.0)).0, Standing::Spent);
    }
}
