//! A record of whatever kind.

use crate::app::AppRecord;
use crate::bench::BenchRecord;
use crate::capacity::CapacityRecord;
use crate::comparison::ComparisonRecord;
use crate::envelope::Envelope;
use crate::explanation::ExplanationRecord;
use crate::fleet::FleetRecord;
use crate::integrity::IntegrityRecord;
use crate::iozone::IozoneRecord;
use crate::memory::MemoryRecord;
use crate::run::RunRecord;
use crate::sweep::SweepRecord;
use crate::trace::TraceRecord;
use crate::twin::TwinRecord;

/// A record of whatever kind; readers tell kinds apart by it and by nothing else.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyRecord {
    /// `inspect`, `probe`, `infer` and `state`.
    Run(Box<RunRecord>),
    /// `capacity`.
    Capacity(Box<CapacityRecord>),
    /// `integrity`.
    Integrity(Box<IntegrityRecord>),
    /// `app`.
    App(Box<AppRecord>),
    /// `bench`.
    Bench(Box<BenchRecord>),
    /// `bench iozone`.
    Iozone(Box<IozoneRecord>),
    /// `fleet`.
    Fleet(Box<FleetRecord>),
    /// `twin fit`.
    Twin(Box<TwinRecord>),
    /// `compare`.
    Comparison(Box<ComparisonRecord>),
    /// `sweep`.
    Sweep(Box<SweepRecord>),
    /// `trace show` and `trace replay`.
    Trace(Box<TraceRecord>),
    /// `explain`.
    Explanation(Box<ExplanationRecord>),
    /// `mem`.
    Memory(Box<MemoryRecord>),
}

impl AnyRecord {
    /// Who, when, where, on what, and how it ended.
    pub fn envelope(&self) -> &Envelope {
        match self {
            AnyRecord::Run(record) => &record.envelope,
            AnyRecord::Capacity(record) => &record.envelope,
            AnyRecord::Integrity(record) => &record.envelope,
            AnyRecord::App(record) => &record.envelope,
            AnyRecord::Bench(record) => &record.envelope,
            AnyRecord::Iozone(record) => &record.envelope,
            AnyRecord::Fleet(record) => &record.envelope,
            AnyRecord::Twin(record) => &record.envelope,
            AnyRecord::Comparison(record) => &record.envelope,
            AnyRecord::Sweep(record) => &record.comparison.envelope,
            AnyRecord::Trace(record) => &record.envelope,
            AnyRecord::Explanation(record) => &record.envelope,
            AnyRecord::Memory(record) => &record.envelope,
        }
    }
}
