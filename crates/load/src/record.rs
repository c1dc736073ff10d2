//! What one worker writes down while it runs. Everything is there before the first request: nothing here allocates
//! between the first request and the last, unless one fails and its reason has to be kept.

use crate::histogram::Histogram;
use crate::series::{Series, WrittenSeries};
use flashscope_units::{Bytes, Instant, Nanos};

/// Failures that are kept with their reason; the others are counted.
pub const KEPT_FAILURES: usize = 64;
/// First period of the time series; it doubles as the run goes on.
pub const FIRST_PERIOD: Nanos = Nanos::millis(10);
/// First stretch of the series by bytes written; it doubles as well.
pub const FIRST_STRETCH: Bytes = Bytes::mib(1);

/// What a request was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A flush.
    Flush,
    /// A read that only checks what was written.
    ReadBack,
}

/// One request, for those who want to see each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// When it was due.
    pub intended: Instant,
    /// When it was handed over.
    pub issued: Instant,
    /// When it ended.
    pub completed: Instant,
    /// Where.
    pub offset: u64,
    /// How much.
    pub length: u32,
    /// What.
    pub kind: Kind,
}

/// Takes a full buffer of trace entries and leaves an empty one with room.
pub type TraceSink = Box<dyn FnMut(&mut Vec<TraceEntry>) + Send>;

/// A bounded trace. Without a sink its entries stay in memory.
pub struct Trace {
    left: u64,
    entries: Vec<TraceEntry>,
    sink: Option<TraceSink>,
}

/// Entries in a buffer that goes to the sink: 3 MiB.
pub const TRACE_BUFFER: usize = 1 << 16;
/// Entries that may stay in memory.
pub const TRACE_IN_MEMORY: u64 = 1 << 20;

impl Trace {
    /// Keeps the first `limit` requests.
    pub fn new(limit: u64, sink: Option<TraceSink>) -> Trace {
        let limit = if sink.is_some() { limit } else { limit.min(TRACE_IN_MEMORY) };
        let room = if sink.is_some() && limit > 0 { TRACE_BUFFER as u64 } else { limit };
        Trace { left: limit, entries: Vec::with_capacity(room as usize), sink }
    }

    #[inline]
    fn record(&mut self, entry: TraceEntry) {
        if self.left > 0 {
            self.keep(entry);
        }
    }

    #[inline(never)]
    fn keep(&mut self, entry: TraceEntry) {
        self.left -= 1;
        self.entries.push(entry);
        if (self.entries.len() == self.entries.capacity() || self.left == 0)
            && let Some(sink) = &mut self.sink
        {
            sink(&mut self.entries);
        }
    }

    /// Hands the rest to the sink, and lets go of it.
    pub fn finish(&mut self) {
        if let Some(mut sink) = self.sink.take()
            && !self.entries.is_empty()
        {
            sink(&mut self.entries);
        }
        self.left = 0;
    }

    /// What stayed in memory.
    pub fn entries(&self) -> &[TraceEntry] {
        &self.entries
    }
}

/// What was counted in one direction.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Requests that went well.
    pub requests: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Sum of their service times in nanoseconds.
    pub service_sum: u64,
    /// Shortest and longest service time.
    pub service_range: (Nanos, Nanos),
    /// Issue to completion.
    pub service: Histogram,
    /// For an open loop: due to issue, and due to completion, each with its longest.
    pub open: Option<Box<OpenLoop>>,
}

/// Times that only exist where requests are due at a time of their own.
#[derive(Clone, Debug, Default)]
pub struct OpenLoop {
    /// Due to issue.
    pub queue: Histogram,
    /// Due to completion.
    pub response: Histogram,
    /// Sums in nanoseconds.
    pub queue_sum: u64,
    /// Sum of response times in nanoseconds.
    pub response_sum: u64,
    /// Shortest and longest.
    pub queue_range: (Nanos, Nanos),
    /// Shortest and longest.
    pub response_range: (Nanos, Nanos),
}

const NO_RANGE: (Nanos, Nanos) = (Nanos(u64::MAX), Nanos::ZERO);

#[inline]
fn widen(range: &mut (Nanos, Nanos), value: Nanos) {
    *range = (range.0.min(value), range.1.max(value));
}

