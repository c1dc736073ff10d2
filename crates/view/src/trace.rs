//! A block trace, and a replay of one, in words and in tables.

use crate::table::{Cell, Table};
use flashscope_model::trace::{ClassFigures, HeatMap, Replay, ServiceTimes, TraceFigures, TraceOp, TraceRecord};
use flashscope_units::{ByteRate, Bytes, Iops, Nanos};

/// What it is about.
pub fn title(record: &TraceRecord) -> String {
    let file = record.source.file.rsplit('/').next().unwrap_or_default();
    match &record.replay {
        None => format!("Trace {file}"),
        Some(_) => format!("Trace {file} replayed on {}", record.envelope.subject()),
    }
}

/// The figures that matter first, a line each: what, and how much.
pub fn headline(record: &TraceRecord) -> Vec<(&'static str, String)> {
    match &record.replay {
        None => of_trace(&record.figures),
        Some(replay) => of_replay(replay),
    }
}

fn of_trace(figures: &TraceFigures) -> Vec<(&'static str, String)> {
    let each = figures.kinds.iter().map(|kind| match kind.op {
        TraceOp::Flush => format!("{} flushes", kind.requests),
        op => format!("{} {} ({})", kind.requests, plural(op), kind.bytes),
    });
    let mut lines = vec![(
        "requests",
        format!("{} in {}: {}", figures.requests, figures.span, each.collect::<Vec<_>>().join(", ")),
    )];
    if figures.dropped > 0 {
        lines.push(("DROPPED", format!("{} events had no room: the trace is not whole", figures.dropped)));
    }
    if let Some(share) = figures.share_of_4k {
        let largest = figures.classes.iter().max_by_key(|class| class.bytes);
        let most = largest.map(|class| format!("; most bytes in {} of {}", plural(class.op), class.class.label()));
        lines.push(("sizes", format!("{} of 4 KiB{}", percent(share), most.unwrap_or_default())));
    }
    lines.extend(arrivals(figures).map(|said| ("arrivals", said)));
    lines.extend(
        figures.depth.as_ref().map(|depth| ("depth", format!("{:.2} on average, {} at most", depth.mean, depth.max))),
    );
    lines.extend(times(figures).map(|said| ("latency", said)));
    lines.extend(streams(figures).map(|said| ("sequential", said)));
    if let Some(syncs) = &figures.syncs {
        let gap = syncs.p50_gap.map_or(String::new(), |gap| format!(", half within {gap} of the one before"));
        lines.push(("syncs", format!("{}, {} written between two on average{gap}", syncs.count, syncs.mean_bytes)));
    }
    let set = &figures.working_set;
    lines.push((
        "working set",
        format!(
            "{} touched ({} read, {} written), within {} to {}",
            set.touched, set.read, set.written, set.first, set.end
        ),
    ));
    lines
}

fn of_replay(replay: &Replay) -> Vec<(&'static str, String)> {
    let figures = &replay.figures;
    let ratio = replay.total.as_f64() / replay.original.as_f64().max(1.0);
    let mut lines = vec![
        ("time", format!("{}; the trace took {} ({:.3} times as long)", replay.total, replay.original, ratio)),
        ("requests", format!("{}, {}", figures.requests, replay.mode)),
    ];
    if figures.failed > 0 {
        lines.push(("FAILED", format!("{} requests", figures.failed)));
    }
    lines.extend(times(figures).map(|said| ("latency", said)));
    if let Some(late) = &replay.lateness {
        lines.push(("issued late by", format!("{}, {} at most", percentiles(late), late.max)));
    }
    if let Some(depth) = &figures.depth {
        let apart = replay.depth_distance.map_or(String::new(), |apart| {
            format!("; at most {} of requests at another depth than in the trace", percent(apart))
        });
        lines.push(("depth", format!("{:.2} on average, {} at most{apart}", depth.mean, depth.max)));
    }
    if let Some(violations) = replay.order_violations {
        lines.push(("order", format!("{violations} issued before one ended that they had followed in the trace")));
    }
    lines.extend(replay.changes.iter().map(|change| ("changed", change.clone())));
    lines
}

