//! Intervals of addresses, and the edge behind which they are lost.

use flashscope_model::capacity::{Found, Full};

/// Intervals, rising and apart.
pub(super) type Intervals = Vec<(u64, u64)>;

/// What of a map is lost, and what is not known. Behind the stretches that are named, a part tells how much of it is bad.
pub(super) fn of(full: &Full) -> (Intervals, Intervals) {
    let pick = |is: fn(Found) -> bool| {
        let runs = full.bad.iter().filter(move |run| is(run.found));
        runs.map(|run| (run.at.get(), (run.at + run.length).get()))
    };
    let mut lost: Intervals = pick(Found::is_lost).collect();
    let unknown: Intervals = pick(|found| matches!(found, Found::WriteFailed | Found::ReadFailed)).collect();
    if full.bad_left_out > 0 {
        let named_to = full.bad.last().map_or(0, |run| (run.at + run.length).get());
        let behind = full.cells.iter().filter(|cell| cell.at.get() >= named_to && cell.bad.get() > 0);
        lost.extend(behind.map(|cell| (cell.at.get(), (cell.at + cell.bad).get())));
    }
    (joined(lost), joined(unknown))
}

/// Overlapping and neighbouring ones as one.
fn joined(mut intervals: Intervals) -> Intervals {
    intervals.sort_unstable();
    let mut all: Intervals = Vec::with_capacity(intervals.len());
    for (from, to) in intervals {
        match all.last_mut().filter(|last| last.1 >= from) {
            Some(last) => last.1 = last.1.max(to),
            None => all.push((from, to)),
        }
    }
    all
}

/// The same by place within a period.
pub(super) fn folded(intervals: &Intervals, period: u64) -> Intervals {
    let mut all = Intervals::new();
    for (from, to) in intervals {
        if to - from >= period {
            return vec![(0, period)];
        }
        let (start, end) = (from % period, from % period + (to - from));
        all.push((start, end.min(period)));
        if end > period {
            all.push((0, end - period));
        }
    }
    joined(all)
}

/// How much they hold.
pub(super) fn length(intervals: &Intervals) -> u64 {
    intervals.iter().map(|(from, to)| to - from).sum()
}

/// Where an edge lies best.
pub(super) struct Edge {
    pub(super) at: u64,
    /// What is lost before it, and what is not behind it.
    pub(super) astray: u64,
}

/// The edge below `end` that leaves the least astray: nothing lost before it, all of it behind. What is unknown speaks for
/// neither.
pub(super) fn edge(lost: &Intervals, unknown: &Intervals, end: u64) -> Edge {
    let known_between = |from: u64, to: u64| {
        let unknown = unknown.iter().map(|(start, stop)| stop.min(&to).saturating_sub(*start.max(&from)));
        (to - from).saturating_sub(unknown.sum())
    };
    let (mut before, mut behind) = (0, length(lost));
    // No edge at all leaves all that is lost astray.
    let mut best = Edge { at: end, astray: behind };
    for (from, to) in lost {
        let astray = before + known_between(*from, end).saturating_sub(behind);
        if astray < best.astray {
            best = Edge { at: *from, astray };
        }
        before += to - from;
        behind -= to - from;
    }
    best
}

/// Where what is unknown right before an address begins.
pub(super) fn known_to(unknown: &Intervals, at: u64) -> u64 {
    unknown.iter().find(|(_, to)| *to == at).map_or(at, |(from, _)| *from)
}
