//! `history trend`: a figure over time, and where its level changed.

mod text;

use super::filter;
use crate::args::Trend as Asked;
use anyhow::{Result, anyhow};
use flashscope_console as console;
use flashscope_model::comparison::Better;
use flashscope_store::{Access, CONFIDENCE, Store, Trend};
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
            let all = Value::Array(trends.iter().map(json).collect());
            console::bytes(format!("{all:#}\n").as_bytes())?;
        }
        false => console::text(&text::page(&trends, asked.all))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn json(trend: &Trend) -> Value {
    let series = &trend.series;
    let point = |at: usize| json!({ "record": series.points[at].record, "at": series.points[at].at });
    let marks = trend.marks.as_ref().map(|marks| {
        let of = |mark: &flashscope_store::Mark| {
            json!({
                "first": point(mark.at), "earliest": point(mark.earliest), "latest": point(mark.latest),
                "ratio": mark.ratio, "ratio_low": mark.low, "ratio_high": mark.high,
                "before": mark.levels[0], "after": mark.levels[1], "better": mark.is_better,
            })
        };
        marks.iter().map(of).collect::<Vec<_>>()
    });
    let points = series
        .points
        .iter()
        .map(|point| json!({ "record": point.record, "at": point.at, "value": point.value, "spread": point.spread }));
    json!({
        "figure": series.metric.name, "unit": series.metric.unit,
        "better": if series.metric.better == Better::Higher { "higher" } else { "lower" },
        "part": series.part, "device": series.device, "setup": series.setup.lines().collect::<Vec<_>>(),
        "points": points.collect::<Vec<_>>(), "left_out": trend.left_out,
        "confidence": CONFIDENCE, "scatter_ratio": trend.scatter, "correlation": trend.correlation, "changes": marks,
    })
}
