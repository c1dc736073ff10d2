//! What `capacity` takes.

use super::TargetArgs;
use super::campaign::Results;
use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  flashscope capacity sim:sd-4mib,fake=limbo,real_capacity=1GiB
  sudo flashscope capacity /dev/sdX --destroy-data=IDENTITY
  flashscope capacity sim:sd-4mib --json

Ends with 0 where the device was found genuine, with 1 where it was not. What it writes destroys what stood there;
docs/capacity.md says what is written where, and which fakes that excludes.")]
pub(crate) struct Capacity {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) results: Results,
}
