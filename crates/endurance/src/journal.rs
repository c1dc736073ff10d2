//! What is kept while passes go on, so that the same command goes on where it was stopped, on the same part only.

use crate::plan::Plan;
use flashscope_capacity::Filling;
use flashscope_infer::endurance::{forecast, milestones};
use flashscope_journal::{Head, Journal as Kept, Subject, word};
use flashscope_model::capacity::{Found, Full, Run, Totals};
use flashscope_model::endurance::{End, EndKind, Endurance, Pass, Retention};
use flashscope_model::run::Cost;
use flashscope_model::{Health, StopReason};
use flashscope_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// Name and version of the format.
const SCHEMA: &str = "flashscope.endurance/2";

/// How far the passes are, and what they saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    #[serde(flatten)]
    head: Head,
    /// What the tags of the first pass bear; those of each later one bear the next number.
    generation: u32,
    pub(crate) sessions: u32,
    /// Registers before the first pass.
    pub(crate) before: Registers,
    pub(crate) passes: Vec<KeptPass>,
    /// The pass that is under way.
    pub(crate) filling: Option<Filling>,
    /// The last pass that came to its end: its data stand on the device.
    pub(crate) last: Option<Filling>,
    /// Why the writing ended, and when, in nanoseconds of the clock of whoever watches.
    pub(crate) ended: Option<(String, Option<String>, u64)>,
    /// The data of the last pass, read again.
    pub(crate) again: Option<Filling>,
    /// How long these had been left alone when that began.
    pub(crate) kept_for_ns: u64,
    /// Time of the device over all sessions.
    time_ns: u64,
}

/// Registers of a device, in the order of [`Health`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Registers(Option<([Option<u8>; 5], Option<u64>)>);

impl Registers {
    pub(crate) fn of(health: Option<Health>) -> Registers {
        Registers(health.map(|health| {
            let Health { life_time_a, life_time_b, pre_end_of_life, used_percent, spare_percent, written } = health;
            let small = [life_time_a, life_time_b, pre_end_of_life, used_percent, spare_percent];
            (small, written.map(Bytes::get))
        }))
    }

    pub(crate) fn health(self) -> Option<Health> {
        self.0.map(|([life_time_a, life_time_b, pre_end_of_life, used_percent, spare_percent], written)| Health {
            life_time_a,
            life_time_b,
            pre_end_of_life,
            used_percent,
            spare_percent,
            written: written.map(Bytes),
        })
    }
}

/// A pass as it is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptPass {
    written: u64,
    read: u64,
    /// Time of parts of the device that were moved whole and without an error, and their bytes: written, read.
    timed: [Option<(u64, u64)>; 2],
    /// Kept, changed, elsewhere, unwritten, unreadable.
    totals: [u64; 5],
    first_bad: Option<u64>,
    registers: Registers,
    whole: bool,
}

impl KeptPass {
    /// Of what a filling saw.
    pub(crate) fn of(filling: &Filling, plan: &Plan, number: u32, registers: Option<Health>) -> KeptPass {
        let seen = plan.pass(number).map(|plan| filling.seen(&plan)).unwrap_or_default();
        let Totals { kept, changed, elsewhere, mut unwritten, unreadable } = seen.totals;
        // Where nothing was read yet, what could not be written is not among what was found.
        if let (Bytes::ZERO, Ok(order)) = (seen.verified, plan.pass(number)) {
            unwritten = filling.unwritten(&order);
        }
        let timed = |time: fn(&flashscope_model::capacity::Cell) -> Option<Nanos>| {
            // How fast requests fail is no rate of the device.
            let sound = seen.cells.iter().filter(|cell| cell.bad == Bytes::ZERO);
            let cells = sound.filter_map(|cell| Some((time(cell)?.get(), cell.length.get())));
            cells.reduce(|all, one| (all.0 + one.0, all.1 + one.1))
        };
        KeptPass {
            written: filling.cost().written.get(),
            read: filling.cost().read.get(),
            timed: [timed(|cell| cell.write_time), timed(|cell| cell.read_time)],
            totals: [kept, changed, elsewhere, unwritten, unreadable].map(Bytes::get),
            first_bad: seen.first_bad.map(Bytes::get),
            registers: Registers::of(registers),
            whole: filling.is_over(),
        }
    }

