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

#[derive(Deserialize)]
struct Ended {
    how: String,
}

/// The result in a run's folder; why there is none, where it has none.
pub(crate) fn look(record: &Path, entry: &Entry, simulated: bool) -> Result<Found, String> {
    let bytes = std::fs::read(record).map_err(|_| "it left no record".to_owned())?;
    let command = entry.run.words.first().map_or("", String::as_str);
    let judged = judge(&bytes, command, &entry.identity, simulated);
    judged.map_err(|why| if why == STUCK { last_words(record.parent().unwrap_or(Path::new(""))) } else { why })?;
    Ok(Found { sha256: sha256(&bytes) })
}

/// A qualification could not go on, and the same words go on with what is kept; the worker has said why.
const STUCK: &str = "it could not go on";

/// Why bytes are not the whole record of a command on a device, or on the devices that a run holds against each other, where they
/// are not.
pub(crate) fn judge(bytes: &[u8], command: &str, identity: &str, simulated: bool) -> Result<(), String> {
    let head: Head = serde_json::from_slice(bytes).map_err(|_| "its record is not whole".to_owned())?;
    let qualifies = command == Command::Qualify.word();
    let kind = if qualifies { "qualification" } else { command };
    if !head.schema.starts_with("flashscope.record/") || head.kind != kind {
        return Err(format!("its record is not one of {command}"));
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
        return Err("another device answered".to_owned());
    }
    match head.ended.how.as_str() {
        "failing" if qualifies => Err(STUCK.to_owned()),
        "complete" | "budget_spent" | "failing" | "stopped" => Ok(()),
        how => Err(format!("it ended early ({how})")),
    }
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
