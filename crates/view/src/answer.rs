//! Findings in words: what stands in the columns of a report.

mod estimate;
mod figures;
mod memory;
mod run;

pub(crate) use estimate::claimed;
pub use estimate::{CLAIMED_FROM, reason};
pub use figures::mapping_word;
pub use run::{claims, cost, cut_short, floor, kind_word, path, state_word, warnings};

use crate::state;
use estimate::{none_above, none_below, of};
use figures::{area, area_parts, data_share, discard, penalty};
use flashscope_model::capacity::Genuineness;
use flashscope_model::{Estimate, ExperimentName, Finding, Geometry, Reason, RunRecord};
use flashscope_units::{Bytes, Nanos};

/// One finding, ready to be printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Which one.
    pub finding: Finding,
    /// Its name; indented where it belongs to the one above.
    pub name: &'static str,
    /// The figure or the bound; `None` where it is unknown.
    pub figure: Option<String>,
    /// What stands in place of a figure: `cannot tell`, `unknown`, `not measured`.
    pub without: &'static str,
    /// Where there is no figure, the likeliest and the next, with their probabilities: `leaning to 4 MiB, 41 %; else 8 MiB`.
    pub leaning: Option<String>,
    /// Probability that the figure or bound is right; `None` where none is given.
    pub confidence: Option<f64>,
    /// Other figures with their probabilities, where they are worth a line.
    pub alternatives: Vec<(String, f64)>,
    /// The evidence, or why it is unknown; empty where what stands in place of a figure says all.
    pub why: String,
    /// The experiments that it rests on.
    pub method: Vec<ExperimentName>,
}

impl Answer {
    /// The figure, or `cannot tell (leaning to 4 MiB, 41 %; else 8 MiB)`.
    pub fn verdict(&self) -> String {
        match (&self.figure, &self.leaning) {
            (Some(figure), _) => figure.clone(),
            (None, Some(leaning)) => format!("{} ({leaning})", self.without),
            (None, None) => self.without.to_owned(),
        }
    }

    /// Whether anything was measured that could answer it, or there is something to lean to.
    pub fn was_asked(&self) -> bool {
        self.figure.is_some() || self.leaning.is_some() || self.without == "cannot tell"
    }

    /// The first clause of the evidence: what shows the answer.
    pub fn clause(&self) -> &str {
        clause(&self.why)
    }

    /// Other figures in words: `or 8 MiB (9.0 %), 2 MiB (2.1 %)`; `None` where none is worth a word.
    pub fn others(&self) -> Option<String> {
        let each: Vec<String> =
            self.alternatives.iter().map(|(figure, share)| format!("{figure} ({})", percent(*share))).collect();
        (!each.is_empty()).then(|| format!("or {}", each.join(", ")))
    }
}

/// The first clause of a sentence of evidence; what stands in brackets is not cut.
pub fn clause(evidence: &str) -> &str {
    let mut depth = 0_u32;
    for (at, letter) in evidence.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ';' if depth == 0 => return &evidence[..at],
            _ => {}
        }
    }
    evidence
}

/// The findings that the report of a run has a line for: all there is to say, or what a diagnosis of the state answers.
pub fn of_run(run: &RunRecord) -> Vec<Answer> {
    let geometry = &run.findings.geometry;
    match state::is_diagnosis(run) {
        true => state::QUESTIONS.map(|finding| answer(finding, geometry)).into(),
        false => answers(geometry),
    }
}

/// What these findings are about, as a heading.
pub fn heading(run: &RunRecord) -> &'static str {
    if state::is_diagnosis(run) { "State" } else { "Geometry" }
}

/// The findings that a report has a line for, in its order.
pub fn answers(geometry: &Geometry) -> Vec<Answer> {
    let mut said: Vec<String> = Vec::new();
    // Of the inside of the controller, a second line with the same reason says nothing new.
    let mut worth_a_line = |answer: &Answer| {
        let new = !said.contains(&answer.why);
        said.push(answer.why.clone());
        answer.figure.is_some() || new || answer.finding < Finding::Mapping
    };
    Finding::ALL
        .iter()
        .filter(|finding| has_a_line(**finding, geometry))
        .map(|finding| answer(*finding, geometry))
        .filter(|answer| worth_a_line(answer))
        .collect()
}

