//! What `explain` takes.

use super::TraceInput;
use super::campaign::Results;
use clap::Args;
use std::path::PathBuf;

/// Why one device takes longer than another for a workload.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope explain sim:sd-4mib sim:sd-24mib --trace app.trace
  flashscope explain old.json new.json --trace ota.trace -o why.html
  flashscope explain old.json sim:./new.toml --trace ota.trace --json

A and B are simulated devices, model files or records of inspect, to which twins are fitted.
The trace is replayed in virtual time; docs/explain.md says what a share is.")]
pub(crate) struct Explain {
    /// The first device: sim:MODEL, a model file (.toml) or a record of inspect (.json)
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// The second one
    #[arg(value_name = "B")]
    pub(crate) b: String,
    /// The workload: a block trace that tells when requests ended
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: PathBuf,
    /// Multiply addresses so that the traced device fits each device
    #[arg(long, conflicts_with = "wrap")]
    pub(crate) scale: bool,
    /// Let addresses begin anew at the end of each device
    #[arg(long)]
    pub(crate) wrap: bool,
    /// Seed of the devices' own chance and of the orders of exchange
    #[arg(long, value_name = "N", default_value_t = 1, env = "FLASHSCOPE_SEED", hide_env_values = true)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) input: TraceInput,
    #[command(flatten)]
    pub(crate) results: Results,
}
