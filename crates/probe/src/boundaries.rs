//! Contrasts at random multiples of candidate sizes, with the multiples of other candidates kept out.
//!
//! flashbench's `-a` with its blind spots removed. Candidates may be of any size, not only powers of two. The places of
//! a candidate are random multiples of it that are multiples of no excluded size (unless the candidate itself is one):
//! only so can a step at 8 MiB be told from the diluted step of 24 MiB. Every round visits all (candidate, place,
//! role) triples in one fresh random order, kept apart so that no read comes near one of the few reads before it:
//! drift hits all candidates alike, and read-ahead or a read buffer helps none of them.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::multiples::Multiples;
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::observation::{BoundariesData, CandidateData, Data, Straddle};
use flashscope_model::plan::{Boundaries, Span};
use flashscope_model::{DeviceFacts, Direction};
use flashscope_units::Bytes;

/// A read must not come near any of so many reads before it …
const APART_IN_ORDER: usize = 4;
/// … nearer than so many blocks, where the order can be arranged so.
const APART_IN_BLOCKS: u64 = 4;

impl Probe for Boundaries {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::halvable("the block", self.block, facts)?;
        checks::at_least("the number of candidates", self.candidates.len() as u64, 1)?;
        checks::at_least("the number of places", self.places.into(), 1)?;
        checks::at_least("the number of rounds", self.rounds.into(), 1)?;
        checks::position("the offset", self.offset, facts)?;
        for &candidate in &self.candidates {
            checks::size("a candidate", candidate, facts)?;
            checks::at_least("a candidate", candidate.get(), self.block.get())?;
        }
        if let Some(within) = self.within {
            let needs = checks::end_of(within.start, 1, within.length, Bytes::ZERO);
            checks::fits("the part to be searched", facts, needs, "choose a part inside the device")?;
        }
        if self.cost(facts).requests == 0 {
            let needs = self.candidates.iter().min().map_or(0, |&least| u128::from((least + self.block).get()));
            let (has, hint) = (facts.capacity, "use smaller candidates, or search a larger part of the device");
            return Err(PlanError::DoesNotFit { what: "a boundary of any candidate", needs, has, hint });
        }
        Ok(())
    }

    fn cost(&self, facts: &DeviceFacts) -> Cost {
        let places: u64 = candidates(self)
            .into_iter()
            .map(|candidate| multiples(self, candidate, facts).map_or(0, |multiples| multiples.count()))
            .map(|available| available.min(self.places.into()))
            .sum();
        Cost::of(Direction::Read, 3 * u64::from(self.rounds) * places, self.block)
    }

    fn measure<T: Target + ?Sized>(
        &self,
        facts: &DeviceFacts,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let mut measured: Vec<CandidateData> =
            candidates(self).into_iter().map(|size| places(self, size, facts, rng)).collect();
        let mut visits = visits(self, &measured);
        let end = (0..self.rounds).try_for_each(|_| {
            rng.shuffle(&mut visits);
            keep_apart(&mut visits, self.block * APART_IN_BLOCKS, rng);
            visits.iter().try_for_each(|visit| {
                let place = &mut measured[visit.candidate].places[visit.place];
                let times = match visit.role {
                    Role::Pre => &mut place.pre,
                    Role::On => &mut place.on,
                    Role::Post => &mut place.post,
                };
                rig.time_into(times, Direction::Read, visit.at, self.block)
            })
        });
        (Data::Boundaries(BoundariesData { block: self.block, offset: self.offset, candidates: measured }), end)
    }
}

#[derive(Clone, Copy)]
enum Role {
    Pre,
    On,
    Post,
}

#[derive(Clone, Copy)]
struct Visit {
    candidate: usize,
    place: usize,
    role: Role,
    at: Bytes,
}

/// The candidates, smallest first, each once.
fn candidates(plan: &Boundaries) -> Vec<Bytes> {
    let mut sizes = plan.candidates.clone();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The boundaries of a candidate, counted from the offset, around which a block fits on either side.
fn multiples(plan: &Boundaries, candidate: Bytes, facts: &DeviceFacts) -> Option<Multiples> {
    let within = plan.within.unwrap_or(Span { start: Bytes::ZERO, length: facts.capacity });
    let first = (within.start + plan.block).saturating_sub(plan.offset);
    let last = (within.start + within.length).checked_sub(plan.block)?.checked_sub(plan.offset)?;
    let excluded: Vec<u64> = plan.exclude.iter().map(|size| size.get()).collect();
    Some(Multiples::new(candidate.get(), &excluded, first.get()..=last.get()))
}

fn places(plan: &Boundaries, size: Bytes, facts: &DeviceFacts, rng: &mut Rng) -> CandidateData {
    let Some(multiples) = multiples(plan, size, facts) else {
        return CandidateData { size, excluded: Vec::new(), places: Vec::new() };
    };
    let places = multiples
        .draw(plan.places.into(), rng)
        .into_iter()
        .map(|at| Straddle { at: plan.offset + Bytes(at), pre: Vec::new(), on: Vec::new(), post: Vec::new() })
        .collect();
    CandidateData { size, excluded: multiples.excluded().iter().copied().map(Bytes).collect(), places }
}

fn visits(plan: &Boundaries, measured: &[CandidateData]) -> Vec<Visit> {
    let roles = [(Role::Pre, plan.block), (Role::On, plan.block / 2), (Role::Post, Bytes::ZERO)];
    let mut visits = Vec::new();
    for (candidate, data) in measured.iter().enumerate() {
        for (place, straddle) in data.places.iter().enumerate() {
            visits.extend(roles.map(|(role, before)| Visit { candidate, place, role, at: straddle.at - before }));
        }
    }
    visits
}

/// Swaps each visit that comes near one of those just before it with a random later one that does not.
/// Where there is none (few places, or the very last visits), it stays.
fn keep_apart(visits: &mut [Visit], distance: Bytes, rng: &mut Rng) {
    for i in 1..visits.len() {
        let before: Vec<Bytes> = visits[i.saturating_sub(APART_IN_ORDER)..i].iter().map(|visit| visit.at).collect();
        let near = |visit: &Visit| before.iter().any(|at| at.get().abs_diff(visit.at.get()) < distance.get());
        if !near(&visits[i]) {
            continue;
        }
        let later = (visits.len() - i) as u64;
        let start = rng.below(later) as usize;
        let fit = (0..later as usize).map(|k| i + (start + k) % later as usize).find(|&j| !near(&visits[j]));
        if let Some(j) = fit {
            visits.swap(i, j);
        }
    }
}
