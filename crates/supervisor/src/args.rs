//! What can be typed. Dumb structs: nothing is opened, checked or decided here. clap is known nowhere else.

mod hosts;

pub(crate) use hosts::{Agent, Coordinator, Fleet, OfServer, Submit};

use clap::{Args, Parser, Subcommand};
use flashscope_console::{Manner, Server};
use flashscope_units::Nanos;
use std::path::PathBuf;

/// What every help text ends with.
const EXIT_CODES: &str = "Exit codes: 0 done, 1 a run failed, 2 usage or environment, 3 refused";

/// A shelf of devices: what a plan asks for is done on all of them, a process each, and resumed after anything.
#[derive(Debug, Parser)]
#[command(name = "flashscope lab", bin_name = "flashscope lab", version, max_term_width = 100)]
#[command(after_help = format!("Examples:
  flashscope lab run incoming.toml --dry-run
  sudo flashscope lab run incoming.toml --destroy-data=IDENTITY
  flashscope lab status incoming.toml
  sudo flashscope lab limits --write

{EXIT_CODES}"))]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) manner: Manner,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Do what a plan asks for, as far as it is not done; the same command goes on where it was stopped
    #[command(after_help = format!("Examples:
  flashscope lab run incoming.toml --dry-run
  sudo flashscope lab run incoming.toml \\
    --destroy-data=0x1c09a3f2:7948206080
  flashscope lab run simulated.toml --json > lab.json

A plan names devices and works, and nothing else: docs/lab.md has one. A device is only read unless its identity is named
here, or in the host's own file (--host).\n\n{EXIT_CODES}"))]
    Run(Box<Run>),
    /// Which runs of a plan are done, under way, left to do, or failed
    #[command(after_help = format!("Example: flashscope lab status incoming.toml\n\n{EXIT_CODES}"))]
    Status(Status),
    /// Hand runs out over many hosts, and keep what comes back; by a NATS server (docs/hosts.md)
    #[command(after_help = format!("Example:
  flashscope lab coordinator --server tls://127.0.0.1:4222 \\
    --ca nats/ca.pem --token nats/tokens/coordinator\n\n{EXIT_CODES}"))]
    Coordinator(Coordinator),
    /// Do on this host's devices what a coordinator hands out
    #[command(after_help = format!("Example:
  flashscope lab agent --server tls://lab:4222 \\
    --ca ca.pem --token rack-1.token\n\n{EXIT_CODES}"))]
    Agent(Box<Agent>),
    /// Have a plan done by many hosts
    #[command(after_help = format!("Example:
  flashscope lab submit incoming.toml --server tls://lab:4222 \\
    --ca ca.pem --token operator.token\n\n{EXIT_CODES}"))]
    Submit(Submit),
    /// Have a fleet done by many hosts, and print what came of each range of its devices as it comes; `flashscope fleet --lab`
    /// starts this
    #[command(hide = true, after_help = format!("Example: flashscope fleet --devices 1000 --lab tls://lab:4222 \\
    --ca ca.pem --token operator.token\n\n{EXIT_CODES}"))]
    Fleet(Fleet),
    /// Fetch the records of all runs that are done, each checked by its hash
    #[command(after_help = format!("Example:
  flashscope lab results --into results --server tls://lab:4222 \\
    --ca ca.pem --token operator.token\n\n{EXIT_CODES}"))]
    Results(OfServer),
    /// How many cards this host holds at once: emulated ones, more and more of them, until their answers go out late
    #[command(after_help = format!("Examples:
  sudo flashscope lab limits
  sudo flashscope lab limits --write --host lab.toml

Takes up to two minutes, and wants a host that does nothing else.\n\n{EXIT_CODES}"))]
    Limits(Limits),
}

#[derive(Args, Debug)]
pub(crate) struct Run {
    /// The plan (TOML)
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,
    /// Keep the queue and the records in this directory [default: NAME.lab, as the plan is called]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) here: Here,
    /// Have this number of simulated devices under way at once [default: the processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) cores: Option<u32>,
    /// Give a run up after this number of failures
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) tries: u32,
    /// Rest after the first failure of a run; four times as long after each further one
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub(crate) retry_after: Nanos,
    /// Try runs again that were given up
    #[arg(long)]
    pub(crate) retry_failed: bool,
    /// Print devices, what they share and runs, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// With --dry-run: look for devices in this copy of another machine's /sys
    #[arg(long, value_name = "DIR", requires = "dry_run")]
    pub(crate) sysfs: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) results: Results,
}

/// What is allowed on this host, and nowhere else.
#[derive(Args, Clone, Debug)]
pub(crate) struct Here {
    /// Allow writing to the device of this identity, as `flashscope list` prints it, whoever hands the work in (its
    /// content is destroyed); once for each
    #[arg(long, value_name = "IDENTITY")]
    pub(crate) destroy_data: Vec<String>,
    /// Also overwrite a partition table or file system that is not in use, on devices that may be written to
    #[arg(long)]
    pub(crate) destroy_signatures: bool,
    /// What only this host says (TOML): destroy-data, at-once and power commands [default: flashscope/lab.toml below ~/.config]
    #[arg(long, value_name = "FILE")]
    pub(crate) host: Option<PathBuf>,
    /// Have at most this number of real devices under way at once [default: at-once of the host's file, else 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) at_once: Option<u32>,
}

/// A server is asked only where one is named.
#[derive(Args, Debug)]
#[command(mut_arg("server", |arg| arg.required(false).requires("token")))]
#[command(mut_arg("token", |arg| arg.required(false).requires("server")))]
pub(crate) struct Status {
    /// The plan; its name says where its queue is
    #[arg(value_name = "PLAN", required_unless_present_any = ["dir", "server"], conflicts_with = "server")]
    pub(crate) plan: Option<PathBuf>,
    /// The directory of the queue
    #[arg(long, value_name = "DIR", conflicts_with = "server")]
    pub(crate) dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) server: Option<Server>,
    #[command(flatten)]
    pub(crate) results: Results,
}

#[derive(Args, Debug)]
pub(crate) struct Limits {
    /// Write at-once into the host's own file; all else in it stays
    #[arg(long)]
    pub(crate) write: bool,
    /// The host's own file [default: flashscope/lab.toml below ~/.config]
    #[arg(long, value_name = "FILE")]
    pub(crate) host: Option<PathBuf>,
    /// Try no more cards than this [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) most: Option<u32>,
    /// Read each number of cards for this time
    #[arg(long, value_name = "TIME", default_value = "3s")]
    pub(crate) time: Nanos,
    /// Print the result as JSON on stdout and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where a record goes.
#[derive(Args, Debug)]
pub(crate) struct Results {
    /// Print the record as JSON on stdout and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Also keep the record in this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
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
        check(&mut Cli::command(), "lab");
    }
}
