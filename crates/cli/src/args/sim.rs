//! What `sim` takes.

use clap::{Args, Subcommand};

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope sim list
  flashscope sim show sd-4mib > card.toml && flashscope inspect sim:./card.toml")]
pub(crate) struct Sim {
    #[command(subcommand)]
    pub(crate) command: SimCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SimCommand {
    /// List the catalogue
    #[command(after_help = "Example: flashscope sim list")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a model as TOML, to read or to copy and change
    #[command(after_help = "Example: flashscope sim show sd-4mib --truth")]
    Show {
        /// A model of the catalogue, or a TOML file
        model: String,
        /// Also print what is true of it: what a perfect observer would report
        #[arg(long)]
        truth: bool,
    },
}
