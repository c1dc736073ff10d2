//! What has reached the flash for good, and what a power cut leaves of the rest.
//!
//! The device's content is what it shows while it has power. Beside it this log keeps what the *medium* holds, and the
//! writes on their way from the one to the other in the order in which they came. A write is safe from a moment on that
//! follows from how it was asked for, the cache and the flushes after it; safe writes are carried over to the medium.

mod mishaps;
mod told;

pub use told::{MediumBytes, MediumChange, PowerCut, Recovery};

use super::Cache;
use crate::chance::Chance;
use crate::content::{Contents, Held};
use crate::ftl::{Extent, Ftl};
use flashscope_units::{Bytes, Instant, Nanos};

/// What the power cuts of a device do beside losing what was volatile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CutParams {
    pub(crate) cache: Cache,
    pub(crate) drain_after: Option<Nanos>,
    /// A finished flush, a durable write, and a write that needs no cache are safe only this much later.
    pub(crate) late_loss: Nanos,
    pub(crate) torn: bool,
    pub(crate) shorn: bool,
    pub(crate) reordered: bool,
    pub(crate) lost: f64,
    pub(crate) misdirected: f64,
    /// Share of the cuts within writes that damage a block that was written shortly before.
    pub(crate) neighbours: f64,
    /// Share of cuts after which the mapping is the one of `rollback_by` before.
    pub(crate) rollback: f64,
    pub(crate) rollback_by: Nanos,
    /// A torn write ends on one of these.
    pub(crate) block: Bytes,
}

/// A stretch of a write on its way to the medium.
#[derive(Clone, Copy, Debug)]
struct Pending {
    request: u64,
    at: Bytes,
    end: Bytes,
    held: Held,
    issued: Instant,
    completed: Instant,
    /// From when on it survives a power cut, as far as is known.
    safe_at: Option<Instant>,
    /// Where it really goes.
    lands: Bytes,
    /// Where the host addressed it to.
    addressed: Bytes,
    /// A newer write has taken its place in the mapping's memory, so the mapping cannot be asked about this one.
    replaced: bool,
}

/// A write as the log hears of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub(crate) request: u64,
    pub(crate) at: Bytes,
    pub(crate) length: Bytes,
    /// Where the host addressed it to.
    pub(crate) addressed: Bytes,
    pub(crate) held: Held,
    pub(crate) issued: Instant,
    pub(crate) completed: Instant,
    /// Whether the device keeps its word that it is durable.
    pub(crate) durable: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct PowerLog {
    params: CutParams,
    medium: Contents,
    capacity: Bytes,
    /// Oldest first.
    pending: Vec<Pending>,
    chance: Chance,
    /// What is on the medium for good, but in a mapping that the device can still fall back behind; oldest first, each with the
    /// moment at which it came there. Empty unless it does such a thing.
    young: Vec<(Instant, Pending)>,
    /// What came to stand on the medium last: (from, to), the latest at the end. Empty unless that can be damaged.
    latest: Vec<(Bytes, Bytes)>,
    /// What was put on the medium since somebody asked; absent where nobody does.
    changes: Option<Vec<MediumChange>>,
}

/// The mapping is asked what it still has in memory once in this number of writes; in between everything counts as there.
const ASK_EVERY: usize = 32;

impl PowerLog {
    /// All that `contents` holds is on the medium.
    pub(crate) fn new(params: CutParams, contents: &Contents, capacity: Bytes, seed: u64) -> PowerLog {
        let chance = Chance::new(seed, "power");
        PowerLog {
            params,
            medium: contents.clone(),
            capacity,
            pending: Vec::new(),
            chance,
            young: Vec::new(),
            latest: Vec::new(),
            changes: None,
        }
    }

