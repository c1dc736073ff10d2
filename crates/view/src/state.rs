//! A diagnosis in words: which state a device is in, what shows it, and what would tell more.

use crate::answer::{self, Answer, answer, percent};
use crate::card::{Row, Tone};
use flashscope_model::envelope::Kind;
use flashscope_model::{Finding, RunRecord};

/// What a diagnosis answers, the state first and then what it sums up.
pub(crate) const QUESTIONS: [Finding; 4] = [Finding::State, Finding::HoldsData, Finding::DataOrder, Finding::LifeUsed];

/// Whether a run asked for the state alone.
pub(crate) fn is_diagnosis(run: &RunRecord) -> bool {
    run.envelope.kind == Kind::State
}

/// The lines of a diagnosis: each answer, how sure it is, and the first clause of what shows it.
pub(crate) fn rows(run: &RunRecord) -> Vec<Row> {
    let line = |finding: Finding| {
        let answer = answer(finding, &run.findings.geometry);
        let tone = if answer.figure.is_some() { Tone::Plain } else { Tone::Open };
        Row { name: finding.label(), text: said(&answer), tone }
    };
    QUESTIONS.map(line).into()
}

/// `sequential (97.1 %): as likely as …`; the evidence only where it says something new.
fn said(answer: &Answer) -> String {
    let verdict = match answer.confidence {
        Some(share) => format!("{} ({})", answer.verdict(), percent(share)),
        None => answer.verdict(),
    };
    match answer.clause() {
        "" => verdict,
        clause => format!("{verdict}: {clause}"),
    }
}

/// The state in a line of another report: `full (98.2 %)`; `None` where it could not be told.
pub(crate) fn in_short(run: &RunRecord) -> Option<String> {
    let state = answer::answer(Finding::State, &run.findings.geometry);
    Some(format!("{} ({})", state.figure?, percent(state.confidence?)))
}
