//! What was concluded of the inside of a controller beyond units and pages: how it maps, how many parts work side by
//! side, what it keeps in memory, and the cells themselves.

use crate::Estimate;
use flashscope_units::{ByteRate, Bytes, Nanos};

/// The inside of a controller.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveFindings {
    /// How addresses are mapped.
    pub mapping: Estimate<MappingKind>,
    /// Data that one row over all parallel units holds: reads this far apart, or a multiple of it, meet in one unit.
    pub stripe: Estimate<Bytes>,
    /// Units that read at the same time: channels times chips on each.
    pub parallel_units: Estimate<u32>,
    /// Channels that lead to these units, each moving the data of one at a time.
    pub channels: Estimate<u32>,
    /// Part of the flash that is written with one bit per cell first.
    pub slc_cache: Estimate<SlcCache>,
    /// Idleness after which a full cache takes as much as before.
    pub slc_cache_recovery: Estimate<Nanos>,
    /// How much of the device the part of the map in memory stands for.
    pub map_reach: Estimate<Bytes>,
    /// Bits per cell, from the kinds of pages.
    pub bits_per_cell: Estimate<u32>,
    /// Units written to the flash per unit that the host writes, under random overwriting of all of it.
    pub write_amplification: Estimate<f64>,
    /// Physical over user capacity.
    pub physical_over_user: Estimate<f64>,
}

impl DriveFindings {
    /// Nothing is known, for one reason.
    pub fn unknown(reason: &str) -> DriveFindings {
        DriveFindings {
            mapping: Estimate::unknown(reason),
            stripe: Estimate::unknown(reason),
            parallel_units: Estimate::unknown(reason),
            channels: Estimate::unknown(reason),
            slc_cache: Estimate::unknown(reason),
            slc_cache_recovery: Estimate::unknown(reason),
            map_reach: Estimate::unknown(reason),
            bits_per_cell: Estimate::unknown(reason),
            write_amplification: Estimate::unknown(reason),
            physical_over_user: Estimate::unknown(reason),
        }
    }
}

/// How addresses are mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MappingKind {
    /// Every page can lie anywhere: neither order nor the number of places written in turn matters.
    Page,
    /// Units are mapped as wholes; an open one has a log that takes its writes in any order.
    UnitLog,
    /// Units are mapped as wholes; an open one takes writes in order, and any other is merged at once.
    UnitInOrder,
    /// None of these fits what was seen.
    Other,
}

/// A part of the flash that is written with one bit per cell first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlcCache {
    /// Data that it takes before the rate falls. In a bound: there is no smaller one, or none at all.
    pub size: Bytes,
    /// Rate of long writes while it takes them.
    pub cached: ByteRate,
    /// Rate when it is full; in a bound the same as `cached`, as no fall was seen.
    pub after: ByteRate,
    /// Whether its size depends on how full the device is.
    pub kind: SlcKind,
}

/// Whether the size of an SLC cache depends on how full the device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SlcKind {
    /// Nobody tried at different fills.
    Untested,
    /// The same at every fill that was tried.
    Static,
    /// Smaller on a fuller device.
    Dynamic,
}
