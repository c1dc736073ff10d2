//! An area at the start, and its parts, against the truth.

use super::{Judged, Parameter, RATIO_TOLERANCE, Verdict, judged};
use flashscope_model::Estimate;
use flashscope_model::finding::{AreaKind, AreaPart, FastArea};
use flashscope_sim::truth::{AreaPartTruth, AreaTruth, Truth};
use flashscope_units::Bytes;

/// An area of which nothing shows is none.
pub(super) fn presence(parameter: Parameter, truth: &Truth, estimate: &Estimate<FastArea>) -> Judged {
    let right = truth.fast_area.value.filter(|area| area.kind != AreaKind::None);
    let words = right.map_or("none".to_owned(), |area: AreaTruth| {
        format!("{} to {}, {:?}, {:.2}×", area.first, area.end, area.kind, area.ratio)
    });
    let Some(value) = estimate.value() else {
        return judged(parameter, Verdict::Silent, estimate, true, "cannot tell".to_owned(), words);
    };
    let found = Some(value).filter(|area| area.kind != AreaKind::None);
    let said = found.map_or("none".to_owned(), |area| {
        format!("{} to {}, {:?}, {:.2}×", area.first, area.end, area.kind, area.ratio)
    });
    let step = truth.allocation_unit.value.unwrap_or(Bytes::ZERO).get();
    let verdict = match (right, found) {
        (None, None) => Verdict::Exact,
        (Some(right), Some(found)) if right.kind == found.kind => {
            let off = right.first.get().abs_diff(found.first.get()).max(right.end.get().abs_diff(found.end.get()));
            match off {
                0 => Verdict::Exact,
                off if off <= step => Verdict::OneStep,
                _ => Verdict::Wrong,
            }
        }
        _ => Verdict::Wrong,
    };
    let mut judged = judged(parameter, verdict, estimate, verdict == Verdict::Exact, said, words);
    judged.false_alarm = right.is_none() && found.is_some();
    judged
}

/// All parts with their ends, their rates within a factor of 1.25 (small writes, which scatter more, its square), and
/// how they are mapped where that is said; beside where an end is off by a unit at most, or a rate by the factor again.
pub(super) fn parts(parameter: Parameter, truth: &Truth, estimate: &Estimate<Vec<AreaPart>>) -> Judged {
    let fact = &truth.fast_area_parts;
    let unit = truth.allocation_unit.value.unwrap_or(Bytes::ZERO);
    let words = |parts: &[AreaPartTruth]| parts.iter().map(ToString::to_string).collect::<Vec<String>>().join("; ");
    let right = fact.value.as_deref().map_or("none".to_owned(), words);
    let Some(found) = estimate.figure() else {
        return judged(parameter, Verdict::Silent, estimate, true, "cannot tell".to_owned(), right);
    };
    let steps = |truth: &Vec<AreaPartTruth>| steps_off(truth, found, unit);
    let verdict = match fact.value.iter().chain(&fact.aliases).filter_map(steps).min() {
        Some(0) => Verdict::Exact,
        // True as far as it goes: nothing was said of the mapping.
        _ if !found.iter().any(|part| part.by_page.is_some()) && fact.at_least.as_ref().and_then(steps) == Some(0) => {
            Verdict::Silent
        }
        Some(1) => Verdict::OneStep,
        _ => Verdict::Wrong,
    };
    let said: Vec<String> = found.iter().map(in_words).collect();
    let mut judged = judged(
        parameter,
        verdict,
        estimate,
        matches!(verdict, Verdict::Exact | Verdict::Silent),
        said.join("; "),
        right,
    );
    judged.false_alarm = fact.value.is_none();
    judged
}

fn in_words(part: &AreaPart) -> String {
    let ratio = |name: &str, ratio: Option<f64>| ratio.map_or(String::new(), |ratio| format!(", {name} {ratio:.2}"));
    let mapping = match part.by_page {
        Some(true) => ", by page",
        Some(false) => ", not by page",
        None => "",
    };
    let (in_order, small) = (ratio("sequential", part.in_order), ratio("small writes", part.small));
    format!("{} to {}{in_order}{small}{mapping}", part.first, part.end)
}

