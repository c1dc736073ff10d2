//! What can be typed where many hosts work.

use super::Results;
use clap::Args;
use flashscope_units::Nanos;
use std::path::PathBuf;

/// Where the server is, and who speaks.
#[derive(Args, Debug)]
pub(crate) struct Server {
    /// The server: tls://HOST:PORT; nats://HOST:PORT without TLS, on this host alone
    #[arg(long, value_name = "URL")]
    pub(crate) server: String,
    /// The file that says who speaks (NAME:SECRET), as scripts/nats-server makes it
    #[arg(long, value_name = "FILE")]
    pub(crate) token: PathBuf,
    /// The certificate that vouches for the server (ca.pem) [default: those that this host trusts]
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Coordinator {
    #[command(flatten)]
    pub(crate) server: Server,
    /// Give a run to another agent when its agent was not heard of for this time
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(crate) lease: Nanos,
    /// Give a run up after this number of failures
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) tries: u32,
    /// Give an agent no more work after this number of records that were not what their hash said
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) lies: u32,
}

#[derive(Args, Debug)]
pub(crate) struct Agent {
    #[command(flatten)]
    pub(crate) server: Server,
    /// Keep records in this directory until the server has confirmed them [default: NAME.agent, as the token says]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Allow writing to the device of this identity, whatever a server says (its content is destroyed); once for each
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
    /// Have this number of simulated devices under way at once [default: the processors; 0 for none]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1024))]
    pub(crate) cores: Option<u32>,
    /// End when there was nothing to do for this time [default: never]
    #[arg(long, value_name = "TIME")]
    pub(crate) until_idle: Option<Nanos>,
}

#[derive(Args, Debug)]
pub(crate) struct Submit {
    /// The plan (TOML); devices by identity or simulated
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,
    /// Try runs of it again that were given up
    #[arg(long)]
    pub(crate) retry_failed: bool,
    #[command(flatten)]
    pub(crate) server: Server,
}

#[derive(Args, Debug)]
pub(crate) struct OfServer {
    #[command(flatten)]
    pub(crate) server: Server,
    /// Put records into this directory, each as runs/ID/record.json; those that are there are not fetched again
    #[arg(long, value_name = "DIR")]
    pub(crate) into: PathBuf,
    #[command(flatten)]
    pub(crate) results: Results,
}