/// Requests by what they asked for, and reads and writes by the class of their size.
pub fn tables(record: &TraceRecord) -> Vec<Table> {
    let replayed = record.replay.as_ref().map(|replay| &replay.figures);
    let mut tables = vec![kinds(replayed.unwrap_or(&record.figures))];
    match replayed {
        None => tables.push(classes("By size", &record.figures)),
        Some(figures) => {
            tables.extend([classes("Replayed, by size", figures), classes("Traced, by size", &record.figures)])
        }
    }
    tables.retain(|table| !table.rows.is_empty());
    tables.extend(failures(record));
    tables
}

fn kinds(figures: &TraceFigures) -> Table {
    let rows = figures.kinds.iter().map(|kind| {
        let mut row = vec![
            Cell::Text(plural(kind.op).to_owned()),
            Cell::Count(kind.requests),
            if kind.op == TraceOp::Flush { Cell::Absent } else { Cell::Size(kind.bytes) },
            Cell::Count(kind.sync),
            Cell::Count(kind.fua),
            Cell::Count(kind.meta),
        ];
        row.extend(time_cells(kind.times.as_ref()));
        row
    });
    Table {
        caption: "By kind".to_owned(),
        columns: columns(["kind", "requests", "data", "sync", "FUA", "metadata", "mean", "p50", "p99", "longest"]),
        rows: rows.collect(),
    }
}

fn classes(caption: &str, figures: &TraceFigures) -> Table {
    let seconds = figures.span.as_secs_f64();
    let rows = figures.classes.iter().map(|class| class_row(class, figures.span, seconds));
    Table {
        caption: caption.to_owned(),
        columns: columns(["kind", "size", "requests", "data", "IOPS", "rate", "mean", "p50", "p99", "longest"]),
        rows: rows.collect(),
    }
}

fn class_row(class: &ClassFigures, span: Nanos, seconds: f64) -> Vec<Cell> {
    let mut row = vec![
        Cell::Text(plural(class.op).to_owned()),
        Cell::Text(class.class.label().to_owned()),
        Cell::Count(class.requests),
        Cell::Size(class.bytes),
        if seconds > 0.0 { Cell::Iops(Iops(class.requests as f64 / seconds)) } else { Cell::Absent },
        ByteRate::of(class.bytes, span).map_or(Cell::Absent, Cell::Rate),
    ];
    row.extend(time_cells(class.times.as_ref()));
    row
}

fn time_cells(times: Option<&ServiceTimes>) -> [Cell; 4] {
    let cell = |time: Option<Nanos>| time.map_or(Cell::Absent, Cell::Time);
    [
        cell(times.map(|times| times.mean)),
        cell(times.and_then(|times| times.p50)),
        cell(times.and_then(|times| times.p99)),
        cell(times.map(|times| times.max)),
    ]
}

fn failures(record: &TraceRecord) -> Option<Table> {
    let failures = &record.replay.as_ref()?.failures;
    let rows = failures.iter().map(|(reason, count)| vec![Cell::Text(reason.clone()), Cell::Count(*count)]);
    (!failures.is_empty()).then(|| Table {
        caption: "Why requests failed".to_owned(),
        columns: columns(["reason", "requests"]),
        rows: rows.collect(),
    })
}

/// What must be known of it.
pub fn notes(record: &TraceRecord) -> Vec<String> {
    let source = &record.source;
    let capacity = source.capacity.map(|capacity| format!("the traced device has {capacity}"));
    let origin = (!source.origin.is_empty()).then(|| source.origin.clone());
    origin.into_iter().chain(capacity).chain(source.notes.iter().cloned()).collect()
}

/// How many cells of a heat map differ in strength.
pub const STRENGTHS: usize = 4;

/// A heat map as points, weakest first, by time in nanoseconds and place in bytes: reads, then writes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatView {
    /// The middle of each cell with reads.
    pub reads: [Vec<(f64, f64)>; STRENGTHS],
    /// The middle of each cell with writes.
    pub writes: [Vec<(f64, f64)>; STRENGTHS],
    /// Where the last cell ends, in time and place.
    pub ends: (f64, f64),
}

