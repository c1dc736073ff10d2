//! `state`: which state a device is in.

use crate::args::State;
use crate::commands::{history, report};
use crate::envelope;
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use crate::progress::Progress;
use crate::target::{self, Opened, Writes};
use flashscope_device::{Target, WriteGrant};
use flashscope_host::Surroundings;
use flashscope_model::plan::Budget;
use flashscope_model::{Kind, RunRecord};
use flashscope_record::AnyRecord;
use flashscope_session::{Options, usual_diagnosis_budget};
use flashscope_units::Bytes;

pub(crate) fn run(args: &State) -> Result<Outcome, Failure> {
    let mut door = output::door(args.replace.force, [&args.target.target]);
    let outputs = report::outputs(&mut door, None, &args.output)?;
    let record = match target::open(&args.target, Writes::Adaptive(usual_diagnosis_budget))? {
        Opened::Simulated { mut target, mut grant } => diagnose(args, target.as_mut(), grant.as_mut(), None),
        Opened::Host { mut target, mut grant, here } => diagnose(args, target.as_mut(), grant.as_mut(), Some(*here)),
    };
    let mut saved = Saved::default();
    report::save(&mut saved, &outputs, &AnyRecord::Run(Box::new(record.clone())));
    history::keep(|| flashscope_record::to_json(&record));
    saved.after(output::data(&if args.json {
        flashscope_record::to_json(&record)
    } else {
        flashscope_report::terminal(&record, output::style())
    }))?;
    envelope::exit(&record.envelope.stop)
}

fn diagnose<T: Target>(
    args: &State,
    target: &mut T,
    grant: Option<&mut WriteGrant>,
    here: Option<Surroundings>,
) -> RunRecord {
    let budget = Budget { write: grant.as_ref().map_or(Bytes::ZERO, |grant| grant.left()), time: args.max_time };
    let options = Options { seed: args.target.seed, budget };
    let envelope = envelope::of(Kind::State, "state", &args.target, target, here.as_ref());
    let mut progress = Progress::new(args.json, None);
    let report = flashscope_session::diagnose(target, grant, options, &mut progress);
    progress.finish();
    envelope::record(envelope, here.as_ref(), report)
}
