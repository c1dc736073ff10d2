//! The part of a test of the capacity: what was written where, what came back, and what follows.

mod full;

use crate::RecordError;
use crate::mirror::{Mirror, mirror, mirror_tuple, part};
use flashscope_model::capacity as model;
use flashscope_units::Bytes;
use full::Full;
pub(crate) use full::Totals;
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

part! {
    /// Whether a device is as large as it says.
    CapacityPart of model::CapacityRecord as [Capacity] {
        /// What follows.
        verdict: CapacityVerdict = verdict,
        /// Generation of the first tags of this run.
        generation: u32 = generation,
        /// What the quick test saw; null where it was none.
        quick: Option<Quick> = quick,
        /// What the full test saw; null where it was none.
        full: Option<Full> = full,
    }
}

mirror! {
    /// What a test of the capacity came to.
    CapacityVerdict of model::Verdict {
        /// The kind that is claimed; null: cannot tell.
        kind: Option<Genuineness> = kind,
        /// How likely each kind is, likeliest first.
        likely: Vec<Likely> = likely,
        /// Bytes from the start of the device that keep what is written; null where nothing is known.
        true_size: Option<Between> = true_size,
        /// Probability that it is right.
        size_confidence: Option<f64> = size_confidence,
        /// Where addresses begin anew; null where they do not.
        wrap_bytes: Option<u64> = wrap,
        /// Share of places that do not keep what is written, where they lie all over the device.
        damaged: Option<DamagedShare> = damaged,
        /// What was written where, what came back, and what follows.
        evidence: Vec<String> = evidence,
        /// Kinds of fakes that are excluded by that.
        excluded: Vec<String> = excluded,
        /// What is not excluded, and what would do that.
        open: Vec<String> = open,
    }

    /// A size that is known to lie between two, which are equal where it is known to the block.
    Between of model::Between {
        /// At least this.
        low_bytes: u64 = low,
        /// At most this.
        high_bytes: u64 = high,
    }

    /// A share of places with its 95 % interval.
    DamagedShare of model::DamagedShare {
        /// Share, 0…1.
        share_ratio: f64 = share,
        /// Lower end.
        share_ratio_low: f64 = low,
        /// Upper end.
        share_ratio_high: f64 = high,
    }

    /// What a quick test saw.
    Quick of model::Quick {
        /// Size of the device as it says.
        claimed_bytes: u64 = claimed,
        /// Size of each place.
        block_bytes: u64 = block,
        /// The largest gap between two places.
        gap_bytes: u64 = gap,
        /// Bytes that were written from the start of the device on, after all places.
        region_bytes: u64 = region,
        /// What stands at the places.
        places: Places = places,
        /// What stands in the region.
        region_holds: Vec<HeldRun> = region_holds,
        /// Reads at places that were not written, to confirm where addresses begin anew.
        checks: Places = checks,
        /// Rounds that narrowed the true size down.
        rounds: Vec<Round> = rounds,
        /// Bytes written in all.
        written_bytes: u64 = written,
    }

    /// Places between two sizes, of which the smaller keeps what is written and the larger does not.
    Round of model::Round {
        /// What stands at the places.
        places: Places = places,
        /// Places that keep nothing of their own, written last: where they seem to, a cache answers.
        controls: Places = controls,
        /// Bytes that were written behind them to push them out of a cache.
        pushed_bytes: u64 = pushed,
    }
}

mirror_tuple! {
    /// A kind, and how likely it is.
    Likely of (model::Genuineness, f64) {
        /// The kind.
        kind: Genuineness,
        /// Its probability.
        probability: f64,
    }
}

crate::mirror::words! {
    /// What kind of device it is, by what becomes of what is written beyond its true size.
    Genuineness mirrors model::Genuineness {
        /// All of it is there.
        Genuine,
        /// Addresses begin anew at a smaller size.
        WrapAround,
        /// What is written beyond the true size is gone.
        Limbo,
        /// Stretches that are there and stretches that are not alternate.
        Chain,
        /// Places all over it do not keep what is written.
        Damaged,
    }
}

/// Addresses of places, by what was found there; each list rises.
#[derive(Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Places {
    /// What was written there.
    pub kept_at_bytes: Vec<u64>,
    /// What was written to another address …
    pub elsewhere_at_bytes: Vec<u64>,
    /// … and to which, in the same order.
    pub elsewhere_from_bytes: Vec<u64>,
    /// The same byte throughout …
    pub uniform_at_bytes: Vec<u64>,
    /// … and which, in the same order.
    pub uniform_value: Vec<u8>,
    /// Something else.
    pub other_at_bytes: Vec<u64>,
    /// The write had failed.
    pub write_failed_at_bytes: Vec<u64>,
    /// The read failed.
    pub read_failed_at_bytes: Vec<u64>,
}

