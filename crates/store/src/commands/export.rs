//! `history export`: figures as a table for other programs.

use super::filter;
use crate::args::Export;
use anyhow::{Context, Result};
use flashscope_console as console;
use flashscope_host::{Outputs, SysRoot};
use flashscope_store::{Access, Store};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(file: &Path, export: &Export, quiet: bool) -> Result<ExitCode> {
    let store = Store::open(file, Access::Read)?;
    let filter = filter(&store, &export.meant)?;
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