impl Tally {
    fn new(open: bool) -> Tally {
        let open =
            open.then(|| Box::new(OpenLoop { queue_range: NO_RANGE, response_range: NO_RANGE, ..OpenLoop::default() }));
        Tally { requests: 0, bytes: 0, service_sum: 0, service_range: NO_RANGE, service: Histogram::new(), open }
    }

    #[inline]
    fn record(&mut self, bytes: u32, service: Nanos) {
        self.requests += 1;
        self.bytes += u64::from(bytes);
        self.service_sum += service.0;
        widen(&mut self.service_range, service);
        self.service.record(service);
    }

    #[inline(never)]
    fn record_open(&mut self, intended: Instant, issued: Instant, completed: Instant) {
        let Some(open) = &mut self.open else { return };
        let (queue, response) = (issued.since(intended), completed.since(intended));
        open.queue.record(queue);
        open.response.record(response);
        open.queue_sum += queue.0;
        open.response_sum += response.0;
        widen(&mut open.queue_range, queue);
        widen(&mut open.response_range, response);
    }

    /// Adds what another worker counted.
    pub fn add(&mut self, other: &Tally) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.service_sum += other.service_sum;
        let merge =
            |mine: &mut (Nanos, Nanos), theirs: (Nanos, Nanos)| *mine = (mine.0.min(theirs.0), mine.1.max(theirs.1));
        merge(&mut self.service_range, other.service_range);
        self.service.add(&other.service);
        if let (Some(mine), Some(theirs)) = (&mut self.open, &other.open) {
            mine.queue.add(&theirs.queue);
            mine.response.add(&theirs.response);
            mine.queue_sum += theirs.queue_sum;
            mine.response_sum += theirs.response_sum;
            merge(&mut mine.queue_range, theirs.queue_range);
            merge(&mut mine.response_range, theirs.response_range);
        }
    }

    fn clear(&mut self) {
        (self.requests, self.bytes, self.service_sum, self.service_range) = (0, 0, 0, NO_RANGE);
        self.service.clear();
        if let Some(open) = &mut self.open {
            open.queue.clear();
            open.response.clear();
            (open.queue_sum, open.response_sum, open.queue_range, open.response_range) = (0, 0, NO_RANGE, NO_RANGE);
        }
    }

    fn copy_from(&mut self, other: &Tally) {
        (self.requests, self.bytes, self.service_sum) = (other.requests, other.bytes, other.service_sum);
        self.service_range = other.service_range;
        self.service.copy_from(&other.service);
        if let (Some(mine), Some(theirs)) = (&mut self.open, &other.open) {
            mine.queue.copy_from(&theirs.queue);
            mine.response.copy_from(&theirs.response);
            (mine.queue_sum, mine.response_sum) = (theirs.queue_sum, theirs.response_sum);
            (mine.queue_range, mine.response_range) = (theirs.queue_range, theirs.response_range);
        }
    }
}

/// A request that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// When.
    pub at: Instant,
    /// What it was.
    pub kind: Kind,
    /// Where.
    pub offset: u64,
    /// How much.
    pub length: u32,
    /// Why.
    pub reason: String,
    /// For a mismatch.
    pub mismatch: Option<Mismatch>,
}

/// A read that found other bytes than were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Position of the first wrong byte on the target.
    pub position: u64,
    /// What should have stood there, in words.
    pub expected: String,
    /// What stood there, in words.
    pub found: String,
}

/// The longest time in which requests were outstanding and none ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stall {
    /// How long.
    pub time: Nanos,
    /// When it began.
    pub from: Instant,
}

/// The notes of one worker.
pub struct Recorder {
    /// Reads.
    pub read: Tally,
    /// Writes.
    pub write: Tally,
    /// Flushes; they move no bytes.
    pub flush: Tally,
    /// Reads that only checked; part of no rate.
    pub read_back: Tally,
    /// By time.
    pub series: Series,
    /// By bytes written.
    pub written: WrittenSeries,
    /// The longest stall.
    pub stall: Stall,
    /// Begin of what is counted.
    pub from: Instant,
    /// End of what is counted: the last completion.
    pub until: Instant,
    /// What was moved before this began to count: requests, bytes read, bytes written.
    pub warm_up: (u64, u64, u64),
    /// Requests that failed.
    pub failed: u64,
    /// Reads that found other bytes than expected.
    pub mismatched: u64,
    /// The first of both.
    pub failures: Vec<Failure>,
    /// Each request, on demand.
    pub trace: Trace,
    open: bool,
    quiet_since: Instant,
}

