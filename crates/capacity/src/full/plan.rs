//! In which order a full test goes over a space.

use crate::plan::PlanError;
use flashscope_model::capacity::{Full, PassOrder};
use flashscope_stats::Rng;
use flashscope_units::Bytes;

/// A request: what a card does at its best rate, and little enough that not much is looked at again where it fails.
const REQUEST: Bytes = Bytes::mib(1);
/// Requests of a part that is moved as one where the order is shuffled, at least: large erase units are filled in order.
const TOGETHER: u64 = 16;
/// Parts at most: their order is a list.
const MOST_PARTS: u64 = 1 << 16;
/// What is written once more to push the rest out of a cache: this part of the space …
const PUSH_PART: u64 = 16;
/// … and at most this much: more than the memory of any small device.
const MOST_PUSH: Bytes = Bytes::gib(1);

/// What a full test does to a space.
#[derive(Clone, Debug)]
pub struct FullPlan {
    /// What is filled.
    pub claimed: Bytes,
    /// The logical block.
    pub block: Bytes,
    /// In which order.
    pub order: PassOrder,
    /// Size of a request.
    pub request: Bytes,
    /// What is written again, so that a cache cannot answer: the first requests before the others are read, and as much of the
    /// others before these are.
    pub push: Bytes,
    /// The order follows from it.
    pub seed: u64,
    /// Requests of a part.
    together: u64,
    /// The parts as they follow each other; empty where that is by address.
    parts: Vec<u32>,
}

impl FullPlan {
    /// Smallest space that a full test makes sense on.
    pub const LEAST: Bytes = Bytes::mib(1);

    /// Plans for a space of this size and logical block.
    ///
    /// # Errors
    /// Where the space is too small for any conclusion.
    pub fn new(claimed: Bytes, block: Bytes, order: PassOrder, seed: u64) -> Result<FullPlan, PlanError> {
        if claimed < FullPlan::LEAST {
            return Err(PlanError::DeviceTooSmall { least: FullPlan::LEAST });
        }
        let claimed = claimed.align_down(block);
        let request = REQUEST.max(block);
        let push = (claimed / PUSH_PART).min(MOST_PUSH).align_down(request);
        let requests = claimed.get().div_ceil(request.get());
        let together = requests.div_ceil(MOST_PARTS).max(TOGETHER);
        let mut parts = Vec::new();
        if order == PassOrder::Shuffled {
            parts = (0..requests.div_ceil(together) as u32).collect();
            Rng::new(seed).shuffle(&mut parts);
        }
        Ok(FullPlan { claimed, block, order, request, push, seed, together, parts })
    }

    /// The same without writing anything twice: for a space that no cache of the device answers for.
    pub fn without_push(self) -> FullPlan {
        FullPlan { push: Bytes::ZERO, ..self }
    }

    /// What it writes.
    pub fn writes(&self) -> Bytes {
        self.claimed + self.push * 2
    }

    /// Numbers of requests of one pass; some may lie behind the end.
    pub(crate) fn numbers(&self) -> u64 {
        self.claimed.get().div_ceil(self.request.get() * self.together) * self.together
    }

    /// Numbers of the requests that push.
    pub(crate) fn push_numbers(&self) -> u64 {
        self.push.get() / self.request.get()
    }

    /// Address and length of a request; `None` behind the end.
    pub(crate) fn span(&self, number: u64) -> Option<(Bytes, Bytes)> {
        let (part, within) = (number / self.together, number % self.together);
        let part = self.parts.get(part as usize).map_or(part, |part| u64::from(*part));
        let at = self.request * (part * self.together + within);
        (at < self.claimed).then(|| (at, self.request.min(self.claimed - at)))
    }

    /// Length of the cells that time over address is told in: whole requests.
    pub(crate) fn cell(&self) -> Bytes {
        Bytes(self.claimed.get().div_ceil(Full::MOST_CELLS)).align_up(self.request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_comes_once_in_either_order() {
        for order in [PassOrder::Sequential, PassOrder::Shuffled] {
            for claimed in [Bytes::mib(1), Bytes::mib(33) + Bytes(512), Bytes::mib(1600)] {
                let plan = FullPlan::new(claimed, Bytes(512), order, 9).unwrap();
                let mut spans: Vec<(Bytes, Bytes)> =
                    (0..plan.numbers()).filter_map(|number| plan.span(number)).collect();
                let in_order = spans.is_sorted();
                spans.sort();
                let end = spans.iter().fold(Bytes::ZERO, |end, (at, length)| {
                    assert_eq!(*at, end);
                    end + *length
                });
                assert_eq!(end, claimed);
                assert_eq!(in_order, order == PassOrder::Sequential || claimed < Bytes::mib(17), "{claimed}");
                assert!(claimed.get().div_ceil(plan.cell().get()) <= Full::MOST_CELLS);
            }
        }
    }
}
