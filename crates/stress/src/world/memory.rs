//! Memory with faults.

use super::fault::{Faults, Plant, flip, locked};
use crate::seam::{Seam, Slot};
use std::sync::{Arc, Mutex};

/// The seam at which memory faults are planted.
pub(super) struct Shim {
    faults: Arc<Mutex<Faults>>,
}

impl Shim {
    pub(super) fn new(faults: Arc<Mutex<Faults>>) -> Shim {
        Shim { faults }
    }
}

impl Seam for Shim {
    fn written(&mut self, slot: Slot, block: u32, memory: &mut [u8]) {
        let mut faults = locked(&self.faults);
        let Faults { list, chance, round } = &mut *faults;
        for fault in list {
            match (fault.plant, slot) {
                (Plant::KeptStuck, Slot::Kept) if fault.block != block => {}
                (Plant::KeptStuck, Slot::Kept) | (Plant::OutStuck, Slot::Out) | (Plant::BackStuck, Slot::Back) => {
                    let at = fault.word as usize * 8;
                    let word = u64::from_le_bytes(memory[at..at + 8].try_into().expect("eight bytes"));
                    let wrong = if fault.ones { !word & fault.bits } else { word & fault.bits };
                    if wrong != 0 {
                        flip(memory, fault.word, wrong);
                        fault.hit(block, fault.word..fault.word + 1);
                    }
                }
                (Plant::CopyFlips, Slot::Out) if (fault.round, fault.block) == (*round, block) && !fault.is_spent => {
                    fault.is_spent = true;
                    flip(memory, fault.word, fault.bits);
                    fault.hit(block, fault.word..fault.word + 1);
                }
                (Plant::CopyLane, Slot::Out) if chance.unit() < fault.rate => {
                    let word = fault.any_word(chance);
                    flip(memory, word, 1 << fault.bits.trailing_zeros());
                    fault.hit(block, word..word + 1);
                }
                _ => {}
            }
        }
    }

    fn stood(&mut self, slot: Slot, block: u32, memory: &mut [u8]) {
        let mut faults = locked(&self.faults);
        let round = faults.round;
        for fault in &mut faults.list {
            let is_here = match (fault.plant, slot) {
                (Plant::KeptFlips, Slot::Kept) => {
                    fault.occasion = 0;
                    fault.is_due(round, block)
                }
                (Plant::OutFlips, Slot::Out) => fault.is_due(round, block),
                _ => false,
            };
            if is_here {
                flip(memory, fault.word, fault.bits);
                fault.hit(block, fault.word..fault.word + 1);
            }
        }
    }

    fn seen(&mut self, slot: Slot, block: u32, first: usize, words: &mut [u64]) {
        let mut faults = locked(&self.faults);
        let round = faults.round;
        for fault in faults.list.iter_mut().filter(|fault| fault.plant == Plant::SeenFlips) {
            let of = [Slot::Kept, Slot::Out, Slot::Back][fault.elsewhere as usize % 3];
            let place = (fault.word as usize).checked_sub(first).filter(|place| *place < words.len());
            let Some(place) = place.filter(|_| of == slot) else { continue };
            if fault.is_due(round, block) {
                words[place] ^= fault.bits;
                fault.hit(block, fault.word..fault.word + 1);
            }
        }
    }

    fn past_caches(&mut self) {}
}
