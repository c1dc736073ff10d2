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
    /// Measure for this time
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
