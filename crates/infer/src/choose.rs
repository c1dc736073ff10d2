//! What to do next: where time is not limited, of all wanted subjects the first that still has a question and whose
//! experiment the budget covers; where it is, what is worth most of it ([`crate::worth`]).
//!
//! Reads come before writes, cheap before dear, and what others lean on before them. The choice is a pure function of
//! what was observed: there is no state between calls, so that a stored record can be gone on with.

use crate::ahead::{self, Left};
use crate::drive::slc_cache;
use crate::memo::Memo;
use crate::situation::{Situation, assumed_unit};
use crate::worth::{self, Aim};
use crate::{Choice, Want, discard, drive, memory, reading, writing};
use flashscope_model::Finding as F;
use flashscope_model::Finding;
use flashscope_model::plan::Budget;
use flashscope_model::{DeviceFacts, Direction, Observations, Order};
use flashscope_units::{Bytes, Nanos};

/// A question that experiments answer.
pub(crate) struct Subject {
    /// Its name in the table of what experiments settle.
    pub(crate) key: &'static str,
    /// What it is, for people.
    pub(crate) words: &'static str,
    /// The findings that it may settle.
    pub(crate) settles: &'static [Finding],
    /// Questions that come first where they are open: this one leans on what they settle, or would disturb them.
    pub(crate) after: &'static [&'static str],
    /// What it is to the choice of others.
    pub(crate) role: Role,
    /// The next experiment on it; `None` where it is settled, or cannot be.
    pub(crate) choice: fn(&Situation) -> Option<Choice>,
    /// How many experiments it still needs, where there is a next one.
    pub(crate) left: fn(&Situation) -> Left,
    /// What it can write at the worst before anything is known of a device, given an assumed unit and what may be written.
    most_at_outset: fn(&DeviceFacts, Bytes, Bytes) -> Bytes,
    /// What it can still write at the worst.
    pub(crate) most_left: fn(&Situation) -> Bytes,
    /// What an experiment on it must leave for others, which settle more for less.
    kept_back: fn(&Situation) -> Bytes,
}

/// What a subject is to the choice of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A search for open units, which may go on to its dear end once nothing is kept back any more.
    Search,
    /// Follows where a search found a limit.
    BeyondALimit,
    /// The speed of writes, before which searches go on.
    SpeedOfWrites,
    /// None that others ask for.
    Plain,
}

/// A subject that only reads.
const READS: Subject = Subject {
    key: "",
    words: "",
    settles: &[],
    after: &[],
    role: Role::Plain,
    choice: |_| None,
    left: ahead::one,
    most_at_outset: |_, _, _| Bytes::ZERO,
    most_left: |_| Bytes::ZERO,
    kept_back: |_| Bytes::ZERO,
};

