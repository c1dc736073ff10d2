//! A sweep made readable: terminal text, Markdown, a page with the chart of all ratios, and tables.

mod page;
mod text;

pub use page::html;
pub use text::{markdown, terminal};

use crate::comparison;
use crate::sheet::{self, sheet};
use crate::xlsx::{Cell, Sheet};
use flashscope_model::sweep::{Effect, SweepRecord};
use flashscope_view::comparison::word;
use flashscope_view::sweep::{Row, rows};

/// What stands before the columns of the knobs.
const FIGURES: [&str; 16] = [
    "condition",
    "figure",
    "unit",
    "runs",
    "void_runs",
    "mean",
    "stdev",
    "centre",
    "centre_low",
    "centre_high",
    "delta_percent",
    "delta_percent_low",
    "delta_percent_high",
    "verdict",
    "blocks",
    "given_up",
];
const EFFECTS: [&str; 9] =
    ["values", "figure", "ratio", "ratio_low", "ratio_high", "verdict", "blocks", "p_difference", "p_equivalence"];

/// Every condition with every figure; what each value does; then what every comparison has.
pub fn sheets(record: &SweepRecord) -> Vec<Sheet> {
    let knobs = record.sweep.knobs.iter().map(|knob| knob.name.as_str());
    let headings: Vec<&str> = FIGURES.into_iter().chain(knobs).collect();
    let conditions = rows(record).iter().map(|row| condition(record, row)).collect();
    let effects: Vec<Vec<Cell>> = record.sweep.effects.iter().filter_map(|effect| effect_row(record, effect)).collect();
    let mut sheets = vec![sheet("conditions", &headings, conditions), sheet("effects", &EFFECTS, effects)];
    sheets.extend(comparison::sheets(&record.comparison));
    sheets
}

/// The conditions as CSV.
pub fn csv(record: &SweepRecord) -> String {
    sheets(record).first().map(sheet::csv).unwrap_or_default()
}

fn condition(record: &SweepRecord, row: &Row<'_>) -> Vec<Cell> {
    let group = record.comparison.groups.first();
    // The baseline stands on the other side of every comparison.
    let of_baseline = || {
        let same = |other: &&flashscope_model::comparison::Compared| {
            group.is_some_and(|group| group.readings.metrics[other.metric] == *row.metric)
        };
        group?.comparison.rows.iter().find(same)?.baseline
    };
    let centre = if row.at == 0 { of_baseline() } else { row.compared.and_then(|compared| compared.other) };
    let ends = centre.and_then(|centre| centre.interval);
    let ratio = row.compared.and_then(|compared| compared.ratio);
    let ratio_ends = ratio.and_then(|ratio| ratio.interval);
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let verdict = row.compared.map(|compared| word(compared.verdict)).filter(|_| row.condition.ended.is_none());
    let values = record.sweep.knobs.iter().zip(&row.condition.values);
    let knobs = values.map(|(knob, value)| Cell::from(knob.values[*value].as_str()));
    let figures: [Cell; 16] = [
        row.condition.label.as_str().into(),
        row.metric.name.as_str().into(),
        row.metric.unit.as_str().into(),
        u64::from(row.runs).into(),
        (row.condition.void.len() as u64).into(),
        row.mean.into(),
        row.deviation.into(),
        centre.map(|centre| centre.value).into(),
        ends.map(|ends| ends.0).into(),
        ends.map(|ends| ends.1).into(),
        ratio.map(|ratio| percent(ratio.value)).into(),
        ratio_ends.map(|ends| percent(ends.0)).into(),
        ratio_ends.map(|ends| percent(ends.1)).into(),
        verdict.or((row.at == 0).then_some("baseline")).into(),
        row.compared.and_then(|compared| compared.other).map(|centre| u64::from(centre.counts.blocks)).into(),
        row.condition.ended.clone().into(),
    ];
    figures.into_iter().chain(knobs).collect()
}

fn effect_row(record: &SweepRecord, effect: &Effect) -> Option<Vec<Cell>> {
    let group = record.comparison.groups.first()?;
    let name = |term: &flashscope_model::sweep::Term| {
        let knob = &record.sweep.knobs[term.knob];
        format!("{}={}", knob.name, knob.values[term.value])
    };
    let ends = effect.ratio.and_then(|ratio| ratio.interval);
    Some(vec![
        effect.terms.iter().map(name).collect::<Vec<_>>().join(" & ").into(),
        group.readings.metrics[effect.metric].name.as_str().into(),
        effect.ratio.map(|ratio| ratio.value).into(),
        ends.map(|ends| ends.0).into(),
        ends.map(|ends| ends.1).into(),
        word(effect.verdict).into(),
        u64::from(effect.blocks).into(),
        effect.p_difference.into(),
        effect.p_equivalence.into(),
    ])
}
