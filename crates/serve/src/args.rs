//! What can be typed. Dumb structs: nothing is opened, checked or decided here. clap is known nowhere else.

use clap::Parser;
use flashscope_console::Manner;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A web page of this machine alone: records, devices, trends, labs, and runs on simulated devices.
#[derive(Debug, Parser)]
#[command(name = "flashscope serve", bin_name = "flashscope serve", version, max_term_width = 100)]
#[command(after_help = "Examples:
  flashscope serve
  flashscope serve --lab incoming.lab --listen 127.0.0.1:9000
  flashscope serve --listen 192.0.2.7:8420 --certificate host.pem --key host.key

It prints an address with a token; whoever opens it may look at everything and start runs on simulated devices.
Nothing on the page can write to a real device. Another address than loopback needs a certificate.

Exit codes: 0 done, 2 usage or environment")]
pub(crate) struct Cli {
    /// The history [default: flashscope/history.db in $XDG_DATA_HOME, else in ~/.local/share]
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// Show the lab in this directory; may be said again [default: each NAME.lab here]
    #[arg(long, value_name = "DIR")]
    pub(crate) lab: Vec<PathBuf>,
    /// Listen at this address; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8420")]
    pub(crate) listen: SocketAddr,
    /// Answer to this host name as well; may be said again
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Vec<String>,
    /// Keep the token in this file, so that the address stays the same [default: a new one at each start]
    #[arg(long, value_name = "FILE")]
    pub(crate) token: Option<PathBuf>,
    /// Certificates for TLS (PEM), this host's first
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) certificate: Option<PathBuf>,
    /// Private key for TLS (PEM)
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub(crate) key: Option<PathBuf>,
    /// Have at most this number of simulated runs under way at once
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) runs: u32,
    /// Print the address as JSON on stdout
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) manner: Manner,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_sound_and_the_help_has_an_example_and_the_exit_codes() {
        Cli::command().debug_assert();
        let help = Cli::command().render_long_help().to_string();
        assert!(help.contains("Examples:") && help.contains("Exit codes"), "{help}");
    }
}