/// How many steps off the worst figure of the worst part is; `None` where the parts do not correspond at all.
fn steps_off(truth: &[AreaPartTruth], found: &[AreaPart], unit: Bytes) -> Option<u32> {
    if truth.len() != found.len() {
        return None;
    }
    let ends = |a: Bytes, b: Bytes| a.get().abs_diff(b.get()).div_ceil(unit.get().max(1)) as u32;
    let off = |low: f64, high: f64, found: f64| (found / found.clamp(low, high)).ln().abs() / RATIO_TOLERANCE.ln();
    let part = |(truth, found): (&AreaPartTruth, &AreaPart)| {
        let [shorter, longer] = truth.in_order;
        let in_order = found.in_order.map_or(0.0, |ratio| off(shorter.min(longer), shorter.max(longer), ratio));
        let small = found.small.zip(truth.small).map_or(0.0, |(ratio, truth)| off(truth, truth, ratio) / 2.0);
        if found.by_page.is_some_and(|by_page| by_page != truth.by_page) {
            return None;
        }
        let rates = [in_order, small].map(|steps| (steps.ceil() as u32).saturating_sub(1));
        rates.into_iter().chain([ends(truth.first, found.first), ends(truth.end, found.end)]).max()
    };
    truth.iter().zip(found).map(part).try_fold(0, |worst, steps| Some(worst.max(steps?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::Finding;

    #[test]
    fn an_area_is_judged_by_presence_extent_and_kind() {
        let read = |_: &str| Err("no files".to_owned());
        let with = flashscope_sim::truth::of("sd-4mib", read).expect("a model of the catalogue");
        let without = flashscope_sim::truth::of("sd-flat", read).expect("a model of the catalogue");
        let check = |truth: &Truth, area: Option<(u64, u64, AreaKind)>, expect: Verdict, alarm: bool| {
            let (first, end, kind) = area.unwrap_or((0, 0, AreaKind::None));
            let found = FastArea { first: Bytes::mib(first), end: Bytes::mib(end), kind, ratio: 1.8 };
            let judged = presence(Parameter::Of(Finding::FastArea), truth, &Estimate::known(found, 0.99, "", &[]));
            assert_eq!((judged.verdict, judged.false_alarm), (expect, alarm), "{area:?}");
        };
        check(&with, Some((4, 8, AreaKind::Faster)), Verdict::Exact, false);
        check(&with, Some((4, 12, AreaKind::Faster)), Verdict::OneStep, false);
        check(&with, Some((4, 8, AreaKind::Slower)), Verdict::Wrong, false);
        check(&with, None, Verdict::Wrong, false);
        check(&without, Some((0, 4, AreaKind::Faster)), Verdict::Wrong, true);
        check(&without, None, Verdict::Exact, false);
    }

    #[test]
    fn parts_are_judged_by_their_ends_rates_and_mapping() {
        let truth = |first, end, ratio, by_page| AreaPartTruth {
            first: Bytes::mib(first),
            end: Bytes::mib(end),
            in_order: [ratio, ratio * 1.5],
            small: Some(1.0),
            by_page,
        };
        let found = |first, end, ratio, by_page| AreaPart {
            first: Bytes::mib(first),
            end: Bytes::mib(end),
            in_order: Some(ratio),
            small: None,
            by_page,
        };
        let right = [truth(0, 4, 2.0, false), truth(4, 12, 0.5, true)];
        let check =
            |parts: &[AreaPart], expect| assert_eq!(steps_off(&right, parts, Bytes::mib(4)), expect, "{parts:?}");
        check(&[found(0, 4, 2.6, Some(false)), found(4, 12, 0.6, None)], Some(0));
        check(&[found(0, 4, 4.0, None), found(4, 12, 0.6, None)], Some(1));
        check(&[found(0, 8, 2.0, None), found(8, 12, 0.6, None)], Some(1));
        check(&[found(0, 4, 2.0, Some(true)), found(4, 12, 0.6, None)], None);
        check(&[found(0, 12, 2.0, None)], None);
    }
}
