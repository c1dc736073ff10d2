//! What can be typed. Dumb structs: nothing is opened, checked or decided here.

mod bench;
pub(crate) mod discard;
pub(crate) mod drive;
mod fio;
mod memory;
mod twin;

pub(crate) use bench::{Around, Bench, BenchKind};
pub(crate) use fio::Fio;
pub(crate) use memory::{ProbeBuffer, ProbeReadCache};
pub(crate) use twin::{Twin, TwinCommand, TwinFit};

use clap::builder::RangedI64ValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use flashscope_emulate::Speed;
use flashscope_fleet::{Generator, Noise};
use flashscope_probe::classic;
use flashscope_units::{Bytes, Nanos};
use std::path::PathBuf;

/// The simulated card that is looked at when no target is named.
pub(crate) const DEMO: &str = "sim:sd-4mib";

/// See inside flash storage: SD cards, eMMC, USB sticks, SSDs, and simulated ones whose inside is known.
#[derive(Debug, Parser)]
#[command(name = "flashscope", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = "Examples:
  flashscope inspect                        the whole characterisation, on a simulated demo card
  flashscope list                           the block devices of this machine
  sudo flashscope inspect /dev/mmcblk0      a real card, reading only
  flashscope infer card.log                 what a flashbench log says")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The main job: characterise a device and write one report
    Inspect(Inspect),
    /// Run one experiment
    Probe(Probe),
    /// Findings from recorded observations: flashbench logs or earlier records
    Infer(Infer),
    /// Show a record again, in any form
    Report(Report),
    /// Load: how fast it really is, at any depth, and whether it was the page cache
    Bench(Box<Bench>),
    /// List block devices: identity, claims, what holds them
    List(List),
    /// The simulated devices
    Sim(Sim),
    /// Measure how often inspect is right, on random simulated devices
    Fleet(Fleet),
    /// A simulated device as a real block device of this machine
    Emulate(Emulate),
    /// A simulated device fitted to a measured one
    Twin(Twin),
    /// Print the JSON Schema of records
    Schema {
        /// Of this kind alone: inspect, probe, infer, bench, iozone, fleet or twin [default: all of them]
        kind: Option<String>,
    },
}

/// Devices of one fleet: what came of each is kept until the end.
const MOST_DEVICES: i64 = 1_000_000;
/// Number of a device in its fleet.
const LAST_INDEX: i64 = 1_000_000_000;

/// A count from 1 on. What is typed goes into plans, whose sums and products must stay numbers.
fn up_to(most: i64) -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=most)
}

/// What is looked at, and what may be done to it.
#[derive(Args, Clone, Debug)]
pub(crate) struct TargetArgs {
    /// Block device, file, or sim:MODEL[,key=value…] (see `flashscope sim list`)
    #[arg(default_value = DEMO)]
    pub(crate) target: String,
    /// Seed of every random choice; the same seed on a simulated device gives the same bytes
    #[arg(long, default_value_t = 1, env = "FLASHSCOPE_SEED")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) consent: Consent,
    /// Use the page cache where the file system refuses direct I/O; said in the record
    #[arg(long)]
    pub(crate) allow_cached: bool,
}

/// What may be done to what is looked at.
#[derive(Args, Clone, Debug)]
pub(crate) struct Consent {
    /// Never write more than this in all, files that a run makes for itself included [default: inspect: 10 % of the capacity or 1 GiB, whichever is more, but at most
    /// 2 GiB and half of the device; probe, bench: what they need]
    #[arg(long, value_name = "SIZE", env = "FLASHSCOPE_MAX_WRITE")]
    pub(crate) max_write: Option<Bytes>,
    /// Only read, even where writing would be granted
    #[arg(long, conflicts_with_all = ["allow_write", "destroy_data"])]
    pub(crate) read_only: bool,
    /// Allow writing to plain files that are there (their content is destroyed)
    #[arg(long)]
    pub(crate) allow_write: bool,
    /// Allow writing to the block device of this identity, as `flashscope list` prints it (its content is destroyed); once for each
    /// where jobs run on several
    #[arg(long, value_name = "IDENTITY")]
    pub(crate) destroy_data: Vec<String>,
    /// Also overwrite a partition table or file system that is not in use, and data in a file that flashscope did not write
    #[arg(long)]
    pub(crate) destroy_signatures: bool,
    /// Read a device that is in use; said in the record, since others disturb the figures
    #[arg(long)]
    pub(crate) read_in_use: bool,
}

