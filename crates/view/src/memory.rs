//! What a memory does, in words, tables and curves.

use crate::answer::CLAIMED_FROM;
use crate::figures::{Figure, Measured, Setting};
use crate::stress;
use crate::table::{Cell, Table};
use flashscope_model::comparison::{Better, Metric};
use flashscope_model::finding::Bound;
use flashscope_model::memory::{
    Bandwidth, Chase, Loaded, MemoryFinding, MemoryRecord, MemoryUnit, Pages, Quantity, Route, Store,
};
use flashscope_model::{Estimate, Reason};
use flashscope_stats::location::median;
use flashscope_units::{ByteRate, Bytes};

/// What it is about.
pub fn title(record: &MemoryRecord) -> String {
    let host = record.envelope.host.as_ref().map_or("this machine", |host| &host.name);
    format!("Memory of {host}")
}

/// The median of some figures; nothing of none.
pub fn middle(values: &[f64]) -> Option<f64> {
    median(values)
}

/// A time in nanoseconds with three digits, fractions included: loads take few of them.
pub fn nanoseconds(ns: f64) -> String {
    match ns.abs() {
        of if of < 9.995 => format!("{ns:.2} ns"),
        of if of < 99.95 => format!("{ns:.1} ns"),
        _ => format!("{ns:.0} ns"),
    }
}

/// A rate that stands out, in the words of the answer.
fn rate(row: &Bandwidth) -> Option<ByteRate> {
    middle(&row.rates).map(ByteRate)
}

/// What was measured, in the words of a row.
pub fn name(row: &Bandwidth) -> String {
    let store = match row.store {
        None => "",
        Some(Store::Plain) => ", plain stores",
        Some(Store::NonTemporal) => ", non-temporal stores",
    };
    let threads = if row.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", row.threads) };
    format!("{}{store}, {threads}", row.kernel.word())
}

/// The answer: lines of a name and what is said of it, the four or five figures that matter first.
pub fn headline(record: &MemoryRecord) -> Vec<(&'static str, String)> {
    let mut lines = record.stress.as_ref().map(stress::headline).unwrap_or_default();
    let most = record.bandwidth.iter().map(|row| row.threads).max().unwrap_or(0);
    let fastest: Vec<String> = flashscope_model::memory::Kernel::ALL
        .into_iter()
        .filter_map(|kernel| {
            let rows = record.bandwidth.iter().filter(|row| row.kernel == kernel && row.threads == most);
            let best = rows.filter_map(rate).max_by(|a, b| a.get().total_cmp(&b.get()))?;
            Some(format!("{} {best}", kernel.word()))
        })
        .collect();
    if !fastest.is_empty() {
        let threads = if most == 1 { "1 thread".to_owned() } else { format!("{most} threads") };
        lines.push(("bandwidth", format!("{} ({threads}, the faster way to store)", fastest.join(", "))));
    }
    lines.extend(latency_line(record).map(|line| ("latency", line)));
    lines.extend(loaded_line(&record.loaded).map(|line| ("under load", line)));
    let caches: Vec<String> = (1..=4).filter_map(|level| figure(record, Quantity::CacheSize, Some(level))).collect();
    if !caches.is_empty() {
        lines.push(("caches", caches.join(", ")));
    }
    lines.push(("memory", setup_line(record)));
    lines
}

/// A finding's figure, where it is claimed.
fn figure(record: &MemoryRecord, quantity: Quantity, level: Option<u32>) -> Option<String> {
    let finding = record.findings.iter().find(|finding| finding.quantity == quantity && finding.level == level)?;
    let value = finding.estimate.value().filter(|_| finding.estimate.is_sure(CLAIMED_FROM))?;
    Some(shown(quantity.unit(), value))
}

