//! The figures of one experiment as tables, for the terminal, the page and other forms alike.

mod discard;
mod drive;
mod memory;
mod patterns;
mod speed;

pub use speed::{Room, performance, remarks};

use crate::contrast;
use crate::rate;
use crate::time;
use flashscope_model::observation::{
    AlignData, AlignEvidence, BoundariesData, FastAreaData, FatData, FloorData, IntervalData, IntervalEvidence,
    OpenUnitsData, Printed, ProgramData, ScatterData, SlideData, Straddle, SurveyData, ThroughputData, UnitTimes,
};
use flashscope_model::{Data, Direction, Order};
use flashscope_units::{ByteRate, Bytes, Contrast, Iops, Nanos};
use std::fmt;

/// A table of figures with their units.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What was done, in one line.
    pub caption: String,
    /// Heads of the columns.
    pub columns: Vec<String>,
    /// The rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing was measured here.
    Absent,
    /// A size or a position.
    Size(Bytes),
    /// A time.
    Time(Nanos),
    /// A difference or a mean of times.
    Contrast(Contrast),
    /// A speed.
    Rate(ByteRate),
    /// Requests per second.
    Iops(Iops),
    /// A number of things.
    Count(u64),
    /// From one time to another.
    Times(Nanos, Nanos),
    /// From one speed to another.
    Rates(ByteRate, ByteRate),
    /// Words.
    Text(String),
}

impl Cell {
    /// Whether it holds words, which are read from the left.
    pub fn is_text(&self) -> bool {
        matches!(self, Cell::Text(_))
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Absent => f.pad("–"),
            Cell::Size(size) => size.fmt(f),
            Cell::Time(time) => time.fmt(f),
            Cell::Contrast(contrast) => contrast.fmt(f),
            Cell::Rate(rate) => rate.fmt(f),
            Cell::Iops(Iops(iops)) if *iops >= 99.5 => f.pad(&format!("{iops:.0}")),
            Cell::Iops(iops) => f.pad(iops.to_string().trim_end_matches("IOPS").trim_end()),
            Cell::Count(count) => count.fmt(f),
            Cell::Times(low, high) => f.pad(&between(*low, *high)),
            Cell::Rates(low, high) => f.pad(&rates(*low, *high)),
            Cell::Text(text) => f.pad(text),
        }
    }
}

/// The tables of one experiment; none where nothing was measured.
pub fn tables(data: &Data) -> Vec<Table> {
    let table = match data {
        Data::Floor(data) => floor(data),
        Data::Survey(data) => survey(data),
        Data::Align(data) => align(data),
        Data::Boundaries(data) => boundaries(data),
        Data::Slide(data) => slide(data),
        Data::OpenUnits(data) => open_units(data),
        Data::Fat(data) => fat(data),
        Data::FastArea(data) => fast_area(data),
        Data::Scatter(data) => scatter(data),
        Data::Interval(data) => interval(data),
        Data::Program(data) => program(data),
        Data::Throughput(data) => throughput(data),
        Data::Buffer(data) => memory::buffer(data),
        Data::ReadCache(data) => return memory::read_cache(data),
        Data::SlcCache(data) => drive::slc_cache(data),
        Data::Parallel(data) => drive::parallel(data),
        Data::MapReach(data) => drive::map_reach(data),
        Data::Overwrite(data) => drive::overwrite(data),
        Data::Cells(data) => drive::cells(data),
        Data::Discard(data) => discard::discard(data),
        Data::Patterns(data) => patterns::patterns(data),
    };
    if table.rows.is_empty() { Vec::new() } else { vec![table] }
}

/// `sequential read`, `random write`.
pub fn work(direction: Direction, order: Order) -> String {
    format!("{} {}", order_word(order), direction_word(direction))
}

/// `sequential reads`, `random writes`.
pub fn works(direction: Direction, order: Order) -> String {
    format!("{} {}s", order_word(order), direction_word(direction))
}

/// `read` or `write`.
pub fn direction_word(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "read",
        Direction::Write => "write",
    }
}

/// `sequential` or `random`.
pub fn order_word(order: Order) -> &'static str {
    match order {
        Order::InOrder => "sequential",
        Order::Random => "random",
    }
}

/// `sequentially` or `randomly`.
pub fn order_adverb(order: Order) -> &'static str {
    match order {
        Order::InOrder => "sequentially",
        Order::Random => "randomly",
    }
}

fn floor(data: &FloorData) -> Table {
    let summary = time::summary(&data.times);
    Table {
        caption: format!("{} at {}, read again and again", data.block, data.at),
        columns: heads(&SUMMARY),
        rows: summary.map(summary_row).into_iter().collect(),
    }
}