impl Consent {
    /// What is consented to of a target of this identity. Where another one was named, that stands, to be refused.
    pub(crate) fn to(&self, identity: Option<&str>) -> flashscope_device::Consent {
        let named = self.destroy_data.iter().find(|named| Some(named.as_str()) == identity);
        flashscope_device::Consent {
            identity: named.or(self.destroy_data.first()).cloned(),
            allow_file: self.allow_write,
            signatures: self.destroy_signatures,
        }
    }
}

/// What may be done to files that are in the way of a result.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Replace {
    /// Replace files that flashscope did not write, too; its own are replaced without a word
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope inspect
  flashscope inspect sim:sd-24mib --seed 7 --json
  flashscope inspect card.img --allow-write
  sudo flashscope inspect /dev/sdX --destroy-data=0x1c09a3f2:7948206080

A block device is only read unless --destroy-data names its identity: look it up with `flashscope list`.")]
pub(crate) struct Inspect {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Stop after this much device time
    #[arg(long, value_name = "TIME")]
    pub(crate) max_time: Option<Nanos>,
    /// Print the plan and what it may cost, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the record on stdout and nothing else; write no files unless --output is given
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the report and record to PREFIX.html and PREFIX.json [default: flashscope-NAME]
    #[arg(short, long, value_name = "PREFIX")]
    pub(crate) output: Option<PathBuf>,
    /// Write no files
    #[arg(long, conflicts_with = "output")]
    pub(crate) no_files: bool,
    #[command(flatten)]
    pub(crate) replace: Replace,
}

#[derive(Args, Debug)]
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
    #[command(after_help = "Example: flashscope probe write-align sim:emmc-write-align -b 1024")]
    WriteAlign(ProbeWriteAlign),
    /// Writes to several units in turn (flashbench -O)
    #[command(after_help = "Example: flashscope probe open-au sim:sd-4mib --open-au-nr 9 -e 4M -b 64k")]
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
    /// Writes of zeros, ones and a pattern, and reads, in order and at random (flashbench -p)
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
    #[command(after_help = "Example: flashscope probe buffer sim:emmc-cached -b 4k")]
    Buffer(ProbeBuffer),
    /// Re-reads and runs in both orders: read buffer and read-ahead
    #[command(after_help = "Example: flashscope probe read-cache sim:emmc-cached")]
    ReadCache(ProbeReadCache),
    /// How much long writes put into a cache of fast cells before the rate falls
    #[command(after_help = "Example: flashscope probe slc-cache sim:ssd-consumer --size 16G")]
    SlcCache(drive::ProbeSlcCache),
    /// Which reads handed over at once meet in one chip: stripe and parallel units
    #[command(after_help = "Example: flashscope probe parallel sim:ssd-consumer")]
    Parallel(drive::ProbeParallel),
    /// How much of the map is in memory
    #[command(visible_alias = "map", after_help = "Example: flashscope probe map-reach sim:ssd-consumer --largest 64G")]
    MapReach(drive::ProbeMapReach),
    /// What collection costs: writes at random until their rate is steady. Wears the device
    #[command(after_help = "Example: flashscope probe gc sim:ssd-consumer,capacity=2G --times 3")]
    Gc(drive::ProbeGc),
    /// Kinds of pages: bits per cell
    #[command(after_help = "Example: flashscope probe cells sim:ssd-consumer --step 512k")]
    Cells(drive::ProbeCells),
    /// What discard does, from which size on, and what it costs
    #[command(after_help = "Example: flashscope probe discard sim:sd-4mib")]
    Discard(discard::ProbeDiscard),
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
    /// Also keep the record in this file
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

#[derive(Args, Debug)]
pub(crate) struct ProbeAlign {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Block size
    #[arg(short, long, visible_alias = "blocksize", default_value_t = classic::BLOCK, value_name = "SIZE")]
    pub(crate) block: Bytes,
    /// Tries per position; the minimum counts
    #[arg(short, long, default_value_t = classic::COUNT, value_parser = up_to(100_000))]
    pub(crate) count: u32,
    /// Positions per alignment
    #[arg(long, default_value_t = classic::PLACES, value_parser = up_to(1_000_000))]
    pub(crate) places: u32,
    /// Added to every position
    #[arg(long, default_value = "0", value_name = "SIZE")]
    pub(crate) offset: Bytes,
}

