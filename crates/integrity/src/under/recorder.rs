//! Between a file system and the device: every request passes here, is noted, and is held against the promise after a cut.

use super::contents::Contents;
use crate::journal::Journal;
use crate::judge::Judged;
use crate::round::Pace;
use crate::run::Ended;
use flashscope_device::{DeviceError, PoweredBytes};
use flashscope_model::DeviceFacts;
use flashscope_model::integrity::Moment;
use flashscope_units::{Bytes, Instant, Nanos};

/// What is read at once to see what stands there.
const LOOK: Bytes = Bytes::mib(1);
/// Places that were read wrong with the power on, at most.
const MOST_WRONG: usize = 16;

/// A range of a device, with a note of everything that was asked of it.
pub struct Recorder<D> {
    device: D,
    range: (Bytes, Bytes),
    sector: Bytes,
    contents: Contents,
    pub(super) pace: Pace,
    /// The power begins to go at this many writes and flushes from now, after this part of the next one.
    armed: Option<(u32, f64)>,
    /// Since the power began to go: at what moment.
    going: Option<Moment>,
    /// When the first request failed since then.
    failed_at: Option<Instant>,
    /// Requests fail without being asked of the device: its power is off, or it failed one.
    is_off: bool,
    /// Why a request failed, or the power could not be cut, while it was on.
    trouble: Option<Ended>,
    /// What was read that is not what was written, with the power on.
    wrong: Vec<(Bytes, Bytes)>,
    written: Bytes,
}

/// What a cut came to on the device.
pub(super) struct Cut {
    pub(super) judged: Judged,
    pub(super) journal: Journal,
    /// What was read wrong before it, with the power on.
    pub(super) wrong: Vec<(Bytes, Bytes)>,
}

impl<D: PoweredBytes> Recorder<D> {
    /// Over a range of a device: where it begins, and how long it is.
    pub fn new(device: D, range: (Bytes, Bytes)) -> Recorder<D> {
        let sector = device.facts().logical_block.max(Bytes::SECTOR);
        Recorder {
            contents: Contents::new(range, sector),
            device,
            range,
            sector,
            pace: Pace::default(),
            armed: None,
            going: None,
            failed_at: None,
            is_off: false,
            trouble: None,
            wrong: Vec::new(),
            written: Bytes::ZERO,
        }
    }

    /// Bytes of the range.
    pub fn length(&self) -> Bytes {
        self.range.1
    }

    /// Bytes of a logical sector.
    pub fn sector(&self) -> Bytes {
        self.sector
    }

    /// What was written to the device so far.
    pub fn written(&self) -> Bytes {
        self.written
    }

    /// Now, on the device's clock.
    pub fn now(&self) -> Instant {
        self.device.now()
    }

    pub(super) fn facts(&self) -> &DeviceFacts {
        self.device.facts()
    }

    pub(super) fn can_write(&self) -> bool {
        self.device.can_write()
    }

    /// Reads for the file system, from a place of the range on; whole sectors.
    ///
    /// # Errors
    /// The device did not give them.
    pub fn read(&mut self, at: Bytes, into: &mut [u8]) -> Result<(), DeviceError> {
        self.powered()?;
        let at = self.range.0 + at;
        self.fetch(at, into)?;
        let wrong = self.contents.read(at, into);
        self.wrong.extend(wrong.into_iter().take(MOST_WRONG.saturating_sub(self.wrong.len())));
        Ok(())
    }

    /// Writes for the file system.
    ///
    /// # Errors
    /// The device did not take them.
    pub fn write(&mut self, at: Bytes, bytes: &[u8]) -> Result<(), DeviceError> {
        self.powered()?;
        let at = self.range.0 + at;
        // What stands there before it is overwritten for the first time must be known to be told from what is lost.
        for (from, length) in self.contents.unknown(at, Bytes(bytes.len() as u64)) {
            let mut before = vec![0; length.get() as usize];
            self.fetch(from, &mut before)?;
            self.contents.read(from, &before);
        }
        self.count(Moment::Writing)?;
        let index = self.contents.write(at, bytes);
        let begun = self.device.now();
        let done = self.device.write_bytes(at, bytes);
        self.noted(done)?;
        self.pace.note_write(self.device.now().since(begun));
        self.written += Bytes(bytes.len() as u64);
        self.contents.written(index, self.device.now());
        Ok(())
    }