fn survey(data: &SurveyData) -> Table {
    let mut places: Vec<_> = data.places.iter().collect();
    places.sort_by_key(|place| place.at);
    let rows = places.into_iter().map(|place| {
        let content = match place.uniform {
            Some(byte) => Cell::Text(format!("all {byte:#04x}")),
            None => Cell::Text("data".to_owned()),
        };
        vec![Cell::Size(place.at), shortest(&place.times), content]
    });
    Table {
        caption: format!("reads of {} at random places", data.block),
        columns: heads(&["position", "shortest", "content"]),
        rows: rows.collect(),
    }
}

fn align(data: &AlignData) -> Table {
    let rows = data.rows.iter().map(|row| {
        let figures = match &row.evidence {
            AlignEvidence::Places(places) => {
                let [pre, on, post] = [straddle_pre, straddle_on, straddle_post].map(|of| mean_of_minima(places, of));
                let diff = pre.zip(on).zip(post).map(|((pre, on), post)| on - (pre + post) / 2.0);
                [pre, on, post, diff].map(|ns| ns.map(Contrast))
            }
            AlignEvidence::Printed { pre, on, post, diff } => {
                let diff = contrast::printed_diff(*pre, *on, *post, *diff);
                let value = |printed: &Option<Printed<Contrast>>| printed.map(|printed| printed.value);
                [value(pre), value(on), value(post), diff]
            }
        };
        std::iter::once(Cell::Size(row.align)).chain(figures.map(or_absent(Cell::Contrast))).collect()
    });
    let block = data.block.map_or("blocks of unknown size".to_owned(), |block| format!("blocks of {block}"));
    let verb = direction_word(data.direction);
    let access = if data.access == 1 { String::new() } else { format!(", accesses of {} blocks", data.access) };
    Table {
        caption: format!(
            "{verb} {block}{access} before, across and after boundaries: mean over places of the shortest time"
        ),
        columns: heads(&["align", "pre", "on", "post", "diff"]),
        rows: rows.collect(),
    }
}

fn boundaries(data: &BoundariesData) -> Table {
    let rows = data.candidates.iter().filter_map(|found| {
        let view = contrast::candidate(found.size, &found.places)?;
        let (low, high) = view.interval.unzip();
        Some(vec![
            Cell::Size(view.size),
            Cell::Contrast(view.centre),
            or_absent(Cell::Contrast)(low),
            or_absent(Cell::Contrast)(high),
            Cell::Count(view.places.len() as u64),
        ])
    });
    Table {
        caption: format!("reads of {} across multiples of each size that are no multiples of a larger one", data.block),
        columns: heads(&["candidate", "contrast", "95 % low", "95 % high", "places"]),
        rows: rows.collect(),
    }
}

fn open_units(data: &OpenUnitsData) -> Table {
    let rows = data.rows.iter().map(|row| {
        let rate = rate::of_rounds(row.block, data.count.unwrap_or(1), &row.rate);
        let (slowest, fastest) = rate.and_then(|rate| rate.range).unzip();
        vec![
            Cell::Size(row.block),
            or_absent(Cell::Rate)(rate.map(|rate| rate.mean)),
            or_absent(Cell::Rate)(slowest),
            or_absent(Cell::Rate)(rate.filter(|rate| rate.range.is_some()).map(|rate| rate.median)),
            or_absent(Cell::Rate)(fastest),
        ]
    });
    let count = match data.count {
        None => "several units".to_owned(),
        Some(1) => "one unit".to_owned(),
        Some(count) => format!("{count} units"),
    };
    let unit = data.unit.map_or(String::new(), |unit| format!(" of {unit}"));
    Table {
        caption: format!("{count}{unit} written in turn, each {}", order_adverb(data.order)),
        columns: heads(&["block", "rate", "slowest round", "median round", "fastest round"]),
        rows: rows.collect(),
    }
}

fn fat(data: &FatData) -> Table {
    let units = data.rows.iter().map(|row| row.units.len()).max().unwrap_or(0);
    let rows = data.rows.iter().map(|row| {
        let rate = |at: usize| row.units.get(at).and_then(|unit| rate::of_evidence(row.block, unit));
        std::iter::once(Cell::Size(row.block)).chain((0..units).map(rate).map(or_absent(Cell::Rate))).collect()
    });
    let order = data.order.map_or(String::new(), |order| format!(", each {}", order_adverb(order)));
    let mut columns = vec!["block".to_owned()];
    columns.extend((0..units).map(|unit| format!("unit {unit}")));
    Table { caption: format!("writes to each of the first units{order}"), columns, rows: rows.collect() }
}

