//! The part of a block trace: where it came from, what it shows, and what came of replaying it.

use crate::mirror::{mirror, mirror_tuple, part, words};
use flashscope_model::trace as model;

part! {
    /// A block trace, looked at or replayed.
    TracePart of model::TraceRecord as [Trace] {
        /// Where the trace came from.
        trace: TraceSource = source,
        /// What it shows.
        figures: TraceFigures = figures,
        /// What came of replaying it; null where it was only looked at.
        replay: Option<Replayed> = replay,
    }
}

mirror! {
    /// Where a trace came from.
    TraceSource of model::TraceSource {
        /// The file.
        file: String = file,
        /// What it says of its origin, in a sentence.
        origin: String = origin,
        /// Size of the traced device; null where the trace does not tell.
        capacity_bytes: Option<u64> = capacity,
        /// What must be known of it.
        notes: Vec<String> = notes,
    }

    /// What requests show.
    TraceFigures of model::TraceFigures {
        /// How many there are.
        requests: u64 = requests,
        /// Events that the recorder had no room for.
        dropped_events: u64 = dropped,
        /// Requests that the device failed.
        failed_requests: u64 = failed,
        /// From the first issue to the last issue or end.
        span_ns: u64 = span,
        /// By what they asked for.
        kinds: Vec<TraceKind> = kinds,
        /// Reads and writes by the class of their size.
        classes: Vec<TraceClass> = classes,
        /// Reads and writes by powers of two.
        sizes: Vec<SizeBin> = sizes,
        /// Share of reads and writes that are of 4 KiB; null where there are none.
        requests_of_4kib_ratio: Option<f64> = share_of_4k,
        /// How they came; null where the trace has no times.
        arrivals: Option<TraceArrivals> = arrivals,
        /// How many were outstanding; null where ends are not known.
        depth: Option<ReplayDepth> = depth,
        /// How far they follow each other.
        streams: TraceStreams = streams,
        /// What was written between flushes and writes with force unit access; null of fewer than two of these.
        syncs: Option<TraceSyncs> = syncs,
        /// How much of the device was touched.
        working_set: WorkingSet = working_set,
        /// Address over time.
        heat_map: HeatMap = heat,
    }

    /// Times from issue to completion.
    ServiceTimes of model::ServiceTimes {
        /// How many are known.
        count: u64 = count,
        /// Their mean.
        service_time_ns_mean: u64 = mean,
        /// Half took no longer; null where fewer than ten took longer.
        service_time_ns_p50: Option<u64> = p50,
        /// 99 of 100 took no longer.
        service_time_ns_p99: Option<u64> = p99,
        /// 999 of 1000 took no longer.
        service_time_ns_p999: Option<u64> = p999,
        /// The longest.
        service_time_ns_max: u64 = max,
    }

    /// Requests of one kind.
    TraceKind of model::KindFigures {
        /// Which.
        op: TraceOp = op,
        /// How many.
        requests: u64 = requests,
        /// What they moved, or discarded.
        bytes: u64 = bytes,
        /// Those that somebody waited for.
        sync_requests: u64 = sync,
        /// Those with force unit access.
        fua_requests: u64 = fua,
        /// Those of a file system's own structures.
        meta_requests: u64 = meta,
        /// How long they took; null where that is not known.
        times: Option<ServiceTimes> = times,
    }

    /// Reads or writes of one class of sizes.
    TraceClass of model::ClassFigures {
        /// Which way.
        op: TraceOp = op,
        /// Which sizes.
        class: ChunkClass = class,
        /// How many.
        requests: u64 = requests,
        /// What they moved.
        bytes: u64 = bytes,
        /// How long they took; null where that is not known.
        times: Option<ServiceTimes> = times,
    }

    /// Requests of sizes above half of one, up to that.
    SizeBin of model::SizeBin {
        /// The largest size.
        up_to_bytes: u64 = up_to,
        /// Reads.
        reads: u64 = reads,
        /// Writes.
        writes: u64 = writes,
    }

    /// How requests came.
    TraceArrivals of model::Arrivals {
        /// Requests a second over the whole span.
        requests_per_s: f64 = per_s,
        /// In the busiest period.
        peak_requests_per_s: f64 = peak_per_s,
        /// How long such a period is.
        peak_period_ns: u64 = peak_period,
        /// From one issue to the next: half are no longer; null of too few.
        gap_ns_p50: Option<u64> = gap_p50,
        /// 99 of 100.
        gap_ns_p99: Option<u64> = gap_p99,
        /// The longest time without an issue.
        gap_ns_max: u64 = gap_max,
    }

    /// Requests outstanding, the new one included, whenever one was issued.
    ReplayDepth of model::Depth {
        /// On average.
        mean: f64 = mean,
        /// At most.
        max: u32 = max,
        /// Each depth that occurred; the last one stands for all deeper ones as well.
        shares: Vec<DepthShare> = shares,
    }

    /// Sequential streams.
    TraceStreams of model::Streams {
        /// Share of reads that go on with an earlier one; null without reads.
        sequential_reads_ratio: Option<f64> = sequential_reads,
        /// Of writes.
        sequential_writes_ratio: Option<f64> = sequential_writes,
        /// Runs of two requests and more.
        runs: u64 = runs,
        /// What such a run moves on average; null without one.
        run_bytes_mean: Option<u64> = mean_run,
        /// What the longest moves.
        run_bytes_max: Option<u64> = longest_run,
    }

    /// Distances between flushes and writes with force unit access.
    TraceSyncs of model::Syncs {
        /// How many there are.
        count: u64 = count,
        /// Bytes written between two, on average.
        written_bytes_mean: u64 = mean_bytes,
        /// Half of all have no more between them; null of too few.
        written_bytes_p50: Option<u64> = p50_bytes,
        /// The most.
        written_bytes_max: u64 = max_bytes,
        /// Time between two; null of too few.
        gap_ns_p50: Option<u64> = p50_gap,
    }

    /// Places that were touched at all, counted in units.
    WorkingSet of model::WorkingSet {
        /// The unit.
        unit_bytes: u64 = unit,
        /// Units that were read.
        read_bytes: u64 = read,
        /// Units that were written.
        written_bytes: u64 = written,
        /// Units that were either.
        touched_bytes: u64 = touched,
        /// Where the first of them begins.
        first_bytes: u64 = first,
        /// Where the last range ends.
        end_bytes: u64 = end,
    }

    /// Reads and writes by time and address.
    HeatMap of model::HeatMap {
        /// How long a column is.
        period_ns: u64 = period,
        /// How much of the device a row is.
        stretch_bytes: u64 = stretch,
        /// Cells that are not empty.
        cells: Vec<HeatCell> = cells,
    }

    /// A cell of a heat map.
    HeatCell of model::HeatCell {
        /// Its column, from 0.
        column: u32 = column,
        /// Its row, from 0.
        row: u32 = row,
        /// Reads that begin in it.
        reads: u64 = reads,
        /// Writes that begin in it.
        writes: u64 = writes,
    }

    /// A replay, and how near it came to the trace.
    Replayed of model::Replay {
        /// In which way.
        mode: String = mode,
        /// What stands between the trace and the device.
        changes: Vec<String> = changes,
        /// From the first issue to the last end.
        total_ns: u64 = total,
        /// The same of the trace; of a trace without ends to its last issue.
        original_ns: u64 = original,
        /// What was issued later than it was due; null where nothing had a time.
        lateness: Option<ServiceTimes> = lateness,
        /// Largest difference of the distribution functions of depth between trace and replay; null where the trace's is not
        /// known.
        depth_distance_ratio: Option<f64> = depth_distance,
        /// Requests issued while one was outstanding that had ended before them in the trace; null where its ends are not known.
        order_violations: Option<u64> = order_violations,
        /// What the replay showed.
        figures: TraceFigures = figures,
        /// Why requests failed.
        failures: Vec<ReplayFailure> = failures,
    }
}

mirror_tuple! {
    /// A depth and how often requests were issued at it.
    DepthShare of (u32, f64) {
        /// Requests outstanding.
        depth: u32,
        /// Share of all.
        ratio: f64,
    }

    /// A reason why requests failed.
    ReplayFailure of (String, u64) {
        /// In words.
        reason: String,
        /// How many failed so.
        requests: u64,
    }
}

words! {
    /// What a request asked for.
    TraceOp mirrors model::TraceOp {
        /// A read.
        Read,
        /// A write.
        Write,
        /// A flush.
        Flush,
        /// A discard.
        Discard,
    }
}

words! {
    /// The classes of sizes in which published reports of phones count requests.
    ChunkClass mirrors model::ChunkClass {
        /// Up to 8 KiB.
        Small,
        /// Above 8 and up to 64 KiB.
        Middle,
        /// Above 64 and up to 512 KiB.
        Large,
        /// Above 512 KiB.
        Huge,
    }
}
