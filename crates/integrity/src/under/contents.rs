//! What stands on the sectors of a device that carries other people's bytes: what was there before, what was written, and what may
//! be there after a cut. Pure.
//!
//! A write of ours names itself in each sector; of others' bytes a copy is kept, and what is found is told by comparing. So the judge of
//! [`crate::judge`] serves both.

use crate::journal::{Done, Flush, Journal, Write};
use crate::judge::{Case, Judged, Map, judge};
use flashscope_device::{Holds, Stretch, stretch};
use flashscope_units::{Bytes, Instant};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Generation of a value that stood there before the last one that is known to have been safe.
pub(crate) const OLDER: u32 = 0;
/// Generation of what stood there before the first write of a cut.
pub(crate) const BEFORE: u32 = 1;

/// What one sector holds.
#[derive(Clone, Debug)]
enum Value {
    Uniform(u8),
    /// From here on in the bytes of a request.
    Of(Arc<[u8]>, usize),
}

/// What is known of each sector that was read or written.
#[derive(Debug)]
pub(crate) struct Contents {
    range: (Bytes, Bytes),
    sector: Bytes,
    /// What stood there before the first write since the last cut.
    before: BTreeMap<u64, Value>,
    /// What a read gives now.
    newest: BTreeMap<u64, Value>,
    /// The writes to each sector since the last cut, by their places in the journal, with what each brought.
    written: HashMap<u64, Vec<(usize, Value)>>,
    journal: Journal,
    turn: u32,
    /// Everything that was ever seen at a place.
    seen: HashSet<(u64, u64)>,
    /// A place of everything that is not uniform.
    places: HashMap<u64, u64>,
}

