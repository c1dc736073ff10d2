//! Whether a device is as large as it says: what a test wrote where, what came back, and what follows.
//!
//! A quick test writes little at chosen places ([`Quick`]), a full test writes all that is there ([`Full`]); either leads to a
//! [`Verdict`].

mod full;

pub use full::{Cell, Directory, Full, HashAlgorithm, Hashes, PassOrder, Totals};

use crate::envelope::Envelope;
use crate::finding::words;
use flashscope_units::Bytes;

/// Everything about one run of `capacity`.
#[derive(Clone, Debug, PartialEq)]
pub struct CapacityRecord {
    /// Who, when, on what, and how it ended.
    pub envelope: Envelope,
    /// What follows.
    pub verdict: Verdict,
    /// Generation of the first tags of this run: what an earlier run left bears others.
    pub generation: u32,
    /// What the quick test saw, where it was one.
    pub quick: Option<Quick>,
    /// What the full test saw, where it was one.
    pub full: Option<Full>,
}

impl CapacityRecord {
    /// What the device says it holds; of a full test in files, what they were to hold.
    pub fn claimed(&self) -> Bytes {
        let full = self.full.as_ref().map(|full| full.claimed);
        full.or(self.quick.as_ref().map(|quick| quick.claimed)).unwrap_or_default()
    }

    /// What a full test of files saw: of them no kind of device is claimed.
    pub fn files(&self) -> Option<&Full> {
        self.full.as_ref().filter(|full| full.directory.is_some())
    }

    /// Whether what was tested keeps what is written: a genuine device, or files that came back whole.
    pub fn is_sound(&self) -> bool {
        match self.files() {
            Some(full) => full.is_whole() && full.bad_bytes() == Bytes::ZERO,
            None => self.verdict.kind == Some(Genuineness::Genuine),
        }
    }

    /// Whether it is a fake, or does not keep what is written.
    pub fn is_bad(&self) -> bool {
        match self.files() {
            Some(full) => full.bad_bytes() > Bytes::ZERO,
            None => self.verdict.kind.is_some_and(|kind| kind != Genuineness::Genuine),
        }
    }
}

words! {
    /// What kind of device it is, by what becomes of what is written beyond its true size.
    Genuineness {
        /// All of it is there.
        Genuine = "genuine",
        /// Addresses begin anew at a smaller size: later writes overwrite earlier ones.
        WrapAround = "wrap_around",
        /// What is written beyond the true size is gone.
        Limbo = "limbo",
        /// Stretches that are there and stretches that are not alternate, as addresses begin anew beyond the true size.
        Chain = "chain",
        /// Places all over it do not keep what is written.
        Damaged = "damaged",
    }
}

impl Genuineness {
    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Genuineness::WrapAround => "wrap-around",
            other => other.word(),
        }
    }
}

/// What a test of the capacity came to.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Verdict {
    /// The kind that is claimed; `None`: cannot tell.
    pub kind: Option<Genuineness>,
    /// How likely each kind is, likeliest first; empty where nothing was seen.
    pub likely: Vec<(Genuineness, f64)>,
    /// Bytes from the start of the device that keep what is written: between these two, which are equal where it is known to
    /// the block. `None` where nothing is known.
    pub true_size: Option<Between>,
    /// How likely that is right.
    pub size_confidence: Option<f64>,
    /// Where addresses begin anew.
    pub wrap: Option<Bytes>,
    /// Share of places that do not keep what is written, where they lie all over the device.
    pub damaged: Option<DamagedShare>,
    /// What was written where, what came back, and what follows; a sentence each.
    pub evidence: Vec<String>,
    /// Kinds of fakes that are excluded by that; a sentence each.
    pub excluded: Vec<String>,
    /// What is not excluded, and what would do that.
    pub open: Vec<String>,
}

/// A size that is known to lie between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between {
    /// At least this.
    pub low: Bytes,
    /// At most this.
    pub high: Bytes,
}

/// A share of places with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DamagedShare {
    /// Share, 0…1.
    pub share: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What a quick test saw.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Quick {
    /// Size of the device as it says.
    pub claimed: Bytes,
    /// Size of each place.
    pub block: Bytes,
    /// The largest gap between two places. Where it is no larger than `region`, every wrap shows.
    pub gap: Bytes,
    /// Bytes that were written from the start of the device on, after all places: a cache that holds less is pushed out by
    /// them.
    pub region: Bytes,
    /// What stands at the places, by address.
    pub places: Vec<Place>,
    /// What stands in the region, in stretches by address.
    pub region_holds: Vec<Run>,
    /// Reads at places that were not written, to confirm where addresses begin anew.
    pub checks: Vec<Place>,
    /// Rounds that narrowed the true size down.
    pub rounds: Vec<Round>,
    /// Bytes written in all.
    pub written: Bytes,
}

/// A place that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its address.
    pub at: Bytes,
    /// What stood there.
    pub found: Found,
}

/// A stretch that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its address.
    pub at: Bytes,
    /// Its length.
    pub length: Bytes,
    /// What stood there; of what belongs elsewhere, the address of the first byte.
    pub found: Found,
}

/// What stood at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Found {
    /// What was written there.
    Kept,
    /// What was written to this other address.
    Elsewhere(Bytes),
    /// The same byte throughout.
    Uniform(u8),
    /// Something else, or an earlier writing of this run.
    Other,
    /// The write had failed.
    WriteFailed,
    /// The read failed.
    ReadFailed,
}

impl Found {
    /// Whether what was written is gone, without an error having been reported.
    pub const fn is_lost(self) -> bool {
        matches!(self, Found::Uniform(_) | Found::Other)
    }
}

/// Places between two sizes, of which the smaller keeps what is written and the larger does not.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// What stands at the places, by address.
    pub places: Vec<Place>,
    /// Places that are known to keep nothing of their own, written last: where they seem to keep it, a cache answers.
    pub controls: Vec<Place>,
    /// Bytes that were written behind them to push them out of a cache.
    pub pushed: Bytes,
}

impl Between {
    /// Whether it is known to the block.
    pub fn is_exact(self) -> bool {
        self.low == self.high
    }
}