/// Whether a report has a line for a finding: what nobody asked for, what another line says already and what is so on
/// nearly every device has none.
fn has_a_line(finding: Finding, geometry: &Geometry) -> bool {
    use Finding as F;
    match finding {
        F::AllocationUnit
        | F::Page
        | F::OpenUnitsLinear
        | F::OpenUnitsRandom
        | F::RandomOrderPenalty
        | F::FastArea
        | F::SmallWritePath
        | F::WriteBuffer
        | F::ReadBuffer
        | F::ReadAhead => true,
        F::BoundaryOffset => claimed(&geometry.boundary_offset).is_some_and(|offset| *offset > Bytes::ZERO),
        F::PageInner => !geometry.page_inner.is_unknown(),
        F::FastAreaParts => claimed(&geometry.fast_area_parts).is_some(),
        // How large it is may not show where that it is volatile does.
        F::WriteBufferVolatile => {
            has_buffer(geometry)
                || geometry.write_buffer.is_unknown() && claimed(&geometry.write_buffer_volatile).is_some()
        }
        F::WriteBufferFlushedByRead | F::WriteBufferFlushWindow => has_buffer(geometry),
        F::Collection => claimed(&geometry.collection).is_some(),
        F::Mapping => was_looked_for(&geometry.mapping),
        F::Stripe => was_looked_for(&geometry.stripe),
        F::ParallelUnits => was_looked_for(&geometry.parallel_units),
        F::Channels => was_looked_for(&geometry.channels),
        F::SlcCache => was_looked_for(&geometry.slc_cache),
        F::SlcCacheRecovery => !geometry.slc_cache_recovery.is_unknown(),
        F::MapReach => was_looked_for(&geometry.map_reach),
        F::BitsPerCell => was_looked_for(&geometry.bits_per_cell),
        F::WriteAmplification => was_looked_for(&geometry.write_amplification),
        F::PhysicalOverUser => was_looked_for(&geometry.physical_over_user),
        F::Discard => was_looked_for(&geometry.discard),
        F::Genuine => was_looked_for(&geometry.genuine),
        F::TrueCapacity => claimed(&geometry.genuine).is_some_and(|kind| *kind != Genuineness::Genuine),
        F::NeverWritten => claimed(&geometry.never_written).is_some_and(|share| *share > 0.0),
        // A diagnosis has lines of its own; elsewhere the state sums them up.
        F::HoldsData | F::DataOrder | F::LifeUsed => false,
        F::State => claimed(&geometry.state).is_some(),
    }
}

fn has_buffer(geometry: &Geometry) -> bool {
    claimed(&geometry.write_buffer).is_some()
}

/// Not so where nobody asked, unless there is something to say of that.
fn was_looked_for<T>(estimate: &Estimate<T>) -> bool {
    let reason = estimate.reason();
    !matches!(reason, Some(Reason::NotMeasured | Reason::NotLookedFor)) || !estimate.evidence().is_empty()
}

/// One finding in words.
pub fn answer(finding: Finding, geometry: &Geometry) -> Answer {
    use Finding as F;
    let size = Bytes::to_string;
    let count = u32::to_string;
    let ratio = |ratio: &f64| format!("{ratio:.2}×");
    let unit = claimed(&geometry.allocation_unit).copied();
    match finding {
        F::AllocationUnit => of(finding, &geometry.allocation_unit, size),
        F::BoundaryOffset => of(finding, &geometry.boundary_offset, size),
        F::Page => of(finding, &geometry.page, size),
        F::PageInner => of(finding, &geometry.page_inner, size),
        F::OpenUnitsLinear => of(finding, &geometry.open_units_linear, count),
        F::OpenUnitsRandom => of(finding, &geometry.open_units_random, count),
        F::RandomOrderPenalty => of(finding, &geometry.random_order_penalty, penalty),
        F::FastArea => of(finding, &geometry.fast_area, |found| area(found, unit)),
        F::FastAreaParts => of(finding, &geometry.fast_area_parts, |parts| area_parts(parts)),
        F::SmallWritePath => of(finding, &geometry.small_write_path, |up_to| format!("≤ {}", up_to.size)),
        F::WriteBuffer => none_above(finding, &geometry.write_buffer, memory::write_buffer, |buffer| buffer.size),
        F::WriteBufferVolatile => of(finding, &geometry.write_buffer_volatile, memory::yes),
        F::WriteBufferFlushedByRead => of(finding, &geometry.write_buffer_flushed_by_read, memory::yes),
        F::WriteBufferFlushWindow => of(finding, &geometry.write_buffer_flush_window, Nanos::to_string),
        F::ReadBuffer => none_above(finding, &geometry.read_buffer, size, |size| *size),
        F::ReadAhead => of(finding, &geometry.read_ahead, memory::read_ahead),
        F::Collection => of(finding, &geometry.collection, memory::collection),
        F::Mapping => of(finding, &geometry.mapping, |kind| mapping_word(*kind).to_owned()),
        F::Stripe => of(finding, &geometry.stripe, size),
        F::ParallelUnits => of(finding, &geometry.parallel_units, count),
        F::Channels => of(finding, &geometry.channels, count),
        F::SlcCache => none_below(finding, &geometry.slc_cache),
        F::SlcCacheRecovery => of(finding, &geometry.slc_cache_recovery, Nanos::to_string),
        F::MapReach => of(finding, &geometry.map_reach, size),
        F::BitsPerCell => of(finding, &geometry.bits_per_cell, count),
        F::WriteAmplification => of(finding, &geometry.write_amplification, ratio),
        F::PhysicalOverUser => of(finding, &geometry.physical_over_user, ratio),
        F::Discard => of(finding, &geometry.discard, discard),
        F::Genuine => of(finding, &geometry.genuine, |kind| genuine(*kind)),
        F::TrueCapacity => of(finding, &geometry.true_capacity, size),
        F::NeverWritten => of(finding, &geometry.never_written, |share| percent(*share)),
        F::HoldsData => of(finding, &geometry.holds_data, data_share),
        F::DataOrder => of(finding, &geometry.data_order, |order| order.word().to_owned()),
        F::LifeUsed => of(finding, &geometry.life_used, |share| percent(*share)),
        F::State => of(finding, &geometry.state, |state| state.word().to_owned()),
    }
}

