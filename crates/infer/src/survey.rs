//! How much of the device answers without touching the flash, because it was never written or was discarded.
//!
//! Two signs: the block is filled with one byte (what erased areas answer), and the answer comes faster than those of
//! other places. A uniform block alone may be data, a fast answer alone a cache.

use crate::numbers::{median, probability};
use flashscope_model::observation::{SurveyData, SurveyPlace};
use flashscope_model::{Data, Estimate, Observations};
use flashscope_stats::interval::wilson_interval;
use flashscope_units::Nanos;

/// Answers of uniform places must be faster than others by this factor to be told apart by time.
const FASTER: f64 = 1.15;

/// Share of the device that was never written.
pub(crate) fn estimate(observations: &Observations) -> Estimate<f64> {
    let surveys: Vec<&SurveyData> = observations
        .runs
        .iter()
        .filter_map(|run| match &run.data {
            Data::Survey(data) => Some(data),
            _ => None,
        })
        .collect();
    let Some(last) = surveys.last() else { return Estimate::unknown("the device was not surveyed") };
    read(last)
}

fn read(survey: &SurveyData) -> Estimate<f64> {
    let places = survey.places.len();
    if places == 0 {
        return Estimate::unknown("no place of the survey could be read");
    }
    let uniform: Vec<&SurveyPlace> = survey.places.iter().filter(|place| place.uniform.is_some()).collect();
    let share = uniform.len() as f64 / places as f64;
    let times = |wanted: bool| -> Option<f64> {
        let minima: Vec<f64> = survey
            .places
            .iter()
            .filter(|place| place.uniform.is_some() == wanted)
            .filter_map(|place| place.times.iter().min().map(|time| time.as_f64()))
            .collect();
        median(&minima)
    };
    let interval = wilson_interval(uniform.len() as u64, places as u64, 0.95).ok();
    let range = interval.map_or(String::new(), |i| format!(" (95 %: {:.0} to {:.0} %)", i.low * 100.0, i.high * 100.0));
    let seen = format!("{} of {places} places hold one byte only{range}", uniform.len());
    let (confidence, time) = match (times(true), times(false)) {
        (Some(blank), Some(written)) if written > FASTER * blank => {
            (0.98, format!(", and answer in {} instead of {}", Nanos(blank as u64), Nanos(written as u64)))
        }
        (Some(_), Some(_)) => (0.75, ", yet take as long as the others: they may hold data".to_owned()),
        (Some(_), None) => (0.85, ", so there is nothing to compare their times with".to_owned()),
        (None, _) => (0.98, String::new()),
    };
    Estimate::known(share, probability(confidence), seen + &time, &["survey"])
}
