//! From the record of a run to its figures and answers.

use anyhow::anyhow;
use flashscope_model::AnyRecord;
use flashscope_model::StopReason;
use flashscope_model::integrity::IntegrityRecord;
use flashscope_model::qualification::{FigureUnit, FigureValue, RunOutcome};
use flashscope_model::stress::Stress;
use flashscope_view::figures::{Figure, measured};
use serde_json::Value;

/// Figures, by the names that `compare` uses, and what the record answers with yes or no.
pub(super) fn of(record: &AnyRecord) -> RunOutcome {
    let mut figures = repeated(measured(record).runs.into_iter().flatten());
    let mut answers = Vec::new();
    let size = |name: &str, size: flashscope_units::Bytes| FigureValue {
        name: name.to_owned(),
        unit: FigureUnit::Bytes.word().to_owned(),
        value: size.as_f64(),
    };
    match record {
        AnyRecord::Capacity(capacity) => {
            figures.push(size("claimed size", capacity.claimed()));
            figures.extend(capacity.verdict.true_size.map(|between| size("true size", between.low)));
            let genuine = match (capacity.is_sound(), capacity.is_bad()) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            };
            answers.push(("genuine".to_owned(), genuine));
        }
        AnyRecord::Memory(memory) => {
            answers.extend(memory.stress.as_ref().map(|stress| ("no errors".to_owned(), no_errors(stress))));
        }
        AnyRecord::Integrity(integrity) => answers.push(("kept".to_owned(), kept(integrity))),
        AnyRecord::Run(run) => {
            figures.extend(run.envelope.device.as_ref().map(|device| size("claimed size", device.capacity)));
        }
        _ => {}
    }
    match &record.envelope().stop {
        StopReason::Complete => RunOutcome::Done { figures, answers },
        early => RunOutcome::Failed { why: format!("it ended early: {early:?}") },
    }
}

/// What a command measured several times within one run is one figure of it: their geometric mean.
fn repeated(figures: impl Iterator<Item = Figure>) -> Vec<FigureValue> {
    let mut all: Vec<(FigureValue, f64)> = Vec::new();
    for Figure { metric, value } in figures {
        match all.iter_mut().find(|(one, _)| one.name == metric.name && one.unit == metric.unit) {
            Some((one, count)) => {
                one.value = ((one.value.ln() * *count + value.ln()) / (*count + 1.0)).exp();
                *count += 1.0;
            }
            None => all.push((FigureValue { name: metric.name, unit: metric.unit, value }, 1.0)),
        }
    }
    all.into_iter().map(|(figure, _)| figure).collect()
}

/// Whether everything that was acknowledged survived every cut: what broke after one cut is broken, and without a cut nothing is
/// known.
fn kept(record: &IntegrityRecord) -> Option<bool> {
    match (record.verdict.cuts, record.verdict.broken, &record.verdict.ended) {
        (_, broken, _) if broken > 0 => Some(false),
        (0, ..) | (.., Some(_)) => None,
        (_, _, None) => Some(true),
    }
}

/// Whether all of the tested memory held what was written to it: one wrong word is enough, and without one whole look at it nothing
/// is known.
fn no_errors(stress: &Stress) -> Option<bool> {
    match (stress.has_errors(), stress.passes) {
        (true, _) => Some(false),
        (false, 0) => None,
        (false, _) => Some(true),
    }
}

/// What `mmc check` found, which is no record of the common form.
///
/// # Errors
/// Where it is not of that form.
pub(super) fn of_registers(text: &str) -> anyhow::Result<RunOutcome> {
    let found: Value = serde_json::from_str(text)?;
    let features = found["features"].as_array().ok_or_else(|| anyhow!("it names no features"))?;
    let count = |word: &str| features.iter().filter(|feature| feature["outcome"] == word).count();
    let (works, fails) = (count("works"), count("fails"));
    let answer = match (works, fails) {
        (_, 1..) => Some(false),
        (0, 0) => None,
        _ => Some(true),
    };
    let counted = |name: &str, count: usize| FigureValue {
        name: name.to_owned(),
        unit: FigureUnit::Count.word().to_owned(),
        value: count as f64,
    };
    Ok(RunOutcome::Done {
        figures: vec![counted("features that work", works), counted("features that fail", fails)],
        answers: vec![("as registers say".to_owned(), answer)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_without_errors_is_what_was_looked_at_whole() {
        let looked = |passes, wrong| Stress { passes, wrong, ..Stress::default() };
        assert_eq!(no_errors(&looked(3, 0)), Some(true));
        assert_eq!(no_errors(&looked(3, 1)), Some(false));
        assert_eq!(no_errors(&looked(0, 1)), Some(false));
        assert_eq!(no_errors(&looked(0, 0)), None);
    }

    #[test]
    fn one_feature_that_fails_is_enough() {
        let check = |outcomes: &[&str], expect: Option<bool>| {
            let features: Vec<Value> =
                outcomes.iter().map(|outcome| serde_json::json!({ "outcome": outcome })).collect();
            let text = serde_json::json!({ "features": features }).to_string();
            let RunOutcome::Done { answers, .. } = of_registers(&text).unwrap() else { panic!("it is done") };
            assert_eq!(answers[0].1, expect, "{outcomes:?}");
        };
        check(&["works", "unsupported by host"], Some(true));
        check(&["works", "fails"], Some(false));
        check(&["unsupported by host"], None);
        assert!(of_registers("{}").is_err() && of_registers("no").is_err());
    }
}
