//! What one who looks on is told of the medium and of power cuts.

use flashscope_units::{Bytes, Instant};

/// What a power cut found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerCut {
    /// When it was.
    pub at: Instant,
    /// Stretches of finished writes that were still volatile and are gone.
    pub dropped: u32,
    /// Their bytes.
    pub dropped_bytes: Bytes,
    /// Stretches of writes that were under way; none of them was ever answered.
    pub under_way: u32,
    /// Where a write was torn, if one was: this block of the medium holds garbage now.
    pub torn: Option<Bytes>,
    /// Where a write was shorn, if one was: this block of the medium is new in its first half and old in its second.
    pub shorn: Option<Bytes>,
    /// The block that was damaged though it was not being written, if one was.
    pub neighbour: Option<Bytes>,
    /// Bytes that an older mapping took back though they were safe.
    pub rolled_back: Bytes,
    /// What it does at the next power on.
    pub recovery: Recovery,
}

/// How a device comes back after a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// As it should.
    #[default]
    Usual,
    /// Late.
    Slow,
    /// With another capacity.
    Shrunk,
    /// Not at all.
    Dead,
}

/// Something that came to stand on the medium, for one who keeps the bytes himself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediumChange {
    /// From here on, on the medium.
    pub at: Bytes,
    /// Its length.
    pub length: Bytes,
    /// What stands there now.
    pub now: MediumBytes,
}

/// What stands on a stretch of the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediumBytes {
    /// The data of this write, from those on that the host addressed to this address of the device.
    Of {
        /// The request's number, as its caller chose it.
        request: u64,
        /// Device address of the first byte.
        addressed: Bytes,
    },
    /// Nothing.
    Erased,
    /// Bytes that nobody wrote.
    Garbage,
}
