//! What a device went through before it is diagnosed: drawn, and done to it by requests like any host's.

use flashscope_device::{DeviceError, ExecuteExt, Fill, Request, Target, WriteGrant};
use flashscope_sim::SimTarget;
use flashscope_stats::Rng;
use flashscope_units::{Bytes, Nanos};

/// What a device went through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Past {
    /// Nothing: it was never written.
    New,
    /// All of it was written once, sequentially.
    Filled,
    /// All of it was written, sequentially, with zeros.
    Zeros,
    /// All of it was written, and all of it discarded.
    Discarded,
    /// This share was written, in stretches all over the device; whether with zeros.
    Part(f64, bool),
    /// All of it was written, and stretches that make up this share were discarded.
    Holes(f64),
    /// All of it was written once, randomly.
    Shuffled,
    /// Written once sequentially, then overwritten randomly by this share of the capacity.
    Overwritten(f64),
    /// The same, then written once more sequentially.
    Restored(f64),
}

/// Requests of sequential writes.
const LONG: Bytes = Bytes::kib(512);
/// Most random writes to a card: its merges put everything in order again, so that more of them change nothing.
const MOST_RANDOM_OF_A_CARD: u64 = 4_000;
/// Sizes of random writes, with their shares of 16: the published mix of phones leans to the small ones.
const MIX: [(u64, Bytes); 4] = [(9, Bytes::kib(4)), (3, Bytes::kib(16)), (2, Bytes::kib(64)), (2, Bytes::kib(128))];
/// What is written to stretches at a time.
const STRETCHES: u64 = 24;
/// How long the device is left alone before it is diagnosed.
const REST: Nanos = Nanos::secs(2);

impl Past {
    /// One of them, the published ones more often than the rest.
    pub(super) fn draw(rng: &mut Rng) -> Past {
        let share = 0.05 + 0.9 * rng.unit();
        match rng.below(16) {
            0..=1 => Past::New,
            2..=3 => Past::Filled,
            4 => Past::Zeros,
            5 => Past::Discarded,
            6..=7 => Past::Part(share, false),
            8 => Past::Part(share, true),
            9 => Past::Holes(share),
            10 => Past::Shuffled,
            11..=13 => Past::Overwritten(1.2),
            14 => Past::Overwritten(2.0 * share),
            _ => Past::Restored(1.2),
        }
    }

    /// Whether a device starts blank for it; else it starts filled.
    pub(super) fn starts_blank(self) -> bool {
        matches!(self, Past::New | Past::Zeros | Past::Part(..) | Past::Shuffled)
    }

    /// Does it to a device.
    pub(super) fn happen(self, target: &mut SimTarget, is_card: bool, rng: &mut Rng) -> Result<(), DeviceError> {
        let mut host = Host::new(target);
        let capacity = host.capacity;
        match self {
            Past::New | Past::Filled => {}
            Past::Zeros => host.write_stretch(Bytes::ZERO, capacity, Fill::Byte(0))?,
            Past::Discarded => host.discard(Bytes::ZERO, capacity)?,
            Past::Part(share, zeros) => {
                let fill = if zeros { Fill::Byte(0) } else { Host::DATA };
                for (start, length) in stretches(capacity, share, rng) {
                    host.write_stretch(start, length, fill)?;
                }
            }
            Past::Holes(share) => {
                for (start, length) in stretches(capacity, share, rng) {
                    host.discard(start, length)?;
                }
            }
            Past::Shuffled => {
                let blocks = capacity / Bytes::kib(16);
                let most = if is_card { MOST_RANDOM_OF_A_CARD.min(blocks) } else { blocks };
                if is_card {
                    host.write_stretch(Bytes::ZERO, capacity, Host::DATA)?;
                }
                for block in shuffled(blocks, rng).into_iter().take(most as usize) {
                    host.write(Bytes::kib(16) * block, Bytes::kib(16), Host::DATA)?;
                }
            }
            Past::Overwritten(times) => host.overwrite(times, is_card, rng)?,
            Past::Restored(times) => {
                host.overwrite(times, is_card, rng)?;
                host.write_stretch(Bytes::ZERO, capacity, Host::DATA)?;
            }
        }
        host.rest()
    }
}

