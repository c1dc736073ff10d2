//! What `emulate` takes.

use super::Replace;
use clap::Args;
use flashscope_emulate::Speed;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sudo flashscope emulate sd-4mib,capacity=256MiB --at /tmp/card --loop
  sudo flashscope emulate sd-4mib --at /tmp/card --backing card.img --speed max
  sudo flashscope emulate sd-4mib --at /tmp/card --backing card.img --loop
  sudo flashscope emulate --clean  # after a kill -9

The folder of --at must be there (mkdir /tmp/card). With --speed max a device can be aged first (mkfs, copy, Ctrl-C), to be used at its own speed then. \
Runs until Ctrl-C or SIGTERM. SIGUSR1 prints the statistics, SIGPWR cuts the device's power (of a model with faults, write_cache=mapping at least), SIGUSR2
switches it on again. The first line on stdout is the device.")]
pub(crate) struct Emulate {
    /// MODEL[,key=value…] (see `flashscope sim list`), or a TOML file
    #[arg(required_unless_present = "clean")]
    pub(crate) model: Option<String>,
    /// An empty directory: the device is the file `disk` in it
    #[arg(long, value_name = "DIR", required_unless_present = "clean")]
    pub(crate) at: Option<PathBuf>,
    /// Also bind a loop device to it
    #[arg(long = "loop")]
    pub(crate) attach_loop: bool,
    /// Keep content and state in FILE and FILE.state, and go on from there next time
    #[arg(long, value_name = "FILE")]
    pub(crate) backing: Option<PathBuf>,
    /// Seed of the device's chance
    #[arg(long, default_value_t = 1, env = "FLASHSCOPE_SEED")]
    pub(crate) seed: u64,
    /// How many times as fast as the model, or max: no waiting at all
    #[arg(long, default_value = "1", value_name = "FACTOR")]
    pub(crate) speed: Speed,
    /// Noise that the model adds to that of this machine: none, bench, field, harsh [default: none]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) noise: Option<String>,
    /// Write a line per answer to FILE: when the request came, when the device had it done, when the answer went out
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
    /// Print the statistics as JSON: at the end on stdout, on SIGUSR1 on stderr
    #[arg(long)]
    pub(crate) json: bool,
    /// Remove what killed emulators left (mounts and loop devices), and do nothing else
    #[arg(long, conflicts_with_all = ["model", "at", "attach_loop", "backing"])]
    pub(crate) clean: bool,
}
