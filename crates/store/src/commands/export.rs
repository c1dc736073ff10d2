//! `history export`: figures as a table for other programs.

use super::{filter, progress};
use crate::args::Export;
use anyhow::{Context, Result};
use flashscope_console as console;
use flashscope_host::{Outputs, SysRoot};
use flashscope_store::{Access, Dataset, Filter, Store};
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(file: &Path, export: &Export, quiet: bool) -> Result<ExitCode> {
    let store = Store::open(file, Access::Read)?;
    let filter = filter(&store, &export.meant)?;
    if let Some(root) = &export.form.dataset {
        return dataset(&store, &filter, root, export.json, quiet);
    }
    let mut door = Outputs::new(export.force, flashscope_report::is_ours);
    door.keep_out(&SysRoot::live(), file);
    let named = export.form.csv.as_ref().or(export.form.parquet.as_ref()).context("no file was named")?;
    if export.form.csv.is_some() && named.as_os_str() == "-" {
        console::bytes(&store.csv(&filter)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let place = door.plan(named)?;
    let content = if export.form.csv.is_some() { store.csv(&filter)? } else { store.parquet(&filter)? };
    place.write(&content)?;
    if !quiet {
        console::say(&format!("written to {}", named.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn dataset(store: &Store, filter: &Filter, root: &Path, json: bool, quiet: bool) -> Result<ExitCode> {
    let mut dataset = Dataset::open(root)?;
    let done = progress(quiet, |told| dataset.export(store, filter, told))?;
    let (new, already, figures, slices) = (done.new, done.already, done.figures, done.slices);
    if json {
        let said = json!({ "new": new, "already": already, "figures": figures, "slices": slices });
        console::bytes(format!("{said:#}\n").as_bytes())?;
    } else if !quiet {
        let root = root.display();
        console::say(&format!("{root}: {new} records with {figures} figures added, {already} were there"));
    }
    Ok(ExitCode::SUCCESS)
}
