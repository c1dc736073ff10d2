//! Whether a space is as large as it says, from a full test ([`Full`]): all of it was written and read.
//!
//! Each place then holds what was written there, what was written elsewhere, or nothing of it. Where addresses begin anew,
//! those that share a place keep one of them, and the distances to where it was written are multiples of the period. What is
//! lost else lies behind an edge, or all over. [`shape`] tells these apart, [`verdict`] says how likely each is, by the same
//! table of counts as that of a quick test, in regimes of its own.

mod lost;
mod period;
mod shape;
mod words;

pub use shape::{FullShape, shape};

use super::{KIND, Raw, SIZE, claims, table};
use crate::calibrated::Table;
use flashscope_model::capacity::{Full, Genuineness, Verdict};

/// What the two questions came to, for those who make the table.
pub fn raw(full: &Full) -> Vec<Raw> {
    let shape = shape(full);
    let Some(kind) = shape.kind else { return Vec::new() };
    let regime = |of: &str| format!("full; {}; {of}", kind.word());
    let lost = if kind == Genuineness::Genuine { "nothing lost" } else { "something lost" };
    let exact = match shape.size {
        Some(size) if size.is_exact() => "known to the block",
        _ => "narrowed down",
    };
    vec![
        Raw { question: KIND, regime: regime(lost), score: shape.clarity() },
        Raw { question: SIZE, regime: regime(exact), score: shape.clarity() },
    ]
}

/// What follows from a full test.
pub fn verdict(full: &Full) -> Verdict {
    verdict_by(table(), full)
}

/// The same by another table.
pub fn verdict_by(table: &Table, full: &Full) -> Verdict {
    if full.directory.is_some() {
        // Where they lie on the device only the file system knows, so that no kind and no size is claimed.
        let (evidence, open) = words::of_files(full);
        return Verdict { evidence, open, ..Verdict::default() };
    }
    let shape = shape(full);
    let mut verdict = Verdict { evidence: words::evidence(full, &shape), ..Verdict::default() };
    (verdict.excluded, verdict.open) = words::exclusions(full, &shape);
    claims(table, &raw(full), shape.may_be_claimed, &mut verdict);
    if verdict.size_confidence.is_some() {
        verdict.true_size = shape.size;
        verdict.wrap = shape.period;
        verdict.damaged = shape.damaged;
    }
    verdict
}

#[cfg(test)]
mod tests;
