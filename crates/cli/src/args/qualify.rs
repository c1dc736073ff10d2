//! What `qualify` takes.

use super::Consent;
use super::campaign::Results;
use clap::{Args, Subcommand};
use flashscope_units::{Bytes, Nanos};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
#[command(after_help = "Examples:
  flashscope qualify list
  flashscope qualify emcp-replacement --explain > mine.toml
  flashscope qualify emcp-replacement --quick \\
    --reference sim:emmc-phone --candidate sim:emmc-cached
  sudo flashscope qualify emmc-second-source -o verdict.html -o verdict.json \\
    --reference /dev/sdb --candidate /dev/sdc \\
    --destroy-data=ID-OF-B --destroy-data=ID-OF-C
  flashscope qualify mine.toml --candidate /dev/sdX --dry-run
  flashscope qualify run mine.toml --side A /dev/mmcblk1 -o a.json
  flashscope qualify judge a.json b.json -o verdict.html

Exits with 0 where the candidate may replace the reference, with 1 where it may not, with 2 where neither is shown or it \
could not be run, with 3 where it was refused for safety. docs/qualify.md says how verdicts come about.")]
pub(crate) struct Qualify {
    #[command(subcommand)]
    pub(crate) command: Option<QualifyCommand>,
    #[command(flatten)]
    pub(crate) both: QualifyBoth,
}

#[derive(Debug, Subcommand)]
pub(crate) enum QualifyCommand {
    /// The plans that come along
    #[command(after_help = "Example: flashscope qualify list")]
    List,
    /// One side by itself, on its own board
    Run(Box<QualifySide>),
    /// A verdict over sides that were measured by themselves
    Judge(QualifyJudge),
}

/// Both sides on this host.
#[derive(Args, Debug)]
pub(crate) struct QualifyBoth {
    /// A plan that comes along, or the file of one
    #[arg(value_name = "PLAN")]
    pub(crate) plan: Option<String>,
    /// The part that is in use: a block device, a directory or sim:MODEL; several times for several parts
    #[arg(long, value_name = "TARGET")]
    pub(crate) reference: Vec<String>,
    /// The part that may replace it
    #[arg(long, value_name = "TARGET")]
    pub(crate) candidate: Vec<String>,
    /// Print the plan, which can be changed and run as ./FILE, and do nothing
    #[arg(long)]
    pub(crate) explain: bool,
    /// Judge sides that are not comparable, too; said with the verdict
    #[arg(long)]
    pub(crate) anyway: bool,
    #[command(flatten)]
    pub(crate) course: QualifyCourse,
}

/// One side.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope qualify run emcp-replacement --side A /dev/mmcblk1 \\
    --destroy-data=IDENTITY -o a.json
  flashscope qualify run emcp-replacement --side B --dir /data/local -o b.json
  flashscope qualify run emcp-replacement --side A sim:emmc-phone -o a.json

A session is what lies between two power-ups. The plan says how many it needs: run the same command again after each, and it \
goes on. With --dir the part is only used through files; what needs the whole device is then told as unsupported.")]
pub(crate) struct QualifySide {
    /// A plan that comes along, or the file of one
    #[arg(value_name = "PLAN")]
    pub(crate) plan: String,
    /// Name of the side: that of the model, the same for each of its parts
    #[arg(long, value_name = "NAME")]
    pub(crate) side: String,
    /// The part: a block device, a directory or sim:MODEL
    #[arg(value_name = "TARGET", required_unless_present = "dir", conflicts_with = "dir")]
    pub(crate) target: Option<String>,
    /// Use the part only through files in this directory, which lies on it
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) course: QualifyCourse,
}

/// How runs are done.
#[derive(Args, Debug)]
pub(crate) struct QualifyCourse {
    /// Run the plan's short form; the verdict says what it cannot decide
    #[arg(long)]
    pub(crate) quick: bool,
    /// Print what would be run, the time, the bytes and the share of life that takes, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Figures of external requirements that somebody filled in (label,metric,unit,value)
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,
    /// Keep the records of all runs in this directory, and go on with what is in it [default: beside the first record, FILE.runs]
    #[arg(long, value_name = "DIR")]
    pub(crate) runs: Option<PathBuf>,
    /// Begin no block after this time [default: as the plan says]
    #[arg(long, value_name = "TIME")]
    pub(crate) max_time: Option<Nanos>,
    /// What the data sheet rates a part for (TBW), to tell the share of its life
    #[arg(long, value_name = "SIZE")]
    pub(crate) rated_writes: Option<Bytes>,
    /// Spend more than 1 % of the rated life on making a state, or more than 3 × the capacity where nobody says what is rated
    #[arg(long)]
    pub(crate) accept_wear: bool,
    /// Cut the power of a part with this command, for integrity; words as in a shell, but none is started
    #[arg(long, value_name = "COMMAND", requires = "power_on")]
    pub(crate) power_off: Option<String>,
    /// Bring the power back with this command
    #[arg(long, value_name = "COMMAND", requires = "power_off")]
    pub(crate) power_on: Option<String>,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, env = "FLASHSCOPE_SEED")]
    pub(crate) seed: u64,
    /// Use the page cache where the file system refuses direct I/O
    #[arg(long)]
    pub(crate) allow_cached: bool,
    #[command(flatten)]
    pub(crate) consent: Consent,
    #[command(flatten)]
    pub(crate) results: Results,
    /// Commands of the product, as the settings file has them: each its name and its words.
    #[arg(skip)]
    pub(crate) commands: Vec<(String, String)>,
}

/// Sides that were measured.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope qualify judge a.json b.json
  flashscope qualify judge a1.json a2.json a3.json b1.json b2.json b3.json
  flashscope qualify judge a.json b.json --json

The side of the first record is the reference. Records of one side's name are parts of one model; a statement on models takes \
three parts of each.")]
pub(crate) struct QualifyJudge {
    /// Records of `qualify run`
    #[arg(value_name = "SIDE", required = true)]
    pub(crate) sides: Vec<PathBuf>,
    /// Judge sides that are not comparable, too; said with the verdict
    #[arg(long)]
    pub(crate) anyway: bool,
    #[command(flatten)]
    pub(crate) results: Results,
}

impl Qualify {
    /// Takes the product's commands from the settings.
    pub(super) fn set_commands(&mut self, commands: Vec<(String, String)>) {
        match &mut self.command {
            Some(QualifyCommand::Run(side)) => side.course.commands = commands,
            Some(QualifyCommand::List | QualifyCommand::Judge(_)) => {}
            None => self.both.course.commands = commands,
        }
    }
}