fn fast_area(data: &FastAreaData) -> Table {
    let row = |role: &str, unit: &UnitTimes| {
        let summary = time::summary(&unit.times);
        vec![
            Cell::Size(unit.at),
            Cell::Text(role.to_owned()),
            or_absent(Cell::Rate)(summary.and_then(|summary| ByteRate::of(data.block, summary.mean))),
            or_absent(Cell::Time)(summary.map(|summary| summary.median)),
            or_absent(Cell::Time)(summary.map(|summary| summary.max)),
        ]
    };
    let suspects = data.suspects.iter().map(|unit| row("suspect", unit));
    let controls = data.controls.iter().map(|unit| row("control", unit));
    Table {
        caption: format!("{} {} in units of {}", data.block, works(data.direction, data.order), data.unit),
        columns: heads(&["unit at", "role", "rate", "median", "longest"]),
        rows: suspects.chain(controls).collect(),
    }
}

/// Longest first: the places at boundaries stand at the top.
fn slide(data: &SlideData) -> Table {
    let mut places: Vec<(Nanos, Bytes)> =
        data.places.iter().filter_map(|place| Some((*place.times.iter().min()?, place.at))).collect();
    places.sort_unstable_by(|a, b| b.cmp(a));
    Table {
        caption: format!("shortest reads of {} across each place, every {}, longest first", data.block, data.step),
        columns: heads(&["position", "shortest"]),
        rows: places.into_iter().map(|(time, at)| vec![Cell::Size(at), Cell::Time(time)]).collect(),
    }
}

fn scatter(data: &ScatterData) -> Table {
    let length = data.length.map_or(String::new(), |length| format!(" of {length}"));
    let mut places: Vec<_> = data.places.iter().collect();
    places.sort_by_key(|place| place.at);
    Table {
        caption: format!("reads{length} at each position"),
        columns: heads(&["position", "shortest"]),
        rows: places.into_iter().map(|place| vec![Cell::Size(place.at), shortest(&place.times)]).collect(),
    }
}

fn interval(data: &IntervalData) -> Table {
    let rows = data.rows.iter().map(|row| {
        let [min, avg, max] = match &row.evidence {
            IntervalEvidence::Times(times) => {
                let summary = time::summary(times);
                let contrast = |time: Nanos| Contrast(time.as_f64());
                [summary.map(|of| of.min), summary.map(|of| of.mean), summary.map(|of| of.max)]
                    .map(|time| time.map(contrast))
            }
            IntervalEvidence::Printed { min, avg, max } => [min, avg, max].map(|time| time.map(|time| time.value)),
        };
        let rate = min.filter(|min| min.get() > 0.0).map(|min| ByteRate(row.size.as_f64() / min.get() * 1e9));
        let times = [min, avg, max].map(or_absent(Cell::Contrast));
        std::iter::once(Cell::Size(row.size)).chain(times).chain([or_absent(Cell::Rate)(rate)]).collect()
    });
    Table {
        caption: "reads by size".to_owned(),
        columns: heads(&["size", "shortest", "mean", "longest", "rate of shortest"]),
        rows: rows.collect(),
    }
}

fn program(data: &ProgramData) -> Table {
    const COLUMNS: [&str; 8] =
        ["zeros", "ones", "0x5a", "read", "random zeros", "random ones", "random 0x5a", "random read"];
    let rows = data.rows.iter().map(|row| {
        let rate = |at: usize| row.columns.get(at).and_then(|column| rate::of_evidence(row.block, column));
        std::iter::once(Cell::Size(row.block)).chain((0..COLUMNS.len()).map(rate).map(or_absent(Cell::Rate))).collect()
    });
    let region = data.region.map_or("a region".to_owned(), |region| region.to_string());
    let mut columns = vec!["block".to_owned()];
    columns.extend(heads(&COLUMNS));
    Table { caption: format!("writes of three contents and reads over {region}"), columns, rows: rows.collect() }
}

fn throughput(data: &ThroughputData) -> Table {
    let row = time::summary(&data.times).map(|summary| {
        let mut row = summary_row(summary);
        row.push(or_absent(Cell::Rate)(ByteRate::of(data.block, summary.mean)));
        row
    });
    let mut columns = heads(&SUMMARY);
    columns.push("rate".to_owned());
    let place = format!("{} from {}", data.length, data.start);
    Table {
        caption: format!("{} {} over {place}", data.block, works(data.direction, data.order)),
        columns,
        rows: row.into_iter().collect(),
    }
}

const SUMMARY: [&str; 6] = ["requests", "shortest", "median", "mean", "p99", "longest"];

