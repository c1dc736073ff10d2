//! Runs that were done: their number was fixed before anyone looked.

use crate::judge::{Evidence, Question, family_size, judge};
use crate::levels::{Logs, Setting, ends};
use crate::settings::Settings;
use flashscope_model::comparison::{
    Centre, Compared, Comparison, Counts, Doubt, Level, Method, Ratio, Readings, SummaryRow,
};
use flashscope_stats::test::{Alternative, Summary, WelchT, one_sample_t, welch_t, welch_t_of};

/// Compares each side with the first one, figure by figure.
///
/// The scatter is taken from the highest level that both sides repeat (parts, blocks, sessions, runs; [`Level`]), and the
/// result says which. Where there are only summaries, Welch's test on the log scale is all that can be had.
pub fn compare(readings: &Readings, settings: &Settings) -> Comparison {
    let pairs: Vec<(usize, usize)> = (0..readings.metrics.len())
        .flat_map(|metric| (1..readings.sides.len()).map(move |side| (metric, side)))
        .collect();
    let tested: Vec<Result<Tested, Untested>> =
        pairs.iter().map(|(metric, side)| tested(readings, *metric, *side, settings)).collect();
    let able: Vec<usize> =
        pairs.iter().zip(&tested).filter(|(_, tested)| tested.is_ok()).map(|((_, side), _)| *side).collect();
    let comparisons = family_size(&able, settings.family);
    let questions: Vec<Question> = pairs
        .iter()
        .zip(&tested)
        .map(|((metric, side), tested)| Question {
            side: *side,
            better: readings.metrics[*metric].better,
            evidence: match tested {
                Ok(tested) => Ok(Evidence::of_t(&tested.test, tested.repetitions, comparisons, settings)),
                Err((doubt, _)) => Err(*doubt),
            },
        })
        .collect();
    let judged = judge(&questions, settings);
    let rows = pairs.iter().zip(tested).zip(questions.iter().zip(judged)).map(
        |(((metric, side), tested), (question, judged))| {
            let evidence = question.evidence.as_ref().ok();
            let (level, [baseline, other]) = match tested {
                Ok(tested) => (Some(tested.level), tested.centres.map(Some)),
                Err((_, centres)) => (None, centres),
            };
            let ratio = evidence.map(|evidence| Ratio {
                value: evidence.log_ratio.exp(),
                interval: evidence.interval.map(|interval| (interval.low.exp(), interval.high.exp())),
            });
            Compared {
                metric: *metric,
                side: *side,
                ratio: ratio.or_else(|| ratio_alone(baseline, other)),
                baseline,
                other,
                verdict: judged.verdict,
                level,
                p_difference: judged.p_difference,
                p_equivalence: judged.p_equivalence,
                least_ratio: evidence.and_then(Evidence::least_ratio),
            }
        },
    );
    Comparison {
        confidence: settings.confidence(),
        margin: settings.margin(),
        method: Method::Fixed,
        family: settings.family,
        comparisons: u32::try_from(comparisons).unwrap_or(u32::MAX),
        rows: rows.collect(),
        control: None,
        order: Vec::new(),
    }
}

/// Of what cannot be tested the ratio is still told, without an interval.
fn ratio_alone(baseline: Option<Centre>, other: Option<Centre>) -> Option<Ratio> {
    let value = other?.value / baseline?.value;
    value.is_finite().then_some(Ratio { value, interval: None })
}

struct Tested {
    test: WelchT,
    level: Level,
    repetitions: u32,
    centres: [Centre; 2],
}

type Untested = (Doubt, [Option<Centre>; 2]);

fn tested(readings: &Readings, metric: usize, side: usize, settings: &Settings) -> Result<Tested, Untested> {
    let summary = |side| readings.summaries.iter().find(|row| row.side == side && row.metric == metric);
    if let (Some(baseline), Some(other)) = (summary(0), summary(side)) {
        return of_summaries(baseline, other, settings);
    }
    let baseline = Logs::of(readings, 0, metric);
    let other = Logs::of(readings, side, metric);
    let alone = |logs: &Result<Logs<'_>, Doubt>| {
        logs.as_ref().ok().map(|logs| logs.centre(Level::Run, 0, settings.confidence()))
    };
    let (baseline, other) = match (baseline, other) {
        (Ok(baseline), Ok(other)) => (baseline, other),
        (baseline, other) => {
            let centres = [alone(&baseline), alone(&other)];
            let doubts = [baseline.err(), other.err()];
            let worst = doubts.iter().flatten().find(|doubt| **doubt == Doubt::NotPositive);
            return Err((worst.copied().unwrap_or(Doubt::Missing), centres));
        }
    };
    let (level, blocks, repetitions, test) = match Setting::of(&baseline, &other) {
        Setting::Paired(contrasts) => {
            let blocks = u32::try_from(contrasts.len()).unwrap_or(u32::MAX);
            (Level::Block, blocks, blocks, one_sample_t(&contrasts, Alternative::TwoSided))
        }
        Setting::Apart(level, ours, theirs) => {
            let fewer = u32::try_from(ours.len().min(theirs.len())).unwrap_or(u32::MAX);
            (level, 0, fewer, welch_t(&theirs, &ours, Alternative::TwoSided))
        }
    };
    let of = |logs: &Logs<'_>| logs.centre(level, blocks, settings.confidence());
    let centres = [of(&baseline), of(&other)];
    match test {
        Ok(test) => Ok(Tested { test, level, repetitions, centres }),
        Err(_) if repetitions < 2 => Err((Doubt::TooFew, centres.map(Some))),
        Err(_) => Err((Doubt::NoScatter, centres.map(Some))),
    }
}

fn of_summaries(baseline: &SummaryRow, other: &SummaryRow, settings: &Settings) -> Result<Tested, Untested> {
    let summary = |row: &SummaryRow| Summary { mean: row.mean, deviation: row.deviation, count: row.count };
    let centre = |row: &SummaryRow, logs: Option<Summary>| Centre {
        value: logs.map_or(row.mean, |logs| logs.mean.exp()),
        interval: logs.and_then(|logs| ends(logs.interval(settings.confidence()))),
        counts: Counts { parts: 1, sessions: 1, blocks: 0, runs: row.count },
    };
    let logs = [baseline, other].map(|row| summary(row).logarithms().ok());
    let centres = [centre(baseline, logs[0]), centre(other, logs[1])];
    let [Some(ours), Some(theirs)] = logs else { return Err((Doubt::NotPositive, centres.map(Some))) };
    let repetitions = ours.count.min(theirs.count);
    match welch_t_of(theirs, ours, Alternative::TwoSided) {
        Ok(test) => Ok(Tested { test, level: Level::Run, repetitions, centres }),
        Err(_) if repetitions < 2 => Err((Doubt::TooFew, centres.map(Some))),
        Err(_) => Err((Doubt::NoScatter, centres.map(Some))),
    }
}
