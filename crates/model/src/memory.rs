//! What was measured of a machine's memory: bandwidth, latency, latency under load, and what follows for its caches.

use crate::envelope::Envelope;
use crate::finding::Estimate;
use crate::stress::Stress;
use flashscope_units::Bytes;

/// Everything about one run of `mem`.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryRecord {
    /// Who and when.
    pub envelope: Envelope,
    /// What was there to be measured, and what limits it.
    pub setup: Setup,
    /// How fast long arrays are read and written.
    pub bandwidth: Vec<Bandwidth>,
    /// How long dependent loads take, by the size of what they visit.
    pub latency: Vec<Chase>,
    /// How long they take while other threads read.
    pub loaded: Vec<Loaded>,
    /// What follows for caches and address translation.
    pub findings: Vec<MemoryFinding>,
    /// Caches as the machine tells of them.
    pub told: Vec<ToldCache>,
    /// What a test under stress came to, where it was one.
    pub stress: Option<Stress>,
    /// What must be known of it, a sentence each.
    pub notes: Vec<String>,
}

/// The memory that a program may use, and what decides how fast it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setup {
    /// Processors that this program may run on.
    pub processors: Vec<u32>,
    /// As the processor calls itself; `None` where it does not.
    pub processor_name: Option<String>,
    /// Instructions that moved the data (`avx2`).
    pub instructions: String,
    /// Memory of the machine.
    pub total: Bytes,
    /// Of this available when the run began, after every limit.
    pub available: Bytes,
    /// Limit of the control group; `None` where there is none.
    pub limit: Option<Bytes>,
    /// Swap space that is switched on.
    pub swap: Bytes,
    /// Whether the kernel was asked to keep what is measured out of swap space, and did.
    pub locked: bool,
    /// Size of a small page.
    pub page: Bytes,
    /// Size of a huge page; `None` where this kernel has none that programs get unasked.
    pub huge_page: Option<Bytes>,
    /// Whether the kernel gives huge pages (`always`, `madvise`, `never`).
    pub huge_mode: Option<String>,
    /// Who runs the machine, where it is a virtual one.
    pub hypervisor: Option<String>,
}

/// What a loop over long arrays does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kernel {
    /// Adds up one array.
    Read,
    /// Fills one array.
    Write,
    /// `a[i] = b[i]`.
    Copy,
    /// `a[i] = q * b[i]`.
    Scale,
    /// `a[i] = b[i] + c[i]`.
    Add,
    /// `a[i] = b[i] + q * c[i]`.
    Triad,
}

impl Kernel {
    /// All of them, in the order of reports.
    pub const ALL: [Kernel; 6] = [Kernel::Read, Kernel::Write, Kernel::Copy, Kernel::Scale, Kernel::Add, Kernel::Triad];

    /// Its word in records and on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Kernel::Read => "read",
            Kernel::Write => "write",
            Kernel::Copy => "copy",
            Kernel::Scale => "scale",
            Kernel::Add => "add",
            Kernel::Triad => "triad",
        }
    }

    /// Arrays that it touches; each counts once in its rate, whatever a write allocates on its way.
    pub const fn arrays(self) -> u32 {
        match self {
            Kernel::Read | Kernel::Write => 1,
            Kernel::Copy | Kernel::Scale => 2,
            Kernel::Add | Kernel::Triad => 3,
        }
    }
}

/// How data is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Store {
    /// Through the caches, which first read the line that is written to.
    Plain,
    /// Past the caches, without reading it (non-temporal).
    NonTemporal,
}

/// Pages that memory was asked for in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pages {
    /// The smallest that the machine has.
    Small,
    /// Huge ones.
    Huge,
}

/// The rate of one loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Bandwidth {
    /// What the loop does.
    pub kernel: Kernel,
    /// How it stores; `None` where it only reads.
    pub store: Option<Store>,
    /// Threads, each with arrays of its own.
    pub threads: u32,
    /// Length of each array, all threads together.
    pub array: Bytes,
    /// Share of the arrays that lies in huge pages, 0…1.
    pub huge: f64,
    /// Bytes per second, one figure for each pass.
    pub rates: Vec<f64>,
}

