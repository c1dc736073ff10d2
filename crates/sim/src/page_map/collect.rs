//! Winning back space: collection under pressure and on idle, and folding the SLC cache.

use super::flash::Source;
use super::place::{COPY, HOST, SLC};
use super::{PageMap, Piece};
use crate::ageing::Ageing;
use flashscope_units::Instant;
use serde::{Deserialize, Serialize};

/// The superblock being collected.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Victim {
    pub(super) superblock: u32,
    /// Slots before this one have been looked at.
    pub(super) next: u32,
    /// Slots to look at per unit that the host writes: `slots / gain` keeps up with it.
    pub(super) gain: u32,
    /// What the host has paid and was not yet looked at.
    paid: u64,
}

impl PageMap {
    /// Collects as much as the host's `units` cost, where free superblocks are short.
    pub(super) fn pay_for(&mut self, units: u32, at: Instant) {
        if self.superblocks.free() > self.params.collection.foreground_below && self.victim.is_none() {
            return;
        }
        if self.victim.is_none() && !self.choose_victim() {
            return;
        }
        let Some(victim) = &mut self.victim else { return };
        let slots = self.superblocks.get(victim.superblock).slots;
        victim.paid += u64::from(units) * u64::from(slots);
        let look = victim.paid / u64::from(victim.gain);
        // A row's worth at a time: looking at single slots costs more than it spreads.
        if look >= u64::from(self.geometry.row_units) {
            victim.paid %= u64::from(victim.gain);
            self.collect(look.min(u64::from(slots)) as u32, at);
        }
    }

    /// Collects whole superblocks until `count` are free: the host has to wait for it.
    pub(super) fn collect_until_free(&mut self, count: u32, at: Instant) {
        while self.superblocks.free() < count {
            if self.victim.is_none() && !self.choose_victim() {
                return;
            }
            self.collect(self.geometry.row_units * self.geometry.dies, at);
        }
    }

    /// Nothing is outstanding from `from` to `until`.
    pub fn idle(&mut self, from: Instant, until: Instant) {
        self.begin(from);
        let write_out = from + self.params.buffer.write_out_after;
        if write_out < until {
            self.flash.advance(write_out);
            self.program_staged(SLC, write_out);
            self.program_staged(HOST, write_out);
        }
        let mut at = from + self.params.collection.background_after;
        while at < until {
            self.flash.advance(at);
            // Two operations per die keep all of them busy; more would have begun before the host is back.
            if self.flash.waiting() < 2 * self.geometry.dies && !self.background_step(at) {
                break;
            }
            match self.flash.next() {
                Some(next) => at = at.max(next),
                None => continue,
            }
        }
        self.begin(until);
        self.last.now = until;
        self.last.done = until;
        self.last.units = 0;
    }

    /// One row over all dies of background work; says whether there was any.
    fn background_step(&mut self, at: Instant) -> bool {
        if self.victim.is_none() && !self.choose_background_victim() {
            return false;
        }
        self.collect(self.geometry.row_units * self.geometry.dies, at);
        if self.victim.is_none() && !self.choose_background_victim() {
            // The last copies must not stay in memory for good.
            self.program_staged(COPY, at);
        }
        true
    }

    fn choose_background_victim(&mut self) -> bool {
        let written_so_far = self.units_written();
        let PageMap { flash, superblocks, params, .. } = self;
        let written = |index| flash.is_still_written(index);
        let fold = superblocks.pick_fold(written);
        let collect = || {
            let rules = &params.collection;
            if superblocks.free() >= rules.background_to {
                return None;
            }
            let picked = superblocks.pick_victim(rules.policy, written_so_far, written)?;
            let one = superblocks.get(picked);
            (f64::from(one.valid) <= rules.background_valid_ratio * f64::from(one.slots)).then_some(picked)
        };
        let Some(superblock) = fold.or_else(collect) else { return false };
        self.begin_victim(superblock);
        true
    }

