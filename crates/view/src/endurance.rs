//! What passes over a whole device came to, in words, in tables and as points of plots.

use crate::table::{Cell, Table};
use flashscope_model::Health;
use flashscope_model::endurance::{Basis, EndKind, Endurance, Pass, Rating};
use flashscope_units::{ByteRate, Bytes};

/// Passes that a table shows unless all are asked for: the first and the last of them.
const SHOWN: usize = 12;

/// A line of the first glance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it is about.
    pub name: &'static str,
    /// What is said.
    pub text: String,
}

/// The verdict in a sentence.
pub fn headline(endurance: &Endurance) -> String {
    let (passes, writes) = (endurance.passes.len(), endurance.capacity_writes());
    let passes = if passes == 1 { "1 pass".to_owned() } else { format!("{passes} passes") };
    let end = ended(endurance);
    match (endurance.milestones.first(), endurance.end.kind.is_death()) {
        (Some(first), true) => format!(
            "DIED in pass {}: {end}; first error in pass {} ({writes:.1} capacity-writes)",
            endurance.passes.len(),
            first.pass
        ),
        (Some(first), false) => format!(
            "FIRST ERROR in pass {} after {:.1} capacity-writes; {passes} done",
            first.pass, first.capacity_writes
        ),
        _ if endurance.is_broken() => format!("LOST DATA that were left alone, after {passes} without an error"),
        _ if endurance.passes.is_empty() => format!("cannot tell: no pass was done ({end})"),
        _ => format!("no error in {passes} ({writes:.1} capacity-writes, {} written)", endurance.written()),
    }
}

fn ended(endurance: &Endurance) -> String {
    let label = endurance.end.kind.label();
    endurance.end.why.as_ref().map_or(label.to_owned(), |why| format!("{label} ({why})"))
}

/// The lines of the first glance.
pub fn glance(endurance: &Endurance) -> Vec<Line> {
    let line = |name, text: String| Line { name, text };
    let mut lines = vec![line("first error", forecast(endurance)), line("ended by", ended(endurance))];
    let bad = endurance.passes.iter().map(Pass::bad).max().unwrap_or_default();
    if bad > Bytes::ZERO {
        let last = endurance.passes.last().map(Pass::bad).unwrap_or_default();
        lines.push(line(
            "bad sectors",
            format!("{} in the last pass, {} at most", share(endurance, last), share(endurance, bad)),
        ));
    }
    lines.extend(rates(endurance, Pass::write_rate).map(|text| line("write rate", text)));
    lines.extend(rates(endurance, Pass::read_rate).map(|text| line("read rate", text)));
    lines.extend(registers(endurance).map(|text| line("registers", text)));
    if let Some(limit) = endurance.plan.limit {
        let spent = limit.share_of(endurance.written()) * 100.0;
        let who = match limit.rating {
            Rating::Given => "as given",
            Rating::Assumed => "assumed: no data sheet was named",
        };
        let (share, rated) = (limit.share * 100.0, limit.rated);
        lines.push(line("life spent", format!("{spent:.2} % of {rated} ({who}); limit {share:.3} %")));
    }
    if let Some(kept) = &endurance.retention {
        let whole = if kept.whole { "" } else { " (cut short)" };
        lines.push(line("retention", format!("{} lost after {}{whole}", share(endurance, kept.lost), kept.kept_for)));
    }
    lines
}

/// When the first error comes.
fn forecast(endurance: &Endurance) -> String {
    let forecast = &endurance.forecast;
    match (forecast.basis, forecast.capacity_writes, forecast.high) {
        (Basis::Seen, Some(_), Some(high)) => {
            format!("came between {:.1} and {high:.1} capacity-writes ({})", forecast.low, forecast.evidence)
        }
        (_, Some(middle), Some(high)) => format!(
            "expected at {middle:.0} capacity-writes (90 %: {:.0} to {high:.0}); {}",
            forecast.low, forecast.evidence
        ),
        _ => format!("cannot tell: {}", forecast.evidence),
    }
}

/// A part of the device, as a share and in bytes.
fn share(endurance: &Endurance, part: Bytes) -> String {
    let percent = endurance.plan.capacity_writes(part) * 100.0;
    match part {
        Bytes::ZERO => "nothing".to_owned(),
        _ if percent < 0.1 => format!("{part} ({percent:.4} %)"),
        _ => format!("{part} ({percent:.1} %)"),
    }
}

/// That of the first pass and of the last, and the lowest.
fn rates(endurance: &Endurance, rate: fn(&Pass) -> Option<ByteRate>) -> Option<String> {
    let rates: Vec<ByteRate> = endurance.passes.iter().filter_map(rate).collect();
    let least = rates.iter().copied().reduce(|one, other| if other.get() < one.get() { other } else { one })?;
    Some(match rates.as_slice() {
        [one] => one.to_string(),
        [first, .., last] => format!("{first} in the first pass, {last} in the last, {least} at least"),
        [] => return None,
    })
}

