//! The record that a whole `inspect` of a simulated device leaves: all that those learn who know a device by its record only.

use crate::Nobody;
use flashscope_device::{Target, WriteGrant};
use flashscope_model::RunRecord;
use flashscope_model::envelope::{Envelope, Kind, Tool};
use flashscope_model::plan::Budget;
use flashscope_session::{Options, inspect, inspect_for_twin, twin_write_budget, usual_write_budget};

/// What `inspect` leaves of a model, by itself and with what it usually writes.
///
/// # Panics
/// Where the text is no model: that is a wrong test.
pub fn record(model: &str, seed: u64) -> RunRecord {
    inspected(model, seed, false)
}

/// The same of `inspect --for-twin`.
///
/// # Panics
/// As [`record`].
pub fn record_for_twin(model: &str, seed: u64) -> RunRecord {
    inspected(model, seed, true)
}

fn inspected(model: &str, seed: u64, for_twin: bool) -> RunRecord {
    let mut target = flashscope_sim::open_with("model.toml", seed, |_| Ok(model.to_owned())).expect("a drawn model");
    target.check_always(false);
    let write = if for_twin { twin_write_budget } else { usual_write_budget }(target.facts().capacity);
    let mut grant = WriteGrant::simulated(target.facts(), write);
    let options = Options { seed, budget: Budget { write, time: None } };
    let report = match for_twin {
        true => inspect_for_twin(&mut target, grant.as_mut(), options, &mut Nobody),
        false => inspect(&mut target, grant.as_mut(), options, &mut Nobody),
    };
    let envelope = Envelope {
        device: Some(target.facts().clone()),
        path: Some(target.path()),
        stop: report.stop,
        ..Envelope::new(Kind::Inspect, Tool::default(), "inspect", "sim:model.toml")
    };
    RunRecord { envelope, plan: report.plan, observations: report.observations, findings: report.findings }
}