/// Stretches all over a device that make up a share of it.
fn stretches(capacity: Bytes, share: f64, rng: &mut Rng) -> Vec<(Bytes, Bytes)> {
    let part = (capacity / STRETCHES).align_down(LONG).max(LONG);
    let length = Bytes((part.as_f64() * share) as u64).align_down(Bytes::kib(64)).max(Bytes::kib(64));
    let room = (part - length.min(part)) / Bytes::kib(64);
    (0..capacity / part)
        .map(|number| (part * number + Bytes::kib(64) * rng.below(room as usize + 1) as u64, length))
        .filter(|(start, length)| *start + *length <= capacity)
        .collect()
}

/// The numbers below `count` in random order.
fn shuffled(count: u64, rng: &mut Rng) -> Vec<u64> {
    let mut all: Vec<u64> = (0..count).collect();
    rng.shuffle(&mut all);
    all
}

/// One who writes to a device.
struct Host<'a> {
    target: &'a mut SimTarget,
    grant: WriteGrant,
    capacity: Bytes,
    done: u64,
}

impl<'a> Host<'a> {
    const DATA: Fill = Fill::Tagged { generation: 1 };

    fn new(target: &'a mut SimTarget) -> Host<'a> {
        let facts = target.facts().clone();
        let capacity = facts.capacity.align_down(Bytes::kib(4));
        let grant = WriteGrant::simulated(&facts, Bytes(u64::MAX / 2)).expect("a simulated device");
        Host { target, grant, capacity, done: 0 }
    }

    fn execute(&mut self, request: Request) -> Result<(), DeviceError> {
        self.done += 1;
        self.target.execute(request).map(drop)
    }

    fn write(&mut self, at: Bytes, length: Bytes, fill: Fill) -> Result<(), DeviceError> {
        let request = Request::write(&mut self.grant, self.done, at, length, fill, false);
        self.execute(request.map_err(|error| DeviceError::Invalid(error.to_string()))?)
    }

    fn write_stretch(&mut self, start: Bytes, length: Bytes, fill: Fill) -> Result<(), DeviceError> {
        let end = start + length;
        let mut at = start;
        while at < end {
            let part = LONG.min(end - at);
            self.write(at, part, fill)?;
            at += part;
        }
        Ok(())
    }

    /// Nothing where the device has no discard: then it stays as it is.
    fn discard(&mut self, start: Bytes, length: Bytes) -> Result<(), DeviceError> {
        if !self.target.capabilities().discard {
            return Ok(());
        }
        let request = Request::discard(&mut self.grant, self.done, start, length);
        self.execute(request.map_err(|error| DeviceError::Invalid(error.to_string()))?)
    }

    fn overwrite(&mut self, times: f64, is_card: bool, rng: &mut Rng) -> Result<(), DeviceError> {
        let mut left = Bytes((self.capacity.as_f64() * times) as u64);
        let mut requests = if is_card { MOST_RANDOM_OF_A_CARD } else { u64::MAX };
        while left > Bytes::ZERO && requests > 0 {
            let mut ticket = rng.below(16) as u64;
            let size = MIX.iter().find(|(share, _)| {
                let hit = ticket < *share;
                ticket = ticket.saturating_sub(*share);
                hit
            });
            let size = size.map_or(Bytes::kib(4), |(_, size)| *size);
            let at = size * rng.below((self.capacity / size) as usize) as u64;
            self.write(at, size, Self::DATA)?;
            (left, requests) = (left.saturating_sub(size), requests - 1);
        }
        Ok(())
    }

    fn rest(&mut self) -> Result<(), DeviceError> {
        self.execute(Request::flush(self.done))?;
        let until = self.target.now() + REST;
        self.target.wait_until(until);
        Ok(())
    }
}
