//! What `integrity` takes.

use super::campaign::Results;
use super::endurance::Endurance;
use super::{TargetArgs, up_to};
use clap::{Args, ValueEnum};
use flashscope_units::{Bytes, Nanos};
use std::path::PathBuf;

/// Cuts of one run: each is kept until the end.
const MOST_CUTS: i64 = 1_000_000;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope integrity sim:ssd-consumer --cuts 200
  flashscope integrity sim:sd-4mib,lost=0.01 --cuts 100 --seed 7
  flashscope integrity sim:sd-4mib,lost=0.01 --seed 7 --replay 12
  sudo flashscope integrity sim:sd-4mib --under ext4 --cuts 20
  sudo flashscope integrity /dev/sdX --destroy-data=IDENTITY \\
    --power-off 'uhubctl -l 1-1 -p 2 -a off' \\
    --power-on 'uhubctl -l 1-1 -p 2 -a on'
  flashscope integrity sim:emmc-phone,capacity=1GiB --endurance --passes 3
  sudo flashscope integrity /dev/sdX --endurance --destroy-data=IDENTITY
  sudo flashscope integrity /dev/sdX --endurance --destroy-data=IDENTITY \\
    --until first-error --life 200% --rated-writes 60tB --reread-after 168h

A flush covers the writes that were done before it, a durable write covers itself; whatever else is lost with the power is
the device's right. docs/integrity.md has the promise, the ways to break it, and how each is told.")]
pub(crate) struct Integrity {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// How often to cut the power
    #[arg(short = 'n', long, default_value_t = 100, value_name = "N", value_parser = up_to(MOST_CUTS))]
    pub(crate) cuts: u32,
    /// Do all cuts up to this one again, and show what was asked for before it and what it left
    #[arg(long, value_name = "CUT", conflicts_with = "cuts", value_parser = up_to(MOST_CUTS))]
    pub(crate) replay: Option<u32>,
    /// Write from here on [default: the middle of the device]
    #[arg(long, value_name = "SIZE")]
    pub(crate) offset: Option<Bytes>,
    /// Write to so much of the device: small enough that writes meet again [default: 2 MiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,
    /// A device that takes longer from power on to its first answer comes back slowly
    #[arg(long, default_value = "10s", value_name = "TIME")]
    pub(crate) slow_after: Nanos,
    /// Look through so much of the device at the end, for writes that went elsewhere
    #[arg(long, default_value = "1GiB", value_name = "SIZE")]
    pub(crate) search: Bytes,
    /// Cut the power of a real device with this command; words as in a shell, but none is started
    #[arg(long, value_name = "COMMAND", requires = "power_on")]
    pub(crate) power_off: Option<String>,
    /// Bring the power back with this command
    #[arg(long, value_name = "COMMAND", requires = "power_off")]
    pub(crate) power_on: Option<String>,
    /// The device must not answer any more so long after --power-off was started
    #[arg(long, default_value = "10s", value_name = "TIME")]
    pub(crate) wait_off: Nanos,
    /// The device must answer again so long after --power-on was started, or it is dead
    #[arg(long, default_value = "1min", value_name = "TIME")]
    pub(crate) wait_on: Nanos,
    /// Keep what a real device acknowledged in FILE, on another disk [default: beside the record, or here]
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// Write all that was covered to FILE, in the format of the kernel's dm-log-writes, with a mark at each cut
    #[arg(long, value_name = "FILE")]
    pub(crate) log_writes: Option<PathBuf>,
    /// Put a file system or a database on the device and cut the power under it: tells whose fault a loss is, the device's or its own
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with = "judge")]
    pub(crate) under: Option<UnderSubject>,
    /// Tell the file system this when it is mounted (nobarrier), or the database (synchronous=OFF); several with commas
    #[arg(long, value_name = "OPTIONS", requires = "under")]
    pub(crate) under_options: Option<String>,
    /// Hold a real device against the journal of a run that was killed; writes nothing
    #[arg(long, requires = "journal", conflicts_with_all = ["cuts", "replay", "power_off", "log_writes"])]
    pub(crate) judge: bool,
    #[command(flatten)]
    pub(crate) endurance: Endurance,
    #[command(flatten)]
    pub(crate) results: Results,
}

/// What is put on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnderSubject {
    /// Files on ext4
    Ext4,
    /// Files on XFS
    Xfs,
    /// Files on Btrfs
    Btrfs,
    /// An SQLite database on ext4
    Sqlite,
}

impl UnderSubject {
    /// As it is typed.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            UnderSubject::Ext4 => "ext4",
            UnderSubject::Xfs => "xfs",
            UnderSubject::Btrfs => "btrfs",
            UnderSubject::Sqlite => "sqlite",
        }
    }
}
