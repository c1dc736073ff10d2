//! From observations to findings with confidence and evidence.
//!
//! Pure: no I/O, no clock, no randomness but what is passed in. [`infer`] draws conclusions from live
//! runs, stored records and pasted logs alike; [`next`] says which experiment would settle most next;
//! [`outlook`] says before anything is measured what a run may write, [`ahead`] meanwhile what is still to come, and
//! [`left_open`] afterwards what the budget left unsettled. Each family of findings has a module of its own and is a function from
//! [`Observations`] to [`Estimate`]s.

mod advice;
mod ahead;
mod alignment;
mod assumed;
pub mod calibrated;
pub mod capacity;
mod caution;
mod change;
mod choose;
pub mod claims;
mod copies;
mod counts;
mod discard;
mod drive;
pub mod endurance;
mod fast_area;
mod for_twin;
mod memo;
mod memory;
mod notes;
mod numbers;
mod open;
mod open_units;
mod penalty;
mod performance;
mod pool;
mod reading;
mod regions;
mod shares;
mod situation;
mod small_write;
pub mod state;
pub mod steady;
mod survey;
#[cfg(test)]
mod tests;
mod transfer;
mod unfinished;
mod want;
pub mod worth;
mod write_align;
mod writing;

pub use ahead::{Upcoming, ahead};
pub use choose::{Outlook, Question, next, next_for, next_of_plan, outlook, outlook_for};
pub use counts::TableError;
pub use drive::{channels_plan, map_reach_plan, overwrite_plan, parallel_plan};
pub use for_twin::{for_twin, most_for_twin};
pub use memo::Memo;
pub use open::{left_open, left_open_for};
pub use want::{UnknownWant, Want};
pub use worth::Aim;

use change::{Contradiction, Scope};
use flashscope_model::finding::{Note, UpTo};
use flashscope_model::{DeviceFacts, Estimate, Experiment, Findings, Geometry, Observations, Order, Reason};

/// All that can be concluded from what was observed; everything else is unknown, with a reason.
pub fn infer(observations: &Observations) -> Findings {
    infer_on(None, observations)
}

/// The same where the device is known: a file, or a loop device on one, has no flash inside that could be told from the
/// file system, the cache and the disk of the host.
pub fn infer_on(device: Option<&DeviceFacts>, observations: &Observations) -> Findings {
    infer_with(device, observations, &Memo::default())
}

/// The same at the end of a run whose questions a memo has served.
pub fn infer_with(device: Option<&DeviceFacts>, observations: &Observations, memo: &Memo) -> Findings {
    let (observations, copies) = copies::without(observations);
    let observations = observations.as_ref();
    let Weighed { mut geometry, contradiction, change, notes } = weigh(device, observations, memo);
    claims::settle(&mut geometry, claims::shipped());
    let scope = change.as_ref().map(|change| change.scope);
    match (contradiction.is_some(), scope) {
        (_, Some(Scope::Devices)) => {
            caution::of_everything(&mut geometry, caution::SEVERAL_DEVICES);
            caution::of_tables_taken_together(&mut geometry);
        }
        (_, Some(Scope::Everything)) => caution::of_everything(&mut geometry, caution::CONTRADICTED),
        (true, _) | (_, Some(Scope::Writes)) => caution::of_writes(&mut geometry, caution::CONTRADICTED),
        (false, Some(Scope::Counts | Scope::Cache) | None) => {}
    }
    let host_file = caution::host_file(device);
    let no_card = host_file.is_some();
    if no_card {
        caution::of_everything(&mut geometry, caution::NO_CARD);
    }
    shares::fit(&mut geometry);
    let mut notes: Vec<_> = host_file.into_iter().chain(notes).collect();
    notes.extend(write_align::notes(observations));
    notes.extend(contradiction.map(notes::contradiction));
    notes.extend(change.map(notes::changed));
    notes.extend(notes::lost_head(observations));
    notes.extend(notes::copies(copies));
    notes.extend(notes::remarks(observations, &geometry));
    let several = scope == Some(Scope::Devices);
    Findings {
        transfer: transfer::estimate(observations),
        performance: performance::table(observations),
        advice: if no_card || several { Vec::new() } else { advice::advise(&geometry, observations.capacity) },
        notes,
        geometry,
    }
}

/// What was found with scores and doubts in the place of probabilities: what the counts are made from
/// ([`claims::table`]). Nobody else should go by them.
pub fn scores(device: Option<&DeviceFacts>, observations: &Observations) -> Geometry {
    let (observations, _) = copies::without(observations);
    weigh(device, observations.as_ref(), &Memo::default()).geometry
}

/// What was found, before it is known what it is worth.
struct Weighed {
    /// With scores and doubts.
    geometry: Geometry,
    /// Of tables of writes.
    contradiction: Option<String>,
    change: Option<Contradiction>,
    /// About boundaries.
    notes: Vec<Note>,
}

fn weigh(device: Option<&DeviceFacts>, observations: &Observations, memo: &Memo) -> Weighed {
    let alignment = alignment::estimate(&unfinished::left_out(observations), memo);
    let unit = &alignment.allocation_unit.clone();
    let counted = |found, order| {
        let found = open_units::given_the_unit(found, observations, order, unit);
        regions::count(found, observations, order, unit)
    };
    let fast_area = regions::area(fast_area::estimate(observations, unit, memo), observations, unit);
    let mut geometry = Geometry {
        fast_area_parts: fast_area::parts(observations, &fast_area, memo),
        fast_area,
        allocation_unit: alignment.allocation_unit,
        boundary_offset: alignment.boundary_offset,
        page: alignment.page,
        page_inner: alignment.page_inner,
        open_units_linear: counted(open_units_in_order(observations), Order::InOrder),
        open_units_random: counted(open_units::estimate(observations, Order::Random), Order::Random),
        random_order_penalty: regions::penalty(penalty::estimate(observations), observations, unit),
        small_write_path: small_write::estimate(observations).map(|size| UpTo { size }),
        discard: discard::estimate(observations),
        never_written: survey::estimate(observations),
        ..Geometry::unknown(Reason::NotMeasured)
    };
    caution::of_logs_that_were_not_full(&mut geometry);
    caution::of_logs_that_were_full_at_last(&mut geometry, observations);
    memory::estimate(&mut geometry, observations);
    drive::estimate(&mut geometry, device, observations, memo);
    state::estimate(&mut geometry, device, observations);
    capacity::estimate(&mut geometry, observations);
    drive::settle(&mut geometry, alignment.page_step, alignment.kinds.as_ref(), device, observations, memo);
    caution::of_units_without_effect(&mut geometry);
    caution::of_maps_at_hand(&mut geometry);
    let change = change::contradiction(observations, &geometry.slc_cache);
    match change.as_ref().map(|change| change.scope) {
        Some(Scope::Counts) => caution::counts_differ(&mut geometry),
        Some(Scope::Cache) => caution::cache_between(&mut geometry),
        _ => {}
    }
    Weighed { geometry, contradiction: open_units::contradiction(observations), change, notes: alignment.notes }
}

/// Marks what was found in a log of more than one device: figures of different tables do not belong together, so that no
/// answer is sure, and the reader is told first of all.
pub fn of_several_devices(findings: &mut Findings) {
    caution::of_everything(&mut findings.geometry, caution::SEVERAL_DEVICES);
    findings.advice.clear();
    findings.notes.insert(0, notes::several_devices());
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
