//! The memory between link and flash: write buffer, read buffer, read-ahead; and the stalls of collection.

use flashscope_model::finding::Memory;
use flashscope_model::{Estimate, Observations};

/// All that was seen of it.
pub(crate) fn estimate(_observations: &Observations) -> Memory {
    Memory {
        write_buffer: Estimate::unknown("no burst of writes was observed"),
        ..Memory::unknown("no experiment looked for it")
    }
}
