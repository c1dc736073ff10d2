//! What `inspect` takes.

use super::{InState, Replace, TargetArgs};
use clap::Args;
use flashscope_units::Nanos;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope inspect
  flashscope inspect sim:sd-24mib --seed 7 --json
  flashscope inspect card.img --allow-write
  flashscope inspect sim:sd-4mib --for-twin -o card  # for: twin fit card.json
  sudo flashscope inspect /dev/sdX --destroy-data=0x1c09a3f2:7948206080

A block device is only read unless --destroy-data names its identity: look it up with `flashscope list`.")]
pub(crate) struct Inspect {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Stop after this much device time
    #[arg(long, value_name = "TIME")]
    pub(crate) max_time: Option<Nanos>,
    /// Measure what a twin needs as well: streams, merges of several sizes, small writes and the flushes behind them (writes
    /// 224 MiB more)
    #[arg(long)]
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