impl Contents {
    /// Nothing is known of this range yet: where it begins, and how long it is.
    pub(crate) fn new(range: (Bytes, Bytes), sector: Bytes) -> Contents {
        Contents {
            range,
            sector,
            before: BTreeMap::new(),
            newest: BTreeMap::new(),
            written: HashMap::new(),
            journal: Journal::default(),
            turn: 0,
            seen: HashSet::new(),
            places: HashMap::new(),
        }
    }

    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }

    fn numbers(&self, at: Bytes, length: Bytes) -> std::ops::Range<u64> {
        at.get() / self.sector.get()..(at + length).get() / self.sector.get()
    }

    /// The stretches of a range of which nothing is known.
    pub(crate) fn unknown(&self, at: Bytes, length: Bytes) -> Vec<(Bytes, Bytes)> {
        let sectors = self.numbers(at, length).filter(|number| !self.newest.contains_key(number));
        joined(sectors.map(|number| self.sector * number), self.sector)
    }

    /// Takes what a read gave: what was not known is, and the rest is compared. The places where it is not what it should be.
    pub(crate) fn read(&mut self, at: Bytes, bytes: &[u8]) -> Vec<(Bytes, Bytes)> {
        let (size, whole) = (self.sector.get() as usize, Arc::<[u8]>::from(bytes));
        let mut wrong = Vec::new();
        for (place, number) in self.numbers(at, Bytes(bytes.len() as u64)).enumerate() {
            let sector = &bytes[place * size..(place + 1) * size];
            match self.newest.get(&number) {
                Some(value) if value.is(sector) => {}
                Some(_) => wrong.push(self.sector * number),
                None => {
                    let value = Value::new(&whole, place * size, size);
                    self.note(number, sector);
                    self.before.insert(number, value.clone());
                    self.newest.insert(number, value);
                }
            }
        }
        joined(wrong.into_iter(), self.sector)
    }

    fn note(&mut self, number: u64, sector: &[u8]) {
        let print = print(sector);
        self.seen.insert((number, print));
        if uniform(sector).is_none() {
            self.places.entry(print).or_insert(number);
        }
    }

    fn next_turn(&mut self) -> u32 {
        self.turn += 1;
        self.turn
    }

    /// A write is issued; what stands there must be known. Its place in the journal.
    pub(crate) fn write(&mut self, at: Bytes, bytes: &[u8]) -> usize {
        let (index, length) = (self.journal.writes.len(), Bytes(bytes.len() as u64));
        let turn = self.next_turn();
        let generation = BEFORE + 1 + index as u32;
        self.journal.writes.push(Write { at, length, generation, turn, done: None, durable: false });
        let (size, whole) = (self.sector.get() as usize, Arc::<[u8]>::from(bytes));
        for (place, number) in self.numbers(at, length).enumerate() {
            let value = Value::new(&whole, place * size, size);
            self.note(number, &bytes[place * size..(place + 1) * size]);
            self.newest.insert(number, value.clone());
            self.written.entry(number).or_default().push((index, value));
        }
        index
    }

    /// A write is acknowledged.
    pub(crate) fn written(&mut self, index: usize, at: Instant) {
        let turn = self.next_turn();
        self.journal.writes[index].done = Some(Done { turn, at });
    }

    /// A flush is issued; its place in the journal, and what it covers that none before it did.
    pub(crate) fn flush(&mut self) -> (usize, Bytes) {
        let since = self.journal.flushes.iter().rev().find_map(|flush| flush.done.and(Some(flush.turn)));
        let fresh = |write: &&Write| write.done.is_some_and(|done| since.is_none_or(|since| done.turn > since));
        let covers = self.journal.writes.iter().rev().take_while(fresh).map(|write| write.length).sum();
        let turn = self.next_turn();
        self.journal.flushes.push(Flush { turn, done: None, covers });
        (self.journal.flushes.len() - 1, covers)
    }

    /// A flush is acknowledged.
    pub(crate) fn flushed(&mut self, index: usize, at: Instant) {
        let turn = self.next_turn();
        self.journal.flushes[index].done = Some(Done { turn, at });
    }

    /// The stretches that something is known of, in order.
    pub(crate) fn known(&self) -> Vec<(Bytes, Bytes)> {
        joined(self.newest.keys().map(|number| self.sector * *number), self.sector)
    }

    /// Holds what was read after a cut against the promise: the known stretches with their bytes, and what could not be read. What stands
    /// there now is what the next cut is judged by.
    pub(crate) fn judge(
        &mut self,
        found: &[(Bytes, Vec<u8>)],
        unreadable: &[(Bytes, Bytes)],
        cut_at: Instant,
    ) -> (Judged, Journal) {
        let before = self.map(found, |contents, number, _| {
            let holds = Holds::Tagged { generation: BEFORE, addressed: contents.sector * number };
            vec![Stretch { length: contents.sector, holds }]
        });
        let stands = self.map(found, Contents::told);
        let journal = std::mem::take(&mut self.journal);
        let case = Case { sector: self.sector, before: &before, journal: &journal, cut_at, found: &stands, unreadable };
        let judged = judge(&case);
        self.settle(found);
        (judged, journal)
    }

    /// The whole range as runs; where nothing is known, nothing is told.
    fn map(&self, found: &[(Bytes, Vec<u8>)], told: impl Fn(&Contents, u64, &[u8]) -> Vec<Stretch>) -> Map {
        let (start, end) = (self.range.0, self.range.0 + self.range.1);
        let (mut list, mut at) = (Vec::new(), start);
        let gap = |list: &mut Vec<Stretch>, length: Bytes| {
            if length > Bytes::ZERO {
                list.push(Stretch { length, holds: Holds::Foreign });
            }
        };
        for (from, bytes) in found {
            gap(&mut list, *from - at);
            let numbers = self.numbers(*from, Bytes(bytes.len() as u64));
            for (number, sector) in numbers.zip(bytes.chunks(self.sector.get() as usize)) {
                told(self, number, sector).into_iter().for_each(|one| stretch::append(&mut list, one));
            }
            at = *from + Bytes(bytes.len() as u64);
        }
        gap(&mut list, end - at);
        Map::new(start, list)
    }

    /// What a sector is that was read after a cut.
    fn told(&self, number: u64, sector: &[u8]) -> Vec<Stretch> {
        let at = self.sector * number;
        let one = |holds| vec![Stretch { length: self.sector, holds }];
        let tagged = |generation| Holds::Tagged { generation, addressed: at };
        let written = self.written.get(&number).map_or(&[][..], Vec::as_slice);
        let of = |index: usize| BEFORE + 1 + index as u32;
        if let Some((index, _)) = written.iter().rev().find(|(_, value)| value.is(sector)) {
            return one(tagged(of(*index)));
        }
        let before = self.before.get(&number);
        if before.is_some_and(|before| before.is(sector)) {
            return one(tagged(BEFORE));
        }
        if let Some(byte) = uniform(sector) {
            return one(Holds::Uniform(byte));
        }
        let print = print(sector);
        if self.seen.contains(&(number, print)) {
            return one(tagged(OLDER));
        }
        if let Some(elsewhere) = self.places.get(&print) {
            return one(Holds::Tagged { generation: OLDER, addressed: self.sector * *elsewhere });
        }
        let values =
            written.iter().map(|(index, value)| (of(*index), value)).chain(before.map(|value| (BEFORE, value)));
        shorn(values, sector).map_or(one(Holds::Foreign), |(first, length, last)| {
            let part = |length, generation, from: Bytes| Stretch {
                length,
                holds: Holds::Tagged { generation, addressed: at + from },
            };
            vec![part(length, first, Bytes::ZERO), part(self.sector - length, last, length)]
        })
    }

    fn settle(&mut self, found: &[(Bytes, Vec<u8>)]) {
        self.written.clear();
        for (at, bytes) in found {
            let (size, whole) = (self.sector.get() as usize, Arc::<[u8]>::from(&bytes[..]));
            for (place, number) in self.numbers(*at, Bytes(bytes.len() as u64)).enumerate() {
                let sector = &bytes[place * size..(place + 1) * size];
                // A copy of what is kept already would double what is kept.
                let kept = self.newest.get(&number).filter(|value| value.is(sector)).cloned();
                let value = kept.unwrap_or_else(|| Value::new(&whole, place * size, size));
                self.note(number, sector);
                self.before.insert(number, value.clone());
                self.newest.insert(number, value);
            }
        }
    }
}

