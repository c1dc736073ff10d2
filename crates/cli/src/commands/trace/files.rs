//! Traces from one file into another: import, export, cut and merge.

use super::source::{Source, unreadable};
use crate::args::{TraceCut, TraceExport, TraceImport, TraceMerge, TraceOutput};
use crate::error::{Failure, Outcome};
use crate::output;
use anyhow::anyhow;
use flashscope_host::Output;
use flashscope_trace::export::Exporter;
use flashscope_trace::file::{Head, Writer};
use flashscope_trace::{TraceError, Traced};
use flashscope_units::{Bytes, Instant};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// A trace of ours on its way to a file.
pub(crate) struct Written {
    writer: Writer<BufWriter<File>>,
    output: Output,
    requests: u64,
}

impl Written {
    pub(crate) fn begin(output: Output, head: &Head) -> Result<Written, Failure> {
        let file = output.begin().map_err(crate::target::failure)?;
        let writer =
            Writer::new(BufWriter::with_capacity(1 << 18, file), head).map_err(|error| lost(&output, &error))?;
        Ok(Written { writer, output, requests: 0 })
    }

    pub(crate) fn add(&mut self, request: Traced) -> Result<(), Failure> {
        self.requests += 1;
        self.writer.add(request).map_err(|error| lost(&self.output, &error))
    }

    /// Ends it and says how much there is.
    pub(crate) fn finish(self, dropped: u64) -> Result<(), Failure> {
        let Written { writer, output, requests } = self;
        writer.finish(dropped).map_err(|error| lost(&output, &error))?;
        output::talk(&format!("{requests} requests in {}", output.path().display()));
        if dropped > 0 {
            output::talk(&format!(
                "warning: {dropped} events had no room when it was recorded: the trace is not whole"
            ));
        }
        Ok(())
    }
}

fn lost(output: &Output, error: &std::io::Error) -> Failure {
    let shown = output.path().display();
    Failure::Cannot(anyhow!("cannot write {shown}: {}\nhint: name another place", crate::input::said(error)))
}

/// The file that a trace goes to; it is none of those that are read.
fn planned<'a>(args: &TraceOutput, read: impl IntoIterator<Item = &'a PathBuf>) -> Result<Output, Failure> {
    let mut door = output::door(args.replace.force, read);
    output::plan(&mut door, &args.output)
}

pub(super) fn import(args: &TraceImport) -> Result<Outcome, Failure> {
    let output = planned(&args.output, &args.files)?;
    let source = Source::open(&args.files, &args.input)?;
    copied(source, output, &args.files[0], false, |_| Some(()))
}

pub(super) fn cut(args: &TraceCut) -> Result<Outcome, Failure> {
    let output = planned(&args.output, [&args.file])?;
    let source = Source::open_one(&args.file, &args.input)?;
    let mut left = args.count.unwrap_or(u64::MAX);
    let mut first = None;
    copied(source, output, &args.file, args.keep_whole, |request: &mut Traced| {
        let since = request.issued.since(Instant::ORIGIN);
        let in_time = args.from.is_none_or(|from| since >= from) && args.to.is_none_or(|to| since < to);
        // A flush has no place: it belongs to all.
        let has_place = request.length > 0;
        let behind = !has_place || args.offset.is_none_or(|offset| request.offset >= offset);
        let before = !has_place || args.end.is_none_or(|end| request.end() <= end.get());
        let is_kind = args.kinds.is_empty() || args.kinds.contains(&request.op);
        if !(in_time && behind && before && is_kind) || left == 0 {
            return None;
        }
        left -= 1;
        let first = *first.get_or_insert(request.issued);
        request.issued = Instant(request.issued.since(first).get());
        request.completed = request.completed.map(|completed| Instant(completed.since(first).get()));
        Some(())
    })
}

