//! What `compare` takes.

use super::bench::JobWords;
use super::{Consent, Replace, TargetArgs, up_to};
use clap::{Args, ValueEnum};
use flashscope_experiment::Settings;
use flashscope_experiment::table::Decimal;
use flashscope_load::file::JobText;
use flashscope_model::comparison::Family;
use flashscope_units::Nanos;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope compare old.json new.json                     records of bench, inspect or iozone
  flashscope compare A=a1.json A=a2.json B=b1.json B=b2.json
  flashscope compare runs.csv                              label,metric,unit,value: a row per run
  flashscope compare androbench.csv --runs 3               means and deviations of three runs
  flashscope compare sim:sd-4mib sim:sd-8mib --rw randread --bs 4k --runtime 1
  sudo flashscope compare /dev/sdb /dev/sdc --rw read --bs 1M --runtime 5 --blocks 20

The first side is the baseline. Records and tables are read as they are; targets are measured in turns until every figure is \
decided. What is written to needs the same consent as for bench.")]
pub(crate) struct Compare {
    /// Records, tables (.csv) or targets, each also as LABEL=…; those of one label are one side
    #[arg(required = true, value_name = "SIDE")]
    pub(crate) sides: Vec<String>,
    /// Differences within this are none that matter
    #[arg(long, default_value = "5%", value_name = "PERCENT", value_parser = percent)]
    pub(crate) margin: f64,
    /// Confidence of intervals and verdicts
    #[arg(long, default_value = "95%", value_name = "PERCENT", value_parser = percent)]
    pub(crate) confidence: f64,
    /// Over which verdicts the chance of a false one is kept
    #[arg(long, value_enum, default_value_t = FamilyWord::All)]
    pub(crate) family: FamilyWord,
    /// Only figures whose name has these words; several times for more [default: all]
    #[arg(long, value_name = "WORDS")]
    pub(crate) figure: Vec<String>,
    /// Exit with 1 unless every figure of every side is at least this
    #[arg(long, value_enum)]
    pub(crate) require: Option<Required>,
    /// Compare what is not comparable, too; said with every result
    #[arg(long)]
    pub(crate) anyway: bool,
    /// Label of the baseline of a table, instead of the first
    #[arg(long, value_name = "LABEL", help_heading = "Tables")]
    pub(crate) baseline: Option<String>,
    /// Runs behind each mean, where a table does not say
    #[arg(long, value_name = "N", value_parser = up_to(1_000_000), help_heading = "Tables")]
    pub(crate) runs: Option<u32>,
    /// How fractions are written, where a table can be read in both ways
    #[arg(long, value_enum, help_heading = "Tables")]
    pub(crate) decimal: Option<DecimalWord>,
    /// Measure at most this many blocks; each holds two runs of the baseline and as many of the other side
    #[arg(long, default_value_t = 30, value_name = "N", value_parser = up_to(1000), help_heading = "Targets")]
    pub(crate) blocks: u32,
    /// Begin no block after this time
    #[arg(long, value_name = "TIME", help_heading = "Targets")]
    pub(crate) max_time: Option<Nanos>,
    /// Rest before each run, so that a device settles
    #[arg(long, value_name = "TIME", help_heading = "Targets")]
    pub(crate) pause: Option<Nanos>,
    /// Run the jobs of this file; what is given beside it goes over it [default: sequential and random reads, 2 s each]
    #[arg(long, value_name = "FILE", help_heading = "Targets")]
    pub(crate) job: Option<PathBuf>,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, env = "FLASHSCOPE_SEED", help_heading = "Targets")]
    pub(crate) seed: u64,
    /// Use the page cache where the file system refuses direct I/O
    #[arg(long, help_heading = "Targets")]
    pub(crate) allow_cached: bool,
    #[command(flatten)]
    pub(crate) consent: Consent,
    #[command(flatten)]
    pub(crate) words: JobWords,
    /// Print what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the record as JSON on stdout and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Also keep the record in this file; or a report, where it ends in .html, .csv, .md, .txt or .xlsx
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
}

impl Compare {
    /// What was said of the job.
    pub(crate) fn text(&self) -> &JobText {
        self.words.text()
    }

    /// Whether a figure of this name was asked for.
    pub(crate) fn wants(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.figure.is_empty() || self.figure.iter().any(|words| name.contains(&words.to_lowercase()))
    }

    /// One side that is measured.
    pub(crate) fn target(&self, target: &str, seed: u64) -> TargetArgs {
        TargetArgs { target: target.to_owned(), seed, consent: self.consent.clone(), allow_cached: self.allow_cached }
    }

    /// How it decides.
    ///
    /// # Errors
    /// Where a figure is outside its range.
    pub(crate) fn settings(&self) -> Result<Settings, flashscope_experiment::SettingsError> {
        Settings::new(self.confidence, 1.0 + self.margin, self.family.into())
    }
}

/// `5%`, `5 %` or `5`, as a share of one.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    let value: f64 = number.parse().map_err(|_| format!("'{text}' is no percentage, as 5% is one"))?;
    if value.is_finite() && value > 0.0 { Ok(value / 100.0) } else { Err("it must be above 0 %".to_owned()) }
}

/// [`Family`] as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FamilyWord {
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

/// What every figure must come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Required {
    /// Better or equivalent
    NotWorse,
    /// Better
    Better,
    /// Equivalent
    Equivalent,
}

/// [`Decimal`] as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DecimalWord {
    /// 1.5
    Point,
    /// 1,5
    Comma,
}

impl From<DecimalWord> for Decimal {
    fn from(word: DecimalWord) -> Decimal {
        match word {
            DecimalWord::Point => Decimal::Point,
            DecimalWord::Comma => Decimal::Comma,
        }
    }
}
