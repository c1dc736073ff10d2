//! Reading sizes and times from model files, where they are written with their unit (`"4MiB"`, `"245us"`).

use flashscope_units::{Bytes, Nanos};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use std::fmt::Display;
use std::str::FromStr;
use toml::{Table, Value};

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

/// A section whose `kind` says what the rest of it means. Read by hand, as serde forgets the keys of what is wrong inside an
/// enum that is tagged within.
pub(crate) fn kind_and_rest<'de, D: Deserializer<'de>>(from: D) -> Result<(String, Table), D::Error> {
    let mut rest = Table::deserialize(from)?;
    match rest.remove("kind") {
        Some(Value::String(kind)) => Ok((kind, rest)),
        Some(_) => Err(Error::custom("kind is not a text")),
        None => Err(Error::missing_field("kind")),
    }
}

/// The rest of such a section.
pub(crate) fn section<T: DeserializeOwned, E: Error>(rest: Table) -> Result<T, E> {
    rest.try_into().map_err(E::custom)
}

/// The path of the key that is to blame for an error, and what is wrong with it.
pub(crate) fn blame(error: &toml::de::Error) -> (String, String) {
    let text = error.to_string();
    // A section within a section has been through here as text: every level ends with a line that names its part of the path.
    let part = |line: &str| Some(line.strip_prefix("in `")?.strip_suffix('`')?.to_owned());
    let mut path: Vec<String> = text.lines().filter_map(part).collect();
    path.reverse();
    let what: Vec<&str> = text.lines().filter(|line| !line.is_empty() && part(line).is_none()).collect();
    (path.join("."), what.join("; "))
}

fn parse<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(|error: T::Err| Error::custom(error.to_string().lines().next().unwrap_or_default()))
}
