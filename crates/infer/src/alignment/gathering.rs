//! Places of a run that goes on: what the reads of earlier experiments say is kept, and only what came since is added.
//!
//! An adaptive run asks for all [`Places`] at every decision, while one experiment in a row of many adds a few to them. It
//! only saves work: what comes out is what the observations say, whatever was asked before.

use super::changes::Seen;
use super::places::{self, Group, Measured, Places, Share, Shares};
use super::slid::Slid;
use crate::memo::Shared;
use crate::numbers::median;
use flashscope_model::observation::{AlignData, AlignEvidence, BoundariesData, SlideData, Straddle};
use flashscope_model::{Data, Direction, Observations};
use flashscope_units::{Bytes, Nanos};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Memory for [`Places`] of the observations of one run.
#[derive(Debug, Default)]
pub(crate) struct Gathering(RefCell<Gathered>);

/// One experiment whose reads tell of places. What is shared is seen to be the same without looking into it.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Boundaries(Arc<BoundariesData>),
    /// With the places of a classic table.
    Align(AlignData),
}

#[derive(Debug, Default)]
struct Gathered {
    parts: Vec<Part>,
    /// For each part the typical times of reads beside its places.
    beside: Vec<Vec<f64>>,
    /// Whether the places are those of reads that came after a rest.
    rested: bool,
    /// How many of the parts are in the places.
    merged: usize,
    places: BTreeMap<Bytes, BTreeMap<Bytes, Measured>>,
    /// Runs across every step, and what those from the last place to the first come to, and the others.
    slides: Vec<Arc<SlideData>>,
    seen: Seen,
    slid: Rc<Slid>,
    /// The last answer, with what it rests on beside the parts.
    last: Option<(f64, Option<Bytes>, Shared<Places>)>,
}

impl Gathering {
    /// What was measured.
    pub(super) fn places(&self, observations: &Observations) -> Shared<Places> {
        let mut gathered = self.0.borrow_mut();
        gathered.take_in(observations);
        gathered.answer(observations)
    }

    /// See [`Places::rest`].
    pub(super) fn rest(&self, observations: &Observations) -> Option<Nanos> {
        let mut gathered = self.0.borrow_mut();
        gathered.take_in(observations);
        gathered.rest()
    }
}

impl Gathered {
    /// Goes by these observations from now on, and keeps what they have in common with the last ones.
    fn take_in(&mut self, observations: &Observations) {
        let slides = || observations.runs.iter().filter_map(|run| slide(&run.data));
        if !slides().eq(&self.slides) {
            self.slides = slides().cloned().collect();
            let (descending, rising): (Vec<_>, Vec<_>) = slides().map(|data| &**data).partition(|data| data.descending);
            (self.seen, self.slid) = (Seen::of(&descending), Rc::new(Slid::of(&rising)));
            self.last = None;
        }
        let parts: Vec<Part> = observations.runs.iter().filter_map(|run| part(&run.data)).collect();
        if parts == self.parts {
            return;
        }
        if !parts.starts_with(&self.parts) {
            let Gathered { slides, seen, slid, .. } = std::mem::take(self);
            *self = Gathered { slides, seen, slid, ..Gathered::default() };
        }
        self.last = None;
        self.beside.extend(parts[self.parts.len()..].iter().map(beside));
        self.parts = parts;
    }

    fn answer(&mut self, observations: &Observations) -> Shared<Places> {
        let (never_written, capacity) = (places::never_written(observations), observations.capacity);
        if let Some((written, size, places)) = &self.last
            && (*written, *size) == (never_written, capacity)
        {
            return places.clone();
        }
        let rest = self.rest();
        self.merge(rest.is_some_and(|rest| rest > Nanos::ZERO));
        let groups = self.places.iter_mut();
        let groups = groups.filter_map(|(block, places)| Group::new(*block, places, never_written)).collect();
        let places = Shared::new(Places {
            groups,
            phases: places::phases(observations),
            seen: self.seen.clone(),
            rest,
            capacity,
            never_written,
            slid: Rc::clone(&self.slid),
        });
        self.last = Some((never_written, capacity, places.clone()));
        places
    }

    /// Adds the reads of the parts that are not in the places yet: of those that came after a rest, or that did not.
    fn merge(&mut self, rested: bool) {
        if self.rested != rested {
            (self.rested, self.merged) = (rested, 0);
            self.places.clear();
        }
        for part in &self.parts[self.merged..] {
            match part {
                Part::Boundaries(data) if (data.rest > Nanos::ZERO) == rested => {
                    let places = self.places.entry(data.block).or_default();
                    places_of(data).for_each(|place| Measured::merge(places, place));
                }
                Part::Boundaries(_) => {}
                Part::Align(data) => {
                    let Some(block) = data.block else { continue };
                    let places = self.places.entry(block).or_default();
                    places_of_table(data).for_each(|place| Measured::merge(places, place));
                }
            }
        }
        self.merged = self.parts.len();
    }