    fn told(&self, number: u32) -> Pass {
        let [kept, changed, elsewhere, unwritten, unreadable] = self.totals.map(Bytes);
        let [write, read] = self.timed;
        let time = |timed: Option<(u64, u64)>| timed.map(|(ns, _)| Nanos(ns));
        let bytes = |timed: Option<(u64, u64)>| timed.map_or(Bytes::ZERO, |(_, bytes)| Bytes(bytes));
        Pass {
            number,
            written: Bytes(self.written),
            read: Bytes(self.read),
            write_time: time(write),
            write_timed: bytes(write),
            read_time: time(read),
            read_timed: bytes(read),
            totals: Totals { kept, changed, elsewhere, unwritten, unreadable },
            first_bad: self.first_bad.map(Bytes),
            registers: self.registers.health(),
            whole: self.whole,
        }
    }
}

impl Journal {
    /// One that is to begin, with tags from this generation on.
    pub fn new(plan: &Plan, subject: Subject, generation: u32) -> Journal {
        Journal {
            head: head(plan, subject),
            generation,
            sessions: 0,
            before: Registers::default(),
            passes: Vec::new(),
            filling: None,
            last: None,
            ended: None,
            again: None,
            kept_for_ns: 0,
            time_ns: 0,
        }
    }

    /// Whether nothing was done yet.
    pub fn is_new(&self) -> bool {
        self.sessions == 0
    }

    /// Passes that came to their end.
    pub fn passes(&self) -> u32 {
        self.passes.len() as u32
    }

    /// Whether the writing is over.
    pub fn is_written(&self) -> bool {
        self.ended.is_some()
    }

    /// Bytes that were written by now, over all sessions.
    pub fn written(&self) -> Bytes {
        let under_way = self.filling.as_ref().map_or(Bytes::ZERO, |filling| filling.cost().written);
        self.passes.iter().map(|pass| Bytes(pass.written)).sum::<Bytes>() + under_way
    }

    /// What the tags of a pass bear, counted from 1.
    pub(crate) fn generation(&self, pass: u32) -> u32 {
        self.generation.wrapping_add(pass - 1)
    }

    pub(crate) fn subject(&self) -> Subject {
        self.head.subject().clone()
    }

    /// Why the writing ended.
    pub(crate) fn end(&self) -> Option<End> {
        let (word, why, _) = self.ended.as_ref()?;
        Some(End { kind: EndKind::from_word(word)?, why: why.clone() })
    }

    pub(crate) fn spend(&mut self, time: Nanos) {
        self.time_ns += time.get();
    }

    /// The passes so far, the one that is under way included where it has written something.
    pub(crate) fn all_passes(&self, plan: &Plan) -> Vec<Pass> {
        let mut passes: Vec<Pass> = self.passes.iter().zip(1..).map(|(pass, number)| pass.told(number)).collect();
        let number = self.passes() + 1;
        let under_way = self.filling.as_ref().map(|filling| KeptPass::of(filling, plan, number, None).told(number));
        passes.extend(under_way.filter(|pass| pass.written > Bytes::ZERO));
        passes
    }

    /// What it came to by now.
    pub fn told(&self, plan: &Plan, stop: &StopReason) -> Endurance {
        let stopped = || match stop {
            StopReason::InternalError(why) => End { kind: EndKind::Internal, why: Some(why.clone()) },
            StopReason::DeviceLost(why) => End { kind: EndKind::Gone, why: Some(why.clone()) },
            StopReason::BudgetSpent => End { kind: EndKind::Budget, why: None },
            _ => End { kind: EndKind::Stopped, why: None },
        };
        let end = self.end().unwrap_or_else(stopped);
        let (passes, before) = (self.all_passes(plan), self.before.health());
        Endurance {
            registers: before,
            milestones: milestones(&passes, plan.claimed, &end),
            forecast: forecast(before.as_ref(), &passes, plan.claimed, &end),
            retention: self.retention(plan),
            sessions: self.sessions,
            plan: plan.told(),
            passes,
            end,
        }
    }

