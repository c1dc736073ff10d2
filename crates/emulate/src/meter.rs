//! Counts what goes on, on the path of every request.

use crate::histogram::Histogram;
use crate::journal::Operation;
use crate::log::Log;
use crate::options::Speed;
use crate::pacer::Due;
use crate::statistics::{Lateness, Requests};
use flashscope_units::{Bytes, Instant, Nanos};
use std::io;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Counts what goes on.
#[derive(Debug)]
pub(crate) struct Meter {
    paced: bool,
    counts: Mutex<Counts>,
    log: OnceLock<Log>,
}

/// What was counted.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    pub(crate) requests: Requests,
    pub(crate) read: Bytes,
    pub(crate) written: Bytes,
    pub(crate) faster_than_floor: u64,
    lateness: Histogram,
}

impl Counts {
    /// How late answers were.
    pub(crate) fn lateness(&self) -> Option<Lateness> {
        Lateness::of(&self.lateness)
    }
}

impl Meter {
    /// Nothing counted yet.
    pub(crate) fn new(speed: Speed) -> Meter {
        let counts = Counts {
            requests: Requests::default(),
            read: Bytes::ZERO,
            written: Bytes::ZERO,
            faster_than_floor: 0,
            lateness: Histogram::new(),
        };
        Meter { paced: speed != Speed::Unpaced, counts: Mutex::new(counts), log: OnceLock::new() }
    }

    /// From now on every answer is written down.
    pub(crate) fn log_to(&self, log: Log) {
        let _ = self.log.set(log);
    }

    /// A request came in; `sooner`: the device has it done before an answer can arrive.
    pub(crate) fn took(&self, operation: Operation, length: u64, failed: bool, sooner: bool) {
        let mut counts = self.counts();
        let Counts { requests, .. } = &mut *counts;
        match operation {
            Operation::Read => requests.reads += 1,
            Operation::Write { durable } => {
                requests.writes += 1;
                requests.durable_writes += u64::from(durable);
            }
            Operation::Flush => requests.flushes += 1,
            Operation::Discard => requests.discards += 1,
            Operation::PowerOn | Operation::PowerCut => {}
        }
        requests.failed += u64::from(failed);
        match operation {
            Operation::Read if !failed => counts.read += Bytes(length),
            Operation::Write { .. } if !failed => counts.written += Bytes(length),
            _ => {}
        }
        counts.faster_than_floor += u64::from(sooner && self.paced);
    }

    /// An answer goes out now.
    pub(crate) fn sent(&self, due: &Due, now: Instant) {
        let Some(served) = due.served else { return };
        if self.paced {
            self.counts().lateness.add(Nanos(now.0.saturating_sub(due.at.0)));
        }
        if let Some(log) = self.log.get() {
            log.add(served, now, due.result.is_err());
        }
    }

    /// No more answers come.
    ///
    /// # Errors
    /// Of the log.
    pub(crate) fn close(&self) -> io::Result<()> {
        self.log.get().map_or(Ok(()), Log::close)
    }

    /// All of it.
    pub(crate) fn read(&self) -> Counts {
        self.counts().clone()
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
