//! A comparison in words and in tables: the answer first, then a line per figure.

mod values;

pub use values::{percent, ratio, value};

use crate::table::{Cell, Room, Table};
use flashscope_model::comparison::{
    Better, CampaignEnd, Campaigned, Compared, Comparison, ComparisonRecord, Difference, Doubt, Family, Group, Level,
    Method, Metric, Verdict,
};
use values::interval;
pub(crate) use values::{counted, spread};

/// Decided figures that are told one by one before the table.
const TOLD: usize = 6;
/// Letters of a label that may stand above a column.
const HEAD: usize = 18;
/// An effect of the place within a block is said from this p value on: one in a hundred figures has one by chance.
const PLACE_TELLS: f64 = 0.01;

/// What all figures of a group come to: counts, then the decided ones, the largest difference first.
pub fn sentences(group: &Group) -> Vec<String> {
    let sides = &group.readings.sides;
    let mut all: Vec<String> = (1..sides.len()).map(|side| summary(group, side)).collect();
    let mut told: Vec<&Compared> = group.comparison.rows.iter().filter(|row| is_difference(row.verdict)).collect();
    told.sort_by(|one, other| size(other).total_cmp(&size(one)));
    let more = told.len().saturating_sub(TOLD);
    all.extend(told.into_iter().take(TOLD).map(|row| difference(group, row)));
    all.extend((more > 0).then(|| format!("and {more} more differences, in the table")));
    all
}

fn is_difference(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Better | Verdict::Worse)
}

fn size(row: &Compared) -> f64 {
    row.ratio.map_or(0.0, |ratio| ratio.value.ln().abs())
}

fn summary(group: &Group, side: usize) -> String {
    let (base, other) = (&group.readings.sides[0], &group.readings.sides[side]);
    let rows: Vec<&Compared> = group.comparison.rows.iter().filter(|row| row.side == side).collect();
    let count = |wanted: fn(Verdict) -> bool| rows.iter().filter(|row| wanted(row.verdict)).count();
    let parts = [
        (count(|verdict| verdict == Verdict::Better), "better"),
        (count(|verdict| verdict == Verdict::Worse), "worse"),
        (count(|verdict| verdict == Verdict::Equivalent), "equivalent"),
        (count(|verdict| matches!(verdict, Verdict::CannotTell(_))), "cannot tell"),
    ];
    let told: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    let told = if told.is_empty() { "no figure in common".to_owned() } else { told.join(", ") };
    let figures = counted(rows.len(), "figure");
    match group.readings.sides.len() {
        // Which two it is says the title.
        2 => format!("{figures}: {told}"),
        _ => format!("{other} against {base}, {figures}: {told}"),
    }
}

/// `sequential write is 12 % slower (10 to 14 %)`.
fn difference(group: &Group, row: &Compared) -> String {
    let metric = &group.readings.metrics[row.metric];
    let whose =
        if group.readings.sides.len() > 2 { format!("{}: ", group.readings.sides[row.side]) } else { String::new() };
    format!("{whose}{} is {}", metric.name, changed(metric, row))
}

/// `12 % slower (10 to 14 %)`; `no ratio` where there is none.
fn changed(metric: &Metric, row: &Compared) -> String {
    let Some(ratio) = row.ratio else { return "without a ratio".to_owned() };
    // Ends that read like the centre say nothing.
    let is_same = |(low, high): (f64, f64)| [low, high].iter().all(|end| percent(*end) == percent(ratio.value));
    let within = match ratio.interval {
        Some(interval) if is_same(interval) => String::new(),
        Some((low, high)) if ratio.value < 1.0 => format!(" ({} to {})", percent(high), percent(low)),
        Some((low, high)) => format!(" ({} to {})", percent(low), percent(high)),
        None => String::new(),
    };
    format!("{} {}{within}", percent(ratio.value), direction(metric, ratio.value > 1.0))
}

/// What people call a figure that is larger, or smaller, than another.
pub(crate) fn direction(metric: &Metric, larger: bool) -> &'static str {
    match (metric.unit.as_str(), metric.better, larger) {
        ("B/s" | "IOPS" | "MB/s" | "MiB/s" | "MBps" | "TPS", _, true) => "faster",
        ("B/s" | "IOPS" | "MB/s" | "MiB/s" | "MBps" | "TPS", _, false) => "slower",
        ("ns" | "us" | "µs" | "ms" | "s", Better::Lower, true) => "longer",
        ("ns" | "us" | "µs" | "ms" | "s", Better::Lower, false) => "shorter",
        (.., true) => "higher",
        (.., false) => "lower",
    }
}

