//! What is asked for.

use flashscope_capacity::{FullPlan, PlanError};
use flashscope_model::capacity::PassOrder;
use flashscope_model::endurance::{EndurancePlan, LifeLimit, Milestone};
use flashscope_stats::rng::{mix, stream};
use flashscope_units::{Bytes, Nanos};

/// Written after a pass in which writes failed, to see whether any go well.
const LOOKED_AT: Bytes = Bytes::mib(1);

/// What passes over a device are to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Size of the device.
    pub claimed: Bytes,
    /// The logical block.
    pub block: Bytes,
    /// The order of every pass follows from it.
    pub seed: u64,
    /// It ends after so many passes.
    pub most_passes: Option<u32>,
    /// It ends when this is reached.
    pub until: Option<Milestone>,
    /// It ends before more than this share of the rated life is spent.
    pub limit: Option<LifeLimit>,
    /// The data of the last pass are read again after this time.
    pub reread_after: Option<Nanos>,
}

impl Plan {
    /// Where nobody says what a device is rated for, it is taken for one of the least: 300 capacity-writes are what consumer
    /// drives and cards with three or four bits per cell come to by their data sheets at the lower end (TBW over capacity).
    pub const ASSUMED_CAPACITY_WRITES: u64 = 300;

    /// How a pass goes over the device, counted from 1. Nothing is written twice, as wear and not a cache is looked for.
    ///
    /// # Errors
    /// Where the device is too small for any conclusion.
    pub fn pass(&self, number: u32) -> Result<FullPlan, PlanError> {
        let seed = mix(stream(self.seed, u64::from(number)));
        Ok(FullPlan::new(self.claimed, self.block, PassOrder::Shuffled, seed)?.without_push())
    }

    /// Passes after which it ends at the latest, as far as that is known before the first one: registers may end it earlier.
    pub fn passes_at_most(&self) -> Option<u32> {
        let by_life = self.limit.map(|limit| {
            let passes = limit.share * limit.rated.as_f64() / self.claimed.as_f64().max(1.0);
            // A hair of a pass is rounding, as 5 % of 300 is.
            (passes + 1e-9).floor().min(f64::from(u32::MAX)) as u32
        });
        match (self.most_passes, by_life) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// What a pass writes at most: where every request fails and is done again in pieces, and those in smaller ones.
    pub fn pass_writes_at_most(&self) -> Bytes {
        self.claimed + self.claimed / 2 * 3 + LOOKED_AT
    }

    /// For the record.
    pub(crate) fn told(&self) -> EndurancePlan {
        EndurancePlan {
            seed: self.seed,
            claimed: self.claimed,
            request: self.pass(1).map_or(Bytes::ZERO, |pass| pass.request),
            most_passes: self.most_passes,
            until: self.until,
            limit: self.limit,
            reread_after: self.reread_after,
        }
    }
}
