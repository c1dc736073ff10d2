//! What came of the requests so far, in memory that does not grow with the space.

use super::plan::FullPlan;
use crate::hands::goes_on;
use flashscope_model::capacity::{Cell, Found, Full, Run, Totals};
use flashscope_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counts, and what is named.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// By address; `(length, what was found)`.
    runs: BTreeMap<u64, (u64, Word)>,
    /// Those that were left out, for their number.
    left_out: u64,
    /// Kept, changed, from elsewhere, unwritten, unreadable.
    totals: [u64; 5],
    first_bad: Option<u64>,
    cells: Vec<Timed>,
    pub(crate) written: u64,
    pub(crate) read: u64,
}

/// A part of the space and the time that it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Timed {
    write_ns: u64,
    written: u64,
    read_ns: u64,
    read: u64,
    bad: u64,
}

/// What was found, as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Word {
    Kept,
    Elsewhere(u64),
    Uniform(u8),
    Other,
    WriteFailed,
    ReadFailed,
}

/// Which way bytes went.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Written,
    Read,
}

impl Tally {
    /// Counts what was found at a place.
    pub(crate) fn add(&mut self, plan: &FullPlan, run: Run) {
        let mut totals = self.totals();
        totals.add(run.length, run.found);
        let Totals { kept, changed, elsewhere, unwritten, unreadable } = totals;
        self.totals = [kept, changed, elsewhere, unwritten, unreadable].map(Bytes::get);
        if run.found == Found::Kept {
            return;
        }
        self.first_bad = Some(self.first_bad.map_or(run.at.get(), |first| first.min(run.at.get())));
        self.cell(plan, run.at).bad += run.length.get();
        self.name(run);
    }

    /// Counts time: that of a batch of requests, divided over them by their lengths.
    pub(crate) fn time(&mut self, plan: &FullPlan, way: Way, spans: &[(Bytes, Bytes)], took: Nanos) {
        let all: Bytes = spans.iter().map(|(_, length)| *length).sum();
        for (at, length) in spans {
            let time = (u128::from(took.get()) * u128::from(length.get()) / u128::from(all.get().max(1))) as u64;
            let cell = self.cell(plan, *at);
            let (ns, bytes) = match way {
                Way::Written => (&mut cell.write_ns, &mut cell.written),
                Way::Read => (&mut cell.read_ns, &mut cell.read),
            };
            *ns += time;
            *bytes += length.get();
        }
        *(match way {
            Way::Written => &mut self.written,
            Way::Read => &mut self.read,
        }) += all.get();
    }

    fn totals(&self) -> Totals {
        let [kept, changed, elsewhere, unwritten, unreadable] = self.totals.map(Bytes);
        Totals { kept, changed, elsewhere, unwritten, unreadable }
    }

    fn cell(&mut self, plan: &FullPlan, at: Bytes) -> &mut Timed {
        let number = (at.get() / plan.cell().get()) as usize;
        if self.cells.len() <= number {
            self.cells.resize(number + 1, Timed::default());
        }
        &mut self.cells[number]
    }

    /// Takes a stretch down, joined to its neighbours where it goes on with the same.
    fn name(&mut self, run: Run) {
        let mut run = run;
        let before = self.runs.range(..run.at.get()).next_back().map(|(at, held)| held_run(*at, *held));
        if let Some(before) = before.filter(|before| goes_on(before, &run)) {
            run = Run { at: before.at, length: before.length + run.length, found: before.found };
        }
        let behind = (run.at + run.length).get();
        if let Some(next) = self.runs.get(&behind).map(|held| held_run(behind, *held))
            && goes_on(&run, &next)
        {
            self.runs.remove(&behind);
            run.length += next.length;
        }
        self.runs.insert(run.at.get(), (run.length.get(), Word::of(run.found)));
        if self.runs.len() > Full::MOST_BAD {
            self.runs.pop_last();
            self.left_out += 1;
        }
    }

