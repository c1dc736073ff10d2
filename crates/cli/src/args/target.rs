//! What is looked at, what may be done to it, and to files that are in the way of a result.

use super::DEMO;
use clap::Args;
use flashscope_units::{Bytes, ParseBytesError};

/// What is looked at, and what may be done to it.
#[derive(Args, Clone, Debug)]
pub(crate) struct TargetArgs {
    /// Block device, file, or sim:MODEL[,key=value…] (see `flashscope sim list`)
    #[arg(default_value = DEMO)]
    pub(crate) target: String,
    /// Seed of every random choice; the same seed on a simulated device gives the same bytes
    #[arg(long, default_value_t = 1, env = "FLASHSCOPE_SEED")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) consent: Consent,
    /// Use the page cache where the file system refuses direct I/O; said in the record
    #[arg(long)]
    pub(crate) allow_cached: bool,
}

/// What may be done to what is looked at.
#[derive(Args, Clone, Debug)]
pub(crate) struct Consent {
    /// Never write more than this in all, files that a run makes for itself included [default: inspect: 10 % of the capacity or 1 GiB, whichever is more, but at most
    /// 2 GiB and half of the device; state: 64 MiB, but at most 1/16 of the device; capacity: 64 MiB; probe, bench: what they need]
    #[arg(long, value_name = "SIZE", env = "FLASHSCOPE_MAX_WRITE", value_parser = write_budget)]
    pub(crate) max_write: Option<Bytes>,
    /// Only read, even where writing would be granted
    #[arg(long, conflicts_with_all = ["allow_write", "destroy_data"])]
    pub(crate) read_only: bool,
    /// Allow writing to plain files that are there (their content is destroyed)
    #[arg(long)]
    pub(crate) allow_write: bool,
    /// Allow writing to the block device of this identity, as `flashscope list` prints it (its content is destroyed); once for each
    /// where jobs run on several
    #[arg(long, value_name = "IDENTITY")]
    pub(crate) destroy_data: Vec<String>,
    /// Also overwrite a partition table or file system that is not in use, and data in a file that flashscope did not write
    #[arg(long)]
    pub(crate) destroy_signatures: bool,
    /// Read a device that is in use; said in the record, since others disturb the figures
    #[arg(long)]
    pub(crate) read_in_use: bool,
}

impl Consent {
    /// What is consented to of a target of this identity. Where another one was named, that stands, to be refused.
    pub(crate) fn to(&self, identity: Option<&str>) -> flashscope_device::Consent {
        let named = self.destroy_data.iter().find(|named| Some(named.as_str()) == identity);
        flashscope_device::Consent {
            identity: named.or(self.destroy_data.first()).cloned(),
            allow_file: self.allow_write,
            signatures: self.destroy_signatures,
        }
    }
}

/// What may be done to files that are in the way of a result.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Replace {
    /// Replace files that flashscope did not write, and records of another target, too; else its own are replaced without a word
    #[arg(long)]
    pub(crate) force: bool,
}

/// What may be written in all. A number of bytes below one sector is a unit that was forgotten.
pub(super) fn write_budget(text: &str) -> Result<Bytes, String> {
    let budget: Bytes = text.parse().map_err(|error: ParseBytesError| error.to_string())?;
    if budget > Bytes::ZERO && budget < Bytes::SECTOR {
        let hint = format!("hint: with a unit it is {text}M or {text}G; --read-only writes nothing");
        return Err(format!("{budget} is less than one sector ({})\n{hint}", Bytes::SECTOR));
    }
    Ok(budget)
}
