//! What `history`, `lab` and `serve` take: all of it is understood by the programs that answer them.

use clap::Args;
use std::ffi::OsString;

#[derive(Args, Debug)]
#[command(
    disable_help_flag = true,
    after_help = "Examples:
  flashscope history add flashscope-SD08G.json
  flashscope history list --target SD08G
  flashscope history trend

Commands: add, list, show, compare, trend, export, import, prune. A program of its own beside this one answers them \
and has their help; build it with `cargo build --release -p flashscope-store`."
)]
pub(crate) struct History {
    #[command(flatten)]
    pub(crate) handed_on: HandedOn,
}

#[derive(Args, Debug)]
#[command(
    disable_help_flag = true,
    after_help = "Examples:
  flashscope lab run incoming.toml --dry-run
  sudo flashscope lab run incoming.toml --destroy-data=IDENTITY
  flashscope lab status incoming.toml

Commands: run, status. A program of its own beside this one answers them and has their help; build it with \
`cargo build --release -p flashscope-supervisor`."
)]
pub(crate) struct Lab {
    #[command(flatten)]
    pub(crate) handed_on: HandedOn,
}

#[derive(Args, Debug)]
#[command(
    disable_help_flag = true,
    after_help = "Examples:
  flashscope serve
  flashscope serve --lab incoming.lab --listen 127.0.0.1:9000

A program of its own beside this one answers and has the help of its options; build it with \
`cargo build --release -p flashscope-serve`."
)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) handed_on: HandedOn,
}

/// Words for a program beside this one.
#[derive(Args, Debug)]
pub(crate) struct HandedOn {
    /// Its command, with its options
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORDS")]
    pub(crate) words: Vec<OsString>,
}

impl HandedOn {
    /// Whether help is asked for.
    pub(crate) fn asks_for_help(&self) -> bool {
        self.words.first().is_some_and(|word| word == "help" || word == "-h" || word == "--help")
    }
}

/// What there is to say of a command where the program that answers is not there.
pub(crate) fn help_of(command: &str) -> String {
    let mut tree = super::tree();
    tree.build();
    tree.find_subcommand_mut(command).map(|found| found.render_long_help().to_string()).unwrap_or_default()
}
