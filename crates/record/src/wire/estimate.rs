//! Estimates: a figure, or a bound, or the reason why there is neither.
//!
//! The figure itself stands under the name that suits it (`bytes`, `count`, `ratio` …); all else is the
//! same for each kind. A figure of one field has its bounds as plain numbers, one of several fields has
//! them as objects.

use super::{AreaKind, MappingKind, SlcKind};
use crate::RecordError;
use flashscope_model::{Estimate, drive, finding};
use flashscope_units::{ByteRate, Bytes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of estimate: its own struct, that of its alternatives, and the ways from and to the model.
///
/// `split` takes a figure of the model apart into the fields, `join` puts the fields together again,
/// `bound`/`unbound` do the same for `at_least` and `at_most`.
macro_rules! estimate {
    (
        $(#[$doc:meta])* $name:ident, $alternative:ident of $model:ty, bounds $bound:ty
        { $($(#[$field_doc:meta])* $field:ident: $type:ty,)+ }
        split $split:expr, join $join:expr, bound $to_bound:expr, unbound $from_bound:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: Option<$type>,)+
            /// Probability that the figure, or the bound, is right; null where unknown.
            #[schemars(range(min = 0, max = 1))]
            pub confidence: Option<f64>,
            /// The experiment ended too early to see more: the figure is not below this.
            pub at_least: Option<$bound>,
            /// The figure is not above this.
            pub at_most: Option<$bound>,
            /// Other figures with their probabilities, likeliest first.
            pub alternatives: Vec<$alternative>,
            /// One sentence that a person can check against the samples.
            pub evidence: String,
            /// Names of the experiments that it rests on.
            pub method: Vec<String>,
            /// Why there is neither a figure nor a bound; null where there is one.
            pub reason_unknown: Option<String>,
        }

        /// A record of a version that did not look for it.
        impl Default for $name {
            fn default() -> $name {
                $name {
                    $($field: nothing::<$type>(),)+
                    confidence: None,
                    at_least: None,
                    at_most: None,
                    alternatives: Vec::new(),
                    evidence: String::new(),
                    method: Vec::new(),
                    reason_unknown: Some(NOT_LOOKED_FOR.to_owned()),
                }
            }
        }

        /// Another figure and its probability.
        #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
        pub struct $alternative {
            $($(#[$field_doc])* pub $field: $type,)+
            /// Its probability.
            #[schemars(range(min = 0, max = 1))]
            pub confidence: f64,
        }

        impl $name {
            pub(crate) fn from_model(estimate: &Estimate<$model>) -> $name {
                let split: fn($model) -> ($($type,)+) = $split;
                let bound: fn($model) -> $bound = $to_bound;
                let estimate = estimate.clone();
                let alternative = |(figure, confidence): ($model, f64)| {
                    let ($($field,)+) = split(figure);
                    $alternative { $($field,)+ confidence }
                };
                let figure = estimate.value.map(split);
                let ($($field,)+) = match figure {
                    Some(($($field,)+)) => ($(Some($field),)+),
                    None => ($(nothing::<$type>(),)+),
                };
                $name {
                    $($field,)+
                    confidence: estimate.confidence,
                    at_least: estimate.at_least.map(bound),
                    at_most: estimate.at_most.map(bound),
                    alternatives: estimate.alternatives.into_iter().map(alternative).collect(),
                    evidence: estimate.evidence,
                    method: estimate.method.iter().map(|&name| name.to_owned()).collect(),
                    reason_unknown: estimate.reason_unknown,
                }
            }

            pub(crate) fn into_model(self, field: &str) -> Result<Estimate<$model>, RecordError> {
                let join: fn(($($type,)+)) -> $model = $join;
                let unbound: fn($bound) -> $model = $from_bound;
                let value = match ($(self.$field,)+) {
                    ($(Some($field),)+) => Some(join(($($field,)+))),
                    ($(nothing!($field),)+) => None,
                    #[allow(unreachable_patterns, reason = "a figure of one field is whole or absent")]
                    _ => return Err(RecordError::contradiction(field, "some of its figures are null and some are not")),
                };
                let answers = value.is_some() || self.at_least.is_some() || self.at_most.is_some();
                if answers == self.reason_unknown.is_some() {
                    let what = if answers { "a figure, and a reason why it is unknown" } else { "neither a figure, nor a bound, nor a reason" };
                    return Err(RecordError::contradiction(field, what));
                }
                Ok(Estimate {
                    value,
                    confidence: self.confidence,
                    at_least: self.at_least.map(unbound),
                    at_most: self.at_most.map(unbound),
                    alternatives: self
                        .alternatives
                        .into_iter()
                        .map(|other| (join(($(other.$field,)+)), other.confidence))
                        .collect(),
                    evidence: self.evidence,
                    method: self.method.iter().map(|name| method(name)).collect(),
                    reason_unknown: self.reason_unknown,
                })
            }
        }
    };
}

/// The pattern of an absent field, once per field of a macro.
macro_rules! nothing {
    ($field:ident) => {
        None
    };
}

mod memory;

pub use memory::{
    CollectionEstimate, CollectionFigure, FlagEstimate, ReadAheadEstimate, ReadAheadFigure, TimeEstimate,
    WriteBufferEstimate, WriteBufferFigure,
};

estimate! {
    /// An estimated size.
    SizeEstimate, SizeAlternative of Bytes, bounds u64 {
        /// The size.
        bytes: u64,
    }
    split |size| (size.get(),), join |(bytes,)| Bytes(bytes), bound Bytes::get, unbound Bytes
}

estimate! {
    /// An estimated largest size to which something applies.
    UpToEstimate, UpToAlternative of Bytes, bounds u64 {
        /// The largest size to which it applies.
        up_to_bytes: u64,
    }
    split |size| (size.get(),), join |(bytes,)| Bytes(bytes), bound Bytes::get, unbound Bytes
}

estimate! {
    /// An estimated number.
    CountEstimate, CountAlternative of u32, bounds u32 {
        /// The number.
        count: u32,
    }
    split |count| (count,), join |(count,)| count, bound |count| count, unbound |count| count
}

estimate! {
    /// An estimated share.
    RatioEstimate, RatioAlternative of f64, bounds f64 {
        /// The share, 0 to 1.
        ratio: f64,
    }
    split |ratio| (ratio,), join |(ratio,)| ratio, bound |ratio| ratio, unbound |ratio| ratio
}

estimate! {
    /// How much slower random writes are than writes in order, within one unit.
    PenaltyEstimate, PenaltyAlternative of finding::Penalty, bounds PenaltyFigure {
        /// In-order rate over random rate.
        ratio: f64,
        /// The block size at which it was measured.
        at_block_bytes: u64,
        /// The in-order rate.
        in_order_bytes_per_s: f64,
        /// The random rate.
        random_bytes_per_s: f64,
    }
    split |penalty| (penalty.ratio, penalty.block.get(), penalty.in_order.get(), penalty.random.get()),
    join |(ratio, block, in_order, random)| finding::Penalty {
        ratio, block: Bytes(block), in_order: ByteRate(in_order), random: ByteRate(random),
    },
    bound PenaltyFigure::from_model, unbound PenaltyFigure::into_model
}

estimate! {
    /// An area at the start of the device that behaves differently.
    AreaEstimate, AreaAlternative of finding::FastArea, bounds AreaFigure {
        /// Start of the area; with an equal end there is none.
        first_bytes: u64,
        /// End of the area (exclusive).
        end_bytes: u64,
        /// How it differs.
        kind: AreaKind,
        /// Its rate over that of its neighbours at large blocks.
        rate_ratio: f64,
    }
    split |area| (area.first.get(), area.end.get(), area.kind.into(), area.ratio),
    join |(first, end, kind, ratio)| finding::FastArea {
        first: Bytes(first), end: Bytes(end), kind: kind.into(), ratio,
    },
    bound AreaFigure::from_model, unbound AreaFigure::into_model
}

estimate! {
    /// The stretches of an area at the start that are built or handled alike.
    AreaPartsEstimate, AreaPartsAlternative of Vec<finding::AreaPart>, bounds Vec<AreaPart> {
        /// The stretches, in the order of their addresses.
        parts: Vec<AreaPart>,
    }
    split |parts| (AreaPart::all(parts),), join |(parts,)| AreaPart::all_into_model(parts),
    bound AreaPart::all, unbound AreaPart::all_into_model
}

estimate! {
    /// How addresses are mapped.
    MappingEstimate, MappingAlternative of drive::MappingKind, bounds MappingKind {
        /// The kind.
        kind: MappingKind,
    }
    split |kind| (kind.into(),), join |(kind,)| kind.into(), bound Into::into, unbound Into::into
}

estimate! {
    /// A part of the flash that is written with one bit per cell first.
    SlcCacheEstimate, SlcCacheAlternative of drive::SlcCache, bounds SlcCacheFigure {
        /// Data that it takes before the rate falls.
        bytes: u64,
        /// Rate of long writes while it takes them.
        cached_bytes_per_s: f64,
        /// Rate when it is full.
        after_bytes_per_s: f64,
        /// Whether its size depends on how full the device is.
        kind: SlcKind,
    }
    split |cache| (cache.size.get(), cache.cached.get(), cache.after.get(), cache.kind.into()),
    join |(size, cached, after, kind)| drive::SlcCache {
        size: Bytes(size), cached: ByteRate(cached), after: ByteRate(after), kind: kind.into(),
    },
    bound SlcCacheFigure::from_model, unbound SlcCacheFigure::into_model
}

/// An SLC cache as a bound: there is no smaller one, or none at all.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SlcCacheFigure {
    /// Data written without a fall of the rate.
    pub bytes: u64,
    /// Rate of long writes.
    pub cached_bytes_per_s: f64,
    /// The same: no fall was seen.
    pub after_bytes_per_s: f64,
    /// Whether its size depends on how full the device is.
    pub kind: SlcKind,
}

impl SlcCacheFigure {
    fn from_model(cache: drive::SlcCache) -> SlcCacheFigure {
        SlcCacheFigure {
            bytes: cache.size.get(),
            cached_bytes_per_s: cache.cached.get(),
            after_bytes_per_s: cache.after.get(),
            kind: cache.kind.into(),
        }
    }

    fn into_model(self) -> drive::SlcCache {
        drive::SlcCache {
            size: Bytes(self.bytes),
            cached: ByteRate(self.cached_bytes_per_s),
            after: ByteRate(self.after_bytes_per_s),
            kind: self.kind.into(),
        }
    }
}

/// A random-order penalty as a bound.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PenaltyFigure {
    /// In-order rate over random rate.
    pub ratio: f64,
    /// The block size at which it was measured.
    pub at_block_bytes: u64,
    /// The in-order rate.
    pub in_order_bytes_per_s: f64,
    /// The random rate.
    pub random_bytes_per_s: f64,
}

/// An area as a bound.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AreaFigure {
    /// Start of the area.
    pub first_bytes: u64,
    /// End of the area (exclusive).
    pub end_bytes: u64,
    /// How it differs.
    pub kind: AreaKind,
    /// Its rate over that of its neighbours at large blocks.
    pub rate_ratio: f64,
}

/// Units of an area at the start that are built and handled alike, side by side.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AreaPart {
    /// Start of the part.
    pub first_bytes: u64,
    /// End of the part (exclusive).
    pub end_bytes: u64,
    /// Rate of long writes in order over that of units elsewhere; null where not told.
    pub in_order_ratio: Option<f64>,
    /// Rate of small writes at random over that of units elsewhere; null where not told.
    pub small_ratio: Option<f64>,
    /// Whether writes in any order are taken without the copies that they cost elsewhere; null where not told.
    pub by_page: Option<bool>,
}

impl AreaPart {
    fn all(parts: Vec<finding::AreaPart>) -> Vec<AreaPart> {
        let part = |part: finding::AreaPart| AreaPart {
            first_bytes: part.first.get(),
            end_bytes: part.end.get(),
            in_order_ratio: part.in_order,
            small_ratio: part.small,
            by_page: part.by_page,
        };
        parts.into_iter().map(part).collect()
    }

    fn all_into_model(parts: Vec<AreaPart>) -> Vec<finding::AreaPart> {
        let part = |part: AreaPart| finding::AreaPart {
            first: Bytes(part.first_bytes),
            end: Bytes(part.end_bytes),
            in_order: part.in_order_ratio,
            small: part.small_ratio,
            by_page: part.by_page,
        };
        parts.into_iter().map(part).collect()
    }
}

impl PenaltyFigure {
    fn from_model(penalty: finding::Penalty) -> PenaltyFigure {
        PenaltyFigure {
            ratio: penalty.ratio,
            at_block_bytes: penalty.block.get(),
            in_order_bytes_per_s: penalty.in_order.get(),
            random_bytes_per_s: penalty.random.get(),
        }
    }

    fn into_model(self) -> finding::Penalty {
        finding::Penalty {
            ratio: self.ratio,
            block: Bytes(self.at_block_bytes),
            in_order: ByteRate(self.in_order_bytes_per_s),
            random: ByteRate(self.random_bytes_per_s),
        }
    }
}

impl AreaFigure {
    fn from_model(area: finding::FastArea) -> AreaFigure {
        AreaFigure {
            first_bytes: area.first.get(),
            end_bytes: area.end.get(),
            kind: area.kind.into(),
            rate_ratio: area.ratio,
        }
    }

    fn into_model(self) -> finding::FastArea {
        finding::FastArea {
            first: Bytes(self.first_bytes),
            end: Bytes(self.end_bytes),
            kind: self.kind.into(),
            ratio: self.rate_ratio,
        }
    }
}

/// Why a figure is unknown that the record does not have.
pub(crate) const NOT_LOOKED_FOR: &str = "the version that wrote this record did not look for it";

/// An absent field of a given type.
fn nothing<T>() -> Option<T> {
    None
}

const METHODS: [&str; 20] = [
    "floor",
    "survey",
    "align",
    "write-align",
    "boundaries",
    "open-au",
    "open-units",
    "fat",
    "fast-area",
    "scatter",
    "interval",
    "program",
    "throughput",
    "buffer",
    "read-cache",
    "slc-cache",
    "parallel",
    "map-reach",
    "gc",
    "cells",
];

/// The model holds names of methods as constants. One that this version does not know (a later one wrote it) is
/// kept for the life of the process: a few bytes per record that is read.
fn method(name: &str) -> &'static str {
    METHODS.into_iter().find(|known| *known == name).unwrap_or_else(|| name.to_owned().leak())
}
