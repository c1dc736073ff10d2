//! What a quick test writes to a device of a size, within a budget.

use flashscope_stats::Rng;
use flashscope_units::Bytes;
use std::fmt;

/// What a quick test writes at most where nobody says otherwise.
pub const USUAL_BUDGET: Bytes = Bytes::mib(64);
/// A test that may write less finds too little to claim anything.
pub const LEAST_BUDGET: Bytes = Bytes::kib(256);

/// Parts of the budget, of 16, for the region at the start of the device: two rounds that narrow the size down may write as much
/// again each, to push what they wrote out of a cache. …
const REGION_PARTS: u64 = 4;
/// … but as many, and no push, where the device is so large that the blocks need the rest.
const MOST_REGION_PARTS: u64 = 8;
/// Parts of the budget, of 16, for the blocks all over the device.
const BLOCK_PARTS: u64 = 3;
/// See [`BLOCK_PARTS`]: where the device is so large.
const MOST_BLOCK_PARTS: u64 = 6;
/// The region takes at most this part of the device.
const REGION_OF_DEVICE: u64 = 8;
/// Fewest blocks all over a device where nobody says otherwise: damage of 1 % is missed with 0.6 % probability.
pub const FEWEST_BLOCKS: u64 = 512;
/// Blocks lie at most this share of the region apart on average, so that the gaps between them, which vary by twice
/// [`JITTER`], are no larger than the region.
const SPACING: f64 = 0.75;
/// How far a block lies from its place in a regular row at most, in spacings: a fake may keep what is written at regular
/// places.
const JITTER: f64 = 0.16;

/// What a quick test writes in its first pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Size of the device as it says.
    pub claimed: Bytes,
    /// Size of a block.
    pub block: Bytes,
    /// Addresses of the blocks, rising.
    pub places: Vec<Bytes>,
    /// Length of the region at the start of the device.
    pub region: Bytes,
    /// The largest gap between two blocks.
    pub gap: Bytes,
    /// What the whole test may write.
    pub budget: Bytes,
}

/// Why a device cannot be tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// The budget is too small.
    BudgetTooSmall {
        /// The least that makes sense.
        least: Bytes,
    },
    /// The device is too small.
    DeviceTooSmall {
        /// The least that makes sense.
        least: Bytes,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BudgetTooSmall { least } => {
                write!(f, "a test of the capacity must write at least {least}\nhint: add --max-write {least} or more")
            }
            Self::DeviceTooSmall { least } => {
                write!(f, "a device of less than {least} cannot be tested\nhint: name a larger device")
            }
        }
    }
}

impl std::error::Error for PlanError {}

impl Plan {
    /// Smallest device that a quick test makes sense on.
    pub const LEAST_DEVICE: Bytes = Bytes::mib(1);

    /// Plans for a device of this size and logical block. The same seed gives the same places.
    ///
    /// # Errors
    /// Where the budget or the device is too small for any conclusion.
    pub fn new(claimed: Bytes, block: Bytes, budget: Bytes, seed: u64) -> Result<Plan, PlanError> {
        Plan::of_blocks(FEWEST_BLOCKS, claimed, block, budget, seed)
    }

    /// The same with another number of blocks all over the device, where no more are needed to cover every wrap: fewer of them
    /// find less damage.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn of_blocks(fewest: u64, claimed: Bytes, block: Bytes, budget: Bytes, seed: u64) -> Result<Plan, PlanError> {
        if claimed < Plan::LEAST_DEVICE {
            return Err(PlanError::DeviceTooSmall { least: Plan::LEAST_DEVICE });
        }
        let least = LEAST_BUDGET.max(block * 256);
        if budget < least {
            return Err(PlanError::BudgetTooSmall { least });
        }
        let of_budget = |parts: u64| budget / 16 * parts;
        let most = (claimed / REGION_OF_DEVICE).align_down(block);
        let mut region = of_budget(REGION_PARTS).align_down(block).min(most);
        let wanted = |region: Bytes| (claimed.as_f64() / (SPACING * region.as_f64())).ceil() as u64;
        let mut afford = of_budget(BLOCK_PARTS).get() / block.get();
        if wanted(region) > afford {
            // A large device: a larger region needs fewer blocks.
            region = of_budget(MOST_REGION_PARTS).align_down(block).min(most);
            afford = of_budget(MOST_BLOCK_PARTS).get() / block.get();
        }
        let outside = (claimed - region).get() / block.get();
        let count = wanted(region).max(fewest).min(afford).min(outside / 2).max(1);
        let places = places(claimed, block, region, count, seed);
        let edges = [region].into_iter().chain(places.iter().copied()).zip(places.iter().copied().chain([claimed]));
        let gap = edges.map(|(one, next)| next.saturating_sub(one)).max().unwrap_or(claimed);
        Ok(Plan { claimed, block, places, region, gap, budget })
    }

    /// What the first pass writes.
    pub fn first_pass(&self) -> Bytes {
        self.region + self.block * self.places.len() as u64
    }
}

