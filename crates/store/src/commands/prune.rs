//! `history prune`: records that are no longer wanted go, once somebody has seen which.

use super::{filter, list};
use crate::args::Prune;
use anyhow::Result;
use flashscope_console as console;
use flashscope_store::{Access, Filter, Store};
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// Records that are named before the rest is only counted.
const NAMED: usize = 20;

pub(crate) fn run(file: &Path, prune: &Prune, quiet: bool) -> Result<ExitCode> {
    let mut store = Store::open(file, Access::Read)?;
    let before = prune.which.before.as_deref().map(|text| store.time(text)).transpose()?;
    let filter = Filter { before, skip: prune.which.keep.unwrap_or(0), ..filter(&store, &prune.meant)? };
    let gone = store.list(&filter)?;
    let ids: Vec<i64> = gone.iter().map(|entry| entry.id).collect();
    if prune.yes && !ids.is_empty() {
        store.remove(&ids)?;
    }
    if prune.json {
        let said = json!({ "records": ids, "removed": prune.yes });
        console::bytes(format!("{said:#}\n").as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    if ids.is_empty() {
        console::text("no record matches: `flashscope history list` without conditions shows all that are kept\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let records = if ids.len() == 1 { "1 record".to_owned() } else { format!("{} records", ids.len()) };
    if prune.yes {
        if !quiet {
            console::say(&format!("{records} removed"));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = list::table(&gone[..gone.len().min(NAMED)]);
    if gone.len() > NAMED {
        text.push_str(&format!("   and {} older ones\n", gone.len() - NAMED));
    }
    console::text(&format!("{text}{records} would go; nothing was removed (--yes removes them)\n"))?;
    Ok(ExitCode::SUCCESS)
}
