//! How a device is brought into a state, and that it is, before something is measured on it.

use super::campaign::percent;
use clap::Args;
use flashscope_model::DeviceState;
use flashscope_state::{Life, Mix, Wish};
use flashscope_units::Bytes;

/// What a state is made with.
#[derive(Args, Clone, Debug)]
pub(crate) struct Making {
    /// full: this share of the capacity holds data
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = share)]
    full_to: f64,
    /// aged: write the capacity this number of times
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    passes: u32,
    /// dirty: sizes of the random writes with their weights [default: 4KiB:4,16KiB:2,64KiB:1,256KiB:1]
    #[arg(long, value_name = "SIZES")]
    dirty_sizes: Option<Mix>,
    /// steady: sizes of the random writes that are the workload [default: 4KiB]
    #[arg(long, value_name = "SIZES")]
    steady_sizes: Option<Mix>,
    /// clean: write everything over where no purge is to be had; what was there is gone, but that is not clean
    #[arg(long)]
    overwrite: bool,
    /// What the data sheet rates the device for (TBW), to tell the share of its life
    #[arg(long, value_name = "SIZE")]
    rated_writes: Option<Bytes>,
    /// Spend more than 1 % of the rated life, or more than 3 × the capacity where nobody says what is rated
    #[arg(long)]
    pub(crate) accept_wear: bool,
}

/// A state that the device is brought into before it is measured.
#[derive(Args, Clone, Debug)]
pub(crate) struct InState {
    /// Bring the device into this state first, and again between runs where it is lost: clean, sequential, full, dirty,
    /// steady or aged
    #[arg(long, value_name = "STATE", value_parser = state)]
    pub(crate) state: Option<DeviceState>,
    #[command(flatten)]
    pub(crate) making: Making,
}

impl Making {
    /// What is asked for.
    pub(crate) fn wish(&self, state: DeviceState, seed: u64) -> Wish {
        let usual = Wish::of(state, seed);
        Wish {
            share: self.full_to,
            passes: self.passes,
            mix: self.dirty_sizes.clone().unwrap_or(usual.mix),
            workload: self.steady_sizes.clone().unwrap_or(usual.workload),
            overwrite: self.overwrite,
            ..usual
        }
    }

    /// What the device is rated for.
    pub(crate) fn life(&self) -> Life {
        Life { rated: self.rated_writes }
    }
}

/// A state by its word.
pub(super) fn state(text: &str) -> Result<DeviceState, String> {
    let words: Vec<&str> = DeviceState::ALL.iter().map(|state| state.word()).collect();
    DeviceState::from_word(text).ok_or_else(|| format!("there is no such state; there are {}", words.join(", ")))
}

/// `95%` or `95`, as a share of one, and no more than that.
fn share(text: &str) -> Result<f64, String> {
    let share = percent(text)?;
    if share <= 1.0 { Ok(share) } else { Err("it must be above 0 % and up to 100 %".to_owned()) }
}
