//! Discards of several sizes: what they cost, from which size on they take effect, what is read behind them, and whether
//! later writes are faster.
//!
//! A place is written before each discard, so that what reads find is either what was just written or what the discard
//! made of it. The block right behind is not discarded: it says what a read of data takes there. Sizes are tried in a random
//! order, each at a place of its own as long as there are enough.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig};
use crate::rng::Rng;
use flashscope_device::{Content, Target};
use flashscope_model::discard::{Discard, DiscardData, DiscardTrial};
use flashscope_model::plan::Plan;
use flashscope_model::{Data, DeviceFacts, Direction};
use flashscope_units::Bytes;

/// What is written before a discard goes out in pieces of this size: shorter ones end within pages of many chips, and some
/// devices copy a unit for each of them.
const PIECE: Bytes = Bytes::mib(1);

/// Two reads of a block and the discard itself beside the writes of a trial.
const BESIDE: u64 = 3;

/// Reads of a sector of each size that takes effect: at both ends. Where a grid of its own keeps these, there are more.
const LOOKS: u64 = 2;

impl Probe for Discard {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::size("the block", self.block, facts)?;
        checks::at_least("the number of places", self.places.len() as u64, 3)?;
        checks::size("the block of random writes", self.rewrite_block, facts)?;
        checks::at_least("the span that is filled", self.span.get(), self.rewrite_block.get())?;
        let longest = self.sizes.iter().copied().max().unwrap_or_default().max(self.span) + self.block;
        for size in &self.sizes {
            checks::size("a size to discard", *size, facts)?;
        }
        for place in &self.places {
            checks::position("a place", *place, facts)?;
            let needs = checks::end_of(*place, 1, longest, Bytes::ZERO);
            checks::fits("a place", facts, needs, "use smaller sizes, or places that start earlier")?;
        }
        Ok(())
    }

    fn cost(&self, facts: &DeviceFacts) -> Cost {
        let trials = u64::from(self.repeats) * self.sizes.len() as u64;
        let filled: u64 = self.sizes.iter().map(|size| pieces(*size) + 1).sum();
        let looks = LOOKS * self.sizes.len() as u64;
        let requests = filled * u64::from(self.repeats) + trials * BESIDE + looks;
        let rewrites = 2 * (pieces(self.span) + u64::from(self.rewrites)) + 1;
        let read = self.block * (2 * trials) + facts.logical_block * looks;
        Cost { read, written: self.bytes_written(), requests: requests + rewrites }
    }

    fn measure<T: Target + ?Sized>(
        &self,
        facts: &DeviceFacts,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let mut data = DiscardData {
            block: self.block,
            rewrite_block: self.rewrite_block,
            supported: rig.can_discard(),
            trials: Vec::new(),
            behind: Vec::new(),
            control: Vec::new(),
        };
        let end = if data.supported { try_all(self, facts.logical_block, &mut data, rng, rig) } else { Ok(()) };
        (Data::Discard(data), end)
    }
}

fn pieces(length: Bytes) -> u64 {
    length.get().div_ceil(PIECE.get())
}

fn try_all<T: Target + ?Sized>(
    plan: &Discard,
    sector: Bytes,
    data: &mut DiscardData,
    rng: &mut Rng,
    rig: &mut Rig<'_, '_, T>,
) -> Result<(), Halt> {
    let (places, rewritten) = plan.places.split_at(plan.places.len() - 2);
    let mut place = places.iter().cycle();
    for repeat in 0..plan.repeats {
        let mut sizes = plan.sizes.clone();
        rng.shuffle(&mut sizes);
        for size in sizes {
            let Some(at) = place.next() else { return Ok(()) };
            let mut trial = trial(plan.block, sector, (*at, size), rig)?;
            // Every place lies on the device's grid as the others do: once for each size is enough.
            if let Some(trial) = trial.as_mut().filter(|_| repeat == 0)
                && let Some(uniform) = trial.uniform
            {
                trial.kept = ends((*at, size), sector, uniform, rig)?;
            }
            data.trials.extend(trial);
        }
    }
    let &[discarded, kept] = rewritten else { return Ok(()) };
    for at in rewritten {
        fill(*at, plan.span, rig)?;
    }
    rig.discard(discarded, plan.span)?;
    let blocks = plan.span / plan.rewrite_block;
    for _ in 0..plan.rewrites {
        let offset = plan.rewrite_block * rng.below(blocks);
        rig.time_into(&mut data.behind, Direction::Write, discarded + offset, plan.rewrite_block)?;
        rig.time_into(&mut data.control, Direction::Write, kept + offset, plan.rewrite_block)?;
    }
    Ok(())
}

/// One discard over data that was just written; nothing where a request of it failed.
fn trial<T: Target + ?Sized>(
    block: Bytes,
    sector: Bytes,
    (at, size): (Bytes, Bytes),
    rig: &mut Rig<'_, '_, T>,
) -> Result<Option<DiscardTrial>, Halt> {
    fill(at, size, rig)?;
    rig.write(at + size, block)?;
    let done = rig.discard(at, size)?;
    let inside = rig.read(at + (size / 2).align_down(block), block)?;
    let behind = rig.read(at + size, block)?;
    // The block may lie across two steps of a grid, of which only one took effect.
    let uniform = match inside.as_ref().and_then(|inside| uniform(inside.content)) {
        None => rig.read(at + (size / 2).align_down(sector), sector)?.and_then(|middle| uniform(middle.content)),
        found => found,
    };
    Ok(done.zip(inside).zip(behind).map(|((done, inside), behind)| DiscardTrial {
        size,
        time: done.time,
        uniform,
        kept: None,
        read: inside.time,
        read_behind: behind.time,
    }))
}

/// What of a discarded range is kept at its start and at its end, as by a device whose own grid lies elsewhere, where a sector
/// in its middle reads as `uniform`; `None` where a read failed.
fn ends<T: Target + ?Sized>(
    (at, size): (Bytes, Bytes),
    sector: Bytes,
    uniform: u8,
    rig: &mut Rig<'_, '_, T>,
) -> Result<Option<(Bytes, Bytes)>, Halt> {
    let last = size / sector - 1;
    let mut edge = |end: u64| -> Result<Option<u64>, Halt> {
        let (mut kept, mut gone, mut look) = (end, size / sector / 2, end);
        loop {
            match rig.read(at + sector * look, sector)? {
                Some(served) if served.content == Content::Uniform(uniform) => gone = look,
                Some(_) => kept = look,
                None => return Ok(None),
            }
            if kept.abs_diff(gone) <= 1 {
                return Ok(Some(gone));
            }
            look = kept.midpoint(gone);
        }
    };
    let (Some(from), Some(to)) = (edge(0)?, edge(last)?) else { return Ok(None) };
    Ok(Some((sector * from, sector * (last - to))))
}

/// The byte that was read throughout, if it was one.
fn uniform(content: Content) -> Option<u8> {
    match content {
        Content::Uniform(byte) => Some(byte),
        Content::Unknown | Content::Varied => None,
    }
}

fn fill<T: Target + ?Sized>(at: Bytes, length: Bytes, rig: &mut Rig<'_, '_, T>) -> Result<(), Halt> {
    let mut done = Bytes::ZERO;
    while done < length {
        let piece = PIECE.min(length - done);
        rig.write(at + done, piece)?;
        done += piece;
    }
    Ok(())
}
