//! The experiments of a diagnosis, in their order: reads before writes, cheap before dear.

use crate::memo::Memo;
use crate::situation::Situation;
use crate::{Choice, reading};
use flashscope_model::plan::Budget;
use flashscope_model::{DeviceFacts, Observations};
use flashscope_units::Nanos;

/// The next experiment of a diagnosis; `None` where nothing is left that the budget covers.
///
/// As [`crate::next`], for one question: which state a device is in.
pub fn next(
    device: &DeviceFacts,
    observations: &Observations,
    memo: &Memo,
    budget: Budget,
    seed: u64,
) -> Option<Choice> {
    if budget.time == Some(Nanos::ZERO) {
        return None;
    }
    let now = Situation::new(device, observations, memo, budget.write, seed);
    let subjects = [reading::floor, reading::survey];
    let choices = subjects.iter().filter_map(|choice| choice(&now));
    choices.into_iter().find(|choice| choice.experiment.bytes_written() <= budget.write)
}
