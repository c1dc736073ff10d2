//! What is kept while a space is filled and read, so that the same command goes on where it was stopped, on the same part only.

use super::PIECES;
use super::plan::FullPlan;
use super::tally::Tally;
use flashscope_journal::{Head, Journal, Subject, word};
use flashscope_model::capacity::Full;
use flashscope_model::run::Cost;
use flashscope_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Name and version of the format.
const SCHEMA: &str = "flashscope.filling/1";

/// How far a full test is, and what it saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Filling {
    #[serde(flatten)]
    head: Head,
    /// What the tags of this test bear.
    generation: u32,
    /// How often it was begun.
    pub(crate) sessions: u32,
    pub(crate) pass: Pass,
    /// Number of the next request of the pass.
    pub(crate) next: u64,
    pub(crate) tally: Tally,
    /// Addresses of pieces whose write failed.
    pub(crate) unwritten: BTreeSet<u64>,
    pushed: u64,
    written: u64,
    read: u64,
    time_ns: u64,
}

/// What is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pass {
    Write,
    /// The first requests once more, …
    Push,
    /// … and all others are read.
    Read,
    /// As many of those once more, …
    PushAgain,
    /// … and the first are read.
    ReadFirst,
    Over,
}

impl Pass {
    pub(crate) const ALL: [Pass; 6] =
        [Pass::Write, Pass::Push, Pass::Read, Pass::PushAgain, Pass::ReadFirst, Pass::Over];

    /// Numbers of the requests of the pass.
    pub(crate) fn numbers(self, plan: &FullPlan) -> std::ops::Range<u64> {
        let (all, push) = (plan.numbers(), plan.push_numbers());
        match self {
            Pass::Write => 0..all,
            Pass::Push | Pass::ReadFirst => 0..push,
            Pass::Read => push..all,
            Pass::PushAgain => push..push * 2,
            Pass::Over => 0..0,
        }
    }

    /// The one behind it.
    pub(crate) fn next(self) -> Pass {
        let at = Pass::ALL.iter().position(|pass| *pass == self).unwrap_or(Pass::ALL.len());
        Pass::ALL.get(at + 1).copied().unwrap_or(Pass::Over)
    }

    pub(crate) fn writes(self) -> bool {
        matches!(self, Pass::Write | Pass::Push | Pass::PushAgain)
    }

    /// Whether it writes what stands there already.
    pub(crate) fn pushes(self) -> bool {
        matches!(self, Pass::Push | Pass::PushAgain)
    }
}

impl Filling {
    /// One that is to begin, with tags of this generation.
    pub fn new(plan: &FullPlan, subject: Subject, generation: u32) -> Filling {
        Filling {
            head: head(plan, subject),
            generation,
            sessions: 0,
            pass: Pass::Write,
            next: 0,
            tally: Tally::default(),
            unwritten: BTreeSet::new(),
            pushed: 0,
            written: 0,
            read: 0,
            time_ns: 0,
        }
    }

    /// One of a space that was written by somebody: all of it is read.
    pub fn reading(plan: &FullPlan, subject: Subject, generation: u32) -> Filling {
        Filling { pass: Pass::Read, ..Filling::new(plan, subject, generation) }
    }

    /// Size of the space that a kept one is of; `None` where it is none.
    pub fn space(text: &str) -> Option<Bytes> {
        let filling: Filling = serde_json::from_str(text).ok()?;
        Some(Bytes(filling.head.subject().capacity_bytes))
    }

    /// Whether nothing was done yet.
    pub fn is_new(&self) -> bool {
        self.sessions == 0
    }

    /// Whether all was done.
    pub fn is_over(&self) -> bool {
        self.pass == Pass::Over
    }

    /// What the tags of this test bear.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// What is still written where nothing fails.
    pub fn writes_needed(&self, plan: &FullPlan) -> Bytes {
        self.left(plan, Pass::writes).min(plan.writes())
    }

    /// What is still written at most: where every request fails and is done again in pieces, and those in smaller ones.
    pub fn writes_left(&self, plan: &FullPlan) -> Bytes {
        let written = self.left(plan, Pass::writes);
        if self.pass == Pass::Write { written + plan.claimed / 2 * 3 } else { written }
    }

    /// What is left of such passes, or a little more.
    fn left(&self, plan: &FullPlan, is: fn(Pass) -> bool) -> Bytes {
        let passes = Pass::ALL.into_iter().skip_while(|pass| *pass != self.pass).filter(|pass| is(*pass));
        let requests = passes.map(|pass| {
            let numbers = pass.numbers(plan);
            let from = if pass == self.pass { self.next.max(numbers.start) } else { numbers.start };
            numbers.end.saturating_sub(from)
        });
        plan.request * requests.sum::<u64>()
    }

    /// What it saw by now.
    pub fn seen(&self, plan: &FullPlan) -> Full {
        Full { pushed: Bytes(self.pushed), sessions: self.sessions, ..self.tally.told(plan) }
    }

    /// What could not be written.
    pub fn unwritten(&self, plan: &FullPlan) -> Bytes {
        PIECES[1].max(plan.block) * self.unwritten.len() as u64
    }

    /// What it cost by now, over all sessions.
    pub fn cost(&self) -> Cost {
        let (read, written, time) = (Bytes(self.read), Bytes(self.written), Nanos(self.time_ns));
        Cost { read, written, time, ..Cost::default() }
    }

    /// What of all that is to be moved is done, and all of it.
    pub(crate) fn moved(&self, plan: &FullPlan) -> (Bytes, Bytes) {
        let numbers = Pass::ALL.iter().map(|pass| pass.numbers(plan));
        let all = plan.request * numbers.map(|numbers| numbers.end - numbers.start).sum::<u64>();
        (all - self.left(plan, |_| true), all)
    }

    pub(crate) fn spend(&mut self, written: Bytes, read: Bytes, time: Nanos) {
        self.written += written.get();
        self.read += read.get();
        self.time_ns += time.get();
        if self.pass.pushes() {
            self.pushed += written.get();
        }
    }
}

impl Journal for Filling {
    fn head(&self) -> &Head {
        &self.head
    }
}

/// What a journal of such a test begins with.
pub fn head(plan: &FullPlan, subject: Subject) -> Head {
    let wish = vec![
        word("order", plan.order.word()),
        word("seed", plan.seed),
        word("request", plan.request.get()),
        word("claimed", plan.claimed.get()),
        word("push", plan.push.get()),
    ];
    Head::new(SCHEMA, subject, wish)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_journal::JournalError;
    use flashscope_model::capacity::PassOrder;

    #[test]
    fn a_journal_serves_the_same_plan_only() {
        let subject = Subject { identity: "a".to_owned(), capacity_bytes: 1 << 30 };
        let plan = FullPlan::new(Bytes::gib(1), Bytes(512), PassOrder::Sequential, 4).unwrap();
        let mut filling = Filling::new(&plan, subject.clone(), 17);
        (filling.sessions, filling.next) = (2, 99);
        filling.unwritten.insert(4096);
        let text = filling.text().unwrap();
        assert_eq!(Filling::read(&text, &head(&plan, subject.clone())), Ok(filling));
        let shuffled = FullPlan::new(Bytes::gib(1), Bytes(512), PassOrder::Shuffled, 4).unwrap();
        let another = Filling::read(&text, &head(&shuffled, subject));
        assert_eq!(another, Err(JournalError::OtherWish { what: "order: sequential".to_owned() }));
    }
}