/// In which order the places of a chase are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Route {
    /// Any place may follow any other.
    Random,
    /// All places of a page, in random order, before those of the next, which is any other.
    ByPage,
    /// One place of each page, a different one in each; pages in random order.
    PerPage,
    /// Two places of each block one after the other, `spacing` apart; blocks in random order.
    Pairs,
}

/// A chase: each load needs what the load before it has brought.
#[derive(Clone, Debug, PartialEq)]
pub struct Chase {
    /// In which order.
    pub route: Route,
    /// The stretch of memory whose places are visited.
    pub span: Bytes,
    /// Bytes between two neighbouring places.
    pub spacing: Bytes,
    /// Places that are visited before the first comes again.
    pub places: u64,
    /// Pages that were asked for.
    pub pages: Pages,
    /// Share of the memory that lies in huge pages, 0…1.
    pub huge: f64,
    /// Nanoseconds per load, one figure for each stretch of loads.
    pub times_ns: Vec<f64>,
}

/// A chase beside threads that read.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// Empty steps between two lines that a reading thread reads; `None` where none read.
    pub delay: Option<u32>,
    /// Threads that read.
    pub threads: u32,
    /// Bytes per second that these read, and the chase with them.
    pub rate: f64,
    /// Nanoseconds per load of the chase, one figure for each stretch of loads.
    pub times_ns: Vec<f64>,
}

/// What is inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quantity {
    /// How many levels of data cache there are.
    CacheLevels,
    /// Size of the cache of a level, in bytes.
    CacheSize,
    /// Time of a load that this level serves, in nanoseconds.
    CacheLatency,
    /// Bytes that come into the first cache together.
    LineSize,
    /// Memory whose addresses a level of the translation buffer holds in small pages, in bytes.
    TlbReach,
    /// What a load takes longer beyond that, in nanoseconds.
    TlbMiss,
    /// Time of a load that no cache serves, in nanoseconds.
    MemoryLatency,
}

impl Quantity {
    /// Its word in records.
    pub const fn word(self) -> &'static str {
        match self {
            Quantity::CacheLevels => "cache_levels",
            Quantity::CacheSize => "cache_size",
            Quantity::CacheLatency => "cache_latency",
            Quantity::LineSize => "line_size",
            Quantity::TlbReach => "tlb_reach",
            Quantity::TlbMiss => "tlb_miss",
            Quantity::MemoryLatency => "memory_latency",
        }
    }

    /// The unit of its figure.
    pub const fn unit(self) -> MemoryUnit {
        match self {
            Quantity::CacheLevels => MemoryUnit::Count,
            Quantity::CacheSize | Quantity::LineSize | Quantity::TlbReach => MemoryUnit::Bytes,
            Quantity::CacheLatency | Quantity::TlbMiss | Quantity::MemoryLatency => MemoryUnit::Nanoseconds,
        }
    }
}

/// The unit of an inferred figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryUnit {
    /// A number of things.
    Count,
    /// Bytes.
    Bytes,
    /// Nanoseconds; of a load they have fractions.
    Nanoseconds,
}

/// One inferred figure.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryFinding {
    /// What.
    pub quantity: Quantity,
    /// Of which level, from 1 on; `None` where it has none.
    pub level: Option<u32>,
    /// The figure, in the unit of the quantity.
    pub estimate: Estimate<f64>,
    /// What the machine tells of it itself, in the same unit.
    pub told: Option<f64>,
}

/// A data cache as the machine tells of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToldCache {
    /// Its level, from 1 on.
    pub level: u32,
    /// Its size.
    pub size: Bytes,
    /// Its line; `None` where it is not told.
    pub line: Option<Bytes>,
    /// Its ways; `None` where they are not told.
    pub ways: Option<u32>,
    /// Processors that share it.
    pub shared_by: u32,
    /// Who says so (`sysfs`, `cpuid`).
    pub source: String,
}