impl Mirror<Vec<model::Place>> for Places {
    fn from_model(model: &Vec<model::Place>) -> Places {
        let mut places = Places::default();
        for model::Place { at, found } in model {
            let list = match found {
                model::Found::Kept => &mut places.kept_at_bytes,
                model::Found::Elsewhere(from) => {
                    places.elsewhere_from_bytes.push(from.get());
                    &mut places.elsewhere_at_bytes
                }
                model::Found::Uniform(byte) => {
                    places.uniform_value.push(*byte);
                    &mut places.uniform_at_bytes
                }
                model::Found::Other => &mut places.other_at_bytes,
                model::Found::WriteFailed => &mut places.write_failed_at_bytes,
                model::Found::ReadFailed => &mut places.read_failed_at_bytes,
            };
            list.push(at.get());
        }
        places
    }

    fn into_model(self) -> Result<Vec<model::Place>, RecordError> {
        let pairs = [
            (self.elsewhere_at_bytes.len(), self.elsewhere_from_bytes.len()),
            (self.uniform_at_bytes.len(), self.uniform_value.len()),
        ];
        if pairs.iter().any(|(one, other)| one != other) {
            return Err(RecordError::contradiction("places", "as many places as what was found there"));
        }
        let all = |places: Vec<u64>, found: model::Found| {
            places.into_iter().map(move |at| model::Place { at: Bytes(at), found })
        };
        let elsewhere = self.elsewhere_at_bytes.into_iter().zip(self.elsewhere_from_bytes);
        let uniform = self.uniform_at_bytes.into_iter().zip(self.uniform_value);
        let mut places: Vec<model::Place> = all(self.kept_at_bytes, model::Found::Kept)
            .chain(
                elsewhere.map(|(at, from)| model::Place { at: Bytes(at), found: model::Found::Elsewhere(Bytes(from)) }),
            )
            .chain(uniform.map(|(at, byte)| model::Place { at: Bytes(at), found: model::Found::Uniform(byte) }))
            .chain(all(self.other_at_bytes, model::Found::Other))
            .chain(all(self.write_failed_at_bytes, model::Found::WriteFailed))
            .chain(all(self.read_failed_at_bytes, model::Found::ReadFailed))
            .collect();
        places.sort_by_key(|place| place.at);
        Ok(places)
    }
}

/// A stretch of the device and what it holds.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct HeldRun {
    /// Its address.
    pub at_bytes: u64,
    /// Its length.
    pub length_bytes: u64,
    /// What it holds.
    pub holds: FoundWord,
    /// The address that its first byte was written to; null but for `elsewhere`.
    pub from_bytes: Option<u64>,
    /// The byte that it holds throughout; null but for `uniform`.
    pub value: Option<u8>,
}

/// What a stretch holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FoundWord {
    /// What was written there.
    Kept,
    /// What was written to another address.
    Elsewhere,
    /// The same byte throughout.
    Uniform,
    /// Something else.
    Other,
    /// The write had failed.
    WriteFailed,
    /// The read failed.
    ReadFailed,
}

impl Mirror<model::Run> for HeldRun {
    fn from_model(model: &model::Run) -> HeldRun {
        let (holds, from, value) = match model.found {
            model::Found::Kept => (FoundWord::Kept, None, None),
            model::Found::Elsewhere(from) => (FoundWord::Elsewhere, Some(from.get()), None),
            model::Found::Uniform(byte) => (FoundWord::Uniform, None, Some(byte)),
            model::Found::Other => (FoundWord::Other, None, None),
            model::Found::WriteFailed => (FoundWord::WriteFailed, None, None),
            model::Found::ReadFailed => (FoundWord::ReadFailed, None, None),
        };
        HeldRun { at_bytes: model.at.get(), length_bytes: model.length.get(), holds, from_bytes: from, value }
    }

    fn into_model(self) -> Result<model::Run, RecordError> {
        let found = match (self.holds, self.from_bytes, self.value) {
            (FoundWord::Kept, None, None) => model::Found::Kept,
            (FoundWord::Elsewhere, Some(from), None) => model::Found::Elsewhere(Bytes(from)),
            (FoundWord::Uniform, None, Some(byte)) => model::Found::Uniform(byte),
            (FoundWord::Other, None, None) => model::Found::Other,
            (FoundWord::WriteFailed, None, None) => model::Found::WriteFailed,
            (FoundWord::ReadFailed, None, None) => model::Found::ReadFailed,
            _ => return Err(RecordError::contradiction("holds", "its details are of another kind")),
        };
        Ok(model::Run { at: Bytes(self.at_bytes), length: Bytes(self.length_bytes), found })
    }
}
