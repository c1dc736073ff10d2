//! Findings against the truth. The rules stand in docs/fleet.md.

mod area;
mod discard;
mod drive;
mod faint;
mod memory;

pub(crate) use faint::stands_out;

use flashscope_model::finding::Penalty;
use flashscope_model::fleet::Verdict;
use flashscope_model::{Estimate, Finding, Geometry};
use flashscope_sim::truth::{DriveTruth, Fact, PenaltyTruth, Truth};
use flashscope_units::Bytes;
use std::fmt::Display;

/// What is scored: a finding, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Parameter {
    /// A finding.
    Of(Finding),
    /// Whether the size of an SLC cache depends on how full the device is, apart from that size.
    SlcKind,
}

/// One finding, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Which one.
    pub parameter: Parameter,
    /// How it stands.
    pub verdict: Verdict,
    /// Whether it claims an area where there is none.
    pub false_alarm: bool,
    /// The confidence of whatever was claimed (a value or a bound), and whether the claim is true.
    pub claim: Option<(f64, bool)>,
    /// What was said, in words.
    pub said: String,
    /// What is true, in words.
    pub truth: String,
    /// The finding's evidence, or why it is none.
    pub because: String,
    /// Whether the device's truth says that it shows.
    pub declared: bool,
}

/// A ratio within this factor is right.
pub const RATIO_TOLERANCE: f64 = 1.25;

impl Parameter {
    /// All of them, in the order of the tables.
    pub fn all() -> Vec<Parameter> {
        let scored = Finding::ALL.iter().filter(|finding| is_scored(**finding));
        scored.flat_map(|finding| [Some(Parameter::Of(*finding)), part_of(*finding)]).flatten().collect()
    }

    /// Its name in tables.
    pub const fn words(self) -> &'static str {
        match self {
            Parameter::Of(finding) => finding.label(),
            Parameter::SlcKind => "… static or dynamic",
        }
    }

    /// Its name in JSON, as in the record.
    pub const fn field(self) -> &'static str {
        match self {
            Parameter::Of(finding) => finding.wire(),
            Parameter::SlcKind => "slc_cache_kind",
        }
    }
}

/// A part of a finding that has a score of its own.
fn part_of(finding: Finding) -> Option<Parameter> {
    (finding == Finding::SlcCache).then_some(Parameter::SlcKind)
}

/// Not so of what no truth says a single figure of: how long a buffer or a cache needs depends on what is in it, and write
/// amplification on the work (held by proof/tests/collection.rs). What was never written is read, not inferred. States and capacities have fleets of their own.
fn is_scored(finding: Finding) -> bool {
    use Finding::{DataOrder, Genuine, HoldsData, LifeUsed, State, TrueCapacity};
    use Finding::{NeverWritten, SlcCacheRecovery, WriteAmplification, WriteBufferFlushWindow};
    !matches!(
        finding,
        WriteBufferFlushWindow
            | SlcCacheRecovery
            | WriteAmplification
            | NeverWritten
            | Genuine
            | TrueCapacity
            | HoldsData
            | DataOrder
            | LifeUsed
            | State
    )
}

/// Every finding of a geometry, in the order of [`Parameter::all`].
pub fn judge(truth: &Truth, found: &Geometry) -> Vec<Judged> {
    Parameter::all().into_iter().map(|parameter| judge_one(parameter, truth, found)).collect()
}

