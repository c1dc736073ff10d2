//! Traces on their way to a file: a thread of its own writes them, so that no worker waits for the disk that it measures
//! unless four full buffers are ahead of it.

use flashscope_host::Output;
use flashscope_load::record::{Kind, TRACE_BUFFER, TraceEntry, TraceSink};
use std::cell::RefCell;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// The file of a trace. What becomes of it is told apart from the result, which it never costs.
pub(super) struct TraceFile {
    output: Output,
    /// Open from the first phase on.
    file: RefCell<Option<File>>,
    failure: RefCell<Option<String>>,
}

impl TraceFile {
    pub(super) fn new(output: Output) -> TraceFile {
        TraceFile { output, file: RefCell::default(), failure: RefCell::default() }
    }

    /// For the `phase`-th phase of a run, from 0: the first begins the file, the others add to it. `None` where it cannot be written.
    pub(super) fn writer(&self, phase: u64) -> Option<Writer> {
        if self.failure.borrow().is_some() {
            return None;
        }
        let mut file = self.file.borrow_mut();
        if file.is_none() {
            *file = self.output.begin().map_err(|error| self.failed(error)).ok();
        }
        let file = file.as_ref()?.try_clone().map_err(|error| self.failed(error)).ok()?;
        Some(Writer::new(file, phase))
    }

    /// Waits until all is written.
    pub(super) fn finish(&self, writer: Writer) {
        drop(writer.to);
        match writer.thread.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.failed(error),
            Err(_) => self.failed("its thread ended unexpectedly"),
        }
    }

    /// Why it is not whole.
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }

    /// Notes that it is not whole.
    pub(super) fn failed(&self, why: impl std::fmt::Display) {
        let path = self.output.path().display();
        *self.failure.borrow_mut() = Some(format!("the trace in {path} is not whole: {why}"));
    }
}

/// Writes what workers hand it, each line with its worker's number.
pub(super) struct Writer {
    to: SyncSender<Full>,
    thread: JoinHandle<std::io::Result<()>>,
}

/// A full buffer, whose it is, and where it goes when it is empty again.
struct Full {
    worker: usize,
    entries: Vec<TraceEntry>,
    back: SyncSender<Vec<TraceEntry>>,
}

/// Buffers of a worker, beside the one that it fills; all of them are made before it begins.
const BUFFERS: usize = 4;

impl Writer {
    fn new(file: File, phase: u64) -> Writer {
        let (to, from) = sync_channel(BUFFERS);
        let thread = std::thread::spawn(move || write(BufWriter::new(file), phase, &from));
        Writer { to, thread }
    }

    /// For the worker of this number.
    pub(super) fn sink(&self, worker: usize) -> TraceSink {
        let to = self.to.clone();
        let (back, empty) = sync_channel(BUFFERS);
        for _ in 0..BUFFERS {
            let _ = back.send(Vec::with_capacity(TRACE_BUFFER));
        }
        Box::new(move |full| {
            let next = empty.recv().unwrap_or_default();
            let entries = std::mem::replace(full, next);
            // Where the writer gave up (a full disk), it says so at the end.
            if to.send(Full { worker, entries, back: back.clone() }).is_err() {
                full.clear();
            }
        })
    }
}

fn write(mut file: BufWriter<File>, phase: u64, from: &Receiver<Full>) -> std::io::Result<()> {
    if phase == 0 {
        writeln!(file, "phase,worker,kind,offset_bytes,length_bytes,intended_ns,issued_ns,completed_ns")?;
    }
    for Full { worker, mut entries, back } in from {
        for entry in entries.drain(..) {
            let kind = match entry.kind {
                Kind::Read => "read",
                Kind::Write => "write",
                Kind::Flush => "flush",
                Kind::ReadBack => "read_back",
            };
            let TraceEntry { intended, issued, completed, offset, length, .. } = entry;
            writeln!(file, "{phase},{worker},{kind},{offset},{length},{},{},{}", intended.0, issued.0, completed.0)?;
        }
        // A worker that is done takes none back.
        let _ = back.try_send(entries);
    }
    file.flush()
}
