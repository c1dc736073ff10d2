//! Runs that tests make.

use flashscope_model::Data;
use flashscope_model::observation::{AreaState, Run, Source, Spent};
use flashscope_units::Instant;

/// A run of our own that came to its end.
pub(crate) fn run(data: Data) -> Run {
    Run {
        source: Source::Probe { started: Instant::ORIGIN },
        state: AreaState::Unknown,
        complete: true,
        spent: Spent::default(),
        failures: Vec::new(),
        data,
    }
}
