//! What can be typed. Dumb structs: nothing is opened, checked or decided here. clap is known nowhere else.

mod app;
mod bench;
mod campaign;
mod capacity;
mod compare;
mod completions;
mod emulate;
mod endurance;
mod explain;
mod fio;
mod fleet;
mod history;
mod infer;
mod inspect;
mod integrity;
mod list;
mod making;
mod man;
mod mem;
mod mem_stress;
mod mmc;
mod probe;
mod qualify;
mod report;
mod settings;
mod sim;
mod state;
mod sweep;
mod target;
mod trace;
mod twin;

pub(crate) use app::{App, AppArgs, AppCommand, AppSettings, AppSuite, AppWords, JournalWord, SynchronousWord};
pub(crate) use bench::{Around, Bench, BenchKind};
pub(crate) use campaign::{Results, Turns, wanted};
pub(crate) use capacity::Capacity;
pub(crate) use compare::{Compare, Required};
pub(crate) use completions::Completions;
pub(crate) use emulate::Emulate;
pub(crate) use explain::Explain;
pub(crate) use fio::Fio;
pub(crate) use fleet::{
    Fleet, FleetCapacity, FleetCompare, FleetIntegrity, FleetKind, FleetQualify, FleetState, FleetTrend, ScoredArgs,
    ScoringArgs,
};
pub(crate) use history::{HandedOn, History, Lab, Serve, help_of};
pub(crate) use infer::Infer;
pub(crate) use inspect::Inspect;
pub(crate) use integrity::{Integrity, UnderSubject};
pub(crate) use list::List;
pub(crate) use making::{InState, Making};
pub(crate) use man::{ManPages, man_pages};
pub(crate) use mem::{Mem, MemCommand, MemCommon, MemKernel, MemSize};
pub(crate) use mem_stress::MemStress;
pub(crate) use mmc::{Mmc, MmcCheck, MmcCommand, MmcDump, MmcShow};
pub(crate) use probe::{Format, Probe, ProbeCommon, ProbeKind};
pub(crate) use probe::{ProbeCells, ProbeGc, ProbeMapReach, ProbeParallel, ProbeSlcCache};
pub(crate) use qualify::{Qualify, QualifyBoth, QualifyCommand, QualifyCourse, QualifyJudge, QualifySide};
pub(crate) use report::{Report, ReportFormat};
pub(crate) use settings::{ShowSettings, Source, Value};
pub(crate) use sim::{Sim, SimCommand};
pub(crate) use state::State;
pub(crate) use sweep::Sweep;
pub(crate) use target::{Consent, Replace, TargetArgs};
pub(crate) use trace::{
    ReplayMode, Trace, TraceCommand, TraceCut, TraceExport, TraceImport, TraceInput, TraceMerge, TraceOutput,
    TraceRecording, TraceReplay, TraceShow,
};
pub(crate) use twin::{Twin, TwinCommand, TwinFit};

use crate::settings::Settings;
use clap::builder::RangedI64ValueParser;
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use flashscope_console::{ColorWhen, HEADING, Manner};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The simulated card that is looked at when no target is named.
pub(crate) const DEMO: &str = "sim:sd-4mib";

/// What every help text ends with.
const EXIT_CODES: &str = "Exit codes: 0 done, 1 expectation failed, 2 usage or environment, 3 refused";

/// `--version`; `-V` is the number alone.
const LONG_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("FLASHSCOPE_BUILD"), ")");

/// See inside flash storage: SD cards, eMMC, USB sticks, SSDs, and simulated ones whose inside is known.
#[derive(Debug, Parser)]
#[command(name = "flashscope", version, long_version = LONG_VERSION, max_term_width = 100, propagate_version = true)]
#[command(after_help = "Examples:
  flashscope inspect                        all of it, on a simulated card
  flashscope list                           the block devices of this machine
  sudo flashscope inspect /dev/mmcblk0      a real card, reading only
  flashscope infer card.log                 what a flashbench log says")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) manner: Manner,
    /// Read the settings from this file [default: flashscope/settings.toml below ~/.config]
    #[arg(long, value_name = "FILE", env = "FLASHSCOPE_SETTINGS", hide_env_values = true, global = true)]
    #[arg(help_heading = HEADING)]
    settings: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What there is to say instead of running a command: help that was asked for, or what is wrong with what was typed.
