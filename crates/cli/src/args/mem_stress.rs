//! What `mem stress` takes.

use super::campaign::Results;
use super::{Consent, up_to};
use clap::Args;
use flashscope_mem::wire::{PlantKind, Planted};
use flashscope_units::{Bytes, Nanos};

/// Whether memory holds what is written to it while all of it is in use, and, with a device, whose an error is.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope mem stress
  flashscope mem stress --for 2h --memory 8GiB
  flashscope mem stress --with sim:sd-4mib,misdirected=0.05 --memory 64MiB
  sudo flashscope mem stress --with /dev/sdX --destroy-data=IDENTITY --for 1h
  flashscope mem stress --with FILE --allow-write
  flashscope mem stress --plant cell:3 --memory 64MiB   # are flips found?

Ends with 0 where nothing was wrong, with 1 where anything was, with 2 where it could not be tested.
Errors are the memory cell's, the memory path's, the storage medium's or the storage link's, or it
cannot be told; docs/memory-stress.md says what each rests on.")]
pub(crate) struct MemStress {
    /// Test for this time
    #[arg(long = "for", value_name = "TIME", default_value = "10s")]
    pub(crate) time: Nanos,
    /// Test for so many hours
    #[arg(long, value_name = "N", conflicts_with = "time", value_parser = up_to(8760))]
    pub(crate) hours: Option<u32>,
    /// Test this much memory [default: --share of what is available]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Bytes>,
    /// Test this share of what is available, in percent; the rest is left to others
    #[arg(long, value_name = "PERCENT", default_value_t = 70, value_parser = clap::value_parser!(u8).range(1..=95), conflicts_with = "memory")]
    pub(crate) share: u8,
    /// At most this many threads [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = up_to(4096))]
    pub(crate) threads: Option<u32>,
    /// Ask for small pages only
    #[arg(long)]
    pub(crate) small_pages: bool,
    /// Write to and read from this block device, file or sim:MODEL meanwhile, and tell its errors from those of memory
    #[arg(long, value_name = "TARGET")]
    pub(crate) with: Option<String>,
    /// Length of the range of the device that is written
    #[arg(long, value_name = "SIZE", default_value = "32MiB", requires = "with")]
    pub(crate) size: Bytes,
    /// Where it begins [default: in the middle of the device]
    #[arg(long, value_name = "OFFSET", requires = "with")]
    pub(crate) offset: Option<Bytes>,
    /// Seed of every pattern
    #[arg(long, default_value_t = 1, env = "FLASHSCOPE_SEED")]
    pub(crate) seed: u64,
    /// Plant flips on purpose, to show that they are found: cell, path, buffer or copy, and how many
    #[arg(long, value_name = "WHERE[:N]", value_parser = planted)]
    pub(crate) plant: Option<Planted>,
    #[command(flatten)]
    pub(crate) consent: Consent,
    /// Use the page cache where the file system refuses direct I/O; said in the record
    #[arg(long, requires = "with")]
    pub(crate) allow_cached: bool,
    #[command(flatten)]
    pub(crate) results: Results,
}

impl MemStress {
    /// For how long.
    pub(crate) fn lasts(&self) -> Nanos {
        self.hours.map_or(self.time, |hours| Nanos::secs(3600 * u64::from(hours)))
    }
}

/// Flips of one kind: one, where no number is given.
fn planted(text: &str) -> Result<Planted, String> {
    let (word, count) = text.split_once(':').unwrap_or((text, "1"));
    let kind = PlantKind::ALL.into_iter().find(|kind| kind.word() == word);
    let count = count.parse().ok().filter(|count| (1..=100_000).contains(count));
    match (kind, count) {
        (Some(kind), Some(count)) => Ok(Planted { kind, count }),
        (None, _) => Err("it is cell, path, buffer or copy, e.g. cell:3".to_owned()),
        (_, None) => Err("the number is from 1 to 100000, e.g. cell:3".to_owned()),
    }
}
