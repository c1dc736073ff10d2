//! Memory that keeps what was read last, by lines; the line that was not used for longest makes way.

use super::params::ReadBufferParams;
use crate::ftl::Extent;
use flashscope_units::{Bytes, Instant};
use std::collections::VecDeque;

/// Lines with the time from which on they are there, the one used last at the back.
#[derive(Clone, Debug)]
pub(super) struct ReadBuffer {
    line: Bytes,
    most: usize,
    lines: VecDeque<(u64, Instant)>,
}

impl ReadBuffer {
    pub(super) fn new(params: &ReadBufferParams) -> ReadBuffer {
        ReadBuffer { line: params.line, most: (params.size / params.line) as usize, lines: VecDeque::new() }
    }

    /// When all of a range is there, where it is or will be.
    pub(super) fn ready(&self, extent: Extent) -> Option<Instant> {
        let of = |line: u64| self.lines.iter().find(|(held, _)| *held == line).map(|(_, ready)| *ready);
        self.numbers(extent).try_fold(Instant::ORIGIN, |latest, line| Some(latest.max(of(line)?)))
    }

    /// A range was read: its lines are the newest.
    pub(super) fn keep(&mut self, extent: Extent, ready: Instant) {
        for line in self.numbers(extent) {
            let before = self.lines.iter().position(|(held, _)| *held == line).and_then(|at| self.lines.remove(at));
            self.lines.push_back((line, before.map_or(ready, |(_, earlier)| earlier.min(ready))));
            if self.lines.len() > self.most {
                self.lines.pop_front();
            }
        }
    }

    pub(super) fn forget(&mut self, extent: Extent) {
        let gone = self.numbers(extent);
        self.lines.retain(|(line, _)| !gone.contains(line));
    }

    pub(super) fn state_bytes(&self) -> usize {
        self.lines.capacity() * size_of::<(u64, Instant)>()
    }

    fn numbers(&self, extent: Extent) -> std::ops::Range<u64> {
        extent.start / self.line..extent.end().align_up(self.line) / self.line
    }
}