pub(crate) struct Usage {
    /// With escape codes where help is to be coloured.
    pub(crate) coloured: String,
    /// Without.
    pub(crate) plain: String,
    /// Whether this is what was asked for, rather than an error.
    pub(crate) asked_for: bool,
    /// What was said of colours.
    pub(crate) color: Option<ColorWhen>,
}

/// What was typed, understood.
pub(crate) struct Typed {
    matches: ArgMatches,
    cli: Cli,
}

/// Understands what was typed; the first word is the name of the program.
pub(crate) fn typed(words: &[OsString]) -> Result<Typed, Box<Usage>> {
    understood(tree(), words)
}

fn understood(tree: clap::Command, words: &[OsString]) -> Result<Typed, Box<Usage>> {
    let read = tree.try_get_matches_from(words).and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches)?;
        Ok(Typed { matches, cli })
    });
    read.map_err(|error| usage(words, error))
}

impl Typed {
    /// The settings file that was typed.
    pub(crate) fn settings_file(&self) -> Option<&Path> {
        self.cli.settings.as_deref()
    }

    /// The same words over what the settings say. They are understood anew only where those say anything: definitions of
    /// all commands are most of what a short command costs.
    pub(crate) fn over(self, words: &[OsString], said: &Settings) -> Result<Cli, Box<Usage>> {
        let Typed { matches, mut cli } = match said.entries.is_empty() {
            true => self,
            false => understood(settings::below(tree(), said), words)?,
        };
        // What was typed is not silenced by a file.
        cli.manner.quiet &= settings::is_typed(&matches, "quiet") || !settings::is_typed(&matches, "verbose");
        match (&mut cli.command, matches.subcommand()) {
            (Command::Bench(bench), _) => bench.defaults = said.job_defaults(),
            (Command::Qualify(qualify), _) => qualify.set_commands(said.commands.clone()),
            (Command::Settings(show), Some((_, inner))) => show.values = settings::values(inner, said),
            _ => {}
        }
        Ok(cli)
    }
}

fn usage(words: &[OsString], mut error: clap::Error) -> Box<Usage> {
    nearest_first(&mut error);
    let said = error.render();
    let from = from_environment(words, &error)
        .map_or_else(String::new, |name| format!("hint: that is from {name} of the environment\n"));
    Box::new(Usage {
        coloured: said.ansi().to_string() + &from,
        plain: said.to_string() + &from,
        asked_for: !error.use_stderr(),
        color: ColorWhen::typed(words.iter().cloned()),
    })
}

/// Of commands that are like what was typed, the likest stands first.
fn nearest_first(error: &mut clap::Error) {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand).cloned() else { return };
    let Some(ContextValue::Strings(mut names)) = error.get(ContextKind::SuggestedSubcommand).cloned() else { return };
    names.sort_by(|a, b| strsim::jaro_winkler(&typed, b).total_cmp(&strsim::jaro_winkler(&typed, a)));
    error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(names));
}

/// The variable of the environment that a value which does not do came from.
fn from_environment(words: &[OsString], error: &clap::Error) -> Option<&'static str> {
    const VARIABLES: [(&str, &str); 2] = [("--seed", "FLASHSCOPE_SEED"), ("--max-write", "FLASHSCOPE_MAX_WRITE")];
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return None };
    let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue) else { return None };
    let (option, name) = VARIABLES.into_iter().find(|(option, _)| argument.starts_with(option))?;
    let is_typed = words.iter().any(|word| word.to_string_lossy().starts_with(option));
    (!is_typed && std::env::var_os(name).is_some_and(|set| set.to_str() == Some(value))).then_some(name)
}

