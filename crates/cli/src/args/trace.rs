//! What `trace` takes.

use super::campaign::Results;
use super::{Replace, TargetArgs};
use clap::{Args, Subcommand, ValueEnum};
use flashscope_trace::import::{TimeUnit, Waits};
use flashscope_trace::{Format, Op};
use flashscope_units::{Bytes, Nanos};
use std::path::PathBuf;

/// Block traces.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope trace import dump.blktrace.0 dump.blktrace.1 -o app.trace
  flashscope trace show app.trace -o app.html
  flashscope trace replay app.trace sim:sd-4mib
  sudo flashscope trace record --device /dev/sdX -o app.trace -- sync

docs/traces.md says what each figure is; docs/trace-format.md describes the file.")]
pub(crate) struct Trace {
    #[command(subcommand)]
    pub(crate) command: TraceCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Record what a device is given: until Ctrl-C, for a time, or while a command runs
    Record(TraceRecording),
    /// What a trace shows: sizes, arrivals, depth, latency, streams, syncs, working set
    Show(TraceShow),
    /// Give a trace to a device again, and say how near that came
    Replay(Box<TraceReplay>),
    /// Read the trace of another program
    Import(TraceImport),
    /// Write a trace for another program
    Export(TraceExport),
    /// A part of a trace
    Cut(TraceCut),
    /// Several traces as one, by their times
    Merge(TraceMerge),
}

/// A trace to read: ours, or one of another program.
#[derive(Args, Debug)]
pub(crate) struct TraceInput {
    /// The format of the trace [default: what it looks like]
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub(crate) format: Option<Format>,
    /// The unit of its times [default: that of the format]
    #[arg(long, value_name = "UNIT", value_parser = time_unit)]
    pub(crate) time_unit: Option<TimeUnit>,
    /// How waits of fio's logs of version 2 are meant: since-previous (microseconds, its manual) or since-start (milliseconds, what it does)
    #[arg(long, value_name = "HOW", value_parser = waits)]
    pub(crate) waits: Option<Waits>,
    /// Which of several disks of the trace, as it names them
    #[arg(long, value_name = "NAME")]
    pub(crate) disk: Option<String>,
}

/// Where a trace is written.
#[derive(Args, Debug)]
pub(crate) struct TraceOutput {
    /// Write it to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) replace: Replace,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope trace import sda.blktrace.0 sda.blktrace.1 -o sda.trace
  flashscope trace import hm_0.csv -o hm_0.trace
  flashscope trace import Financial1.spc --disk 3 -o fin.trace
  flashscope trace import card.log -o card.trace   a log of `emulate --log`

Formats: blktrace, blkparse, fio2, fio3, msr, spc, emulator, bench.")]
pub(crate) struct TraceImport {
    /// The trace; of blktrace all its files
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) input: TraceInput,
    #[command(flatten)]
    pub(crate) output: TraceOutput,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope trace export app.trace --as fio3 -o app.iolog
  flashscope trace export app.trace --as blktrace -o app.blktrace.0")]
pub(crate) struct TraceExport {
    /// The trace
    pub(crate) file: PathBuf,
    /// blktrace, blkparse, fio2, fio3, msr or spc
    #[arg(long = "as", value_name = "FORMAT", value_parser = format)]
    pub(crate) wanted: Format,
    #[command(flatten)]
    pub(crate) input: TraceInput,
    #[command(flatten)]
    pub(crate) output: TraceOutput,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope trace cut app.trace --from 2s --to 10s -o part.trace
  flashscope trace cut app.trace --kinds read,write -o data.trace
  flashscope trace cut broken.trace --keep-whole -o whole.trace")]
pub(crate) struct TraceCut {
    /// The trace
    pub(crate) file: PathBuf,
    /// Requests issued from here on
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<Nanos>,
    /// Requests issued before
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<Nanos>,
    /// At most so many
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u64>,
    /// Requests that lie at or behind this place
    #[arg(long, value_name = "SIZE")]
    pub(crate) offset: Option<Bytes>,
    /// Requests that lie before this place
    #[arg(long, value_name = "SIZE")]
    pub(crate) end: Option<Bytes>,
    /// Only these: read, write, flush, discard
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = kind)]
    pub(crate) kinds: Vec<Op>,
    /// Of a trace that ends early or is broken, what is whole
    #[arg(long)]
    pub(crate) keep_whole: bool,
    #[command(flatten)]
    pub(crate) input: TraceInput,
    #[command(flatten)]
    pub(crate) output: TraceOutput,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: flashscope trace merge one.trace other.trace -o both.trace")]
pub(crate) struct TraceMerge {
    /// The traces
    #[arg(required = true, num_args = 2..)]
    pub(crate) files: Vec<PathBuf>,
    /// How much later each begins than the one before, rather than all at once
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub(crate) shift: Nanos,
    /// Put each behind the last address of the one before, rather than all on the same addresses
    #[arg(long)]
    pub(crate) side_by_side: bool,
    #[command(flatten)]
    pub(crate) input: TraceInput,
    #[command(flatten)]
    pub(crate) output: TraceOutput,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope trace show app.trace
  flashscope trace show app.trace -o app.html   with a heat map
  flashscope trace show hm_0.csv --json")]
pub(crate) struct TraceShow {
    /// The trace
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) input: TraceInput,
    #[command(flatten)]
    pub(crate) results: Results,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope trace replay app.trace sim:sd-4mib
  flashscope trace replay app.trace sim:./twin.toml --mode dependent --scale
  flashscope trace replay app.trace sim:emmc --align 8KiB --split 8KiB
  sudo flashscope trace replay app.trace /dev/sdX --destroy-data=IDENTITY

A replay on a real device writes where the trace wrote, and destroys what stood there.")]
pub(crate) struct TraceReplay {
    /// The trace
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// open: at the times of the trace; closed: as fast as it can, in order; dependent: each waits for what had ended before it, think times kept
    #[arg(long, value_enum, default_value = "open")]
    pub(crate) mode: ReplayMode,
    /// Requests outstanding at most of a closed replay
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::up_to(1024))]
    pub(crate) depth: u32,
    /// Multiply addresses so that the traced device fits this one
    #[arg(long, conflicts_with = "wrap")]
    pub(crate) scale: bool,
    /// Let addresses begin anew at the end of this device
    #[arg(long)]
    pub(crate) wrap: bool,
    /// What if: ranges are widened to multiples of this
    #[arg(long, value_name = "SIZE")]
    pub(crate) align: Option<Bytes>,
    /// What if: no request crosses a multiple of this
    #[arg(long, value_name = "SIZE")]
    pub(crate) split: Option<Bytes>,
    /// What if: neighbours issued within this time become one request
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "100us")]
    pub(crate) merge: Option<Nanos>,
    /// What if: no request is larger than this
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_request: Option<Bytes>,
    #[command(flatten)]
    pub(crate) input: TraceInput,
    #[command(flatten)]
    pub(crate) results: Results,
}

