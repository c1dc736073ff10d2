//! How often a comparison is right: pairs of simulated parts whose true ratio is known, under drift, stalls and sessions.
//!
//! A pair is a drawn device and the same with all its times changed by one factor (`pair.rs`). What is true of it is the
//! ratio of two long runs without noise. Then runs are done by the design of [`flashscope_experiment::Campaign`]: short runs of the
//! same devices, each multiplied by what a host adds (`surroundings.rs`): a session that both sides of a block share, scatter
//! that is correlated from run to run, a slow trend, now and then a stall. Beside the campaign's verdict stands what others would have
//! said of the same runs (`readers.rs`), and what a number of blocks that was fixed before needs (`fixed.rs`).

mod fixed;
mod pair;
mod readers;
mod rows;
mod score;
mod surroundings;

pub(crate) use pair::{scale, slower};
pub use readers::Read;
pub use rows::{Row, Target, rows};
pub use score::{Figures, Share};

use crate::DrawError;
use flashscope_experiment::{Block, Campaign, Settings};
use flashscope_model::comparison::{Better, Family, Metric};
use flashscope_stats::Rng;
use flashscope_stats::rng::stream;
use flashscope_stats::test::Summary;
use pair::Pair;
use rayon::prelude::*;
pub(crate) use surroundings::Surroundings;

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Number of the first pair.
    pub first: u32,
    /// How many pairs.
    pub pairs: u32,
    /// The same seed draws the same pairs and the same noise.
    pub seed: u64,
    /// Scatter of a run about its session, as the standard deviation of its logarithm.
    pub scatter: f64,
    /// A live campaign is cut after so many blocks.
    pub most_blocks: u32,
}

/// Scatter of a quiet host and of a noisy one, as standard deviations of logarithms of rates.
pub const QUIET: f64 = 0.02;
/// See [`QUIET`].
pub const NOISY: f64 = 0.05;

/// A fixed number of blocks for what is said of intervals of a fixed number.
const FIXED_BLOCKS: u32 = 12;

/// How far the two sides are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// A true null: the same device twice.
    None,
    /// Somewhere from 2 to 30 %.
    Any,
    /// 5 %.
    Five,
    /// 10 %.
    Ten,
}

/// What came of one pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How far the sides were meant to be apart.
    pub distance: Distance,
    /// Logarithm of the true ratio, from long runs without noise.
    pub truth: f64,
    /// The campaign with a margin of 5 %, and with one of 10 %.
    pub campaigns: [Ended; 2],
    /// Whether an interval of a fixed number of blocks holds the truth; `None` where there is none.
    pub fixed_holds: Option<bool>,
    /// What others would have said of the same runs.
    pub readers: Read,
    /// Contrasts of all blocks, and of the first run of each side in them: for what a fixed number needs.
    pub contrasts: [Vec<f64>; 2],
}

/// How a campaign ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ended {
    /// Its verdict, in the terms of scoring.
    pub verdict: Said,
    /// Blocks that it took.
    pub blocks: u32,
    /// Whether the interval at the end holds the truth; `None` where there is none.
    pub holds: Option<bool>,
    /// Whether a difference was ever shown within the most blocks, had it gone on, and after how many.
    pub difference_after: Option<u32>,
}

/// A verdict in the terms of scoring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// Other above baseline.
    Higher,
    /// Other below baseline.
    Lower,
    /// The same within the margin.
    Same,
    /// Neither.
    Nothing,
    /// Nothing, because the baseline differed from itself.
    Withheld,
}

/// Margins that campaigns are judged by.
pub const MARGINS: [f64; 2] = [1.05, 1.10];

/// Draws the pairs, runs all their campaigns and reads them in every way; in the order of the pairs.
///
/// # Errors
/// Where no pair of devices can be drawn: the catalogue and the drawing no longer agree.
pub fn differences(plan: Plan) -> Result<Vec<Outcome>, DrawError> {
    (plan.first..plan.first.saturating_add(plan.pairs)).into_par_iter().map(|index| outcome(plan, index)).collect()
}

fn outcome(plan: Plan, index: u32) -> Result<Outcome, DrawError> {
    let distance = [Distance::None, Distance::Any, Distance::Five, Distance::None, Distance::Any, Distance::Ten]
        [index as usize % 6];
    let mut rng = Rng::new(stream(plan.seed, u64::from(index)));
    let mut pair = Pair::draw(plan.seed, index, distance, &mut rng)?;
    let truth = pair.truth();
    let mut surroundings = Surroundings::draw(plan.scatter, &mut rng);
    // Every campaign sees the same runs: how it decides is the only difference.
    let design = rng.next_u64();
    let mut orders = campaign(MARGINS[0], design);
    let runs: Vec<(Block, Vec<Run>)> = (0..plan.most_blocks)
        .map(|_| {
            let block = orders.next_block();
            surroundings.session();
            let runs = block.iter().map(|slot| surroundings.around(pair.run(slot.side))).collect();
            (block, runs)
        })
        .collect();
    let campaigns = MARGINS.map(|margin| ended(margin, design, &runs, truth));
    Ok(Outcome {
        distance,
        truth,
        campaigns,
        fixed_holds: fixed::holds(&runs, FIXED_BLOCKS, truth),
        readers: readers::read(&runs),
        contrasts: [fixed::of_blocks(&runs), fixed::of_pairs(&runs)],
    })
}

/// One run as a comparison sees it: its rate, and for those who look at requests, theirs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    /// Requests per second.
    rate: f64,
    /// Mean, standard deviation and number of the logarithms of service times.
    requests: Summary,
}

fn campaign(margin: f64, seed: u64) -> Campaign {
    let settings = Settings::new(0.95, margin, Family::All).expect("both lie within their ranges");
    let metric = Metric { name: "rate".to_owned(), unit: "IOPS".to_owned(), better: Better::Higher };
    Campaign::new(vec!["A".to_owned(), "B".to_owned()], vec![metric], settings, seed)
}

fn ended(margin: f64, seed: u64, runs: &[(Block, Vec<Run>)], truth: f64) -> Ended {
    let mut campaign = campaign(margin, seed);
    let mut ended: Option<Ended> = None;
    let mut difference_after = None;
    for (block, runs) in runs {
        let values: Vec<Vec<Option<f64>>> = runs.iter().map(|run| vec![Some(run.rate)]).collect();
        campaign.push(block, &values);
        let comparison = campaign.comparison();
        let row = &comparison.rows[0];
        if difference_after.is_none() && row.p_difference.is_some_and(|p| p <= 1.0 - comparison.confidence) {
            difference_after = Some(campaign.blocks());
        }
        if ended.is_none() && campaign.decided() {
            ended = Some(score::of(row, truth, campaign.blocks()));
        }
    }
    let comparison = campaign.comparison();
    let mut ended = ended.unwrap_or_else(|| score::of(&comparison.rows[0], truth, campaign.blocks()));
    ended.difference_after = difference_after;
    ended
}