/// All that can be typed.
fn tree() -> clap::Command {
    fn with_exit_codes(command: clap::Command) -> clap::Command {
        let said = command.get_after_help().map_or_else(String::new, |said| format!("{said}\n\n"));
        command.after_help(format!("{said}{EXIT_CODES}")).mut_subcommands(with_exit_codes)
    }
    // iozone has a -q and a -v of its own: behind `bench iozone` ours are known by their long names alone.
    let long = |name| Arg::new(name).long(name).action(ArgAction::SetTrue).global(true).hide(true);
    let iozone = |command: clap::Command| command.args(["quiet", "verbose"].map(long));
    let bench = |command: clap::Command| command.mut_subcommand("iozone", iozone);
    with_exit_codes(Cli::command().mut_subcommand("bench", bench))
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The main job: characterise a device and write one report
    Inspect(Inspect),
    /// Run one experiment
    Probe(Probe),
    /// Which state a device is in: clean, sequential, full, dirty; how much of its life is used
    State(State),
    /// Whether a device is as large as it says: genuine, or which kind of fake, and its true size
    Capacity(Capacity),
    /// Whether a device keeps what it acknowledged when its power is cut
    Integrity(Box<Integrity>),
    /// Findings from recorded observations: flashbench logs or earlier records
    Infer(Infer),
    /// Show a record again, in any form
    Report(Report),
    /// Applications on a file system: how long users wait, and how much of that is the device's
    App(Box<App>),
    /// Load: how fast it really is, at any depth, and whether it was the page cache
    Bench(Box<Bench>),
    /// Whether B is better than A, worse or equivalent: records, tables or devices, with verdicts that hold
    Compare(Box<Compare>),
    /// What a knob does: a setting of the kernel, the job or a simulated device, varied and put back
    Sweep(Box<Sweep>),
    /// May this part replace that one: a plan of requirements, run on both, and a verdict
    Qualify(Box<Qualify>),
    /// Why B takes longer than A for a workload: the difference shared out over what the devices differ in
    Explain(Box<Explain>),
    /// List block devices: identity, claims, what holds them
    List(List),
    /// Registers of SD cards and eMMC parts in words, and whether a part does what they say
    Mmc(Mmc),
    /// The memory beside the storage: bandwidth, latency, latency under load, caches
    Mem(Box<Mem>),
    /// The simulated devices
    Sim(Sim),
    /// Measure how often inspect is right, on random simulated devices
    Fleet(Fleet),
    /// Keep records, and ask what changed over time
    History(History),
    /// A shelf of devices: what a plan asks for is done on all of them, a process each
    Lab(Lab),
    /// A web page of this machine alone: records, devices, trends, labs, runs on simulated devices
    Serve(Serve),
    /// A simulated device as a real block device of this machine
    Emulate(Emulate),
    /// A simulated device fitted to a measured one
    Twin(Twin),
    /// Block traces: recorded, looked at, replayed, from and to other programs' formats
    Trace(Trace),
    /// Print the JSON Schema of records
    #[command(after_help = "Example: flashscope schema bench > bench.schema.json")]
    Schema {
        /// Of this kind alone: inspect, probe, infer, state, capacity, integrity, app, bench, iozone, fleet, twin, compare, sweep, trace, explanation, qualification, memory or lab [default: all of them]
        kind: Option<String>,
    },
    /// Print every setting, its value, and who says so
    Settings(ShowSettings),
    /// Print the script that makes a shell complete commands, options and simulated devices
    Completions(Completions),
    /// Print a manual page, or write all of them
    Man(ManPages),
}

/// A count from 1 on. What is typed goes into plans, whose sums and products must stay numbers.
fn up_to(most: i64) -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_sound() {
        tree().debug_assert();
    }

    #[test]
    fn every_help_text_has_an_example_and_the_exit_codes() {
        fn check(command: &mut clap::Command, path: &str) {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Example"), "{path} has no example");
            assert!(help.contains(EXIT_CODES), "{path} has no exit codes");
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let is_wide = |line: &&str| line.contains("flashscope ") && line.starts_with("  ") && line.len() > 80;
            let wide = after.lines().find(is_wide);
            assert!(wide.is_none(), "{path}: an example wraps on a terminal: {wide:?}");
            for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help") {
                let path = format!("{path} {}", inner.get_name());
                check(inner, &path);
            }
        }
        check(&mut tree(), "flashscope");
    }
}