    /// What is known by now.
    pub(crate) fn told(&self, plan: &FullPlan) -> Full {
        let cell = plan.cell();
        let cells = (0..plan.claimed.get().div_ceil(cell.get())).map(|number| {
            let at = cell * number;
            let length = cell.min(plan.claimed - at);
            let timed = self.cells.get(number as usize).copied().unwrap_or_default();
            let time = |ns: u64, bytes: u64| (bytes == length.get()).then_some(Nanos(ns));
            let (write_time, read_time) = (time(timed.write_ns, timed.written), time(timed.read_ns, timed.read));
            Cell { at, length, write_time, read_time, bad: Bytes(timed.bad) }
        });
        Full {
            claimed: plan.claimed,
            block: plan.block,
            order: plan.order,
            request: plan.request,
            written: Bytes(self.written),
            verified: Bytes(self.read),
            totals: self.totals(),
            cells: cells.collect(),
            bad: self.runs.iter().map(|(at, held)| held_run(*at, *held)).collect(),
            bad_left_out: self.left_out,
            first_bad: self.first_bad.map(Bytes),
            ..Full::default()
        }
    }
}

fn held_run(at: u64, (length, word): (u64, Word)) -> Run {
    Run { at: Bytes(at), length: Bytes(length), found: word.found() }
}

impl Word {
    fn of(found: Found) -> Word {
        match found {
            Found::Kept => Word::Kept,
            Found::Elsewhere(from) => Word::Elsewhere(from.get()),
            Found::Uniform(byte) => Word::Uniform(byte),
            Found::Other => Word::Other,
            Found::WriteFailed => Word::WriteFailed,
            Found::ReadFailed => Word::ReadFailed,
        }
    }

    fn found(self) -> Found {
        match self {
            Word::Kept => Found::Kept,
            Word::Elsewhere(from) => Found::Elsewhere(Bytes(from)),
            Word::Uniform(byte) => Found::Uniform(byte),
            Word::Other => Found::Other,
            Word::WriteFailed => Found::WriteFailed,
            Word::ReadFailed => Found::ReadFailed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::capacity::PassOrder;

    fn plan() -> FullPlan {
        FullPlan::new(Bytes::mib(100), Bytes(512), PassOrder::Sequential, 1).unwrap()
    }

    fn run(at: u64, found: Found) -> Run {
        Run { at: Bytes::mib(at), length: Bytes::mib(1), found }
    }

    #[test]
    fn stretches_join_whatever_the_order() {
        let (plan, mut tally) = (plan(), Tally::default());
        for at in [7, 3, 5, 4, 6] {
            tally.add(&plan, run(at, Found::Elsewhere(Bytes::mib(at + 20))));
        }
        tally.add(&plan, run(8, Found::Uniform(0)));
        tally.add(&plan, run(9, Found::Kept));
        let full = tally.told(&plan);
        let long = Run { length: Bytes::mib(5), ..run(3, Found::Elsewhere(Bytes::mib(23))) };
        assert_eq!(full.bad, [long, run(8, Found::Uniform(0))]);
        assert_eq!((full.first_bad, full.totals.kept), (Some(Bytes::mib(3)), Bytes::mib(1)));
        assert_eq!(full.cells.iter().map(|cell| cell.bad).sum::<Bytes>(), Bytes::mib(6));
    }

    #[test]
    fn what_is_named_is_bounded_and_the_rest_is_counted() {
        let (plan, mut tally) = (plan(), Tally::default());
        let all = Full::MOST_BAD as u64 + 50;
        for number in (0..all).rev() {
            tally.add(&plan, Run { at: Bytes(1024 * number), length: Bytes(512), found: Found::Other });
        }
        let full = tally.told(&plan);
        assert_eq!((full.bad.len(), full.bad_left_out), (Full::MOST_BAD, 50));
        assert_eq!(full.bad[0].at, Bytes::ZERO);
        assert_eq!(full.totals.changed, Bytes(512) * all);
    }

    #[test]
    fn a_part_has_a_time_where_all_of_it_was_done() {
        let (plan, mut tally) = (plan(), Tally::default());
        let spans = [(Bytes::ZERO, Bytes::mib(1)), (Bytes::mib(1), Bytes::kib(512))];
        tally.time(&plan, Way::Written, &spans, Nanos(3000));
        let cells = tally.told(&plan).cells;
        assert_eq!((cells.len(), cells[0].write_time, cells[1].write_time), (100, Some(Nanos(2000)), None));
        assert_eq!(cells[0].read_time, None);
    }
}
