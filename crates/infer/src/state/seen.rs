//! What the experiments of a diagnosis saw: reads all over the device, and reads of what was written for comparison.

use crate::survey::{answered, is_blank};
use flashscope_model::observation::{SurveyData, SurveyPlace};
use flashscope_model::plan::Purpose;
use flashscope_model::{Data, Direction, Observations, Order};
use flashscope_units::Bytes;

/// The short reads of a diagnosis.
pub(super) const SHORT: Bytes = Bytes::kib(4);
/// Its long reads: long enough that what was written randomly lies in several places of the flash.
pub(super) const LONG: Bytes = Bytes::kib(64);

/// Reads of one size, as the shortest time of each place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reads {
    /// Times of places that hold nothing but zeros or ones.
    pub(super) uniform: Vec<f64>,
    /// Times of places that hold anything else.
    pub(super) other: Vec<f64>,
}

/// Short and long reads of the same part of the device.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Both {
    pub(super) short: Reads,
    pub(super) long: Option<Reads>,
}

/// Everything that a diagnosis goes by.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    /// All over the device, before anything was written.
    pub(super) device: Both,
    /// What was written sequentially for comparison.
    pub(super) in_order: Option<Both>,
    /// Service times of the writes of that.
    pub(super) writes: Vec<f64>,
    /// Long reads of what was then written randomly, all of it.
    pub(super) shuffled: Option<Vec<f64>>,
}

impl Seen {
    /// `None` where the device was not surveyed before it was written to.
    pub(super) fn of(observations: &Observations) -> Option<Seen> {
        let (mut device, mut in_order) = (Found::default(), Found::default());
        let mut written: Option<(Bytes, Bytes)> = None;
        let mut writes = Vec::new();
        let (mut is_shuffled, mut shuffled) = (false, None);
        let mut untouched = true;
        for run in &observations.runs {
            match &run.data {
                Data::Throughput(data) if data.purpose == Purpose::Reference && data.order == Order::Random => {
                    is_shuffled = data.reach() == data.length;
                }
                Data::Throughput(data) if data.purpose == Purpose::Reference && data.direction == Direction::Write => {
                    written = Some((data.start, data.start + data.reach()));
                    writes = data.times.iter().map(|time| time.as_f64()).collect();
                }
                Data::Survey(survey) if is_shuffled => shuffled = Some(Reads::of(survey).other),
                Data::Survey(survey) => {
                    let within = |(start, end): &(Bytes, Bytes)| {
                        survey.places.iter().all(|place| *start <= place.at && place.at < *end)
                    };
                    match written.filter(within) {
                        Some(_) => in_order.take(survey),
                        None if untouched => device.take(survey),
                        None => {}
                    }
                }
                _ => {}
            }
            untouched &= run.spent.written == Bytes::ZERO;
        }
        Some(Seen { device: device.both()?, in_order: in_order.both(), writes, shuffled })
    }
}

/// Surveys of one part, by size.
#[derive(Default)]
struct Found {
    short: Option<Reads>,
    long: Option<Reads>,
}

impl Found {
    fn take(&mut self, survey: &SurveyData) {
        let place = if survey.block >= LONG { &mut self.long } else { &mut self.short };
        *place = Some(Reads::of(survey));
    }

    fn both(self) -> Option<Both> {
        Some(Both {
            short: self.short.filter(|reads| reads.count() > 0)?,
            long: self.long.filter(|reads| reads.count() > 0),
        })
    }
}

impl Reads {
    fn of(survey: &SurveyData) -> Reads {
        let shortest = |place: &SurveyPlace| place.times.iter().min().map(|time| time.as_f64());
        let of =
            |wanted: bool| answered(survey).filter(|place| is_blank(place) == wanted).filter_map(shortest).collect();
        Reads { uniform: of(true), other: of(false) }
    }

    /// Places that could be read.
    pub(super) fn count(&self) -> usize {
        self.uniform.len() + self.other.len()
    }
}
