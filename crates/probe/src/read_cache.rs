//! Re-reads and runs in both orders: does a read find what was read before, or what was read ahead?
//!
//! Re-reading goes in descending order, which no read-ahead follows, and stays in one region, so that no other unit
//! has to be looked up. All parts of a round are done in a fresh random order, each in another region than the last.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::{Ahead, ReadCacheData, Reread};
use flashscope_model::plan::ReadCache;
use flashscope_model::{DeviceFacts, Direction};
use flashscope_units::Bytes;

/// What was read since is read in no more requests than this, so that long spans do not take for ever.
const MOST_PIECES: u64 = 32;

/// One part of a round.
#[derive(Clone, Copy)]
enum Part {
    Span(usize),
    Rising,
    Falling,
    Distance(usize),
}

impl Probe for ReadCache {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::size("the block", self.block, facts)?;
        checks::at_least("the number of rounds", self.rounds.into(), 1)?;
        checks::at_least("the number of regions", self.regions.len() as u64, 2)?;
        for size in self.spans.iter().chain(&self.distances) {
            checks::position("a span or distance", *size, facts)?;
        }
        for span in &self.spans {
            checks::at_least("a span", span.get(), self.block.get())?;
        }
        checks::at_least("the region", self.region.get(), self.least_region().get())?;
        checks::units("the regions", self.regions.iter().copied(), self.region, facts)
    }

    fn cost(&self, _facts: &DeviceFacts) -> Cost {
        let once = self.parts().into_iter().map(|part| self.cost_of(part));
        let once = once.fold(Cost::default(), Cost::plus);
        let rounds = u64::from(self.rounds);
        Cost { read: once.read * rounds, written: Bytes::ZERO, requests: once.requests * rounds }
    }

    fn measure<T: Target + ?Sized>(
        &self,
        _facts: &DeviceFacts,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let mut seen = ReadCacheData {
            block: self.block,
            spans: self.spans.iter().map(|&span| Reread { span, again: Vec::new(), fresh: Vec::new() }).collect(),
            rising: Vec::new(),
            falling: Vec::new(),
            ahead: self.distances.iter().map(|&distance| Ahead { distance, times: Vec::new() }).collect(),
        };
        let mut regions = self.regions.iter().copied().cycle();
        let end = (0..self.rounds).try_for_each(|_| {
            let mut parts = self.parts();
            rng.shuffle(&mut parts);
            parts.into_iter().try_for_each(|part| {
                let region = regions.next().unwrap_or_default();
                self.do_part(part, region, &mut seen, rng, rig)
            })
        });
        (Data::ReadCache(seen), end)
    }
}

trait Parts {
    fn parts(&self) -> Vec<Part>;
    fn least_region(&self) -> Bytes;
    fn cost_of(&self, part: Part) -> Cost;
    fn pieces(&self, span: Bytes) -> Vec<Bytes>;
    fn do_part<T: Target + ?Sized>(
        &self,
        part: Part,
        region: Bytes,
        seen: &mut ReadCacheData,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> Result<(), Halt>;
}

impl Parts for ReadCache {
    fn parts(&self) -> Vec<Part> {
        let mut parts: Vec<Part> = (0..self.spans.len()).map(Part::Span).collect();
        if self.run > 0 {
            parts.extend([Part::Rising, Part::Falling]);
            parts.extend((0..self.distances.len()).map(Part::Distance));
        }
        parts
    }

    /// Room for the longest part in the upper half, and as much that was not read for a while below it.
    fn least_region(&self) -> Bytes {
        let longest = |sizes: &[Bytes]| sizes.iter().max().copied().unwrap_or_default();
        let run = self.block * (u64::from(self.run) + 1) + longest(&self.distances);
        (longest(&self.spans) + self.block).max(run) * 2
    }

    fn cost_of(&self, part: Part) -> Cost {
        let run = u64::from(self.run);
        match part {
            Part::Span(index) => {
                let pieces = self.pieces(self.spans[index]);
                let requests = pieces.len() as u64 + 3;
                Cost { read: pieces.into_iter().sum::<Bytes>() + self.block * 3, written: Bytes::ZERO, requests }
            }
            Part::Rising | Part::Falling => Cost::of(Direction::Read, run, self.block),
            Part::Distance(_) => Cost::of(Direction::Read, run + 1, self.block),
        }
    }

    /// How all but the first block of a span is read.
    fn pieces(&self, span: Bytes) -> Vec<Bytes> {
        let piece = self.block * (span / self.block).div_ceil(MOST_PIECES).max(1);
        let mut left = span - self.block;
        let mut pieces = Vec::new();
        while left > Bytes::ZERO {
            pieces.push(piece.min(left));
            left -= piece.min(left);
        }
        pieces
    }

    fn do_part<T: Target + ?Sized>(
        &self,
        part: Part,
        region: Bytes,
        seen: &mut ReadCacheData,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> Result<(), Halt> {
        let (block, run) = (self.block, u64::from(self.run));
        let middle = region + (self.region / 2).align_down(block);
        let mut times = Vec::new();
        match part {
            Part::Span(index) => {
                let reread = &mut seen.spans[index];
                let top = region + self.region - block;
                rig.read(top, block)?;
                let mut at = top;
                for piece in self.pieces(reread.span) {
                    at -= piece;
                    rig.read(at, piece)?;
                }
                rig.time_into(&mut reread.again, Direction::Read, top, block)?;
                let fresh = region + block * rng.below((self.region / 2) / block);
                rig.time_into(&mut reread.fresh, Direction::Read, fresh, block)
            }
            Part::Rising => {
                let end = rig.visit(&mut times, Direction::Read, block, (0..run).map(|index| middle + block * index));
                seen.rising.push(times);
                end
            }
            Part::Falling => {
                let last = middle + block * run;
                let end = rig.visit(&mut times, Direction::Read, block, (1..=run).map(|index| last - block * index));
                seen.falling.push(times);
                end
            }
            Part::Distance(index) => {
                rig.visit(&mut times, Direction::Read, block, (0..run).map(|index| middle + block * index))?;
                rig.pause(self.rest);
                let ahead = &mut seen.ahead[index];
                let at = middle + block * run + ahead.distance;
                rig.time_into(&mut ahead.times, Direction::Read, at, block)
            }
        }
    }
}
