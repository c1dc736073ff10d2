//! Which requests had ended when another was issued: what a dependent replay waits for, and what any replay is held against.

use crate::Traced;
use flashscope_units::{Instant, Nanos};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Follows the trace's own order beside that of the replay.
#[derive(Default)]
pub(super) struct Order {
    /// Ends in the trace of requests that had not ended when the next one was issued, the earliest on top, each with its number.
    ends: BinaryHeap<Reverse<(Instant, u64)>>,
    /// Requests by their numbers, from `base` on.
    marks: VecDeque<Mark>,
    base: u64,
    /// Those that are awaited.
    awaited: u64,
    /// When the last of those that the next one waits for ended in the replay.
    ready: Option<Instant>,
    last_issue: Option<Instant>,
    violations: u64,
}

/// A request that was issued.
struct Mark {
    role: Role,
    /// When it ended in the replay.
    ended: Option<Instant>,
}

#[derive(PartialEq)]
enum Role {
    /// It had not ended in the trace when the next request was issued.
    Open,
    /// It had, so that the next request waits for it, or goes ahead of it.
    Passed,
    /// The trace does not tell when it ended: nothing waits for it.
    Unknown,
}

impl Order {
    /// The next request of the trace, as it was: how long it was issued after the last end before it, or where nothing ended
    /// since, after the request before it.
    pub(super) fn look_ahead(&mut self, traced: &Traced) -> Nanos {
        self.ready = None;
        let mut since = self.last_issue.unwrap_or(traced.issued);
        while let Some(Reverse((end, number))) = self.ends.peek().copied().filter(|top| top.0.0 <= traced.issued) {
            self.ends.pop();
            since = since.max(end);
            let mark = &mut self.marks[(number - self.base) as usize];
            mark.role = Role::Passed;
            match mark.ended {
                Some(at) => self.ready = self.ready.max(Some(at)),
                None => self.awaited += 1,
            }
        }
        self.forget();
        self.last_issue = Some(traced.issued);
        traced.issued.since(since)
    }

    /// Whether something is outstanding that the next request waits for.
    pub(super) fn waits(&self) -> bool {
        self.awaited > 0
    }

    /// When the last of what it waits for ended.
    pub(super) fn ready(&self) -> Option<Instant> {
        self.ready
    }

    /// The next request is issued; they are numbered from 0.
    pub(super) fn issue(&mut self, number: u64, traced: &Traced) {
        self.violations += u64::from(self.waits());
        let role = match traced.completed {
            Some(completed) => {
                self.ends.push(Reverse((completed, number)));
                Role::Open
            }
            None => Role::Unknown,
        };
        self.marks.push_back(Mark { role, ended: None });
    }

    /// A request ended in the replay.
    pub(super) fn end(&mut self, number: u64, at: Instant) {
        let mark = &mut self.marks[(number - self.base) as usize];
        mark.ended = Some(at);
        if mark.role == Role::Passed {
            self.awaited -= 1;
            self.ready = self.ready.max(Some(at));
        }
        self.forget();
    }

    /// Requests that were issued while one was outstanding that had ended before them in the trace.
    pub(super) fn violations(&self) -> u64 {
        self.violations
    }

    /// Lets go of those of which nothing more is asked.
    fn forget(&mut self) {
        while self.marks.front().is_some_and(|mark| mark.ended.is_some() && mark.role != Role::Open) {
            self.marks.pop_front();
            self.base += 1;
        }
    }
}
