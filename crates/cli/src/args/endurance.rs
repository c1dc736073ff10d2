//! What `integrity --endurance` takes.

use super::campaign::percent;
use super::up_to;
use clap::Args;
use flashscope_model::endurance::Milestone;
use flashscope_units::{Bytes, Nanos};

/// Passes of one run: each is kept until the end.
const MOST_PASSES: i64 = 1_000_000;

/// Passes over the whole device.
#[derive(Args, Clone, Debug)]
#[group(skip)]
pub(crate) struct Endurance {
    /// Cut no power: write all of the device in shuffled order and read it back, pass after pass, and forecast the first error
    #[arg(long, conflicts_with_all = ["cuts", "replay", "offset", "size", "power_off", "judge", "log_writes"])]
    pub(crate) endurance: bool,
    /// endurance: end after this number of passes
    #[arg(long, value_name = "N", requires = "endurance", value_parser = up_to(MOST_PASSES))]
    pub(crate) passes: Option<u32>,
    /// endurance: end when this is bad: first-error, 0.1%, 10%, 25% or 50% of the sectors
    #[arg(long, value_name = "BAD", requires = "endurance", value_parser = milestone)]
    pub(crate) until: Option<Milestone>,
    /// endurance: end before more than this share of the rated life is spent [default: 5%; of a simulated device none with --passes
    /// or --until]
    #[arg(long, value_name = "PERCENT", requires = "endurance", value_parser = percent)]
    pub(crate) life: Option<f64>,
    /// endurance: what the data sheet rates the device for (TBW) [default: 300 times its capacity, an assumption]
    #[arg(long, value_name = "SIZE", requires = "endurance")]
    pub(crate) rated_writes: Option<Bytes>,
    /// endurance: leave the device alone for this time after the last pass, and read all of it again
    #[arg(long, value_name = "TIME", requires = "endurance")]
    pub(crate) reread_after: Option<Nanos>,
    /// endurance: only say what would be written, how long that takes and what share of the rated life it is
    #[arg(long, requires = "endurance")]
    pub(crate) dry_run: bool,
}

fn milestone(text: &str) -> Result<Milestone, String> {
    match text.trim() {
        "first-error" => Ok(Milestone::FirstError),
        "0.1%" => Ok(Milestone::Permille),
        "10%" => Ok(Milestone::Tenth),
        "25%" => Ok(Milestone::Quarter),
        "50%" => Ok(Milestone::Half),
        _ => Err("there are first-error, 0.1%, 10%, 25% and 50%".to_owned()),
    }
}