    /// Flushes for the file system.
    ///
    /// # Errors
    /// The device did not do it.
    pub fn flush(&mut self) -> Result<(), DeviceError> {
        self.powered()?;
        self.count(Moment::Flushing)?;
        let (index, covers) = self.contents.flush();
        let begun = self.device.now();
        let done = self.device.flush();
        self.noted(done)?;
        self.pace.note_flush(covers, self.device.now().since(begun));
        self.contents.flushed(index, self.device.now());
        Ok(())
    }

    fn powered(&self) -> Result<(), DeviceError> {
        if self.is_off { Err(DeviceError::Vanished("its power is off".to_owned())) } else { Ok(()) }
    }

    fn fetch(&mut self, at: Bytes, into: &mut [u8]) -> Result<(), DeviceError> {
        let read = self.device.read_bytes(at, into).and_then(|is_read| {
            if is_read { Ok(()) } else { Err(DeviceError::System(format!("it cannot be read at {}", at.get()))) }
        });
        self.noted(read)
    }

    /// A request that fails while the power goes is the cut; the device is asked nothing more, as it may be back before the cut is over.
    fn noted(&mut self, done: Result<(), DeviceError>) -> Result<(), DeviceError> {
        if let Err(error) = &done {
            match self.going {
                Some(_) => (self.failed_at, self.is_off) = (self.failed_at.or(Some(self.device.now())), true),
                None => drop(self.trouble.get_or_insert(match error {
                    // What may not be asked of it: the budget is spent.
                    DeviceError::Invalid(why) => Ended::Harness(why.clone()),
                    other => Ended::Device(format!("the device failed a request with the power on: {other}")),
                })),
            }
        }
        done
    }