/// One finding. A card has one die as far as anybody sees, no cache of fast cells and all of its map in memory.
fn judge_one(parameter: Parameter, truth: &Truth, found: &Geometry) -> Judged {
    use Finding as F;
    let memory = &truth.memory;
    let inside = truth.drive.as_ref();
    let sizes = |pick: fn(&DriveTruth) -> &Fact<Bytes>| inside.map_or_else(Fact::none, |drive| pick(drive).clone());
    let counts = |pick: fn(&DriveTruth) -> &Fact<u32>| inside.map_or_else(Fact::none, |drive| pick(drive).clone());
    let twice_as_many = |a, b| a == 2 * b || b == 2 * a;
    let Parameter::Of(finding) = parameter else {
        let fact = inside.map_or_else(Fact::none, |drive| drive.slc_kind.clone());
        return of(&fact, drive::slc_kind(parameter, &fact, &found.slc_cache));
    };
    let size = |fact: &Fact<Bytes>, estimate: &Estimate<Bytes>| of(fact, plain(parameter, fact, estimate, twice));
    let count = |fact: &Fact<u32>, estimate: &Estimate<u32>, near: fn(u32, u32) -> bool| {
        of(fact, plain(parameter, fact, estimate, near))
    };
    match finding {
        F::AllocationUnit => size(&truth.allocation_unit, &found.allocation_unit),
        F::BoundaryOffset => {
            let fact = &truth.boundary_offset;
            of(fact, plain(parameter, fact, &found.boundary_offset, |_, _| false))
        }
        F::Page => size(&truth.page, &found.page),
        F::PageInner => size(&truth.page_inner, &found.page_inner),
        F::OpenUnitsLinear => count(&truth.open_units_linear, &found.open_units_linear, next_to),
        F::OpenUnitsRandom => count(&truth.open_units_random, &found.open_units_random, next_to),
        F::RandomOrderPenalty => penalty(parameter, &truth.random_order_penalty, &found.random_order_penalty),
        F::FastArea => of(&truth.fast_area, area::presence(parameter, truth, &found.fast_area)),
        F::FastAreaParts => of(&truth.fast_area_parts, area::parts(parameter, truth, &found.fast_area_parts)),
        F::SmallWritePath => size(&truth.small_write_path, &found.small_write_path.clone().map(|path| path.size)),
        F::WriteBuffer => {
            of(&memory.write_buffer, memory::write_buffer(parameter, &memory.write_buffer, &found.write_buffer))
        }
        F::WriteBufferVolatile => {
            memory::of_write_buffer(parameter, &memory.volatile, found, &found.write_buffer_volatile)
        }
        F::WriteBufferFlushedByRead => {
            memory::of_write_buffer(parameter, &memory.flushed_by_read, found, &found.write_buffer_flushed_by_read)
        }
        F::ReadBuffer => {
            of(&memory.read_buffer, memory::read_buffer(parameter, &memory.read_buffer, &found.read_buffer))
        }
        F::ReadAhead => of(&memory.read_ahead, memory::read_ahead(parameter, &memory.read_ahead, &found.read_ahead)),
        F::Collection => of(&truth.stalls, memory::stalls(parameter, &truth.stalls, &found.collection)),
        F::Mapping => {
            let fact = truth.mapping_kind.clone().map(drive::Word);
            of(&fact, plain(parameter, &fact, &found.mapping.clone().map(drive::Word), |_, _| false))
        }
        F::Stripe => size(&sizes(|drive| &drive.stripe), &found.stripe),
        F::ParallelUnits => count(&counts(|drive| &drive.parallel_units), &found.parallel_units, twice_as_many),
        F::Channels => count(&counts(|drive| &drive.channels), &found.channels, twice_as_many),
        F::SlcCache => {
            let fact = sizes(|drive| &drive.slc_cache);
            of(&fact, drive::slc_cache(parameter, &fact, &found.slc_cache, truth.size.real))
        }
        F::MapReach => {
            let fact = sizes(|drive| &drive.map_reach);
            of(&fact, drive::within(parameter, &fact, &found.map_reach, drive::REACH_TOLERANCE))
        }
        F::BitsPerCell => count(&counts(|drive| &drive.bits_per_cell), &found.bits_per_cell, next_to),
        F::PhysicalOverUser => {
            let fact = inside.map_or_else(Fact::none, |drive| drive.physical_over_user.clone());
            of(&fact, drive::spare(parameter, &fact, &found.physical_over_user))
        }
        F::Discard => of(&truth.discard, discard::discard(parameter, &truth.discard, &found.discard)),
        F::WriteBufferFlushWindow
        | F::SlcCacheRecovery
        | F::WriteAmplification
        | F::NeverWritten
        | F::Genuine
        | F::TrueCapacity
        | F::HoldsData
        | F::DataOrder
        | F::LifeUsed
        | F::State => {
            unreachable!("{finding:?} is not scored")
        }
    }
}

