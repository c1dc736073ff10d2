//! The range of every number of a record, checked once, before anything is made of the record.
//!
//! The names of a record's fields end in their unit, so the unit decides: no list of fields has to be kept beside the
//! formats. The limits are far from anything that is measured, and near enough that sums and products of a whole record
//! fit 64 bits.

use crate::RecordError;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Ten years in nanoseconds: a run, or a moment in it.
const LONGEST_TIME: f64 = 3652.5 * 24.0 * 3600.0 * 1e9;
/// Ten days in nanoseconds: one of many in a list, which are added up.
const LONGEST_OF_MANY: f64 = 10.0 * 24.0 * 3600.0 * 1e9;
/// 8 PiB, as for every size that is typed.
const MOST_BYTES: f64 = (1u64 << 53) as f64;
/// Bytes per second, or requests per second: a petabyte.
const HIGHEST_RATE: f64 = 1e15;
/// Whatever is counted.
const MOST: f64 = (1u64 << 48) as f64;

/// The largest number, of either sign, that a field of this name holds, and how that is said; no limit for names that
/// promise none, as those of seeds and fingerprints.
fn limit(name: &str) -> Option<(f64, &'static str)> {
    let unit = |unit: &str| name.ends_with(unit) || name.contains(&format!("{unit}_"));
    Some(match name {
        _ if name == "seed" || name.ends_with("_seed") => return None,
        // A kernel's counters are shown as they are; they run since the machine does, and may wrap.
        "before" | "after" => return None,
        _ if unit("_per_s") => (HIGHEST_RATE, "1e15 per second"),
        _ if unit("_ns") => (LONGEST_TIME, "ten years"),
        _ if unit("bytes") => (MOST_BYTES, "8 PiB"),
        _ => (MOST, "2^48"),
    })
}

/// Checks every number of a JSON text, which is not read in any other way.
///
/// # Errors
/// Names the first number that is out of its range by its path, or where the text is no JSON.
pub(crate) fn check(text: &str) -> Result<(), RecordError> {
    walk(&mut serde_json::Deserializer::from_str(text))
}

/// The same of JSON that is a value already.
pub(crate) fn check_value(value: &serde_json::Value) -> Result<(), RecordError> {
    walk(value)
}

fn walk<'de>(json: impl Deserializer<'de, Error = serde_json::Error>) -> Result<(), RecordError> {
    let mut path = Path::default();
    let checked = Walk { path: &mut path, limit: limit("") }.deserialize(json);
    checked.map_err(|error| match path.beyond.take() {
        Some(what) => RecordError::Range { field: path.to_string(), what },
        None => RecordError::from_parser(&error),
    })
}

/// Where in the record the walk is, and what it found there.
#[derive(Default)]
struct Path {
    steps: Vec<Step>,
    beyond: Option<String>,
}

enum Step {
    Field(String),
    Item(usize),
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().enumerate() {
            match step {
                Step::Field(name) if at == 0 => write!(f, "{name}")?,
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Item(number) => write!(f, "[{number}]")?,
            }
        }
        Ok(())
    }
}

/// Walks one value. An item of a list is what the list's name says.
struct Walk<'p> {
    path: &'p mut Path,
    limit: Option<(f64, &'static str)>,
}

impl Walk<'_> {
    fn number<E: Error>(self, number: f64, text: impl fmt::Display) -> Result<(), E> {
        match self.limit {
            Some((limit, said)) if number.abs() > limit => {
                self.path.beyond = Some(format!("{text} is beyond {said}"));
                Err(E::custom("out of range"))
            }
            _ => Ok(()),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "any value")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.number(number as f64, number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.number(number as f64, number)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.number(number, format_args!("{number:e}"))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.path.steps.push(Step::Item(0));
        let limit = self.limit.map(|limit| if limit.0 == LONGEST_TIME { (LONGEST_OF_MANY, "ten days") } else { limit });
        while items.next_element_seed(Walk { path: self.path, limit })?.is_some() {
            if let Some(Step::Item(number)) = self.path.steps.last_mut() {
                *number += 1;
            }
        }
        self.path.steps.pop();
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            let limit = limit(&name);
            self.path.steps.push(Step::Field(name));
            fields.next_value_seed(Walk { path: self.path, limit })?;
            self.path.steps.pop();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_number_beyond_its_unit_is_named_by_its_path() {
        let check = |text: &str, expect: Result<(), &str>| {
            let said =
                super::check(text).map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned());
            assert_eq!(said, expect.map_err(str::to_owned), "{text}");
        };
        check(r#"{"a": [{"time_ns": 5}], "seed": 18446744073709551615, "x": null, "y": "z", "w": true}"#, Ok(()));
        check(
            r#"{"runs": [{"time_ns": 1}, {"time_ns": 18446744073709551615}]}"#,
            Err("runs[1].time_ns is out of its range: 18446744073709551615 is beyond ten years"),
        );
        check(r#"{"time_ns": [1, 2, -9e14]}"#, Err("time_ns[2] is out of its range: -9e14 is beyond ten days"));
        check(r#"{"device": {"capacity_bytes": 9007199254740993}}"#, Ok(()));
        check(
            r#"{"capacity_bytes": 9007199254740994}"#,
            Err("capacity_bytes is out of its range: 9007199254740994 is beyond 8 PiB"),
        );
        check(
            r#"{"bytes_per_s_mean": 1e300}"#,
            Err("bytes_per_s_mean is out of its range: 1e300 is beyond 1e15 per second"),
        );
        check(r#"{"count": 281474976710657}"#, Err("count is out of its range: 281474976710657 is beyond 2^48"));
    }
}