/// All of them, in the order of the plan.
pub(crate) const SUBJECTS: &[Subject] = &[
    Subject { key: "floor", words: "the floor", settles: &[], after: &[], choice: reading::floor, ..READS },
    Subject {
        key: "survey",
        words: "which parts hold data",
        settles: &[F::NeverWritten],
        after: &[],
        choice: reading::survey,
        ..READS
    },
    Subject {
        key: "fill",
        words: "the geometry of a device that was never written",
        settles: &[],
        after: &["survey"],
        choice: writing::fill,
        most_at_outset: |device, unit, _| writing::most_fill(device, unit),
        most_left: |now| writing::most_fill(now.device, now.unit()),
        ..READS
    },
    Subject {
        key: "boundaries",
        words: "allocation unit and page",
        settles: &[F::AllocationUnit, F::BoundaryOffset, F::Page, F::PageInner, F::BitsPerCell],
        after: &["floor", "survey", "fill"],
        choice: reading::boundaries,
        left: ahead::boundaries,
        ..READS
    },
    Subject {
        key: "interval",
        words: "access time",
        settles: &[],
        after: &["boundaries"],
        choice: reading::interval,
        ..READS
    },
    Subject {
        key: "read-speed",
        words: "speed of reads",
        settles: &[],
        after: &["survey", "fill"],
        choice: reading::performance,
        left: |now| ahead::cells(now, Direction::Read, reading::CELLS),
        ..READS
    },
    Subject {
        key: "parallel",
        words: "stripe and parallel units",
        settles: &[F::Stripe, F::ParallelUnits, F::Channels, F::Page],
        after: &["boundaries"],
        choice: drive::parallel_choice,
        ..READS
    },
    Subject {
        key: "map-reach",
        words: "mapping-table reach",
        settles: &[F::MapReach, F::Mapping],
        after: &["survey", "fill"],
        choice: drive::map_reach_choice,
        ..READS
    },
    Subject {
        key: "cells",
        words: "bits per cell",
        settles: &[F::BitsPerCell],
        after: &["boundaries"],
        choice: drive::cells_choice,
        ..READS
    },
    Subject {
        key: "open-in-order",
        words: "open units, sequential",
        settles: &[F::OpenUnitsLinear, F::Mapping],
        after: &["boundaries"],
        role: Role::Search,
        choice: |now| writing::open_units(now, Order::InOrder),
        left: |now| ahead::search(now, Order::InOrder),
        most_at_outset: |device, unit, _| writing::most_trials_at_outset(device, unit),
        most_left: |now| writing::most_trials(now, Order::InOrder),
        kept_back: |now| {
            writing::left_for_random(now) + writing::left_for_one_unit(now) + writing::left_for_area(now) + inside(now)
        },
    },
    Subject {
        key: "open-random",
        words: "open units, random",
        settles: &[F::OpenUnitsRandom, F::Mapping],
        after: &["open-in-order"],
        role: Role::Search,
        choice: |now| writing::open_units(now, Order::Random),
        left: |now| ahead::search(now, Order::Random),
        most_at_outset: |device, unit, _| writing::most_trials_at_outset(device, unit),
        most_left: |now| writing::most_trials(now, Order::Random),
        kept_back: |now| writing::left_for_one_unit(now) + writing::left_for_area(now) + inside(now),
    },
    Subject {
        key: "one-unit",
        words: "random-order penalty and small-write path",
        settles: &[F::RandomOrderPenalty, F::SmallWritePath, F::Mapping],
        after: &["boundaries"],
        choice: writing::one_unit,
        left: ahead::one_unit,
        most_at_outset: |_, _, _| writing::most_one_unit(Bytes(u64::MAX)),
        most_left: |now| writing::most_one_unit(now.write_budget),
        ..READS
    },
    Subject {
        key: "escape",
        words: "small writes beyond the open units",
        settles: &[F::SmallWritePath],
        after: &["open-random", "one-unit"],
        role: Role::BeyondALimit,
        choice: writing::escape,
        left: |_| Left::Usually(1, 0),
        most_at_outset: |_, _, _| writing::most_escape(),
        most_left: |_| writing::most_escape(),
        kept_back: inside,
    },
    Subject {
        key: "area",
        words: "an area at the start that differs",
        settles: &[F::FastArea, F::FastAreaParts],
        after: &["open-in-order", "open-random"],
        choice: writing::area,
        left: ahead::area,
        most_at_outset: |_, _, _| writing::most_area(),
        most_left: |_| writing::most_area(),
        kept_back: inside,
        ..READS
    },
    Subject {
        key: "other-block",
        words: "whether the count of open units depends on the block size",
        settles: &[F::OpenUnitsLinear, F::OpenUnitsRandom],
        after: &["open-random"],
        choice: writing::other_block,
        left: ahead::other_block,
        most_left: writing::most_other_block,
        kept_back: inside,
        ..READS
    },
    Subject {
        key: "longer",
        words: "what order costs small writes when a log is full",
        settles: &[F::RandomOrderPenalty],
        after: &["one-unit"],
        choice: writing::longer,
        left: |_| Left::Usually(1, 0),
        most_left: writing::most_longer,
        kept_back: inside,
        ..READS
    },
    Subject {
        key: "read-cache",
        words: "read buffer and read-ahead",
        settles: &[F::ReadBuffer, F::ReadAhead],
        after: &["boundaries", "interval"],
        choice: memory::wanted_reads::read_cache,
        left: ahead::read_cache,
        ..READS
    },
    Subject {
        key: "buffer",
        words: "write buffer",
        settles: &[F::WriteBuffer, F::WriteBufferVolatile, F::WriteBufferFlushedByRead, F::WriteBufferFlushWindow],
        after: &["boundaries"],
        choice: memory::wanted::buffer,
        left: ahead::buffer,
        most_at_outset: |_, _, _| memory::wanted::most_written(),
        most_left: |_| memory::wanted::most_written(),
        ..READS
    },
    Subject {
        key: "write-speed",
        words: "speed of writes",
        settles: &[F::Collection],
        after: &["one-unit"],
        role: Role::SpeedOfWrites,
        choice: writing::performance,
        left: |now| ahead::cells(now, Direction::Write, writing::CELL_COUNT),
        most_at_outset: |_, _, write_budget| writing::most_cells(write_budget),
        most_left: |now| writing::most_cells(now.write_budget),
        kept_back: |now| slc_cache::left_for_cache(now) + discard::left_for_discard(now),
    },
    Subject {
        key: "slc-cache",
        words: "SLC cache",
        settles: &[F::SlcCache, F::SlcCacheRecovery],
        after: &["open-in-order"],
        choice: slc_cache::choice,
        left: ahead::slc_cache,
        most_at_outset: |device, _, write_budget| slc_cache::most_on(device, write_budget),
        most_left: slc_cache::most_written,
        kept_back: discard::left_for_discard,
        ..READS
    },
    Subject {
        key: "spare",
        words: "spare space and write amplification",
        settles: &[F::WriteAmplification, F::PhysicalOverUser],
        after: &["open-random", "slc-cache"],
        choice: drive::overwrite_choice,
        most_left: drive::most_overwritten,
        ..READS
    },
    Subject {
        key: "discard",
        words: "discard",
        settles: &[F::Discard],
        after: &["boundaries"],
        choice: discard::choice,
        most_left: discard::most_left,
        ..READS
    },
];

