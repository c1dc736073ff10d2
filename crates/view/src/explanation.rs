//! Why one device takes longer than another, in words and in tables.

use crate::table::{Cell, Table};
use flashscope_model::explanation::{Change, ExplanationRecord, Gap, Share, Side, Verdict};
use flashscope_units::Nanos;

/// So many parameters are named beside a share; the table of parameters has them all.
const NAMED: usize = 2;

/// What it is about.
pub fn title(record: &ExplanationRecord) -> String {
    let file = record.source.file.rsplit('/').next().unwrap_or_default();
    format!("{file} on A ({}) and on B ({})", record.a.name, record.b.name)
}

/// Mean time of the workload on one side, in nanoseconds.
pub fn mean_ns(side: &Side) -> f64 {
    side.times.iter().map(|time| time.as_f64()).sum::<f64>() / side.times.len().max(1) as f64
}

/// The answer in a sentence or two.
pub fn answer(record: &ExplanationRecord) -> String {
    let of_a = |ns: f64| 100.0 * ns / mean_ns(&record.a).max(1.0);
    let all = of_a(record.difference.time_ns);
    let range = format!("{} to {}", points(of_a(record.difference.low_ns)), points(of_a(record.difference.high_ns)));
    let head = match record.verdict {
        Verdict::Longer => format!("B takes {} longer", points(all)),
        Verdict::Shorter => format!("B takes {} less time", points(-all)),
        Verdict::Same => return "both take the same time, within 0.5 %".to_owned(),
        Verdict::CannotTell => {
            return format!("cannot tell which takes longer: the difference is {} of A's time ({range})", points(all));
        }
    };
    let sign = record.difference.time_ns.signum();
    let told: Vec<&Share> = record.shares.iter().filter(|share| share.told).collect();
    let (along, against): (Vec<&Share>, Vec<&Share>) =
        told.into_iter().partition(|share| share.gap.time_ns * sign > 0.0);
    let size = |share: &Share| of_a(share.gap.time_ns).abs();
    let mut parts: Vec<String> = Vec::new();
    for share in along {
        // Shares that others take something from are larger than the whole, and no part of it.
        let of = match (parts.is_empty(), against.is_empty()) {
            (true, true) => format!("{} of the {}", plain(size(share)), plain(all.abs())),
            (false, true) => plain(size(share)),
            (_, false) => points(size(share)),
        };
        parts.push(format!("{of} because of {}", cause(share)));
    }
    if parts.is_empty() {
        let leaning = record.shares.first().map_or(String::new(), |share| format!(" (leaning to {})", words(share)));
        return format!("{head}, but what causes it cannot be told{leaning}");
    }
    let other_way: Vec<String> =
        against.iter().map(|share| format!("{} because of {}", points(size(share)), cause(share))).collect();
    let other_way =
        if other_way.is_empty() { String::new() } else { format!("; the other way {}", other_way.join(", ")) };
    format!("{head}: {}{other_way}", parts.join(", "))
}

/// What a share is of.
pub fn words(share: &Share) -> String {
    share.groups.iter().map(|group| group.words.as_str()).collect::<Vec<_>>().join(" with ")
}

fn cause(share: &Share) -> String {
    match share.changes.first() {
        Some(change) if share.changes.len() == 1 => format!("{} ({})", words(share), arrow(change)),
        _ => words(share),
    }
}

fn arrow(change: &Change) -> String {
    let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    format!("{} → {}", shown(&change.a), shown(&change.b))
}

/// Lines below the answer: what, and how much.
pub fn headline(record: &ExplanationRecord) -> Vec<(&'static str, String)> {
    let Gap { time_ns, low_ns, high_ns } = record.difference;
    let workload = &record.workload;
    let changes: String = workload.changes.iter().map(|change| format!("; {change}")).collect();
    vec![
        ("A", side(&record.a)),
        ("B", side(&record.b)),
        ("difference", format!("{} ({} to {})", signed(time_ns), signed(low_ns), signed(high_ns))),
        (
            "workload",
            format!(
                "{} requests, {} read and {} written; each waits for those it had waited for, think times kept{changes}",
                workload.requests, workload.read, workload.written
            ),
        ),
    ]
}

fn side(side: &Side) -> String {
    let known = side.twin.map_or("a model".to_owned(), |twin| {
        let inspected = format!("inspected and fitted again {} times", twin.refits);
        format!("a twin fitted to a record ({} of its figures within 15 %; {inspected})", percent(twin.within))
    });
    format!("{}: {}, {known}", Nanos(mean_ns(side).round() as u64), side.name)
}

