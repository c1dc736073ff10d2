//! What `bench fio` takes beside fio's own words.

use super::{Around, Consent, TargetArgs};
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope bench fio nightly.fio --dry-run
  flashscope bench fio nightly.fio --section randread --json
  flashscope bench fio --target sim:sd-4mib nightly.fio
  flashscope bench fio -- -name=a -filename=/mnt/card/f -size=64m -rw=randread

Options are read by fio's own rules (4k is 4096, runtime=30 is seconds). One that cannot be carried out is an error; what is done
in another way than fio does it is said. Files that are not there yet are made and removed again; others are only written
to with --allow-write, a block device with --destroy-data.")]
pub(crate) struct Fio {
    /// Job files
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// fio's command line
    #[arg(last = true, value_name = "FIO'S OPTIONS")]
    pub(crate) words: Vec<String>,
    /// Run only the job of this name; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) section: Vec<String>,
    /// Run all jobs on this block device, file, directory or sim:MODEL instead of the files that they name
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Seed of every random choice, where a job names none
    #[arg(long, default_value_t = 1, env = "FLASHSCOPE_SEED")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) consent: Consent,
    /// Do it this number of times; every run is kept
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeat: u32,
    #[command(flatten)]
    pub(crate) around: Around,
}

impl Fio {
    /// The same consent as everywhere; jobs name their targets themselves.
    pub(crate) fn target(&self) -> TargetArgs {
        TargetArgs {
            target: self.target.clone().unwrap_or_else(|| ".".to_owned()),
            seed: self.seed,
            consent: self.consent.clone(),
            allow_cached: false,
        }
    }
}
