//! A sweep in words and in tables: what each knob does first, then every condition with its spread and its distance from the
//! baseline.

use crate::comparison::{self, Bar, counted, direction, percent, value, word};
use crate::table::{Cell, Table};
use flashscope_model::comparison::{Compared, Comparison, Doubt, Group, Metric, Ratio, Verdict};
use flashscope_model::sweep::{Answer, Condition, Effect, Knob, KnobFinding, KnobPlace, Layout, SweepRecord, Term};
use flashscope_stats::test::Summary;

/// One condition and one figure, as numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'a> {
    /// Its place among the conditions.
    pub at: usize,
    /// The condition.
    pub condition: &'a Condition,
    /// The figure.
    pub metric: &'a Metric,
    /// Runs with this figure.
    pub runs: u32,
    /// Arithmetic mean of the runs, in the unit of the metric; `None` without any.
    pub mean: Option<f64>,
    /// Standard deviation of the runs; `None` of fewer than two.
    pub deviation: Option<f64>,
    /// The comparison with the baseline; `None` of the baseline itself, and of a condition that was never measured.
    pub compared: Option<&'a Compared>,
}

/// Of every figure, every condition.
pub fn rows(record: &SweepRecord) -> Vec<Row<'_>> {
    let Some(group) = record.comparison.groups.first() else { return Vec::new() };
    let metrics = group.readings.metrics.iter().enumerate();
    metrics.flat_map(|(at, metric)| of_metric(record, group, at, metric)).collect()
}

fn of_metric<'a>(record: &'a SweepRecord, group: &'a Group, at: usize, metric: &'a Metric) -> Vec<Row<'a>> {
    let row = |(side, condition): (usize, &'a Condition)| {
        let runs = group.readings.rows.iter().filter(|row| (row.side, row.metric) == (side, at));
        let values: Vec<f64> = runs.map(|row| row.value).collect();
        let summary = Summary::of(&values).ok();
        Row {
            at: side,
            condition,
            metric,
            runs: u32::try_from(values.len()).unwrap_or(u32::MAX),
            mean: summary.map(|summary| summary.mean).or(values.first().copied()),
            deviation: summary.map(|summary| summary.deviation),
            compared: group.comparison.rows.iter().find(|row| (row.side, row.metric) == (side, at)),
        }
    };
    record.sweep.conditions.iter().enumerate().map(row).collect()
}

/// What each knob does to each figure; figures of which the same is to be said share a sentence.
pub fn sentences(record: &SweepRecord) -> Vec<String> {
    let Some(group) = record.comparison.groups.first() else { return Vec::new() };
    let mut said: Vec<(String, Vec<&str>, String)> = Vec::new();
    for answer in &record.sweep.answers {
        let metric = &group.readings.metrics[answer.metric];
        let (head, tail) = sentence(&record.sweep.knobs[answer.knob], answer, metric, &group.comparison);
        match said.iter_mut().find(|(other, _, end)| *other == head && *end == tail) {
            Some((_, metrics, _)) => metrics.push(&metric.name),
            None => said.push((head, vec![&metric.name], tail)),
        }
    }
    let line = |(head, metrics, tail): (String, Vec<&str>, String)| format!("{head}{}{tail}", metrics.join(", "));
    said.into_iter().map(line).chain(together(record, group)).collect()
}

/// What stands before the names of the figures, and behind them.
fn sentence(knob: &Knob, answer: &Answer, metric: &Metric, comparison: &Comparison) -> (String, String) {
    let baseline = &knob.values[knob.baseline];
    let differs = |at: usize, ratio: Ratio| {
        (format!("{}: {} against {baseline}: ", knob.name, knob.values[at]), format!(" {}", changed(metric, ratio)))
    };
    match answer.finding {
        KnobFinding::Better { value, ratio } => differs(value, ratio),
        KnobFinding::Worse { value, ratio } => {
            let (head, tail) = differs(value, ratio);
            (head, format!("{tail}; no value is shown to be better"))
        }
        KnobFinding::NoDifference => {
            (format!("{}: ", knob.name), format!(": no difference larger than {}", percent(comparison.margin)))
        }
        KnobFinding::CannotTell(doubt) => (format!("{}: ", knob.name), format!(": cannot tell: {}", reason(doubt))),
    }
}

