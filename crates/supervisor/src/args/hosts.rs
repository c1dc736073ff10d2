//! What can be typed where many hosts work.

use super::{Here, Results};
use clap::Args;
use flashscope_console::Server;
use flashscope_units::Nanos;
use std::path::PathBuf;

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
    /// Give an agent no more work after this number of records that were not what their hash said; a larger number forgives it
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) lies: u32,
}

#[derive(Args, Debug)]
pub(crate) struct Agent {
    #[command(flatten)]
    pub(crate) server: Server,
    /// Keep records in this directory until the server has confirmed them [default: NAME.agent, as the token says]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) here: Here,
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
pub(crate) struct Fleet {
    #[command(flatten)]
    pub(crate) server: Server,
    /// Version of the program that every host has to have
    #[arg(long, value_name = "VERSION")]
    pub(crate) of_version: String,
    /// Seed of the fleet
    #[arg(long)]
    pub(crate) seed: u64,
    /// Number of the first device
    #[arg(long, value_name = "INDEX")]
    pub(crate) first: u32,
    /// How many devices
    #[arg(long, value_name = "N")]
    pub(crate) devices: u32,
    /// How each device is drawn and run, as NAME=VALUE; once for each option of `flashscope fleet`
    #[arg(long = "option", value_name = "NAME=VALUE")]
    pub(crate) options: Vec<String>,
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