/// A judgement, with whether the truth says that the finding shows.
fn of<T>(fact: &Fact<T>, judged: Judged) -> Judged {
    Judged { declared: fact.can_be_told && fact.value.is_some(), ..judged }
}

fn twice(a: Bytes, b: Bytes) -> bool {
    a == b * 2 || b == a * 2
}

fn next_to(a: u32, b: u32) -> bool {
    a.abs_diff(b) == 1
}

/// A figure that is right when it is the value or an alias of it.
fn plain<T: PartialOrd + Copy + Display>(
    parameter: Parameter,
    fact: &Fact<T>,
    estimate: &Estimate<T>,
    near: impl Fn(T, T) -> bool,
) -> Judged {
    let right = |value: T| fact.value == Some(value) || fact.aliases.contains(&value);
    let verdict = match (estimate.value(), estimate.least(), estimate.most()) {
        (Some(value), ..) if right(value) => Verdict::Exact,
        (Some(value), ..) if fact.value.is_some_and(|truth| near(truth, value)) => Verdict::OneStep,
        (Some(_), ..) => Verdict::Wrong,
        (None, None, None) => Verdict::Silent,
        (None, least, most) => bound(fact, least, most),
    };
    // A bound that holds is a true claim, however little it says.
    let holds = matches!(verdict, Verdict::Exact | Verdict::Silent);
    let said = match (estimate.value(), estimate.least(), estimate.most()) {
        (Some(value), ..) => value.to_string(),
        (None, Some(least), Some(most)) => format!("{least} to {most}"),
        (None, Some(least), None) => format!("at least {least}"),
        (None, None, Some(most)) => format!("at most {most}"),
        (None, None, None) => "cannot tell".to_owned(),
    };
    judged(parameter, verdict, estimate, holds, said, in_words(fact))
}

fn bound<T: PartialOrd + Copy>(fact: &Fact<T>, least: Option<T>, most: Option<T>) -> Verdict {
    let Some(truth) = fact.value else {
        // Without a limit any lower bound is right, and no upper one is.
        return if most.is_none() { Verdict::Exact } else { Verdict::Wrong };
    };
    let holds = |value: T| least.is_none_or(|least| least <= value) && most.is_none_or(|most| value <= most);
    if !holds(truth) && !fact.aliases.iter().any(|alias| holds(*alias)) {
        return Verdict::Wrong;
    }
    let enough = least.is_some_and(|least| fact.at_least.is_some_and(|needed| least >= needed));
    if enough && most.is_none() { Verdict::Exact } else { Verdict::Silent }
}

fn penalty(parameter: Parameter, truth: &[PenaltyTruth], estimate: &Estimate<Penalty>) -> Judged {
    let judged = |verdict, holds, said, words| Judged {
        declared: !truth.is_empty(),
        ..judged(parameter, verdict, estimate, holds, said, words)
    };
    let all: Vec<String> = truth.iter().map(|at| format!("{:.1}× at {}", at.ratio, at.block)).collect();
    let words = all.join(", ");
    let Some(found) = estimate.value() else {
        return judged(Verdict::Silent, true, "cannot tell".to_owned(), words);
    };
    let said = format!("{:.1}× at {}", found.ratio, found.block);
    let Some(right) = truth.iter().find(|right| right.block == found.block) else {
        return judged(Verdict::Unscored, true, said, words);
    };
    // A trial may stop before the unit is full: anything between the two truths is right as well.
    let (low, high) = (right.ratio.min(right.at_first), right.ratio.max(right.at_first));
    let off = (found.ratio / found.ratio.clamp(low, high)).ln().abs();
    let verdict = match off / RATIO_TOLERANCE.ln() {
        steps if steps <= 1.0 => Verdict::Exact,
        steps if steps <= 2.0 => Verdict::OneStep,
        _ => Verdict::Wrong,
    };
    let here = format!("{:.1}× at {}", right.ratio, right.block);
    judged(verdict, verdict == Verdict::Exact, said, here)
}

