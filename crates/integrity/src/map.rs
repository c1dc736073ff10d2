//! What stands over a range, as runs that can be asked for any place.

use flashscope_device::{Holds, Stretch};
use flashscope_units::Bytes;

/// What stands from a place on, without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    start: Bytes,
    stretches: Vec<Stretch>,
    /// Where each stretch begins.
    starts: Vec<Bytes>,
}

impl Map {
    /// What a read from `start` on found.
    pub fn new(start: Bytes, stretches: Vec<Stretch>) -> Map {
        let mut end = start;
        let next = |one: &Stretch| {
            let at = end;
            end += one.length;
            at
        };
        let starts = stretches.iter().map(next).collect();
        Map { start, stretches, starts }
    }

    /// A range that holds what one write brought for it.
    pub fn written(start: Bytes, length: Bytes, generation: u32) -> Map {
        Map::new(start, vec![Stretch { length, holds: Holds::Tagged { generation, addressed: start } }])
    }

    /// Where it begins.
    pub fn start(&self) -> Bytes {
        self.start
    }

    /// Where it ends.
    pub fn end(&self) -> Bytes {
        self.starts.last().zip(self.stretches.last()).map_or(self.start, |(at, one)| *at + one.length)
    }

    /// Its runs, in order.
    pub(crate) fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// Where its runs begin, and its end.
    pub(crate) fn edges(&self) -> impl Iterator<Item = Bytes> {
        self.starts.iter().copied().chain([self.end()])
    }

    /// What stands between two places, each run with its start.
    pub(crate) fn between(&self, from: Bytes, to: Bytes) -> impl Iterator<Item = (Bytes, Holds)> {
        let first = self.starts.partition_point(|at| *at <= from).saturating_sub(1);
        let runs = self.starts[first..].iter().zip(&self.stretches[first..]);
        runs.take_while(move |(at, _)| **at < to).map(move |(at, one)| {
            let begins = (*at).max(from);
            (begins, shifted(one.holds, begins - *at))
        })
    }
}

/// The same run, from further on.
fn shifted(holds: Holds, by: Bytes) -> Holds {
    match holds {
        Holds::Tagged { generation, addressed } => Holds::Tagged { generation, addressed: addressed + by },
        other => other,
    }
}
