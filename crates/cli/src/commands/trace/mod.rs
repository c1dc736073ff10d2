//! `trace`: block traces recorded, looked at, replayed, and brought from one format to another.

mod files;
mod kernel;
mod record;
mod replay;
mod show;
mod source;

use crate::args::{Trace, TraceCommand, TraceInput};
use crate::error::{Failure, Outcome};
use anyhow::anyhow;
use flashscope_model::trace::TraceSource;
use flashscope_trace::Traced;
use source::{Source, unreadable};
use std::path::Path;

pub(crate) use files::Written;
pub(crate) use kernel::{EVERY, Recording, clean};

pub(crate) fn run(args: &Trace) -> Result<Outcome, Failure> {
    match &args.command {
        TraceCommand::Record(args) => record::run(args),
        TraceCommand::Show(args) => show::run(args),
        TraceCommand::Replay(args) => replay::run(args),
        TraceCommand::Import(args) => files::import(args),
        TraceCommand::Export(args) => files::export(args),
        TraceCommand::Cut(args) => files::cut(args),
        TraceCommand::Merge(args) => files::merge(args),
    }
}

/// All requests of a trace, of which there may be `most`, for those who replay it more often than it can be read.
pub(crate) fn all_of(file: &Path, input: &TraceInput, most: u64) -> Result<(TraceSource, Vec<Traced>), Failure> {
    let mut source = Source::open_one(file, input)?;
    let mut requests = Vec::new();
    for request in source.by_ref() {
        requests.push(request.map_err(|error| unreadable(file, &error))?);
        if requests.len() as u64 > most {
            return Err(Failure::Cannot(anyhow!(
                "{} holds more than the {most} requests that can be replayed often enough\nhint: `flashscope trace cut --count \
                 {most}` keeps the first of them",
                file.display()
            )));
        }
    }
    if source.is_stopped() {
        return Err(Failure::Cannot(anyhow!("interrupted while the trace was read; nothing was replayed")));
    }
    Ok((source.described(file), requests))
}
