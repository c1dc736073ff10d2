//! The table of quantiles, from a fleet of its own.

use super::{Life, live};
use crate::DrawError;
use flashscope_infer::endurance::{Course, Quantiles};
use rayon::prelude::*;

/// Seed of the development fleet, from which the table is made; it judges nothing.
pub const TABLE_SEED: u64 = 16_900;
/// Devices of that fleet that stand for all of it where the table is looked at.
const SAMPLED: u32 = 12;

/// What the clues came to on the first devices of the development fleet, a line for each: device, regime and units of the scale.
/// Where this is not what it was when the table was made, the table is stale.
///
/// # Errors
/// As [`super::worn_out`].
pub fn samples() -> Result<String, DrawError> {
    let mut text = String::new();
    for index in 0..SAMPLED {
        for (regime, units) in cases(TABLE_SEED, index)? {
            text.push_str(&format!("{index},{regime},{units:.6}\n"));
        }
    }
    Ok(text)
}

/// Counts how many units of its scale had passed at the first error, over this number of devices.
///
/// # Errors
/// As [`super::worn_out`].
pub fn table(seed: u64, devices: u32) -> Result<Quantiles, DrawError> {
    let all = (0..devices).into_par_iter().with_max_len(1);
    let cases: Result<Vec<Vec<(String, f64)>>, DrawError> = all.map(|index| cases(seed, index)).collect();
    Ok(Quantiles::count(&cases?.concat()))
}

/// Moments between which a clue changes little; all of a life would count long ones more often.
const MOMENTS: usize = 12;

fn cases(seed: u64, index: u32) -> Result<Vec<(String, f64)>, DrawError> {
    let Some(life) = live(seed, index)? else { return Ok(Vec::new()) };
    let Life { before, claimed, .. } = life;
    let (from, to) = life.first_error();
    let first = (from + to) / 2.0;
    let at = |moment: usize| {
        let passes = 1 + (life.passes.len() - 1) * moment / MOMENTS;
        let clue = Course::of(before.as_ref(), &life.passes[..passes], claimed).clue()?;
        Some((clue.regime().to_owned(), clue.units(first)))
    };
    Ok((0..MOMENTS).filter_map(at).collect())
}