    /// A write is about to take the place of what stands here in the mapping's memory. Should it not survive, the older
    /// write does only if a flush has covered it, which may still be under way.
    pub(crate) fn before_write(&mut self, now: Instant, at: Bytes, length: Bytes, ftl: &mut impl Ftl) {
        if self.params.cache != Cache::Mapping {
            return;
        }
        let end = at + length;
        if self.pending.len() >= ASK_EVERY && self.pending.len().is_multiple_of(ASK_EVERY) {
            self.ask_mapping(now, Bytes::ZERO, self.capacity, ftl);
        } else if self.pending.iter().any(|one| one.overlaps(at, end)) {
            self.ask_mapping(now, at, end, ftl);
        }
        // A flush that comes from now on covers the newest finished write: those before it need not be remembered.
        if let Some(newest) = self.pending.iter().rposition(|one| one.completed <= now && one.overlaps(at, end)) {
            let (from, to) = (self.pending[newest].at.max(at), self.pending[newest].end.min(end));
            self.split(newest, from, to, |one| one.safe_at.is_none() && one.completed <= now, None);
        }
        let replaced = |one: Pending| Pending { replaced: true, ..one };
        self.split(usize::MAX, at, end, |one| one.safe_at.is_none() && !one.replaced, Some(&replaced));
    }

    pub(crate) fn write(&mut self, write: Written) {
        let Written { request, at, length, addressed, held, issued, completed, durable } = write;
        let draw = if self.params.lost + self.params.misdirected > 0.0 { self.chance.unit() } else { 1.0 };
        if draw < self.params.lost {
            return;
        }
        let mut pending = Pending {
            request,
            at,
            end: at + length,
            held,
            issued,
            completed,
            safe_at: None,
            lands: at,
            addressed,
            replaced: false,
        };
        if draw < self.params.lost + self.params.misdirected {
            let places = self.capacity.saturating_sub(length) / self.params.block + 1;
            pending.lands = self.params.block * self.chance.below(places);
        }
        pending.safe_at = match self.params.cache {
            _ if durable => Some(completed + self.params.late_loss),
            Cache::None => Some(completed + self.params.late_loss),
            Cache::Size(size) if length >= size => Some(completed + self.params.late_loss),
            Cache::Size(_) => self.params.drain_after.map(|time| completed + time),
            Cache::Mapping => None,
        };
        self.pending.push(pending);
        if let Cache::Size(size) = self.params.cache {
            self.push_out(size, issued);
        }
    }

    /// A discard is written down in the map, which survives.
    pub(crate) fn discard(&mut self, at: Bytes, length: Bytes, issued: Instant, completed: Instant) {
        let end = at + length;
        let safe_at = Some(completed);
        self.pending.push(Pending {
            request: 0,
            at,
            end,
            held: Held::Erased,
            issued,
            completed,
            safe_at,
            lands: at,
            addressed: at,
            replaced: false,
        });
    }

    /// A flush that the device keeps: it covers what was finished when it was asked for.
    pub(crate) fn flush(&mut self, issued: Instant, completed: Instant) {
        let safe = completed + self.params.late_loss;
        for one in self.pending.iter_mut().filter(|one| one.completed <= issued) {
            one.safe_at = Some(one.safe_at.map_or(safe, |at| at.min(safe)));
        }
    }

    /// What was put on the medium since the last call; the first call begins the list.
    pub(crate) fn take_changes(&mut self) -> Vec<MediumChange> {
        self.changes.replace(Vec::new()).unwrap_or_default()
    }

    /// Carries over what is safe by `now`.
    pub(crate) fn settle(&mut self, now: Instant) {
        let mut index = 0;
        while index < self.pending.len() {
            if self.pending[index].safe_at.is_none_or(|at| at > now) {
                index += 1;
                continue;
            }
            let safe = self.pending.remove(index);
            index = self.carry_over(safe, index, now);
        }
        self.grow_old(now);
    }

    /// Puts a write on the medium that was behind `older` others. Where they have the same addresses, they are not written
    /// any more. Says how many they are then.
    fn carry_over(&mut self, safe: Pending, older: usize, now: Instant) -> usize {
        let newer = self.pending.len() - older;
        self.split(older, safe.at, safe.end, |_| true, None);
        if self.params.rollback > 0.0 {
            self.young.push((now, safe));
        } else {
            self.put(safe);
        }
        self.pending.len() - newer
    }

    /// What the device cannot fall back behind any more stands on the medium for good.
    fn grow_old(&mut self, now: Instant) {
        let old = self.young.partition_point(|(at, _)| *at + self.params.rollback_by <= now);
        self.put_young(old);
    }

    fn put_young(&mut self, count: usize) {
        let rest = self.young.split_off(count);
        for (_, one) in std::mem::replace(&mut self.young, rest) {
            self.put(one);
        }
    }

