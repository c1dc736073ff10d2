//! What was asked of the device, what it did to its flash, and how late the answers were.

use crate::histogram::Histogram;
use flashscope_sim::Counters;
use flashscope_units::{Bytes, Nanos};
use std::fmt;

/// What was asked of the device since it was started, what it did, and how late the answers were.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// As it was named.
    pub model: String,
    /// Seed of its chance.
    pub seed: u64,
    /// `1`, `10`, `max`: its time against real time.
    pub speed: String,
    /// How long it has run.
    pub up: Nanos,
    /// Requests.
    pub requests: Requests,
    /// Read by the host.
    pub host_read: Bytes,
    /// Written by the host.
    pub host_written: Bytes,
    /// Programmed, copies included.
    pub nand_written: Bytes,
    /// Programmed over written; absent before the first write.
    pub write_amplification: Option<f64>,
    /// Erases, as the device defines them.
    pub erases: u64,
    /// Merges and collections, where the mapping does such a thing.
    pub counters: Counters,
    /// How long after the intended time answers were sent; absent without answers, or where nothing is paced.
    pub lateness: Option<Lateness>,
    /// Requests that the model has done sooner than the kernel's way there and back allows.
    pub faster_than_floor: u64,
    /// What a 4 KiB read takes that the device answers at once.
    pub floor: Nanos,
    /// What is subtracted from the device's time for a 4 KiB read: the same when the device takes its time.
    pub floor_paced: Nanos,
}

/// Requests by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Writes that had to be durable when they were done.
    pub durable_writes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Discards.
    pub discards: u64,
    /// Of all these, those that failed.
    pub failed: u64,
}

/// How late answers were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lateness {
    /// Half of them were less late.
    pub p50: Nanos,
    /// Nine of ten.
    pub p90: Nanos,
    /// 99 of a hundred.
    pub p99: Nanos,
    /// 999 of a thousand.
    pub p999: Nanos,
    /// The latest.
    pub longest: Nanos,
}

impl Lateness {
    pub(crate) fn of(histogram: &Histogram) -> Option<Lateness> {
        Some(Lateness {
            p50: histogram.quantile(0.5)?,
            p90: histogram.quantile(0.9)?,
            p99: histogram.quantile(0.99)?,
            p999: histogram.quantile(0.999)?,
            longest: histogram.longest()?,
        })
    }
}

impl Statistics {
    /// One JSON object; what is absent is null.
    pub fn to_json(&self) -> String {
        let lateness = |pick: fn(&Lateness) -> Nanos| self.lateness.as_ref().map(|lateness| pick(lateness).get());
        serde_json::json!({
            "model": self.model,
            "seed": self.seed,
            "speed": self.speed,
            "up_ns": self.up.get(),
            "read_requests": self.requests.reads,
            "write_requests": self.requests.writes,
            "durable_write_requests": self.requests.durable_writes,
            "flush_requests": self.requests.flushes,
            "discard_requests": self.requests.discards,
            "failed_requests": self.requests.failed,
            "host_read_bytes": self.host_read.get(),
            "host_written_bytes": self.host_written.get(),
            "nand_written_bytes": self.nand_written.get(),
            "write_amplification_ratio": self.write_amplification,
            "erases": self.erases,
            "merges": self.counters.merges,
            "collections": self.counters.collections,
            "lateness_ns_p50": lateness(|lateness| lateness.p50),
            "lateness_ns_p90": lateness(|lateness| lateness.p90),
            "lateness_ns_p99": lateness(|lateness| lateness.p99),
            "lateness_ns_p999": lateness(|lateness| lateness.p999),
            "lateness_ns_max": lateness(|lateness| lateness.longest),
            "faster_than_floor_requests": self.faster_than_floor,
            "floor_ns": self.floor.get(),
            "floor_paced_ns": self.floor_paced.get(),
        })
        .to_string()
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Requests { reads, writes, durable_writes, flushes, discards, failed } = self.requests;
        let count = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
        writeln!(f, "{} (seed {}, speed {}), up {}", self.model, self.seed, self.speed, self.up)?;
        writeln!(
            f,
            "  requests   {reads} reads, {writes} writes ({durable_writes} durable), {flushes} flushes, {discards} discards; \
             {failed} failed"
        )?;
        writeln!(f, "  host       {} read, {} written", self.host_read, self.host_written)?;
        write!(f, "  flash      {} programmed", self.nand_written)?;
        if let Some(ratio) = self.write_amplification {
            write!(f, " (write amplification {ratio:.2})")?;
        }
        writeln!(
            f,
            ", {} erases, {} merges, {} collections",
            self.erases,
            count(self.counters.merges),
            count(self.counters.collections)
        )?;
        match &self.lateness {
            Some(late) => writeln!(
                f,
                "  late by    {} (p50), {} (p90), {} (p99), {} (p99.9), {} at most; {} requests done sooner than the floor",
                late.p50, late.p90, late.p99, late.p999, late.longest, self.faster_than_floor
            )?,
            None => writeln!(f, "  late by    -")?,
        }
        write!(f, "  floor      {} hot, {} paced (4 KiB read)", self.floor, self.floor_paced)
    }
}
