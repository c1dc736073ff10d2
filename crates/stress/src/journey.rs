//! Blocks of data on their way from memory to a device and back, held against what they should be at each border.
//!
//! A block is made in memory and kept (1), copied to a buffer (2), handed to the device (3), read back past the device's side of
//! things into another buffer (4), left to stand, with the power cut where that can be, and both the kept copy (5) and the device (6)
//! are looked at once more. What a block should hold is worked out anew for each look, piece by piece, so that no memory has to be
//! believed. Where something differs, what [`Seen`] holds is found out at once, since later nobody could: the same memory is read
//! again, written again and read, the device is read again into two buffers, another place beside it, and last it is written again.

mod inquiry;

use crate::look::{Difference, Looks};
use crate::seam::{Memory, Seam, Slot};
use crate::tag::Tags;
use flashscope_device::{DeviceError, PoweredBytes};
use flashscope_model::stress::{Border, StorageSide};
use flashscope_units::{Bytes, Nanos};

/// What is sent on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct JourneyPlan {
    /// Where on the device the first block lies.
    pub offset: Bytes,
    /// Length of a block: whole logical blocks of the device.
    pub block: Bytes,
    /// How many there are.
    pub blocks: u32,
    /// What all data follow from.
    pub seed: u64,
    /// How long they stand before the last look.
    pub stand: Nanos,
    /// Whether the power is cut and comes back meanwhile.
    pub cut: bool,
}

/// Something that differed, and what was found out about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// Where on the way.
    pub border: Border,
    /// In which memory.
    pub slot: Slot,
    /// Which block.
    pub block: u32,
    /// In which round.
    pub round: u32,
    /// What differed.
    pub difference: Difference,
    /// The same memory, read again past the caches.
    pub again: Looks,
    /// The same memory, written again and read.
    pub rewritten: Looks,
    /// What the device was asked, where it took part.
    pub storage: Option<StorageSeen>,
}

/// What a device was asked about data that came back wrong and stand wrong in a buffer that holds what is written to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageSeen {
    /// The place read again.
    pub again: Looks,
    /// Readings of another place in between.
    pub beside: u32,
    /// How many of them were wrong.
    pub beside_wrong: u32,
    /// How many of them were wrong in words that are wrong here too, a quarter of these or more, or could not be read. A line of the
    /// link that hangs is wrong in half of what random words it carries, wherever they come from.
    pub beside_alike: u32,
    /// The place written again, and read.
    pub rewritten: Looks,
    /// Sectors among the wrong ones that hold, whole, data of another place or of an older generation.
    pub strays: u32,
    /// Sectors that are wrong.
    pub sectors: u32,
    /// Whether the place had been read right after it was written.
    pub was_right: bool,
    /// Whether the power was cut since it was written.
    pub after_cut: bool,
    /// Reads that the device itself said had failed.
    pub failed: u32,
    /// Whether it was seen only while another error was looked into, and so not looked into itself.
    pub in_passing: bool,
    /// Whether memory of the buffers had been found changing before in this run.
    pub buffers_changed: bool,
}

/// Hears how far a journey is.
pub trait Watch {
    /// A block was looked at.
    fn block(&mut self);
    /// Whether to stop.
    fn stop(&mut self) -> bool;
}

impl Watch for () {
    fn block(&mut self) {}
    fn stop(&mut self) -> bool {
        false
    }
}

/// A journey under way.
pub struct Journey<'a> {
    plan: JourneyPlan,
    memory: Memory<'a>,
    seam: &'a mut dyn Seam,
    device: &'a mut dyn PoweredBytes,
    tags: Tags,
    generation: u32,
    /// What each block's buffer held wrong when the device took it.
    handed: Vec<Difference>,
    /// Where each block is with the device in this round.
    state: Vec<State>,
    seen: Vec<Seen>,
    /// What was wrong in readings that other places were held against.
    met: Vec<(Border, u32, Difference)>,
    side: StorageSide,
}

/// What is known of a block on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not written in this round.
    Unwritten,
    /// Written.
    Written,
    /// Written, and read right.
    Right,
    /// Known not to be what it should.
    Wrong,
}

/// Words that are compared at once: 4 KiB.
const PIECE: usize = 512;

