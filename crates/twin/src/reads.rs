//! Times of reads in closed form, to start the refinement from: levels of the contrasts, and the line through reads
//! that touch nothing else.

use crate::card::{Card, Origin};
use crate::measured::Measured;
use crate::memory::gcd;
use crate::shape::Shape;
use flashscope_model::Data;
use flashscope_model::observation::{
    AlignData, AlignEvidence, BoundariesData, IntervalEvidence, Straddle, ThroughputData,
};
use flashscope_model::{Direction, Order};
use flashscope_stats::line::weighted_least_squares;
use flashscope_stats::location::median;
use flashscope_units::Bytes;

/// Accesses around boundaries with one block size.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) block: Bytes,
    /// The boundaries' size, the time of an access that ends there, and what straddling adds; nanoseconds.
    rows: Vec<(Bytes, f64, f64)>,
}

/// The read tables of a measurement; each boundary by what it is of on a device that keeps this much flash in front of the
/// host's first byte.
pub(crate) fn tables(measured: &Measured, in_front: Bytes) -> Vec<Table> {
    let tables = measured.observations.runs.iter().filter_map(|run| match &run.data {
        Data::Align(data) if data.direction == Direction::Read => Some(of_align(data, in_front)),
        Data::Boundaries(data) => Some(of_boundaries(data, in_front)),
        _ => None,
    });
    tables.filter(|table| !table.rows.is_empty()).collect()
}

fn of_align(data: &AlignData, in_front: Bytes) -> Table {
    let smallest = data.rows.iter().map(|row| row.align).min().unwrap_or(Bytes::kib(2));
    let rows = data.rows.iter().filter_map(|row| match &row.evidence {
        AlignEvidence::Places(places) => means(shifted(row.align, in_front), places),
        AlignEvidence::Printed { pre, on, post, diff } => {
            let (pre, post) = (pre.as_ref()?.value.get(), post.as_ref()?.value.get());
            let diff = diff.as_ref().map(|diff| diff.value.get());
            let diff = diff.or_else(|| on.as_ref().map(|on| on.value.get() - (pre + post) / 2.0))?;
            Some((shifted(row.align, in_front), pre, diff))
        }
    });
    Table { block: data.block.unwrap_or(smallest / 2), rows: rows.collect() }
}

fn of_boundaries(data: &BoundariesData, in_front: Bytes) -> Table {
    let size = |size: Bytes| shifted(size, data.offset + in_front);
    let rows = data.candidates.iter().filter_map(|candidate| means(size(candidate.size), &candidate.places));
    Table { block: data.block, rows: rows.collect() }
}

/// What multiples of a size are multiples of when all of them lie this much further.
fn shifted(size: Bytes, by: Bytes) -> Bytes {
    Bytes(gcd(size.get(), by.get()))
}

fn means(size: Bytes, places: &[Straddle]) -> Option<(Bytes, f64, f64)> {
    let minimum = |times: &[flashscope_units::Nanos]| Some(times.iter().min()?.as_f64());
    let minima: Vec<[f64; 3]> = places
        .iter()
        .filter_map(|place| Some([minimum(&place.pre)?, minimum(&place.on)?, minimum(&place.post)?]))
        .collect();
    let mean = |role: usize| {
        let values: Vec<f64> = minima.iter().map(|times| times[role]).collect();
        median(&values)
    };
    let (pre, on, post) = (mean(0)?, mean(1)?, mean(2)?);
    Some((size, pre, on - (pre + post) / 2.0))
}

impl Table {
    /// Median of what straddling costs at boundaries that `which` picks.
    fn level(&self, which: impl Fn(Bytes) -> bool) -> Option<f64> {
        let contrasts: Vec<f64> = self.rows.iter().filter(|(size, ..)| which(*size)).map(|row| row.2).collect();
        median(&contrasts)
    }

    /// Levels of whole units, of half units, and of whatever lies between half units and pages.
    pub(crate) fn levels_around_half(&self, unit: Bytes, page: Bytes) -> Option<[f64; 3]> {
        let half = unit / 2;
        Some([
            self.level(|size| size.is_multiple_of(unit))?,
            self.level(|size| size.is_multiple_of(half) && !size.is_multiple_of(unit))?,
            self.level(|size| size.is_multiple_of(page) && !size.is_multiple_of(half))?,
        ])
    }

    /// Median time of an access that ends at a boundary of at least a page.
    fn plain(&self, page: Bytes) -> Option<f64> {
        let times: Vec<f64> = self.rows.iter().filter(|(size, ..)| *size >= page).map(|row| row.1).collect();
        median(&times).or_else(|| median(&self.rows.iter().map(|row| row.1).collect::<Vec<f64>>()))
    }
}

/// Contrasts below this are not told from nothing, in nanoseconds.
const LEAST: f64 = 4e3;
/// The wire, where nothing tells it: twice the fastest transfer that was seen, and at least this.
const LEAST_WIRE: f64 = 20e6;

