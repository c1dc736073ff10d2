//! Reading sizes and times from model files, where they are written with their unit (`"4MiB"`, `"245us"`).

use flashscope_units::{Bytes, Nanos};
use serde::{Deserialize, Deserializer, de::Error};
use std::fmt::Display;
use std::str::FromStr;

/// A size with its unit.
pub(crate) fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Bytes, D::Error> {
    parse(from)
}

/// A size with its unit, which may be left out.
pub(crate) fn optional_bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Bytes>, D::Error> {
    bytes(from).map(Some)
}

/// A length of time with its unit.
pub(crate) fn nanos<'de, D: Deserializer<'de>>(from: D) -> Result<Nanos, D::Error> {
    parse(from)
}

/// The same where it may be left out.
pub(crate) fn optional_nanos<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Nanos>, D::Error> {
    nanos(from).map(Some)
}

fn parse<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(|error: T::Err| Error::custom(error.to_string().lines().next().unwrap_or_default()))
}