/// Shares, and the parameters that differ.
pub fn tables(record: &ExplanationRecord) -> Vec<Table> {
    let of_a = |ns: f64| points(100.0 * ns / mean_ns(&record.a).max(1.0));
    let mut shares = Table {
        caption: "Shares of the difference".to_owned(),
        columns: ["group", "of A's time", "share", "95 %", "told", "A → B"].map(str::to_owned).to_vec(),
        rows: Vec::new(),
    };
    let mut changes = Table {
        caption: "Parameters that differ".to_owned(),
        columns: ["parameter", "A", "B"].map(str::to_owned).to_vec(),
        rows: Vec::new(),
    };
    let text = |text: String| Cell::Text(text);
    for share in &record.shares {
        let Gap { time_ns, low_ns, high_ns } = share.gap;
        let mut named: Vec<String> = share.changes.iter().take(NAMED).map(arrow).collect();
        if share.changes.len() > NAMED {
            named.push(format!("{} more", share.changes.len() - NAMED));
        }
        shares.rows.push(vec![
            text(words(share)),
            text(of_a(time_ns)),
            text(signed(time_ns)),
            text(format!("{} to {}", signed(low_ns), signed(high_ns))),
            text(if share.told { "yes" } else { "no" }.to_owned()),
            text(named.join("; ")),
        ]);
    }
    let with_share = record.shares.iter().flat_map(|share| &share.changes);
    for change in with_share.chain(record.screened.iter().flat_map(|one| &one.changes)) {
        let shown = |value: &Option<String>| value.clone().map_or(Cell::Absent, Cell::Text);
        changes.rows.push(vec![text(change.path.clone()), shown(&change.a), shown(&change.b)]);
    }
    [shares, changes].into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// What it rests on, a sentence each.
pub fn notes(record: &ExplanationRecord) -> Vec<String> {
    let method = &record.method;
    let (equal, idle): (Vec<_>, Vec<_>) = record.screened.iter().partition(|one| one.changes.is_empty());
    let list = |some: &[&flashscope_model::explanation::Screened]| {
        some.iter().map(|one| one.group.words.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut notes = Vec::new();
    if !idle.is_empty() {
        notes.push(format!("differs, but changes nothing here: {}", list(&idle)));
    }
    if !equal.is_empty() {
        notes.push(format!("the same on both: {}", list(&equal)));
    }
    let way = match method.orders {
        None => "exact Shapley values".to_owned(),
        Some(orders) => format!("Shapley values from {orders} sampled orders of exchange"),
    };
    notes.push(format!(
        "{way}: {} hybrids of A and B, {} seeds each, {} replays, seed {}",
        method.hybrids, method.seeds, method.replays, method.seed
    ));
    if method.refits > 0 {
        notes.push(format!(
            "intervals hold what {} other pairs of twins of the same devices say; a property that no model here has is not \
             in them",
            method.refits
        ));
    }
    if method.cut_short {
        notes.push("the time was over before all orders and twins were looked at".to_owned());
    }
    notes.extend(record.notes.iter().cloned());
    notes
}

/// A step of a waterfall from A to B.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it is of.
    pub name: String,
    /// Where it begins, in nanoseconds.
    pub from_ns: f64,
    /// Where it ends.
    pub to_ns: f64,
}

/// From A over every share to B; what is not told is one step, the last.
pub fn waterfall(record: &ExplanationRecord) -> Vec<Step> {
    let mut at = mean_ns(&record.a);
    let mut steps = vec![Step { name: "A".to_owned(), from_ns: 0.0, to_ns: at }];
    for share in record.shares.iter().filter(|share| share.told) {
        steps.push(Step { name: words(share), from_ns: at, to_ns: at + share.gap.time_ns });
        at += share.gap.time_ns;
    }
    let end = mean_ns(&record.b);
    if record.shares.iter().any(|share| !share.told) {
        steps.push(Step { name: "not told".to_owned(), from_ns: at, to_ns: end });
    }
    steps.push(Step { name: "B".to_owned(), from_ns: 0.0, to_ns: end });
    steps
}

fn signed(ns: f64) -> String {
    format!("{}{}", if ns < 0.0 { "−" } else { "+" }, Nanos(ns.abs().round() as u64))
}

fn points(percent: f64) -> String {
    format!("{}{} %", if percent < 0.0 { "−" } else { "" }, plain(percent.abs()))
}

fn plain(percent: f64) -> String {
    if percent < 9.95 { format!("{percent:.1}") } else { format!("{percent:.0}") }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
