//! What `compare` takes.

use super::bench::JobWords;
use super::campaign::{Judging, Results, Turns, wanted};
use super::{AppWords, Consent, InState, TargetArgs, up_to};
use clap::{Args, ValueEnum};
use flashscope_experiment::table::Decimal;
use flashscope_load::file::JobText;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope compare old.json new.json   # bench, app, inspect, iozone, trace
  flashscope compare A=a1.json A=a2.json B=b1.json B=b2.json
  flashscope compare runs.csv           # label,metric,unit,value
  flashscope compare androbench.csv --runs 3  # means, deviations
  flashscope compare sim:sd-4mib sim:sd-24mib --rw randread --bs 4k --runtime 1
  sudo flashscope compare /dev/sdb /dev/sdc --rw read --bs 1M --runtime 5
  flashscope compare /mnt/old /mnt/new --app contacts --figure 'run time'

The first side is the baseline. Records and tables are read as they are; targets are measured in turns until every figure is \
decided. What is written to needs the same consent as for bench.")]
pub(crate) struct Compare {
    /// Records, tables (.csv) or targets, each also as LABEL=…; those of one label are one side
    #[arg(required = true, value_name = "SIDE")]
    pub(crate) sides: Vec<String>,
    #[command(flatten)]
    pub(crate) judging: Judging,
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
    #[command(flatten, next_help_heading = "Targets")]
    pub(crate) turns: Turns,
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
    pub(crate) apps: AppWords,
    #[command(flatten)]
    pub(crate) words: JobWords,
    /// Print what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) results: Results,
    #[command(flatten, next_help_heading = "State")]
    pub(crate) in_state: InState,
}

impl Compare {
    /// What was said of the job.
    pub(crate) fn text(&self) -> &JobText {
        self.words.text()
    }

    /// Whether a figure of this name was asked for.
    pub(crate) fn wants(&self, name: &str) -> bool {
        wanted(&self.figure, name)
    }

    /// One side that is measured.
    pub(crate) fn target(&self, target: &str, seed: u64) -> TargetArgs {
        TargetArgs { target: target.to_owned(), seed, consent: self.consent.clone(), allow_cached: self.allow_cached }
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