fn judged<T>(
    parameter: Parameter,
    verdict: Verdict,
    estimate: &Estimate<T>,
    holds: bool,
    said: String,
    truth: String,
) -> Judged {
    let claim = estimate.confidence().filter(|_| verdict != Verdict::Unscored).map(|share| (share, holds));
    let because = estimate.evidence().to_owned();
    Judged { parameter, verdict, false_alarm: false, claim, said, truth, because, declared: false }
}

fn in_words<T: Display>(fact: &Fact<T>) -> String {
    let mut words = fact.value.as_ref().map_or("none".to_owned(), ToString::to_string);
    for alias in &fact.aliases {
        words.push_str(&format!(", or {alias}"));
    }
    if !fact.can_be_told {
        words.push_str(" (hidden)");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::Reason;

    fn fact<T>(value: Option<T>, aliases: Vec<T>, at_least: Option<T>) -> Fact<T> {
        Fact { value, aliases, at_least, can_be_told: true, note: String::new() }
    }

    #[test]
    fn sizes_are_right_by_value_or_alias_and_near_by_a_factor_of_two() {
        let check = |value: Option<u64>, expect: Verdict| {
            let estimate = match value {
                Some(value) => Estimate::known(Bytes::mib(value), 0.9, "", &[]),
                None => Estimate::unknown(Reason::NothingShows, ""),
            };
            let truth = fact(Some(Bytes::mib(4)), vec![Bytes::mib(12)], None);
            assert_eq!(
                plain(Parameter::Of(Finding::AllocationUnit), &truth, &estimate, twice).verdict,
                expect,
                "{value:?}"
            );
        };
        check(Some(4), Verdict::Exact);
        check(Some(12), Verdict::Exact);
        check(Some(2), Verdict::OneStep);
        check(Some(8), Verdict::OneStep);
        check(Some(3), Verdict::Wrong);
        check(None, Verdict::Silent);
    }

    #[test]
    fn bounds_must_hold_and_reach_far_enough() {
        let check = |truth: Option<u32>, enough: Option<u32>, least: u32, expect: Verdict, holds: bool| {
            let estimate = Estimate::at_least(least, 0.9, "", &[]);
            let judged =
                plain(Parameter::Of(Finding::OpenUnitsLinear), &fact(truth, vec![], enough), &estimate, next_to);
            assert_eq!((judged.verdict, judged.claim), (expect, Some((0.9, holds))), "{truth:?} {least}");
        };
        check(Some(8), Some(8), 8, Verdict::Exact, true);
        check(Some(8), Some(8), 5, Verdict::Silent, true);
        check(Some(8), Some(8), 9, Verdict::Wrong, false);
        check(None, None, 3, Verdict::Exact, true);
    }

    #[test]
    fn a_penalty_is_right_within_a_quarter_at_its_own_block() {
        let check = |ratio: f64, block: u64, expect: Verdict| {
            let rate = flashscope_units::ByteRate(1.0);
            let found = Penalty { ratio, block: Bytes::kib(block), in_order: rate, random: rate };
            let truth = [PenaltyTruth { ratio: 100.0, at_first: 100.0, block: Bytes::kib(16) }];
            assert_eq!(
                penalty(Parameter::Of(Finding::RandomOrderPenalty), &truth, &Estimate::known(found, 0.9, "", &[]))
                    .verdict,
                expect,
                "{ratio}"
            );
        };
        check(81.0, 16, Verdict::Exact);
        check(124.0, 16, Verdict::Exact);
        check(150.0, 16, Verdict::OneStep);
        check(40.0, 16, Verdict::Wrong);
        check(100.0, 8, Verdict::Unscored);
    }
}