    fn put(&mut self, one: Pending) {
        let held = one.held.moved(one.at, one.lands);
        let now = match held {
            Held::Erased => MediumBytes::Erased,
            _ => MediumBytes::Of { request: one.request, addressed: one.addressed },
        };
        self.place(one.lands, one.end - one.at, held, now);
    }

    fn place(&mut self, at: Bytes, length: Bytes, held: Held, now: MediumBytes) {
        if length == Bytes::ZERO {
            return;
        }
        self.medium.set(at, length, held);
        self.remember(at, at + length);
        if let Some(changes) = &mut self.changes {
            changes.push(MediumChange { at, length, now });
        }
    }

    /// Takes a range out of those of the first `count` entries that `which` holds for, or puts what `instead` makes of
    /// that part in its place.
    fn split(
        &mut self,
        count: usize,
        at: Bytes,
        end: Bytes,
        which: impl Fn(&Pending) -> bool,
        instead: Option<&dyn Fn(Pending) -> Pending>,
    ) {
        let count = count.min(self.pending.len());
        if !self.pending[..count].iter().any(|one| one.overlaps(at, end) && which(one)) {
            return;
        }
        let rest = self.pending.split_off(count);
        for one in std::mem::take(&mut self.pending) {
            if one.overlaps(at, end) && which(&one) {
                let inner = one.part(one.at.max(at), one.end.min(end));
                self.pending.extend(one.part(one.at, at));
                self.pending.extend(instead.zip(inner).map(|(instead, inner)| instead(inner)));
                self.pending.extend(one.part(end, one.end));
            } else {
                self.pending.push(one);
            }
        }
        self.pending.extend(rest);
    }

    /// What does not fit into the cache any more leaves it, the oldest first.
    fn push_out(&mut self, size: Bytes, now: Instant) {
        let volatile = |one: &Pending| one.safe_at.is_none_or(|at| at > now);
        let mut bytes: Bytes = self.pending.iter().filter(|one| volatile(one)).map(|one| one.end - one.at).sum();
        for one in &mut self.pending {
            if bytes <= size {
                break;
            }
            if volatile(one) {
                bytes -= one.end - one.at;
                one.safe_at = Some(now.max(one.completed));
            }
        }
    }

    /// Carries over what the mapping has programmed by now, of the range.
    fn ask_mapping(&mut self, now: Instant, from: Bytes, to: Bytes, ftl: &mut impl Ftl) {
        for one in std::mem::take(&mut self.pending) {
            if one.safe_at.is_some() || one.replaced || one.completed > now || !one.overlaps(from, to) {
                self.pending.push(one);
                continue;
            }
            let (inner_from, inner_to) = (one.at.max(from), one.end.min(to));
            self.pending.extend(one.part(one.at, inner_from));
            let mut at = inner_from;
            while at < inner_to {
                let end = (at.align_down(STEP) + STEP).min(inner_to);
                if let Some(part) = one.part(at, end) {
                    if ftl.in_memory(now, Extent::new(at, end - at)) {
                        self.keep(part);
                    } else {
                        self.carry_over(part, self.pending.len(), now);
                    }
                }
                at = end;
            }
            self.pending.extend(one.part(inner_to, one.end));
        }
    }

    /// Appends a part, to the one before it where it goes on.
    fn keep(&mut self, part: Pending) {
        match self.pending.last_mut() {
            Some(last)
                if last.end == part.at
                    && last.issued == part.issued
                    && last.held == part.held
                    && last.safe_at == part.safe_at
                    && !last.replaced
                    && part.lands + last.at == last.lands + part.at =>
            {
                last.end = part.end;
            }
            _ => self.pending.push(part),
        }
    }
}

/// The finest that the mapping is asked for: the unit of most page maps.
const STEP: Bytes = Bytes::kib(4);

impl Pending {
    fn overlaps(&self, at: Bytes, end: Bytes) -> bool {
        self.at < end && at < self.end
    }

    /// The part from `at` to `end`, where there is one.
    fn part(&self, at: Bytes, end: Bytes) -> Option<Pending> {
        (at < end).then(|| {
            let into = at - self.at;
            Pending { at, end, lands: self.lands + into, addressed: self.addressed + into, ..*self }
        })
    }
}