/// A line per figure and side: both centres, the ratio with its interval, the verdict; where there is room also the smallest
/// difference that the runs could have shown.
pub fn table(group: &Group, room: Room) -> Table {
    let sides = &group.readings.sides;
    let two = sides.len() == 2;
    let heads = if two && sides.iter().all(|side| side.chars().count() <= HEAD) {
        vec!["figure".to_owned(), sides[0].clone(), sides[1].clone()]
    } else if two {
        ["figure", "baseline", "value"].map(str::to_owned).into()
    } else {
        ["figure", "side", "baseline", "value"].map(str::to_owned).into()
    };
    let is_wide = room == Room::Wide;
    let columns = heads.into_iter().chain(["ratio", "verdict"].map(str::to_owned));
    let columns = columns.chain(is_wide.then(|| "detectable".to_owned())).collect();
    let row = |row: &Compared| {
        let metric = &group.readings.metrics[row.metric];
        let text = |text: String| if text.is_empty() { Cell::Absent } else { Cell::Text(text) };
        let side = (!two).then(|| text(sides[row.side].clone()));
        let centres = [&row.baseline, &row.other]
            .map(|centre| text(centre.map_or_else(String::new, |centre| spread(&centre, &metric.unit))));
        let ratio = row.ratio.map_or_else(String::new, |found| match found.interval {
            Some((low, high)) => format!("{} ({})", ratio(found.value, found.interval), interval(low, high)),
            None => ratio(found.value, None),
        });
        let verdict = text(word(row.verdict).to_owned());
        let least = is_wide.then(|| row.least_ratio.map_or(Cell::Absent, |least| Cell::Text(percent(least))));
        let cells = std::iter::once(text(metric.name.clone())).chain(side).chain(centres);
        cells.chain([text(ratio), verdict]).chain(least).collect()
    };
    Table { caption: how(&group.comparison), columns, rows: group.comparison.rows.iter().map(row).collect() }
}

/// A verdict in a word or two.
pub fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::CannotTell(_) => "cannot tell",
    }
}

/// Why figures cannot be told apart, each reason once with the figures that it holds for.
pub fn doubts(group: &Group) -> Vec<String> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for row in &group.comparison.rows {
        let Verdict::CannotTell(doubt) = row.verdict else { continue };
        let why = reason(doubt, row, &group.comparison);
        let metric = &group.readings.metrics[row.metric].name;
        let name = match group.readings.sides.len() {
            2 => metric.clone(),
            _ => format!("{} of {}", metric, group.readings.sides[row.side]),
        };
        match found.iter_mut().find(|(other, _)| *other == why) {
            Some((_, names)) => names.push(name),
            None => found.push((why, vec![name])),
        }
    }
    let line = |(why, names): (String, Vec<String>)| match names.len() {
        0..=3 => format!("cannot tell {}: {why}", names.join(", ")),
        count => format!("cannot tell {} and {} more: {why}", names[..2].join(", "), count - 2),
    };
    found.into_iter().map(line).collect()
}

fn reason(doubt: Doubt, row: &Compared, comparison: &Comparison) -> String {
    let unit = match (comparison.method, row.level) {
        (Method::Sequence, _) | (_, Some(Level::Block)) => "block",
        (_, Some(Level::Session)) => "session",
        (_, Some(Level::Part)) => "part",
        _ => "run",
    };
    let shown = row.least_ratio.map(|least| format!("a difference of {} could have shown", percent(least)));
    match doubt {
        Doubt::Open { more } => {
            let enough = match (more, unit) {
                (Some(more), "block") => format!("{} more would probably do", counted(more as usize, unit)),
                (Some(more), _) => format!("{} more a side would probably do", counted(more as usize, unit)),
                (None, _) => format!("no number of {unit}s worth naming would do"),
            };
            shown.into_iter().chain([enough]).collect::<Vec<_>>().join("; ")
        }
        Doubt::TooFew if comparison.method == Method::Sequence => {
            "fewer than two blocks say nothing about scatter".to_owned()
        }
        Doubt::TooFew => "one run says nothing about scatter; measure again (bench --repeat 5)".to_owned(),
        Doubt::Missing => "one of the two does not have this figure".to_owned(),
        Doubt::NotPositive => "a value is zero or negative, and a ratio needs positive ones".to_owned(),
        Doubt::NoScatter => "the runs are identical, so that nothing tells what chance does".to_owned(),
        Doubt::Withheld => "withheld, as the baseline differs from itself".to_owned(),
    }
}

