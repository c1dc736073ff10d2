//! How much of the device answers without touching the flash, because it was never written or was discarded.
//!
//! Two signs: the block is filled with one byte (what erased areas answer), and the answer comes faster than those of
//! other places. A uniform block alone may be data, a fast answer alone a cache.

use crate::numbers::{median, probability};
use flashscope_model::observation::{SurveyData, SurveyPlace};
use flashscope_model::plan::Span;
use flashscope_model::{Data, Estimate, ExperimentName, Observations, Reason};
use flashscope_stats::interval::wilson_interval;
use flashscope_units::{Bytes, Nanos};

/// Answers of uniform places must be faster than others by this factor to be told apart by time.
const FASTER: f64 = 1.15;

/// From this share of never-written places on a device is called blank.
pub(crate) const BLANK: f64 = 0.5;

/// Share of the device that was never written.
pub(crate) fn estimate(observations: &Observations) -> Estimate<f64> {
    match of_device(observations) {
        Some(last) => read(last),
        None => Estimate::unknown(Reason::NotMeasured, "the device was not surveyed"),
    }
}

/// The last survey with the shortest reads that is of all of a device, not of what was written for comparison.
pub(crate) fn of_device(observations: &Observations) -> Option<&SurveyData> {
    let surveys = || {
        observations.runs.iter().filter_map(|run| match &run.data {
            Data::Survey(data) if is_of_all(data, observations.capacity) => Some(data),
            _ => None,
        })
    };
    let shortest = surveys().map(|survey| survey.block).min()?;
    surveys().rfind(|survey| survey.block == shortest)
}

/// Whether its places lie all over the device: more than half of it between the first and the last.
fn is_of_all(survey: &SurveyData, capacity: Option<Bytes>) -> bool {
    let places = || survey.places.iter().map(|place| place.at);
    let (Some(first), Some(last), Some(capacity)) = (places().min(), places().max(), capacity) else { return true };
    survey.places.len() < 4 || (last - first) * 2 > capacity
}

/// Whether a place answers as erased areas do: with one byte, all zeros or all ones, throughout. Any other byte was
/// written by somebody.
pub(crate) fn is_blank(place: &SurveyPlace) -> bool {
    matches!(place.uniform, Some(0x00 | 0xff))
}

/// The places that could be read: of one that failed nothing is known.
pub(crate) fn answered(survey: &SurveyData) -> impl Iterator<Item = &SurveyPlace> {
    survey.places.iter().filter(|place| !place.times.is_empty())
}

/// Share of the places of the last survey that look blank, whatever their times say; `None` without a survey.
pub(crate) fn blank_share(observations: &Observations) -> Option<f64> {
    let survey = of_device(observations)?;
    let places = answered(survey).count();
    (places > 0).then(|| answered(survey).filter(|place| is_blank(place)).count() as f64 / places as f64)
}

/// The longest stretch of a surveyed device in which every place holds data; `None` where there is no survey, or
/// where all of the device holds data and no stretch needs to be singled out.
pub(crate) fn written_stretch(observations: &Observations) -> Option<Span> {
    let survey = of_device(observations).filter(|data| answered(data).next().is_some())?;
    let mut places: Vec<(Bytes, bool)> = answered(survey).map(|place| (place.at, !is_blank(place))).collect();
    if places.iter().all(|(_, written)| *written) {
        return None;
    }
    places.sort_unstable();
    let longest = places
        .chunk_by(|a, b| a.1 == b.1)
        .filter(|stretch| stretch[0].1)
        .map(|stretch| Span { start: stretch[0].0, length: stretch[stretch.len() - 1].0 - stretch[0].0 })
        .max_by_key(|span| span.length);
    Some(longest.unwrap_or(Span { start: Bytes::ZERO, length: Bytes::ZERO }))
}

fn read(survey: &SurveyData) -> Estimate<f64> {
    let places = answered(survey).count();
    if places == 0 {
        return Estimate::unknown(Reason::TooFew, "no place of the survey could be read");
    }
    let blank = answered(survey).filter(|place| is_blank(place)).count();
    let share = blank as f64 / places as f64;
    let times = |wanted: bool| -> Option<f64> {
        let minima: Vec<f64> = answered(survey)
            .filter(|place| is_blank(place) == wanted)
            .filter_map(|place| place.times.iter().min().map(|time| time.as_f64()))
            .collect();
        median(&minima)
    };
    let interval = wilson_interval(blank as u64, places as u64, 0.95).ok();
    let range = interval.map_or(String::new(), |i| format!(" (95 %: {:.0} to {:.0} %)", i.low * 100.0, i.high * 100.0));
    let seen = format!("{blank} of {places} places hold nothing but zeros or ones{range}");
    match (times(true), times(false)) {
        (Some(blank), Some(written)) if written > FASTER * blank => {
            let time = format!(", and answer in {} instead of {}", Nanos(blank as u64), Nanos(written as u64));
            Estimate::known(share, sure(places), seen + &time, &[ExperimentName::Survey])
        }
        (Some(_), Some(_)) => at_most(share, places, seen + ", yet take as long as the others: they may hold data"),
        (Some(_), None) => Estimate::unknown(
            Reason::Ambiguous,
            format!("{seen}, and none holds anything else to compare with: never written, or filled with one byte"),
        ),
        (None, _) => Estimate::known(share, sure(places), seen, &[ExperimentName::Survey]),
    }
}

/// What random places can tell of the rest of a device.
fn sure(places: usize) -> f64 {
    probability(1.0 - 1.0 / (places as f64).max(1.0)).min(0.98)
}

fn at_most(share: f64, places: usize, evidence: String) -> Estimate<f64> {
    Estimate::at_most(share, sure(places), evidence, &[ExperimentName::Survey])
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_units::Bytes;

    fn survey(places: &[(Option<u8>, u64)]) -> SurveyData {
        let place = |(index, (uniform, micros)): (usize, &(Option<u8>, u64))| SurveyPlace {
            at: Bytes::mib(index as u64),
            uniform: *uniform,
            times: if *micros == 0 { Vec::new() } else { vec![Nanos::micros(*micros)] },
        };
        SurveyData { block: Bytes::kib(4), places: places.iter().enumerate().map(place).collect() }
    }

    #[test]
    fn zeros_that_answer_fast_were_never_written() {
        let found = read(&survey(&[(Some(0), 100), (Some(0xff), 100), (None, 500), (None, 500)]));
        assert_eq!(found.value(), Some(0.5), "{found:?}");
    }

    #[test]
    fn zeros_that_answer_like_data_may_be_data() {
        let found = read(&survey(&[(Some(0), 500), (Some(0), 500), (None, 500), (None, 500)]));
        assert_eq!((found.value(), found.most()), (None, Some(0.5)), "{found:?}");
        // A byte that no erased area answers with is data.
        let found = read(&survey(&[(Some(0x5a), 100), (Some(0x5a), 100), (None, 500)]));
        assert_eq!(found.value(), Some(0.0), "{found:?}");
    }

    #[test]
    fn one_byte_throughout_may_be_either() {
        let found = read(&survey(&[(Some(0), 100); 20]));
        assert!(found.is_unknown(), "{found:?}");
    }

    #[test]
    fn what_failed_is_unknown_and_not_written() {
        let found = read(&survey(&[(Some(0), 100), (None, 500), (None, 0), (None, 0)]));
        assert_eq!(found.value(), Some(0.5), "{found:?}");
    }
}