fn summary_row(summary: time::Summary) -> Vec<Cell> {
    vec![
        Cell::Count(summary.requests as u64),
        Cell::Time(summary.min),
        Cell::Time(summary.median),
        Cell::Time(summary.mean),
        or_absent(Cell::Time)(summary.p99),
        Cell::Time(summary.max),
    ]
}

/// Both ends in the unit of the upper one, unless the lower one is so small that this would hide it.
fn between(low: Nanos, high: Nanos) -> String {
    let (low_text, high_text) = (low.to_string(), high.to_string());
    let (Some((bare, unit)), Some((figure, other))) = (low_text.split_once(' '), high_text.split_once(' ')) else {
        return format!("{low_text} … {high_text}");
    };
    let scale = figure.parse::<f64>().map_or(0.0, |figure| figure / high.as_f64());
    match low.as_f64() * scale {
        _ if unit == other => format!("{bare} … {high_text}"),
        small if small >= 0.0095 => format!("{small:.2} … {high_text}"),
        _ => format!("{low_text} … {high_text}"),
    }
}

/// `26.2 … 27.5 MB/s` where both ends have the same unit.
fn joined(low: &str, high: &str) -> String {
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((bare, unit)), Some((_, same))) if unit == same => format!("{bare} … {high}"),
        _ => format!("{low} … {high}"),
    }
}

/// Rates of one interval have one unit, that of the upper end, where the lower end still has digits to show in it.
fn rates(low: ByteRate, high: ByteRate) -> String {
    let (below, above) = (low.to_string(), high.to_string());
    let unit = [("KB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9)].into_iter().find(|(unit, _)| above.ends_with(unit));
    match unit {
        Some((unit, factor)) if !below.ends_with(unit) && low.0 >= 0.01 * factor => {
            format!("{:.3} … {above}", low.0 / factor)
        }
        _ => joined(&below, &above),
    }
}

fn heads(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn or_absent<T>(cell: fn(T) -> Cell) -> impl Fn(Option<T>) -> Cell {
    move |figure| figure.map_or(Cell::Absent, cell)
}

fn shortest(times: &[Nanos]) -> Cell {
    or_absent(Cell::Time)(times.iter().min().copied())
}

fn straddle_pre(place: &Straddle) -> &[Nanos] {
    &place.pre
}

fn straddle_on(place: &Straddle) -> &[Nanos] {
    &place.on
}

fn straddle_post(place: &Straddle) -> &[Nanos] {
    &place.post
}

/// flashbench's figure: the shortest time at each place, and the mean of these over the places.
fn mean_of_minima(places: &[Straddle], of: fn(&Straddle) -> &[Nanos]) -> Option<f64> {
    let minima: Vec<f64> = places.iter().filter_map(|place| of(place).iter().min()).map(|time| time.as_f64()).collect();
    (!minima.is_empty()).then(|| minima.iter().sum::<f64>() / minima.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::observation::AlignRow;

    #[test]
    fn an_interval_of_rates_has_one_unit() {
        let check = |low: f64, high: f64, expect: &str| assert_eq!(rates(ByteRate(low), ByteRate(high)), expect);
        check(35.2e3, 54.9e3, "35.2 … 54.9 KB/s");
        check(723e3, 2.13e6, "0.723 … 2.13 MB/s");
        check(12.4e3, 1.05e6, "0.012 … 1.05 MB/s");
        check(4.2e3, 1.05e6, "4.20 KB/s … 1.05 MB/s");
    }

    #[test]
    fn align_prints_the_mean_over_places_of_minima() {
        let place = |on: u64| Straddle {
            at: Bytes::ZERO,
            pre: vec![Nanos(100), Nanos(90)],
            on: vec![Nanos(on), Nanos(on + 50)],
            post: vec![Nanos(110)],
        };
        let data = AlignData {
            direction: Direction::Read,
            block: Some(Bytes::kib(1)),
            access: 1,
            rows: vec![AlignRow {
                align: Bytes::kib(2),
                evidence: AlignEvidence::Places(vec![place(200), place(300)]),
            }],
        };
        let table = &tables(&Data::Align(data))[0];
        let expect = [90.0, 250.0, 110.0, 150.0].map(|ns| Cell::Contrast(Contrast(ns)));
        assert_eq!(table.rows[0][1..], expect);
    }

    #[test]
    fn nothing_measured_makes_no_table() {
        assert_eq!(tables(&Data::Scatter(ScatterData { length: None, places: Vec::new() })), []);
        assert_eq!(tables(&Data::Floor(FloorData { block: Bytes(512), at: Bytes::ZERO, times: Vec::new() })), []);
    }
}
