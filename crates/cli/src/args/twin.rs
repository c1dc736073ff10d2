//! What can be typed behind `twin`.

use super::Replace;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Digital twins.
#[derive(Args, Debug)]
#[command(after_help = "Example: flashscope twin fit card.log -o card.toml")]
pub(crate) struct Twin {
    #[command(subcommand)]
    pub(crate) command: TwinCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TwinCommand {
    /// Fit a simulated device to a measured one, and say how well it fits
    Fit(TwinFit),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope twin fit card.log -o card.toml
  flashscope twin fit align.log open-au.log fat.log -o card.toml
  flashscope twin fit flashscope-SD08G.json -o twin.toml --json > fit.json

Several logs are of one card; `flashscope inspect sim:./card.toml` runs the twin. docs/twin.md says what is fitted from what.")]
pub(crate) struct TwinFit {
    /// flashbench logs (other text around them is passed over) or flashscope records of one device, or - for stdin
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Write the model to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) replace: Replace,
    /// What the model file says it is [default: twin of the files]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Print every parameter, and every figure beside the simulated one
    #[arg(long, conflicts_with = "json")]
    pub(crate) cells: bool,
    /// Also keep a report in this file, by its ending: .html, .json, .csv, .md, .txt or .xlsx
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Print JSON: the model, where each parameter comes from, every figure
    #[arg(long)]
    pub(crate) json: bool,
}
