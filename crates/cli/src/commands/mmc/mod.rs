//! `mmc`: registers of SD cards and eMMC parts.

mod check;
mod show;

use crate::args::{Mmc, MmcCommand};
use crate::error::{Failure, Outcome};
use crate::target;
use anyhow::anyhow;
use flashscope_host::{CardRegisters, SysRoot};
use flashscope_model::Health;
use flashscope_registers::{DumpHint, health_words, read_dump};
use serde_json::{Value, json};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

pub(crate) fn run(args: &Mmc) -> Result<Outcome, Failure> {
    match &args.command {
        MmcCommand::Show(show) => show::run(show),
        MmcCommand::Dump(dump) => show::dump(dump),
        MmcCommand::Check(check) => check::run(check),
    }
}

/// The largest file that is taken for a dump: what other programs print of EXT_CSD has about 10 KiB.
const LARGEST_DUMP: u64 = 1 << 20;

/// The registers of whatever was named.
fn registers(path: &Path, hint: DumpHint<'_>) -> Result<CardRegisters, Failure> {
    target::meant_simulated(path)?;
    let found = std::fs::metadata(path).map_err(|error| {
        Failure::Cannot(anyhow!(
            "cannot look at {}: {}\nhint: name a device, a dump or a directory",
            path.display(),
            crate::input::said(&error)
        ))
    })?;
    if found.file_type().is_block_device() {
        return flashscope_host::card_registers(&SysRoot::live(), path).map_err(target::failure);
    }
    if found.is_dir() {
        return flashscope_host::registers_in(path).map_err(target::failure);
    }
    if !found.is_file() || found.len() > LARGEST_DUMP {
        return Err(Failure::Cannot(anyhow!(
            "{} is no dump of registers: it is {}\nhint: name a device, a dump or a directory",
            path.display(),
            if found.is_file() { "larger than 1 MiB" } else { "neither a file nor a block device" }
        )));
    }
    let cannot = |why: String| Failure::Cannot(anyhow!("cannot read {}: {why}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| cannot(crate::input::said(&error)))?;
    let name = path.to_string_lossy();
    let registers = read_dump(&bytes, DumpHint { name: &name, ..hint }).map_err(|error| cannot(error.to_string()))?;
    Ok(CardRegisters { registers, left_out: Vec::new(), ext_csd_from: None })
}

/// Registers of wear, with what they mean.
pub(crate) fn health_json(health: &Health) -> Value {
    json!({
        "life_time_a": health.life_time_a,
        "life_time_b": health.life_time_b,
        "pre_end_of_life": health.pre_end_of_life,
        "used_percent": health.used_percent,
        "spare_percent": health.spare_percent,
        "written_bytes": health.written.map(flashscope_units::Bytes::get),
        "words": health_words(health),
    })
}
