//! The `[ageing]` section of a model.

use crate::range::{OPERATION, SHARE, ranges};
use crate::text;
use flashscope_units::Nanos;
use serde::Deserialize;
use toml::Table;

/// Name of the section.
pub(crate) const SECTION: &str = "ageing";

/// What a key has that is left out, in a section that is there.
const DEFAULTS: &str = include_str!("defaults.toml");

/// The defaults as a table. A test parses them.
pub(crate) fn defaults() -> Table {
    DEFAULTS.parse().unwrap_or_default()
}

/// A device without this section stays as it is however much is written, and its registers tell nothing of wear. Where a
/// figure is an assumption, its line says so; the others are of the size that the sources named there found.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgeingParams {
    /// Erases of a unit that the device is rated for; its registers count against this.
    pub(crate) rated_erases: u32,
    /// Erases that a block stands on average, over the rated ones. Blocks outlast their rating by far (Grupp et al., MICRO
    /// 2009; Boboila and Desnoyers, FAST 2010: 10 to 100 times for the small blocks of their time).
    pub(crate) lasts: f64,
    /// How much blocks differ: standard deviation of that over its mean.
    pub(crate) lasts_spread: f64,
    /// Probability that an erase is a block's last, long before its time. Assumption: the same at every erase. Data sheets
    /// allow 2 % of the blocks to go bad in all of the rated life.
    pub(crate) early_failures: f64,
    /// Blocks kept to replace bad ones, as a share of all. When they are used up, whole units go out of use.
    pub(crate) reserve_ratio: f64,
    /// The controller's search in the table of replaced blocks, for each request and each doubling of the table.
    /// Assumption.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) search: Nanos,
    /// Writing one entry of that table anew, when it is brought up to date. Assumption.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) upkeep_entry: Nanos,
    /// It is brought up to date whenever so many units were opened to be written; 0: never. Assumption.
    pub(crate) upkeep_every: u32,
    /// A row of pages of which one block was replaced is not programmed and sensed as one any more: this many times the
    /// time. 1: where a replacement is of the same plane, 2: where it is of any.
    pub(crate) unpaired: f64,
    /// Change of the time of a program at the rated erases, as a share; linear in the erases. Cells that are worn program
    /// faster (Grupp et al., MICRO 2009; Desnoyers, WEED 2009).
    pub(crate) program_change: f64,
    /// The same of an erase: worn cells need more pulses (the same sources).
    pub(crate) erase_change: f64,
    /// Senses that a read takes more at the rated erases, mean. Grows with the square of the erases: an assumption between
    /// the linear and the exponential growth of raw bit errors in the literature (Cai et al., DATE 2012).
    pub(crate) read_retries: f64,
    /// Share of the rows that cannot be read any more in a unit one of whose blocks is in the last tenth of its life.
    /// Assumption.
    pub(crate) unreadable: f64,
    /// Raw bit errors of a row that was just written and was erased as often as is rated, over what the error correction can
    /// correct; the median of all rows. 0: raw bit errors are not modelled.
    pub(crate) raw_errors: f64,
    /// They grow with this power of the erases (Mielke et al., IRPS 2008, fit power laws to raw bit errors over cycles).
    pub(crate) raw_errors_power: f64,
    /// How much rows differ: standard deviation of the logarithm of their raw bit errors. That they are spread log-normally is
    /// an assumption.
    pub(crate) raw_errors_spread: f64,
    /// Cells lose charge: time until a row that was erased as often as is rated has twice the raw bit errors. Linear in the
    /// time and in the erases, an assumption; that loss of charge is what errors of worn cells are mostly due to is not (Cai et
    /// al., DATE 2012). 0: they keep it.
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) retention: Nanos,
}

ranges!(AgeingParams {
    rated_erases: 1..=1_000_000,
    lasts: 0.01..=1000.0,
    lasts_spread: 0.0..=0.5,
    early_failures: SHARE,
    reserve_ratio: SHARE,
    search: OPERATION,
    upkeep_entry: OPERATION,
    upkeep_every: 0..=1 << 20,
    unpaired: 1.0..=16.0,
    program_change: -0.9..=100.0,
    erase_change: -0.9..=100.0,
    read_retries: 0.0..=100.0,
    unreadable: SHARE,
    raw_errors: SHARE,
    raw_errors_power: 0.1..=20.0,
    raw_errors_spread: 0.0..=3.0,
    retention: Nanos::ZERO..=Nanos::secs(10 * 365 * 24 * 3600),
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_a_section() {
        assert!(DEFAULTS.parse::<Table>().unwrap().try_into::<AgeingParams>().is_ok());
    }
}
