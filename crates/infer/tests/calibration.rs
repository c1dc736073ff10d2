//! How often the count of open units is right, on thousands of tables drawn with a known limit.

#[allow(dead_code)]
mod common;

use common::synthetic::{Behaviour, Case, case, fat_tables};
use flashscope_infer::infer;
use flashscope_model::Estimate;
use flashscope_model::finding::AreaKind;
use flashscope_units::Bytes;

const CASES: u64 = 12_000;

/// These tables stand alone, without reads that show the unit: what they say is multiplied by how often the regions of such
/// a log are whole units …
const FEW_UNSEEN: f64 = 0.6;
const MANY_UNSEEN: f64 = 0.75;
const SOFT_UNSEEN: f64 = 0.95;
const BOUND_UNSEEN: f64 = 0.85;

/// … an area by how often it is one, and the absence of one by how often there is none that a table cannot show.
const AREA_UNSEEN: f64 = 0.25;
const NO_AREA: f64 = 0.86;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    Right,
    Wrong,
    Abstained,
}

/// The limit that the table can show at all: one below the largest count.
fn visible(case: &Case) -> Option<u32> {
    case.behaviour.limit().filter(|limit| limit < case.counts.last().unwrap())
}

fn verdict(case: &Case, found: &Estimate<u32>) -> Verdict {
    if found.is_unknown() {
        return Verdict::Abstained;
    }
    let right = match visible(case) {
        Some(limit) => {
            found.value().is_none_or(|value| value == limit)
                && found.least().is_none_or(|bound| bound <= limit)
                && found.most().is_none_or(|bound| bound >= limit)
        }
        None => found.value().is_none() && found.most().is_none(),
    };
    if right { Verdict::Right } else { Verdict::Wrong }
}

/// Answers and wrong answers of a set of cases.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    cases: u32,
    answered: u32,
    wrong: u32,
    values: u32,
}

impl Tally {
    fn add(&mut self, verdict: Verdict, found: &Estimate<u32>) {
        self.cases += 1;
        self.answered += u32::from(verdict != Verdict::Abstained);
        self.wrong += u32::from(verdict == Verdict::Wrong);
        self.values += u32::from(found.value().is_some() && verdict == Verdict::Right);
    }

    fn wrong_share(&self) -> f64 {
        f64::from(self.wrong) / f64::from(self.answered.max(1))
    }
}

#[test]
fn answers_are_right_at_least_as_often_as_they_say() {
    let edges = [0.0, 0.8, 0.9, 0.95, 0.99, 1.0];
    let mut bins = [Tally::default(); 5];
    for seed in 0..CASES {
        let case = case(seed);
        let found = infer(&case.observations).geometry.open_units_linear;
        let Some(confidence) = found.confidence() else { continue };
        let unseen = match found.value() {
            None => BOUND_UNSEEN,
            Some(count) => {
                let collapse = if count < 8 { FEW_UNSEEN } else { MANY_UNSEEN };
                // A collapse is one from 0.95 on.
                if (0.95 * collapse..=collapse).contains(&confidence) { collapse } else { SOFT_UNSEEN }
            }
        };
        let bin = (0..5).find(|bin| confidence / unseen < edges[bin + 1]).unwrap();
        bins[bin].add(verdict(&case, &found), &found);
    }
    // As wrong as the lower edge of the bin allows, and near certainty as good as never.
    for (tally, allowed) in bins.iter().zip([0.5, 0.2, 0.1, 0.05, 0.005]) {
        assert!(tally.wrong_share() <= allowed, "{bins:?}");
    }
    let sure: u32 = bins[3].answered + bins[4].answered;
    assert!(u64::from(sure) > CASES / 2, "answers are worth giving: {bins:?}");
}

#[test]
fn limits_that_a_table_shows_are_found() {
    let mut tallies = [Tally::default(); 3];
    for seed in 0..CASES {
        let case = case(seed);
        // Without a gap between the last good count and the next there is a value to find.
        let beside = |limit: u32| limit >= 2 && case.counts.contains(&limit) && case.counts.contains(&(limit + 1));
        let kind = match case.behaviour {
            Behaviour::Collapse(_) => 0,
            Behaviour::Loss(..) => 1,
            Behaviour::LossInRows(..) => 2,
            Behaviour::Decline(_) | Behaviour::Flat => continue,
        };
        if visible(&case).is_some_and(beside) && case.counts[0] < case.behaviour.limit().unwrap() {
            let found = infer(&case.observations).geometry.open_units_linear;
            tallies[kind].add(verdict(&case, &found), &found);
        }
    }
    // A table or row is missing in some cases, and then a bound is all that can be said.
    for (tally, least) in tallies.iter().zip([0.9, 0.9, 0.8]) {
        assert!(tally.cases > 200);
        assert!(f64::from(tally.values) >= least * f64::from(tally.cases), "{tallies:?}");
        assert!(tally.wrong_share() < 0.04, "{tallies:?}");
    }
}

#[test]
fn a_decline_is_no_limit() {
    let mut tally = Tally::default();
    for seed in 0..CASES {
        let case = case(seed);
        if matches!(case.behaviour, Behaviour::Decline(_) | Behaviour::Flat) {
            let found = infer(&case.observations).geometry.open_units_linear;
            tally.add(verdict(&case, &found), &found);
        }
    }
    assert!(tally.wrong_share() < 0.01, "{tally:?}");
    assert!(f64::from(tally.answered) > 0.9 * f64::from(tally.cases), "{tally:?}");
}

#[test]
fn areas_at_the_start_are_found_and_state_is_not_taken_for_one() {
    let (mut answered, mut wrong, mut sure_and_wrong, mut sure) = (0, 0, 0, 0);
    for seed in 0..4_000 {
        let (area, observations) = fat_tables(seed);
        let found = infer(&observations).geometry.fast_area;
        let Some(value) = found.value() else { continue };
        let right = match area {
            Some(area) => {
                let ends = (value.first, value.end);
                let mixed = area.small * area.large < 0.0;
                let kind = match (mixed, area.large > 0.0) {
                    (true, _) => AreaKind::Mixed,
                    (false, true) => AreaKind::Faster,
                    (false, false) => AreaKind::Slower,
                };
                ends == (Bytes::mib(4) * area.first as u64, Bytes::mib(4) * area.end as u64) && value.kind == kind
            }
            None => value.kind == AreaKind::None,
        };
        answered += 1;
        wrong += u32::from(!right);
        let confidence = found.confidence().unwrap();
        let of_table = match value.kind {
            AreaKind::None => (confidence / NO_AREA).cbrt(),
            _ => confidence / AREA_UNSEEN,
        };
        if of_table >= 0.99 {
            sure += 1;
            sure_and_wrong += u32::from(!right);
        }
    }
    assert!(answered > 3_600 && sure > 500, "{answered} {sure}");
    assert!(f64::from(wrong) < 0.02 * f64::from(answered), "{wrong} of {answered}");
    assert!(f64::from(sure_and_wrong) <= 0.005 * f64::from(sure), "{sure_and_wrong} of {sure}");
}
