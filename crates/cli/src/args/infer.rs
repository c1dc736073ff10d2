//! What `infer` takes.

use super::Replace;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope infer card.log
  flashscope infer --json a.log b.log record.json
  some-command | flashscope infer -")]
pub(crate) struct Infer {
    /// flashbench logs (other text around them is passed over), flashscope records, or - for stdin
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print one record for one file, an array of records for several
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the HTML report to this file (one input only)
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write a report to this file (one input only), by its ending: .html, .json, .csv, .md, .txt or .xlsx
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
}
