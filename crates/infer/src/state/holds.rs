//! How much of a device holds data.
//!
//! A place that holds anything but zeros or ones holds data. One that holds only these may be empty, or hold them as data:
//! that is told by its time beside places that are known to hold data, which are those of another content, or what was
//! written for comparison. Where there are neither, two groups of times tell a device of which a part is empty.

use super::Raw;
use super::seen::Seen;
use flashscope_model::state::DataShare;
use flashscope_stats::interval::wilson_interval;
use flashscope_stats::location::{median, quantile};
use flashscope_stats::test::cliffs_delta;

/// What can be true.
pub(super) const ALL: &str = "all";
/// See [`ALL`].
pub(super) const PART: &str = "part";
/// See [`ALL`].
pub(super) const NONE: &str = "none";
/// A part, but not the share that would be named: an answer that nobody gives.
const OTHER: &str = "another part";
/// The answers.
pub(super) const ANSWERS: [&str; 4] = [ALL, PART, NONE, OTHER];

/// Level of the interval of a share.
const LEVEL: f64 = 0.99;
/// Known places are a reference from this number on.
const LEAST_KNOWN: usize = 12;

/// What was seen, and the share that it would come to if only a part holds data.
pub(super) struct Holds {
    pub(super) raw: Raw,
    pub(super) part: Option<DataShare>,
    pub(super) evidence: String,
}

pub(super) fn look(seen: &Seen) -> Option<Holds> {
    let reads = &seen.device.short;
    let (places, uniform) = (reads.count(), reads.uniform.len());
    let said = format!("{uniform} of {places} places hold nothing but zeros or ones");
    if uniform == 0 {
        let raw = Raw { question: super::HOLDS, regime: "no place is uniform".to_owned(), score: places as f64 };
        return Some(Holds {
            raw,
            part: None,
            evidence: format!("all of {places} places hold more than zeros or ones"),
        });
    }
    // Short reads of never more than one page: what the flash adds to a read that is answered from the map.
    let known = match &seen.in_order {
        _ if reads.other.len() >= LEAST_KNOWN => Some((&reads.other, "places with data")),
        Some(reference) => Some((&reference.short.other, "what was written for comparison")),
        None => None,
    };
    let content = if uniform == places { "all uniform" } else { "some uniform" };
    let (raw, cut, evidence) = match known {
        Some((known, what)) => {
            let (here, there) = (median(&reads.uniform)?, median(known)?);
            let cut = (quantile(&reads.uniform, 0.1)? + quantile(known, 0.5)?) / 2.0;
            // How long the known ones take beside the uniform ones, and whether these are of two kinds.
            let score = cliffs_delta(known, &reads.uniform).ok()?;
            let kinds = two_kinds(&reads.uniform);
            let regime = format!("{content}; compared; {kinds}");
            let evidence = format!("{said}; they answer in {:.0} µs, {what} in {:.0} µs", here / 1e3, there / 1e3);
            (Raw { question: super::HOLDS, regime, score }, cut, evidence)
        }
        None => {
            let kinds = two_kinds(&reads.uniform);
            let cut = split(&reads.uniform).map_or(0.0, |split| split.cut);
            let score = split(&reads.uniform).map_or(0.0, |split| split.apart);
            let regime = format!("{content}; nothing to compare with; {kinds}");
            (Raw { question: super::HOLDS, regime, score }, cut, format!("{said}, and content alone proves nothing"))
        }
    };
    let holding = reads.other.len() + reads.uniform.iter().filter(|time| **time >= cut).count();
    let interval = wilson_interval(holding as u64, places as u64, LEVEL).ok();
    let share = holding as f64 / places as f64;
    let part = interval.map(|interval| DataShare { share, low: interval.low, high: interval.high });
    Some(Holds { raw, part, evidence })
}

/// Times in two groups, if they are.
struct Split {
    /// Between the groups.
    cut: f64,
    /// Distance of the groups' means over their scatter.
    apart: f64,
}

/// Where the groups are furthest apart from each other (Otsu's threshold).
fn split(times: &[f64]) -> Option<Split> {
    let mut sorted: Vec<f64> = times.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let total: f64 = sorted.iter().sum();
    let squares: f64 = sorted.iter().map(|time| time * time).sum();
    let count = sorted.len();
    let least = (count / 32).max(2);
    let (mut low, mut low_squares) = (0.0, 0.0);
    let mut best: Option<Split> = None;
    for (at, time) in sorted.iter().enumerate() {
        if at >= least && at + least <= count {
            let (n, m) = (at as f64, (count - at) as f64);
            let (first, second) = (low / n, (total - low) / m);
            let within = (low_squares - n * first * first) + (squares - low_squares - m * second * second);
            let scatter = (within.max(0.0) / (count - 2) as f64).sqrt().max(1.0);
            let apart = (second - first) / scatter;
            if best.as_ref().is_none_or(|best| apart > best.apart) {
                best = Some(Split { cut: (sorted[at - 1] + time) / 2.0, apart });
            }
        }
        low += time;
        low_squares += time * time;
    }
    best
}

/// Two normal samples of one kind are hardly ever further apart than this when they are cut in two.
const APART: f64 = 4.0;

fn two_kinds(times: &[f64]) -> &'static str {
    if split(times).is_some_and(|split| split.apart >= APART) { "two kinds" } else { "one kind" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_groups_of_times_are_told_from_one() {
        let around = |middle: f64| (0..40).map(move |at| middle + f64::from(at % 10));
        let one: Vec<f64> = around(100.0).collect();
        assert_eq!(two_kinds(&one), "one kind");
        let two: Vec<f64> = around(100.0).chain(around(200.0)).collect();
        assert_eq!(two_kinds(&two), "two kinds");
        let cut = split(&two).map(|split| split.cut).unwrap();
        assert!((110.0..200.0).contains(&cut), "{cut}");
    }
}