fn latency_line(record: &MemoryRecord) -> Option<String> {
    let whole = record.latency.iter().filter(|chase| chase.route == Route::Random);
    let largest = |pages: Pages| whole.clone().filter(|chase| chase.pages == pages).max_by_key(|chase| chase.span);
    let of = |pages: Pages, words: &str| {
        let chase = largest(pages)?;
        Some(format!("{} over {} in {words}", nanoseconds(middle(&chase.times_ns)?), chase.span))
    };
    let parts: Vec<String> =
        [of(Pages::Huge, "huge pages"), of(Pages::Small, "small pages")].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn loaded_line(loaded: &[Loaded]) -> Option<String> {
    let idle = loaded.iter().find(|row| row.delay.is_none())?;
    let busy = loaded.iter().filter(|row| row.delay.is_some()).max_by(|a, b| a.rate.total_cmp(&b.rate))?;
    let (from, to) = (middle(&idle.times_ns)?, middle(&busy.times_ns)?);
    Some(format!("{} alone, {} while {} is read", nanoseconds(from), nanoseconds(to), ByteRate(busy.rate)))
}

fn setup_line(record: &MemoryRecord) -> String {
    let setup = &record.setup;
    let mut line = format!("{}, {} available", setup.total, setup.available);
    if let Some(limit) = setup.limit {
        line.push_str(&format!(", limit of the control group {limit}"));
    }
    let processors = setup.processors.len();
    line.push_str(&format!("; {processors} processor{}", if processors == 1 { "" } else { "s" }));
    if let Some(name) = &setup.processor_name {
        line.push_str(&format!(" ({name})"));
    }
    line
}

/// A figure with its unit.
pub fn shown(unit: MemoryUnit, value: f64) -> String {
    match unit {
        MemoryUnit::Count => format!("{value:.0}"),
        MemoryUnit::Bytes => Bytes(value.round() as u64).to_string(),
        MemoryUnit::Nanoseconds => nanoseconds(value),
    }
}

/// What a finding is of.
pub fn quantity(finding: &MemoryFinding) -> String {
    let level = finding.level.map_or(String::new(), |level| level.to_string());
    match finding.quantity {
        Quantity::CacheLevels => "cache levels".to_owned(),
        Quantity::CacheSize => format!("L{level} size"),
        Quantity::CacheLatency => format!("L{level} latency"),
        Quantity::LineSize => "cache line".to_owned(),
        Quantity::TlbReach => format!("TLB {level} reach (small pages)"),
        Quantity::TlbMiss => format!("TLB {level} miss"),
        Quantity::MemoryLatency => "memory latency".to_owned(),
    }
}

/// What is said of a finding, without what it rests on.
fn said(finding: &MemoryFinding) -> (String, String) {
    let unit = finding.quantity.unit();
    let estimate = &finding.estimate;
    let figure = match (estimate.value(), estimate.bound()) {
        (Some(value), _) => Some(shown(unit, value)),
        (None, Some(Bound::AtLeast(least))) => Some(format!("at least {}", shown(unit, *least))),
        (None, Some(Bound::AtMost(most))) => Some(format!("at most {}", shown(unit, *most))),
        (None, Some(Bound::Between(low, high))) => Some(format!("{} … {}", shown(unit, *low), shown(unit, *high))),
        (None, None) => None,
    };
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    match (figure, estimate.confidence()) {
        (Some(figure), Some(sure)) if sure >= CLAIMED_FROM => (figure, percent(sure)),
        (Some(figure), Some(sure)) => (format!("cannot tell (leaning to {figure})"), percent(sure)),
        _ => match estimate.reason() {
            Some(Reason::Absent) => ("none".to_owned(), String::new()),
            _ => (leaning(unit, estimate), String::new()),
        },
    }
}

fn leaning(unit: MemoryUnit, estimate: &Estimate<f64>) -> String {
    match estimate {
        Estimate::Unknown(unknown) => match &unknown.leaning {
            Some((value, _)) => format!("cannot tell (leaning to {})", shown(unit, *value)),
            None => "cannot tell".to_owned(),
        },
        _ => "cannot tell".to_owned(),
    }
}

/// All figures.
pub fn tables(record: &MemoryRecord) -> Vec<Table> {
    let all = [findings(record), bandwidth(record), loaded(record), latency(record)];
    let stress = record.stress.as_ref().map(stress::tables).unwrap_or_default();
    stress.into_iter().chain(all).filter(|table| !table.rows.is_empty()).collect()
}

fn table(caption: &str, columns: &[&str]) -> Table {
    Table {
        caption: caption.to_owned(),
        columns: columns.iter().map(|column| (*column).to_owned()).collect(),
        rows: Vec::new(),
    }
}

fn findings(record: &MemoryRecord) -> Table {
    let mut table = table("What follows", &["finding", "inferred", "sure", "the machine tells", "evidence"]);
    for finding in &record.findings {
        let (figure, sure) = said(finding);
        let told = finding.told.map_or(Cell::Absent, |told| Cell::Text(shown(finding.quantity.unit(), told)));
        let words = |text: String| if text.is_empty() { Cell::Absent } else { Cell::Text(text) };
        let evidence = words(finding.estimate.evidence().to_owned());
        table.rows.push(vec![Cell::Text(quantity(finding)), Cell::Text(figure), words(sure), told, evidence]);
    }
    table
}

fn bandwidth(record: &MemoryRecord) -> Table {
    let mut table = table("Bandwidth, each array counted once", &["loop", "median", "slowest … fastest", "passes"]);
    for row in &record.bandwidth {
        let Some(middle) = rate(row) else { continue };
        let ends = ends(&row.rates);
        table.rows.push(vec![
            Cell::Text(name(row)),
            Cell::Rate(middle),
            Cell::Rates(ByteRate(ends.0), ByteRate(ends.1)),
            Cell::Count(row.rates.len() as u64),
        ]);
    }
    table
}

fn loaded(record: &MemoryRecord) -> Table {
    let mut table = table("Latency under load", &["delay", "read meanwhile", "latency", "lowest … highest"]);
    for row in &record.loaded {
        let Some(middle) = middle(&row.times_ns) else { continue };
        let (low, high) = ends(&row.times_ns);
        table.rows.push(vec![
            row.delay.map_or(Cell::Text("alone".to_owned()), |delay| Cell::Count(u64::from(delay))),
            Cell::Rate(ByteRate(row.rate)),
            Cell::Text(nanoseconds(middle)),
            Cell::Text(format!("{} … {}", nanoseconds(low), nanoseconds(high))),
        ]);
    }
    table
}

fn latency(record: &MemoryRecord) -> Table {
    let mut table = table("Latency of dependent loads", &["memory", "huge pages", "small pages", "by page"]);
    let chases = || record.latency.iter().filter(|chase| matches!(chase.route, Route::Random | Route::ByPage));
    let mut spans: Vec<Bytes> = chases().map(|chase| chase.span).collect();
    spans.sort_unstable();
    spans.dedup();
    for span in spans {
        let of = |pages: Pages, route: Route| {
            let mut here = chases().filter(|chase| (chase.span, chase.pages, chase.route) == (span, pages, route));
            here.find_map(|chase| middle(&chase.times_ns)).map_or(Cell::Absent, |ns| Cell::Text(nanoseconds(ns)))
        };
        table.rows.push(vec![
            Cell::Size(span),
            of(Pages::Huge, Route::Random),
            of(Pages::Small, Route::Random),
            of(Pages::Small, Route::ByPage),
        ]);
    }
    table
}

fn ends(values: &[f64]) -> (f64, f64) {
    (values.iter().copied().fold(f64::INFINITY, f64::min), values.iter().copied().fold(0.0, f64::max))
}

/// What must be known of the figures, a sentence each.
pub fn notes(record: &MemoryRecord) -> Vec<String> {
    let setup = &record.setup;
    let mut notes = record.notes.clone();
    notes.extend(record.stress.iter().flat_map(|stress| stress.plan.notes.clone()));
    if !record.bandwidth.is_empty() {
        notes.push(format!(
            "loops run on {} vectors; a write is counted once, though a plain store reads its line first",
            setup.instructions
        ));
    }
    if let Some(host) = &setup.hypervisor {
        notes.push(format!("a virtual machine ({host}): others may share caches and memory, and what the machine tells of its caches may not be so"));
    }
    if setup.swap > Bytes::ZERO && !setup.locked {
        notes
            .push(format!("{} of swap space is on, and what was measured could not be locked into memory", setup.swap));
    }
    notes
}

/// A curve of a plot: what it is of, and its points.
pub type Curve = (&'static str, Vec<(f64, f64)>);

/// Latency in nanoseconds over the size in bytes, a curve for each kind of pages and order.
pub fn curves(record: &MemoryRecord) -> Vec<Curve> {
    let kinds = [
        ("huge pages", Pages::Huge, Route::Random),
        ("small pages", Pages::Small, Route::Random),
        ("small pages, one after the other", Pages::Small, Route::ByPage),
    ];
    let of = |(name, pages, route): (&'static str, Pages, Route)| {
        let chases = record.latency.iter().filter(|chase| chase.pages == pages && chase.route == route);
        let mut points: Vec<(f64, f64)> =
            chases.filter_map(|chase| Some((chase.span.as_f64(), middle(&chase.times_ns)?))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        (name, points)
    };
    kinds.map(of).into_iter().filter(|(_, points)| points.len() > 1).collect()
}

/// Sizes of caches that are claimed, with their names: guides of the plot of latencies.
pub fn guides(record: &MemoryRecord) -> Vec<(f64, String)> {
    let sizes = record.findings.iter().filter(|finding| finding.quantity == Quantity::CacheSize);
    let claimed = sizes.filter(|finding| finding.estimate.is_sure(CLAIMED_FROM));
    claimed
        .filter_map(|finding| {
            let size = finding.estimate.value()?;
            Some((size, format!("L{} {}", finding.level.unwrap_or(0), shown(MemoryUnit::Bytes, size))))
        })
        .collect()
}

/// Latency in nanoseconds over what is read meanwhile in bytes per second.
pub fn loaded_curve(record: &MemoryRecord) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> =
        record.loaded.iter().filter_map(|row| Some((row.rate, middle(&row.times_ns)?))).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// The figures that runs are compared by, each the median of its passes or stretches: these lie in one stretch of time, and say
/// nothing of how far another run may be from this one.
pub(crate) fn measured(record: &MemoryRecord) -> Measured {
    let mut figures: Vec<Figure> = Vec::new();
    let mut add = |name: String, unit: &str, better: Better, values: &[f64]| {
        let metric = Metric { name, unit: unit.to_owned(), better };
        figures.extend(middle(values).map(|value| Figure { metric, value }));
    };
    for row in &record.bandwidth {
        add(format!("memory {}", name(row)), "B/s", Better::Higher, &row.rates);
    }
    for (pages, words) in [(Pages::Huge, "huge pages"), (Pages::Small, "small pages")] {
        let of = |chase: &&Chase| chase.route == Route::Random && chase.pages == pages;
        if let Some(chase) = record.latency.iter().filter(of).max_by_key(|chase| chase.span) {
            add(format!("memory latency over {}, {words}", chase.span), "ns", Better::Lower, &chase.times_ns);
        }
    }
    if let Some(row) = record.loaded.iter().find(|row| row.delay == Some(0)) {
        add("memory latency under full load".to_owned(), "ns", Better::Lower, &row.times_ns);
    }
    let set = |what: &str, value: String| Setting { what: what.to_owned(), value, decisive: false };
    let mut settings: Vec<Setting> = Vec::new();
    settings.extend(record.bandwidth.first().map(|row| set("memory: array", row.array.to_string())));
    settings
        .extend(record.bandwidth.first().map(|row| set("memory: huge pages", format!("{:.0} %", 100.0 * row.huge))));
    settings.push(set("memory: instructions", record.setup.instructions.clone()));
    Measured { runs: vec![figures], settings }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        assert_eq!([1.234, 12.34, 123.4].map(nanoseconds), ["1.23 ns", "12.3 ns", "123 ns"]);
    }

    #[test]
    fn a_finding_that_is_hardly_likely_is_leaned_to() {
        let of = |estimate| said(&MemoryFinding { quantity: Quantity::LineSize, level: None, estimate, told: None }).0;
        assert_eq!(of(Estimate::known(64.0, 0.9, "", &[])), "64 B");
        assert_eq!(of(Estimate::known(64.0, 0.4, "", &[])), "cannot tell (leaning to 64 B)");
        assert_eq!(of(Estimate::at_least(64.0, 0.9, "", &[])), "at least 64 B");
        assert_eq!(of(Estimate::unknown(Reason::TooNoisy, "")), "cannot tell");
    }
}