    fn choose_victim(&mut self) -> bool {
        let (flash, policy, so_far) = (&self.flash, self.params.collection.policy, self.units_written());
        let picked = self.superblocks.pick_victim(policy, so_far, |index| flash.is_still_written(index));
        #[cfg(test)]
        let picked = self.oracle.victim(picked, self.superblocks.all());
        let Some(superblock) = picked else { return false };
        self.begin_victim(superblock);
        true
    }

    fn begin_victim(&mut self, superblock: u32) {
        if self.flash.is_still_written(superblock) {
            // It cannot be read before it is written, and there was no other.
            self.flash.advance_through();
        }
        let valid = self.superblocks.get(superblock).valid;
        self.superblocks.begin_collection(superblock);
        let gain = self.geometry.slots.saturating_sub(valid).max(1);
        self.victim = Some(Victim { superblock, next: 0, gain, paid: 0 });
    }

    /// Looks at the next `slots` of the superblock being collected and copies the valid ones; frees it at its end.
    fn collect(&mut self, slots: u32, at: Instant) {
        let Some(mut victim) = self.victim.take() else { return };
        let superblock = self.superblocks.get(victim.superblock);
        let end = if superblock.valid == 0 { superblock.slots } else { superblock.slots.min(victim.next + slots) };
        if superblock.valid > 0 {
            let mut pieces = std::mem::take(&mut self.scratch);
            self.valid_pieces(self.geometry.address(victim.superblock, victim.next), end - victim.next, &mut pieces);
            for piece in &pieces {
                self.copy(*piece, at);
            }
            self.scratch = pieces;
        }
        victim.next = end;
        let superblock = self.superblocks.get(victim.superblock);
        if end < superblock.slots {
            self.victim = Some(victim);
            return;
        }
        self.backward.clear(self.geometry.address(victim.superblock, 0), superblock.slots);
        #[cfg(test)]
        self.oracle.wipe(self.geometry.address(victim.superblock, 0), superblock.slots);
        self.superblocks.set_free(victim.superblock);
        self.counters.collected_superblocks += 1;
    }

    /// The valid runs among `slots` slots from `first` on.
    fn valid_pieces(&self, first: u32, slots: u32, into: &mut Vec<Piece>) {
        into.clear();
        self.backward.for_each(first, slots, |physical, units, logical| {
            self.forward.for_each(logical, units, |there, units, leads_to| {
                let from = physical + (there - logical);
                if leads_to == from {
                    into.push(Piece { logical: there, physical: from, units });
                }
            });
        });
    }

    /// Copies a valid run to the stream of copies.
    fn copy(&mut self, piece: Piece, at: Instant) {
        let row_units = self.geometry.row_units;
        let mut done = 0;
        #[cfg(test)]
        if self.oracle.forgets(piece.logical) {
            if self.oracle.fault == super::tests::Fault::ForgetCopiesQuietly {
                self.unmap(piece.logical, piece.units);
            }
            return;
        }
        while done < piece.units {
            if self.streams[COPY].superblock.is_none() {
                self.open(COPY, at);
            }
            let from = piece.physical + done;
            let within_row = row_units - self.geometry.slot(from) % row_units;
            #[cfg(test)]
            self.oracle.carry(from);
            let part = self.append(COPY, piece.logical + done, within_row.min(piece.units - done), at);
            self.counters.copied_units += u64::from(part);
            self.note_source(from, part);
            self.complete_row(COPY, at);
            done += part;
        }
    }

    /// Remembers that copied slots of one row have to be read.
    fn note_source(&mut self, from: u32, units: u32) {
        let superblock = self.geometry.superblock(from);
        let row = self.geometry.row(self.geometry.slot(from));
        if let Some(last) = self.streams[COPY].sources.last_mut()
            && (last.superblock, last.row) == (superblock, row)
        {
            last.units += units;
            return;
        }
        let slc = self.superblocks.get(superblock).slc;
        let sense = self.worn(superblock, row, self.params.times(&self.geometry, row, slc).0, Ageing::sense);
        let die = self.geometry.die(row);
        self.streams[COPY].sources.push(Source { die, superblock, row, units, sense });
        self.flash.note_source(superblock);
    }
}
