//! What `list` takes.

use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Example: flashscope list --json")]
pub(crate) struct List {
    /// Only these devices
    pub(crate) devices: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Read this copy of /sys, or of a whole file system's sys and proc, and nothing of this machine
    #[arg(long, value_name = "DIR", default_value = "/sys")]
    pub(crate) sysfs: PathBuf,
}