    /// Begins the cut where it is time: before a request of this kind.
    fn count(&mut self, next: Moment) -> Result<(), DeviceError> {
        match &mut self.armed {
            Some((0, part)) => {
                let part = *part;
                self.armed = None;
                self.begin_cut(next, part)
            }
            Some((left, _)) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Has the power go when the file system has asked for so many more writes and flushes.
    pub(super) fn arm(&mut self, requests: u32, part: f64) {
        self.armed = Some((requests, part));
    }

    /// Has the power go now.
    pub(super) fn begin_cut(&mut self, moment: Moment, part: f64) -> Result<(), DeviceError> {
        self.armed = None;
        let begun = self.device.begin_cut(part);
        match &begun {
            Ok(()) => self.going = Some(moment),
            Err(error) => drop(self.trouble.get_or_insert(Ended::Harness(error.to_string()))),
        }
        begun
    }

    /// The moment at which the power began to go, where it has.
    pub(super) fn going(&self) -> Option<Moment> {
        self.going
    }

    pub(super) fn has_lost_power(&mut self) -> Result<bool, DeviceError> {
        let is_off = self.device.has_lost_power()?;
        if is_off {
            (self.failed_at, self.is_off) = (self.failed_at.or(Some(self.device.now())), true);
        }
        Ok(is_off)
    }

    /// When the power went, as far as requests tell.
    pub(super) fn cut_at(&self) -> Instant {
        self.failed_at.unwrap_or(self.device.now())
    }

    pub(super) fn restore_power(&mut self) -> Result<Nanos, DeviceError> {
        let took = self.device.restore_power()?;
        (self.going, self.failed_at, self.is_off) = (None, None, false);
        Ok(took)
    }

    pub(super) fn wait(&mut self, time: Nanos) {
        self.device.wait(time);
    }

    /// Why a request failed while nobody was cutting the power, or why it could not be cut.
    pub(super) fn trouble(&self) -> Option<Ended> {
        self.trouble.clone()
    }

    /// Looks at everything that is known, and holds it against the promise.
    pub(super) fn judge(&mut self, cut_at: Instant) -> Result<Cut, DeviceError> {
        let (mut found, mut unreadable) = (Vec::new(), Vec::new());
        for (mut at, length) in self.contents.known() {
            let end = at + length;
            while at < end {
                let mut bytes = vec![0; LOOK.min(end - at).get() as usize];
                self.look(at, &mut bytes, &mut unreadable)?;
                let length = Bytes(bytes.len() as u64);
                found.push((at, bytes));
                at += length;
            }
        }
        let (judged, journal) = self.contents.judge(&found, &unreadable, cut_at);
        Ok(Cut { judged, journal, wrong: std::mem::take(&mut self.wrong) })
    }

    /// Reads a part, down to single sectors where it cannot be read whole.
    fn look(&mut self, at: Bytes, into: &mut [u8], unreadable: &mut Vec<(Bytes, Bytes)>) -> Result<(), DeviceError> {
        if self.device.read_bytes(at, into)? {
            return Ok(());
        }
        let length = Bytes(into.len() as u64);
        if length <= self.sector {
            unreadable.push((at, at + length));
            return Ok(());
        }
        let half = (length / 2).align_up(self.sector);
        let (first, last) = into.split_at_mut(half.get() as usize);
        self.look(at, first, unreadable)?;
        self.look(at + half, last, unreadable)
    }

    pub(super) fn journal(&self) -> &Journal {
        self.contents.journal()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::integrity::FaultKind;
    use std::collections::BTreeMap;

    const SECTOR: usize = 512;
    const START: Bytes = Bytes::mib(1);

    /// A device with a cache that keeps everything until a flush, and the ways in which it does not.
    struct Card {
        facts: DeviceFacts,
        safe: Vec<u8>,
        cached: BTreeMap<usize, Vec<u8>>,
        lies: bool,
        off: bool,
        /// What every write comes to.
        refusal: Option<DeviceError>,
    }

    impl Card {
        fn new(lies: bool) -> Card {
            let capacity = Bytes::mib(2);
            let facts = flashscope_sim::open("sd-4mib,capacity=2MiB", 1).expect("a model");
            let facts = DeviceFacts { capacity, ..flashscope_device::Target::facts(&facts).clone() };
            Card {
                facts,
                safe: vec![0xa5; capacity.get() as usize],
                cached: BTreeMap::new(),
                lies,
                off: false,
                refusal: None,
            }
        }
    }

    impl PoweredBytes for Card {
        fn facts(&self) -> &DeviceFacts {
            &self.facts
        }

        fn can_write(&self) -> bool {
            true
        }

        fn now(&self) -> Instant {
            Instant(1)
        }

        fn read_bytes(&mut self, at: Bytes, into: &mut [u8]) -> Result<bool, DeviceError> {
            for (place, sector) in into.chunks_mut(SECTOR).enumerate() {
                let from = at.get() as usize + place * SECTOR;
                let kept = self.cached.get(&from).map_or(&self.safe[from..from + SECTOR], Vec::as_slice);
                sector.copy_from_slice(kept);
            }
            Ok(true)
        }

        fn write_bytes(&mut self, at: Bytes, bytes: &[u8]) -> Result<(), DeviceError> {
            if self.off {
                return Err(DeviceError::Vanished("off".to_owned()));
            }
            if let Some(refusal) = &self.refusal {
                return Err(refusal.clone());
            }
            let sectors = bytes.chunks(SECTOR).enumerate();
            self.cached.extend(sectors.map(|(place, sector)| (at.get() as usize + place * SECTOR, sector.to_vec())));
            Ok(())
        }

        fn flush(&mut self) -> Result<(), DeviceError> {
            if !self.lies {
                for (from, sector) in std::mem::take(&mut self.cached) {
                    self.safe[from..from + SECTOR].copy_from_slice(&sector);
                }
            }
            Ok(())
        }

        fn wait(&mut self, _: Nanos) {}

        fn begin_cut(&mut self, _: f64) -> Result<(), DeviceError> {
            self.off = true;
            Ok(())
        }

        fn has_lost_power(&mut self) -> Result<bool, DeviceError> {
            Ok(self.off)
        }

        fn restore_power(&mut self) -> Result<Nanos, DeviceError> {
            self.cached.clear();
            self.off = false;
            Ok(Nanos::millis(1))
        }
    }

    fn text(word: u64) -> Vec<u8> {
        (0..SECTOR as u64 / 8).flat_map(|place| (word << 32 | place).to_le_bytes()).collect()
    }

    /// Two writes, a flush, and a write; then `damage` to what is safe, once the power is back.
    fn kinds(lies: bool, damage: impl Fn(&mut Card)) -> (Vec<FaultKind>, Bytes) {
        let mut recorder = Recorder::new(Card::new(lies), (START, Bytes::mib(1)));
        recorder.write(Bytes::ZERO, &[text(1), text(2)].concat()).unwrap();
        recorder.write(Bytes(512), &text(3)).unwrap();
        recorder.flush().unwrap();
        recorder.write(Bytes(512), &text(4)).unwrap();
        recorder.begin_cut(Moment::AfterWrites, 0.0).unwrap();
        assert!(recorder.has_lost_power().unwrap());
        assert!(recorder.write(Bytes::ZERO, &text(5)).is_err(), "nothing reaches it any more");
        recorder.restore_power().unwrap();
        damage(&mut recorder.device);
        let cut = recorder.judge(Instant(2)).unwrap();
        assert!(cut.wrong.is_empty());
        let again = recorder.judge(Instant(3)).unwrap();
        assert!(again.judged.violations.is_empty(), "what stands there is what the next cut is judged by");
        (cut.judged.violations.iter().map(|one| one.kind).collect(), cut.judged.dropped)
    }

    #[test]
    fn only_what_a_flush_had_covered_must_be_there() {
        let none = |_: &mut Card| {};
        assert_eq!(kinds(false, none), (vec![], Bytes::SECTOR), "the last write was nobody's to keep");
        assert_eq!(kinds(true, none).0, [FaultKind::LostFlushed; 2], "of two writes");
    }

    #[test]
    fn other_peoples_bytes_tell_what_became_of_them() {
        let put = |sector: usize, bytes: Vec<u8>| {
            move |card: &mut Card| {
                let from = START.get() as usize + sector * SECTOR;
                card.safe[from..from + SECTOR].copy_from_slice(&bytes);
            }
        };
        let check = |sector: usize, bytes: Vec<u8>, kind: FaultKind| {
            assert_eq!(kinds(false, put(sector, bytes)).0, [kind], "{kind:?}");
        };
        check(1, text(2), FaultKind::LostFlushed);
        check(0, vec![0; SECTOR], FaultKind::LostFlushed);
        check(0, text(3), FaultKind::Flying);
        check(1, [&text(2)[..100], &text(3)[100..]].concat(), FaultKind::Shorn);
        check(0, text(77), FaultKind::Neighbour);
        // One that was under way may be there.
        assert_eq!(kinds(false, put(1, text(4))).0, []);
    }

    #[test]
    fn what_is_read_other_than_it_was_written_with_the_power_on_is_the_devices() {
        let mut recorder = Recorder::new(Card::new(false), (START, Bytes::mib(1)));
        recorder.write(Bytes::ZERO, &[text(1), text(2)].concat()).unwrap();
        recorder.flush().unwrap();
        let mut found = vec![0; SECTOR];
        recorder.read(Bytes(512), &mut found).unwrap();
        assert_eq!(found, text(2));
        let from = START.get() as usize + SECTOR;
        recorder.device.safe[from] ^= 1;
        recorder.read(Bytes(512), &mut found).unwrap();
        assert_eq!(recorder.judge(Instant(2)).unwrap().wrong, [(START + Bytes::SECTOR, Bytes::SECTOR)]);
    }

    #[test]
    fn a_budget_that_is_spent_is_not_held_against_the_device() {
        let trouble = |refusal: DeviceError| {
            let mut recorder = Recorder::new(Card::new(false), (START, Bytes::mib(1)));
            recorder.device.refusal = Some(refusal);
            assert!(recorder.write(Bytes::ZERO, &text(1)).is_err());
            recorder.trouble().expect("it is told why")
        };
        assert!(matches!(trouble(DeviceError::Invalid("the budget is spent".to_owned())), Ended::Harness(_)));
        assert!(matches!(trouble(DeviceError::System("write failed".to_owned())), Ended::Device(_)));
    }
}
