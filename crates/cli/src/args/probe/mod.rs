//! What `probe` takes: an experiment, and what every experiment takes.

mod classic;
mod discard;
mod drive;
mod memory;
mod places;

pub(crate) use classic::{
    ProbeAlign, ProbeFat, ProbeInterval, ProbeOpenAu, ProbeProgram, ProbeScatter, ProbeWriteAlign,
};
pub(crate) use discard::ProbeDiscard;
pub(crate) use drive::{ProbeCells, ProbeGc, ProbeMapReach, ProbeParallel, ProbeSlcCache};
pub(crate) use memory::{ProbeBuffer, ProbeReadCache};
pub(crate) use places::{ProbeBoundaries, ProbeFloor, ProbeSlide, ProbeSurvey};

use super::{Replace, TargetArgs, up_to};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Example: flashscope probe align sim:sd-4mib -b 1024")]
pub(crate) struct Probe {
    #[command(subcommand)]
    pub(crate) experiment: ProbeKind,
}

/// One experiment; parameters mean what they mean to flashbench.
#[derive(Debug, Subcommand)]
pub(crate) enum ProbeKind {
    /// Reads before, across and after boundaries, by alignment (flashbench -a)
    #[command(after_help = "Example: flashscope probe align sim:sd-4mib -b 1024")]
    Align(ProbeAlign),
    /// Writes before, across and after boundaries, by alignment
    #[command(after_help = "Example: flashscope probe write-align sim:emmc-write-align -b 1024

What a table of writes shows may be collection as well: inspect tells them apart.")]
    WriteAlign(ProbeWriteAlign),
    /// Writes to several units in turn (flashbench -O)
    #[command(after_help = "Examples:
  flashscope probe open-au sim:sd-4mib --open-au-nr 8 -e 4M -b 64k
  flashscope probe open-au sim:sd-4mib --open-au-nr 9 -e 4M -b 64k

One table has nothing to compare with: inspect writes as many as it takes.")]
    OpenAu(ProbeOpenAu),
    /// Throughput of each of the first units (flashbench -f)
    #[command(after_help = "Example: flashscope probe fat sim:sd-4mib -e 4M --fat-nr 8")]
    Fat(ProbeFat),
    /// Read time by position (flashbench -s)
    #[command(after_help = "Example: flashscope probe scatter sim:sd-4mib --scatter-order 10 -b 16k")]
    Scatter(ProbeScatter),
    /// Read time by size, and the line through it (flashbench -i)
    #[command(after_help = "Example: flashscope probe interval sim:sd-4mib --interval-order 13")]
    Interval(ProbeInterval),
    /// Writes of zeros, ones and a pattern, and reads, sequential and random (flashbench -p)
    #[command(after_help = "Example: flashscope probe program sim:sd-4mib")]
    Program(ProbeProgram),
    /// Contrasts at multiples of candidate sizes that need not be powers of two
    #[command(after_help = "Example: flashscope probe boundaries sim:sd-24mib -b 2k --candidates 4M,8M,12M,24M")]
    Boundaries(ProbeBoundaries),
    /// Reads across every step of two stretches, wherever boundaries begin
    #[command(after_help = "Example: flashscope probe slide sim:sd-4mib,mapping.hidden=1M --step 16k --places 2048")]
    Slide(ProbeSlide),
    /// The time of a request that needs no flash
    #[command(after_help = "Example: flashscope probe floor sim:sd-4mib -b 4k -c 200")]
    Floor(ProbeFloor),
    /// Which parts were never written
    #[command(after_help = "Example: flashscope probe survey sim:sd-4mib,state=blank")]
    Survey(ProbeSurvey),
    /// Bursts of writes into an empty write buffer
    #[command(after_help = "Example: flashscope probe buffer sim:emmc-cached -b 4k

How large the buffer is shows beside other experiments: inspect does them.")]
    Buffer(ProbeBuffer),
    /// Re-reads and runs in both orders: read buffer and read-ahead
    #[command(after_help = "Example: flashscope probe read-cache sim:emmc-cached")]
    ReadCache(ProbeReadCache),
    /// How much long writes put into a cache of fast cells before the rate falls
    #[command(after_help = "Example: flashscope probe slc-cache sim:ssd-consumer --size 16G")]
    SlcCache(ProbeSlcCache),
    /// Which reads submitted at once meet in one chip: stripe and parallel units
    #[command(after_help = "Example: flashscope probe parallel sim:ssd-consumer")]
    Parallel(ProbeParallel),
    /// How much of the mapping table (L2P) is in memory
    #[command(visible_alias = "map", after_help = "Example: flashscope probe map-reach sim:ssd-consumer --largest 64G")]
    MapReach(ProbeMapReach),
    /// What collection costs: random writes until their rate is steady. Wears the device
    #[command(after_help = "Example: flashscope probe gc sim:ssd-consumer,capacity=2G --times 6")]
    Gc(ProbeGc),
    /// Kinds of pages: bits per cell
    #[command(after_help = "Example: flashscope probe cells sim:ssd-consumer --step 512k")]
    Cells(ProbeCells),
    /// What discard does, from which size on, and what it costs
    #[command(after_help = "Example: flashscope probe discard sim:sd-4mib")]
    Discard(ProbeDiscard),
}

/// What every probe takes.
#[derive(Args, Debug)]
pub(crate) struct ProbeCommon {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Print the record on stdout (the same as --format json)
    #[arg(long)]
    pub(crate) json: bool,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Also keep the record in this file; or a report, where it ends in .html, .csv, .md, .txt or .xlsx
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
}

/// How a probe's result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A readable table
    Table,
    /// The record
    Json,
    /// The layout of flashbench, line for line
    Flashbench,
}
