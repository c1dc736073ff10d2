//! `history add`: files and stdin into the history.

use crate::args::{Add, Place};
use anyhow::{Result, anyhow};
use flashscope_console as console;
use flashscope_store::{Access, Kept, Store, StoreError};
use serde_json::json;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Records that go in together: one wait for the disk, and no more lost with a kill than was not yet said to be kept.
const BATCH: usize = 32;

pub(crate) fn run(place: &Place, add: &Add, quiet: bool) -> Result<ExitCode> {
    place.make_folder()?;
    let mut store = Store::open(&place.file, Access::Write)?;
    let mut said = Vec::new();
    let mut failed = 0;
    for files in add.files.chunks(BATCH) {
        for (file, answer) in kept(&mut store, files)? {
            match answer {
                Ok(kept) if add.json => said.push(json!({
                    "file": file.display().to_string(), "id": kept.id(), "new": matches!(kept, Kept::New(_)),
                })),
                Ok(Kept::New(id)) if !quiet => console::say(&format!("kept as {id}: {}", file.display())),
                Ok(Kept::Already(id)) if !quiet => console::say(&format!("there already as {id}: {}", file.display())),
                Ok(_) => {}
                Err(error) => {
                    failed += 1;
                    console::say(&format!("error: {}: {error:#}", file.display()));
                }
            }
        }
    }
    if add.json {
        console::bytes(format!("{:#}\n", serde_json::Value::Array(said)).as_bytes())?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// What came of each file, in order; what cannot be read costs the others nothing.
fn kept<'a>(store: &mut Store, files: &'a [PathBuf]) -> Result<Vec<(&'a Path, Result<Kept>)>> {
    let texts: Vec<Result<String>> = files.iter().map(|file| text(file)).collect();
    let readable: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
    let mut answers = store.add(&readable)?.into_iter();
    let mut next = || answers.next().unwrap_or(Err(StoreError::NotARecord("it was not looked at".to_owned())));
    let of_text = |text: Result<String>| text.and_then(|_| next().map_err(anyhow::Error::from));
    Ok(files.iter().map(PathBuf::as_path).zip(texts.into_iter().map(of_text)).collect())
}

fn text(file: &Path) -> Result<String> {
    let read = || match file.to_str() {
        Some("-") => {
            let mut text = String::new();
            std::io::stdin().lock().read_to_string(&mut text).map(|_| text)
        }
        _ => std::fs::read_to_string(file),
    };
    read().map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidData => anyhow!("it is not text\nhint: name a record that flashscope wrote"),
        std::io::ErrorKind::NotFound => anyhow!("there is no such file\nhint: name a record that flashscope wrote"),
        _ => anyhow!("it cannot be read: {error}\nhint: name a record that flashscope wrote"),
    })
}