impl Recorder {
    /// For an `open` loop queue and response times are kept too.
    pub fn new(open: bool, trace: Trace) -> Recorder {
        Recorder {
            read: Tally::new(open),
            write: Tally::new(open),
            flush: Tally::new(false),
            read_back: Tally::new(false),
            series: Series::new(Instant::ORIGIN, FIRST_PERIOD),
            written: WrittenSeries::new(FIRST_STRETCH),
            stall: Stall::default(),
            from: Instant::ORIGIN,
            until: Instant::ORIGIN,
            warm_up: (0, 0, 0),
            failed: 0,
            mismatched: 0,
            failures: Vec::with_capacity(KEPT_FAILURES),
            trace,
            open,
            quiet_since: Instant::ORIGIN,
        }
    }

    /// What was counted so far was warm-up: begins anew.
    pub fn start(&mut self, at: Instant) {
        for tally in [&mut self.read, &mut self.write, &mut self.flush] {
            tally.clear();
        }
        self.series.restart(at, FIRST_PERIOD);
        self.written.restart(FIRST_STRETCH);
        self.stall = Stall::default();
        (self.from, self.until, self.quiet_since) = (at, at, at);
    }

    /// The queue was empty until `at`: silence before is no stall.
    #[inline]
    pub fn busy_from(&mut self, at: Instant) {
        self.quiet_since = at;
    }

    /// A read or write that went well.
    #[inline]
    pub fn record(&mut self, entry: TraceEntry) {
        let TraceEntry { intended, issued, completed, length, kind, .. } = entry;
        let service = completed.since(issued);
        let period = self.series.entry(completed);
        period.service_sum += service.0;
        period.service_max = period.service_max.max(service.0);
        let tally = if kind == Kind::Read {
            period.reads += 1;
            period.read_bytes += u64::from(length);
            &mut self.read
        } else {
            period.writes += 1;
            period.written_bytes += u64::from(length);
            self.written.record(completed, u64::from(length));
            &mut self.write
        };
        tally.record(length, service);
        if self.open {
            tally.record_open(intended, issued, completed);
        }
        self.ended(completed);
        self.trace.record(entry);
    }

    /// A flush that went well, or a read that checked and was right.
    pub fn record_aside(&mut self, entry: TraceEntry) {
        let service = entry.completed.since(entry.issued);
        if entry.kind == Kind::Flush {
            self.flush.record(0, service);
            self.ended(entry.completed);
        } else {
            self.read_back.record(entry.length, service);
        }
        self.trace.record(entry);
    }

    /// A request of the warm-up.
    pub fn record_warm_up(&mut self, entry: TraceEntry) {
        let bytes = u64::from(entry.length);
        self.warm_up.0 += 1;
        match entry.kind {
            Kind::Read | Kind::ReadBack => self.warm_up.1 += bytes,
            Kind::Write => self.warm_up.2 += bytes,
            Kind::Flush => {}
        }
    }

    /// Whatever came of it, the device answered.
    #[inline]
    pub fn ended(&mut self, completed: Instant) {
        let quiet = completed.since(self.quiet_since);
        if quiet > self.stall.time {
            self.stall = Stall { time: quiet, from: self.quiet_since };
        }
        self.quiet_since = completed;
        self.until = self.until.max(completed);
    }

    /// A request that went wrong.
    pub fn fail(&mut self, failure: Failure) {
        if failure.mismatch.is_some() {
            self.mismatched += 1;
        } else {
            self.failed += 1;
        }
        if self.failures.len() < KEPT_FAILURES {
            self.failures.push(failure);
        }
    }

    /// Becomes the same as another one, but for the trace; allocates only where there are failures.
    pub fn copy_from(&mut self, other: &Recorder) {
        self.read.copy_from(&other.read);
        self.write.copy_from(&other.write);
        self.flush.copy_from(&other.flush);
        self.read_back.copy_from(&other.read_back);
        self.series.copy_from(&other.series);
        self.written.copy_from(&other.written);
        (self.stall, self.from, self.until, self.warm_up) = (other.stall, other.from, other.until, other.warm_up);
        (self.failed, self.mismatched, self.quiet_since) = (other.failed, other.mismatched, other.quiet_since);
        self.failures.clone_from(&other.failures);
    }
}
