//! The `[ageing]` section of a model.

use crate::range::ranges;
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

/// A device without this section stays as it is however much is written, and its registers tell nothing of wear.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgeingParams {
    /// Erases of a unit that the device is rated for; its registers count against this.
    pub(crate) rated_erases: u32,
}

ranges!(AgeingParams { rated_erases: 1..=1_000_000 });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_a_section() {
        assert!(DEFAULTS.parse::<Table>().unwrap().try_into::<AgeingParams>().is_ok());
    }
}
