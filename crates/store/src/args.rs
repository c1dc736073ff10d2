//! What can be typed. Dumb structs, but for where the history is. clap is known nowhere else.

use anyhow::anyhow;
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use flashscope_console::Manner;
use flashscope_model::Kind;
use std::ffi::OsString;
use std::path::PathBuf;

/// What every help text ends with.
const EXIT_CODES: &str = "Exit codes: 0 done, 2 usage or environment";

/// Keep records, and ask what changed over time.
#[derive(Debug, Parser)]
#[command(name = "flashscope history", bin_name = "flashscope history", version, max_term_width = 100)]
#[command(after_help = format!("Examples:
  flashscope history add flashscope-SD08G.json
  flashscope bench sim:sd-4mib --rw randread --json | flashscope history add -
  flashscope history list --target SD08G --since 30d
  flashscope history show 12

{EXIT_CODES}"))]
pub(crate) struct Cli {
    /// The history [default: flashscope/history.db in $XDG_DATA_HOME, else in ~/.local/share]
    #[arg(long, value_name = "FILE", global = true, help_heading = "Global options")]
    pub(crate) store: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) manner: Manner,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Keep records of any kind and version; what is there already is not kept twice
    #[command(after_help = format!("Example: flashscope history add *.json\n\n{EXIT_CODES}"))]
    Add(Add),
    /// What is kept, newest first
    #[command(after_help = format!("Example: flashscope history list --kind bench --since 2026-01-01\n\n{EXIT_CODES}"))]
    List(List),
    /// A record again, as `flashscope report` shows it
    #[command(after_help = format!("Examples:
  flashscope history show 12
  flashscope history show 12 -o card.html
  flashscope history show 12 --json > card.json\n\n{EXIT_CODES}"))]
    Show(Show),
    /// Records against each other, as `flashscope compare` does it
    #[command(after_help = format!("Examples:
  flashscope history compare 12 15
  flashscope history compare before=12 before=13 after=15 after=16 --margin 3%\n\n{EXIT_CODES}"))]
    Compare(Compare),
    /// A figure over time, and where its level changed
    #[command(after_help = format!("Examples:
  flashscope history trend                       the figures that there are
  flashscope history trend \"job1 read\" --target SD08G --since 365d\n\n{EXIT_CODES}"))]
    Trend(Trend),
    /// Figures as a table for DuckDB, pandas and spreadsheets: a row per record and figure
    #[command(after_help = format!("Examples:
  flashscope history export --parquet figures.parquet
  flashscope history export --csv - --target SD08G
  flashscope history export --dataset results/\n\n{EXIT_CODES}"))]
    Export(Export),
    /// Keep the records of a dataset, byte for byte; what is there already is not kept twice
    #[command(after_help = format!("Example: flashscope history import results/\n\n{EXIT_CODES}"))]
    Import(Import),
    /// Remove records; says which would go, and removes them with --yes
    #[command(after_help = format!("Examples:
  flashscope history prune --before 730d
  flashscope history prune --keep 1000 --kind probe --yes\n\n{EXIT_CODES}"))]
    Prune(Prune),
}

#[derive(Args, Debug)]
pub(crate) struct Add {
    /// Records; - is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print the numbers as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which records are meant.
#[derive(Args, Debug)]
pub(crate) struct Meant {
    /// Of this part: its target as typed, its name, or what it says of itself
    #[arg(long)]
    pub(crate) target: Option<String>,
    /// Of this kind: inspect, probe, infer, state, capacity, integrity, bench, iozone, fleet, twin, compare or sweep
    #[arg(long, value_parser = PossibleValuesParser::new(Kind::ALL.map(Kind::word)), hide_possible_values = true)]
    pub(crate) kind: Option<String>,
    /// Not before this date (2026-03-31) or age (30d, 12h)
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) meant: Meant,
    /// At most this number of records, the newest
    #[arg(long, default_value_t = 50, value_name = "N")]
    pub(crate) limit: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Show {
    /// Number of the record
    pub(crate) id: i64,
    /// Print the record itself, byte for byte as it was kept
    #[arg(long)]
    pub(crate) json: bool,
    /// Options of `flashscope report`: -o FILE, --format FORM, --force
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, conflicts_with = "json", value_name = "OPTIONS")]
    pub(crate) report: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct Compare {
    /// Numbers of records, each also as LABEL=NUMBER, then options of `flashscope compare`
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "NUMBERS AND OPTIONS")]
    pub(crate) words: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct Trend {
    /// Which figure [default: lists them]
    pub(crate) figure: Option<String>,
    #[command(flatten)]
    pub(crate) meant: Meant,
    /// Show every part and setup, not the eight with most records
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON, with every point
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) form: ExportForm,
    #[command(flatten)]
    pub(crate) meant: Meant,
    /// Replace the file, whatever it is
    #[arg(long, conflicts_with = "dataset")]
    pub(crate) force: bool,
    /// With --dataset: print the numbers as JSON
    #[arg(long, requires = "dataset")]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Import {
    /// What `history export --dataset` made, here or on other hosts
    #[arg(value_name = "DIR")]
    pub(crate) dataset: PathBuf,
    /// Print the numbers as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// One of these must be said.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct ExportForm {
    /// Comma-separated values; - is stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Parquet
    #[arg(long, value_name = "FILE")]
    pub(crate) parquet: Option<PathBuf>,
    /// A folder of Parquet files by day and model; what is there already is not added twice
    #[arg(long, value_name = "DIR")]
    pub(crate) dataset: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Prune {
    #[command(flatten)]
    pub(crate) which: PruneWhich,
    #[command(flatten)]
    pub(crate) meant: Meant,
    /// Remove them
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// One of these, or both, must be said: nobody removes everything by a slip.
#[derive(Args, Debug)]
#[group(required = true, multiple = true)]
pub(crate) struct PruneWhich {
    /// Those before this date (2026-03-31) or older than this (730d)
    #[arg(long, value_name = "WHEN")]
    pub(crate) before: Option<String>,
    /// All but this number of the newest
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<u32>,
}

/// Where the history is.
pub(crate) struct Place {
    pub(crate) file: PathBuf,
    /// Whether nobody named it, so that its folder may be made.
    pub(crate) by_default: bool,
}

impl Place {
    /// Makes the folder where nobody named the file.
    pub(crate) fn make_folder(&self) -> anyhow::Result<()> {
        let folder = self.file.parent().filter(|_| self.by_default);
        let made = folder.map_or(Ok(()), std::fs::create_dir_all);
        made.map_err(|error| anyhow!("cannot make the folder of {}: {error}", self.file.display()))
    }
}

/// Flags before the environment, and that before what is usual.
pub(crate) fn place(named: Option<PathBuf>) -> anyhow::Result<Place> {
    if let Some(file) = named {
        return Ok(Place { file, by_default: false });
    }
    let file = flashscope_store::usual_place().ok_or_else(|| {
        anyhow!(
            "there is no place for a history: neither XDG_DATA_HOME nor HOME is set\nhint: name one with --store FILE"
        )
    })?;
    Ok(Place { file, by_default: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_sound_and_every_help_text_has_an_example_and_the_exit_codes() {
        fn check(command: &mut clap::Command, path: &str) {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Example") && help.contains(EXIT_CODES), "{path}:\n{help}");
            for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help") {
                let path = format!("{path} {}", inner.get_name());
                check(inner, &path);
            }
        }
        Cli::command().debug_assert();
        check(&mut Cli::command(), "history");
    }
}