/// Blocks in a row that is not quite regular, behind the region, at powers of two, and at the end of the device.
fn places(claimed: Bytes, block: Bytes, region: Bytes, count: u64, seed: u64) -> Vec<Bytes> {
    let mut rng = Rng::new(seed ^ 0xcafe);
    let first = region.get() / block.get();
    let blocks = claimed.get() / block.get();
    let spacing = (blocks - first) as f64 / count as f64;
    let place = |number: u64| {
        let moved = number as f64 + 0.5 + JITTER * (2.0 * rng.unit() - 1.0);
        (first + (spacing * moved) as u64).clamp(first, blocks - 1)
    };
    let row: Vec<u64> = (0..count).map(place).collect();
    let powers = (0..63).map(|power| (1_u64 << power) / block.get()).filter(|at| *at >= first && *at < blocks);
    let mut places: Vec<u64> = row.into_iter().chain(powers).chain([first, blocks - 1]).collect();
    places.sort_unstable();
    places.dedup();
    places.into_iter().map(|at| block * at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wrap_is_covered_within_the_usual_budget_up_to_a_terabyte() {
        for (capacity, block) in [
            (Bytes::mib(1), 512),
            (Bytes::mib(100) + Bytes(512), 512),
            (Bytes::gib(4), 512),
            (Bytes::gib(32), 512),
            (Bytes::gib(128), 4096),
            (Bytes(1_000_204_886_016), 512),
        ] {
            let plan = Plan::new(capacity, Bytes(block), USUAL_BUDGET, 7).unwrap();
            assert!(plan.gap <= plan.region, "{capacity}: {} {}", plan.gap, plan.region);
            assert!(plan.first_pass() <= USUAL_BUDGET, "{capacity}: {}", plan.first_pass());
            assert!(plan.places.iter().all(|place| *place >= plan.region && *place < capacity));
            assert_eq!(plan.places.last(), Some(&(capacity - Bytes(block))));
        }
    }

    #[test]
    fn a_larger_budget_covers_every_wrap_with_fewer_blocks() {
        let of = |fewest: u64, budget: u64| {
            let plan = Plan::of_blocks(fewest, Bytes::gib(32), Bytes(512), Bytes::mib(budget), 7).unwrap();
            assert!(plan.gap <= plan.region, "{} {}", plan.gap, plan.region);
            plan.places.len()
        };
        let (usual, large, fewest) = (of(FEWEST_BLOCKS, 64), of(FEWEST_BLOCKS, 512), of(64, 512));
        assert!(usual > 2 * large && large > FEWEST_BLOCKS as usize && fewest < 400, "{usual} {large} {fewest}");
    }

    #[test]
    fn what_is_too_small_is_refused() {
        let check = |capacity, budget, expect| assert_eq!(Plan::new(capacity, Bytes(512), budget, 1).err(), expect);
        check(Bytes::gib(1), Bytes::mib(1), None);
        check(Bytes::gib(1), Bytes::kib(64), Some(PlanError::BudgetTooSmall { least: LEAST_BUDGET }));
        check(Bytes::kib(512), USUAL_BUDGET, Some(PlanError::DeviceTooSmall { least: Plan::LEAST_DEVICE }));
    }
}
