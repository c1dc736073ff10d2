//! Contrasts at random multiples of candidate sizes, with the multiples of other candidates kept out.
//!
//! flashbench's `-a` with its blind spots removed. Candidates may be of any size, not only powers of two. The places of
//! a candidate are random multiples of it that are multiples of no excluded size (unless the candidate itself is one):
//! only so can a step at 8 MiB be told from the diluted step of 24 MiB. Every round visits all (candidate, place,
//! role) triples in a fresh random order, in which no read comes near one of the many reads before it, and none
//! follows one of the same large unit: drift hits all candidates alike, read-ahead or a read buffer helps none of
//! them, and a change of units, which costs as much as a boundary does, is paid by all of them.
//!
//! Of the times of a place the shortest count, so that a single answer out of a read buffer would spoil it. Each round
//! therefore goes round all places three times, with one of the three reads of each every time.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::multiples::Multiples;
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::{BoundariesData, CandidateData, Straddle};
use flashscope_model::plan::{Boundaries, Span};
use flashscope_model::{DeviceFacts, Direction};
use flashscope_units::Bytes;

/// A read must not come near any of so many reads before it (twice what the read buffers of controllers that are known
/// hold), or of a quarter as many as there are places, …
const APART_IN_ORDER: usize = 32;
/// Places keep to their part of such a ring, so that a place is not visited again before three parts have gone by.
const PARTS_OF_RING: usize = 4;
/// … nearer than so many blocks, where the order can be arranged so.
const APART_IN_BLOCKS: u64 = 4;
/// Two reads in a row must not lie in one unit: no unit is larger than this, …
const LARGEST_UNIT: Bytes = Bytes::mib(64);
/// … and a small part of a device has room for this share of itself between two reads.
const SHARE_BETWEEN: u64 = 4;

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
            let size = self.candidates.iter().min().copied().unwrap_or(Bytes::ZERO);
            let needs = u128::from(size.get()) + u128::from(self.block.get());
            let within = self.within.map_or(facts.capacity.saturating_sub(self.offset), |within| within.length);
            let (what, hint) =
                ("a boundary of any candidate", "use smaller candidates, or search a larger part of the device");
            return Err(match needs > u128::from(within.get()) {
                true => PlanError::DoesNotFit { what, needs, has: within, hint },
                false => PlanError::NoPlace { what, size, within, hint },
            });
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
        let mut ring = ring(self, &measured);
        let apart = Apart::new(&ring, self.block);
        rng.shuffle(&mut ring);
        let mut before = Vec::new();
        let end = (0..self.rounds).try_for_each(|_| {
            let mut visits = round(&mut ring, rng);
            apart.arrange(&mut visits, &before, rng);
            before = visits.iter().rev().take(apart.in_order).map(|visit| visit.at).collect();
            visits.iter().try_for_each(|visit| {
                let place = &mut measured[visit.candidate].places[visit.place];
                let times = match visit.role {
                    Role::Pre => &mut place.pre,
                    Role::On => &mut place.on,
                    Role::Post => &mut place.post,
                };
                rig.rest(self.rest);
                rig.time_into(times, Direction::Read, visit.at, self.block)
            })
        });
        let (block, offset, rest) = (self.block, self.offset, self.rest);
        (Data::Boundaries(BoundariesData { block, offset, rest, candidates: measured }.into()), end)
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

/// The three reads of every place.
fn ring(plan: &Boundaries, measured: &[CandidateData]) -> Vec<[Visit; 3]> {
    let roles = [(Role::Pre, plan.block), (Role::On, plan.block / 2), (Role::Post, Bytes::ZERO)];
    let mut ring = Vec::new();
    for (candidate, data) in measured.iter().enumerate() {
        for (place, straddle) in data.places.iter().enumerate() {
            ring.push(roles.map(|(role, before)| Visit { candidate, place, role, at: straddle.at - before }));
        }
    }
    ring
}

/// One round: three times round the ring, with another of the three reads of a place every time.
fn round(ring: &mut [[Visit; 3]], rng: &mut Rng) -> Vec<Visit> {
    ring.iter_mut().for_each(|place| rng.shuffle(place));
    let part = ring.len().div_ceil(PARTS_OF_RING).max(1);
    let mut visits = Vec::with_capacity(3 * ring.len());
    for time in 0..3 {
        for part in ring.chunks_mut(part) {
            rng.shuffle(part);
            visits.extend(part.iter().map(|place| place[time]));
        }
    }
    visits
}

/// How far from each other reads must be.
struct Apart {
    /// How many reads before it count.
    in_order: usize,
    /// From each of these.
    near: u64,
    /// From the read just before it.
    far: u64,
}

impl Apart {
    fn new(ring: &[[Visit; 3]], block: Bytes) -> Apart {
        let at = || ring.iter().flatten().map(|visit| visit.at);
        let (first, last) = (at().min().unwrap_or(Bytes::ZERO), at().max().unwrap_or(Bytes::ZERO));
        let far = LARGEST_UNIT.min((last - first) / SHARE_BETWEEN);
        let in_order = APART_IN_ORDER.min(ring.len() / 4).max(1);
        Apart { in_order, near: (block * APART_IN_BLOCKS).get(), far: far.get() }
    }

    /// Puts visits that come too near the ones before them elsewhere: for each a random later one takes its place, or,
    /// where no later one fits, it changes places with any other. Where nothing fits (few places), it stays. `before`
    /// are the positions of the reads before the first, the latest one first.
    fn arrange(&self, visits: &mut [Visit], before: &[Bytes], rng: &mut Rng) {
        for i in 0..visits.len() {
            if self.fits(visits, before, i) {
                continue;
            }
            let later = (visits.len() - i) as u64;
            let start = rng.below(later) as usize;
            let others = (0..later as usize).map(|k| i + (start + k) % later as usize);
            let found = others.into_iter().find(|&j| self.fits_at(visits, before, i, visits[j].at));
            match found {
                Some(j) => visits.swap(i, j),
                None => self.exchange(visits, before, i, rng),
            }
        }
    }

    /// Swaps a visit with one before it, if both then fit where they are.
    fn exchange(&self, visits: &mut [Visit], before: &[Bytes], i: usize, rng: &mut Rng) {
        let start = rng.below(i.max(1) as u64) as usize;
        for j in (0..i).map(|k| (start + k) % i) {
            visits.swap(i, j);
            let touched = (j..=(j + self.in_order).min(i)).chain([i]);
            if touched.into_iter().all(|k| self.fits(visits, before, k)) {
                return;
            }
            visits.swap(i, j);
        }
    }

    fn fits(&self, visits: &[Visit], before: &[Bytes], i: usize) -> bool {
        self.fits_at(visits, before, i, visits[i].at)
    }

    /// Whether a read of this position may be number `i`.
    fn fits_at(&self, visits: &[Visit], before: &[Bytes], i: usize, at: Bytes) -> bool {
        let earlier = visits[..i].iter().rev().map(|visit| visit.at).chain(before.iter().copied());
        earlier.take(self.in_order).enumerate().all(|(back, other)| {
            let least = if back == 0 { self.near.max(self.far) } else { self.near };
            other.get().abs_diff(at.get()) >= least
        })
    }
}
