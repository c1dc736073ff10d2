//! What is known while a run goes on: limits, what was measured so far, and who is told of it.

use crate::machine::Machine;
use crate::{say, stopped};
use flashscope_mem::plan;
use flashscope_mem::wire::{Limits, Line};
use flashscope_model::envelope::{Envelope, Kind, Tool};
use flashscope_model::memory::MemoryRecord;
use flashscope_record::Recorded;
use flashscope_units::Bytes;
use std::time::{Duration, Instant};

/// Progress of a run is told in so many parts.
const PARTS: u64 = 1000;
/// No more often than this.
const PROGRESS: Duration = Duration::from_millis(100);

/// A run.
pub(crate) struct Session {
    /// Within which limits.
    pub(crate) limits: Limits,
    /// What is measured.
    pub(crate) machine: Machine,
    /// What was found so far; its envelope is the business of whoever started this program.
    pub(crate) record: MemoryRecord,
    tests: u64,
    done: u64,
    told: Option<Instant>,
}

impl Session {
    pub(crate) fn begin(limits: Limits, tests: usize, machine: Machine) -> Session {
        let nobody = Tool { version: String::new(), commit: None, target: None };
        let record = MemoryRecord {
            envelope: Envelope::new(Kind::Memory, nobody, "", ""),
            setup: machine.setup.clone(),
            bandwidth: Vec::new(),
            latency: Vec::new(),
            loaded: Vec::new(),
            findings: Vec::new(),
            told: machine.caches.clone(),
            stress: None,
            notes: Vec::new(),
        };
        Session { limits, machine, record, tests: tests.max(1) as u64, done: 0, told: None }
    }

    /// Time that a test takes.
    pub(crate) fn time(&self) -> Duration {
        Duration::from_nanos(self.limits.time)
    }

    /// Bytes that may be taken.
    pub(crate) fn may_take(&self) -> Bytes {
        plan::may_take(self.record.setup.available, self.limits.memory.map(Bytes))
    }

    /// Threads that measure at once: as many as were asked for, no more than there are processors for.
    pub(crate) fn threads(&self) -> u32 {
        let there = (self.record.setup.processors.len() as u32).max(1);
        self.limits.threads.map_or(there, |asked| asked.clamp(1, there))
    }

    /// Size of the largest cache that the machine tells of.
    pub(crate) fn last_cache(&self) -> Option<Bytes> {
        self.machine.caches.iter().map(|cache| cache.size).max()
    }

    /// Says what is being done, and the share of the test that is behind it; whether to go on.
    pub(crate) fn progress(&mut self, what: &str, share: f64) -> anyhow::Result<bool> {
        if self.told.is_none_or(|told| told.elapsed() >= PROGRESS) {
            self.told = Some(Instant::now());
            let done = (self.done as f64 + share.clamp(0.0, 1.0)) / self.tests as f64;
            say(&Line::Progress(what.to_owned(), (done * PARTS as f64) as u64))?;
        }
        Ok(!stopped())
    }

    /// A test is over: whatever happens to the next, this one is kept.
    pub(crate) fn test_done(&mut self) -> anyhow::Result<()> {
        self.done += 1;
        say(&Line::SoFar(self.part()))
    }

    /// What must be known of it, once.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.record.notes.contains(&note) {
            self.record.notes.push(note);
        }
    }

    /// The part of the record.
    pub(crate) fn part(&self) -> String {
        serde_json::to_string(&self.record.part()).expect("keys of a record are strings")
    }
}