/// The heat map of a trace; `None` where nothing was read or written. Strengths follow the logarithm of the count.
pub fn heat(map: &HeatMap) -> Option<HeatView> {
    let most = map.cells.iter().map(|cell| cell.reads.max(cell.writes)).max()?;
    let mut view = HeatView::default();
    let top = (most as f64).ln_1p();
    for cell in &map.cells {
        let at =
            ((f64::from(cell.column) + 0.5) * map.period.as_f64(), (f64::from(cell.row) + 0.5) * map.stretch.as_f64());
        for (count, points) in [(cell.reads, &mut view.reads), (cell.writes, &mut view.writes)] {
            if count > 0 {
                let share = (count as f64).ln_1p() / top;
                points[((share * STRENGTHS as f64) as usize).min(STRENGTHS - 1)].push(at);
            }
        }
        let (time, place) = (map.period.as_f64(), map.stretch.as_f64());
        view.ends.0 = view.ends.0.max(at.0 + time / 2.0);
        view.ends.1 = view.ends.1.max(at.1 + place / 2.0);
    }
    Some(view)
}

fn arrivals(figures: &TraceFigures) -> Option<String> {
    let arrivals = figures.arrivals.as_ref()?;
    let (mean, peak) = (Iops(arrivals.per_s), Iops(arrivals.peak_per_s));
    let gap = arrivals.gap_p50.map_or(String::new(), |gap| format!("; half within {gap} of the one before"));
    Some(format!(
        "{mean} on average, {peak} in the busiest {}{gap}; longest pause {}",
        arrivals.peak_period, arrivals.gap_max
    ))
}

fn times(figures: &TraceFigures) -> Option<String> {
    let each = figures
        .kinds
        .iter()
        .filter_map(|kind| Some(format!("{} {}", plural(kind.op), percentiles(kind.times.as_ref()?))));
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| each.join("; "))
}

fn percentiles(times: &ServiceTimes) -> String {
    let said = [("p50", times.p50), ("p99", times.p99), ("p99.9", times.p999)];
    let said: Vec<String> = said.iter().filter_map(|(name, time)| Some(format!("{name} {}", (*time)?))).collect();
    if said.is_empty() { format!("mean {}", times.mean) } else { said.join(", ") }
}

fn streams(figures: &TraceFigures) -> Option<String> {
    let streams = &figures.streams;
    let ways = [("reads", streams.sequential_reads), ("writes", streams.sequential_writes)];
    let ways: Vec<String> =
        ways.iter().filter_map(|(way, share)| Some(format!("{} of {way}", percent((*share)?)))).collect();
    let runs = streams.mean_run.map_or(String::new(), |mean| format!("; {} runs of {mean} on average", streams.runs));
    (!ways.is_empty()).then(|| ways.join(", ") + &runs)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Requests of this kind, as people call them.
pub fn plural(op: TraceOp) -> &'static str {
    match op {
        TraceOp::Read => "reads",
        TraceOp::Write => "writes",
        TraceOp::Flush => "flushes",
        TraceOp::Discard => "discards",
    }
}

fn columns<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).into()
}

/// Sizes of reads and writes, as whole numbers for bars: the largest size of a bin, and both counts.
pub fn sizes(figures: &TraceFigures) -> Vec<(Bytes, u64, u64)> {
    figures.sizes.iter().map(|bin| (bin.up_to, bin.reads, bin.writes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::trace::HeatCell;

    #[test]
    fn a_heat_map_is_stronger_where_more_happened() {
        let cell = |column, row, reads, writes| HeatCell { column, row, reads, writes };
        let cells = vec![cell(0, 0, 1, 0), cell(1, 0, 0, 1000), cell(3, 2, 1000, 0)];
        let view = heat(&HeatMap { period: Nanos(10), stretch: Bytes(100), cells }).unwrap();
        assert_eq!(view.reads[0], [(5.0, 50.0)]);
        assert_eq!(view.reads[STRENGTHS - 1], [(35.0, 250.0)]);
        assert_eq!(view.writes[STRENGTHS - 1], [(15.0, 50.0)]);
        assert_eq!(view.ends, (40.0, 300.0));
        assert_eq!(heat(&HeatMap::default()), None);
    }
}
