//! How often a mark in a history is right: simulated histories of one figure of one part, whose changes are known.
//!
//! A history is a rate, measured again and again over months: a level, scatter of one of three kinds (`draw.rs`), and
//! changes that were planted. What [`flashscope_stats::change::level_shifts`] says of it is held against them, beside
//! what others would have said of the same points (`readers.rs`).

mod draw;
mod readers;
mod rows;
mod score;

pub use draw::{Around, History, Planted, Planting};
pub use rows::rows;
pub use score::{Figures, Found, PerThousand, found};

use flashscope_stats::Rng;
use flashscope_stats::change::level_shifts;
use flashscope_stats::rng::stream;
use rayon::prelude::*;

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Number of the first history.
    pub first: u32,
    /// How many histories.
    pub histories: u32,
    /// The same seed draws the same histories.
    pub seed: u64,
    /// Scatter about the level, as the standard deviation of the logarithm.
    pub scatter: f64,
}

/// Confidence of the intervals that are looked at.
pub const CONFIDENCE: f64 = 0.95;

/// What came of one history.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What its points scatter like.
    pub around: Around,
    /// What was planted.
    pub planting: Planting,
    /// Its length.
    pub points: u32,
    /// What was found by us, by a band of 10 % and by Welch's t.
    pub readers: [Found; 3],
    /// Of our marks that are right: whether the interval of the place holds the truth, and that of the size.
    pub holds: Vec<[bool; 2]>,
}

/// Draws the histories and reads them in every way; in their order.
pub fn histories(plan: Plan) -> Vec<Outcome> {
    (plan.first..plan.first.saturating_add(plan.histories)).into_par_iter().map(|index| outcome(plan, index)).collect()
}

fn outcome(plan: Plan, index: u32) -> Outcome {
    let around = Around::ALL[index as usize % Around::ALL.len()];
    let planting = Planting::ALL[index as usize / Around::ALL.len() % Planting::ALL.len()];
    let mut rng = Rng::new(stream(plan.seed, u64::from(index)));
    let history = History::draw(around, planting, plan.scatter, &mut rng);
    let logs: Vec<f64> = history.rates.iter().map(|rate| rate.ln()).collect();
    // Histories are never shorter than what is asked for, and all rates are positive.
    let shifts = level_shifts(&logs, CONFIDENCE).map_or_else(|_| Vec::new(), |found| found.shifts);
    let places: Vec<usize> = shifts.iter().map(|shift| shift.start).collect();
    let holds = score::matches(&places, &history.places()).into_iter().map(|(mark, truth)| {
        let (shift, planted) = (&shifts[mark], history.planted[truth]);
        [(shift.earliest..=shift.latest).contains(&planted.at), shift.interval.contains(planted.size)]
    });
    let readers = [places.clone(), readers::band(&history.rates), readers::welch(&logs)];
    Outcome {
        around,
        planting,
        points: history.rates.len() as u32,
        holds: holds.collect(),
        readers: readers.map(|marks| found(&marks, &history.places())),
    }
}
