//! Which requests had ended when another was issued: what a dependent replay waits for, and what any replay is held against.

use crate::Traced;
use flashscope_units::{Instant, Nanos};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// Follows the trace's own order beside that of the replay.
#[derive(Default)]
pub(super) struct Order {
    /// Ends in the trace of requests that the next one need not have waited for, the earliest on top, each with its number.
    ends: BinaryHeap<Reverse<(Instant, u64)>>,
    /// When requests of `ends` ended in the replay.
    done: HashMap<u64, Instant>,
    /// Requests that had ended in the trace before the next one was issued, and are outstanding in the replay.
    awaited: HashSet<u64>,
    /// When the last of those that the next one waits for ended in the replay.
    ready: Option<Instant>,
    last_issue: Option<Instant>,
    violations: u64,
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
            match self.done.remove(&number) {
                Some(at) => self.ready = self.ready.max(Some(at)),
                None => {
                    self.awaited.insert(number);
                }
            }
        }
        self.last_issue = Some(traced.issued);
        traced.issued.since(since)
    }

    /// Whether something is outstanding that the next request waits for.
    pub(super) fn waits(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// When the last of what it waits for ended.
    pub(super) fn ready(&self) -> Option<Instant> {
        self.ready
    }

    /// The next request is issued.
    pub(super) fn issue(&mut self, number: u64, traced: &Traced) {
        self.violations += u64::from(self.waits());
        if let Some(completed) = traced.completed {
            self.ends.push(Reverse((completed, number)));
        }
    }

    /// A request ended in the replay.
    pub(super) fn end(&mut self, number: u64, at: Instant) {
        if self.awaited.remove(&number) {
            self.ready = self.ready.max(Some(at));
        } else {
            self.done.insert(number, at);
        }
    }

    /// Requests that were issued while one was outstanding that had ended before them in the trace.
    pub(super) fn violations(&self) -> u64 {
        self.violations
    }
}
