//! What others say of a state: readers that go by one sign.

use flashscope_model::observation::SurveyPlace;
use flashscope_model::{Data, Observations};

/// What each of them says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// One that goes by content: what reads as zeros or ones is empty, and a full device is in order.
    pub content: &'static str,
    /// One that goes by times alone: what answers in less than half of the slowest tenth's time is empty.
    pub times: &'static str,
}

/// Places of one kind up to this share are none.
const FEW: f64 = 0.015;

/// Goes by the first survey.
pub(super) fn read(observations: &Observations) -> Read {
    let survey = observations.runs.iter().find_map(|run| match &run.data {
        Data::Survey(survey) => Some(survey),
        _ => None,
    });
    let Some(survey) = survey.filter(|survey| !survey.places.is_empty()) else {
        return Read { content: "other", times: "other" };
    };
    let share = |is_empty: &dyn Fn(&SurveyPlace) -> bool| {
        survey.places.iter().filter(|place| is_empty(place)).count() as f64 / survey.places.len() as f64
    };
    let mut first: Vec<u64> =
        survey.places.iter().filter_map(|place| place.times.first()).map(|time| time.get()).collect();
    first.sort_unstable();
    let slow = first.get(first.len() * 9 / 10).copied().unwrap_or(0);
    Read {
        content: named(share(&|place| place.uniform.is_some())),
        times: named(share(&|place| place.times.first().is_some_and(|time| time.get() * 2 < slow))),
    }
}

fn named(empty: f64) -> &'static str {
    match empty {
        empty if empty <= FEW => "sequential",
        empty if empty >= 1.0 - FEW => "clean",
        _ => "full",
    }
}
