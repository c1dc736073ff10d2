//! `history list`: what is kept, one line each.

use super::filter;
use crate::args::List;
use anyhow::Result;
use flashscope_console as console;
use flashscope_report::foreign;
use flashscope_store::{Access, Entry, Filter, Store};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// Letters of a device's name that are shown; all of it is in the JSON.
const DEVICE: usize = 24;
/// Letters of a command, so that a line fits 80 columns.
const COMMAND: usize = 25;

pub(crate) fn run(file: &Path, list: &List) -> Result<ExitCode> {
    let store = Store::open(file, Access::Read)?;
    let filter = Filter { limit: Some(list.limit), ..filter(&store, &list.meant)? };
    let entries = store.list(&filter)?;
    if list.json {
        let all = Value::Array(entries.iter().map(json).collect());
        console::bytes(format!("{all:#}\n").as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = table(&entries);
    if entries.len() == list.limit as usize && list.limit > 0 {
        let _ = writeln!(text, "the newest {}; --limit N shows more", list.limit);
    }
    console::text(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn json(entry: &Entry) -> Value {
    json!({
        "id": entry.id, "at": entry.at, "measured": entry.measured, "kind": entry.kind, "command": entry.command,
        "target": entry.target, "device": entry.device, "part": entry.part, "version": entry.version,
        "record_bytes": entry.bytes,
    })
}

/// A line each, with a heading.
pub(super) fn table(entries: &[Entry]) -> String {
    if entries.is_empty() {
        return "no record matches: `flashscope history list` without conditions shows all that are kept\n".to_owned();
    }
    let mut text = format!("{:>6}  {:16}  {DEVICE_HEAD:DEVICE$}  command\n", "id", "when (UTC)");
    for entry in entries {
        let at = entry.at.get(..16).unwrap_or(&entry.at).replace('T', " ");
        let (device, command) = (short(&entry.device, DEVICE), short(&entry.command, COMMAND));
        let _ = writeln!(text, "{:>6}  {at}  {device:DEVICE$}  {command}", entry.id);
    }
    text
}

const DEVICE_HEAD: &str = "device";

/// A name of at most this number of letters, within a line.
fn short(text: &str, most: usize) -> String {
    let text = foreign::line(text);
    match text.chars().nth(most) {
        None => text.into_owned(),
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_by_letters_and_do_no_harm() {
        assert_eq!(short("SD08G", 8), "SD08G");
        assert_eq!(short("ÄÖÜäöüßé", 8), "ÄÖÜäöüßé");
        assert_eq!(short("ÄÖÜäöüßéà", 8), "ÄÖÜäöüß…");
        assert!(!short("a\nb\u{1b}[2J", 20).contains(['\n', '\u{1b}']));
    }
}
