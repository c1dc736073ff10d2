//! The knobs that have a name.

/// Where a knob lies, for a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Of the target's disk: below `/sys/block/DISK/queue`.
    Queue(&'static str),
    /// All files of a folder there.
    QueueFolder(&'static str),
    /// Of the device behind the disk: below `/sys/block/DISK/device`.
    Device(&'static str),
    /// Of every processor: below `/sys/devices/system/cpu/cpuN`.
    EachProcessor(&'static str),
    /// Of the card's host controller: below `/sys/kernel/debug/mmcN`.
    MmcHost(&'static str),
    /// Below `/proc/sys/vm`.
    Vm(&'static str),
    /// The options of the file system that the target lies on.
    Mount,
}

/// A knob that has a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) place: Place,
    /// What the kernel changes along with it, so that it is put back with it too.
    pub(super) along: &'static [Place],
    pub(super) about: &'static str,
}

const fn row(name: &'static str, place: Place, about: &'static str) -> Row {
    Row { name, place, along: &[], about }
}

use Place::{Device, EachProcessor, MmcHost, Mount, Queue, QueueFolder, Vm};

/// Meanings as in the kernel's documentation: `ABI/stable/sysfs-block`, `admin-guide/pm/cpufreq.rst`,
/// `admin-guide/sysctl/vm.rst`, `driver-api/mmc`.
pub(super) const TABLE: &[Row] = &[
    Row {
        // Another scheduler begins with its own number of requests and with the tunables that it starts with.
        along: &[Queue("nr_requests"), Queue("wbt_lat_usec"), QueueFolder("iosched")],
        ..row("scheduler", Queue("scheduler"), "I/O scheduler of the disk")
    },
    row("read_ahead_kb", Queue("read_ahead_kb"), "read-ahead of buffered reads, KiB"),
    row("nr_requests", Queue("nr_requests"), "requests that the scheduler may hold"),
    row("rq_affinity", Queue("rq_affinity"), "which processor completes a request (0, 1, 2)"),
    row("wbt_lat_usec", Queue("wbt_lat_usec"), "goal of writeback throttling, µs (0: off)"),
    row("max_sectors_kb", Queue("max_sectors_kb"), "largest request that is sent, KiB"),
    row("nomerges", Queue("nomerges"), "whether requests are merged (0: yes, 2: never)"),
    row("write_cache", Queue("write_cache"), "what the kernel takes the cache for: write back, write through"),
    row("runtime_pm", Device("power/control"), "whether the device may sleep when idle: auto, on"),
    row("mmc_clock", MmcHost("clock"), "clock of the card's bus, Hz"),
    Row {
        along: &[EachProcessor("cpufreq/scaling_min_freq"), EachProcessor("cpufreq/scaling_max_freq")],
        ..row("governor", EachProcessor("cpufreq/scaling_governor"), "frequency governor of all processors")
    },
    row("min_freq", EachProcessor("cpufreq/scaling_min_freq"), "lowest frequency of all processors, kHz"),
    row("max_freq", EachProcessor("cpufreq/scaling_max_freq"), "highest frequency of all processors, kHz"),
    // Of a limit in percent and the same in bytes only one holds: to set one is to clear the other.
    Row {
        along: &[Vm("dirty_bytes")],
        ..row("vm.dirty_ratio", Vm("dirty_ratio"), "dirty memory at which writers wait, %")
    },
    Row {
        along: &[Vm("dirty_ratio")],
        ..row("vm.dirty_bytes", Vm("dirty_bytes"), "dirty memory at which writers wait, bytes")
    },
    Row {
        along: &[Vm("dirty_background_bytes")],
        ..row("vm.dirty_background_ratio", Vm("dirty_background_ratio"), "dirty memory at which writing begins, %")
    },
    Row {
        along: &[Vm("dirty_background_ratio")],
        ..row("vm.dirty_background_bytes", Vm("dirty_background_bytes"), "dirty memory at which writing begins, bytes")
    },
    row("vm.dirty_expire_centisecs", Vm("dirty_expire_centisecs"), "age at which dirty data is written, 1/100 s"),
    row("vm.dirty_writeback_centisecs", Vm("dirty_writeback_centisecs"), "how often the flusher wakes, 1/100 s"),
    row("mount", Mount, "options of the file system below, as for a remount"),
    row("vm.swappiness", Vm("swappiness"), "how readily memory is swapped out"),
];
