//! What was found of a controller's inside, held against the truth.

use super::{Judged, Parameter, Verdict, judged, plain, twice};
use flashscope_model::drive::{SlcCache, SlcKind};
use flashscope_model::{DriveFindings, Estimate};
use flashscope_sim::truth::{Fact, Truth};
use flashscope_units::Bytes;
use std::fmt::{Debug, Display, Formatter, Result};

/// A size within this factor is right.
const SIZE_TOLERANCE: f64 = 1.1;

/// A reach within this factor is right: the map goes by pages, and ranges by halves.
const REACH_TOLERANCE: f64 = 1.25;

/// Every finding of a drive, in the order of [`Parameter::ALL`]. A card has one die as far as anybody sees, no cache of
/// fast cells and all of its map in memory.
pub(super) fn judge(truth: &Truth, found: &DriveFindings) -> Vec<Judged> {
    let drive = truth.drive.as_ref();
    let absent = |pick: Option<&Fact<Bytes>>| pick.cloned().unwrap_or_else(none);
    let counts = |pick: Option<&Fact<u32>>| pick.cloned().unwrap_or_else(none);
    let slc = absent(drive.map(|drive| &drive.slc_cache));
    let cache = mapped(&found.slc_cache, |cache| cache.size);
    let slc_cache =
        far_enough(within(Parameter::SlcCache, &slc, &cache, SIZE_TOLERANCE), &slc, &cache, truth.size.real);
    vec![
        plain(Parameter::Mapping, &mapped_fact(&truth.mapping_kind), &mapped(&found.mapping, Word), |_, _| false),
        plain(Parameter::Stripe, &absent(drive.map(|drive| &drive.stripe)), &found.stripe, twice),
        plain(
            Parameter::ParallelUnits,
            &counts(drive.map(|drive| &drive.parallel_units)),
            &found.parallel_units,
            |a, b| a == 2 * b || b == 2 * a,
        ),
        plain(Parameter::Channels, &counts(drive.map(|drive| &drive.channels)), &found.channels, |a, b| {
            a == 2 * b || b == 2 * a
        }),
        slc_cache,
        slc_kind(drive.map(|drive| &drive.slc_kind), &found.slc_cache),
        spare(drive.map(|drive| &drive.physical_over_user), &found.physical_over_user),
        within(Parameter::MapReach, &absent(drive.map(|drive| &drive.map_reach)), &found.map_reach, REACH_TOLERANCE),
        plain(
            Parameter::BitsPerCell,
            &counts(drive.map(|drive| &drive.bits_per_cell)),
            &found.bits_per_cell,
            |a, b| a.abs_diff(b) == 1,
        ),
    ]
}

/// One that was measured once has no kind yet.
fn slc_kind(fact: Option<&Fact<SlcKind>>, cache: &Estimate<SlcCache>) -> Judged {
    let untested = Estimate::unknown("nobody tried at different fills");
    let tested = cache.value.filter(|cache| cache.kind != SlcKind::Untested);
    let kind = tested.map_or(untested, |_| mapped(cache, |cache| Word(cache.kind)));
    plain(Parameter::SlcKind, &mapped_fact(&fact.cloned().unwrap_or_else(none)), &kind, |_, _| false)
}

/// A bracket is right where it holds what is spare, be it all of it or what collection makes use of; one that is open, or
/// whose ends are more than a factor of this apart, is true and says too little.
const NARROW: f64 = 3.0;

fn spare(fact: Option<&Fact<f64>>, estimate: &Estimate<f64>) -> Judged {
    let fact = fact.cloned().unwrap_or_else(none);
    let (low, high) = (estimate.at_least, estimate.at_most);
    let holds = |truth: &f64| low.is_none_or(|low| low <= *truth) && high.is_none_or(|high| *truth <= high);
    let narrow = low.zip(high).is_some_and(|(low, high)| high - 1.0 <= NARROW * (low - 1.0));
    let said_something = estimate.value.is_some() || low.is_some() || high.is_some();
    let verdict = match fact.value.iter().chain(&fact.aliases).any(holds) {
        _ if !said_something => Verdict::Silent,
        true if narrow => Verdict::Exact,
        true => Verdict::Silent,
        false => Verdict::Wrong,
    };
    let ends = |end: Option<f64>| end.map_or("…".to_owned(), |end| format!("{end:.3}"));
    let said = if said_something { format!("{} to {}", ends(low), ends(high)) } else { "cannot tell".to_owned() };
    let truth: Vec<String> = fact.value.iter().chain(&fact.aliases).map(|value| format!("{value:.3}")).collect();
    let holds = verdict != Verdict::Wrong;
    judged(Parameter::PhysicalOverUser, verdict, estimate, holds, said, truth.join(", or "))
}

