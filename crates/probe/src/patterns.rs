//! Requests as applications mix them: streams beside each other, small random writes, reads between, and flushes behind.
//!
//! The classic experiments make every write durable, so that each tells of the flash; applications write into whatever memory
//! a device has, and then flush. What that takes is no sum of what single requests take: it is measured as it is.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::observation::{PatternTimes, PatternsData};
use flashscope_model::plan::{Pattern, PatternPart, Patterns};
use flashscope_model::{DeviceFacts, Direction, Order};
use flashscope_units::{Bytes, Nanos};
use std::sync::Arc;

impl Probe for Patterns {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::at_least("the number of patterns", self.patterns.len() as u64, 1)?;
        self.patterns.iter().try_for_each(|pattern| {
            checks::at_least("the number of rounds", pattern.rounds.into(), 1)?;
            checks::at_least("the number of parts", pattern.parts.len() as u64, 1)?;
            pattern.parts.iter().try_for_each(|part| {
                checks::size("the block", part.block, facts)?;
                checks::position("the start", part.start, facts)?;
                checks::at_least("the number of requests", part.requests.into(), 1)?;
                checks::at_least("the length of the region", part.length.get(), part.block.get())?;
                let needs = checks::end_of(part.start, 0, Bytes::ZERO, part.length);
                checks::fits("the region", facts, needs, "use a smaller region, or one that starts earlier")
            })
        })
    }

    fn cost(&self, _facts: &DeviceFacts) -> Cost {
        self.patterns.iter().fold(Cost::default(), |sum, pattern| {
            let ((reads, read), (writes, written)) = (pattern.moved(Direction::Read), pattern.moved(Direction::Write));
            sum.plus(Cost { read, written, requests: reads + writes + pattern.flushes() })
        })
    }

    fn measure<T: Target + ?Sized>(
        &self,
        _facts: &DeviceFacts,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let mut patterns = Vec::new();
        let end = self.patterns.iter().try_for_each(|pattern| {
            let times = vec![Vec::new(); pattern.parts.len()];
            let mut seen = PatternTimes { pattern: pattern.clone(), times, flushes: Vec::new() };
            rig.pause(pattern.rest);
            let end = one(pattern, &mut seen, rng, rig);
            // What was seen before it ended early is worth keeping as well.
            patterns.push(seen);
            end
        });
        (Data::Patterns(Arc::new(PatternsData { patterns })), end)
    }
}

fn one<T: Target + ?Sized>(
    pattern: &Pattern,
    seen: &mut PatternTimes,
    rng: &mut Rng,
    rig: &mut Rig<'_, '_, T>,
) -> Result<(), Halt> {
    let mut done = vec![0; pattern.parts.len()];
    for round in 1..=pattern.rounds {
        for ((part, done), times) in pattern.parts.iter().zip(&mut done).zip(&mut seen.times) {
            for _ in 0..part.requests {
                times.extend(request(part, place(part, *done, rng), pattern.durable, rig)?);
                *done += 1;
            }
        }
        if round.checked_rem(pattern.flush_every) == Some(0) {
            seen.flushes.extend(rig.flush()?.map(|served| served.time));
        }
    }
    Ok(())
}

/// Where the next request of a part goes, behind `done` of them.
fn place(part: &PatternPart, done: u64, rng: &mut Rng) -> Bytes {
    let blocks = part.length / part.block;
    let block = match part.order {
        Order::InOrder => done % blocks,
        Order::Random => rng.below(blocks),
    };
    part.start + part.block * block
}

fn request<T: Target + ?Sized>(
    part: &PatternPart,
    at: Bytes,
    durable: bool,
    rig: &mut Rig<'_, '_, T>,
) -> Result<Option<Nanos>, Halt> {
    let served = match part.direction {
        Direction::Read => rig.read(at, part.block)?,
        Direction::Write if durable => rig.write(at, part.block)?,
        Direction::Write => rig.write_into_memory(at, part.block)?,
    };
    Ok(served.map(|served| served.time))
}
