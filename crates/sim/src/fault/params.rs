//! `[fault]` in a model file. Keys that are left out are as `defaults.toml` has them, where nothing is wrong.

use super::places::Places;
use crate::model::Model;
use crate::range::{
    BLOCK, BLOCK_OR_NONE, CAPACITY, Inner, MOMENT, PART, PAUSE, REQUEST, SHARE, Section, Within, ranges,
};
use crate::text;
use flashscope_units::{Bytes, Instant, Nanos};
use serde::{Deserialize, Deserializer, de::Error};
use std::fmt::Display;
use std::str::FromStr;
use toml::Table;

/// Every key with its default.
const DEFAULTS: &str = include_str!("defaults.toml");

/// The section in a model's table.
pub(crate) const SECTION: &str = "fault";

/// What is wrong with a device.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FaultParams {
    pub(crate) fake: FakeKind,
    /// Bytes that are there; absent: all of them.
    #[serde(deserialize_with = "unless_all")]
    pub(crate) real_capacity: Option<Bytes>,
    #[serde(deserialize_with = "unless_none")]
    pub(crate) wrap: Option<Bytes>,
    pub(crate) beyond: Beyond,
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) grain: Bytes,
    pub(crate) damaged: Places,
    pub(crate) damage: Damage,
    pub(crate) slow: Places,
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) slow_by: Nanos,
    pub(crate) failing: Places,
    pub(crate) fails: Fails,
    pub(crate) hanging: Places,
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) hang_timeout: Nanos,
    #[serde(deserialize_with = "unless_never")]
    pub(crate) vanish_after: Option<u64>,
    #[serde(deserialize_with = "at_unless_never")]
    pub(crate) vanish_at: Option<Instant>,
    #[serde(deserialize_with = "unless_never")]
    pub(crate) reset_after: Option<u64>,
    #[serde(deserialize_with = "at_unless_never")]
    pub(crate) reset_at: Option<Instant>,
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) reset_pause: Nanos,
    #[serde(deserialize_with = "unless_never")]
    pub(crate) power_cut_after: Option<u64>,
    #[serde(deserialize_with = "at_unless_never")]
    pub(crate) power_cut_at: Option<Instant>,
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) start_up: Nanos,
    pub(crate) write_cache: CacheName,
    #[serde(deserialize_with = "unless_never")]
    pub(crate) drain_after: Option<Nanos>,
    pub(crate) lying_flush: bool,
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) late_loss: Nanos,
    pub(crate) torn: bool,
    pub(crate) shorn: bool,
    pub(crate) reordered: bool,
    pub(crate) lost: f64,
    pub(crate) misdirected: f64,
    pub(crate) neighbours: f64,
    pub(crate) rollback: f64,
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) rollback_by: Nanos,
    pub(crate) slow_start: f64,
    #[serde(deserialize_with = "text::nanos")]
    pub(crate) slow_start_by: Nanos,
    pub(crate) shrink: f64,
    #[serde(deserialize_with = "text::bytes")]
    pub(crate) shrunk_to: Bytes,
    pub(crate) dead: f64,
}

ranges!(FaultParams {
    fake,
    real_capacity: CAPACITY,
    wrap: CAPACITY,
    beyond,
    grain: BLOCK,
    damaged,
    damage,
    slow,
    slow_by: PAUSE,
    failing,
    fails,
    hanging,
    hang_timeout: PAUSE,
    vanish_after: REQUEST,
    vanish_at: MOMENT,
    reset_after: REQUEST,
    reset_at: MOMENT,
    reset_pause: PAUSE,
    power_cut_after: REQUEST,
    power_cut_at: MOMENT,
    start_up: PAUSE,
    write_cache: Inner,
    drain_after: PAUSE,
    lying_flush,
    late_loss: PAUSE,
    torn,
    shorn,
    reordered,
    lost: SHARE,
    misdirected: SHARE,
    neighbours: SHARE,
    rollback: SHARE,
    rollback_by: PAUSE,
    slow_start: SHARE,
    slow_start_by: PAUSE,
    shrink: SHARE,
    shrunk_to: PART,
    dead: SHARE,
});

/// How a device lies about its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FakeKind {
    /// It does not.
    Genuine,
    /// Addresses begin anew at the real size: later writes overwrite earlier ones.
    WrapAround,
    /// What is written beyond the real size is gone.
    Limbo,
    /// Addresses begin anew somewhere beyond the real size, so that stretches that are there and stretches that are not alternate.
    Chain,
    /// All of it is there, but some of it does not keep what is written.
    Damaged,
}

/// What is read where nothing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Beyond {
    Zeros,
    Garbage,
}

/// What a damaged place does to data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Damage {
    Garbage,
    Lose,
}

/// Which requests fail at a failing place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Fails {
    Reads,
    Writes,
    Both,
}

/// The volatile memory in front of the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheName {
    None,
    Mapping,
    Size(Bytes),
}

impl Section for CacheName {
    fn check(&self, key: &str) -> Result<(), String> {
        match self {
            CacheName::None | CacheName::Mapping => Ok(()),
            CacheName::Size(size) => size.within(&BLOCK_OR_NONE, key),
        }
    }
}

/// The defaults as a table. A test parses them.
pub(crate) fn defaults() -> Table {
    DEFAULTS.parse().unwrap_or_default()
}

/// The path of a fault key that was given without its section.
pub(crate) fn path_of(key: &str) -> Option<String> {
    defaults().contains_key(key).then(|| format!("{SECTION}.{key}"))
}

impl FaultParams {
    /// How it lies, damage included.
    pub(crate) fn kind(&self) -> FakeKind {
        match self.fake {
            FakeKind::Genuine if !self.damaged.is_none() => FakeKind::Damaged,
            kind => kind,
        }
    }

