//! `fleet compare`: how often a comparison is right, on pairs of devices whose true ratio is known.

use crate::args::{FleetCompare as Args, ReportFormat};
use crate::commands::report as reports;
use crate::error::{Failure, Outcome};
use crate::output::{self, Saved};
use crate::{envelope, interrupt};
use anyhow::anyhow;
use flashscope_fleet::differences::{Figures, NOISY, Outcome as Pair, Plan, QUIET, Row, Target, differences, rows};
use flashscope_report::sheet;
use flashscope_report::xlsx::{Cell, Sheet};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Pairs that are drawn and run together: progress is shown, and a wish to stop heard, between two lots.
const LOT: u32 = 24;

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let mut door = output::door(args.replace.force, None::<PathBuf>);
    let outputs = reports::outputs(&mut door, None, args.output.as_ref())?;
    interrupt::arm();
    let scatters = args.scatter.map_or(vec![QUIET, NOISY], |scatter| vec![scatter]);
    let bar = bar(u64::from(args.pairs) * scatters.len() as u64);
    let mut found = Vec::new();
    for (number, scatter) in (0..).zip(scatters) {
        let pairs = pairs(args, args.seed.wrapping_add(number), scatter, &bar)?;
        if !pairs.is_empty() {
            found.push((scatter, pairs.len(), rows(&Figures::of(&pairs), scatter, args.blocks)));
        }
    }
    bar.finish_and_clear();
    if found.is_empty() {
        return Err(Failure::Cannot(anyhow!("no pair was done before the stop")));
    }
    let title = format!("Comparisons of {} pairs, seed {}", args.pairs, args.seed);
    let mut saved = Saved::default();
    for output in &outputs {
        saved.add(output, "Report", form(&title, args, &found, output.path()));
    }
    let text = if args.json { record(args, &found) } else { text(&title, &found) };
    saved.after(output::data(&text))?;
    if interrupt::asked() {
        return Err(Failure::Cannot(anyhow!("interrupted; what is shown is over the pairs that were done")));
    }
    Ok(Outcome::Done)
}

/// One scatter and what was found at it, over so many pairs.
type Found = (f64, usize, Vec<Row>);

fn pairs(args: &Args, seed: u64, scatter: f64, bar: &ProgressBar) -> Result<Vec<Pair>, Failure> {
    let mut done = Vec::new();
    for first in (0..args.pairs).step_by(LOT as usize) {
        if interrupt::asked() {
            break;
        }
        let lot = LOT.min(args.pairs - first);
        let plan = Plan { first, pairs: lot, seed, scatter, most_blocks: args.blocks };
        done.extend(differences(plan).map_err(anyhow::Error::from)?);
        bar.inc(u64::from(lot));
    }
    Ok(done)
}

fn bar(pairs: u64) -> ProgressBar {
    let bar = ProgressBar::new(pairs);
    bar.set_draw_target(if output::quiet() {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(5)
    });
    let style = ProgressStyle::with_template("{pos} of {len} pairs {wide_bar} {eta} left");
    bar.set_style(style.expect("the template is a constant"));
    bar
}

/// Over fewer pairs a missed target may be chance.
const FEW: usize = 300;

fn word(row: &Row, pairs: usize) -> &'static str {
    match (row.is_met(), row.target) {
        (Some(true), _) => "met",
        (Some(false), _) if pairs < FEW => "too few pairs",
        (Some(false), _) => "MISSED",
        (None, Target::Beside) => "beside",
        (None, _) => "no pair",
    }
}

fn sheets(found: &[Found]) -> Vec<Sheet> {
    let one = |(scatter, pairs, rows): &Found| {
        let row = |row: &Row| -> Vec<Cell> {
            vec![row.what.as_str().into(), row.wanted().into(), row.found().into(), word(row, *pairs).into()]
        };
        let headings = ["figure", "target", "found", "verdict"].map(str::to_owned);
        Sheet::new(format!("scatter {scatter}, {pairs} pairs"), headings.into(), rows.iter().map(row).collect())
    };
    found.iter().map(one).collect()
}

fn text(title: &str, found: &[Found]) -> String {
    let mut text = format!("{title}\n");
    for (scatter, pairs, rows) in found {
        text.push_str(&format!("\nscatter {scatter}, {pairs} pairs\n"));
        for row in rows {
            text.push_str(&format!("  {:<13} {}: {} {}\n", word(row, *pairs), row.what, row.found(), row.wanted()));
        }
    }
    text
}

fn record(args: &Args, found: &[Found]) -> String {
    let row = |row: &Row| -> Value {
        let share = row.share.map(|share| json!({ "count": share.count, "all": share.all }));
        json!({ "figure": row.what, "target": row.wanted(), "value": row.value, "share": share, "met": row.is_met() })
    };
    let scatters: Vec<Value> = found
        .iter()
        .map(|(scatter, pairs, rows)| {
            json!({ "scatter": scatter, "pairs": pairs, "figures": rows.iter().map(row).collect::<Vec<_>>() })
        })
        .collect();
    let whole = json!({
        "schema": "flashscope.fleet-compare/1",
        "tool": envelope::tool().version,
        "pairs": args.pairs,
        "seed": args.seed,
        "blocks": args.blocks,
        "scatters": scatters,
    });
    format!("{whole:#}\n")
}

fn form(title: &str, args: &Args, found: &[Found], path: &std::path::Path) -> Result<Vec<u8>, Failure> {
    let sheets = sheets(found);
    Ok(match reports::format_of(path, ReportFormat::Json)? {
        ReportFormat::Json => record(args, found).into_bytes(),
        ReportFormat::Html => sheet::page("flashscope fleet compare", title, &sheets).into_bytes(),
        ReportFormat::Markdown => flashscope_report::signed(&sheet::markdown(title, &sheets)).into_bytes(),
        ReportFormat::Text => flashscope_report::signed(&text(title, found)).into_bytes(),
        ReportFormat::Csv => sheets.iter().map(sheet::csv).collect::<Vec<_>>().join("\n").into_bytes(),
        ReportFormat::Xlsx => reports::workbook(&sheets)?,
    })
}
