//! What `inspect` takes.

use super::{InState, Replace, TargetArgs};
use clap::Args;
use flashscope_infer::Want;
use flashscope_units::Nanos;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope inspect
  flashscope inspect sim:sd-24mib --seed 7 --json
  flashscope inspect card.img --allow-write
  flashscope inspect sim:sd-4mib --want advice --max-time 2min
  flashscope inspect sim:sd-4mib --for-twin -o card  # for: twin fit card.json
  sudo flashscope inspect /dev/sdX --destroy-data=0x1c09a3f2:7948206080

A block device is only read unless --destroy-data names its identity: look it up with `flashscope list`.")]
pub(crate) struct Inspect {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// What to find out: geometry (how it is built), advice (what mkfs, partitions and mount options rest on) or all
    #[arg(long, value_name = "WHAT", default_value_t)]
    pub(crate) want: Want,
    /// Find out as much as this device time allows, and say what more would bring
    #[arg(long, value_name = "TIME", value_parser = some_time)]
    pub(crate) max_time: Option<Nanos>,
    /// Measure what a twin needs as well: streams, merges of several sizes, small writes and the flushes behind them (writes
    /// 224 MiB more)
    #[arg(long, conflicts_with = "want")]
    pub(crate) for_twin: bool,
    /// Print the plan and what it may cost, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the record on stdout and nothing else; write no files unless --output is given
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the report and record to PREFIX.html and PREFIX.json; PREFIX.xlsx, .csv, .md or .txt asks for another report
    /// [default: flashscope-NAME]
    #[arg(short, long, value_name = "PREFIX")]
    pub(crate) output: Option<PathBuf>,
    /// Write no files
    #[arg(long, conflicts_with = "output")]
    pub(crate) no_files: bool,
    #[command(flatten)]
    pub(crate) replace: Replace,
    #[command(flatten, next_help_heading = "State")]
    pub(crate) in_state: InState,
}

/// A time in which something can be done.
fn some_time(text: &str) -> Result<Nanos, String> {
    match text.parse::<Nanos>() {
        Ok(Nanos::ZERO) => Err("in no time nothing can be measured; try 2min".to_owned()),
        Ok(time) => Ok(time),
        Err(error) => Err(error.to_string()),
    }
}
