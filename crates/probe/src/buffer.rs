//! Bursts of writes into an empty write buffer.
//!
//! Each burst begins with a flush and a rest, then writes go on in order where the last burst ended, none of them
//! durable, and something is timed behind them: a flush, a read elsewhere, or one more write after a pause. The first
//! write that has to wait tells the size; what comes behind tells what the device does with the data meanwhile.

use crate::checks;
use crate::error::PlanError;
use crate::experiment::{Cost, Probe};
use crate::rig::{Halt, Rig, Served};
use crate::rng::Rng;
use flashscope_device::Target;
use flashscope_model::Data;
use flashscope_model::DeviceFacts;
use flashscope_model::observation::{BufferData, BurstTimes};
use flashscope_model::plan::{Buffer, Burst, Then};
use flashscope_units::{Bytes, Nanos};

/// Bursts that are done however long they take: fewer do not compare.
const LEAST_BURSTS: usize = 3;

impl Probe for Buffer {
    fn validate(&self, facts: &DeviceFacts) -> Result<(), PlanError> {
        checks::size("the block", self.block, facts)?;
        checks::position("the start", self.start, facts)?;
        checks::at_least("the number of bursts", self.bursts.len() as u64, 1)?;
        checks::at_least("the length of the region", self.length.get(), self.block.get())?;
        let needs = checks::end_of(self.start, 0, Bytes::ZERO, self.length);
        checks::fits("the region", facts, needs, "use a smaller region, or one that starts earlier")?;
        // A read elsewhere needs an elsewhere.
        let twice = checks::end_of(Bytes::ZERO, 2, self.length, self.block);
        checks::fits("a device with as much room outside the region", facts, twice, "use a smaller region")
    }

    fn cost(&self, _facts: &DeviceFacts) -> Cost {
        let count = |which: Then| self.bursts.iter().filter(|burst| burst.then == which).count() as u64;
        let writes: u64 = self.bursts.iter().map(|burst| u64::from(burst.writes)).sum::<u64>() + count(Then::Write);
        let flushes = self.bursts.len() as u64 + count(Then::Flush);
        let read = self.block * count(Then::Read);
        Cost { read, written: self.block * writes, requests: writes + flushes + count(Then::Read) }
    }

    fn measure<T: Target + ?Sized>(
        &self,
        facts: &DeviceFacts,
        rng: &mut Rng,
        rig: &mut Rig<'_, '_, T>,
    ) -> (Data, Result<(), Halt>) {
        let mut bursts = Vec::new();
        let mut region = Region { plan: self, next: 0 };
        let end = self.bursts.iter().try_for_each(|burst| {
            let late = self.most_time.is_some_and(|most| rig.elapsed() >= most);
            if late && bursts.len() >= LEAST_BURSTS {
                return Ok(());
            }
            rig.flush()?;
            rig.pause(self.rest);
            let mut times = BurstTimes { writes: Vec::new(), pause: burst.pause, then: burst.then, after: None };
            let end = do_burst(&mut times, burst, &mut region, facts, rng, rig);
            // What was seen before it ended early is worth keeping as well.
            bursts.push(times);
            end
        });
        let Buffer { block, start, length, rest, .. } = *self;
        (Data::Buffer(BufferData { block, start, length, rest, bursts }), end)
    }
}

fn do_burst<T: Target + ?Sized>(
    times: &mut BurstTimes,
    burst: &Burst,
    region: &mut Region<'_>,
    facts: &DeviceFacts,
    rng: &mut Rng,
    rig: &mut Rig<'_, '_, T>,
) -> Result<(), Halt> {
    let block = region.plan.block;
    for _ in 0..burst.writes {
        times.writes.extend(time(rig.write_into_memory(region.place(), block)?));
    }
    rig.pause(burst.pause);
    let after = match burst.then {
        Then::Flush => rig.flush()?,
        Then::Read => rig.read(region.elsewhere(facts, rng), block)?,
        Then::Write => rig.write_into_memory(region.place(), block)?,
    };
    times.after = time(after);
    Ok(())
}

fn time(served: Option<Served>) -> Option<Nanos> {
    served.map(|served| served.time)
}

/// The region that is written, and where the next write goes.
struct Region<'a> {
    plan: &'a Buffer,
    next: u64,
}

impl Region<'_> {
    fn place(&mut self) -> Bytes {
        let at = self.plan.start + self.plan.block * self.next;
        self.next = (self.next + 1) % (self.plan.length / self.plan.block);
        at
    }

    /// A block outside the region.
    fn elsewhere(&self, facts: &DeviceFacts, rng: &mut Rng) -> Bytes {
        let (block, start, length) = (self.plan.block, self.plan.start, self.plan.length);
        let before = start / block;
        let behind = (facts.capacity - (start + length)) / block;
        match rng.below(before + behind) {
            index if index < before => block * index,
            index => (start + length).align_up(facts.logical_block) + block * (index - before),
        }
    }
}
