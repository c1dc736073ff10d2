//! Pairs of devices whose difference is known: `explain` on them, known as models or by their records only, and naive readers
//! of the same answers.

mod pairs;
mod readers;
mod work;

pub use pairs::{Kind, Pair, draw};
pub use readers::{Named, first_exchanged, largest_parameter, named};
pub use work::{SPAN, workload};

use crate::Nobody;
use flashscope_device::{Target, WriteGrant};
use flashscope_explain::{Answer, ExplainError, Question, Side, Workload, explain, of_record};
use flashscope_model::RunRecord;
use flashscope_model::envelope::{Envelope, Kind as RecordKind, Tool};
use flashscope_model::plan::Budget;
use flashscope_session::{Options, inspect, usual_write_budget};
use flashscope_twin::Unattended;

/// Requests that a pair may take, a tenth of what is usual: so that hundreds of pairs take minutes.
const WORK: u64 = Question::USUAL_WORK / 10;

/// What `explain` says of a pair whose models it is given.
///
/// # Errors
/// As `explain`.
pub fn of_models(pair: &Pair, workload: &Workload) -> Result<Answer, ExplainError> {
    let side = |model: &str| Side { model: model.to_owned(), refits: Vec::new() };
    asked(&side(&pair.a), &side(&pair.b), workload, pair.seed)
}

/// The same where it is given nothing but the record of an `inspect` of each.
///
/// # Errors
/// As `explain`, and where no twin can be fitted.
pub fn of_records(pair: &Pair, workload: &Workload) -> Result<Answer, ExplainError> {
    let known = |name: &str, model: &str, seed: u64| of_record(name, record(model, seed), &mut Unattended);
    let (a, b) = (known("A", &pair.a, pair.seed)?, known("B", &pair.b, pair.seed + 1)?);
    asked(&a.side, &b.side, workload, pair.seed)
}

fn asked(a: &Side, b: &Side, workload: &Workload, seed: u64) -> Result<Answer, ExplainError> {
    explain(&Question { a, b, workload, seed, work: WORK }, &mut Unattended)
}

/// What `inspect` leaves of a model, by itself and with what it usually writes.
fn record(model: &str, seed: u64) -> RunRecord {
    let mut target = flashscope_sim::open_with("model.toml", seed, |_| Ok(model.to_owned())).expect("a drawn model");
    target.check_always(false);
    let write = usual_write_budget(target.facts().capacity);
    let mut grant = WriteGrant::simulated(target.facts(), write);
    let options = Options { seed, budget: Budget { write, time: None } };
    let report = inspect(&mut target, grant.as_mut(), options, &mut Nobody);
    let envelope = Envelope {
        device: Some(target.facts().clone()),
        path: Some(target.path()),
        stop: report.stop,
        ..Envelope::new(RecordKind::Inspect, Tool::default(), "inspect", "sim:model.toml")
    };
    RunRecord { envelope, plan: report.plan, observations: report.observations, findings: report.findings }
}
