//! What the probes take that compare the read times of places.

use super::{ProbeCommon, up_to};
use clap::Args;
use flashscope_units::Bytes;

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
