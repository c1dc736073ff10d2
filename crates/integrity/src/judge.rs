//! The judge: what stands on a device after a cut, held against what it acknowledged before. Pure, and for one cut alone.

pub use crate::map::Map;

use crate::journal::{Done, Journal, Write};
use flashscope_device::Holds;
use flashscope_model::integrity::FaultKind;
use flashscope_units::{Bytes, Instant, Nanos};
use std::collections::{BTreeMap, BTreeSet};

/// What is to be judged.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// Bytes of a logical sector.
    pub sector: Bytes,
    /// What stood on the range before the first write, safe.
    pub before: &'a Map,
    /// What was asked for since, and acknowledged.
    pub journal: &'a Journal,
    /// When the power went.
    pub cut_at: Instant,
    /// What stands there now, over the same range.
    pub found: &'a Map,
    /// Stretches of it that could not be read: (from, to).
    pub unreadable: &'a [(Bytes, Bytes)],
}

/// A stretch of sectors that does not hold what it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What happened, as far as this cut tells.
    pub kind: FaultKind,
    /// Where it begins.
    pub at: Bytes,
    /// How much.
    pub length: Bytes,
    /// The write that should stand there at least: its place in the journal; `None` for what stood there before.
    pub covered: Option<usize>,
    /// What stands there.
    pub holds: Holds,
}

/// What was lost that had been covered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loss {
    /// From the moment when it was covered until the cut, of what had been covered longest; of what stood there before the first
    /// write, the whole time.
    pub oldest: Nanos,
    /// Whether nothing survived that was issued after the first write that is lost.
    pub is_tail: bool,
    /// Share of the covered writes that something of is lost.
    pub share: f64,
    /// Whether a write survived that nothing covered and that was issued when what is lost had been covered.
    pub overtaken: bool,
}

/// What a cut came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// In order of place; neighbours of one kind are one.
    pub violations: Vec<Violation>,
    /// What was lost that had been covered.
    pub loss: Option<Loss>,
    /// Bytes of completed writes that nothing covered and that are gone.
    pub dropped: Bytes,
}

/// Holds what was found against the promise.
pub fn judge(case: &Case<'_>) -> Judged {
    let covered = case.journal.covered();
    let mut seen = Seen::default();
    for (from, to) in intervals(case) {
        let history = History::of(case, &covered, from, to);
        seen.look(case, &history, from, to);
    }
    seen.judged(case, &covered)
}

