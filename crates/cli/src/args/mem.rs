//! What `mem` takes.

use super::campaign::Results;
use super::up_to;
use clap::{Args, Subcommand, ValueEnum};
use flashscope_model::memory::Kernel;
use flashscope_units::{Bytes, Nanos};

/// The memory beside the storage.
#[derive(Args, Debug)]
#[command(after_help = "Example: flashscope mem bandwidth")]
pub(crate) struct Mem {
    #[command(subcommand)]
    pub(crate) command: MemCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum MemCommand {
    /// How fast long arrays are read and written, by loop, way to store and threads
    Bandwidth(MemBandwidth),
    /// Whether memory holds what is written to it; with a device, whose an error is
    Stress(Box<super::MemStress>),
    /// How long a load takes that needs what the one before it brought, by size
    Latency(MemLatency),
    /// The same while other processors read, from hardly anything to full load
    Loaded(MemLoaded),
    /// Cache levels, line, TLB reach and memory latency, inferred
    Inspect(MemInspect),
    /// All of that, one after the other
    All(MemAll),
}

/// How long a load takes, by size.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope mem latency
  flashscope mem latency --size 4GiB -o memory.html

Over 4 KiB up to eight times the last cache, in huge pages and in small ones: what small
pages take longer is address translation.")]
pub(crate) struct MemLatency {
    #[command(flatten)]
    pub(crate) size: MemSize,
    #[command(flatten)]
    pub(crate) common: MemCommon,
}

/// How long a load takes while other processors read.
#[derive(Args, Debug)]
#[command(after_help = "Example: flashscope mem loaded -o loaded.html

One processor chases, all others read, at 19 rates. With one processor there is no such
figure, and the record says so.")]
pub(crate) struct MemLoaded {
    #[command(flatten)]
    pub(crate) size: MemSize,
    /// At most this many threads, the one that chases included [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = up_to(4096))]
    pub(crate) threads: Option<u32>,
    #[command(flatten)]
    pub(crate) common: MemCommon,
}

/// Cache levels, line, TLB reach and memory latency, inferred.
#[derive(Args, Debug)]
#[command(after_help = "Example: flashscope mem inspect --verbose

What follows from latencies alone, each figure with how sure it is; what the machine tells
of its caches stands beside it and decides nothing.")]
pub(crate) struct MemInspect {
    #[command(flatten)]
    pub(crate) size: MemSize,
    #[command(flatten)]
    pub(crate) common: MemCommon,
}

/// Bandwidth, latency under load, and what follows for caches.
#[derive(Args, Debug)]
#[command(after_help = "Example: flashscope mem all -o memory.html")]
pub(crate) struct MemAll {
    /// At most this many threads [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = up_to(4096))]
    pub(crate) threads: Option<u32>,
    #[command(flatten)]
    pub(crate) common: MemCommon,
}

/// How large the largest chase is.
#[derive(Args, Debug)]
pub(crate) struct MemSize {
    /// The largest stretch of memory [default: eight times the last cache]
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,
}

/// How fast long arrays are read and written.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope mem bandwidth
  flashscope mem bandwidth --kernel copy --kernel triad --threads 1
  flashscope mem bandwidth -o memory.html

Arrays are four times as long as the last cache, so that they come from memory. Each array
counts once in a rate, as STREAM counts; a plain store reads the line that it writes to.")]
pub(crate) struct MemBandwidth {
    /// Only this loop; may be given again
    #[arg(long, value_enum, value_name = "LOOP")]
    pub(crate) kernel: Vec<MemKernel>,
    /// Length of each array [default: four times the last cache]
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,
    /// At most this many threads [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = up_to(4096))]
    pub(crate) threads: Option<u32>,
    #[command(flatten)]
    pub(crate) common: MemCommon,
}

/// What all of them take.
#[derive(Args, Debug)]
pub(crate) struct MemCommon {
    /// Measure for about this time, in each test
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(crate) time: Nanos,
    /// Take at most this much memory [default: half of what is available]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Bytes>,
    /// Ask for small pages only
    #[arg(long)]
    pub(crate) small_pages: bool,
    #[command(flatten)]
    pub(crate) results: Results,
}

/// A loop over long arrays.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum MemKernel {
    Read,
    Write,
    Copy,
    Scale,
    Add,
    Triad,
}

impl From<MemKernel> for Kernel {
    fn from(kernel: MemKernel) -> Kernel {
        match kernel {
            MemKernel::Read => Kernel::Read,
            MemKernel::Write => Kernel::Write,
            MemKernel::Copy => Kernel::Copy,
            MemKernel::Scale => Kernel::Scale,
            MemKernel::Add => Kernel::Add,
            MemKernel::Triad => Kernel::Triad,
        }
    }
}
