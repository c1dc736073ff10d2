//! `history trend`: a figure over time, and where its level changed.

mod text;

use super::filter;
use crate::args::Trend as Asked;
use anyhow::{Result, anyhow};
use flashscope_console as console;
use flashscope_store::{Access, Store, Trend};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(file: &Path, asked: &Asked) -> Result<ExitCode> {
    let store = Store::open(file, Access::Read)?;
    let figures = store.figures()?;
    let Some(name) = &asked.figure else {
        let listed = figures.iter().map(
            |figure| json!({ "figure": figure.metric.name, "unit": figure.metric.unit, "records": figure.records }),
        );
        match asked.json {
            true => console::bytes(format!("{:#}\n", Value::Array(listed.collect())).as_bytes())?,
            false => console::text(&text::figures(&figures))?,
        }
        return Ok(ExitCode::SUCCESS);
    };
    if figures.iter().all(|figure| figure.metric.name != *name) {
        return Err(anyhow!(
            "no record has a figure called '{name}'\nhint: `flashscope history trend` without a name lists what there is"
        ));
    }
    let series = store.series(name, &filter(&store, &asked.meant)?)?;
    let trends: Vec<Trend> = series.into_iter().map(Trend::of).collect();
    match asked.json {
        true => {
            let all = Value::Array(trends.iter().map(|trend| trend.json(true)).collect());
            console::bytes(format!("{all:#}\n").as_bytes())?;
        }
        false => console::text(&text::page(&trends, asked.all))?,
    }
    Ok(ExitCode::SUCCESS)
}
