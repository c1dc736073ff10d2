//! A fit for programs.

use crate::card::{Origin, Parameter};
use crate::cells::{Cell, Figure};
use crate::findings::{Carried, Fate};
use crate::fit::Fit;
use crate::goodness::{Clause, Errors};
use serde_json::{Value, json};

/// Name and version of the format.
const SCHEMA: &str = "flashscope.twin/1";

/// A fit as JSON: the model file, where each parameter comes from, and every figure beside the simulated one.
pub fn json(fit: &Fit) -> String {
    let goodness = &fit.goodness;
    let tests = goodness.tests.iter().map(|pool| {
        let close = pool.close.as_ref().map(|close| {
            let mut figures = errors(close);
            figures["holds"] = close.hold().into();
            figures
        });
        json!({ "test": pool.test.name(), "all": errors(&pool.all), "clause_a": close })
    });
    let plateaus = goodness.plateaus.iter().map(|plateau| {
        json!({
            "table": plateau.table,
            "level": plateau.level,
            "measured_ns": plateau.measured,
            "simulated_ns": plateau.simulated,
            "holds": plateau.holds(),
        })
    });
    let bands = goodness.bands.iter().map(|band| {
        let mut value = cell(&band.cell);
        value["low"] = band.low.into();
        value["high"] = band.high.into();
        value["replicate_spread"] = band.spread.into();
        value["holds"] = band.holds().into();
        value
    });
    let wrong = goodness
        .wrong
        .iter()
        .map(|wrong| json!({ "model": wrong.what, "farther_ratio": wrong.farther, "rejected": wrong.is_rejected() }));
    let whole = json!({
        "schema": SCHEMA,
        "sources": fit.sources,
        "model_toml": fit.model,
        "parameters": fit.parameters.iter().map(parameter).collect::<Vec<Value>>(),
        "findings": fit.findings.iter().map(finding).collect::<Vec<Value>>(),
        "caution": fit.caution,
        "left_out": fit.left_out,
        "goodness": {
            "within_15_percent_ratio": goodness.within(),
            "tests": tests.collect::<Vec<Value>>(),
            "clause_b": plateaus.collect::<Vec<Value>>(),
            "clause_c": bands.collect::<Vec<Value>>(),
            "clause_d": wrong.collect::<Vec<Value>>(),
            "cells": goodness.cells.iter().map(cell).collect::<Vec<Value>>(),
        },
    });
    format!("{whole:#}\n")
}

fn errors(errors: &Errors) -> Value {
    json!({
        "cells": errors.cells,
        "within_15_percent_ratio": errors.within,
        "median_error_ratio": errors.median,
    })
}

/// What became of a finding: `held`, `not-held` or `unknown`.
fn finding(finding: &Carried) -> Value {
    let (fate, why, path) = match &finding.fate {
        Fate::Held(path) => ("held", None, Some(*path)),
        Fate::NotHeld(why) => ("not-held", Some(why), None),
        Fate::Unknown(why, path) => ("unknown", Some(why), Some(*path)),
    };
    json!({
        "finding": finding.finding.wire(),
        "figure": finding.figure,
        "confidence": finding.confidence,
        "fate": fate,
        "why": why,
        "path": path.filter(|path| !path.is_empty()),
    })
}

fn parameter(parameter: &Parameter) -> Value {
    let (origin, why) = match &parameter.origin {
        Origin::Found(why) => ("found", why),
        Origin::Fitted(why) => ("fitted", why),
        Origin::Default(why) => ("default", why),
    };
    json!({ "path": parameter.path, "value": parameter.value, "origin": origin, "why": why })
}

fn cell(cell: &Cell) -> Value {
    let unit = match cell.figure {
        Figure::Time => "ns",
        Figure::Rate => "bytes_per_s",
    };
    json!({
        "test": cell.test.name(),
        "table": cell.table,
        "run": cell.run,
        "row_bytes": cell.row.get(),
        "column": cell.column,
        "unit": unit,
        "measured": cell.measured,
        "simulated": cell.simulated,
        "requests": cell.operations,
        "clause": Clause::of(cell).letter(),
    })
}
