//! Whether the number of units that is too many in order is too many at random as well, where no count at random stands out.
//!
//! A log of one unit each is closed for either order, and what that costs may be less than a fall beside writes that are
//! copied for anyway. The trials beyond the limit in order are held against those within it, all counts together.

use super::trial::LiveCount;
use crate::numbers::median;
use flashscope_stats::test::cliffs_delta;
use flashscope_units::Bytes;

/// Trials at random within the limit in order, and those beyond.
pub(super) struct Split {
    /// Size of each write.
    pub(super) block: Bytes,
    /// Seconds of one write within and beyond.
    pub(super) seconds: (f64, f64),
    /// Cliff's δ of the rounds.
    pub(super) delta: f64,
    /// Rounds of the side that has fewer of them.
    pub(super) rounds: usize,
}

impl Split {
    /// At each block size of these trials that has counts up to `good` and above.
    pub(super) fn all(at_random: &[LiveCount], good: u32) -> Vec<Split> {
        let mut blocks: Vec<Bytes> = at_random.iter().map(|trial| trial.block).collect();
        blocks.dedup();
        let of = |block: Bytes| {
            let (within, beyond): (Vec<&LiveCount>, Vec<&LiveCount>) =
                at_random.iter().filter(|trial| trial.block == block).partition(|trial| trial.count <= good);
            let [within, beyond] = [within, beyond]
                .map(|trials| trials.iter().flat_map(|trial| trial.seconds.iter().copied()).collect::<Vec<f64>>());
            Some(Split {
                block,
                seconds: median(&within).zip(median(&beyond))?,
                delta: cliffs_delta(&beyond, &within).ok()?,
                rounds: within.len().min(beyond.len()),
            })
        };
        blocks.into_iter().filter_map(of).collect()
    }

    /// How much longer a write beyond takes.
    pub(super) fn factor(&self) -> f64 {
        self.seconds.1 / self.seconds.0
    }
}