impl Value {
    fn new(whole: &Arc<[u8]>, from: usize, size: usize) -> Value {
        match uniform(&whole[from..from + size]) {
            Some(byte) => Value::Uniform(byte),
            None => Value::Of(Arc::clone(whole), from),
        }
    }

    fn is(&self, sector: &[u8]) -> bool {
        match self {
            Value::Uniform(byte) => uniform(sector) == Some(*byte),
            Value::Of(whole, from) => whole[*from..*from + sector.len()] == *sector,
        }
    }

    fn byte(&self, at: usize) -> u8 {
        match self {
            Value::Uniform(byte) => *byte,
            Value::Of(whole, from) => whole[from + at],
        }
    }
}

/// The two values that a sector is made of: the first, its length, and the other; `None` where it is not.
fn shorn<'a>(values: impl Iterator<Item = (u32, &'a Value)> + Clone, sector: &[u8]) -> Option<(u32, Bytes, u32)> {
    let alike = |value: &Value, places: &mut dyn Iterator<Item = usize>| {
        places.take_while(|at| value.byte(*at) == sector[*at]).count()
    };
    let first = values.clone().max_by_key(|(_, value)| alike(value, &mut (0..sector.len())))?;
    let last = values.max_by_key(|(_, value)| alike(value, &mut (0..sector.len()).rev()))?;
    let (head, tail) = (alike(first.1, &mut (0..sector.len())), alike(last.1, &mut (0..sector.len()).rev()));
    (head > 0 && tail > 0 && head + tail >= sector.len()).then_some((first.0, Bytes(head as u64), last.0))
}

fn uniform(sector: &[u8]) -> Option<u8> {
    let first = *sector.first()?;
    sector.iter().all(|byte| *byte == first).then_some(first)
}

fn print(sector: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    sector.hash(&mut hasher);
    hasher.finish()
}

/// Places side by side as stretches: where each begins, and how long it is.
fn joined(places: impl Iterator<Item = Bytes>, sector: Bytes) -> Vec<(Bytes, Bytes)> {
    let mut list: Vec<(Bytes, Bytes)> = Vec::new();
    for at in places {
        match list.last_mut() {
            Some((from, length)) if *from + *length == at => *length += sector,
            _ => list.push((at, sector)),
        }
    }
    list
}