    /// See [`Places::rest`].
    fn rest(&self) -> Option<Nanos> {
        /// Reads that waited are slower by this factor at least.
        const WAITED: f64 = 1.1;
        let (block, rest) = self.parts.iter().find_map(|part| match part {
            Part::Boundaries(data) if data.rest > Nanos::ZERO => Some((data.block, data.rest)),
            _ => None,
        })?;
        let typical = |with: Nanos| {
            let same = |part: &Part| matches!(part, Part::Boundaries(data) if (data.block, data.rest) == (block, with));
            let parts = self.parts.iter().zip(&self.beside).filter(|(part, _)| same(part));
            median(&parts.flat_map(|(_, beside)| beside).copied().collect::<Vec<_>>())
        };
        let (Some(at_once), Some(rested)) = (typical(Nanos::ZERO), typical(rest)) else { return Some(rest) };
        Some(if at_once > WAITED * rested { rest } else { Nanos::ZERO })
    }
}

fn slide(data: &Data) -> Option<&Arc<SlideData>> {
    match data {
        Data::Slide(data) => Some(data),
        _ => None,
    }
}

fn part(data: &Data) -> Option<Part> {
    match data {
        Data::Boundaries(data) => Some(Part::Boundaries(data.clone())),
        Data::Align(data) if data.direction == Direction::Read && data.access == 1 && data.block.is_some() => {
            places_of_table(data).next()?;
            Some(Part::Align(data.clone()))
        }
        _ => None,
    }
}

fn places_of(data: &BoundariesData) -> impl Iterator<Item = &Straddle> {
    data.candidates.iter().flat_map(|candidate| &candidate.places)
}

fn places_of_table(data: &AlignData) -> impl Iterator<Item = &Straddle> {
    let places = data.rows.iter().filter_map(|row| match &row.evidence {
        AlignEvidence::Places(places) => Some(places),
        AlignEvidence::Printed { .. } => None,
    });
    places.flatten()
}

/// The typical times of reads beside places; of a table they tell nothing of a rest.
fn beside(part: &Part) -> Vec<f64> {
    match part {
        Part::Boundaries(data) => {
            places_of(data).filter_map(|place| Shares::of(place, Share::Few)).map(|shares| shares.access()).collect()
        }
        Part::Align(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run;
    use flashscope_model::observation::{CandidateData, Run};
    use flashscope_stats::Rng;

    /// Reads around places of one block size, some of them those of other seeds as well.
    fn reads(seed: u64, rest: Nanos) -> Run {
        let mut rng = Rng::new(seed);
        let mut place = |_| {
            let at = Bytes::kib(64) * (1 + rng.below(60) as u64);
            let mut times = |slower: u64| -> Vec<Nanos> {
                (0..6).map(|_| Nanos(100_000 + slower + rng.below(3000) as u64)).collect()
            };
            Straddle { at, pre: times(0), on: times(20_000), post: times(0) }
        };
        let candidates = vec![CandidateData {
            size: Bytes::kib(64),
            excluded: Vec::new(),
            places: (0..40).map(&mut place).collect(),
        }];
        run(Data::Boundaries(Arc::new(BoundariesData { block: Bytes::kib(4), offset: Bytes::ZERO, rest, candidates })))
    }

    #[test]
    fn what_was_asked_before_changes_no_answer() {
        let kept = Gathering::default();
        let mut observations =
            Observations { capacity: Some(Bytes::mib(64)), runs: Vec::new(), ..Observations::default() };
        let check = |observations: &Observations| {
            assert_eq!(*kept.places(observations), *Gathering::default().places(observations));
            assert_eq!(kept.rest(observations), Gathering::default().rest(observations));
        };
        for (seed, rest) in [(1, 0), (2, 0), (3, 50_000), (4, 0), (5, 50_000)] {
            observations.runs.push(reads(seed, Nanos(rest)));
            check(&observations);
            check(&observations);
        }
        // Another run, with less in it and other reads.
        observations.runs.truncate(2);
        check(&observations);
        observations.runs[0] = reads(9, Nanos::ZERO);
        check(&observations);
        observations.capacity = None;
        check(&observations);
    }
}
