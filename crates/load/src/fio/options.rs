//! The options of fio that are known here, and what becomes of each.

/// What becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Carried out; it has a value.
    Value,
    /// Carried out, or without effect; it may stand alone.
    Flag,
    /// It changes no result here.
    Ignored,
    /// It would change the result, and cannot be carried out: why not.
    Refused(&'static str),
}

use Kind::{Flag, Ignored, Refused, Value};

/// The main spelling of an option, and what becomes of it.
pub(super) fn find(name: &str) -> Option<(&'static str, Kind)> {
    let found = ALL.iter().find(|(names, _)| names.contains(&name))?;
    Some((found.0[0], found.1))
}

/// Whether a flag changes no result.
pub(super) fn is_idle_flag(name: &str) -> bool {
    IDLE_FLAGS.contains(&name)
}

/// An option of the program rather than of a job: whether it takes a value.
pub(super) fn switch(name: &str) -> Option<bool> {
    SWITCHES.iter().find(|(other, _)| *other == name).map(|(_, takes)| *takes)
}

/// What to do instead of an option of the program itself, rather than of a job, that is not taken.
pub(super) fn programs_own(name: &str) -> Option<&'static str> {
    PROGRAMS_OWN.iter().find(|(names, _)| names.contains(&name)).map(|(_, hint)| *hint)
}

/// The known option whose name is nearest, where one is near enough for a slip.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let all = ALL.iter().flat_map(|(names, _)| names.iter());
    let near = all.map(|other| (distance(name, other), *other)).min()?;
    (near.0 <= 2 && near.0 < name.chars().count()).then_some(near.1)
}

/// Levenshtein's.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, letter) in one.chars().take(64).enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, wanted) in other.iter().enumerate() {
            let changed = corner + usize::from(letter != *wanted);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row[other.len()]
}

const ONE_FILE: &str = "files are opened once, and as they are";
const PLACE: &str = "where the program runs is the caller's to say (taskset, nice, ionice, numactl, cgexec)";
const SHAPE: &str = "there is no such pattern of requests here";
const ZONES: &str = "there are no zones here";
const LOGIC: &str = "jobs do not control each other here";
const TRIM: &str = "nothing is discarded here";
const LIMIT: &str = "there is no such end here";
const DATA: &str = "there is no such payload here";
const ENGINE: &str = "the engines here have no such setting";

const IDLE_FLAGS: [&str; 10] = [
    "fixedbufs",
    "registerfiles",
    "thread",
    "group_reporting",
    "new_group",
    "create_serialize",
    "create_fsync",
    "overwrite",
    "unlink",
    "disable_lat",
];