fn reason(doubt: Doubt) -> String {
    match doubt {
        Doubt::Open { more: Some(more) } => format!("{} more would probably do", counted(more as usize, "block")),
        Doubt::Open { more: None } => "no number of blocks worth naming would do".to_owned(),
        Doubt::TooFew => "fewer than two blocks hold it".to_owned(),
        Doubt::Missing => "its runs do not have this figure under every value".to_owned(),
        Doubt::NotPositive => "a value is zero or negative, and a ratio needs positive ones".to_owned(),
        Doubt::NoScatter => "the runs are identical, so that nothing tells what chance does".to_owned(),
        Doubt::Withheld => "withheld, as the baseline differs from itself".to_owned(),
    }
}

/// `12 % slower (10 to 14 %)`, `5.1 times slower (4.9 times to 5.3 times)`.
fn changed(metric: &Metric, ratio: Ratio) -> String {
    // "80 % slower" is five times slower, which is said of what is more than three times as fast too.
    let is_small = ratio.value < 1.0 / 3.0;
    let size = |ratio: f64| percent(if is_small { 1.0 / ratio } else { ratio });
    let within = match ratio.interval {
        Some((low, high)) if low < 1.0 && high > 1.0 => format!(" ({} to {})", signed(low), signed(high)),
        Some((low, high)) if ratio.value < 1.0 => format!(" ({} to {})", size(high), size(low)),
        Some((low, high)) => format!(" ({} to {})", size(low), size(high)),
        None => String::new(),
    };
    format!("{} {}{within}", size(ratio.value), direction(metric, ratio.value > 1.0))
}

/// `+12 %`, `−0.4 %`.
fn signed(ratio: f64) -> String {
    format!("{} %", points(ratio))
}

/// The same without the sign of percent: `+12`, `−0.4`, `+450`.
fn points(ratio: f64) -> String {
    let away = (ratio - 1.0) * 100.0;
    let places = if away.abs() >= 9.95 { 0 } else { 1 };
    let sign = if away < 0.0 { '−' } else { '+' };
    format!("{sign}{:.places$}", away.abs())
}

/// `+12 (+10 to +14)`.
fn delta(ratio: Ratio) -> String {
    match ratio.interval {
        Some((low, high)) => format!("{} ({} to {})", points(ratio.value), points(low), points(high)),
        None => points(ratio.value),
    }
}

/// Of a factorial: the interactions that are there, and what is known of the others.
fn together(record: &SweepRecord, group: &Group) -> Vec<String> {
    let all: Vec<&Effect> = record.sweep.effects.iter().filter(|effect| effect.terms.len() > 1).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let there = |effect: &&&Effect| matches!(effect.verdict, Verdict::Better | Verdict::Worse);
    let mut said: Vec<String> = all
        .iter()
        .filter(there)
        .filter_map(|effect| {
            let metric = &group.readings.metrics[effect.metric];
            let how = changed(metric, effect.ratio?);
            Some(format!("{} together: {} a further {how}", named(record, &effect.terms), metric.name))
        })
        .collect();
    let count = |wanted: fn(Verdict) -> bool| all.iter().filter(|effect| wanted(effect.verdict)).count();
    let shown = all.iter().filter(there).count();
    let (none, open) =
        (count(|verdict| verdict == Verdict::Equivalent), count(|verdict| matches!(verdict, Verdict::CannotTell(_))));
    let margin = percent(group.comparison.margin);
    said.push(format!(
        "what values do together, {}: {shown} shown, {none} no larger than {margin}, {open} cannot tell",
        counted(all.len(), "interaction")
    ));
    said
}

fn named(record: &SweepRecord, terms: &[Term]) -> String {
    let name = |term: &Term| {
        let knob = &record.sweep.knobs[term.knob];
        format!("{}={}", knob.name, knob.values[term.value])
    };
    terms.iter().map(name).collect::<Vec<_>>().join(" and ")
}

/// A table per figure: each condition with the mean and the standard deviation of its runs, and its distance from the baseline
/// with its interval.
pub fn tables(record: &SweepRecord) -> Vec<Table> {
    let all = rows(record);
    let per_metric = all.chunk_by(|one, other| std::ptr::eq(one.metric, other.metric));
    per_metric.map(table).collect()
}

