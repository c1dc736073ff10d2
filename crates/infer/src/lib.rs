//! From observations to findings with confidence and evidence.
//!
//! Pure: no I/O, no clock, no randomness but what is passed in. [`infer`] draws conclusions from live
//! runs, stored records and pasted logs alike; [`next`] says which experiment would settle most next.
//! Each family of findings has a module of its own and is a function from [`Observations`] to
//! [`Estimate`](flashscope_model::Estimate)s.

use flashscope_model::{DeviceFacts, Experiment, Findings, Observations, plan::Budget};

/// All that can be concluded from what was observed; everything else is unknown, with a reason.
pub fn infer(observations: &Observations) -> Findings {
    let _ = observations;
    unimplemented!()
}

/// An experiment and why it is worth doing now.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// What to do.
    pub experiment: Experiment,
    /// Why, in one sentence for the plan.
    pub why: String,
}

/// The experiment that would settle most for least wear, or `None` when nothing is left that the budget covers.
pub fn next(device: &DeviceFacts, observations: &Observations, budget: Budget, seed: u64) -> Option<Choice> {
    let _ = (device, observations, budget, seed);
    unimplemented!()
}