/// Every spelling, the main one first.
const ALL: &[(&[&str], Kind)] = &[
    // What is carried out.
    (&["name"], Value),
    (&["filename"], Value),
    (&["directory"], Value),
    (&["rw", "readwrite"], Value),
    (&["bs", "blocksize"], Value),
    (&["bsrange", "blocksize_range"], Value),
    (&["bssplit"], Value),
    (&["ba", "blockalign"], Value),
    (&["kb_base"], Value),
    (&["size"], Value),
    (&["filesize"], Value),
    (&["io_size", "io_limit"], Value),
    (&["offset"], Value),
    (&["offset_increment"], Value),
    (&["number_ios"], Value),
    (&["loops"], Value),
    (&["runtime", "timeout"], Value),
    (&["time_based"], Flag),
    (&["ramp_time"], Value),
    (&["startdelay", "start_delay"], Value),
    (&["numjobs"], Value),
    (&["iodepth"], Value),
    (&["iodepth_batch", "iodepth_batch_submit"], Value),
    (&["iodepth_batch_complete_min", "iodepth_batch_complete"], Value),
    (&["iodepth_batch_complete_max"], Value),
    (&["iodepth_low"], Value),
    (&["ioengine"], Value),
    (&["direct"], Value),
    (&["buffered"], Value),
    (&["sync"], Value),
    (&["fsync"], Value),
    (&["fdatasync"], Value),
    (&["end_fsync"], Value),
    (&["fsync_on_close"], Value),
    (&["rwmixread"], Value),
    (&["rwmixwrite"], Value),
    (&["random_distribution"], Value),
    (&["norandommap"], Flag),
    (&["randrepeat"], Value),
    (&["allrandrepeat"], Value),
    (&["randseed"], Value),
    (&["rate"], Value),
    (&["rate_iops"], Value),
    (&["rate_process"], Value),
    (&["thinktime"], Value),
    (&["thinktime_blocks"], Value),
    (&["verify"], Value),
    (&["do_verify"], Value),
    (&["buffer_compress_percentage"], Value),
    (&["buffer_pattern"], Value),
    (&["refill_buffers"], Flag),
    (&["zero_buffers"], Flag),
    (&["invalidate"], Value),
    (&["stonewall", "wait_for_previous"], Flag),
    (&["hipri"], Flag),
    (&["nrfiles", "nr_files"], Value),
    (&["zonemode"], Value),
    (&["percentage_random"], Value),
    (&["dedupe_percentage"], Value),
    (&["fill_device", "fill_fs"], Flag),
    (&["filename_format"], Value),
    (&["exitall"], Flag),
    (&["exit_what"], Value),
    (&["wait_for"], Value),
    (&["cpus_allowed"], Value),
    (&["cpus_allowed_policy"], Value),
    (&["cpumask"], Value),
    (&["fadvise_hint", "fadvise"], Value),
    // What changes no result here.
    (&["thread"], Flag),
    (&["group_reporting"], Flag),
    (&["new_group"], Flag),
    (&["description"], Ignored),
    (&["unit_base"], Ignored),
    (&["fallocate"], Ignored),
    (&["create_serialize"], Flag),
    (&["create_fsync"], Flag),
    (&["overwrite"], Flag),
    (&["unlink"], Flag),
    (&["openfiles"], Ignored),
    (&["file_service_type"], Ignored),
    (&["softrandommap"], Ignored),
    (&["random_generator"], Ignored),
    (&["scramble_buffers"], Ignored),
    (&["buffer_compress_chunk"], Ignored),
    (&["fixedbufs"], Flag),
    (&["registerfiles"], Flag),
    (&["mem", "iomem"], Ignored),
    (&["iomem_align", "mem_align"], Ignored),
    (&["clocksource"], Ignored),
    (&["gtod_reduce"], Ignored),
    (&["gtod_cpu"], Ignored),
    (&["disable_lat"], Flag),
    (&["disable_clat"], Ignored),
    (&["disable_slat"], Ignored),
    (&["disable_bw_measurement", "disable_bw"], Ignored),
    (&["disk_util"], Ignored),
    (&["lat_percentiles"], Ignored),
    (&["clat_percentiles"], Ignored),
    (&["slat_percentiles"], Ignored),
    (&["percentile_list"], Ignored),
    (&["significant_figures"], Ignored),
    (&["unified_rw_reporting"], Ignored),
    (&["stats"], Ignored),
    (&["bwavgtime"], Ignored),
    (&["iopsavgtime"], Ignored),
    (&["write_bw_log"], Ignored),
    (&["write_lat_log"], Ignored),
    (&["write_hist_log"], Ignored),
    (&["write_iops_log"], Ignored),
    (&["log_avg_msec"], Ignored),
    (&["log_hist_msec"], Ignored),
    (&["log_hist_coarseness"], Ignored),
    (&["log_max_value"], Ignored),
    (&["log_offset"], Ignored),
    (&["log_compression"], Ignored),
    (&["log_unix_epoch"], Ignored),
    (&["per_job_logs"], Ignored),
    (&["verify_dump"], Ignored),
    (&["verify_interval"], Ignored),
    (&["verify_pattern"], Ignored),
    (&["verify_backlog"], Ignored),
    (&["verify_backlog_batch"], Ignored),
    (&["verify_async"], Ignored),
    (&["verify_state_save"], Ignored),
    (&["verify_fatal"], Ignored),
    (&["continue_on_error"], Ignored),
    (&["error_dump"], Ignored),
    (&["serialize_overlap"], Ignored),
    (&["io_submit_mode"], Ignored),
    (&["ignore_error"], Ignored),
    (&["block_error_percentiles"], Ignored),
    (&["log_prio"], Ignored),
    (&["log_entries"], Ignored),
    (&["log_store_compressed"], Ignored),
    (&["log_alternate_epoch"], Ignored),
    (&["log_alternate_epoch_clock_id"], Ignored),
    (&["unique_filename"], Ignored),
    // What would change it, and is not there.
    (&["nice"], Refused(PLACE)),
    (&["prio"], Refused(PLACE)),
    (&["prioclass"], Refused(PLACE)),
    (&["numa_cpu_nodes"], Refused(PLACE)),
    (&["numa_mem_policy"], Refused(PLACE)),
    (&["cgroup"], Refused(PLACE)),
    (&["cgroup_weight"], Refused(PLACE)),
    (&["uid"], Refused(PLACE)),
    (&["gid"], Refused(PLACE)),
    (&["ioscheduler"], Refused("the scheduler is not changed here (write it to /sys/block/*/queue/scheduler)")),
    (&["opendir"], Refused(ONE_FILE)),
    (&["filetype"], Refused(ONE_FILE)),
    (&["file_append"], Refused(ONE_FILE)),
    (&["create_on_open"], Refused(ONE_FILE)),
    (&["create_only"], Refused("--keep keeps a file that was made")),
    (&["pre_read"], Refused("--warm leaves what is in the page cache")),
    (&["allow_file_create"], Ignored),
    (&["allow_mounted_write"], Refused("a mounted device is never written to")),
    (&["bs_unaligned", "blocksize_unaligned"], Refused(SHAPE)),
    (&["bs_is_seq_rand"], Refused(SHAPE)),
    (&["rw_sequencer"], Refused(SHAPE)),
    (&["offset_align"], Refused(SHAPE)),
    (&["random_offset"], Refused(SHAPE)),
    (&["zonesize"], Refused(ZONES)),
    (&["zonerange"], Refused(ZONES)),
    (&["zoneskip"], Refused(ZONES)),
    (&["read_iolog", "replay_redirect"], Refused("recorded requests are not played back by bench")),
    (&["write_iolog"], Refused("--trace and --trace-to keep requests")),
    (&["write_barrier"], Refused(SHAPE)),
    (&["sync_file_range"], Refused(SHAPE)),
    (&["write_hint"], Refused(ENGINE)),
    (&["atomic"], Refused(ENGINE)),
    (&["sqthread_poll"], Refused(ENGINE)),
    (&["sqthread_poll_cpu"], Refused(ENGINE)),
    (&["force_async"], Refused(ENGINE)),
    (&["nonvectored"], Refused(ENGINE)),
    (&["userspace_reap"], Refused(ENGINE)),
    (&["cmdprio_percentage"], Refused(ENGINE)),
    (&["nowait"], Refused(ENGINE)),
    (&["uncached"], Refused(ENGINE)),
    (&["rate_min", "ratemin"], Refused(LIMIT)),
    (&["rate_iops_min"], Refused(LIMIT)),
    (&["rate_cycle"], Refused(LIMIT)),
    (&["rate_ignore_thinktime"], Refused(LIMIT)),
    (&["latency_target"], Refused(LIMIT)),
    (&["latency_window"], Refused(LIMIT)),
    (&["latency_percentile"], Refused(LIMIT)),
    (&["latency_run"], Refused(LIMIT)),
    (&["max_latency"], Refused("--timeout gives up on a request that takes too long")),
    (&["steadystate", "ss"], Refused("--job files have steady = TIME, by SNIA's rule")),
    (&["steadystate_duration", "ss_dur"], Refused("--job files have steady = TIME, by SNIA's rule")),
    (&["steadystate_ramp_time", "ss_ramp"], Refused("--job files have steady = TIME, by SNIA's rule")),
    (&["thinktime_spin"], Refused(SHAPE)),
    (&["thinktime_blocks_type"], Refused(SHAPE)),
    (&["thinktime_iotime"], Refused(SHAPE)),
    (&["rate_think"], Refused(SHAPE)),
    (&["flow"], Refused(LOGIC)),
    (&["flow_sleep"], Refused(LOGIC)),
    (&["flow_watermark"], Refused(LOGIC)),
    (&["exitall_on_error"], Refused(LOGIC)),
    (&["exec_prerun"], Refused("no other program is run")),
    (&["exec_postrun"], Refused("no other program is run")),
    (&["dedupe_mode"], Refused(DATA)),
    (&["dedupe_global"], Refused(DATA)),
    (&["unlink_each_loop"], Refused(ONE_FILE)),
    (&["flow_id"], Refused(LOGIC)),
    (&["merge_blktrace_file"], Refused("recorded requests are not played back by bench")),
    (&["merge_blktrace_scalars"], Refused("recorded requests are not played back by bench")),
    (&["merge_blktrace_iters"], Refused("recorded requests are not played back by bench")),
    (&["zonecapacity"], Refused(ZONES)),
    (&["read_beyond_wp"], Refused(ZONES)),
    (&["max_open_zones"], Refused(ZONES)),
    (&["job_max_open_zones"], Refused(ZONES)),
    (&["ignore_zone_limits"], Refused(ZONES)),
    (&["zone_reset_threshold"], Refused(ZONES)),
    (&["zone_reset_frequency"], Refused(ZONES)),
    (&["verify_only"], Refused("write verify = crc32c with rw = read to check what an earlier job wrote")),
    (&["verify_offset"], Refused(DATA)),
    (&["experimental_verify"], Refused(DATA)),
    (&["trim_percentage"], Refused(TRIM)),
    (&["trim_verify_zero"], Refused(TRIM)),
    (&["trim_backlog"], Refused(TRIM)),
    (&["trim_backlog_batch"], Refused(TRIM)),
    (&["profile"], Refused("fio's own profiles are not read")),
    (&["lockfile"], Refused(LOGIC)),
    (&["lockmem"], Refused(PLACE)),
];

