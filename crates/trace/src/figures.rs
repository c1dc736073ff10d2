//! What requests show, counted as they go by in bounded memory: some 5 MiB, and what the working set takes, at most 130 MiB.

mod depth;
mod heat;
mod streams;
mod working_set;

pub(crate) use depth::{Depths, distance};

use crate::{Flags, Op, Traced};
use flashscope_load::histogram::Histogram;
use flashscope_model::trace::{
    Arrivals, ChunkClass, ClassFigures, KindFigures, ServiceTimes, SizeBin, Syncs, TraceFigures, TraceOp,
};
use flashscope_units::{Bytes, Instant, Nanos};
use heat::Heat;
use std::collections::BTreeMap;
use streams::Tracker;
use working_set::Touched;

/// The period in which the busiest moment is looked for.
const PEAK_PERIOD: Nanos = Nanos::millis(100);

/// Counts requests in the order of issue.
#[derive(Default)]
pub struct Figures {
    requests: u64,
    failed: u64,
    first: Instant,
    last: Instant,
    end: Instant,
    kinds: [Tally; 4],
    /// Reads and writes by class.
    classes: [[Tally; 4]; 2],
    /// Reads and writes by the power of two that they reach up to.
    sizes: BTreeMap<u32, [u64; 2]>,
    of_4k: u64,
    gaps: Histogram,
    longest_gap: Nanos,
    /// The period that runs, and what it counted; and the most that any did.
    period: (u64, u64),
    peak: u64,
    depths: Depths,
    streams: Tracker,
    syncs: Between,
    touched: Touched,
    heat: Heat,
}

/// Counts of one kind of requests.
#[derive(Default)]
struct Tally {
    requests: u64,
    bytes: u64,
    flags: [u64; 3],
    times: Times,
}

/// Times that were counted.
#[derive(Default)]
pub(crate) struct Times {
    count: u64,
    sum: u128,
    max: Nanos,
    /// Made with the first time, as it is large.
    histogram: Option<Histogram>,
}

impl Times {
    #[inline]
    pub(crate) fn add(&mut self, time: Nanos) {
        self.count += 1;
        self.sum += u128::from(time.get());
        self.max = self.max.max(time);
        self.histogram.get_or_insert_default().record(time);
    }

    pub(crate) fn summary(&self) -> Option<ServiceTimes> {
        let histogram = self.histogram.as_ref()?;
        Some(ServiceTimes {
            count: self.count,
            mean: Nanos((self.sum / u128::from(self.count)) as u64),
            p50: histogram.percentile(0.5),
            p99: histogram.percentile(0.99),
            p999: histogram.percentile(0.999),
            max: self.max,
        })
    }
}

/// What lies between flushes and writes with force unit access.
#[derive(Default)]
struct Between {
    count: u64,
    last: Option<Instant>,
    written: u64,
    sum: u64,
    max: u64,
    bytes: Histogram,
    gaps: Histogram,
}

impl Between {
    fn add(&mut self, request: &Traced) {
        let is_barrier = request.is_barrier();
        if request.op == Op::Write {
            self.written += u64::from(request.length);
        }
        if !is_barrier {
            return;
        }
        self.count += 1;
        // Before the first one the trace does not tell since when.
        if let Some(last) = self.last {
            self.sum += self.written;
            self.max = self.max.max(self.written);
            self.bytes.record(Nanos(self.written));
            self.gaps.record(request.issued.since(last));
        }
        self.last = Some(request.issued);
        self.written = 0;
    }

    fn summary(&self) -> Option<Syncs> {
        let between = self.count.checked_sub(1).filter(|between| *between > 0)?;
        Some(Syncs {
            count: self.count,
            mean_bytes: Bytes(self.sum / between),
            p50_bytes: self.bytes.percentile(0.5).map(|bytes| Bytes(bytes.get())),
            max_bytes: Bytes(self.max),
            p50_gap: self.gaps.percentile(0.5),
        })
    }
}

impl Figures {
    /// With nothing counted.
    pub fn new() -> Figures {
        Figures::default()
    }