#[derive(Args, Debug)]
pub(crate) struct ProbeWriteAlign {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Block size
    #[arg(short, long, visible_alias = "blocksize", default_value_t = classic::BLOCK, value_name = "SIZE")]
    pub(crate) block: Bytes,
    /// Tries per position; the minimum counts
    #[arg(short, long, default_value_t = classic::COUNT, value_parser = up_to(100_000))]
    pub(crate) count: u32,
    /// Positions per alignment
    #[arg(long, default_value_t = classic::WRITE_PLACES, value_parser = up_to(1_000_000))]
    pub(crate) places: u32,
    /// Size of one access in blocks
    #[arg(long, default_value_t = classic::WRITE_ACCESS, value_parser = clap::value_parser!(u32).range(1..=2))]
    pub(crate) access: u32,
    /// Added to every position
    #[arg(long, default_value = "0", value_name = "SIZE")]
    pub(crate) offset: Bytes,
}

#[derive(Args, Debug)]
pub(crate) struct ProbeOpenAu {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Number of units written in turn
    #[arg(short = '0', long, default_value_t = 2, value_name = "N", value_parser = up_to(65_536))]
    pub(crate) open_au_nr: u32,
    /// Assumed unit
    #[arg(short, long, visible_alias = "erasesize", default_value_t = classic::ERASE, value_name = "SIZE")]
    pub(crate) erase: Bytes,
    /// Smallest block
    #[arg(short, long, visible_alias = "blocksize", default_value_t = classic::BLOCK, value_name = "SIZE")]
    pub(crate) block: Bytes,
    /// Visit the offsets within a unit at random
    #[arg(short, long)]
    pub(crate) random: bool,
    /// Where the first unit lies
    #[arg(long, default_value_t = classic::WRITE_OFFSET, value_name = "SIZE")]
    pub(crate) offset: Bytes,
}

#[derive(Args, Debug)]
pub(crate) struct ProbeFat {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Number of units from the start of the device
    #[arg(long, default_value_t = classic::FAT_UNITS, value_name = "N", value_parser = up_to(1_000_000))]
    pub(crate) fat_nr: u32,
    /// Assumed unit
    #[arg(short, long, visible_alias = "erasesize", default_value_t = classic::ERASE, value_name = "SIZE")]
    pub(crate) erase: Bytes,
    /// Smallest block
    #[arg(short, long, visible_alias = "blocksize", default_value_t = classic::BLOCK, value_name = "SIZE")]
    pub(crate) block: Bytes,
    /// Visit the offsets within a unit at random
    #[arg(short, long)]
    pub(crate) random: bool,
    /// Where unit 0 lies
    #[arg(long, default_value = "0", value_name = "SIZE")]
    pub(crate) offset: Bytes,
}

#[derive(Args, Debug)]
pub(crate) struct ProbeScatter {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// There are 2^N positions
    #[arg(long, default_value_t = classic::SCATTER_ORDER, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20))]
    pub(crate) scatter_order: u32,
    /// Blocks read at each position
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = up_to(65_536))]
    pub(crate) scatter_span: u32,
    /// Block size
    #[arg(short, long, visible_alias = "blocksize", default_value_t = classic::BLOCK, value_name = "SIZE")]
    pub(crate) block: Bytes,
    /// Passes; the minimum counts
    #[arg(short, long, default_value_t = classic::COUNT, value_parser = up_to(100_000))]
    pub(crate) count: u32,
    /// Added to every position
    #[arg(long, default_value = "0", value_name = "SIZE")]
    pub(crate) offset: Bytes,
}

#[derive(Args, Debug)]
pub(crate) struct ProbeInterval {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Sizes are 512·2^k for k below this
    #[arg(long, default_value_t = classic::INTERVAL_ORDER, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20))]
    pub(crate) interval_order: u32,
    /// Places per size
    #[arg(long, default_value_t = 8, value_parser = up_to(1_000_000))]
    pub(crate) places: u32,
    /// Added to every position
    #[arg(long, default_value = "0", value_name = "SIZE")]
    pub(crate) offset: Bytes,
}

#[derive(Args, Debug)]
pub(crate) struct ProbeProgram {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Region that is written
    #[arg(long, default_value = "4M", value_name = "SIZE")]
    pub(crate) region: Bytes,
    /// Where it lies
    #[arg(long, default_value_t = classic::WRITE_OFFSET, value_name = "SIZE")]
    pub(crate) offset: Bytes,
    /// Largest block
    #[arg(long, default_value = "2M", value_name = "SIZE")]
    pub(crate) largest: Bytes,
    /// Smallest block
    #[arg(short, long, visible_alias = "blocksize", default_value = "512", value_name = "SIZE")]
    pub(crate) block: Bytes,
}

