//! `probe buffer` and `probe read-cache`.

use super::{ProbeCommon, up_to};
use clap::Args;
use flashscope_model::plan::Then;
use flashscope_probe::classic;
use flashscope_units::{Bytes, Nanos};

#[derive(Args, Debug)]
pub(crate) struct ProbeBuffer {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Size of each write
    #[arg(short, long, visible_alias = "blocksize", default_value = "4k", value_name = "SIZE")]
    pub(crate) block: Bytes,
    /// Writes of each burst
    #[arg(long, default_value_t = 128, value_name = "N", value_parser = up_to(1_000_000))]
    pub(crate) writes: u32,
    /// Bursts
    #[arg(short, long, default_value_t = 4, value_parser = up_to(100_000))]
    pub(crate) count: u32,
    /// Time between the last write and what is timed behind it
    #[arg(long, default_value = "0s", value_name = "TIME")]
    pub(crate) pause: Nanos,
    /// What is timed behind each burst: flush, read or write
    #[arg(long, default_value = "flush", value_parser = then)]
    pub(crate) then: Then,
    /// Rest before each burst, behind a flush
    #[arg(long, default_value = "50ms", value_name = "TIME")]
    pub(crate) rest: Nanos,
    /// Length of the region that is written sequentially, over and over
    #[arg(long, default_value = "4M", value_name = "SIZE")]
    pub(crate) region: Bytes,
    /// Where it lies
    #[arg(long, default_value_t = classic::WRITE_OFFSET, value_name = "SIZE")]
    pub(crate) offset: Bytes,
}

#[derive(Args, Debug)]
pub(crate) struct ProbeReadCache {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Block size
    #[arg(short, long, visible_alias = "blocksize", default_value = "4k", value_name = "SIZE")]
    pub(crate) block: Bytes,
    /// Bytes read between the first and the second read of a block, the block included [default: 4k to 1M, from the block on]
    #[arg(long, value_delimiter = ',', value_name = "SIZES")]
    pub(crate) spans: Vec<Bytes>,
    /// Blocks of each sequential run, and of its control in descending order
    #[arg(long, default_value_t = 12, value_name = "N", value_parser = up_to(65_536))]
    pub(crate) run: u32,
    /// From the end of a run to the block that is read behind it [default: 0 to 508k, in whole blocks]
    #[arg(long, value_delimiter = ',', value_name = "SIZES")]
    pub(crate) distances: Vec<Bytes>,
    /// Time that a read-ahead is given
    #[arg(long, default_value = "20ms", value_name = "TIME")]
    pub(crate) rest: Nanos,
    /// Rounds
    #[arg(short, long, default_value_t = 12, value_parser = up_to(100_000))]
    pub(crate) count: u32,
    /// Number of regions, one behind the other
    #[arg(long, default_value_t = 32, value_name = "N", value_parser = up_to(65_536))]
    pub(crate) regions: u32,
    /// Length of a region
    #[arg(long, default_value = "4M", value_name = "SIZE")]
    pub(crate) region: Bytes,
    /// Where the first region lies
    #[arg(long, default_value_t = classic::WRITE_OFFSET, value_name = "SIZE")]
    pub(crate) offset: Bytes,
}

fn then(word: &str) -> Result<Then, String> {
    match word {
        "flush" => Ok(Then::Flush),
        "read" => Ok(Then::Read),
        "write" => Ok(Then::Write),
        other => Err(format!("'{other}' is none of flush, read, write")),
    }
}
