//! What `bench` takes. Words stay words here: [`flashscope_load::file`] says what they mean, the same as in a job file.

use super::{Fio, InState, Replace, TargetArgs};
use crate::settings::JobDefaults;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use flashscope_load::file::{JobOption, JobText};
use flashscope_units::Nanos;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope bench sim:sd-4mib --rw randwrite --size 64M --runtime 10
  flashscope bench /mnt/card --rw write --bs 1M --size 256M --mode fdatasync
  sudo flashscope bench /dev/mmcblk0 --rw randread --iodepth 32 --repeat 5
  flashscope bench card.img --rw randrw --verify --size 64M --allow-write
  flashscope bench /mnt/card --job nightly.toml --json > nightly.json
  flashscope bench /mnt/card --preset crystaldiskmark -o card.json

In a directory, or where there is no file yet, bench makes a file of its own (--size) and removes it again. \
Anything else is only written to with --allow-write (a file) or --destroy-data (a block device).")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Bench {
    #[command(subcommand)]
    pub(crate) kind: Option<BenchKind>,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Run the jobs of this file; what is given beside it goes over it
    #[arg(long, value_name = "FILE")]
    pub(crate) job: Option<PathBuf>,
    /// Run a preset (see --presets) or a definition of your own (a path)
    #[arg(long, value_name = "NAME", conflicts_with = "job", help_heading = "Presets")]
    pub(crate) preset: Option<String>,
    /// List the presets, and do nothing
    #[arg(long, help_heading = "Presets")]
    pub(crate) presets: bool,
    /// Print the preset's definition, which can be changed and run as --preset ./FILE, and do nothing
    #[arg(long, requires = "preset", help_heading = "Presets")]
    pub(crate) explain: bool,
    /// Take the preset's short times; the result says so
    #[arg(long, requires = "preset", help_heading = "Presets")]
    pub(crate) quick: bool,
    /// Exit with 1 unless every limit of this name is met (A1, V30 …)
    #[arg(long, value_name = "LIMIT", requires = "preset", help_heading = "Presets")]
    pub(crate) require: Option<String>,
    #[command(flatten)]
    pub(crate) words: JobWords,
    #[command(flatten, next_help_heading = "State")]
    pub(crate) in_state: InState,
    /// Leave what is in the page cache there: reads through it are then warm
    #[arg(long, help_heading = "I/O path")]
    pub(crate) warm: bool,
    /// Do it this number of times; every run is kept [default: 1, or what the preset says]
    #[arg(long, value_name = "N", help_heading = "Options", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeat: Option<u32>,
    /// Print the JSON Schema of the result, and do nothing
    #[arg(long)]
    pub(crate) schema: bool,
    #[command(flatten)]
    pub(crate) around: Around,
    /// What the settings file says of jobs.
    #[arg(skip)]
    pub(crate) defaults: JobDefaults,
}

/// What is said around jobs, in whoever's words these are.
#[derive(Args, Clone, Debug)]
pub(crate) struct Around {
    /// Give up where a request takes longer than this
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<Nanos>,
    /// Keep each of the first N requests of every worker in the file of --trace-to
    #[arg(long, value_name = "N", requires = "trace_to", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) trace: Option<u64>,
    /// CSV file for --trace
    #[arg(long, value_name = "FILE", requires = "trace")]
    pub(crate) trace_to: Option<PathBuf>,
    /// Keep files that were made for the run
    #[arg(long)]
    pub(crate) keep: bool,
    /// Print the resolved plan as a job file, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the result as JSON on stdout and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Also keep the JSON in this file; or a report, where it ends in .html, .csv, .md, .txt or .xlsx
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Also keep a report in this file, by its ending: .html, .json, .csv, .md, .txt or .xlsx
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
}

/// Load that is told in another tool's words.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchKind {
    /// Run fio's job files and command lines
    Fio(Box<Fio>),
    /// Run iozone's tests by iozone's command line: speed over file size and record size, and where memory ends
    Iozone(Iozone),
}

#[derive(Args, Debug)]
#[command(disable_help_flag = true, disable_version_flag = true)]
#[command(after_help = "Example: flashscope bench iozone -Rab matrix.xls -g 64m")]
pub(crate) struct Iozone {
    /// iozone's options as they are (`-Rab FILE -g 4g`); -h lists those that are taken
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    pub(crate) words: Vec<String>,
}

impl Bench {
    /// What was said of the job, in the words of a job file.
    pub(crate) fn text(&self) -> JobText {
        JobText { trace: self.around.trace, ..self.words.0.clone() }
    }
}

/// The options that say the words of a job, as [`JobText::options`] declares them.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobWords(JobText);

impl JobWords {
    /// What was said of the job.
    pub(crate) fn text(&self) -> &JobText {
        &self.0
    }

    /// Whether nothing was said of it.
    pub(crate) fn is_empty(&self) -> bool {
        self.0 == JobText::default()
    }
}

impl Args for JobWords {
    fn augment_args(command: Command) -> Command {
        command.args(JobText::options().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        JobWords::augment_args(command)
    }
}

fn argument(known: &'static JobOption) -> Arg {
    let argument = Arg::new(known.option).long(known.option).help_heading(known.heading).help(known.help.trim());
    let argument = argument.visible_aliases(known.alias);
    match known.value {
        None => argument.action(ArgAction::SetTrue),
        Some(value) => argument
            .value_name(value)
            .value_parser(move |text: &str| (known.set)(&mut JobText::default(), text).map(|()| text.to_owned())),
    }
}

impl FromArgMatches for JobWords {
    fn from_arg_matches(matches: &ArgMatches) -> Result<JobWords, clap::Error> {
        let mut words = JobWords::default();
        words.update_from_arg_matches(matches)?;
        Ok(words)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for known in JobText::options() {
            let typed = match known.value {
                None => matches.get_flag(known.option).then_some("true"),
                Some(_) => matches.get_one::<String>(known.option).map(String::as_str),
            };
            if let Some(text) = typed {
                (known.set)(&mut self.0, text).map_err(|why| clap::Error::raw(ErrorKind::ValueValidation, why))?;
            }
        }
        Ok(())
    }
}