impl<'a> Journey<'a> {
    /// Begins one.
    ///
    /// # Panics
    /// Where the memory is not as long as the plan says, or a block is not whole sectors.
    pub fn new(
        plan: JourneyPlan,
        memory: Memory<'a>,
        seam: &'a mut dyn Seam,
        device: &'a mut dyn PoweredBytes,
    ) -> Journey<'a> {
        let (block, blocks) = (plan.block.get() as usize, plan.blocks as usize);
        assert!(block.is_multiple_of(512) && memory.kept.len() == block * blocks, "the kept copies are the blocks");
        let buffers = [&memory.out, &memory.back, &memory.other];
        assert!(buffers.iter().all(|buffer| buffer.len() == block), "a buffer is as long as a block");
        let side =
            StorageSide { offset: plan.offset, length: plan.block * u64::from(plan.blocks), ..StorageSide::default() };
        Journey {
            tags: Tags { seed: plan.seed },
            generation: 0,
            handed: vec![Difference::default(); blocks],
            state: vec![State::Unwritten; blocks],
            seen: Vec::new(),
            met: Vec::new(),
            side,
            plan,
            memory,
            seam,
            device,
        }
    }

    /// What was seen so far, and what went over the device.
    pub fn told(&self) -> (&[Seen], &StorageSide) {
        (&self.seen, &self.side)
    }

    /// All blocks once. Stops early where it is told to.
    ///
    /// # Errors
    /// The device is gone; what was seen until then stays.
    pub fn round(&mut self, watch: &mut dyn Watch) -> Result<(), DeviceError> {
        self.generation += 1;
        for block in 0..self.plan.blocks {
            self.sent(block)?;
            if watch.stop() {
                return Ok(());
            }
        }
        self.device.flush()?;
        for block in 0..self.plan.blocks {
            self.fetched(block, Border::ReadBack)?;
            watch.block();
            if watch.stop() {
                return Ok(());
            }
        }
        self.stand()?;
        for block in 0..self.plan.blocks {
            let (range, seam) = (self.kept_range(block), &mut *self.seam);
            seam.stood(Slot::Kept, block, &mut self.memory.kept[range]);
            self.checked(Border::Kept, Slot::Kept, block, &Difference::default());
            self.fetched(block, Border::ReadLater)?;
            watch.block();
            if watch.stop() {
                return Ok(());
            }
        }
        self.tell_met();
        self.side.rounds += 1;
        Ok(())
    }

    /// Makes a block, copies it, and hands it to the device, each looked at.
    fn sent(&mut self, block: u32) -> Result<(), DeviceError> {
        self.make(Slot::Kept, block);
        let kept = self.checked(Border::Born, Slot::Kept, block, &Difference::default()).1;
        self.copy_out(block);
        // What the kept copy holds wrong is copied, and was told already.
        let copied = self.checked(Border::Copied, Slot::Out, block, &kept).1;
        let handed = self.hand(block, copied.joined(&kept))?;
        self.handed[block as usize] = handed;
        Ok(())
    }

    /// Hands the buffer to the device; where it changed meanwhile, once more. Gives what was wrong in it, at the end.
    fn hand(&mut self, block: u32, known: Difference) -> Result<Difference, DeviceError> {
        /// Times that a block is handed over, where the buffer changes while it is.
        const TIMES: u32 = 3;
        let mut known = known;
        for _ in 0..TIMES {
            self.seam.stood(Slot::Out, block, self.memory.out);
            let taken = self.write(block)?;
            self.seam.stood(Slot::Out, block, self.memory.out);
            self.state[block as usize] = if taken { State::Written } else { State::Wrong };
            let (has_changed, now) = self.checked(Border::Handed, Slot::Out, block, &known);
            if !has_changed {
                break;
            }
            // It was copied anew meanwhile, which is what the device is to have.
            known = now;
        }
        Ok(known)
    }

    /// Looks at a slot, and finds out about what differs beyond what is known. Gives whether something did, and all that differs now.
    fn checked(&mut self, border: Border, slot: Slot, block: u32, known: &Difference) -> (bool, Difference) {
        let first = self.look(slot, block);
        let unknown = first.without(known);
        if unknown.is_empty() {
            return (false, first);
        }
        self.inquire_memory(border, slot, block, (&unknown, known));
        (true, self.look(slot, block))
    }

    /// Reads a block from the device, and finds out about what differs.
    fn fetched(&mut self, block: u32, border: Border) -> Result<(), DeviceError> {
        if matches!(self.state[block as usize], State::Wrong | State::Unwritten) {
            // It was told already, or the device did not take it.
            return Ok(());
        }
        self.side.blocks += 1;
        let was_right = self.state[block as usize] == State::Right;
        let is_read = self.read(Slot::Back, block)?;
        let first = if is_read { self.look(Slot::Back, block) } else { Difference::default() };
        let unknown = first.without(&self.handed[block as usize]);
        self.state[block as usize] = match (is_read, unknown.is_empty()) {
            (true, true) => State::Right,
            _ => self.inquire_storage(border, block, (is_read, unknown), was_right)?,
        };
        Ok(())
    }

    /// Lets time pass and, where that is planned, cuts the power.
    fn stand(&mut self) -> Result<(), DeviceError> {
        self.device.wait(self.plan.stand);
        if !self.plan.cut {
            return Ok(());
        }
        /// Looks whether the power has gone; a real device may answer for a while.
        const MOST: u32 = 100_000;
        self.device.begin_cut(0.5)?;
        let mut looks = 0;
        while !self.device.has_lost_power()? {
            looks += 1;
            if looks > MOST {
                return Err(DeviceError::Hung("the power does not go".to_owned()));
            }
        }
        self.device.restore_power()?;
        self.side.power_cuts += 1;
        Ok(())
    }

    /// Writes into memory what a block should hold.
    fn make(&mut self, slot: Slot, block: u32) {
        self.make_turned(slot, block, false);
    }

    /// The same, or its inverse.
    fn make_turned(&mut self, slot: Slot, block: u32, inverted: bool) {
        let turn = if inverted { u64::MAX } else { 0 };
        let (tags, generation, first) = (self.tags, self.generation, self.first_word(block));
        let mut piece = [0; PIECE];
        let memory = self.slot(slot, block);
        for (at, bytes) in memory.chunks_mut(PIECE * 8).enumerate() {
            let piece = &mut piece[..bytes.len() / 8];
            tags.fill(first + (at * PIECE) as u64, generation, piece);
            for (bytes, word) in bytes.chunks_exact_mut(8).zip(piece) {
                bytes.copy_from_slice(&(*word ^ turn).to_le_bytes());
            }
        }
        self.written(slot, block);
    }

    fn copy_out(&mut self, block: u32) {
        let range = self.kept_range(block);
        self.memory.out.copy_from_slice(&self.memory.kept[range]);
        self.written(Slot::Out, block);
    }

    /// Holds memory against what it should be.
    fn look(&mut self, slot: Slot, block: u32) -> Difference {
        self.look_turned(slot, block, false)
    }

    /// The same against the inverse.
    fn look_turned(&mut self, slot: Slot, block: u32, inverted: bool) -> Difference {
        let turn = if inverted { u64::MAX } else { 0 };
        let (tags, generation, first) = (self.tags, self.generation, self.first_word(block));
        let range = self.kept_range(block);
        let memory: &[u8] = match slot {
            Slot::Kept => &self.memory.kept[range],
            Slot::Out => self.memory.out,
            Slot::Back => self.memory.back,
            Slot::Other => self.memory.other,
        };
        let (mut found, mut expected) = ([0; PIECE], [0; PIECE]);
        let mut difference = Difference::default();
        for (number, bytes) in memory.chunks(PIECE * 8).enumerate() {
            let (begun, words) = (number * PIECE, bytes.len() / 8);
            let (found, expected) = (&mut found[..words], &mut expected[..words]);
            for (word, bytes) in found.iter_mut().zip(bytes.chunks_exact(8)) {
                *word = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            }
            self.seam.seen(slot, block, begun, found);
            found.iter_mut().for_each(|word| *word ^= turn);
            tags.fill(first + begun as u64, generation, expected);
            if found != expected {
                let wrong = found.iter().zip(expected.iter()).enumerate().filter(|(_, (one, other))| one != other);
                wrong.for_each(|(at, (one, other))| difference.push(begun + at, one ^ other));
            }
        }
        difference
    }

    fn write(&mut self, block: u32) -> Result<bool, DeviceError> {
        self.side.written += self.plan.block;
        let at = self.place(block);
        match self.device.write_bytes(at, self.memory.out) {
            Ok(()) => Ok(true),
            Err(DeviceError::System(_)) => {
                self.side.failed += 1;
                Ok(false)
            }
            Err(other) => Err(other),
        }
    }

    /// Reads a block into a buffer; `false` where the device says that it cannot.
    fn read(&mut self, slot: Slot, block: u32) -> Result<bool, DeviceError> {
        self.side.read += self.plan.block;
        let at = self.place(block);
        let memory = if slot == Slot::Other { &mut *self.memory.other } else { &mut *self.memory.back };
        // What the last read left is not to be taken for what this one brought.
        memory.fill(0);
        let is_read = self.device.read_bytes(at, memory)?;
        self.side.failed += u64::from(!is_read);
        self.written(slot, block);
        Ok(is_read)
    }

    fn written(&mut self, slot: Slot, block: u32) {
        let range = self.kept_range(block);
        let memory: &mut [u8] = match slot {
            Slot::Kept => &mut self.memory.kept[range],
            Slot::Out => self.memory.out,
            Slot::Back => self.memory.back,
            Slot::Other => self.memory.other,
        };
        self.seam.written(slot, block, memory);
    }

    fn slot(&mut self, slot: Slot, block: u32) -> &mut [u8] {
        let range = self.kept_range(block);
        match slot {
            Slot::Kept => &mut self.memory.kept[range],
            Slot::Out => self.memory.out,
            Slot::Back => self.memory.back,
            Slot::Other => self.memory.other,
        }
    }

    fn kept_range(&self, block: u32) -> std::ops::Range<usize> {
        let length = self.plan.block.get() as usize;
        let from = block as usize * length;
        from..from + length
    }

    fn place(&self, block: u32) -> Bytes {
        self.plan.offset + self.plan.block * u64::from(block)
    }

    fn first_word(&self, block: u32) -> u64 {
        self.place(block).get() / 8
    }
}
