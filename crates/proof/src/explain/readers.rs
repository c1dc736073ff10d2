//! What a reader names as the cause: `explain`, and two naive ones that look at the same two models.

use flashscope_explain::{Answer, GROUPS};
use flashscope_model::explanation::{Change, Verdict};
use flashscope_units::{Bytes, Nanos};

/// A naive reader takes an exchange for a cause that changes the time by this part of it.
const EXCHANGED: f64 = 0.05;

/// What a reader says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// These groups (several, where they were exchanged as one).
    Cause(Vec<String>),
    /// Nothing that could be told.
    Nothing,
}

impl Named {
    /// Whether that is this group.
    pub fn is(&self, group: &str) -> bool {
        matches!(self, Named::Cause(groups) if groups.iter().any(|name| name == group))
    }
}

/// What the answer of `explain` names first.
pub fn named(answer: &Answer) -> Named {
    if matches!(answer.verdict, Verdict::Same | Verdict::CannotTell) {
        return Named::Nothing;
    }
    let sign = answer.difference.time_ns.signum();
    let first = answer.shares.iter().find(|share| share.told && share.gap.time_ns * sign > 0.0);
    first.map_or(Named::Nothing, |share| Named::Cause(share.groups.iter().map(|group| group.name.clone()).collect()))
}

/// The group with the parameter that differs by the largest factor.
pub fn largest_parameter(answer: &Answer) -> Named {
    let of_shares = answer.shares.iter().flat_map(|share| {
        share.changes.iter().map(move |change| (share.groups.iter().map(|group| group.name.clone()).collect(), change))
    });
    let screened = answer.screened.iter();
    let of_screened =
        screened.flat_map(|one| one.changes.iter().map(move |change| (vec![one.group.name.clone()], change)));
    let all = of_shares.chain(of_screened);
    let largest = all.filter_map(|(groups, change)| Some((groups, factor(change)?))).max_by(|a, b| a.1.total_cmp(&b.1));
    largest.map_or(Named::Nothing, |(groups, _)| Named::Cause(groups))
}

/// How far two numbers are apart, as the logarithm of their ratio.
fn factor(change: &Change) -> Option<f64> {
    let number = |text: &Option<String>| -> Option<f64> {
        let text = text.as_ref()?;
        let size = || text.parse::<Bytes>().ok().map(Bytes::as_f64);
        let time = || text.replace(' ', "").parse::<Nanos>().ok().map(|time| time.as_f64());
        text.parse::<f64>().ok().or_else(size).or_else(time)
    };
    let (a, b) = (number(&change.a)?, number(&change.b)?);
    (a > 0.0 && b > 0.0).then(|| (a / b).ln().abs())
}

/// The first group, in the order of the table of groups, whose exchange by itself changes the time.
pub fn first_exchanged(answer: &Answer) -> Named {
    let of_a = answer.times.0.iter().map(|time| time.as_f64()).sum::<f64>() / answer.times.0.len().max(1) as f64;
    let place = |name: &str| GROUPS.iter().position(|group| group.name == name);
    let changes = answer.shares.iter().filter(|share| share.alone_ns.abs() >= EXCHANGED * of_a);
    let first = changes.min_by_key(|share| share.groups.iter().filter_map(|group| place(&group.name)).min());
    first.map_or(Named::Nothing, |share| Named::Cause(share.groups.iter().map(|group| group.name.clone()).collect()))
}
