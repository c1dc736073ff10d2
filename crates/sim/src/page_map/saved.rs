//! A drive that was switched off: what its flash holds and its tables say. Nothing of it knows a time.

use super::collect::Victim;
use super::place::{COPY, HOST, SLC, STREAMS, Stream};
use super::superblocks::{Superblock, Superblocks, Use};
use super::{Counters, Flash, MapCache, PageMap, RunMap, Timeline};
use crate::ageing::SavedAgeing;
use flashscope_units::Instant;
use serde::{Deserialize, Serialize};

/// A drive's flash and tables.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedDrive {
    /// Runs of the map in rising order: map units between the last one and this, how many, and where the first lies.
    runs: Vec<(u32, u32, u32)>,
    superblocks: Vec<Superblock>,
    /// Superblock of each stream, and the slot that is written next.
    streams: [(Option<u32>, u32); STREAMS],
    victim: Option<Victim>,
    counters: Counters,
    read_only: bool,
    ageing: Option<SavedAgeing>,
}

impl PageMap {
    /// Writes out what is in memory, ends what is under way, and lets time begin anew.
    pub(crate) fn switch_off(&mut self) {
        for stream in [SLC, HOST, COPY] {
            self.program_staged(stream, self.last.now);
        }
        self.flash.advance_through();
        self.flash = Flash::new(&self.params, &self.geometry);
        self.map_cache = self.params.map_cache.as_ref().map(|cache| MapCache::new(cache, &self.geometry));
        (self.link_in, self.link_out) = (Timeline::default(), Timeline::default());
        (self.firmware_free, self.admitted) = (Instant::ORIGIN, Instant::ORIGIN);
        self.buffered = 0;
        self.last = super::LastStep { erases: self.superblocks.erases(), ..super::LastStep::default() };
    }

    /// What there is to save of a drive that was switched off.
    pub(crate) fn saved(&self) -> SavedDrive {
        let mut runs: Vec<(u32, u32, u32)> = Vec::new();
        let (mut end, mut behind) = (0, None);
        self.forward.for_each(0, self.geometry.units, |logical, units, physical| {
            let mut done = 0;
            while done < units {
                // A run lies in one superblock, and is told in parts where chunks of the map meet.
                let (logical, physical) = (logical + done, physical + done);
                let slot = self.geometry.slot(physical);
                let part = (units - done).min(self.geometry.slots - slot);
                match runs.last_mut() {
                    Some((_, length, _)) if slot > 0 && behind == Some((logical, physical)) => *length += part,
                    _ => runs.push((logical - end, part, physical)),
                }
                end = logical + part;
                behind = Some((end, physical + part));
                done += part;
            }
        });
        SavedDrive {
            runs,
            superblocks: self.superblocks.all().to_vec(),
            streams: std::array::from_fn(|index| (self.streams[index].superblock, self.streams[index].next)),
            victim: self.victim,
            counters: self.counters,
            read_only: self.read_only,
            ageing: self.ageing.as_ref().map(|ageing| ageing.saved()),
        }
    }

    /// Puts a blank drive of the same model and seed into a saved state.
    ///
    /// # Errors
    /// What does not fit this drive, or together.
    pub(crate) fn restore(&mut self, saved: SavedDrive) -> Result<(), String> {
        let SavedDrive { runs, superblocks, streams, victim, counters, read_only, ageing } = saved;
        self.fit_superblocks(&superblocks)?;
        self.superblocks = Superblocks::restored(superblocks);
        self.fit_streams(&streams, victim)?;
        for (stream, (superblock, next)) in self.streams.iter_mut().zip(streams) {
            *stream = Stream::at(superblock, next);
        }
        (self.forward, self.backward) =
            (RunMap::new(u64::from(self.geometry.units)), RunMap::new(self.backward_length()));
        let mut valid = vec![0u32; self.geometry.superblocks as usize];
        let mut end = 0u32;
        self.mapped = 0;
        for (gap, units, physical) in runs {
            let logical = end.checked_add(gap).ok_or("the map is longer than the device")?;
            end = self.fit_run(logical, units, physical)?;
            valid[self.geometry.superblock(physical) as usize] += units;
            self.forward.set(logical, units, physical);
            self.backward.set(physical, units, logical);
            self.mapped += units;
        }
        if let Some(index) = valid.iter().zip(self.superblocks.all()).position(|(valid, one)| *valid != one.valid) {
            return Err(format!("superblock {index} holds {} valid units, and counts others", valid[index]));
        }
        (self.victim, self.counters, self.read_only) = (victim, counters, read_only);
        self.last.erases = self.superblocks.erases();
        match (&mut self.ageing, ageing) {
            (Some(ageing), Some(saved)) => ageing.restore(saved)?,
            (None, None) => {}
            _ => return Err("it ages, and the other does not".to_owned()),
        }
        self.check()
    }

