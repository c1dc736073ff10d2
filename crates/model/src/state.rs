//! States of a device: what they are called, what each means, and what a diagnosis says of one.
//!
//! A state decides how fast a device writes. [`DeviceState`] sums up what three questions answer apart, each a finding of
//! its own: how much of the device holds data ([`DataShare`]), in which order that was written ([`DataOrder`]), and how much
//! of the rated life is used. Several states may be true at once (a full device may be dirty and aged); a diagnosis names
//! the one that decides most.

use crate::finding::{Cell, Field, Figure, IntoCell, Kind, figure, word, words};

words! {
    /// A state of a device.
    DeviceState {
        /// Nothing is mapped: the device was purged, or never written.
        Clean = "clean",
        /// Everything was written once, sequentially.
        Sequential = "sequential",
        /// A stated share of the capacity holds data.
        Full = "full",
        /// Everything was written once and then overwritten randomly, until what is invalid is spread over the units.
        Dirty = "dirty",
        /// The workload in question has been repeated until its rate no longer changes (both SNIA criteria over five rounds).
        Steady = "steady",
        /// A stated number of capacity-writes since new.
        Aged = "aged",
        /// As found, with its registers and write counters noted.
        Young = "young",
    }
}
word!(DeviceState);

impl DeviceState {
    /// What it means, in one sentence.
    pub const fn definition(self) -> &'static str {
        match self {
            DeviceState::Clean => "nothing is mapped: purged, or never written",
            DeviceState::Sequential => "everything was written once, sequentially",
            DeviceState::Full => "a stated share of the capacity holds data",
            DeviceState::Dirty => {
                "everything was written once and then overwritten randomly, so that collection must copy"
            }
            DeviceState::Steady => "the workload in question has been repeated until its rate no longer changes",
            DeviceState::Aged => "a stated number of capacity-writes since new",
            DeviceState::Young => "as found, with its registers and write counters noted",
        }
    }
}

words! {
    /// In which order what a device holds was written.
    DataOrder {
        /// Sequentially: neighbouring addresses lie side by side in the flash.
        Sequential = "sequential",
        /// Randomly: neighbouring addresses are spread over the flash.
        Spread = "spread",
    }
}
word!(DataOrder);

/// How much of a device holds data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataShare {
    /// Share of the capacity, 0…1.
    pub share: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
}

figure! {
    DataShare, "DataShare" {
        share: f64, "share_ratio", "Share of the capacity that holds data.";
        low: f64, "share_ratio_low", "Lower end of its 95 % interval.";
        high: f64, "share_ratio_high", "Upper end of it.";
    }
}
