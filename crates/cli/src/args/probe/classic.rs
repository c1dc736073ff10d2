//! What the experiments of flashbench take.

use super::{ProbeCommon, up_to};
use clap::Args;
use flashscope_probe::classic;
use flashscope_units::Bytes;

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
    /// Visit the offsets within a unit in random order
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
    /// Visit the offsets within a unit in random order
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