    /// Bytes that are there of a device that says it has `claimed`.
    pub(crate) fn medium(&self, claimed: Bytes) -> Bytes {
        self.real_capacity.unwrap_or(claimed)
    }

    /// Says what does not fit together.
    pub(crate) fn validate(&self, model: &Model) -> Result<(), String> {
        let (claimed, block) = (model.device.capacity, model.device.logical_block);
        self.validate_size(claimed, block)?;
        if self.shrunk_to >= claimed || !self.shrunk_to.is_multiple_of(block) {
            let shrunk = self.shrunk_to;
            return Err(format!("fault.shrunk_to ({shrunk}) must be whole logical blocks, less than {claimed}"));
        }
        if self.grain < block || !self.grain.is_multiple_of(block) {
            return Err(format!("fault.grain ({}) must be whole logical blocks", self.grain));
        }
        if self.lost + self.misdirected > 1.0 {
            return Err("fault.lost and fault.misdirected must not be above 1 together".to_owned());
        }
        if self.lying_flush && super::Cache::of(self, model) == super::Cache::None {
            return Err("fault.lying_flush needs a volatile cache to lie about: add write_cache=4MiB".to_owned());
        }
        Ok(())
    }

    fn validate_size(&self, claimed: Bytes, block: Bytes) -> Result<(), String> {
        let real = self.medium(claimed);
        if real == Bytes::ZERO || real > claimed || !real.is_multiple_of(block) {
            return Err(format!("fault.real_capacity ({real}) must be whole logical blocks, at most {claimed}"));
        }
        let smaller = matches!(self.fake, FakeKind::WrapAround | FakeKind::Limbo | FakeKind::Chain);
        if smaller && real == claimed {
            return Err("fault.fake needs fault.real_capacity below the capacity: add real_capacity=1GiB".to_owned());
        }
        if !smaller && real < claimed {
            return Err("fault.real_capacity needs a fault.fake: wrap-around, limbo or chain".to_owned());
        }
        if self.fake == FakeKind::Damaged && self.damaged.is_none() {
            return Err("fault.fake = damaged needs damaged places: add damaged=0.05 or damaged=64MiB-65MiB".to_owned());
        }
        match (self.fake, self.wrap) {
            (FakeKind::Chain, None) => Err("fault.fake = chain needs fault.wrap: add wrap=2GiB".to_owned()),
            (FakeKind::Chain, Some(wrap)) if wrap <= real || wrap >= claimed => {
                Err(format!("fault.wrap ({wrap}) of a chain must lie between {real} and {claimed}"))
            }
            (FakeKind::WrapAround, Some(wrap)) if wrap > real => {
                Err(format!("fault.wrap ({wrap}) of a wrap-around must be at most {real}"))
            }
            (FakeKind::Chain | FakeKind::WrapAround, Some(wrap))
                if wrap == Bytes::ZERO || !wrap.is_multiple_of(block) =>
            {
                Err(format!("fault.wrap ({wrap}) must be whole logical blocks"))
            }
            (FakeKind::Genuine | FakeKind::Limbo | FakeKind::Damaged, Some(_)) => {
                Err("fault.wrap needs fault.fake = wrap-around or chain".to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl FakeKind {
    /// As it is written in a model file.
    pub fn name(self) -> &'static str {
        match self {
            FakeKind::Genuine => "genuine",
            FakeKind::WrapAround => "wrap-around",
            FakeKind::Limbo => "limbo",
            FakeKind::Chain => "chain",
            FakeKind::Damaged => "damaged",
        }
    }
}

impl<'de> Deserialize<'de> for CacheName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<CacheName, D::Error> {
        Ok(match String::deserialize(from)?.as_str() {
            "none" => CacheName::None,
            "mapping" => CacheName::Mapping,
            size => CacheName::Size(value(size)?),
        })
    }
}

fn unless_all<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Bytes>, D::Error> {
    unless(from, "all")
}

fn unless_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Bytes>, D::Error> {
    unless(from, "none")
}

fn unless_never<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    unless(from, "never")
}

fn at_unless_never<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Instant>, D::Error> {
    Ok(unless::<Nanos, D>(from, "never")?.map(|time| Instant::ORIGIN + time))
}

fn unless<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(from: D, word: &str) -> Result<Option<T>, D::Error> {
    match String::deserialize(from)?.as_str() {
        absent if absent == word => Ok(None),
        text => value(text).map(Some),
    }
}

fn value<T: FromStr<Err: Display>, E: Error>(text: &str) -> Result<T, E> {
    text.parse().map_err(|error: T::Err| E::custom(error.to_string().lines().next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_a_section_in_which_nothing_is_wrong() {
        let params = defaults().try_into::<FaultParams>().expect("defaults.toml is a whole section");
        assert_eq!(params.kind(), FakeKind::Genuine);
        assert_eq!(params.medium(Bytes::gib(1)), Bytes::gib(1));
        for places in [&params.damaged, &params.slow, &params.failing, &params.hanging] {
            assert!(places.is_none());
        }
        assert_eq!((params.vanish_after, params.vanish_at, params.reset_after), (None, None, None));
        assert_eq!((params.reset_at, params.power_cut_after, params.power_cut_at), (None, None, None));
        assert_eq!((params.lost, params.misdirected, params.neighbours, params.rollback), (0.0, 0.0, 0.0, 0.0));
        assert_eq!((params.slow_start, params.shrink, params.dead, params.late_loss), (0.0, 0.0, 0.0, Nanos::ZERO));
        assert!(!params.lying_flush && !params.torn && !params.shorn && !params.reordered);
    }
}