/// Options of the program that are not taken, and what to do instead.
const PROGRAMS_OWN: &[(&[&str], &str)] = &[
    (&["parse-only", "showcmd"], "--dry-run prints the plan and does nothing"),
    (&["debug"], "--trace and --trace-to keep every request"),
    (&["version", "help", "cmdhelp", "enghelp"], "`flashscope bench fio --help` says what is taken"),
    (&["idle-prof"], "processor time per request is in every result"),
    (&["client", "server", "daemonize", "remote-config"], "run it on each machine, and keep the results with -o"),
    (&["trigger-file", "trigger", "trigger-timeout", "trigger-remote"], "leave it away, or use fio for this job"),
    (&["crctest", "cpuclock-test", "memcpytest", "inflate-log", "merge-blktrace-only"], "use fio for it"),
];

/// Options of the program that change no result, and whether each takes a value.
const SWITCHES: &[(&str, bool)] = &[
    ("output", true),
    ("output-format", true),
    ("minimal", false),
    ("append-terse", false),
    ("terse-version", true),
    ("bandwidth-log", false),
    ("status-interval", true),
    ("eta", true),
    ("eta-newline", true),
    ("eta-interval", true),
    ("warnings-fatal", false),
    ("max-jobs", true),
    ("alloc-size", true),
    ("aux-path", true),
    ("section", true),
    ("readonly", false),
];
