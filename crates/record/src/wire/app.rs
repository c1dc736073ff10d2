//! The part of applications played: what was planned, where, every run, and what they come to.

use crate::mirror::{mirror, mirror_tuple, part};
use crate::wire::{ChunkClass, TraceClass, TraceOp};
use flashscope_model::app as model;

part! {
    /// Applications played on files.
    AppPart of model::AppRecord as [App] {
        /// What was to be played.
        plan: AppPlan = plan,
        /// Where.
        place: AppPlace = place,
        /// Every run of an app, in order.
        app_runs: Vec<AppRun> = runs,
        /// What they come to, one entry per app and case.
        figures: Vec<AppFigures> = figures,
    }
}

mirror! {
    /// What was to be played.
    AppPlan of model::AppPlan {
        /// The suite; null of a single app.
        suite: Option<String> = suite,
        /// The cases, in order.
        sequence: Vec<String> = sequence,
        /// The apps with their rounds.
        apps: Vec<PlannedApp> = apps,
        /// How often each app is played in a case.
        repeat: u32 = repeat,
        /// All names, sizes and places follow from it.
        seed: u64 = seed,
        /// Idle time before each run.
        idle_ns: u64 = idle,
        /// Share of the photos that a full case deletes when the file system is full; null where there is no such case.
        delete_ratio: Option<f64> = delete_share,
        /// SQLite's journal mode in the place of the apps' own; null for their own.
        journal_mode: Option<String> = journal,
        /// SQLite's synchronous likewise.
        synchronous: Option<String> = synchronous,
    }

    /// An app of a plan.
    PlannedApp of model::PlannedApp {
        /// Its name.
        name: String = name,
        /// What it is.
        title: String = title,
        /// Where its counts and sizes come from.
        source: String = source,
        /// How often its operations are performed.
        rounds: u64 = rounds,
        /// Its definition as it was played.
        definition: String = definition,
    }

    /// Where apps were played.
    AppPlace of model::AppPlace {
        /// The directory; null where a file system was made for it.
        directory: Option<String> = directory,
        /// Its file system; null where the kernel does not tell.
        file_system: Option<String> = file_system,
        /// Options of the mount.
        mount_options: Vec<String> = options,
        /// Size of the file system.
        capacity_bytes: u64 = capacity,
        /// Of these free before the first run.
        free_bytes: u64 = free,
        /// The block device below; null where there is none.
        block_device: Option<String> = device,
        /// SQLite's version.
        sqlite_version: String = sqlite,
        /// The system call by which this SQLite waits for the medium.
        sync_call: String = sync_call,
        /// What must be known of it, in sentences.
        remarks: Vec<String> = remarks,
    }

    /// An app, played once.
    AppRun of model::AppRun {
        /// Which.
        app: String = app,
        /// In which case.
        case: String = case,
        /// Where the case stands in the sequence, counted from 1.
        case_place: u32 = place,
        /// Counted from 1 within its case.
        number: u32 = number,
        /// How long its preparation took.
        preparation_time_ns: u64 = prepared,
        /// From the first operation to the end of the last.
        elapsed_ns: u64 = elapsed,
        /// Of these thinking and waiting for the next period.
        think_time_ns: u64 = thinking,
        /// Of these flashscope's own.
        own_time_ns: u64 = own,
        /// What was left to be written when it ended took so long.
        settle_time_ns: u64 = settled,
        /// What the device did meanwhile; null where nobody counts.
        device_work: Option<DeviceWork> = device,
        /// What the device was given meanwhile, request by request; null where nobody wrote that down.
        given: Option<Given> = given,
        /// Its operations, in the order of the definition.
        operations: Vec<OperationRun> = operations,
        /// What failed: the first hundred.
        failures: Vec<ActFailure> = failures,
        /// Why it ended before all was done; null where it did not.
        ended_by: Option<String> = ended,
    }

    /// What a device was given during a run.
    Given of model::Given {
        /// When the run began, since the first request of the trace.
        from_ns: u64 = from,
        /// When it ended: requests issued from the one to the other count.
        to_ns: u64 = to,
        /// Reads and writes by size.
        chunk_classes: Vec<TraceClass> = classes,
    }

    /// What a device did during a run, by the kernel's counters.
    DeviceWork of model::DeviceWork {
        /// Time with a read or write outstanding.
        busy_ns: u64 = busy,
        /// Reads that ended.
        reads: u64 = reads,
        /// Bytes read.
        read_bytes: u64 = read,
        /// Writes that ended.
        writes: u64 = writes,
        /// Bytes written.
        written_bytes: u64 = written,
        /// Flushes that ended; null where the kernel does not count them.
        flushes: Option<u64> = flushes,
        /// Time of flushes, which is no part of `busy_ns`; null where the kernel does not count it.
        flush_time_ns: Option<u64> = flushing,
    }

    /// All performances of one operation in a run.
    OperationRun of model::OperationRun {
        /// Its name.
        name: String = name,
        /// Its thread.
        thread: String = thread,
        /// When each began, since the run did; of one with a period when it should have.
        start_ns: Vec<u64> = starts,
        /// How long the user waited for each, from there.
        response_time_ns: Vec<u64> = times,
        /// Of one with a period: how long one may take before somebody notices.
        deadline_ns: Option<u64> = deadline,
        /// Bytes that its calls read.
        read_bytes: u64 = read,
        /// Bytes that its calls wrote, those of SQLite aside.
        written_bytes: u64 = written,
    }

    /// Something that failed.
    ActFailure of model::ActFailure {
        /// The operation.
        operation: String = operation,
        /// Since the run began.
        at_ns: u64 = at,
        /// What was tried and what the system said.
        what: String = what,
    }

    /// What the runs of an app in one case come to.
    AppFigures of model::AppFigures {
        /// The app.
        app: String = app,
        /// The case.
        case: String = case,
        /// Where the case stands in the sequence, counted from 1.
        case_place: u32 = place,
        /// Runs that came to their end.
        runs: u32 = runs,
        /// Run time over these runs; null where none came to its end.
        run_time: Option<Spread> = run_time,
        /// Share of the run time in which the device had a read, write or flush outstanding; null where nobody counts.
        device_ratio: Option<f64> = device_share,
        /// flashscope's own time as a share of the run time.
        own_ratio: Option<f64> = own_share,
        /// What the device was given by size; empty where nobody wrote that down.
        chunk_classes: Vec<Chunks> = chunks,
        /// Its operations.
        operations: Vec<OperationFigures> = operations,
        /// The longest waits, the longest first.
        stalls: Vec<AppStall> = stalls,
    }

    /// Reads or writes of one class of sizes over all runs of an app, those aside that ended early.
    Chunks of model::Chunks {
        /// Which way: reads or writes.
        kind: TraceOp = op,
        /// Which sizes.
        size: ChunkClass = class,
        /// How many.
        requests: u64 = requests,
        /// What they moved.
        bytes: u64 = bytes,
        /// How many per second of the run time.
        iops: f64 = iops,
        /// What they moved per second of the run time.
        rate_bytes_per_s: f64 = rate,
    }

    /// Mean and spread of times.
    Spread of model::Spread {
        /// The mean.
        mean_ns: u64 = mean,
        /// Standard deviation, divisor n − 1; null of one time.
        deviation_ns: Option<u64> = deviation,
        /// Interval of the mean at 95 %; null of one time, and where it would reach below zero.
        mean_interval_ns: Option<TimeInterval> = interval,
    }

    /// Response times of one operation over all runs of a case.
    OperationFigures of model::OperationFigures {
        /// Its name.
        name: String = name,
        /// How often it was performed and did not fail.
        count: u64 = count,
        /// Mean and spread.
        response_time: Spread = time,
        /// The shortest.
        response_time_ns_min: u64 = min,
        /// Half of them took no longer.
        response_time_ns_p50: u64 = median,
        /// 90 % took no longer; null of fewer than 20.
        response_time_ns_p90: Option<u64> = p90,
        /// 99 % took no longer; null of fewer than 200.
        response_time_ns_p99: Option<u64> = p99,
        /// The longest.
        response_time_ns_max: u64 = max,
        /// How many a second, one after the other.
        operations_per_s: Option<f64> = per_second,
        /// Of one with a period: those that took longer than their deadline.
        underruns: Option<Underruns> = underruns,
    }

    /// Deadlines that were missed.
    Underruns of model::Underruns {
        /// How many.
        count: u64 = count,
        /// By how much the worst was late.
        longest_ns: u64 = longest,
    }

    /// A long wait.
    AppStall of model::Stall {
        /// The operation.
        operation: String = operation,
        /// The run.
        run: u32 = run,
        /// Since the run began.
        at_ns: u64 = at,
        /// How long.
        response_time_ns: u64 = time,
        /// How many times the median of its operation.
        times_median: u64 = times_median,
    }
}

mirror_tuple! {
    /// From one time to another.
    TimeInterval of (flashscope_units::Nanos, flashscope_units::Nanos) {
        /// The lower end.
        low_ns: u64,
        /// The upper end.
        high_ns: u64,
    }
}