/// Writes what `keep` keeps of a trace, as it changed it.
fn copied(
    mut source: Source,
    output: Output,
    path: &Path,
    keep_whole: bool,
    mut keep: impl FnMut(&mut Traced) -> Option<()>,
) -> Result<Outcome, Failure> {
    source.notes.iter().for_each(|note| output::talk(&format!("note: {note}")));
    let mut written = Written::begin(output, &source.head)?;
    let mut broken = None;
    for request in source.by_ref() {
        match request {
            Ok(mut request) => {
                if keep(&mut request).is_some() {
                    written.add(request)?;
                }
            }
            Err(error) if keep_whole => broken = Some(error),
            Err(error) => {
                written.output.remove();
                return Err(unreadable(path, &error));
            }
        }
    }
    let is_empty = written.requests == 0;
    written.finish(source.tail().map_or(0, |tail| tail.dropped))?;
    if let Some(error) = broken {
        output::talk(&format!("warning: {}", error.to_string().lines().next().unwrap_or_default()));
    }
    if source.is_stopped() {
        return Err(Failure::Cannot(anyhow!("interrupted; what was read until then is kept")));
    }
    if is_empty {
        output::talk("warning: no request is left");
    }
    Ok(Outcome::Done)
}

pub(super) fn export(args: &TraceExport) -> Result<Outcome, Failure> {
    let output = planned(&args.output, [&args.file])?;
    // Whether the format holds all of it is known before anything is written.
    let mut trial = Exporter::new(std::io::sink(), args.wanted).map_err(|error| unreadable(&args.file, &error))?;
    for request in Source::open_one(&args.file, &args.input)? {
        request.and_then(|request| trial.add(&request)).map_err(|error| unreadable(&args.file, &error))?;
    }
    let mut source = Source::open_one(&args.file, &args.input)?;
    let file = output.begin().map_err(crate::target::failure)?;
    let told = |error: TraceError| match error {
        TraceError::Io(error) => lost(&output, &error),
        other => Failure::Cannot(anyhow!("{}: {other}", args.file.display())),
    };
    let mut exporter = Exporter::new(BufWriter::with_capacity(1 << 18, file), args.wanted).map_err(told)?;
    let mut requests = 0u64;
    for request in source.by_ref() {
        exporter.add(&request.map_err(|error| unreadable(&args.file, &error))?).map_err(told)?;
        requests += 1;
    }
    exporter.finish().map_err(told)?;
    output::talk(&format!("{requests} requests in {} ({})", output.path().display(), args.wanted.word()));
    Ok(Outcome::Done)
}

pub(super) fn merge(args: &TraceMerge) -> Result<Outcome, Failure> {
    let output = planned(&args.output, &args.files)?;
    let mut lanes = Vec::new();
    let mut base = Bytes::ZERO;
    let mut dropped = 0;
    for (at, path) in args.files.iter().enumerate() {
        // Where the next one begins is known once this one was read.
        if args.side_by_side {
            let mut end = Bytes::ZERO;
            for request in Source::open_one(path, &args.input)? {
                end = end.max(Bytes(request.map_err(|error| unreadable(path, &error))?.end()));
            }
            lanes.push((Source::open_one(path, &args.input)?, base, args.shift * at as u64));
            base += end.align_up(Bytes::mib(1));
        } else {
            lanes.push((Source::open_one(path, &args.input)?, base, args.shift * at as u64));
        }
    }
    let origins: Vec<String> = lanes.iter().map(|(source, ..)| source.head.source.clone()).collect();
    let head = Head { capacity: None, source: format!("merged: {}", origins.join("; ")) };
    let mut written = Written::begin(output, &head)?;
    let mut heads: Vec<Option<Traced>> = Vec::new();
    for (lane, path) in lanes.iter_mut().zip(&args.files) {
        heads.push(taken(lane, path)?);
    }
    loop {
        let earliest = heads.iter().enumerate().filter_map(|(at, head)| Some((head.as_ref()?.issued, at))).min();
        let Some((_, at)) = earliest else { break };
        if let Some(request) = heads[at].take() {
            written.add(request)?;
        }
        heads[at] = taken(&mut lanes[at], &args.files[at])?;
    }
    for (source, ..) in &lanes {
        dropped += source.tail().map_or(0, |tail| tail.dropped);
    }
    written.finish(dropped)?;
    Ok(Outcome::Done)
}

/// The next request of a trace, at its new place and time.
fn taken(
    (source, base, shift): &mut (Source, Bytes, flashscope_units::Nanos),
    path: &Path,
) -> Result<Option<Traced>, Failure> {
    let Some(request) = source.next() else { return Ok(None) };
    let mut request = request.map_err(|error| unreadable(path, &error))?;
    request.issued += *shift;
    request.completed = request.completed.map(|completed| completed + *shift);
    if request.length > 0 {
        request.offset += *base;
    }
    Ok(Some(request))
}
