//! From observations to findings with confidence and evidence.
//!
//! Pure: no I/O, no clock, no randomness but what is passed in. [`infer`] draws conclusions from live
//! runs, stored records and pasted logs alike; [`next`] says which experiment would settle most next;
//! [`outlook`] says before anything is measured what a run may write, and [`left_open`] afterwards what the
//! budget left unsettled. Each family of findings has a module of its own and is a function from
//! [`Observations`] to [`Estimate`]s.

mod advice;
mod alignment;
mod assumed;
mod caution;
mod choose;
mod fast_area;
mod notes;
mod numbers;
mod open_units;
mod penalty;
mod performance;
mod pool;
mod reading;
mod situation;
mod small_write;
mod survey;
mod transfer;
mod write_align;
mod writing;

pub use choose::{Outlook, left_open, next, outlook};

use flashscope_model::{Estimate, Experiment, Findings, Geometry, Observations, Order};

/// All that can be concluded from what was observed; everything else is unknown, with a reason.
pub fn infer(observations: &Observations) -> Findings {
    let alignment = alignment::estimate(&situation::readable_part(observations));
    let unit = &alignment.allocation_unit;
    let sure_unit =
        unit.value.or(unit.at_least).filter(|_| unit.confidence.is_some_and(|confidence| confidence >= 0.8));
    let mut geometry = Geometry {
        fast_area: fast_area::estimate(observations, sure_unit),
        allocation_unit: alignment.allocation_unit,
        page: alignment.page,
        page_inner: alignment.page_inner,
        open_units_linear: open_units_in_order(observations),
        open_units_random: open_units::estimate(observations, Order::Random),
        random_order_penalty: penalty::estimate(observations),
        small_write_path: small_write::estimate(observations),
        never_written: survey::estimate(observations),
    };
    let contradiction = open_units::contradiction(observations);
    if contradiction.is_some() {
        caution::of_writes(&mut geometry, caution::CONTRADICTED);
    }
    let mut notes = alignment.notes;
    notes.extend(write_align::notes(observations));
    notes.extend(contradiction.map(notes::contradiction));
    notes.extend(notes::remarks(observations, &geometry));
    Findings {
        transfer: transfer::estimate(observations),
        performance: performance::table(observations),
        advice: advice::advise(&geometry, observations.capacity),
        notes,
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
