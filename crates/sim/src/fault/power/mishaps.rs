//! What a power cut leaves of what was on its way, and what it spoils of what was not.

use super::{Cache, MediumBytes, Pending, PowerCut, PowerLog};
use crate::content::{Contents, Held};
use crate::ftl::Ftl;
use flashscope_units::{Bytes, Instant};

/// Writes that count as having been programmed shortly before: those that may share cells with the one under way.
const NEIGHBOURS: usize = 64;

impl PowerLog {
    /// The power goes at `now`: what is left.
    pub(crate) fn cut(&mut self, now: Instant, ftl: &mut impl Ftl) -> (Contents, PowerCut) {
        self.settle(now);
        if self.params.cache == Cache::Mapping {
            self.ask_mapping(now, Bytes::ZERO, self.capacity, ftl);
        }
        let mut found = PowerCut { at: now, ..PowerCut::default() };
        // Of two ways to stop in the middle of a write, one happens.
        let shears = self.params.shorn && (!self.params.torn || self.chance.happens(0.5));
        let stopped = if self.params.torn || shears { self.stopped_one(now) } else { None };
        let at_work = self.pending.iter().any(|one| one.held != Held::Erased);
        let fell_back = self.fall_back(&mut found);
        let latest = self.latest.clone();
        for (index, one) in std::mem::take(&mut self.pending).into_iter().enumerate() {
            // An older mapping knows nothing of what the cache still wrote out.
            if stopped == Some(index) && !fell_back {
                let at = Some(self.stop(&one, now, shears));
                *(if shears { &mut found.shorn } else { &mut found.torn }) = at;
            }
            if one.completed > now {
                found.under_way += 1;
            } else if self.params.reordered && self.chance.happens(0.5) && !fell_back {
                self.put(one);
            } else if stopped != Some(index) || fell_back {
                found.dropped += 1;
                found.dropped_bytes += one.end - one.at;
            }
        }
        if at_work && self.chance.happens(self.params.neighbours) {
            found.neighbour = self.damage_one_of(&latest);
        }
        (self.medium.clone(), found)
    }

    /// The mapping that is found at the next power on is the present one, or an older one that knows nothing of what was
    /// written since. Says whether it is an older one.
    fn fall_back(&mut self, found: &mut PowerCut) -> bool {
        let falls = !self.young.is_empty() && self.chance.happens(self.params.rollback);
        if falls {
            found.rolled_back = self.young.iter().map(|(_, one)| one.end - one.at).sum();
            self.young.clear();
        }
        self.put_young(self.young.len());
        falls
    }

    /// The write that the power goes in the middle of: one under way, else the one that leaves the cache next.
    fn stopped_one(&self, now: Instant) -> Option<usize> {
        let writes = || self.pending.iter().enumerate().filter(|(_, one)| one.held != Held::Erased);
        let under_way = writes().find(|(_, one)| one.issued <= now && one.completed > now);
        under_way.or_else(|| writes().next()).map(|(index, _)| index)
    }

    /// Puts the first blocks of a write on the medium, and behind them a block of garbage, or one of which only the first half is
    /// new. Says where that block is.
    fn stop(&mut self, one: &Pending, now: Instant, shears: bool) -> Bytes {
        let blocks = (one.end - one.at) / self.params.block;
        let whole = if one.completed > now {
            let share = now.since(one.issued).as_f64() / one.completed.since(one.issued).as_f64();
            ((blocks as f64 * share) as u64).min(blocks.saturating_sub(1))
        } else {
            self.chance.below(blocks)
        };
        let part = self.params.block * whole;
        let last = one.lands + part;
        if shears {
            self.put(Pending { end: one.at + part + self.params.block / 2, ..*one });
        } else {
            self.put(Pending { end: one.at + part, ..*one });
            self.place(last, self.params.block, Held::Garbage, MediumBytes::Garbage);
        }
        last
    }

    /// Spoils a block of what was written last: cells that keep two pages lose the first when the second is cut short.
    fn damage_one_of(&mut self, latest: &[(Bytes, Bytes)]) -> Option<Bytes> {
        let (from, to) = *latest.get(self.chance.below(latest.len() as u64) as usize)?;
        let at = from + self.params.block * self.chance.below((to - from) / self.params.block);
        self.place(at, self.params.block, Held::Garbage, MediumBytes::Garbage);
        Some(at)
    }

    /// Notes what came to stand on the medium, where that can be damaged.
    pub(super) fn remember(&mut self, from: Bytes, to: Bytes) {
        if self.params.neighbours > 0.0 && to - from >= self.params.block {
            self.latest.retain(|(start, end)| *end <= from || *start >= to);
            if self.latest.len() == NEIGHBOURS {
                self.latest.remove(0);
            }
            self.latest.push((from, to));
        }
    }
}
