//! Runs that tests make, and the device that they are of.

use flashscope_model::observation::{AreaState, Run, Source, Spent};
use flashscope_model::{Claims, Data, DeviceFacts, DeviceKind};
use flashscope_units::{Bytes, Instant};

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

/// A device of which nothing but its size is known.
pub(crate) fn of_size(capacity: Bytes) -> DeviceFacts {
    DeviceFacts {
        name: "made up".to_owned(),
        kind: DeviceKind::Other,
        simulated: true,
        capacity,
        logical_block: Bytes::SECTOR,
        physical_block: None,
        max_request: None,
        queue_depth: None,
        claims: Claims::default(),
        identity: None,
    }
}