/// The parameters of reading that the refinement may change, in the order in which it should.
pub(crate) const REFINED: [&str; 9] = [
    "link.command",
    "link.bytes_per_s",
    "mapping.read.sense",
    "mapping.read.unit_edge.time",
    "mapping.read.sub_unit_edge.time",
    "mapping.read.inner_edge",
    "mapping.read.unit_switch",
    "mapping.read.decode",
    "mapping.read.unit_edge.hidden",
];

/// Fills in the times of reading.
pub(crate) fn fill(card: &mut Card, measured: &Measured, shape: &Shape) {
    let tables = tables(measured, shape.in_front());
    let (unit, page, inner) = (shape.unit.value, shape.page.value, shape.page_inner.value);
    let all = |level: &dyn Fn(&Table) -> Option<f64>| {
        median(&tables.iter().filter_map(level).collect::<Vec<f64>>()).unwrap_or(0.0)
    };
    let from_tables = || Origin::Fitted("to the accesses around boundaries".to_owned());
    let hidden = |why: &str| Origin::Default(why.to_owned());

    let unit_shows = !shape.unit.is_default();
    let sub_shows = shape.half_shows();
    let page_shows = !shape.page.is_default();
    let at_page = all(&|table: &Table| {
        let below = |size: Bytes| !unit_shows || !size.is_multiple_of(unit);
        let half = |size: Bytes| sub_shows && size.is_multiple_of(shape.sub_unit.value);
        table.level(|size| size.is_multiple_of(page) && below(size) && !half(size))
    });
    let at_unit = all(&|table: &Table| table.level(|size| size.is_multiple_of(unit)));
    let at_sub = all(&|table: &Table| {
        table.level(|size| size.is_multiple_of(shape.sub_unit.value) && !size.is_multiple_of(unit))
    });
    let at_inner = all(&|table: &Table| table.level(|size| size.is_multiple_of(inner) && !size.is_multiple_of(page)));
    let chunk = Bytes::kib(2).min(inner);
    let at_chunk = all(&|table: &Table| table.level(|size| size.is_multiple_of(chunk) && !size.is_multiple_of(inner)));

    let decode = if page_shows && at_chunk > LEAST { at_chunk } else { 0.0 };
    card.set_size("mapping.read.chunk", chunk, hidden("usual for cards"));
    let told = if decode > 0.0 { from_tables() } else { hidden("edges inside a page cost nothing that shows") };
    card.set_time("mapping.read.decode", decode, told);
    if page_shows {
        card.set_time("mapping.read.sense", (at_page - decode).max(LEAST), from_tables());
    } else {
        card.set_time("mapping.read.sense", 0.0, hidden("no page shows"));
    }
    if inner < page {
        card.set_time("mapping.read.inner_edge", (at_inner - decode).max(LEAST), from_tables());
    } else {
        card.set_time("mapping.read.inner_edge", 0.0, hidden("no level shows inside the page"));
    }
    let edge = if unit_shows { (at_unit - at_page).max(LEAST) } else { 0.0 };
    let told = if unit_shows { from_tables() } else { hidden("no unit shows to reads") };
    card.set_time("mapping.read.unit_edge.time", edge, told);
    card.set_share("mapping.read.unit_edge.hidden", 0.0, hidden("told by several block sizes only"));
    let sub_edge = if sub_shows && unit_shows { (at_sub - at_page).max(LEAST).min(edge * 0.9) } else { 0.0 };
    let told = if sub_shows { from_tables() } else { hidden("no level shows between page and unit") };
    card.set_time("mapping.read.sub_unit_edge.time", sub_edge, told);
    card.set_share("mapping.read.sub_unit_edge.hidden", 0.0, hidden("told by several block sizes only"));
    card.set_time("mapping.read.small_lookup", 0.0, hidden("nobody read back small writes"));
    if tables.iter().map(|table| table.block).max() > tables.iter().map(|table| table.block).min() {
        card.set_share("mapping.read.unit_edge.hidden", 0.02, from_tables());
    }
    line(card, measured, &tables, page);
}

