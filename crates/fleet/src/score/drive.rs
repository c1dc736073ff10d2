//! What was found of a controller's inside, held against the truth.

use super::{Judged, Parameter, Verdict, judged, plain, twice};
use flashscope_model::Estimate;
use flashscope_model::finding::{SlcCache, SlcKind};
use flashscope_sim::truth::Fact;
use flashscope_units::Bytes;
use std::fmt::{Debug, Display, Formatter, Result};

/// A size within this factor is right.
const SIZE_TOLERANCE: f64 = 1.1;

/// A reach within this factor is right: the map goes by pages, and ranges by halves.
pub(super) const REACH_TOLERANCE: f64 = 1.25;

/// A cache of fast cells, by its size.
pub(super) fn slc_cache(
    parameter: Parameter,
    fact: &Fact<Bytes>,
    estimate: &Estimate<SlcCache>,
    capacity: Bytes,
) -> Judged {
    let size = estimate.clone().map(|cache| cache.size);
    far_enough(within(parameter, fact, &size, SIZE_TOLERANCE), fact, &size, capacity)
}

/// One that was measured once has no kind yet.
pub(super) fn slc_kind(parameter: Parameter, fact: &Fact<SlcKind>, cache: &Estimate<SlcCache>) -> Judged {
    let kind = match cache.value() {
        Some(found) if found.kind != SlcKind::Untested => cache.clone().map(|cache| Word(cache.kind)),
        _ => Estimate::not_measured(),
    };
    plain(parameter, &fact.clone().map(Word), &kind, |_, _| false)
}

/// A bracket is right where it holds what is spare, be it all of it or what collection makes use of; one that is open, or
/// whose ends are more than a factor of this apart, is true and says too little.
const NARROW: f64 = 3.0;

pub(super) fn spare(parameter: Parameter, fact: &Fact<f64>, estimate: &Estimate<f64>) -> Judged {
    let (low, high) = (estimate.least(), estimate.most());
    let holds = |truth: &f64| low.is_none_or(|low| low <= *truth) && high.is_none_or(|high| *truth <= high);
    let narrow = low.zip(high).is_some_and(|(low, high)| high - 1.0 <= NARROW * (low - 1.0));
    let said_something = estimate.value().is_some() || low.is_some() || high.is_some();
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
    judged(parameter, verdict, estimate, holds, said, truth.join(", or "))
}

/// A size that is right within a factor of the truth or of an alias of it, and near within its square.
pub(super) fn within(parameter: Parameter, fact: &Fact<Bytes>, estimate: &Estimate<Bytes>, tolerance: f64) -> Judged {
    let Some(value) = estimate.value() else { return plain(parameter, fact, estimate, twice) };
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
/// Amount of writing without a fall that says enough of the largest devices.
const CACHE_ENOUGH: Bytes = Bytes::mib(128);

fn far_enough(judged: Judged, fact: &Fact<Bytes>, estimate: &Estimate<Bytes>, capacity: Bytes) -> Judged {
    let needed = (capacity / CACHE_SHARE).min(CACHE_ENOUGH);
    let short = fact.value.is_none() && estimate.least().is_some_and(|least| least < needed);
    let verdict = if short && judged.verdict == Verdict::Exact { Verdict::Silent } else { judged.verdict };
    Judged { verdict, ..judged }
}

/// A word that is compared as a whole.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) struct Word<T>(pub(super) T);

impl<T: Debug> Display for Word<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{:?}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::Finding;
    use flashscope_model::finding::{Bound, Support};

    #[test]
    fn a_bracket_of_spare_space_is_judged_by_what_it_holds_and_how_wide_it_is() {
        let truth =
            Fact { value: Some(1.2), aliases: vec![1.1], at_least: None, can_be_told: true, note: String::new() };
        let check = |low: Option<f64>, high: Option<f64>, expect: Verdict| {
            let bound = Bound::from_ends(low, high).map(|bound| Estimate::Bound(bound, Support::new(0.9, "", &[])));
            let found = bound.unwrap_or_else(Estimate::not_measured);
            assert_eq!(
                spare(Parameter::Of(Finding::PhysicalOverUser), &truth, &found).verdict,
                expect,
                "{low:?} {high:?}"
            );
        };
        check(Some(1.15), Some(1.25), Verdict::Exact);
        check(Some(1.08), Some(1.12), Verdict::Exact);
        check(Some(1.01), Some(1.4), Verdict::Silent);
        check(None, Some(1.4), Verdict::Silent);
        check(Some(1.25), Some(1.4), Verdict::Wrong);
        check(None, None, Verdict::Silent);
    }
}
