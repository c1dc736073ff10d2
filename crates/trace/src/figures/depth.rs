//! How many requests were outstanding whenever one was issued.

use crate::Traced;
use flashscope_model::trace::Depth;
use flashscope_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Depths are told apart up to this one, which stands for all deeper ones.
const DEEPEST: usize = 1024;

/// Counts depths.
#[derive(Default)]
pub(crate) struct Depths {
    ends: BinaryHeap<Reverse<Instant>>,
    /// Requests issued at each depth; empty before the first.
    counts: Vec<u64>,
    sum: u128,
    requests: u64,
    max: u32,
    /// A request without an end is outstanding for nobody knows how long.
    unknown: u64,
}

impl Depths {
    /// Counts a request, which was issued no earlier than those before it.
    #[inline]
    pub(crate) fn add(&mut self, request: &Traced) {
        let Some(completed) = request.completed else {
            self.unknown += 1;
            return;
        };
        while self.ends.peek().is_some_and(|Reverse(end)| *end <= request.issued) {
            self.ends.pop();
        }
        self.ends.push(Reverse(completed));
        self.count(self.ends.len());
    }

    /// Counts a request that was issued at a depth.
    #[inline]
    pub(crate) fn count(&mut self, depth: usize) {
        if self.counts.is_empty() {
            self.counts.resize(DEEPEST + 1, 0);
        }
        self.counts[depth.min(DEEPEST)] += 1;
        self.sum += depth as u128;
        self.requests += 1;
        self.max = self.max.max(depth as u32);
    }

    /// `None` where nobody knows of most requests how long they were outstanding.
    pub(crate) fn summary(&self) -> Option<Depth> {
        (self.requests > self.unknown).then(|| Depth {
            mean: self.sum as f64 / self.requests as f64,
            max: self.max,
            shares: self.shares().collect(),
        })
    }

    fn shares(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        let filled = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        filled.map(|(depth, count)| (depth as u32, *count as f64 / self.requests as f64))
    }
}

/// Largest difference of the distribution functions of two depths.
pub(crate) fn distance(one: &Depth, other: &Depth) -> f64 {
    let mut sums = [0.0f64; DEEPEST + 2];
    for (depth, share) in &one.shares {
        sums[*depth as usize] += share;
    }
    for (depth, share) in &other.shares {
        sums[*depth as usize] -= share;
    }
    let (_, most) =
        sums.iter().fold((0.0f64, 0.0f64), |(sum, most), share| (sum + share, most.max((sum + share).abs())));
    most
}
