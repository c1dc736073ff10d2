//! What `capacity` takes.

use super::TargetArgs;
use super::campaign::Results;
use clap::{Args, ValueEnum};
use flashscope_model::capacity::HashAlgorithm;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope capacity sim:sd-4mib,fake=limbo,real_capacity=1GiB
  sudo flashscope capacity /dev/sdX --destroy-data=IDENTITY
  flashscope capacity sim:sd-4mib,capacity=256MiB --full
  sudo flashscope capacity /dev/sdX --full --destroy-data=IDENTITY -o card.json
  flashscope capacity /media/card --allow-write   fills its free space
  flashscope capacity /media/card --read-only     reads files of f3write
  flashscope capacity sim:sd-4mib --json

Ends with 0 where the device was found genuine, with 1 where it was not, with 2 where that cannot be told. What it
writes destroys what stood there; docs/capacity.md says what is written where, and which fakes that excludes.")]
pub(crate) struct Capacity {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Write and read every block rather than a little; the same command goes on where it was stopped
    #[arg(long)]
    pub(crate) full: bool,
    /// In which order a full test goes over the device: by address, or in shuffled parts
    #[arg(long, value_name = "ORDER", value_enum, requires = "full")]
    pub(crate) order: Option<Order>,
    /// Keep what stands where it writes in a file beside the record (.undo), and put it back at the end; where a run was killed,
    /// the next one puts it back first
    #[arg(long)]
    pub(crate) restore: bool,
    /// Hash all that was written, and all that is read in the end, in order of address, as the programs of these names do
    #[arg(long, value_name = "HASH", value_enum, conflicts_with = "restore")]
    pub(crate) hash: Option<Hash>,
    /// Leave the files that filled a directory where they are
    #[arg(long)]
    pub(crate) keep_files: bool,
    #[command(flatten)]
    pub(crate) results: Results,
}

/// The order of a full test.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// By address
    Sequential,
    /// In parts of 16 MiB (of 1/65536 where that is more), the parts shuffled
    Shuffled,
}

/// What `md5sum` and `sha256sum` print.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hash {
    /// MD5
    Md5,
    /// SHA-256
    Sha256,
}

impl From<Hash> for HashAlgorithm {
    fn from(hash: Hash) -> HashAlgorithm {
        match hash {
            Hash::Md5 => HashAlgorithm::Md5,
            Hash::Sha256 => HashAlgorithm::Sha256,
        }
    }
}

impl Capacity {
    /// Whether it is written in shuffled parts.
    pub(crate) fn shuffled(&self) -> bool {
        self.order == Some(Order::Shuffled)
    }
}
