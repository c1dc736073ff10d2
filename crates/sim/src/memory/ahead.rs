//! Reading what was not asked for yet: behind enough reads in a row, the next bytes are fetched step by step.

use super::params::ReadAheadParams;
use crate::ftl::{Extent, Ftl, Work};
use flashscope_units::{Bytes, Instant};
use std::collections::VecDeque;

/// One stream of reads, and what was fetched for it.
#[derive(Clone, Debug)]
pub(super) struct ReadAhead {
    params: ReadAheadParams,
    /// Where the last read ended, and how many came in a row.
    end: Bytes,
    in_a_row: u32,
    /// Fetched steps without a gap, oldest first, each with the time at which it is there.
    steps: VecDeque<(Extent, Instant)>,
}

impl ReadAhead {
    pub(super) fn new(params: &ReadAheadParams) -> ReadAhead {
        ReadAhead { params: params.clone(), end: Bytes(u64::MAX), in_a_row: 0, steps: VecDeque::new() }
    }

    /// When all of a range is there, where it was fetched.
    pub(super) fn ready(&self, extent: Extent) -> Option<Instant> {
        let (first, last) = (self.steps.front()?.0.start, self.steps.back()?.0.end());
        if extent.start < first || extent.end() > last {
            return None;
        }
        let parts = self.steps.iter().filter(|(step, _)| step.start < extent.end() && extent.start < step.end());
        parts.map(|(_, ready)| *ready).max()
    }

    /// A range was read, done at `done`: keeps the window behind it full, where reads come in a row.
    pub(super) fn go_on(&mut self, extent: Extent, done: Instant, capacity: Bytes, mapping: &mut impl Ftl) {
        let goes_on = extent.start == self.end;
        self.in_a_row = if goes_on { self.in_a_row.saturating_add(1) } else { 1 };
        self.end = extent.end();
        if !goes_on {
            self.steps.clear();
        }
        if self.in_a_row < self.params.trigger {
            return;
        }
        while self.steps.front().is_some_and(|(step, _)| step.end() <= extent.end()) {
            self.steps.pop_front();
        }
        let mut at = self.steps.back().map_or(extent.end(), |(step, _)| step.end());
        let end = (extent.end() + self.params.window).min(capacity);
        // A whole step at a time: where less has room, it waits for more.
        while at + self.params.step <= end {
            let step = Extent::new(at, self.params.step);
            self.steps.push_back((step, mapping.serve(done, Work::Fetch(step))));
            at = step.end();
        }
    }

    pub(super) fn forget(&mut self, extent: Extent) {
        if self.steps.iter().any(|(step, _)| step.start < extent.end() && extent.start < step.end()) {
            self.steps.clear();
        }
    }
}
