//! Figures beside their targets, in every form: what the commands of `fleet` that score something come to.

use crate::args::{ReportFormat, ScoredArgs, ScoringArgs};
use crate::commands::report as reports;
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use crate::{envelope, interrupt};
use anyhow::anyhow;
use flashscope_fleet::DrawError;
use flashscope_fleet::differences::{NOISY, QUIET, Row, Target};
use flashscope_host::Output;
use flashscope_report::sheet;
use flashscope_report::xlsx::{Cell, Sheet};
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Cases that are drawn and run together: progress is shown, and a wish to stop heard, between two lots.
pub(super) const LOT: u32 = 24;
/// Over fewer cases a missed target may be chance.
const FEW: usize = 300;

/// What is scored, and where it goes.
pub(super) struct Scoring {
    /// `fleet compare`.
    command: &'static str,
    title: String,
    /// Seed, counts and the like, as the record has them.
    plan: Value,
    json: bool,
    outputs: Vec<Output>,
}

/// Figures of one kind of cases.
pub(super) struct Kind {
    /// Which.
    pub(super) of: String,
    /// How many cases.
    pub(super) cases: usize,
    pub(super) rows: Vec<Row>,
}

/// The scatters at which cases are run.
pub(super) fn scatters(args: &ScoringArgs) -> Vec<f64> {
    args.scatter.map_or(vec![QUIET, NOISY], |scatter| vec![scatter])
}

/// Runs `count` cases in lots; those that were done until a wish to stop.
pub(super) fn in_lots<T>(
    count: u32,
    bar: &ProgressBar,
    mut run: impl FnMut(u32, u32) -> Result<Vec<T>, DrawError>,
) -> Result<Vec<T>, Failure> {
    let mut done = Vec::new();
    for first in (0..count).step_by(LOT as usize) {
        if interrupt::asked() {
            break;
        }
        let lot = LOT.min(count - first);
        done.extend(run(first, lot).map_err(anyhow::Error::from)?);
        bar.inc(u64::from(lot));
    }
    Ok(done)
}

impl Scoring {
    /// With its files, which are looked at before anything is run.
    pub(super) fn of(command: &'static str, title: String, plan: Value, args: &ScoredArgs) -> Result<Scoring, Failure> {
        let mut door = output::door(args.replace.force, None::<PathBuf>);
        let outputs = reports::outputs(&mut door, None, args.output.as_ref())?;
        Ok(Scoring { command, title, plan, json: args.json, outputs })
    }

    /// Shows and keeps what was found.
    pub(super) fn finish(&self, found: &[Kind]) -> Result<Outcome, Failure> {
        if found.is_empty() {
            return Err(Failure::Cannot(anyhow!("nothing was done before the stop")));
        }
        let mut saved = Saved::default();
        for output in &self.outputs {
            saved.add(output, "Report", self.form(found, output.path()));
        }
        let text = if self.json { self.record(found) } else { self.text(found) };
        saved.after(output::data(&text))?;
        match interrupt::asked() {
            true => Err(Failure::Cannot(anyhow!("interrupted; what is shown is over the cases that were done"))),
            false => Ok(Outcome::Done),
        }
    }

    fn form(&self, found: &[Kind], path: &Path) -> Result<Vec<u8>, Failure> {
        let sheets: Vec<Sheet> = found.iter().map(sheet_of).collect();
        Ok(match reports::format_of(path, ReportFormat::Json)? {
            ReportFormat::Json => self.record(found).into_bytes(),
            ReportFormat::Html => {
                sheet::page(&format!("flashscope {}", self.command), &self.title, &sheets).into_bytes()
            }
            ReportFormat::Markdown => flashscope_report::signed(&sheet::markdown(&self.title, &sheets)).into_bytes(),
            ReportFormat::Text => flashscope_report::signed(&self.text(found)).into_bytes(),
            ReportFormat::Csv => sheets.iter().map(sheet::csv).collect::<Vec<_>>().join("\n").into_bytes(),
            ReportFormat::Xlsx => reports::workbook(&sheets)?,
        })
    }

    fn text(&self, found: &[Kind]) -> String {
        let mut text = format!("{}\n", self.title);
        for Kind { of, cases, rows } in found {
            text.push_str(&format!("\n{of}: {cases}\n"));
            for row in rows {
                let word = word(row, *cases);
                text.push_str(&format!("  {word:<13} {}: {} {}\n", row.what, row.found(), row.wanted()));
            }
        }
        text
    }

    fn record(&self, found: &[Kind]) -> String {
        let row = |row: &Row| -> Value {
            let share = row.share.map(|share| json!({ "count": share.count, "all": share.all }));
            json!({ "figure": row.what, "target": row.wanted(), "value": row.value, "share": share, "met": row.is_met() })
        };
        let kinds = found.iter().map(|kind| {
            let figures: Vec<Value> = kind.rows.iter().map(row).collect();
            json!({ "of": kind.of, "cases": kind.cases, "figures": figures })
        });
        let whole = json!({
            "schema": format!("flashscope.{}/1", self.command.replace(' ', "-")),
            "tool": envelope::tool().version,
            "plan": self.plan,
            "kinds": kinds.collect::<Vec<Value>>(),
        });
        format!("{whole:#}\n")
    }
}

fn sheet_of(kind: &Kind) -> Sheet {
    let row = |row: &Row| -> Vec<Cell> {
        vec![row.what.as_str().into(), row.wanted().into(), row.found().into(), word(row, kind.cases).into()]
    };
    let headings = ["figure", "target", "found", "verdict"].map(str::to_owned);
    Sheet::new(format!("{}: {}", kind.of, kind.cases), headings.into(), kind.rows.iter().map(row).collect())
}

fn word(row: &Row, cases: usize) -> &'static str {
    match (row.is_met(), row.target) {
        (Some(true), _) => "met",
        (Some(false), _) if cases < FEW => "too few cases",
        (Some(false), _) => "MISSED",
        (None, Target::Beside) => "beside",
        (None, _) => "no case",
    }
}