/// Whether a device is genuine, in words.
fn genuine(kind: Genuineness) -> String {
    match kind {
        Genuineness::Genuine => "yes".to_owned(),
        fake => format!("no: {}", fake.name()),
    }
}

/// What stands in the line of a finding that belongs to the line above it.
fn name(finding: Finding) -> &'static str {
    match finding {
        Finding::BoundaryOffset => "  first one begins at",
        Finding::FastAreaParts => "  inside it",
        Finding::WriteBufferVolatile => "  volatile",
        Finding::WriteBufferFlushedByRead => "  flushed by a read",
        Finding::WriteBufferFlushWindow => "  flushed after",
        other => other.label(),
    }
}

/// A probability as printed: never rounded up to certainty, never down to impossibility.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 99.94 && share < 1.0 => "> 99.9 %".to_owned(),
        percent if percent < 0.05 && share > 0.0 => "< 0.1 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::finding::{BufferLimit, WriteBuffer};

    #[test]
    fn probabilities_never_round_to_certainty() {
        let check = |share: f64, expect: &str| assert_eq!(percent(share), expect);
        check(0.999, "99.9 %");
        check(0.9996, "> 99.9 %");
        check(1.0, "100.0 %");
        check(0.58, "58.0 %");
        check(0.0001, "< 0.1 %");
        check(0.0, "0.0 %");
    }

    #[test]
    fn a_clause_ends_outside_of_brackets() {
        assert_eq!(clause("one (a; b), two; three"), "one (a; b), two");
        assert_eq!(clause("one"), "one");
        assert_eq!(clause(""), "");
    }

    #[test]
    fn what_a_buffer_has_is_told_only_where_there_is_one() {
        let mut geometry = Geometry::unknown(Reason::NotMeasured);
        let named =
            |geometry: &Geometry, what: Finding| answers(geometry).into_iter().find(|answer| answer.finding == what);
        let buffer = WriteBuffer { size: Bytes::kib(64), limit: BufferLimit::Bytes, block: Bytes::kib(4), writes: 16 };
        geometry.write_buffer = Estimate::at_most(buffer, 0.98, "each write waits", &[ExperimentName::Buffer]);
        let seen = named(&geometry, Finding::WriteBuffer).unwrap();
        assert_eq!(seen.figure.as_deref(), Some("none ≥ 64 KiB"));
        geometry.write_buffer_volatile = Estimate::known(true, 0.98, "a flush waits", &[ExperimentName::Buffer]);
        assert_eq!(named(&geometry, Finding::WriteBufferVolatile), None);
        geometry.write_buffer = Estimate::known(buffer, 0.98, "the 17th write waits", &[ExperimentName::Buffer]);
        assert_eq!(named(&geometry, Finding::WriteBuffer).unwrap().figure.as_deref(), Some("64 KiB"));
        assert!(named(&geometry, Finding::WriteBufferVolatile).is_some());
        geometry.write_buffer = Estimate::unknown(Reason::Ambiguous, "none of 1024 writes waits");
        assert!(named(&geometry, Finding::WriteBufferVolatile).is_some());
        assert_eq!(named(&geometry, Finding::WriteBufferFlushedByRead), None);
    }

    #[test]
    fn every_finding_can_be_said() {
        let geometry = Geometry::unknown(Reason::TooFew);
        for finding in Finding::ALL {
            assert_eq!(answer(*finding, &geometry).why, "too few samples", "{finding:?}");
        }
    }
}