/// Command and wire, and what a change of units costs.
fn line(card: &mut Card, measured: &Measured, tables: &[Table], page: Bytes) {
    let sense = card.number("mapping.read.sense");
    let inside = sense + card.number("mapping.read.decode");
    let still = still_reads(measured);
    let moved: Vec<(Bytes, f64)> = tables.iter().filter_map(|table| Some((table.block, table.plain(page)?))).collect();
    let stream = streams(measured);
    let senses = |block: Bytes| sense * (block.as_f64() / page.as_f64()).ceil().max(1.0) + (inside - sense);
    // What is read again and again does not come from the flash where it lies in the read buffer.
    let at_hand = card.size("read_buffer.size").unwrap_or(Bytes::ZERO);
    let of_still = |block: Bytes| if block <= at_hand { 0.0 } else { senses(block) };
    let with = |points: &[(Bytes, f64)], senses: &dyn Fn(Bytes) -> f64| -> Vec<Point> {
        points.iter().map(|(block, time)| Point { block: *block, time: *time, inside: senses(*block) }).collect()
    };
    let (still, moved) = (with(&still, &of_still), with(&moved, &senses));
    let mut points = if still.len() >= 2 { still.clone() } else { moved.clone() };
    points.extend(with(&stream, &senses));
    let wire = wire(&points);
    let rate = wire.unwrap_or_else(|| (2.0 * fastest(measured)).max(LEAST_WIRE));
    let told = match wire {
        Some(_) => Origin::Fitted("to reads of several sizes".to_owned()),
        None => Origin::Default("reads of one size only: above the fastest transfer that was seen".to_owned()),
    };
    card.set_share("link.bytes_per_s", rate.round(), told);

    let fixed = |points: &[Point]| {
        let rest = |point: &Point| point.time - point.block.as_f64() / rate * 1e9 - point.inside;
        let smallest = points.iter().map(|point| point.block).min()?;
        median(&points.iter().filter(|point| point.block <= smallest * 8).map(rest).collect::<Vec<f64>>())
    };
    match (fixed(&still), fixed(&moved)) {
        (Some(still), moved) => {
            card.set_time("link.command", still.max(1e3), Origin::Fitted("to reads within one unit".to_owned()));
            let told = Origin::Fitted("to reads in changing units against those within one".to_owned());
            card.set_time("mapping.read.unit_switch", moved.map_or(0.0, |moved| moved - still), told);
        }
        (None, Some(moved)) => {
            card.set_time(
                "link.command",
                moved.max(1e3),
                Origin::Fitted("to the accesses around boundaries".to_owned()),
            );
            let why = "not told from the command: every read was in another unit than the last one";
            card.set_time("mapping.read.unit_switch", 0.0, Origin::Default(why.to_owned()));
        }
        (None, None) => {
            card.set_time("link.command", 300e3, Origin::Default("nothing was read; usual for cards".to_owned()));
            card.set_time("mapping.read.unit_switch", 0.0, Origin::Default("nothing was read".to_owned()));
        }
    }
}

/// A read of one size.
#[derive(Clone, Copy)]
struct Point {
    block: Bytes,
    /// Nanoseconds of all of it.
    time: f64,
    /// Those that the flash takes.
    inside: f64,
}

/// The rate at which longer reads take longer.
fn wire(points: &[Point]) -> Option<f64> {
    let x: Vec<f64> = points.iter().map(|point| point.block.as_f64()).collect();
    let y: Vec<f64> = points.iter().map(|point| point.time - point.inside).collect();
    let weights: Vec<f64> = points.iter().map(|point| point.time.powi(-2)).collect();
    let largest = x.iter().copied().fold(0.0, f64::max);
    let smallest = x.iter().copied().fold(f64::MAX, f64::min);
    if largest < 4.0 * smallest {
        return None;
    }
    let slope = weighted_least_squares(&x, &y, &weights).ok()?.slope;
    (slope > 0.0).then(|| 1e9 / slope).filter(|rate| (1e5..1e11).contains(rate))
}

/// Reads that stay in one unit: one block again and again, and the small sizes of an interval table.
fn still_reads(measured: &Measured) -> Vec<(Bytes, f64)> {
    let mut found = Vec::new();
    for run in &measured.observations.runs {
        match &run.data {
            Data::Floor(data) => found.extend(data.times.iter().min().map(|time| (data.block, time.as_f64()))),
            Data::Interval(data) => {
                let times = data.rows.iter().filter_map(|row| match &row.evidence {
                    IntervalEvidence::Times(times) => Some((row.size, times.iter().min()?.as_f64())),
                    IntervalEvidence::Printed { min, .. } => Some((row.size, min.as_ref()?.value.get())),
                });
                found.extend(times);
            }
            _ => {}
        }
    }
    found
}

/// Long sequential reads.
fn streams(measured: &Measured) -> Vec<(Bytes, f64)> {
    let in_order = |data: &&ThroughputData| data.direction == Direction::Read && data.order == Order::InOrder;
    let runs = measured.observations.runs.iter().filter_map(|run| match &run.data {
        Data::Throughput(data) => Some(data).filter(in_order),
        _ => None,
    });
    runs.filter_map(|data| {
        let times: Vec<f64> = data.times.iter().map(|time| time.as_f64()).collect();
        Some((data.block, median(&times)?))
    })
    .collect()
}

/// The fastest transfer in the measurement, in bytes per second.
fn fastest(measured: &Measured) -> f64 {
    crate::writes::in_order(measured, None).iter().map(|(block, time)| block.as_f64() / time * 1e9).fold(0.0, f64::max)
}
