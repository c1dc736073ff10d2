//! A device with faults.

use super::fault::{Faults, Plant, flip, locked};
use crate::journey::JourneyPlan;
use flashscope_device::{DeviceError, PoweredBytes};
use flashscope_model::facts::{Claims, DeviceFacts, DeviceKind};
use flashscope_stats::rng::mix;
use flashscope_units::{Bytes, Instant, Nanos};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// A device in memory.
pub(super) struct Device {
    faults: Arc<Mutex<Faults>>,
    facts: DeviceFacts,
    now: Instant,
    is_off: bool,
    offset: u64,
    block: usize,
    stands: Vec<u8>,
    /// What stood there before the writes of this round.
    before: Vec<u8>,
    round: u32,
}

impl Device {
    pub(super) fn new(faults: Arc<Mutex<Faults>>, plan: &JourneyPlan) -> Device {
        let length = plan.block.get() as usize * plan.blocks as usize;
        let facts = DeviceFacts {
            name: "a world".to_owned(),
            kind: DeviceKind::Other,
            simulated: true,
            capacity: plan.offset + Bytes(length as u64),
            logical_block: Bytes(512),
            physical_block: None,
            max_request: None,
            queue_depth: None,
            claims: Claims::default(),
            identity: None,
        };
        Device {
            faults,
            facts,
            now: Instant(0),
            is_off: false,
            offset: plan.offset.get(),
            block: plan.block.get() as usize,
            stands: vec![0; length],
            before: vec![0; length],
            round: u32::MAX,
        }
    }

    /// A block, whole; journeys ask for no others.
    fn block_at(&self, at: Bytes) -> (u32, Range<usize>) {
        let from = (at.get() - self.offset) as usize;
        ((from / self.block) as u32, from..from + self.block)
    }

    fn bytes(&self, block: u32, words: &Range<u32>) -> Range<usize> {
        let from = block as usize * self.block;
        from + words.start as usize * 8..from + words.end as usize * 8
    }
}

impl PoweredBytes for Device {
    fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    fn can_write(&self) -> bool {
        true
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn read_bytes(&mut self, at: Bytes, into: &mut [u8]) -> Result<bool, DeviceError> {
        let (block, range) = self.block_at(at);
        into.copy_from_slice(&self.stands[range]);
        let mut faults = locked(&self.faults);
        let Faults { list, chance, round } = &mut *faults;
        for fault in list {
            let is_struck = match fault.plant {
                Plant::MediumUnsteady => fault.block == block && chance.unit() < fault.rate,
                Plant::LinkBack => fault.is_due(*round, block),
                Plant::LinkErratic => chance.unit() < fault.rate,
                _ => false,
            };
            let (word, bits) = match (is_struck, fault.plant) {
                (false, _) => continue,
                (true, Plant::LinkErratic) => (fault.any_word(chance), 1 << chance.below(64)),
                (true, _) => (fault.word, fault.bits),
            };
            flip(into, word, bits);
            fault.hit(block, word..word + 1);
        }
        Ok(true)
    }

    fn write_bytes(&mut self, at: Bytes, bytes: &[u8]) -> Result<(), DeviceError> {
        let (block, range) = self.block_at(at);
        let mut faults = locked(&self.faults);
        if faults.round != self.round {
            self.round = faults.round;
            self.before.copy_from_slice(&self.stands);
        }
        let mut arrives = bytes.to_vec();
        for fault in &mut faults.list {
            let words = fault.sectors();
            let part = words.start as usize * 8..words.end as usize * 8;
            match fault.plant {
                Plant::MediumDamaged if fault.block == block => {
                    for (byte, at) in arrives[part].iter_mut().zip(u64::from(fault.word)..) {
                        *byte = mix(fault.bits ^ at) as u8;
                    }
                    fault.hit(block, words);
                }
                Plant::MediumLoses if fault.block == block => {
                    let stood = range.start + part.start..range.start + part.end;
                    arrives[part].copy_from_slice(&self.stands[stood]);
                    fault.hit(block, words);
                }
                Plant::LinkOut if !fault.is_spent && (fault.round, fault.block) == (self.round, block) => {
                    fault.is_spent = true;
                    flip(&mut arrives, fault.word, fault.bits);
                    fault.hit(block, fault.word..fault.word + 1);
                }
                _ => {}
            }
        }
        self.stands[range].copy_from_slice(&arrives);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    fn wait(&mut self, time: Nanos) {
        self.now += time;
        let mut faults = locked(&self.faults);
        let round = faults.round;
        for fault in faults.list.iter_mut().filter(|fault| fault.plant == Plant::MediumDecays && fault.round == round) {
            let from = fault.block as usize * self.block;
            flip(&mut self.stands[from..from + self.block], fault.word, fault.bits);
            fault.hit(fault.block, fault.word..fault.word + 1);
        }
    }

    fn begin_cut(&mut self, _: f64) -> Result<(), DeviceError> {
        self.is_off = true;
        Ok(())
    }

    fn has_lost_power(&mut self) -> Result<bool, DeviceError> {
        Ok(self.is_off)
    }

    fn restore_power(&mut self) -> Result<Nanos, DeviceError> {
        self.is_off = false;
        let faults = Arc::clone(&self.faults);
        let mut faults = locked(&faults);
        let round = faults.round;
        let astray = |fault: &&mut super::fault::Fault| fault.plant == Plant::MediumMisdirects && fault.round == round;
        for fault in faults.list.iter_mut().filter(astray) {
            let words = fault.sectors();
            let (own, there) = (self.bytes(fault.block, &words), self.bytes(fault.elsewhere, &words));
            let data = self.stands[own.clone()].to_vec();
            self.stands[there].copy_from_slice(&data);
            let older = self.before[own.clone()].to_vec();
            self.stands[own].copy_from_slice(&older);
            fault.hit(fault.block, words.clone());
            fault.hit(fault.elsewhere, words);
        }
        Ok(Nanos::millis(1))
    }
}
