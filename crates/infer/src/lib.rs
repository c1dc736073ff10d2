//! From observations to findings with confidence and evidence.
//!
//! Pure: no I/O, no clock, no randomness but what is passed in. [`infer`] draws conclusions from live
//! runs, stored records and pasted logs alike; [`next`] says which experiment would settle most next.
//! Each family of findings has a module of its own and is a function from [`Observations`] to
//! [`Estimate`](flashscope_model::Estimate)s.

mod fast_area;
mod numbers;
mod open_units;
mod penalty;
mod performance;
mod small_write;
mod survey;
mod transfer;
mod write_align;

use flashscope_model::{Budget, DeviceFacts, Estimate, Experiment, Findings, Geometry, Observations, Order};

/// All that can be concluded from what was observed; everything else is unknown, with a reason.
pub fn infer(observations: &Observations) -> Findings {
    let geometry = Geometry {
        allocation_unit: Estimate::unknown("boundaries were not looked at"),
        page: Estimate::unknown("boundaries were not looked at"),
        page_inner: Estimate::unknown("boundaries were not looked at"),
        open_units_linear: open_units_in_order(observations),
        open_units_random: open_units::estimate(observations, Order::Random),
        random_order_penalty: penalty::estimate(observations),
        small_write_path: small_write::estimate(observations),
        fast_area: fast_area::estimate(observations),
        never_written: survey::estimate(observations),
    };
    Findings {
        transfer: transfer::estimate(observations),
        performance: performance::table(observations),
        advice: Vec::new(),
        notes: write_align::notes(observations),
        geometry,
    }
}

/// Tables and trials speak first; writes around boundaries leave a bound where there are none.
fn open_units_in_order(observations: &Observations) -> Estimate<u32> {
    let estimate = open_units::estimate(observations, Order::InOrder);
    match write_align::open_units_bound(observations) {
        Some(bound) if estimate.is_unknown() => bound,
        _ => estimate,
    }
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