/// There is no such thing.
fn none<T>() -> Fact<T> {
    Fact { value: None, aliases: Vec::new(), at_least: None, can_be_told: false, note: String::new() }
}

/// A size that is right within a factor of the truth or of an alias of it, and near within its square.
fn within(parameter: Parameter, fact: &Fact<Bytes>, estimate: &Estimate<Bytes>, tolerance: f64) -> Judged {
    let Some(value) = estimate.value else { return plain(parameter, fact, estimate, twice) };
    let steps = |truth: &Bytes| (value.as_f64() / truth.as_f64()).ln().abs() / tolerance.ln();
    let nearest = fact.value.iter().chain(&fact.aliases).map(steps).fold(f64::INFINITY, f64::min);
    let verdict = match nearest {
        steps if steps <= 1.0 => Verdict::Exact,
        steps if steps <= 2.0 => Verdict::OneStep,
        _ => Verdict::Wrong,
    };
    let truth = fact.value.map_or("none".to_owned(), |size| size.to_string());
    let mut judged = judged(parameter, verdict, estimate, verdict == Verdict::Exact, value.to_string(), truth);
    judged.false_alarm = fact.value.is_none() && fact.aliases.is_empty();
    judged
}

/// "None up to X" says too little of a device without a cache where X is less than this share of it, but for the largest.
const CACHE_SHARE: u64 = 256;
const CACHE_ENOUGH: Bytes = Bytes::mib(128);

fn far_enough(judged: Judged, fact: &Fact<Bytes>, estimate: &Estimate<Bytes>, capacity: Bytes) -> Judged {
    let needed = (capacity / CACHE_SHARE).min(CACHE_ENOUGH);
    let short = fact.value.is_none() && estimate.at_least.is_some_and(|least| least < needed);
    let verdict = if short && judged.verdict == Verdict::Exact { Verdict::Silent } else { judged.verdict };
    Judged { verdict, ..judged }
}

/// A word that is compared as a whole.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Word<T>(T);

impl<T: Debug> Display for Word<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{:?}", self.0)
    }
}

fn mapped_fact<T: Copy>(fact: &Fact<T>) -> Fact<Word<T>> {
    Fact {
        value: fact.value.map(Word),
        aliases: fact.aliases.iter().copied().map(Word).collect(),
        at_least: fact.at_least.map(Word),
        can_be_told: fact.can_be_told,
        note: fact.note.clone(),
    }
}

fn mapped<T: Copy, U>(estimate: &Estimate<T>, as_other: impl Fn(T) -> U) -> Estimate<U> {
    Estimate {
        value: estimate.value.map(&as_other),
        confidence: estimate.confidence,
        at_least: estimate.at_least.map(&as_other),
        at_most: estimate.at_most.map(&as_other),
        alternatives: Vec::new(),
        evidence: estimate.evidence.clone(),
        method: estimate.method.clone(),
        reason_unknown: estimate.reason_unknown.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bracket_of_spare_space_is_judged_by_what_it_holds_and_how_wide_it_is() {
        let truth =
            Fact { value: Some(1.2), aliases: vec![1.1], at_least: None, can_be_told: true, note: String::new() };
        let check = |low: Option<f64>, high: Option<f64>, expect: Verdict| {
            let reason = (low.is_none() && high.is_none()).then(|| "nobody asked".to_owned());
            let found = Estimate { at_least: low, at_most: high, reason_unknown: reason, ..Estimate::unknown("") };
            assert_eq!(spare(Some(&truth), &found).verdict, expect, "{low:?} {high:?}");
        };
        check(Some(1.15), Some(1.25), Verdict::Exact);
        check(Some(1.08), Some(1.12), Verdict::Exact);
        check(Some(1.01), Some(1.4), Verdict::Silent);
        check(None, Some(1.4), Verdict::Silent);
        check(Some(1.25), Some(1.4), Verdict::Wrong);
        check(None, None, Verdict::Silent);
    }
}
