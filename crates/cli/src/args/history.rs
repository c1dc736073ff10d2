//! What `history` takes: all of it is understood by the program that answers it.

use clap::Args;
use std::ffi::OsString;

#[derive(Args, Debug)]
#[command(
    disable_help_flag = true,
    after_help = "Examples:
  flashscope history add flashscope-SD08G.json
  flashscope history list --target SD08G
  flashscope history --help"
)]
pub(crate) struct History {
    /// add, list, show …, with their options
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORDS")]
    pub(crate) words: Vec<OsString>,
}