/// How the verdicts came about, in one line.
pub fn how(comparison: &Comparison) -> String {
    let family = match comparison.family {
        Family::All => "error rate kept over all of them (Holm)",
        Family::Side => "error rate kept for each side (Holm)",
        Family::Each => "each verdict by itself: among many, some are wrong",
        Family::Screen => "share of false ones kept (Benjamini-Hochberg)",
    };
    let method = match comparison.method {
        Method::Fixed => "t tests of logarithms",
        Method::Sequence => "confidence sequences, which hold whenever the runs stop",
    };
    format!(
        "{} % intervals; equivalent: within {}; {}, {family}; {method}",
        (comparison.confidence * 1000.0).round() / 10.0,
        percent(comparison.margin),
        counted(comparison.comparisons as usize, "comparison"),
    )
}

/// What else must be known: how far the intervals reach, the control, the order, what differs, how the runs ended.
pub fn notes(record: &ComparisonRecord) -> Vec<String> {
    let mut notes: Vec<String> = record.differences.iter().map(differs).collect();
    notes.extend(record.campaign.as_ref().map(campaign));
    for group in &record.groups {
        notes.extend(reach(group));
        notes.extend(group.comparison.control.map(|control| {
            let p = format!("p = {:.2} over {}", control.p_value, counted(control.blocks as usize, "block"));
            match control.fails() {
                true => format!(
                    "warning: the baseline differs from itself ({p}): the host or the order of runs is at work, and no verdict is given"
                ),
                false => format!("the baseline does not differ from itself ({p})"),
            }
        }));
        let placed = group.comparison.order.iter().filter(|effect| effect.p_value < PLACE_TELLS);
        notes.extend(placed.map(|effect| {
            let metric = &group.readings.metrics[effect.metric];
            let by = format!("{} {}", percent(effect.ratio), direction(metric, effect.ratio > 1.0));
            format!("{}: the later of two runs is {by}; the order of runs cancels that out", metric.name)
        }));
    }
    notes
}

/// What the intervals hold for.
fn reach(group: &Group) -> Option<String> {
    let lowest = group.comparison.rows.iter().filter_map(|row| row.level).min()?;
    Some(
        match lowest {
            Level::Run => "holds for these parts in this session: neither sessions nor parts were repeated",
            Level::Block => "holds for these parts: no other part was measured",
            Level::Session => "holds for these parts, over sessions like these: no other part was measured",
            Level::Part => "holds for the models, as several parts of each were measured",
        }
        .to_owned(),
    )
}

fn differs(difference: &Difference) -> String {
    let values: Vec<String> = difference
        .values
        .iter()
        .map(|(value, sides)| format!("{} ({sides})", if value.is_empty() { "none" } else { value }))
        .collect();
    let weight = match difference.incomparable {
        true => "compared anyway, though this is not the same",
        false => "not the same either",
    };
    format!("{weight}: {}: {}", difference.what, values.join(", "))
}

fn campaign(campaign: &Campaigned) -> String {
    let why = match campaign.end {
        CampaignEnd::Decided => "every figure was decided",
        CampaignEnd::Blocks => "that is as many as it may take (--blocks)",
        CampaignEnd::Time => "the time was over (--max-time)",
        CampaignEnd::Written => "what may be written was used up (--max-write)",
        CampaignEnd::Interrupted => "interrupted",
        CampaignEnd::Failed => "a run could not be done",
    };
    let unused = match campaign.unused_runs {
        0 => String::new(),
        runs => format!("; {} of a block that was cut short count for nothing", counted(runs as usize, "run")),
    };
    format!("stopped after {}: {why}{unused}", counted(campaign.blocks as usize, "block"))
}

/// What a chart of ratios shows of one figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The figure, with the side where there are several.
    pub label: String,
    /// Other over baseline.
    pub ratio: f64,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// The verdict.
    pub verdict: Verdict,
}

/// The ratios of a group, in the order of the table.
pub fn bars(group: &Group) -> Vec<Bar> {
    let (several_sides, several_figures) = (group.readings.sides.len() > 2, group.readings.metrics.len() > 1);
    let bar = |row: &Compared| {
        let (side, name) = (&group.readings.sides[row.side], &group.readings.metrics[row.metric].name);
        let label = match (several_sides, several_figures) {
            (true, true) => format!("{side} {name}"),
            (true, false) => side.clone(),
            (false, _) => name.clone(),
        };
        let ratio = row.ratio?;
        Some(Bar { label, ratio: ratio.value, interval: ratio.interval, verdict: row.verdict })
    };
    group.comparison.rows.iter().filter_map(bar).collect()
}

/// The raw runs of one figure in order of time: per side the number of each run among all, from 1, and its value.
pub fn course(group: &Group, metric: usize) -> Vec<Vec<(f64, f64)>> {
    let mut sides = vec![Vec::new(); group.readings.sides.len()];
    let rows = group.readings.rows.iter().filter(|row| row.metric == metric);
    for (number, row) in (1u32..).zip(rows) {
        sides[row.side].push((f64::from(number), row.value));
    }
    sides
}
