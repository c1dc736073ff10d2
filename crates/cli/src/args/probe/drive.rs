//! What the probes of a controller's inside take.

use super::{ProbeCommon, up_to};
use clap::Args;
use flashscope_units::{Bytes, Nanos};

#[derive(Args, Debug)]
pub(crate) struct ProbeSlcCache {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Size of each write
    #[arg(short, long, visible_alias = "blocksize", default_value = "1M", value_name = "SIZE")]
    pub(crate) block: Bytes,
    /// Length of each burst
    #[arg(long, default_value = "1G", value_name = "SIZE")]
    pub(crate) size: Bytes,
    /// Number of bursts, each over an area of its own
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) bursts: u32,
    /// Rest before each burst
    #[arg(long, default_value = "30s", value_name = "TIME")]
    pub(crate) idle: Nanos,
    /// Where the first burst begins
    #[arg(long, default_value = "0", value_name = "SIZE")]
    pub(crate) offset: Bytes,
}

#[derive(Args, Debug)]
pub(crate) struct ProbeParallel {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Size of each read [default: the logical block]
    #[arg(short, long, visible_alias = "blocksize", value_name = "SIZE")]
    pub(crate) block: Option<Bytes>,
    /// Reads handed over at once
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=256))]
    pub(crate) reads: u32,
    /// Pairs of reads instead, at this distance in bytes and multiples of it: what stays in one unit, to see which units share
    /// a channel
    #[arg(long, value_name = "SIZE", requires = "units", conflicts_with = "reads")]
    pub(crate) chunk: Option<Bytes>,
    /// How many units take turns, for --chunk
    #[arg(long, value_name = "N", requires = "chunk", value_parser = clap::value_parser!(u32).range(2..=1024))]
    pub(crate) units: Option<u32>,
    /// Rounds, each with every distance once at a random place
    #[arg(short, long, default_value_t = 32, value_parser = up_to(100_000))]
    pub(crate) count: u32,
}

#[derive(Args, Debug)]
pub(crate) struct ProbeMapReach {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Size of each read
    #[arg(short, long, visible_alias = "blocksize", default_value = "4k", value_name = "SIZE")]
    pub(crate) block: Bytes,
    /// Start of all ranges
    #[arg(long, default_value = "0", value_name = "SIZE")]
    pub(crate) offset: Bytes,
    /// The longest range; shorter ones are halves of it [default: to the end of the device]
    #[arg(long, value_name = "SIZE")]
    pub(crate) largest: Option<Bytes>,
    /// Random reads of each range
    #[arg(short, long, default_value_t = 400, value_parser = up_to(100_000))]
    pub(crate) count: u32,
}

#[derive(Args, Debug)]
pub(crate) struct ProbeGc {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Size of each write
    #[arg(short, long, visible_alias = "blocksize", default_value = "128k", value_name = "SIZE")]
    pub(crate) block: Bytes,
    /// Where the part that is overwritten begins
    #[arg(long, default_value = "0", value_name = "SIZE")]
    pub(crate) offset: Bytes,
    /// Its length; a part of a device has all of its spare space [default: to the end of the device]
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,
    /// How many times the size of the part is written randomly, after it was written once sequentially
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) times: u32,
}

#[derive(Args, Debug)]
pub(crate) struct ProbeCells {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Size of each read
    #[arg(short, long, visible_alias = "blocksize", default_value = "4k", value_name = "SIZE")]
    pub(crate) block: Bytes,
    /// Where the first page lies
    #[arg(long, default_value = "0", value_name = "SIZE")]
    pub(crate) offset: Bytes,
    /// Distance of the places: the stripe, where it is known, else the page
    #[arg(long, default_value = "64k", value_name = "SIZE")]
    pub(crate) step: Bytes,
    /// Number of places
    #[arg(long, default_value_t = 96, value_parser = up_to(1_000_000))]
    pub(crate) places: u32,
    /// Reads of each place
    #[arg(short, long, default_value_t = 16, value_parser = up_to(100_000))]
    pub(crate) count: u32,
}