fn table(rows: &[Row<'_>]) -> Table {
    let metric = rows[0].metric;
    let columns = ["condition", "runs", "mean", "deviation", "difference, %", "verdict"];
    let told = |text: Option<String>| text.map_or(Cell::Absent, Cell::Text);
    let line = |row: &Row<'_>| {
        let ratio = row.compared.and_then(|compared| compared.ratio);
        let verdict = match (&row.condition.ended, row.compared) {
            (Some(_), _) => "given up",
            (None, Some(compared)) => word(compared.verdict),
            (None, None) => "baseline",
        };
        vec![
            Cell::Text(row.condition.label.clone()),
            Cell::Count(u64::from(row.runs)),
            told(row.mean.map(|mean| value(mean, &metric.unit))),
            told(row.deviation.zip(row.mean).map(|(deviation, mean)| percent(1.0 + deviation / mean))),
            told(ratio.map(delta)),
            Cell::Text(verdict.to_owned()),
        ]
    };
    Table {
        caption: format!(
            "{}, {} is better; difference from the baseline with its interval:",
            metric.name,
            higher_or_lower(metric)
        ),
        columns: columns.map(str::to_owned).into(),
        rows: rows.iter().map(line).collect(),
    }
}

fn higher_or_lower(metric: &Metric) -> &'static str {
    match metric.better {
        flashscope_model::comparison::Better::Higher => "higher",
        flashscope_model::comparison::Better::Lower => "lower",
    }
}

/// Of a factorial: what each value does on average over the other knobs, and the interactions that are there.
pub fn effects(record: &SweepRecord) -> Option<Table> {
    let sweep = &record.sweep;
    let group = record.comparison.groups.first()?;
    if sweep.layout != Layout::Factorial || sweep.knobs.len() < 2 {
        return None;
    }
    let told = |effect: &&Effect| effect.terms.len() == 1 || matches!(effect.verdict, Verdict::Better | Verdict::Worse);
    let row = |effect: &Effect| {
        vec![
            Cell::Text(named(record, &effect.terms)),
            Cell::Text(group.readings.metrics[effect.metric].name.clone()),
            effect.ratio.map(delta).map_or(Cell::Absent, Cell::Text),
            Cell::Count(u64::from(effect.blocks)),
            Cell::Text(word(effect.verdict).to_owned()),
        ]
    };
    Some(Table {
        caption: "on average over the other knobs (together: beyond what each does alone):".to_owned(),
        columns: ["value", "figure", "effect, %", "blocks", "verdict"].map(str::to_owned).into(),
        rows: sweep.effects.iter().filter(told).map(row).collect(),
    })
}

/// What else must be known: what was changed and put back, conditions that were given up, runs that do not count; then what is to
/// be known of every comparison.
pub fn notes(record: &SweepRecord) -> Vec<String> {
    let mut notes = Vec::new();
    for condition in &record.sweep.conditions {
        notes.extend(condition.ended.as_ref().map(|why| format!("given up: {}: {why}", condition.label)));
        if let Some(first) = condition.void.first() {
            let count = counted(condition.void.len(), "run");
            notes.push(format!("{count} of {} void: {first}", condition.label));
        }
    }
    let host = record.sweep.knobs.iter().filter(|knob| knob.place == KnobPlace::Host);
    notes.extend(host.map(|knob| match &knob.before {
        Some(before) => format!("{} was {before} before the sweep", knob.name),
        None => format!("{} had several values before the sweep", knob.name),
    }));
    notes.extend(comparison::notes(&record.comparison));
    notes
}

/// What is swept on what, in one line.
pub fn title(record: &SweepRecord) -> String {
    let knobs: Vec<&str> = record.sweep.knobs.iter().map(|knob| knob.name.as_str()).collect();
    let baseline = record.sweep.conditions.first().map_or("", |condition| &condition.label);
    format!("Sweep of {} on {}, against {baseline}", knobs.join(", "), record.comparison.envelope.subject())
}

/// The ratios of all conditions to the baseline, for a chart.
pub fn bars(record: &SweepRecord) -> Vec<Bar> {
    record.comparison.groups.iter().flat_map(comparison::bars).collect()
}
