//! What is claimed of an estimate, what is only leaned to, and what stands in place of a figure.

use super::figures::slc_cache;
use super::{Answer, name};
use flashscope_model::finding::{Bound, SlcCache, Unknown};
use flashscope_model::{Estimate, Finding, Reason};
use flashscope_units::Bytes;

/// A figure that is less likely is not claimed: it is what an answer leans to.
pub const CLAIMED_FROM: f64 = 0.5;

/// The figure of an estimate, where it is more likely right than not.
pub(crate) fn claimed<T>(estimate: &Estimate<T>) -> Option<&T> {
    estimate.figure().filter(|_| estimate.is_sure(CLAIMED_FROM))
}

/// Alternatives below this are not worth a line.
const ALTERNATIVE_AT_LEAST: f64 = 0.02;

pub(super) fn of<T>(finding: Finding, estimate: &Estimate<T>, print: impl Fn(&T) -> String) -> Answer {
    with_bound(finding, estimate, &print, |bound| match bound {
        Bound::Between(low, high) => format!("{} … {}", print(low), print(high)),
        Bound::AtLeast(low) => format!("at least {}", print(low)),
        Bound::AtMost(high) => format!("at most {}", print(high)),
    })
}

/// The one place that decides what is claimed, and what only leaned to.
fn with_bound<T>(
    finding: Finding,
    estimate: &Estimate<T>,
    print: impl Fn(&T) -> String,
    bound: impl Fn(&Bound<T>) -> String,
) -> Answer {
    let figure = estimate.figure().map(&print).or_else(|| estimate.bound().map(bound));
    let alternatives = estimate.alternatives().iter().filter(|(_, confidence)| *confidence >= ALTERNATIVE_AT_LEAST);
    let alternatives: Vec<(String, f64)> = alternatives.map(|(figure, share)| (print(figure), *share)).collect();
    let answer = Answer {
        finding,
        name: name(finding),
        figure: None,
        without: "cannot tell",
        leaning: None,
        confidence: None,
        alternatives: Vec::new(),
        why: estimate.evidence().to_owned(),
        method: estimate.method().to_vec(),
    };
    match (estimate, figure, estimate.confidence()) {
        (Estimate::Unknown(unknown), ..) => {
            let (without, why) = why_unknown(unknown);
            let leaning = unknown.leaning.as_ref().map(|(figure, share)| leaning(&print(figure), *share, &[]));
            Answer { without, leaning, why, ..answer }
        }
        (_, Some(figure), Some(share)) if share < CLAIMED_FROM => {
            Answer { leaning: Some(leaning(&figure, share, &alternatives)), ..answer }
        }
        (_, figure, confidence) => Answer { figure, confidence, alternatives, ..answer },
    }
}

/// `leaning to 4 MiB, 41 %; else 8 MiB`. Whole percents, rounded down: what is below a half stays below it.
fn leaning(figure: &str, share: f64, others: &[(String, f64)]) -> String {
    let other = others.first().map_or(String::new(), |(other, _)| format!("; else {other}"));
    format!("leaning to {figure}, {:.0} %{other}", (share * 100.0).floor())
}

/// What stands in place of a figure, and what there is to say of it.
fn why_unknown<T>(unknown: &Unknown<T>) -> (&'static str, String) {
    let said = |otherwise: &str| match unknown.evidence.as_str() {
        "" => otherwise.to_owned(),
        evidence => evidence.to_owned(),
    };
    match unknown.reason {
        Reason::NotMeasured => ("not measured", said("")),
        Reason::NeedsWrites => ("unknown", said(reason(Reason::NeedsWrites))),
        other => ("cannot tell", said(reason(other))),
    }
}

/// A reason in a few words, where nothing else is known of it.
pub fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::NotMeasured => "not measured",
        Reason::NeedsWrites => "needs write tests",
        Reason::NeedsAnother => "another finding has to be known first",
        Reason::TooFew => "too few samples",
        Reason::TooNoisy => "requests scatter too much",
        Reason::NothingShows => "nothing stands out",
        Reason::Ambiguous => "more than one explanation fits",
        Reason::Contradicted => "other findings speak against it",
        Reason::Absent => "there is none",
        Reason::NotLookedFor => "the version that wrote this record did not look for it",
        Reason::InWords => "unknown",
    }
}

/// Where only an upper bound is known, there is none that is larger.
pub(super) fn none_above<T>(
    finding: Finding,
    estimate: &Estimate<T>,
    print: impl Fn(&T) -> String,
    size: impl Fn(&T) -> Bytes,
) -> Answer {
    with_bound(finding, estimate, &print, |bound| match bound {
        Bound::AtMost(most) => format!("none ≥ {}", size(most)),
        Bound::AtLeast(least) => format!("at least {}", print(least)),
        Bound::Between(low, high) => format!("{} … {}", print(low), print(high)),
    })
}

/// Where the rate never fell, there may be no cache at all.
pub(super) fn none_below(finding: Finding, estimate: &Estimate<SlcCache>) -> Answer {
    with_bound(finding, estimate, slc_cache, |bound| match bound {
        Bound::AtLeast(least) => format!("none seen in the first {} written", least.size),
        Bound::AtMost(most) => format!("at most {}", slc_cache(most)),
        Bound::Between(low, high) => format!("{} … {}", slc_cache(low), slc_cache(high)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::ExperimentName;

    #[test]
    fn answers_say_what_is_known() {
        let print = Bytes::to_string;
        let of = |estimate: &Estimate<Bytes>| of(Finding::AllocationUnit, estimate, print);
        let known = Estimate::known(Bytes::mib(4), 0.9, "e", &[ExperimentName::Align]);
        let known = known.with_alternatives(vec![(Bytes::mib(8), 0.09), (Bytes::mib(2), 0.01)]);
        let seen = of(&known);
        assert_eq!(seen.figure.as_deref(), Some("4 MiB"));
        assert_eq!(seen.alternatives, [("8 MiB".to_owned(), 0.09)]);

        let seen = of(&Estimate::at_least(Bytes::mib(4), 0.9, "e", &[]));
        assert_eq!(seen.figure.as_deref(), Some("at least 4 MiB"));

        let check = |estimate: Estimate<Bytes>, expect: &str| {
            let seen = of(&estimate);
            assert_eq!(seen.figure, None);
            assert_eq!(format!("{}: {}", seen.verdict(), seen.why), expect);
        };
        check(Estimate::unknown(Reason::TooNoisy, "reads scatter by 40 %"), "cannot tell: reads scatter by 40 %");
        check(Estimate::unknown(Reason::NeedsWrites, ""), "unknown: needs write tests");
        let leaning = Estimate::unknown(Reason::Ambiguous, "no size stands out").leaning_to(Bytes::mib(4), 0.41);
        check(leaning, "cannot tell (leaning to 4 MiB, 41 %): no size stands out");
        let unlikely = Estimate::known(Bytes::mib(4), 0.4999, "e", &[]).with_alternatives(vec![(Bytes::mib(8), 0.3)]);
        check(unlikely, "cannot tell (leaning to 4 MiB, 49 %; else 8 MiB): e");
        check(Estimate::at_least(Bytes::mib(4), 0.2, "e", &[]), "cannot tell (leaning to at least 4 MiB, 20 %): e");
    }
}