/// The experiment that would settle most for least wear, or `None` when nothing is left that the budget covers: all
/// questions in the order of the plan, whatever time is left.
///
/// The memo says nothing; it saves working out again what the last calls of the run worked out.
pub fn next(
    device: &DeviceFacts,
    observations: &Observations,
    memo: &Memo,
    budget: Budget,
    seed: u64,
) -> Option<Choice> {
    if budget.time == Some(Nanos::ZERO) {
        return None;
    }
    let now = Situation::new(device, observations, memo, budget.write, seed);
    by_plan(&now, budget.write, Want::All).map(|(_, choice)| choice)
}

/// A question that experiments answer, as far as others are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Its name in the table of what experiments settle.
    pub key: &'static str,
    /// The findings that it may settle.
    pub settles: &'static [Finding],
}

/// What [`next`] chooses, with the question that it is for.
pub fn next_of_plan(
    device: &DeviceFacts,
    observations: &Observations,
    memo: &Memo,
    write: Bytes,
    seed: u64,
) -> Option<(Question, Choice)> {
    let now = Situation::new(device, observations, memo, write, seed);
    let (Subject { key, settles, .. }, choice) = by_plan(&now, write, Want::All)?;
    Some((Question { key, settles }, choice))
}

/// The same for what is wanted, and within the time that is left, where that is limited.
pub fn next_for(
    aim: &Aim<'_>,
    device: &DeviceFacts,
    observations: &Observations,
    memo: &Memo,
    budget: Budget,
    seed: u64,
) -> Option<Choice> {
    let now = Situation::new(device, observations, memo, budget.write, seed);
    match budget.time {
        None => by_plan(&now, budget.write, aim.want).map(|(_, choice)| choice),
        Some(Nanos::ZERO) => None,
        Some(left) => worth::next(&now, budget, left, aim),
    }
}

fn by_plan(now: &Situation, write: Bytes, want: Want) -> Option<(&'static Subject, Choice)> {
    let wanted = || SUBJECTS.iter().filter(|subject| want.needs(subject));
    // A search for open units may go on to sixty-four of them: what settles more for less comes before its dear end.
    let affordable = |subject: &'static Subject, keeper: &Subject| {
        let choice = (subject.choice)(now)?;
        (choice.experiment.bytes_written() + (keeper.kept_back)(now) <= write).then_some((subject, choice))
    };
    let searches = || wanted().filter(|subject| subject.role == Role::Search);
    let first = wanted().find_map(|subject| {
        // What was kept back and is not wanted any more goes to the searches, before the speed of writes is measured.
        let before = (subject.role == Role::SpeedOfWrites)
            .then(|| searches().find_map(|search| affordable(search, subject)))
            .flatten();
        before.or_else(|| affordable(subject, subject))
    });
    // What that leaves goes to the cheapest question first.
    let cheapest = || {
        let choices = wanted().filter_map(|subject| Some((subject, (subject.choice)(now)?)));
        let cost = |(_, choice): &(&Subject, Choice)| choice.experiment.bytes_written();
        choices.filter(|one| cost(one) <= write).min_by_key(cost)
    };
    first.or_else(cheapest)
}

/// What a full run may write, for the operator's consent before the first write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// Never more than this.
    pub will_write_at_most: Bytes,
    /// What is overwritten, in words.
    pub regions: Vec<String>,
    /// The experiments that write, each with what it usually writes: together no more than the limit.
    pub experiments: Vec<String>,
    /// About how much is read.
    pub will_read_about: Bytes,
    /// Device time, the least and the most that is likely.
    pub time: (Nanos, Nanos),
    /// What the time assumes.
    pub time_assumes: String,
    /// What does not fit beside them even where the device needs little, in words.
    pub left_out: Vec<String>,
}