#[derive(Args, Debug)]
pub(crate) struct ProbeBoundaries {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Block size
    #[arg(short, long, visible_alias = "blocksize", default_value = "2k", value_name = "SIZE")]
    pub(crate) block: Bytes,
    /// Candidate sizes
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "SIZES",
        default_value = "4k,8k,16k,32k,64k,512k,1M,2M,3M,4M,6M,8M,12M,16M,24M,32M"
    )]
    pub(crate) candidates: Vec<Bytes>,
    /// Random multiples per candidate
    #[arg(long, default_value_t = 15, value_parser = up_to(1_000_000))]
    pub(crate) places: u32,
    /// Rounds; the minimum per place counts
    #[arg(short, long, default_value_t = 6, value_parser = up_to(100_000))]
    pub(crate) count: u32,
    /// Shift of the whole grid
    #[arg(long, default_value = "0", value_name = "SIZE")]
    pub(crate) offset: Bytes,
}

#[derive(Args, Debug)]
pub(crate) struct ProbeSlide {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Block size; half of each read lies before the place
    #[arg(short, long, visible_alias = "blocksize", default_value = "1k", value_name = "SIZE")]
    pub(crate) block: Bytes,
    /// Distance of neighbouring places: the page, where it is known
    #[arg(long, default_value = "16k", value_name = "SIZE")]
    pub(crate) step: Bytes,
    /// First place of each stretch
    #[arg(long, value_delimiter = ',', value_name = "SIZES", default_value = "256M,512M")]
    pub(crate) starts: Vec<Bytes>,
    /// Places of each stretch
    #[arg(long, default_value_t = 1024, value_parser = up_to(1_000_000))]
    pub(crate) places: u32,
    /// Rounds; the minimum per place counts
    #[arg(short, long, default_value_t = 8, value_parser = up_to(100_000))]
    pub(crate) count: u32,
    /// Read from the last place to the first: of one stretch, only the first read in each unit pays for the change
    #[arg(long)]
    pub(crate) descending: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ProbeFloor {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Block size
    #[arg(short, long, visible_alias = "blocksize", default_value = "4k", value_name = "SIZE")]
    pub(crate) block: Bytes,
    /// Number of reads
    #[arg(short, long, default_value_t = 200, value_parser = up_to(100_000))]
    pub(crate) count: u32,
    /// Where the block lies
    #[arg(long, default_value = "0", value_name = "SIZE")]
    pub(crate) offset: Bytes,
}

#[derive(Args, Debug)]
pub(crate) struct ProbeSurvey {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Block size
    #[arg(short, long, visible_alias = "blocksize", default_value = "4k", value_name = "SIZE")]
    pub(crate) block: Bytes,
    /// Number of random places
    #[arg(long, default_value_t = 64, value_parser = up_to(1_000_000))]
    pub(crate) places: u32,
    /// Reads of each place
    #[arg(short, long, default_value_t = 2, value_parser = up_to(100_000))]
    pub(crate) count: u32,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope infer card.log
  flashscope infer --json a.log b.log record.json
  some-command | flashscope infer -")]
pub(crate) struct Infer {
    /// flashbench logs (other text around them is passed over), flashscope records, or - for stdin
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print one record for one file, an array of records for several
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the HTML report to this file (one input only)
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope report flashscope-SD08G.json
  flashscope report flashscope-SD08G.json --format html -o card.html
  flashscope report bench.json --format xlsx -o bench.xlsx")]
pub(crate) struct Report {
    /// A record of any kind: inspect, probe, infer, bench, iozone, fleet or twin
    pub(crate) file: PathBuf,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    /// Write it to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
}

/// Forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Terminal text
    Text,
    /// One self-contained page with plots
    Html,
    /// The record itself, as this version writes it
    Json,
    /// Markdown
    Markdown,
    /// Findings and figures as comma-separated values
    Csv,
    /// A spreadsheet (bench, iozone, fleet, twin)
    Xlsx,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: flashscope list --json")]
pub(crate) struct List {
    /// Only these devices
    pub(crate) devices: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Read this copy of /sys, or of a whole file system's sys and proc, and nothing of this machine
    #[arg(long, value_name = "DIR", default_value = "/sys")]
    pub(crate) sysfs: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct Sim {
    #[command(subcommand)]
    pub(crate) command: SimCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SimCommand {
    /// List the catalogue
    #[command(after_help = "Example: flashscope sim list")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a model as TOML, to read or to copy and change
    #[command(after_help = "Example: flashscope sim show sd-4mib --truth")]
    Show {
        /// A model of the catalogue, or a TOML file
        model: String,
        /// Print what a perfect observer would report instead
        #[arg(long)]
        truth: bool,
    },
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  mkdir /tmp/card; sudo flashscope emulate sd-4mib,capacity=256MiB --at /tmp/card --loop
  sudo flashscope emulate sd-4mib --at /tmp/card --backing card.img --speed max    age it first: mkfs, copy, Ctrl-C
  sudo flashscope emulate sd-4mib --at /tmp/card --backing card.img --loop         then use it at its own speed
  sudo flashscope emulate --clean                                                  after a kill -9

Runs until Ctrl-C or SIGTERM. SIGUSR1 prints the statistics, SIGUSR2 switches a device on again that lost its power. The first
line on stdout is the device.")]
pub(crate) struct Emulate {
    /// MODEL[,key=value…] (see `flashscope sim list`), or a TOML file
    #[arg(required_unless_present = "clean")]
    pub(crate) model: Option<String>,
    /// An empty directory: the device is the file `disk` in it
    #[arg(long, value_name = "DIR", required_unless_present = "clean")]
    pub(crate) at: Option<PathBuf>,
    /// Also bind a loop device to it
    #[arg(long = "loop")]
    pub(crate) attach_loop: bool,
    /// Keep content and state in FILE and FILE.state, and go on from there next time
    #[arg(long, value_name = "FILE")]
    pub(crate) backing: Option<PathBuf>,
    /// Seed of the device's chance
    #[arg(long, default_value_t = 1, env = "FLASHSCOPE_SEED")]
    pub(crate) seed: u64,
    /// How many times as fast as the model, or max: no waiting at all
    #[arg(long, default_value = "1", value_name = "FACTOR")]
    pub(crate) speed: Speed,
    /// Noise that the model adds to that of this machine: none, bench, field, harsh [default: none]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) noise: Option<String>,
    /// Write a line per answer to FILE: when the request came, when the device had it done, when the answer went out
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
    /// Print the statistics as JSON: at the end on stdout, on SIGUSR1 on stderr
    #[arg(long)]
    pub(crate) json: bool,
    /// Remove what killed emulators left (mounts and loop devices), and do nothing else
    #[arg(long, conflicts_with_all = ["model", "at", "attach_loop", "backing"])]
    pub(crate) clean: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope fleet --devices 200 --seed 7 --noise field
  flashscope fleet --devices 1000 --seed 7 --generator adversarial --json > fleet.json
  flashscope fleet --seed 7 --show 12 > device.toml && flashscope inspect sim:device.toml

The rules of scoring stand in docs/fleet.md.")]
pub(crate) struct Fleet {
    /// How many devices
    #[arg(short = 'n', long, default_value_t = 100, value_name = "N", value_parser = up_to(MOST_DEVICES))]
    pub(crate) devices: u32,
    /// Begin with this device of the fleet: with `-n 1` one device alone, as in the whole fleet
    #[arg(long, default_value_t = 0, value_name = "INDEX", value_parser = clap::value_parser!(u32).range(..=LAST_INDEX))]
    pub(crate) first: u32,
    /// Seed of the fleet; the same seed draws the same devices
    #[arg(long, default_value_t = 1, env = "FLASHSCOPE_SEED")]
    pub(crate) seed: u64,
    /// Which devices are drawn: field, wide or adversarial
    #[arg(long, default_value = "wide", value_name = "NAME")]
    pub(crate) generator: Generator,
    /// Noise around every device: none, bench, field or harsh [default: each draws its own]
    #[arg(long, value_name = "NAME")]
    pub(crate) noise: Option<Noise>,
    /// Never write more than this to one device [default: what inspect takes: 10 % of the capacity or 1 GiB, whichever is
    /// more, but at most 2 GiB and half of the device]
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_write: Option<Bytes>,
    /// Let each run write its device so many times over: spare space and the kind of an SLC cache need two. Takes far longer
    #[arg(long, value_name = "TIMES", conflicts_with = "max_write", value_parser = clap::value_parser!(u32).range(1..=10))]
    pub(crate) overwrite: Option<u32>,
    /// Stop each run after this much device time
    #[arg(long, value_name = "TIME")]
    pub(crate) max_time: Option<Nanos>,
    /// Give a device up that takes more than this much processor time; it is counted and named [default: 120 s]
    #[arg(long, value_name = "TIME")]
    pub(crate) max_work: Option<Nanos>,
    /// Leave out the by-hand procedure and its naive reader
    #[arg(long)]
    pub(crate) no_naive: bool,
    /// Print the model file of this device of the fleet, and run nothing
    #[arg(long, value_name = "INDEX", conflicts_with_all = ["json", "html"], value_parser = clap::value_parser!(u32).range(..=LAST_INDEX))]
    pub(crate) show: Option<u32>,
    /// Print JSON, device by device
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page with reliability plots to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
}