    /// What it cost, over all sessions.
    pub fn cost(&self) -> Cost {
        let again = self.again.as_ref().map_or(Bytes::ZERO, |again| again.cost().read);
        let under_way = self.filling.as_ref().map_or(Bytes::ZERO, |filling| filling.cost().read);
        let read = self.passes.iter().map(|pass| Bytes(pass.read)).sum::<Bytes>() + again + under_way;
        Cost { read, written: self.written(), time: Nanos(self.time_ns), ..Cost::default() }
    }

    fn retention(&self, plan: &Plan) -> Option<Retention> {
        let (again, last) = (self.again.as_ref()?, self.last.as_ref()?);
        let of_pass = plan.pass(self.passes()).ok()?;
        let (before, now) = (last.seen(&of_pass), again.seen(&of_pass));
        Some(Retention {
            asked: plan.reread_after.unwrap_or_default(),
            kept_for: Nanos(self.kept_for_ns),
            totals: now.totals,
            lost: lost(&before, &now),
            whole: again.is_over(),
        })
    }
}

impl Kept for Journal {
    fn head(&self) -> &Head {
        &self.head
    }
}

/// What a journal of such passes begins with. Limits may be others than those that it was begun with.
pub fn head(plan: &Plan, subject: Subject) -> Head {
    Head::new(SCHEMA, subject, vec![word("seed", plan.seed), word("capacity", plan.claimed.get())])
}

/// What was as written and is not any more.
fn lost(before: &Full, now: &Full) -> Bytes {
    if before.bad_left_out + now.bad_left_out > 0 {
        return now.bad_bytes().saturating_sub(before.bad_bytes());
    }
    let overlap = |one: &Run, other: &Run| {
        let (from, to) = (one.at.max(other.at), (one.at + one.length).min(other.at + other.length));
        to.saturating_sub(from)
    };
    let known = |run: &Run| before.bad.iter().map(|other| overlap(run, other)).sum::<Bytes>();
    let is_bad = |run: &&Run| run.found != Found::Kept;
    now.bad.iter().filter(is_bad).map(|run| run.length.saturating_sub(known(run))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_journal::JournalError;

    fn plan() -> Plan {
        Plan {
            claimed: Bytes::mib(32),
            block: Bytes(512),
            seed: 4,
            most_passes: Some(3),
            until: None,
            limit: None,
            reread_after: None,
        }
    }

    fn subject() -> Subject {
        Subject { identity: "a".to_owned(), capacity_bytes: 32 << 20 }
    }

    #[test]
    fn a_journal_serves_the_same_order_whatever_the_limits() {
        let mut journal = Journal::new(&plan(), subject(), 17);
        journal.sessions = 2;
        journal.before = Registers::of(Some(Health { used_percent: Some(7), ..Health::default() }));
        journal.passes.push(KeptPass { written: 5, timed: [Some((1, 2)), None], ..KeptPass::default() });
        journal.filling = Some(Filling::new(&plan().pass(2).unwrap(), subject(), 18));
        let text = journal.text().unwrap();
        let further = Plan { most_passes: Some(9), reread_after: Some(Nanos::secs(9)), ..plan() };
        assert_eq!(Journal::read(&text, &head(&further, subject())), Ok(journal));
        let another = Journal::read(&text, &head(&Plan { seed: 5, ..plan() }, subject()));
        assert_eq!(another, Err(JournalError::OtherWish { what: "seed: 4".to_owned() }));
    }

    #[test]
    fn what_was_bad_before_is_not_lost_later() {
        let run = |at: u64, length: u64| Run { at: Bytes(at), length: Bytes(length), found: Found::ReadFailed };
        let full = |bad: Vec<Run>| Full {
            totals: Totals { unreadable: bad.iter().map(|run| run.length).sum(), ..Totals::default() },
            bad,
            ..Full::default()
        };
        let before = full(vec![run(0, 4096), run(65_536, 8192)]);
        let now = full(vec![run(0, 8192), run(69_632, 8192), run(131_072, 4096)]);
        assert_eq!(lost(&before, &now), Bytes(4096 + 4096 + 4096));
        let many = Full { bad_left_out: 1, ..now };
        assert_eq!(lost(&before, &many), Bytes(8192));
    }
}
