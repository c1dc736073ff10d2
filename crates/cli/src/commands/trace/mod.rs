//! `trace`: block traces recorded, looked at, replayed, and brought from one format to another.

mod files;
mod kernel;
mod record;
mod replay;
mod show;
mod source;

use crate::args::{Trace, TraceCommand};
use crate::error::{Failure, Outcome};

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
