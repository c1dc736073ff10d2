//! What commands take that measure sides in turns and judge them: how sure to be, how long to go on, where results go.

use super::{Replace, up_to};
use clap::{Args, ValueEnum};
use flashscope_experiment::{Settings, SettingsError};
use flashscope_model::comparison::Family;
use flashscope_units::Nanos;
use std::path::PathBuf;

/// How verdicts come about.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Judging {
    /// Differences within this are none that matter
    #[arg(long, default_value = "5%", value_name = "PERCENT", value_parser = percent)]
    margin: f64,
    /// Confidence of intervals and verdicts
    #[arg(long, default_value = "95%", value_name = "PERCENT", value_parser = percent)]
    confidence: f64,
    /// Over which verdicts the chance of a false one is kept
    #[arg(long, value_enum, default_value_t = FamilyWord::All)]
    family: FamilyWord,
}

impl Judging {
    /// The same as it is decided by.
    ///
    /// # Errors
    /// Where a figure is outside its range.
    pub(crate) fn settings(&self) -> Result<Settings, SettingsError> {
        Settings::new(self.confidence, 1.0 + self.margin, self.family.into())
    }
}

/// How long sides take turns.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Turns {
    /// Measure at most this many blocks; each holds every side, and the baseline twice
    #[arg(long, default_value_t = 30, value_name = "N", value_parser = up_to(1000))]
    pub(crate) blocks: u32,
    /// Begin no block after this time
    #[arg(long, value_name = "TIME")]
    pub(crate) max_time: Option<Nanos>,
    /// Rest before each run, so that a device settles
    #[arg(long, value_name = "TIME")]
    pub(crate) pause: Option<Nanos>,
}

/// Where a record goes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Results {
    /// Print the record as JSON on stdout and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Also keep the record in this file; or a report, where it ends in .html, .csv, .md, .txt or .xlsx
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
}

/// Whether a figure of this name was asked for by one of these words.
pub(crate) fn wanted(words: &[String], name: &str) -> bool {
    let name = name.to_lowercase();
    words.is_empty() || words.iter().any(|words| name.contains(&words.to_lowercase()))
}

/// `5%`, `5 %` or `5`, as a share of one.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    let value: f64 = number.parse().map_err(|_| format!("'{text}' is no percentage, as 5% is one"))?;
    if value.is_finite() && value > 0.0 { Ok(value / 100.0) } else { Err("it must be above 0 %".to_owned()) }
}

/// [`Family`] as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FamilyWord {
    /// All figures of all sides (Holm)
    All,
    /// The figures of each side (Holm)
    Side,
    /// Each verdict by itself
    Each,
    /// The share of false ones among many (Benjamini-Hochberg)
    Screen,
}

impl From<FamilyWord> for Family {
    fn from(word: FamilyWord) -> Family {
        match word {
            FamilyWord::All => Family::All,
            FamilyWord::Side => Family::Side,
            FamilyWord::Each => Family::Each,
            FamilyWord::Screen => Family::Screen,
        }
    }
}
