//! What `fleet` takes.

use super::{Replace, up_to};
use clap::{Args, Subcommand};
use flashscope_console::Server;
use flashscope_fleet::{Generator, Noise};
use flashscope_units::{Bytes, Nanos};
use std::path::PathBuf;

/// Devices of one fleet: what came of each is kept until the end.
const MOST_DEVICES: i64 = 1_000_000;
/// Number of a device in its fleet.
const LAST_INDEX: i64 = 1_000_000_000;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope fleet --devices 200 --seed 7 --noise field
  flashscope fleet --devices 1000 --generator adversarial --json > fleet.json
  flashscope fleet --seed 7 --show 12 > device.toml
  flashscope fleet --devices 50 --records samples
  flashscope fleet --lab tls://lab:4222 --ca ca.pem --token operator.token

The rules of scoring stand in docs/fleet.md.")]
#[command(args_conflicts_with_subcommands = true)]
#[command(mut_arg("server", |arg| arg.long("lab").required(false).requires("token").conflicts_with_all(["show", "part"])
    .help("Have agents of this lab find it (docs/hosts.md): tls://HOST:PORT; nats://HOST:PORT without TLS, on this host alone")))]
#[command(mut_arg("token", |arg| arg.required(false).requires("server")), mut_arg("ca", |arg| arg.requires("server")))]
pub(crate) struct Fleet {
    #[command(subcommand)]
    pub(crate) kind: Option<FleetKind>,
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
    /// Let each run write its device this number of times over: spare space and the kind of an SLC cache need two. Takes far longer
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
    #[arg(long, value_name = "INDEX", conflicts_with_all = ["json", "html", "output"], value_parser = clap::value_parser!(u32).range(..=LAST_INDEX))]
    pub(crate) show: Option<u32>,
    /// Print JSON, device by device
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page with reliability plots to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write a report to this file, by its ending: .html, .json, .csv, .md, .txt or .xlsx
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Find these devices one after the other, and write what came of each to this file, to be joined; agents of a lab do so
    #[arg(long, value_name = "FILE", hide = true, conflicts_with_all = ["show", "json", "html", "output"])]
    pub(crate) part: Option<PathBuf>,
    /// Keep the record that inspect would write of each device in this directory, as GENERATOR-SEED-INDEX.json: all samples, some MiB
    /// each
    #[arg(long, value_name = "DIR", conflicts_with_all = ["show", "part", "server"])]
    pub(crate) records: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) server: Option<Server>,
    #[command(flatten)]
    pub(crate) replace: Replace,
}

/// What else is measured of flashscope itself.
#[derive(Debug, Subcommand)]
pub(crate) enum FleetKind {
    /// Measure how often capacity is right, on genuine simulated devices and on fakes
    Capacity(FleetCapacity),
    /// Measure how often compare is right, on pairs of simulated devices whose ratio is known
    Compare(FleetCompare),
    /// Measure how often integrity is right, on simulated devices that keep the promise in every way and on planted faults
    Integrity(FleetIntegrity),
    /// Measure how often qualify is right, on pairs of simulated devices where it follows whether one may replace the other
    Qualify(FleetQualify),
    /// Measure how often state is right, on simulated devices brought to random states
    State(FleetState),
    /// Measure how often history's trend is right, on simulated histories whose changes are known
    Trend(FleetTrend),
}

/// Pairs, or histories, of one fleet.
const MOST_PAIRS: i64 = 100_000;

#[derive(Args, Debug)]
#[command(after_help = "Example: flashscope fleet capacity --devices 300 --seed 7 -o capacity.html

What is counted stands in docs/capacity.md.")]
pub(crate) struct FleetCapacity {
    /// How many genuine devices, and as many fakes
    #[arg(short = 'n', long, default_value_t = 200, value_name = "N", value_parser = up_to(MOST_PAIRS))]
    pub(crate) devices: u32,
    /// Test all of each device, of 64 to 512 MiB, rather than a little of large ones
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) scored: ScoredArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: flashscope fleet compare --pairs 300 --seed 7 -o differences.html

What is counted stands in docs/differences.md.")]
pub(crate) struct FleetCompare {
    /// How many pairs: a third are the same device twice
    #[arg(short = 'n', long, default_value_t = 120, value_name = "N", value_parser = up_to(MOST_PAIRS))]
    pub(crate) pairs: u32,
    /// A campaign takes at most this many blocks
    #[arg(long, default_value_t = 30, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) blocks: u32,
    #[command(flatten)]
    pub(crate) scoring: ScoringArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: flashscope fleet integrity --devices 132 --seed 7 -o cuts.html

What is counted stands in docs/integrity.md.")]
pub(crate) struct FleetIntegrity {
    /// How many devices without a fault, as many with one, and as many with two
    #[arg(short = 'n', long, default_value_t = 132, value_name = "N", value_parser = up_to(MOST_PAIRS))]
    pub(crate) devices: u32,
    /// Power cuts of each
    #[arg(long, default_value_t = 60, value_name = "N", value_parser = up_to(10_000))]
    pub(crate) cuts: u32,
    #[command(flatten)]
    pub(crate) scored: ScoredArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: flashscope fleet qualify --pairs 160 --seed 7 -o verdicts.html

What is counted stands in docs/qualify.md.")]
pub(crate) struct FleetQualify {
    /// How many pairs: equal, better, near a limit on either side, fakes, parts that lose data, parts whose registers lie
    #[arg(short = 'n', long, default_value_t = 96, value_name = "N", value_parser = up_to(MOST_PAIRS))]
    pub(crate) pairs: u32,
    #[command(flatten)]
    pub(crate) scoring: ScoringArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: flashscope fleet state --devices 300 --seed 7 -o states.html

What is counted stands in docs/states.md.")]
pub(crate) struct FleetState {
    /// How many devices: each is diagnosed with the few writes that tell most, and again by reading only
    #[arg(short = 'n', long, default_value_t = 120, value_name = "N", value_parser = up_to(MOST_PAIRS))]
    pub(crate) devices: u32,
    #[command(flatten)]
    pub(crate) scored: ScoredArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: flashscope fleet trend --histories 900 --seed 7 -o marks.html

What is counted stands in docs/differences.md.")]
pub(crate) struct FleetTrend {
    /// How many histories
    #[arg(short = 'n', long, default_value_t = 900, value_name = "N", value_parser = up_to(MOST_PAIRS))]
    pub(crate) histories: u32,
    #[command(flatten)]
    pub(crate) scoring: ScoringArgs,
}

/// What the scoring of simulated runs takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct ScoringArgs {
    /// Scatter of runs, as the standard deviation of a logarithm [default: 0.02 and then 0.05]
    #[arg(long, value_name = "SD", value_parser = scatter)]
    pub(crate) scatter: Option<f64>,
    #[command(flatten)]
    pub(crate) scored: ScoredArgs,
}

/// What the scoring of simulated cases takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct ScoredArgs {
    /// Seed of the fleet; the same seed draws the same cases
    #[arg(long, default_value_t = 1, env = "FLASHSCOPE_SEED")]
    pub(crate) seed: u64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a report to this file, by its ending: .html, .json, .csv, .md or .xlsx
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
}

fn scatter(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("'{text}' is no number"))?;
    if (0.001..=0.5).contains(&value) { Ok(value) } else { Err("it must lie between 0.001 and 0.5".to_owned()) }
}
