//! What is kept of a run of load: the record, reports of it, and the trace.

use super::run::Prepared;
use super::trace::TraceFile;
use crate::args::{Around, ReportFormat};
use crate::commands::report;
use crate::error::Failure;
use crate::output::{self, Saved};
use crate::progress::Turn;
use crate::whose::Whose;
use flashscope_host::Output;
use flashscope_model::bench::BenchRecord;
use flashscope_record::AnyRecord;
use std::cell::RefCell;
use std::path::PathBuf;

/// The files that were asked for, each looked at before the run.
pub(super) struct Kept {
    record: Option<Output>,
    /// What was measured so far, while the run goes on.
    unfinished: Option<Output>,
    turn: RefCell<Turn>,
    reports: Vec<Output>,
    trace: Option<TraceFile>,
}

impl Kept {
    /// No file.
    pub(super) fn nothing() -> Kept {
        Kept { record: None, unfinished: None, turn: RefCell::new(Turn::now()), reports: Vec::new(), trace: None }
    }

    /// Nothing is written to what the jobs run on, nor to the files that tell them, which are `read`.
    pub(super) fn plan(around: &Around, prepared: &Prepared, read: &[PathBuf]) -> Result<Kept, Failure> {
        let targets = prepared.targets().into_iter().map(PathBuf::from);
        let mut door = output::door(around.replace.force, targets.chain(read.iter().cloned()));
        let mut plan = |path: &PathBuf| output::plan(&mut door, path);
        let unfinished = around.output.as_ref().map(|path| path.with_extension("unfinished.json"));
        let (record, report): (Vec<&PathBuf>, Vec<&PathBuf>) = around
            .output
            .iter()
            .partition(|path| report::known_format(path).is_none_or(|format| format == ReportFormat::Json));
        let kept = Kept {
            record: record.into_iter().next().map(&mut plan).transpose()?,
            unfinished: unfinished.as_ref().map(&mut plan).transpose()?,
            turn: RefCell::new(Turn::now()),
            reports: around.report.iter().chain(report).map(&mut plan).collect::<Result<_, _>>()?,
            trace: around.trace_to.as_ref().map(plan).transpose()?.map(TraceFile::new),
        };
        // A name that does not tell its form is better refused before hours of measuring than after them.
        around.report.iter().try_for_each(|path| report::told_format(path).map(drop))?;
        around.output.iter().try_for_each(|path| report::format_of(path, ReportFormat::Json).map(drop))?;
        let whose = Whose::named(&prepared.targets().join(", "));
        kept.record.iter().chain(&kept.reports).try_for_each(|output| whose.guard(around.replace.force, output))?;
        Ok(kept)
    }

    pub(super) fn trace(&self) -> Option<&TraceFile> {
        self.trace.as_ref()
    }

    /// Keeps what was measured so far, where the record is to be kept and it is time to.
    pub(super) fn so_far(&self, record: impl FnOnce() -> BenchRecord) {
        if let Some(output) = &self.unfinished {
            // What cannot be kept now may still be kept at the end, and then it is said.
            let keep = || drop(output.keep(flashscope_record::to_json(&record()).as_bytes()));
            self.turn.borrow_mut().take(keep);
        }
    }

    /// Writes the record, and then whatever else was asked for.
    pub(super) fn save(&self, record: &BenchRecord) -> Saved {
        let mut saved = Saved::default();
        if let Some(output) = &self.record {
            saved.add_whole(output, self.unfinished.as_ref(), flashscope_record::to_json(record));
        }
        if !self.reports.is_empty() {
            let record = AnyRecord::Bench(Box::new(record.clone()));
            for output in &self.reports {
                let safe = saved.add(output, "Report", report::file(&record, output.path()));
                self.unfinished.iter().filter(|_| safe && self.record.is_none()).for_each(Output::remove);
            }
        }
        if let Some(why) = self.trace.as_ref().and_then(TraceFile::failure) {
            saved.failed(why);
        }
        saved
    }
}
