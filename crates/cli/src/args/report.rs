//! What `report` takes.

use super::Replace;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope report flashscope-SD08G.json
  flashscope report flashscope-SD08G.json -o card.html
  flashscope report bench.json -o bench.xlsx
  flashscope report bench.json --format markdown")]
pub(crate) struct Report {
    /// A record of any kind: inspect, probe, infer, state, capacity, integrity, bench, iozone, fleet, twin, compare, sweep or trace
    pub(crate) file: PathBuf,
    /// Form of the report [default: what the ending of --output says, else text]
    #[arg(long, value_enum)]
    pub(crate) format: Option<ReportFormat>,
    /// Write it to this file instead of stdout: .html, .json, .csv, .md, .txt or .xlsx
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
}

/// Forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Terminal text
    Text,
    /// One self-contained page with plots
    Html,
    /// The record itself, as this version writes it
    Json,
    /// Markdown
    Markdown,
    /// Findings and figures as comma-separated values
    Csv,
    /// A spreadsheet
    Xlsx,
}
