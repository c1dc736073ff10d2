//! What a run left: whether its record is a whole result, and its hash.

use flashscope_lab::{Command, Entry};
use flashscope_supervisor::IDENTITIES;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::path::Path;

/// A record that is the result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// In hexadecimal digits.
    pub(crate) sha256: String,
}

/// The parts of a record that say whose it is. All of it is read through, so that half a file is none.
#[derive(Deserialize)]
struct Head {
    schema: String,
    kind: String,
    target: String,
    device: Option<Device>,
    /// Of a qualification, those of the reference first.
    #[serde(default)]
    parts: Vec<Device>,
    ended: Ended,
}

#[derive(Deserialize)]
struct Device {
    identity: Option<String>,
}

/// What a part of a fleet says that it is.
const PART: &str = "flashscope.fleet-part/1";

/// What of a part of a fleet says whose it is; as with [`Head`].
#[derive(Deserialize)]
struct PartHead {
    schema: String,
    version: String,
    generator: String,
    first: u32,
    devices: Vec<PartDevice>,
}

#[derive(Deserialize)]
struct PartDevice {
    index: u32,
}

#[derive(Deserialize)]
struct Ended {
    how: String,
}

/// The result in a run's folder; why there is none, where it has none.
pub(crate) fn look(record: &Path, entry: &Entry, simulated: bool) -> Result<Found, String> {
    let bytes = std::fs::read(record).map_err(|_| "it left no record".to_owned())?;
    judge(&bytes, &entry.run.words, &entry.identity, simulated).map_err(|why| match why {
        NoResult::Stuck => last_words(record.parent().unwrap_or(Path::new(""))),
        other => other.to_string(),
    })?;
    Ok(Found { sha256: sha256(&bytes) })
}

/// Why bytes are no result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoResult {
    /// A qualification could not go on, and the same words go on with what is kept; the worker has said why.
    Stuck,
    /// They are not what was asked for.
    Other(String),
}

impl std::fmt::Display for NoResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoResult::Stuck => write!(f, "it could not go on"),
            NoResult::Other(why) => write!(f, "{why}"),
        }
    }
}

/// Why bytes are not the whole record of a command, which these words begin with, on a device, or on the devices that a run holds
/// against each other, where they are not.
pub(crate) fn judge(bytes: &[u8], words: &[String], identity: &str, simulated: bool) -> Result<(), NoResult> {
    let other = |why: String| Err(NoResult::Other(why));
    let command = words.first().map_or("", String::as_str);
    if command == Command::Fleet.word() {
        return judge_part(bytes, words, identity).map_err(NoResult::Other);
    }
    let head: Head =
        serde_json::from_slice(bytes).map_err(|_| NoResult::Other("its record is not whole".to_owned()))?;
    let qualifies = command == Command::Qualify.word();
    let kind = if qualifies { "qualification" } else { command };
    if !head.schema.starts_with("flashscope.record/") || head.kind != kind {
        return other(format!("its record is not one of {command}"));
    }
    // The path of a device may be another one today; what it says of itself is what counts.
    let is_it = match simulated {
        _ if qualifies => {
            head.parts.iter().map(|part| part.identity.as_deref()).eq(identity.split(IDENTITIES).map(Some))
        }
        true => head.target == identity,
        false => head.device.and_then(|device| device.identity).is_none_or(|told| told == identity),
    };
    if !is_it {
        return other("another device answered".to_owned());
    }
    match head.ended.how.as_str() {
        "failing" if qualifies => Err(NoResult::Stuck),
        "complete" | "budget_spent" | "failing" | "stopped" => Ok(()),
        how => other(format!("it ended early ({how})")),
    }
}

/// Why bytes are not what came of some devices of a fleet, all of them.
fn judge_part(bytes: &[u8], words: &[String], identity: &str) -> Result<(), String> {
    let head: PartHead = serde_json::from_slice(bytes).map_err(|_| "its record is not whole".to_owned())?;
    if head.schema != PART {
        return Err("its record is none of a fleet".to_owned());
    }
    if identity != format!("fleet:{}", head.version) {
        return Err(format!("version {} answered, and {identity} was asked", head.version));
    }
    let asked = |name: &str| words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let (first, devices) = (head.first.to_string(), head.devices.len().to_string());
    let is_it = asked("--first") == Some(&first)
        && asked("--devices") == Some(&devices)
        && asked("--generator") == Some(&head.generator)
        && head.devices.iter().zip(head.first..).all(|(device, number)| device.index == number);
    if is_it { Ok(()) } else { Err("other devices answered".to_owned()) }
}

/// The hash of bytes, in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The last thing that a worker said, for whoever asks why it failed.
pub(crate) fn last_words(folder: &Path) -> String {
    let said = std::fs::read(folder.join("stderr.txt")).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let from = lines.iter().rposition(|line| line.starts_with("error: ")).unwrap_or(lines.len().saturating_sub(1));
    lines[from.min(lines.len())..].join("; ").trim_start_matches("error: ").chars().take(500).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_fleet_is_that_of_the_range_and_the_version_that_were_asked_for() {
        let words = ["fleet", "--devices=2", "--first=7", "--generator=wide"].map(str::to_owned);
        let part = r#"{"schema":"flashscope.fleet-part/1","version":"1.0","generator":"wide","first":7,
                      "devices":[{"index":7},{"index":8}]}"#;
        let judged = |text: &str| judge(text.as_bytes(), &words, "fleet:1.0", true).map_err(|why| why.to_string());
        assert_eq!(judged(part), Ok(()));
        for (from, to, why) in [
            ("/1\"", "/2\"", "none of a fleet"),
            ("1.0", "1.1", "version 1.1 answered"),
            ("wide", "field", "other devices"),
            ("\"first\":7", "\"first\":6", "other devices"),
            ("{\"index\":7},", "", "other devices"),
            ("\"index\":8", "\"index\":9", "other devices"),
            ("]}", "]", "not whole"),
        ] {
            let told = judged(&part.replace(from, to)).expect_err(to);
            assert!(told.contains(why), "{to}: {told}");
        }
    }
}