/// How the registers moved.
fn registers(endurance: &Endurance) -> Option<String> {
    let before = endurance.registers?;
    let after = endurance.passes.iter().rev().find_map(|pass| pass.registers).unwrap_or(before);
    let moved = |name: &str, of: fn(&Health) -> Option<u8>| {
        let (before, after) = (of(&before)?, of(&after)?);
        Some(format!("{name} {before} → {after}"))
    };
    let all = [
        moved("life used %", |health| health.used_percent),
        moved("spare left %", |health| health.spare_percent),
        moved("life time A", |health| health.life_time_a),
        moved("life time B", |health| health.life_time_b),
        moved("pre-end-of-life", |health| health.pre_end_of_life),
    ];
    let said: Vec<String> = all.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// Milestones that were reached; nothing where none was.
pub fn milestones(endurance: &Endurance) -> Option<Table> {
    let row = |reached: &flashscope_model::endurance::Reached| {
        vec![
            Cell::Text(reached.milestone.label().to_owned()),
            Cell::Count(reached.pass.into()),
            Cell::Text(format!("{:.1}", reached.capacity_writes)),
            Cell::Size(reached.written),
        ]
    };
    (!endurance.milestones.is_empty()).then(|| Table {
        caption: "Milestones".to_owned(),
        columns: ["bad", "pass", "capacity-writes", "written"].map(str::to_owned).into(),
        rows: endurance.milestones.iter().map(row).collect(),
    })
}

/// The passes; unless all are asked for, the first and the last ones.
pub fn passes(endurance: &Endurance, all: bool) -> Option<Table> {
    let number = endurance.passes.len();
    let is_shown = |at: usize| all || number <= SHOWN || at < SHOWN / 2 || at >= number - SHOWN / 2;
    let chosen = endurance.passes.iter().enumerate().filter(|(at, _)| is_shown(*at));
    let rows: Vec<Vec<Cell>> = chosen.map(|(_, pass)| row(pass)).collect();
    let caption = match rows.len() < number {
        true => format!("Passes: the first and the last of {number}"),
        false => "Passes".to_owned(),
    };
    let columns =
        ["pass", "write rate", "read rate", "unwritten", "unreadable", "changed", "elsewhere", "life", "spare"];
    (number > 0).then(|| Table { caption, columns: columns.map(str::to_owned).into(), rows })
}

fn row(pass: &Pass) -> Vec<Cell> {
    let size = |size: Bytes| if size == Bytes::ZERO { Cell::Absent } else { Cell::Size(size) };
    let percent = |share: Option<u8>| share.map(|share| Cell::Text(format!("{share} %")));
    let tenths = |health: Health| {
        let tenth = health.life_time_a.max(health.life_time_b)?;
        Some(Cell::Text(format!("{tenth} of 10")))
    };
    let life = pass.registers.and_then(|health| percent(health.used_percent).or(tenths(health)));
    let urgency = |health: Health| health.pre_end_of_life.map(|urgency| Cell::Text(format!("urgency {urgency}")));
    let spare = pass.registers.and_then(|health| percent(health.spare_percent).or(urgency(health)));
    vec![
        Cell::Text(format!("{}{}", pass.number, if pass.whole { "" } else { " (cut short)" })),
        pass.write_rate().map_or(Cell::Absent, Cell::Rate),
        pass.read_rate().map_or(Cell::Absent, Cell::Rate),
        size(pass.totals.unwritten),
        size(pass.totals.unreadable),
        size(pass.totals.changed),
        size(pass.totals.elsewhere),
        life.unwrap_or(Cell::Absent),
        spare.unwrap_or(Cell::Absent),
    ]
}

/// What must be known of it.
pub fn notes(endurance: &Endurance) -> Vec<String> {
    let plan = &endurance.plan;
    let mut notes = vec![format!(
        "seed {}; every pass writes all of {} in shuffled parts, and reads it back; a capacity-write is as much",
        plan.seed, plan.claimed
    )];
    if endurance.sessions > 1 {
        notes.push(format!("it was stopped and gone on with: {} sessions", endurance.sessions));
    }
    if endurance.milestones.is_empty() && endurance.end.kind != EndKind::Internal {
        notes.push(
            "what went without an error is a bound for this part, and says little of others of its type".to_owned(),
        );
    }
    if endurance.retention.is_some_and(|kept| kept.kept_for < kept.asked) {
        notes.push("the data were read again before the time that was asked for".to_owned());
    }
    notes
}

/// Points of a plot: the pass, and a figure of it.
pub type Points = Vec<(f64, f64)>;

/// Rates by pass, in bytes per second: written and read.
pub fn rates_by_pass(endurance: &Endurance) -> [Points; 2] {
    let points = |rate: fn(&Pass) -> Option<ByteRate>| -> Points {
        let point = |pass: &Pass| Some((f64::from(pass.number), rate(pass)?.get()));
        endurance.passes.iter().filter_map(point).collect()
    };
    [points(Pass::write_rate), points(Pass::read_rate)]
}

/// The share of sectors that are bad by pass, in 0…1.
pub fn bad_by_pass(endurance: &Endurance) -> Points {
    let share = |pass: &Pass| (f64::from(pass.number), endurance.plan.capacity_writes(pass.bad()));
    endurance.passes.iter().map(share).collect()
}
