//! A fleet made readable: terminal text, one page with reliability plots, and tables.

mod page;
mod text;

pub use page::html;
pub use text::text;

use crate::sheet::sheet;
use crate::xlsx::{Cell, Sheet};
use flashscope_model::fleet::{FleetRecord, Row, Scoring, Verdict};

/// The answers to every question by every reader, and every answer of `inspect`; a sheet each.
pub fn sheets(fleet: &FleetRecord) -> Vec<Sheet> {
    let row = |scoring: &Scoring, reader: &str, row: &Row| -> Vec<Cell> {
        let counts = [
            row.devices,
            row.told,
            row.exact,
            row.exact_beyond,
            row.one_step,
            row.wrong,
            row.wrong_sure,
            row.missed,
            row.silent,
            row.unscored,
            row.false_alarms,
            row.unfound,
        ];
        let numbers = counts.into_iter().map(|count| Cell::from(u64::from(count)));
        [scoring.parameter.as_str().into(), reader.into()].into_iter().chain(numbers).collect()
    };
    let answers = fleet.parameters.iter().flat_map(|scoring| {
        let readers =
            [("inspect", Some(&scoring.inspect)), ("naive", scoring.naive.as_ref()), ("log", scoring.log.as_ref())];
        readers.into_iter().filter_map(move |(reader, counted)| Some(row(scoring, reader, counted?)))
    });
    let findings = fleet.devices.iter().flat_map(|device| {
        device.findings.iter().map(|scored| {
            vec![
                u64::from(device.index).into(),
                scored.parameter.as_str().into(),
                verdict(scored.verdict).into(),
                scored.confidence.into(),
                scored.said.as_str().into(),
                scored.truth.as_str().into(),
            ]
        })
    });
    vec![
        sheet("answers", &ANSWERS, answers.collect()),
        sheet("findings", &["device", "parameter", "verdict", "confidence", "said", "truth"], findings.collect()),
    ]
}

const ANSWERS: [&str; 14] = [
    "parameter",
    "reader",
    "devices",
    "can_be_told",
    "exact",
    "exact_beyond_reference",
    "one_step",
    "wrong",
    "wrong_or_one_step_at_confidence_99",
    "missed",
    "rightly_silent",
    "unscored",
    "false_alarms",
    "declared_but_not_found_by_reference",
];

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Exact => "exact",
        Verdict::OneStep => "one step beside",
        Verdict::Wrong => "wrong",
        Verdict::Silent => "silent",
        Verdict::Unscored => "unscored",
    }
}
