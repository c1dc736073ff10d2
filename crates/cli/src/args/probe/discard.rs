//! What `probe discard` takes.

use super::ProbeCommon;
use clap::Args;
use flashscope_model::discard::Discard;
use flashscope_units::Bytes;

#[derive(Args, Debug)]
pub(crate) struct ProbeDiscard {
    #[command(flatten)]
    pub(crate) common: ProbeCommon,
    /// Size of each read, and the smallest size to discard
    #[arg(short, long, visible_alias = "blocksize", default_value = "4k", value_name = "SIZE")]
    block: Bytes,
    /// The largest size to discard; those between are doubled
    #[arg(long, default_value = "4M", value_name = "SIZE")]
    largest: Bytes,
    /// Where the first place begins
    #[arg(long, default_value = "16M", value_name = "SIZE")]
    offset: Bytes,
    /// Distance of the places
    #[arg(long, default_value = "16M", value_name = "SIZE")]
    step: Bytes,
    /// Number of places
    #[arg(long, default_value_t = 14, value_name = "N", value_parser = clap::value_parser!(u32).range(3..=4096))]
    places: u32,
    /// How often each size is tried
    #[arg(short, long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    count: u32,
    /// Random writes behind a discard, and as many beside them
    #[arg(long, default_value_t = 24, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=65536))]
    rewrites: u32,
    /// Size of each of these writes
    #[arg(long, default_value = "64k", value_name = "SIZE")]
    rewrite_block: Bytes,
}

impl ProbeDiscard {
    pub(crate) fn plan(&self) -> Discard {
        let doubled = std::iter::successors(Some(self.block.max(Bytes(1))), |size| Some(*size * 2));
        Discard {
            block: self.block,
            sizes: doubled.take_while(|size| *size <= self.largest).collect(),
            repeats: self.count,
            places: (0..u64::from(self.places)).map(|place| self.offset + self.step * place).collect(),
            span: self.largest,
            rewrites: self.rewrites,
            rewrite_block: self.rewrite_block,
        }
    }
}
