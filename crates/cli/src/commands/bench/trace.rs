//! Traces on their way to a file: a thread of its own writes them, so that no worker waits for the disk that it measures
//! unless four full buffers are ahead of it.

use anyhow::Context;
use flashscope_load::record::{Kind, TRACE_BUFFER, TraceEntry, TraceSink};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

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
    /// For the `phase`-th phase of a run, from 0: the first begins the file, the others add to it.
    pub(super) fn create(path: &Path, phase: u64) -> anyhow::Result<Writer> {
        let opened = match phase {
            0 => File::create(path),
            _ => File::options().append(true).open(path),
        };
        let file = opened.with_context(|| format!("cannot write {}", path.display()))?;
        let (to, from) = sync_channel(BUFFERS);
        let thread = std::thread::spawn(move || write(BufWriter::new(file), phase, &from));
        Ok(Writer { to, thread })
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

    /// Waits until all is written.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        drop(self.to);
        self.thread
            .join()
            .map_err(|_| anyhow::anyhow!("the thread that writes the trace ended unexpectedly"))?
            .context("cannot write the trace")
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
