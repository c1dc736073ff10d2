//! `history import`: the records of a dataset into the history.

use super::progress;
use crate::args::{Import, Place};
use anyhow::Result;
use flashscope_console as console;
use flashscope_store::{Access, Store, import};
use serde_json::json;
use std::process::ExitCode;

pub(crate) fn run(place: &Place, asked: &Import, quiet: bool) -> Result<ExitCode> {
    place.make_folder()?;
    let mut store = Store::open(&place.file, Access::Write)?;
    let done = progress(quiet, |told| import(&mut store, &asked.dataset, told))?;
    for (file, why) in &done.refused {
        console::say(&format!("error: {}: {why}", file.display()));
    }
    if asked.json {
        let refused = done.refused.iter().map(|(file, why)| json!({ "file": file.display().to_string(), "why": why }));
        let refused: Vec<_> = refused.collect();
        let said = json!({ "new": done.new, "already": done.already, "refused": refused });
        console::bytes(format!("{said:#}\n").as_bytes())?;
    } else if !quiet {
        console::say(&format!("{} records are kept anew, {} were there", done.new, done.already));
    }
    if done.refused.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    console::say("hint: all else is kept; export what was refused again from the history that it came from");
    Ok(ExitCode::from(2))
}
