//! Figures and limits in words.

use flashscope_model::comparison::Level;
use flashscope_model::qualification::{Bound, FigureUnit, Limit, Part, Role};
use flashscope_units::{ByteRate, Bytes, Nanos};

/// A value in the unit of records.
pub(crate) fn amount(value: f64, unit: &str) -> String {
    match unit {
        "B/s" => ByteRate(value).to_string(),
        "ns" => Nanos(value.round() as u64).to_string(),
        "B" => Bytes(value.round() as u64).to_string(),
        "" | "count" => three(value),
        other => format!("{} {other}", three(value)),
    }
}

/// Three significant digits.
fn three(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 || size == 0.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// `at least 20 MB/s`, `at most 1.05 × the reference`.
pub(crate) fn limit(limit: Limit) -> String {
    let bound = |bound| match bound {
        Bound::AtLeast => "at least",
        Bound::AtMost => "at most",
    };
    match limit {
        Limit::Value { bound: side, value, unit } => format!("{} {}", bound(side), amount(value, unit.word())),
        Limit::Reference { bound: side, ratio } => format!("{} {ratio} × the reference", bound(side)),
        Limit::Holds => "yes".to_owned(),
    }
}

/// Whether figures of this unit are facts, which no repetition changes.
pub(crate) fn is_fact(unit: &str) -> bool {
    unit == FigureUnit::Bytes.word()
}

/// A share in per cent, with one digit where it is small.
pub(crate) fn percent(share: f64) -> String {
    let percent = 100.0 * share.abs();
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// For which parts a verdict holds.
pub(crate) fn scope(parts: &[Part], level: Option<Level>, has_boards: bool) -> String {
    let count = |role| parts.iter().filter(|part| part.role == role).count();
    let (references, candidates) = (count(Role::Reference), count(Role::Candidate));
    let what = if has_boards { "parts, each with its board" } else { "parts" };
    let session = match level {
        Some(Level::Run) => ", as they were in this one session each",
        _ => "",
    };
    match (references, candidates, level) {
        (_, _, Some(Level::Part)) => {
            format!("holds for the models: {references} reference and {candidates} candidate {what}")
        }
        (0, 1, _) => format!("holds for this one part{session}; a statement on its model needs three"),
        (0, several, _) => {
            format!("holds for these {several} candidate {what}{session}; a statement on the model needs three")
        }
        (1, 1, _) => format!("holds for these two {what}{session}; a statement on the models needs three of each"),
        _ => format!(
            "holds for these {references} reference and {candidates} candidate {what}{session}; a statement on the models needs three of each"
        ),
    }
}