/// Bytes per second of reads and of writes that the estimate of time assumes, at the fast end and at the slow one: a
/// good card, and one that copies a unit for many of the writes.
const ASSUMED_RATES: [(f64, f64); 2] = [(80e6, 10e6), (10e6, 0.5e6)];

/// Of what the writing experiments need at the worst, a device of few open units needs this share.
const USUAL_SHARE: u64 = 8;

/// What a run within this budget would do, said before anything is measured.
pub fn outlook(device: &DeviceFacts, budget: Budget) -> Outlook {
    outlook_for(Want::All, device, budget)
}

/// The same for what is wanted.
pub fn outlook_for(want: Want, device: &DeviceFacts, budget: Budget) -> Outlook {
    let unit = assumed_unit(device);
    let at_worst = |subject: &Subject| (subject.words, (subject.most_at_outset)(device, unit, budget.write));
    let parts: Vec<(&str, Bytes)> = match budget.write {
        Bytes::ZERO => Vec::new(),
        _ => SUBJECTS
            .iter()
            .filter(|subject| want.needs(subject))
            .map(at_worst)
            .filter(|(_, bytes)| *bytes > Bytes::ZERO)
            .collect(),
    };
    // Only where addresses are mapped by page, which nobody knows yet.
    let all_over = [
        ("all of it, for whether a cache of fast cells shrinks", slc_cache::fill_within(device, budget.write)),
        ("all of it more than once, for spare space", drive::overwritten_within(device, budget.write)),
    ];
    let all_over = all_over.into_iter().filter(|_| want == Want::All);
    let all_over: Vec<(&str, Bytes)> = all_over.filter_map(|(name, bytes)| Some((name, bytes?))).collect();
    let total: Bytes = parts.iter().chain(&all_over).map(|(_, bytes)| *bytes).sum();
    let will_read_about = reading::about_read(device);
    let seconds = |written: Bytes, (read_rate, write_rate): (f64, f64)| {
        will_read_about.as_f64() / read_rate + written.as_f64() / write_rate
    };
    let within = |seconds: f64| {
        let time = Nanos((seconds * 1e9) as u64);
        budget.time.map_or(time, |limit| limit.min(time))
    };
    let time = (
        within(seconds((total / USUAL_SHARE).min(budget.write), ASSUMED_RATES[0])),
        within(seconds(total.min(budget.write), ASSUMED_RATES[1])),
    );
    // In the order of the plan, as the run spends it.
    let (mut left, mut experiments, mut left_out) = (budget.write, Vec::new(), Vec::new());
    for (name, bytes) in &parts {
        let bytes = *bytes / USUAL_SHARE;
        match left.get().checked_sub(bytes.get()) {
            Some(rest) => {
                left = Bytes(rest);
                experiments.push(format!("{name}: usually {bytes}"));
            }
            None => left_out.push((*name).to_owned()),
        }
    }
    // What overwrites all of a device goes on for as long as it may, and is named wherever it can come to that.
    for (name, bytes) in all_over {
        let bytes = bytes.min(left);
        left = left.saturating_sub(bytes);
        experiments.push(format!("{name}: usually {bytes}"));
    }
    Outlook {
        will_write_at_most: budget.write,
        regions: if parts.is_empty() { Vec::new() } else { regions(unit) },
        experiments,
        will_read_about,
        time,
        time_assumes: "reads at 10 to 80 MB/s, writes at 0.5 to 10 MB/s".to_owned(),
        left_out,
    }
}

/// What may be overwritten. The unit is only assumed yet, and may turn out several times as large.
fn regions(unit: Bytes) -> Vec<String> {
    vec![
        format!("the first units of the device: 0 B to {}, further if they differ or are larger than {unit}", unit * 4),
        "places picked at random all over the rest: no part of the device is safe".to_owned(),
    ]
}

/// What the first looks at the inside of the controller take: little, of all that may be written.
fn inside(now: &Situation) -> Bytes {
    memory::wanted::left_for_buffer(now) + slc_cache::left_for_cache(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_lean_on_earlier_ones() {
        for (at, subject) in SUBJECTS.iter().enumerate() {
            for key in subject.after {
                assert!(SUBJECTS[..at].iter().any(|before| before.key == *key), "{} after {key}", subject.key);
            }
        }
    }
}