    /// Counts a request, which was issued no earlier than those before it.
    pub fn add(&mut self, request: &Traced) {
        if self.requests == 0 {
            (self.first, self.last) = (request.issued, request.issued);
        } else {
            let gap = request.issued.since(self.last);
            self.gaps.record(gap);
            self.longest_gap = self.longest_gap.max(gap);
        }
        self.requests += 1;
        self.failed += u64::from(request.flags.has(Flags::FAILED));
        self.last = request.issued;
        self.end = self.end.max(request.completed.unwrap_or(request.issued));
        let since = request.issued.since(self.first);
        let period = since.get() / PEAK_PERIOD.get();
        if period != self.period.0 {
            self.period = (period, 0);
        }
        self.period.1 += 1;
        self.peak = self.peak.max(self.period.1);
        self.kinds[request.op.index()].add(request);
        if request.moves_data() {
            let way = request.op.index();
            self.classes[way][ChunkClass::of(Bytes(u64::from(request.length))) as usize].add(request);
            self.sizes.entry(power(request.length)).or_default()[way] += 1;
            self.of_4k += u64::from(request.length == 4096);
            self.streams.add(request);
            self.touched.add(request);
            self.heat.add(since, request);
        }
        self.depths.add(request);
        self.syncs.add(request);
    }

    /// What was counted; `dropped` events had no room when it was recorded.
    pub fn finish(&self, dropped: u64) -> TraceFigures {
        let data = self.kinds[0].requests + self.kinds[1].requests;
        let ops = [TraceOp::Read, TraceOp::Write, TraceOp::Flush, TraceOp::Discard];
        let kinds = ops.iter().zip(&self.kinds).filter(|(_, tally)| tally.requests > 0);
        let classes = ops.iter().zip(&self.classes).flat_map(|(op, tallies)| {
            let each = ChunkClass::ALL.into_iter().zip(tallies).filter(|(_, tally)| tally.requests > 0);
            each.map(|(class, tally)| ClassFigures {
                op: *op,
                class,
                requests: tally.requests,
                bytes: Bytes(tally.bytes),
                times: tally.times.summary(),
            })
        });
        TraceFigures {
            requests: self.requests,
            dropped,
            failed: self.failed,
            span: self.end.since(self.first),
            kinds: kinds.map(|(op, tally)| tally.figures(*op)).collect(),
            classes: classes.collect(),
            sizes: self.sizes.iter().map(|(power, [reads, writes])| bin(*power, *reads, *writes)).collect(),
            share_of_4k: (data > 0).then(|| self.of_4k as f64 / data as f64),
            arrivals: self.arrivals(),
            depth: self.depths.summary(),
            streams: self.streams.summary(self.kinds[0].requests, self.kinds[1].requests),
            syncs: self.syncs.summary(),
            working_set: self.touched.summary(),
            heat: self.heat.map(),
        }
    }

    fn arrivals(&self) -> Option<Arrivals> {
        let time = self.last.since(self.first);
        (time > Nanos::ZERO).then(|| Arrivals {
            per_s: (self.requests - 1) as f64 / time.as_secs_f64(),
            peak_per_s: self.peak as f64 / PEAK_PERIOD.as_secs_f64(),
            peak_period: PEAK_PERIOD,
            gap_p50: self.gaps.percentile(0.5),
            gap_p99: self.gaps.percentile(0.99),
            gap_max: self.longest_gap,
        })
    }
}

impl Tally {
    #[inline]
    fn add(&mut self, request: &Traced) {
        self.requests += 1;
        self.bytes += u64::from(request.length);
        for (count, flag) in self.flags.iter_mut().zip([Flags::SYNC, Flags::FUA, Flags::META]) {
            *count += u64::from(request.flags.has(flag));
        }
        if let Some(time) = request.service_time() {
            self.times.add(time);
        }
    }

    fn figures(&self, op: TraceOp) -> KindFigures {
        let [sync, fua, meta] = self.flags;
        KindFigures {
            op,
            requests: self.requests,
            bytes: Bytes(self.bytes),
            sync,
            fua,
            meta,
            times: self.times.summary(),
        }
    }
}

/// The power of two that a length reaches up to.
fn power(length: u32) -> u32 {
    u64::from(length).next_power_of_two().trailing_zeros()
}

fn bin(power: u32, reads: u64, writes: u64) -> SizeBin {
    SizeBin { up_to: Bytes(1 << power), reads, writes }
}
