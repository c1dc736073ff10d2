//! What a run cost, in all and for its geometry alone.

use flashscope_device::Wear;
use flashscope_model::observation::Spent;
use flashscope_model::plan::Purpose;
use flashscope_model::{About, Data, Run};
use flashscope_units::{Bytes, Nanos};

/// What some experiments cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Bytes read by the host.
    pub read: Bytes,
    /// Bytes written by the host.
    pub written: Bytes,
    /// Erases inside the device.
    pub erases: u64,
    /// Bytes programmed inside the device, copies included.
    pub programmed: Bytes,
    /// Device time.
    pub time: Nanos,
}

impl Cost {
    pub(crate) fn new(spent: Spent, before: Wear, after: Wear) -> Cost {
        Cost {
            read: spent.read,
            written: spent.written,
            erases: after.erases.saturating_sub(before.erases),
            programmed: after.programmed.saturating_sub(before.programmed),
            time: spent.time,
        }
    }

    pub(crate) fn add(&mut self, other: Cost) {
        self.read += other.read;
        self.written += other.written;
        self.erases += other.erases;
        self.programmed += other.programmed;
        self.time += other.time;
    }
}

/// Whether a run serves the geometry; the rest is the table of speeds, and the memory in front of the flash.
pub(crate) fn is_geometry(run: &Run) -> bool {
    match &run.data {
        Data::Throughput(data) => data.purpose != Purpose::Performance,
        other => other.name().about() == About::Geometry,
    }
}
