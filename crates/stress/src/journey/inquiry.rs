//! What is found out where something differs.

use super::{Journey, Seen, State, StorageSeen};
use crate::look::{Difference, Looks, once, parts, strangers};
use crate::seam::Slot;
use crate::tag::SECTOR;
use flashscope_device::DeviceError;
use flashscope_model::stress::Border;
use std::collections::BTreeSet;

/// How often memory is read again, and written again.
const MEMORY: usize = 8;
/// How often the device is read again: a place that is wrong at every third reading is right in all of twelve once in 130 cases.
const DEVICE: usize = 12;
/// How often the device is written again.
const WRITES: usize = 3;

impl Journey<'_> {
    /// Finds out about memory that differs from what was written to it; `known` is what may differ. Leaves it right, where it holds.
    pub(super) fn inquire_memory(
        &mut self,
        border: Border,
        slot: Slot,
        block: u32,
        (first, known): (&Difference, &Difference),
    ) {
        let again = self.seen_again(slot, block, known);
        let rewritten = self.written_again(slot, block, known);
        let met = strangers(first, &[&again[..], &rewritten].concat());
        for part in parts(first, &[&again, &rewritten]).into_iter().chain(Some(met)).filter(|part| !part.is_empty()) {
            let looks = [&again, &rewritten].map(|looks| Looks::of(&part, first, looks));
            self.tell((border, slot, block), part, looks, None);
        }
    }

    /// Reads memory again.
    fn seen_again(&mut self, slot: Slot, block: u32, known: &Difference) -> Vec<Difference> {
        let look = |_| {
            self.seam.past_caches();
            self.look(slot, block).without(known)
        };
        (0..MEMORY).map(look).collect()
    }

    /// Writes memory again, and reads it. A buffer is written as it was before: by copying.
    fn written_again(&mut self, slot: Slot, block: u32, known: &Difference) -> Vec<Difference> {
        let look = |_| {
            match slot {
                Slot::Out => self.copy_out(block),
                Slot::Kept | Slot::Back | Slot::Other => self.make(slot, block),
            }
            self.seam.past_caches();
            self.look(slot, block).without(known)
        };
        (0..MEMORY).map(look).collect()
    }

    /// Finds out about what came back wrong from the device, or did not come back, and says how the block stands then. What is wrong is
    /// told in parts: what is right when the buffer is read again, what the buffer does not hold, and the rest by how the device gives it.
    pub(super) fn inquire_storage(
        &mut self,
        border: Border,
        block: u32,
        (is_read, first): (bool, Difference),
        was_right: bool,
    ) -> Result<State, DeviceError> {
        let (buffers_changed, known) = (self.buffers_changed(), self.handed[block as usize].clone());
        let strays = if is_read { self.strays(block, &first) } else { BTreeSet::new() };
        let again = if is_read { self.seen_again(Slot::Back, block, &known) } else { Vec::new() };
        let weak = self.weak(Slot::Back, block);
        let place = (border, Slot::Back, block);
        let mut rest = Difference::default();
        let met = Some(strangers(&first, &again)).filter(|met| !met.is_empty());
        for part in parts(&first, &[&again]).into_iter().chain(met) {
            let looks = Looks::of(&part, &first, &again);
            if looks.same < looks.count() {
                self.tell(place, part, [looks, Looks::default()], None);
                continue;
            }
            rest = part.without(&weak);
            let in_buffer = part.without(&rest);
            if !in_buffer.is_empty() {
                self.tell(place, in_buffer, [looks; 2], None);
            }
        }
        if is_read && rest.is_empty() {
            return Ok(State::Right);
        }
        let ignored = [known.joined(&weak), known.joined(&self.weak(Slot::Other, block))];
        let mut storage =
            StorageSeen { was_right, buffers_changed, failed: u32::from(!is_read), ..StorageSeen::default() };
        storage.after_cut = border == Border::ReadLater && self.plan.cut;
        let again = self.read_again((border, block), (&rest, &ignored), &mut storage)?;
        let rewritten = self.rewrite(block, &ignored[0], &mut storage)?;
        let memory =
            [Looks { same: MEMORY as u32, ..Looks::default() }, Looks { right: MEMORY as u32, ..Looks::default() }];
        for part in parts(&rest, &[&again, &rewritten]) {
            let sectors: BTreeSet<usize> = part.words().iter().map(|(word, _)| *word as usize / SECTOR).collect();
            let of_part = StorageSeen {
                again: Looks::of(&part, &rest, &again),
                rewritten: Looks::of(&part, &rest, &rewritten),
                strays: sectors.intersection(&strays).count() as u32,
                sectors: sectors.len() as u32,
                ..storage
            };
            self.tell(place, part, memory, Some(of_part));
        }
        let met = strangers(&rest, &[&again[..], &rewritten].concat());
        // Right in all readings but one; with a reading at which it was right, since the first one is such a reading.
        let (once, others) = once(&met, &again);
        let all_but_one = Looks { right: again.len() as u32, ..Looks::default() };
        for (part, again, in_passing) in [(once, all_but_one, false), (others, Looks::default(), true)] {
            if !part.is_empty() {
                self.tell(place, part, memory, Some(StorageSeen { again, in_passing, ..storage }));
            }
        }
        if !is_read {
            self.tell(place, Difference::default(), memory, Some(storage));
        }
        // What is known to stay wrong is told once; another error of the same block is still looked for.
        let known = rewritten.iter().fold(self.handed[block as usize].clone(), |known, look| known.joined(look));
        self.handed[block as usize] = known;
        Ok(if rewritten.len() == WRITES { State::Right } else { State::Wrong })
    }

    /// Reads the place again, into two buffers in turn, and other places as often.
    fn read_again(
        &mut self,
        (border, block): (Border, u32),
        (first, ignored): (&Difference, &[Difference; 2]),
        storage: &mut StorageSeen,
    ) -> Result<Vec<Difference>, DeviceError> {
        // Those that were read right; before there are any, those that were written. In turn, since one of them may be wrong itself.
        let states = &self.state;
        let all = |state: State| -> Vec<u32> {
            (0..states.len() as u32).filter(|other| *other != block && states[*other as usize] == state).collect()
        };
        let others = Some(all(State::Right)).filter(|right| !right.is_empty()).unwrap_or_else(|| all(State::Written));
        let mut looks = Vec::new();
        for time in 0..DEVICE {
            let (slot, ignored) = if time % 2 == 0 { (Slot::Other, &ignored[1]) } else { (Slot::Back, &ignored[0]) };
            match self.read(slot, block)? {
                true => {
                    let look = self.look(slot, block).without(ignored);
                    looks.push(self.without_passing((border, slot, block), look, (first, ignored)));
                }
                false => storage.failed += 1,
            }
            if let Some(beside) = others.get(time % others.len().max(1)).copied() {
                let ignored = ignored.joined(&self.handed[beside as usize]);
                let is_read = self.read(slot, beside)?;
                let wrong = if is_read { self.look(slot, beside).without(&ignored) } else { Difference::default() };
                storage.beside += 1;
                storage.beside_wrong += u32::from(!is_read || !wrong.is_empty());
                let alike = first.len() - first.without(&wrong).len();
                storage.beside_alike += u32::from(!is_read || (alike > 0 && alike * 4 >= first.len()));
                if !wrong.is_empty() {
                    self.inquire_beside((border, slot, beside), &wrong, &ignored)?;
                }
            }
        }
        Ok(looks)
    }

    /// A look without what is right when the same memory is read again, which is told; what was wrong at `first` is not asked about.
    fn without_passing(
        &mut self,
        place: (Border, Slot, u32),
        look: Difference,
        (first, ignored): (&Difference, &Difference),
    ) -> Difference {
        let new = look.without(first);
        if new.is_empty() {
            return look;
        }
        let again = self.seen_again(place.1, place.2, ignored);
        let all = new.clone();
        let is_passing = |part: &Difference| Looks::of(part, &all, &again).right > 0;
        parts(&new, &[&again]).into_iter().filter(is_passing).fold(look, |look, part| {
            let rest = look.without(&part);
            self.tell(place, part.clone(), [Looks::of(&part, &all, &again), Looks::default()], None);
            rest
        })
    }

    /// Finds out about a wrong reading of a place that another one is held against: told is what is right when the buffer or the place is
    /// read again, and the rest left to the look that is due to that place anyway.
    fn inquire_beside(
        &mut self,
        place: (Border, Slot, u32),
        first: &Difference,
        ignored: &Difference,
    ) -> Result<(), DeviceError> {
        let (border, slot, block) = place;
        let again = self.seen_again(slot, block, ignored);
        let mut readings = Vec::new();
        for _ in 0..DEVICE {
            if self.read(slot, block)? {
                readings.push(self.look(slot, block).without(ignored));
            }
        }
        for part in parts(first, &[&again, &readings]) {
            let [of_buffer, of_device] = [&again, &readings].map(|looks| Looks::of(&part, first, looks));
            match () {
                () if of_buffer.same < of_buffer.count() => self.tell(place, part, [of_buffer, Looks::default()], None),
                () if of_device.right == DEVICE as u32 => {
                    let storage = StorageSeen { again: of_device, was_right: true, ..StorageSeen::default() };
                    self.tell(place, part, [of_buffer, Looks::default()], Some(storage));
                }
                () => self.met.push((border, block, part)),
            }
        }
        Ok(())
    }

    /// Tells what was wrong in readings that only served to be held against others, and did not come to light otherwise.
    pub(super) fn tell_met(&mut self) {
        for (border, block, wrong) in std::mem::take(&mut self.met) {
            let told = self.seen.iter().filter(|seen| (seen.block, seen.round) == (block, self.generation));
            let wrong = told.fold(wrong, |wrong, seen| wrong.without(&seen.difference));
            if !wrong.is_empty() {
                let storage = StorageSeen { in_passing: true, ..StorageSeen::default() };
                self.tell((border, Slot::Back, block), wrong, [Looks::default(); 2], Some(storage));
            }
        }
    }

    /// Writes the place again, and reads it.
    fn rewrite(
        &mut self,
        block: u32,
        ignored: &Difference,
        storage: &mut StorageSeen,
    ) -> Result<Vec<Difference>, DeviceError> {
        let mut looks = Vec::new();
        for _ in 0..WRITES {
            self.make(Slot::Out, block);
            // What the buffer holds wrong now is not the device's, now or later.
            self.handed[block as usize] = self.look(Slot::Out, block);
            if !self.write(block)? {
                storage.failed += 1;
                continue;
            }
            self.device.flush()?;
            match self.read(Slot::Back, block)? {
                true => looks.push(self.look(Slot::Back, block).without(ignored).without(&self.handed[block as usize])),
                false => storage.failed += 1,
            }
        }
        Ok(looks)
    }

    /// What a buffer does not hold, whatever is written to it: the data of this block and their inverse, all wrong each time.
    fn weak(&mut self, slot: Slot, block: u32) -> Difference {
        let mut weak = Difference::default();
        for inverted in [false, true] {
            let mut looks = Vec::new();
            for _ in 0..MEMORY {
                self.make_turned(slot, block, inverted);
                self.seam.past_caches();
                looks.push(self.look_turned(slot, block, inverted));
            }
            let always =
                looks.iter().skip(1).fold(looks[0].clone(), |always, look| always.without(&always.without(look)));
            weak = weak.joined(&always);
        }
        weak
    }

    /// Sectors of the first buffer that hold, whole, what belongs elsewhere or was written before.
    fn strays(&self, block: u32, difference: &Difference) -> BTreeSet<usize> {
        let (tags, generation, own) = (self.tags, self.generation, self.first_word(block));
        let sectors: BTreeSet<usize> = difference.words().iter().map(|(word, _)| *word as usize / SECTOR).collect();
        let is_stray = |sector: &usize| {
            let mut words = [0; SECTOR];
            let bytes = &self.memory.back[*sector * SECTOR * 8..][..SECTOR * 8];
            for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
                *word = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            }
            let place = own + (*sector * SECTOR) as u64;
            tags.owner(&words, generation).is_some_and(|owner| owner != (place, generation))
        };
        sectors.into_iter().filter(is_stray).collect()
    }

    /// Whether a buffer was found to change before: then no single wrong reading can be told from that.
    fn buffers_changed(&self) -> bool {
        self.seen.iter().any(|seen| seen.slot != Slot::Kept && seen.border == Border::Handed && seen.again.right == 0)
    }

    fn tell(
        &mut self,
        (border, slot, block): (Border, Slot, u32),
        difference: Difference,
        [again, rewritten]: [Looks; 2],
        storage: Option<StorageSeen>,
    ) {
        self.seen.push(Seen { border, slot, block, round: self.generation, difference, again, rewritten, storage });
    }
}
