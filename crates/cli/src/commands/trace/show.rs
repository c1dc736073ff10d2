//! What a trace shows.

use super::source::{Source, unreadable};
use crate::args::TraceShow;
use crate::commands::report;
use crate::envelope;
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use flashscope_host::Output;
use flashscope_model::trace::TraceRecord;
use flashscope_model::{Kind, StopReason};
use flashscope_record::AnyRecord;
use flashscope_trace::Figures;

pub(super) fn run(args: &TraceShow) -> Result<Outcome, Failure> {
    let mut door = output::door(args.results.replace.force, [&args.file]);
    let outputs = report::outputs(&mut door, None, &args.results.output)?;
    let mut source = Source::open_one(&args.file, &args.input)?;
    let mut figures = Figures::new();
    for request in source.by_ref() {
        figures.add(&request.map_err(|error| unreadable(&args.file, &error))?);
    }
    let mut envelope = envelope::bare(Kind::Trace, "trace show", args.file.display().to_string());
    if source.is_stopped() {
        envelope.stop = StopReason::Interrupted;
    }
    let dropped = source.tail().map_or(0, |tail| tail.dropped);
    let (source, figures) = (source.described(&args.file), figures.finish(dropped));
    told(TraceRecord { envelope, source, figures, replay: None }, args.results.json, &outputs)
}

/// Prints a record, and keeps it.
pub(super) fn told(record: TraceRecord, json: bool, outputs: &[Output]) -> Result<Outcome, Failure> {
    let mut saved = Saved::default();
    let record = AnyRecord::Trace(Box::new(record));
    report::save(&mut saved, outputs, &record);
    let AnyRecord::Trace(record) = record else { return Ok(Outcome::Done) };
    saved.after(output::data(&if json {
        flashscope_record::to_json(record.as_ref())
    } else {
        flashscope_report::trace::terminal(&record, output::style())
    }))?;
    envelope::exit(&record.envelope.stop)
}