/// In which way.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplayMode {
    /// At the times of the trace
    Open,
    /// As fast as it can
    Closed,
    /// Each waits for what had ended before it
    Dependent,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sudo flashscope trace record --device /dev/sdX -o app.trace
  sudo flashscope trace record --device /dev/sdX --for 30s -o app.trace
  sudo flashscope trace record --device /dev/sdX -o cp.trace -- cp a /mnt/b
  sudo flashscope trace record --clean    after a kill -9

Ctrl-C ends it and keeps what was recorded; nothing stays switched on.")]
pub(crate) struct TraceRecording {
    /// The block device
    #[arg(long, value_name = "DEVICE", required_unless_present = "clean")]
    pub(crate) device: Option<PathBuf>,
    /// Write the trace to this file
    #[arg(short, long, value_name = "FILE", required_unless_present = "clean")]
    pub(crate) output: Option<PathBuf>,
    /// How long
    #[arg(long = "for", value_name = "TIME", conflicts_with = "command")]
    pub(crate) time: Option<Nanos>,
    /// Room for events that wait to be read, per processor; what has no room is counted
    #[arg(long, value_name = "SIZE", default_value = "8MiB")]
    pub(crate) buffer: Bytes,
    /// Remove what a killed recording left switched on, and do nothing else
    #[arg(long, conflicts_with_all = ["device", "output", "time", "command"])]
    pub(crate) clean: bool,
    #[command(flatten)]
    pub(crate) replace: Replace,
    /// Print what the trace shows as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Record while this runs
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

fn format(text: &str) -> Result<Format, String> {
    let all = Format::ALL.map(Format::word).join(", ");
    Format::of_word(text).ok_or_else(|| format!("no format has this name\nhint: one of {all}"))
}

fn time_unit(text: &str) -> Result<TimeUnit, String> {
    match text {
        "ns" => Ok(TimeUnit::Ns),
        "100ns" => Ok(TimeUnit::Filetime),
        "us" | "µs" => Ok(TimeUnit::Us),
        "ms" => Ok(TimeUnit::Ms),
        "s" => Ok(TimeUnit::S),
        _ => Err("it is one of ns, 100ns, us, ms, s".to_owned()),
    }
}

fn waits(text: &str) -> Result<Waits, String> {
    match text {
        "since-previous" => Ok(Waits::SincePrevious),
        "since-start" => Ok(Waits::SinceStart),
        _ => Err("it is since-previous or since-start".to_owned()),
    }
}

fn kind(text: &str) -> Result<Op, String> {
    Op::ALL
        .into_iter()
        .find(|op| op.word() == text)
        .ok_or_else(|| "it is one of read, write, flush, discard".to_owned())
}
