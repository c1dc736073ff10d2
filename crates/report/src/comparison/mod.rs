//! A comparison made readable: terminal text, Markdown, a page with its charts, and tables.

mod page;
mod text;

pub use page::html;
pub(crate) use page::{ratio_figures, run_figures};
pub use text::{markdown, terminal};

use crate::sheet::{self, sheet};
use crate::xlsx::{Cell, Sheet};
use flashscope_model::comparison::{Better, CampaignEnd, Centre, Compared, ComparisonRecord, Group, Level, Readings};
use flashscope_view::answer;
use flashscope_view::comparison::word;

/// What is compared with what, in one line.
fn title(record: &ComparisonRecord) -> String {
    let factors: Vec<&str> = record.groups.iter().filter_map(|group| group.factor.as_deref()).collect();
    if !factors.is_empty() {
        return format!("Comparison by {}", factors.join(", "));
    }
    let labels: Vec<&str> = record.sources.iter().map(|source| source.label.as_str()).collect();
    match &labels[..] {
        [] => "Comparison".to_owned(),
        [base, others @ ..] if others.len() <= 3 => format!("{} against {base}", others.join(", ")),
        [base, others @ ..] => format!("{} sides against {base}", others.len()),
    }
}

/// Why not all of it was measured, where that is more than how a campaign ends.
fn cut_short(record: &ComparisonRecord) -> Option<String> {
    let failed = record.campaign.as_ref().is_some_and(|campaign| campaign.end == CampaignEnd::Failed);
    answer::cut_short(&record.envelope.stop).filter(|_| failed)
}

const FIGURES: [&str; 24] = [
    "factor",
    "figure",
    "unit",
    "better",
    "baseline",
    "side",
    "baseline_value",
    "baseline_low",
    "baseline_high",
    "baseline_runs",
    "side_value",
    "side_low",
    "side_high",
    "side_runs",
    "ratio",
    "ratio_low",
    "ratio_high",
    "verdict",
    "confidence",
    "level",
    "blocks",
    "p_difference",
    "p_equivalence",
    "least_ratio",
];

/// Every figure of every side with its verdict; then the runs that it rests on.
pub fn sheets(record: &ComparisonRecord) -> Vec<Sheet> {
    let figures =
        record.groups.iter().flat_map(|group| group.comparison.rows.iter().map(move |row| figure(group, row)));
    let mut sheets = vec![sheet("comparison", &FIGURES, figures.collect())];
    let runs = record.groups.iter().flat_map(|group| runs(group.factor.as_deref(), &group.readings));
    let runs: Vec<Vec<Cell>> = runs.collect();
    if !runs.is_empty() {
        sheets.push(sheet("runs", &["factor", "label", "metric", "unit", "value", "part", "session", "block"], runs));
    }
    let summaries: Vec<Vec<Cell>> =
        record.groups.iter().flat_map(|group| summaries(group.factor.as_deref(), &group.readings)).collect();
    if !summaries.is_empty() {
        sheets.push(sheet("summaries", &["factor", "label", "metric", "unit", "mean", "stdev", "n"], summaries));
    }
    sheets
}

/// The figures with their verdicts as CSV.
pub fn csv(record: &ComparisonRecord) -> String {
    sheets(record).first().map(sheet::csv).unwrap_or_default()
}

fn figure(group: &Group, row: &Compared) -> Vec<Cell> {
    let metric = &group.readings.metrics[row.metric];
    let sides = &group.readings.sides;
    let centre = |centre: Option<Centre>| -> [Cell; 4] {
        let ends = centre.and_then(|centre| centre.interval);
        [
            centre.map(|centre| centre.value).into(),
            ends.map(|ends| ends.0).into(),
            ends.map(|ends| ends.1).into(),
            centre.map(|centre| u64::from(centre.counts.runs)).into(),
        ]
    };
    let ends = row.ratio.and_then(|ratio| ratio.interval);
    let mut cells: Vec<Cell> = vec![
        group.factor.clone().into(),
        metric.name.as_str().into(),
        metric.unit.as_str().into(),
        better(metric.better).into(),
        sides[0].as_str().into(),
        sides[row.side].as_str().into(),
    ];
    cells.extend(centre(row.baseline));
    cells.extend(centre(row.other));
    cells.extend([
        row.ratio.map(|ratio| ratio.value).into(),
        ends.map(|ends| ends.0).into(),
        ends.map(|ends| ends.1).into(),
        word(row.verdict).into(),
        group.comparison.confidence.into(),
        row.level.map(level).into(),
        row.other.map(|centre| u64::from(centre.counts.blocks)).into(),
        row.p_difference.into(),
        row.p_equivalence.into(),
        row.least_ratio.into(),
    ]);
    cells
}

fn better(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher",
        Better::Lower => "lower",
    }
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Run => "run",
        Level::Block => "block",
        Level::Session => "session",
        Level::Part => "part",
    }
}

fn runs<'a>(factor: Option<&'a str>, readings: &'a Readings) -> impl Iterator<Item = Vec<Cell>> + 'a {
    readings.rows.iter().map(move |row| {
        let mut cells = whose(factor, readings, row.side, row.metric);
        cells.extend([
            row.value.into(),
            row.part.as_str().into(),
            row.session.as_str().into(),
            row.block.map(|block| u64::from(block) + 1).into(),
        ]);
        cells
    })
}

fn summaries<'a>(factor: Option<&'a str>, readings: &'a Readings) -> impl Iterator<Item = Vec<Cell>> + 'a {
    readings.summaries.iter().map(move |row| {
        let mut cells = whose(factor, readings, row.side, row.metric);
        cells.extend([row.mean.into(), row.deviation.into(), u64::from(row.count).into()]);
        cells
    })
}

/// What a reading is of: factor, label, metric and unit.
fn whose(factor: Option<&str>, readings: &Readings, side: usize, metric: usize) -> Vec<Cell> {
    let metric = &readings.metrics[metric];
    vec![
        factor.map(str::to_owned).into(),
        readings.sides[side].as_str().into(),
        metric.name.as_str().into(),
        metric.unit.as_str().into(),
    ]
}