    fn backward_length(&self) -> u64 {
        u64::from(self.geometry.superblocks) << self.geometry.shift
    }

    fn fit_superblocks(&self, superblocks: &[Superblock]) -> Result<(), String> {
        if superblocks.len() != self.geometry.superblocks as usize {
            return Err(format!("it has {} superblocks, not {}", superblocks.len(), self.geometry.superblocks));
        }
        let fits = |one: &Superblock| {
            let slots = if one.slc { self.geometry.slc_slots } else { self.geometry.slots };
            let free = !matches!(one.usage, Use::Free | Use::Bad) || one.valid == 0;
            (one.slots == slots || one.usage == Use::Free || one.usage == Use::Bad)
                && one.slots <= self.geometry.slots
                && one.valid <= one.slots
                && one.filled_at < 1 << 62
                && free
        };
        match superblocks.iter().position(|one| !fits(one)) {
            Some(index) => Err(format!("superblock {index} is no superblock of this drive")),
            None => Ok(()),
        }
    }

    fn fit_streams(&self, streams: &[(Option<u32>, u32); STREAMS], victim: Option<Victim>) -> Result<(), String> {
        let usage = |index: u32| self.superblocks.all().get(index as usize).map(|one| (one.usage, one.slots));
        let mut open: Vec<u32> = streams.iter().filter_map(|(superblock, _)| *superblock).collect();
        for &(superblock, next) in streams {
            let Some(index) = superblock else { continue };
            match usage(index) {
                Some((Use::Open, slots)) if next < slots && next.is_multiple_of(self.geometry.page_units) => {}
                _ => return Err(format!("superblock {index} is not open")),
            }
        }
        open.sort_unstable();
        open.dedup();
        let all = self.superblocks.all();
        let count = |wanted: Use| all.iter().filter(|one| one.usage == wanted).count();
        let collected = victim.map(|victim| (usage(victim.superblock), victim.next, victim.gain));
        let fits = match collected {
            None => count(Use::Victim) == 0,
            Some((Some((Use::Victim, slots)), next, gain)) => count(Use::Victim) == 1 && next <= slots && gain > 0,
            Some(_) => false,
        };
        if count(Use::Open) != open.len() || !fits {
            return Err("other superblocks are being written to or collected than it says".to_owned());
        }
        Ok(())
    }

    /// Whether a run lies inside the device, in a superblock that holds data, where no other does. Says where it ends.
    fn fit_run(&self, logical: u32, units: u32, physical: u32) -> Result<u32, String> {
        let end = logical.checked_add(units).filter(|end| *end <= self.geometry.units && units > 0);
        let end = end.ok_or("the map is longer than the device")?;
        let superblock = self.geometry.superblock(physical);
        let one = self.superblocks.all().get(superblock as usize).filter(|one| {
            let written = self.geometry.slot(physical).checked_add(units).is_some_and(|end| end <= one.slots);
            written && !matches!(one.usage, Use::Free | Use::Bad)
        });
        let mut taken = one.is_none();
        if !taken {
            self.backward.for_each(physical, units, |_, _, _| taken = true);
        }
        if taken { Err(format!("map unit {logical} lies where it cannot")) } else { Ok(end) }
    }
}
