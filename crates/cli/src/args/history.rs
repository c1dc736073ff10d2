//! What `history` takes: all of it is understood by the program that answers it.

use clap::Args;
use std::ffi::OsString;

#[derive(Args, Debug)]
#[command(
    disable_help_flag = true,
    after_help = "Examples:
  flashscope history add flashscope-SD08G.json
  flashscope history list --target SD08G
  flashscope history trend

Commands: add, list, show, compare, trend, export, prune. A program of its own beside this one answers them \
and has their help; build it with `cargo build --release -p flashscope-store`."
)]
pub(crate) struct History {
    /// add, list, show …, with their options
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORDS")]
    pub(crate) words: Vec<OsString>,
}

impl History {
    /// Whether help is asked for.
    pub(crate) fn asks_for_help(&self) -> bool {
        self.words.first().is_some_and(|word| word == "help" || word == "-h" || word == "--help")
    }
}

/// What there is to say of it where the program that answers is not there.
pub(crate) fn history_help() -> String {
    let mut tree = super::tree();
    tree.build();
    let history = tree.find_subcommand_mut("history").map(|history| history.render_long_help().to_string());
    history.unwrap_or_default()
}
