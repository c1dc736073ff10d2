//! What `state` takes.

use super::campaign::Results;
use super::{Making, TargetArgs};
use clap::Args;
use flashscope_model::DeviceState;
use flashscope_units::Nanos;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope state
  flashscope state sim:ssd-consumer,state=blank --read-only
  sudo flashscope state /dev/sdX
  sudo flashscope state /dev/sdX --destroy-data=IDENTITY --max-write 16M
  flashscope state sim:sd-4mib,capacity=1GiB --make dirty
  sudo flashscope state /dev/sdX --make dirty --dry-run

A block device is only read unless --destroy-data names its identity; what a few MiB of writes show tells more than
reads alone. docs/states.md says what each state is and how it is told.")]
pub(crate) struct State {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Bring the device into this state first: clean, sequential, full, dirty, steady or aged. It is then looked at by reading
    /// alone, as a proof
    #[arg(long, value_name = "STATE", value_parser = super::making::state)]
    pub(crate) make: Option<DeviceState>,
    #[command(flatten, next_help_heading = "Making a state")]
    pub(crate) making: Making,
    /// Print what would be written, how long it takes and what share of the rated life that is, and do nothing
    #[arg(long, requires = "make")]
    pub(crate) dry_run: bool,
    /// Stop after this much device time
    #[arg(long, value_name = "TIME")]
    pub(crate) max_time: Option<Nanos>,
    #[command(flatten)]
    pub(crate) results: Results,
}