/// Stretches of whole sectors over which nothing changes: neither what was written, nor what is found. A sector that holds
/// several things is one of its own.
fn intervals(case: &Case<'_>) -> Vec<(Bytes, Bytes)> {
    let (start, end) = (case.found.start(), case.found.end());
    let mut edges = BTreeSet::from([start, end]);
    let unreadable = case.unreadable.iter().flat_map(|(from, to)| [*from, *to]);
    let written = case.journal.writes.iter().flat_map(|write| [write.at, write.end()]);
    for edge in written.chain(case.before.edges()).chain(case.found.edges()).chain(unreadable) {
        edges.extend([edge.align_down(case.sector), edge.align_up(case.sector)]);
    }
    let edges: Vec<Bytes> = edges.into_iter().filter(|edge| *edge >= start && *edge <= end).collect();
    edges.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// What was written over an interval.
struct History {
    /// Writes, in order of issue.
    writes: Vec<usize>,
    /// The last one that is covered.
    last: Option<usize>,
    /// Those that may stand there; what stood there before may where `last` is `None`.
    may: Vec<usize>,
}

impl History {
    fn of(case: &Case<'_>, covered: &[Option<Done>], from: Bytes, to: Bytes) -> History {
        let all = &case.journal.writes;
        let writes: Vec<usize> = (0..all.len()).filter(|index| all[*index].covers(from, to)).collect();
        let last = writes.iter().rev().copied().find(|index| covered[*index].is_some());
        // One that had completed before the covered one was issued has been overwritten; any other may stand there.
        let is_over =
            |write: &Write| last.is_some_and(|last| write.done.is_some_and(|done| done.turn < all[last].turn));
        let may = writes.iter().copied().filter(|index| Some(*index) == last || !is_over(&all[*index])).collect();
        History { writes, last, may }
    }
}

/// What was seen over all intervals.
#[derive(Default)]
struct Seen {
    violations: Vec<Violation>,
    /// Writes of which some value was found.
    alive: BTreeSet<usize>,
    /// Covered writes that an older value stands in the place of; `None` for what stood there before.
    lost: BTreeSet<Option<usize>>,
    dropped: Bytes,
}

impl Seen {
    fn look(&mut self, case: &Case<'_>, history: &History, from: Bytes, to: Bytes) {
        let found: Vec<(Bytes, Holds)> = case.found.between(from, to).collect();
        let writes = &case.journal.writes;
        let by_generation: BTreeMap<u32, usize> =
            history.writes.iter().map(|index| (writes[*index].generation, *index)).collect();
        let of = |(at, holds): &(Bytes, Holds)| match holds {
            Holds::Tagged { generation, addressed } if addressed == at => by_generation.get(generation).copied(),
            _ => None,
        };
        self.alive.extend(found.iter().filter_map(of));
        let unreadable = case.unreadable.iter().any(|(low, high)| *low < to && from < *high);
        let Some(&(at, holds)) = found.first() else { return };
        let kind = match (&found[..], of(&(at, holds))) {
            _ if unreadable => FaultKind::Corrupted,
            ([_], Some(index)) if history.may.contains(&index) => {
                self.note_dropped(writes, history, index, to - from);
                return;
            }
            ([_], None) if history.last.is_none() && case.before.between(from, to).eq(found.iter().copied()) => {
                let completed = history.writes.iter().any(|index| writes[*index].done.is_some());
                self.dropped += if completed { to - from } else { Bytes::ZERO };
                return;
            }
            ([_], _) => whole(at, holds, case),
            (parts, _) => mixed(parts),
        };
        if kind == FaultKind::LostFlushed {
            self.lost.insert(history.last);
        }
        self.violations.push(Violation { kind, at: from, length: to - from, covered: history.last, holds });
    }

    /// Whether a completed write is gone that nothing had covered.
    fn note_dropped(&mut self, writes: &[Write], history: &History, stands: usize, length: Bytes) {
        let newer = history.writes.iter().filter(|index| **index > stands);
        if newer.into_iter().any(|index| writes[*index].done.is_some()) {
            self.dropped += length;
        }
    }

    fn judged(mut self, case: &Case<'_>, covered: &[Option<Done>]) -> Judged {
        // Bytes that nobody wrote are those of a write that the power stopped, or damage beside one.
        for one in self.violations.iter_mut().filter(|one| one.kind == FaultKind::Neighbour) {
            if was_stopped(case, covered, one) {
                one.kind = FaultKind::Corrupted;
            }
        }
        let loss = self.loss(case, covered);
        Judged { violations: joined(self.violations), loss, dropped: self.dropped }
    }

    fn loss(&self, case: &Case<'_>, covered: &[Option<Done>]) -> Option<Loss> {
        let first = *self.lost.first()?;
        let from = |lost: Option<usize>| lost.and_then(|index| covered[index]);
        let survived = |after: usize| self.alive.range(after..);
        let is_tail = match first {
            None => self.alive.is_empty(),
            Some(first) => survived(first).next().is_none(),
        };
        let overtakes = |lost: Option<usize>, index: usize| {
            covered[index].is_none() && from(lost).is_some_and(|done| case.journal.writes[index].turn > done.turn)
        };
        let overtaken = self.lost.iter().any(|lost| self.alive.iter().any(|index| overtakes(*lost, *index)));
        let moments: BTreeSet<Instant> =
            self.lost.iter().map(|lost| from(*lost).map_or(Instant::ORIGIN, |done| done.at)).collect();
        let oldest = moments.first().map_or(Nanos::ZERO, |moment| case.cut_at.since(*moment));
        let all = covered.iter().flatten().count().max(1);
        let share = self.lost.iter().flatten().count() as f64 / all as f64;
        Some(Loss { oldest, is_tail, share, overtaken })
    }
}

/// What it is that one thing stands where it may not.
fn whole(at: Bytes, holds: Holds, case: &Case<'_>) -> FaultKind {
    match holds {
        Holds::Tagged { addressed, .. } if addressed != at => FaultKind::Flying,
        Holds::Tagged { .. } | Holds::Uniform(_) => FaultKind::LostFlushed,
        // What stood there before this run, or what was damaged before the last cut, is an older value like any other.
        Holds::Foreign if case.before.between(at, at + case.sector).any(|(_, before)| before == holds) => {
            FaultKind::LostFlushed
        }
        Holds::Foreign => FaultKind::Neighbour,
    }
}

/// Whether a write that may have been volatile stopped here: it begins here, or stands before, and does not stand behind. One that
/// was covered must show by a sector behind that it did not come so far.
fn was_stopped(case: &Case<'_>, covered: &[Option<Done>], one: &Violation) -> bool {
    let (from, to) = (one.at, one.at + one.length);
    let stands = |at: Bytes, index: usize| {
        let holds = case.found.between(at, at + case.sector).next().map(|(_, holds)| holds);
        matches!(holds, Some(Holds::Tagged { generation, addressed })
            if addressed == at && generation >= case.journal.writes[index].generation)
    };
    let stopped = |index: usize| {
        let write = &case.journal.writes[index];
        let before = write.at == from || stands(from - case.sector, index);
        let behind = if write.end() > to { Some(stands(to, index)) } else { None };
        let is_due = one.covered.is_none_or(|due| index >= due);
        is_due && write.covers(from, to) && before && behind.map_or(covered[index].is_none(), |stands| !stands)
    };
    (0..case.journal.writes.len()).any(stopped)
}

/// What it is that a sector holds several things.
fn mixed(parts: &[(Bytes, Holds)]) -> FaultKind {
    let at_home = |(at, holds): &(Bytes, Holds)| matches!(holds, Holds::Tagged { addressed, .. } if addressed == at);
    let tagged = |(_, holds): &(Bytes, Holds)| matches!(holds, Holds::Tagged { .. });
    if parts.iter().all(|part| at_home(part) || matches!(part.1, Holds::Uniform(_))) {
        FaultKind::Shorn
    } else if parts.iter().any(|part| tagged(part) && !at_home(part)) {
        FaultKind::Flying
    } else {
        FaultKind::Corrupted
    }
}

/// Violations of one kind that touch each other, as one.
fn joined(all: Vec<Violation>) -> Vec<Violation> {
    let mut list: Vec<Violation> = Vec::new();
    for next in all {
        match list.last_mut() {
            Some(last)
                if last.kind == next.kind && last.covered == next.covered && last.at + last.length == next.at =>
            {
                last.length += next.length;
            }
            _ => list.push(next),
        }
    }
    list
}
