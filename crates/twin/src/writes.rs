//! Times of writes in closed form, to start the refinement from: whole pages in order, pieces of pages, and what a
//! write costs more where a unit must be merged.

use crate::card::{Card, Origin};
use crate::measured::Measured;
use crate::memory;
use crate::shape::{OutOfOrder, Shape, Sourced};
use flashscope_model::Data;
use flashscope_model::observation::{RateEvidence, UnitTimes};
use flashscope_model::{Direction, Order};
use flashscope_stats::line::weighted_least_squares;
use flashscope_stats::location::median;
use flashscope_units::{Bytes, Nanos};
use std::collections::{BTreeMap, BTreeSet};

/// Block size and nanoseconds of one write.
type Points = Vec<(Bytes, f64)>;

/// A log for small writes, where its size does not show.
const SMALL_PAGES: u64 = 16;
/// A merge whose parts are not told apart is copies for this share.
const COPIES: f64 = 0.9;
/// However short writes are, this share of a read's time is the command.
const LEAST_COMMAND: f64 = 0.2;
/// Units at the start that are not taken for ordinary ones while nothing is known of an area.
const DOUBTFUL: u64 = 2;

/// The parameters of writing that the refinement may change, in the order in which it should.
pub(crate) const REFINED: [&str; 9] = [
    "mapping.program.page",
    "link.durable_write",
    "mapping.merge.copy",
    "mapping.merge.fixed",
    "mapping.small.program",
    "mapping.small.collect_shortest",
    "mapping.areas.0.program",
    "mapping.areas.0.small_program",
    "mapping.areas.0.erase",
];

/// What was written to in turn, and how.
struct Sample {
    block: Bytes,
    order: Order,
    /// Units written in turn.
    units: u32,
    /// Where, as far as it is known.
    at: Option<Bytes>,
    /// Whether each unit was written from its start to its end.
    whole_units: bool,
    /// Nanoseconds of one write: the middle one of samples, the mean of a printed rate.
    typical: f64,
    /// The mean.
    mean: f64,
}

fn samples(measured: &Measured) -> Vec<Sample> {
    let buffered = memory::takes_durable_writes(measured);
    let times = |block: Bytes, rate: &RateEvidence| {
        let (typical, mean) = times(block, rate)?;
        // Most writes into memory take no time of the flash's: in the long run they take the mean.
        Some((if buffered { mean } else { typical }, mean))
    };
    let mut found = Vec::new();
    for run in &measured.observations.runs {
        match &run.data {
            Data::OpenUnits(data) => {
                let units = data.count.unwrap_or(data.units.len() as u32);
                found.extend(data.rows.iter().filter(|_| units > 0).filter_map(|row| {
                    let (typical, mean) = times(row.block, &row.rate)?;
                    Some(Sample {
                        block: row.block,
                        order: data.order,
                        units,
                        at: None,
                        whole_units: data.rows.len() > 1,
                        typical,
                        mean,
                    })
                }));
            }
            Data::Fat(data) => {
                let unit = data.unit.or(data.rows.iter().map(|row| row.block).max()).unwrap_or(Bytes::ZERO);
                for row in &data.rows {
                    found.extend(row.units.iter().enumerate().filter_map(|(index, rate)| {
                        let (typical, mean) = times(row.block, rate)?;
                        let at = Some(data.offset.unwrap_or(Bytes::ZERO) + unit * index as u64);
                        let order = data.order.unwrap_or(Order::InOrder);
                        Some(Sample { block: row.block, order, units: 1, at, whole_units: true, typical, mean })
                    }));
                }
            }
            Data::FastArea(data) if data.direction == Direction::Write => {
                // They are written in turn, no more of them than can be open.
                let of = |unit: &UnitTimes| {
                    let (typical, mean) = times(data.block, &RateEvidence::Times(unit.times.clone()))?;
                    let at = Some(unit.at);
                    let (block, order) = (data.block, data.order);
                    Some(Sample { block, order, units: 1, at, whole_units: false, typical, mean })
                };
                found.extend(data.suspects.iter().chain(&data.controls).filter_map(of));
            }
            Data::Throughput(data) if data.direction == Direction::Write => {
                // A random one over many units shows how many can be open, and is no sample of one unit.
                let many = data.order == Order::Random && data.purpose != flashscope_model::plan::Purpose::OneUnit;
                let samples = times(data.block, &RateEvidence::Times(data.times.clone())).filter(|_| !many);
                found.extend(samples.map(|(typical, mean)| Sample {
                    block: data.block,
                    order: data.order,
                    units: 1,
                    at: Some(data.start),
                    whole_units: false,
                    typical,
                    mean,
                }));
            }
            _ => {}
        }
    }
    found
}

fn times(block: Bytes, rate: &RateEvidence) -> Option<(f64, f64)> {
    match rate {
        RateEvidence::Times(times) => {
            let all: Vec<f64> = times.iter().map(|time| time.as_f64()).collect();
            let total: Nanos = times.iter().copied().sum();
            Some((median(&all)?, total.as_f64() / all.len().max(1) as f64))
        }
        RateEvidence::Printed(printed) => {
            let rate = printed.value.get();
            (rate > 0.0).then(|| (block.as_f64() / rate * 1e9, block.as_f64() / rate * 1e9))
        }
    }
}

/// Block sizes of writes in this order to few units.
pub(crate) fn in_order_blocks(measured: &Measured, order: Order) -> BTreeSet<Bytes> {
    samples(measured).iter().filter(|sample| sample.order == order && sample.units == 1).map(|s| s.block).collect()
}

/// Writes in order to ordinary units, or to those of an area where one is named, one or few units at a time: the
/// middle figure of each block size.
pub(crate) fn in_order(measured: &Measured, area: Option<(Bytes, Bytes)>) -> Points {
    points(measured, Order::InOrder, |sample| {
        let open = match (area, sample.at) {
            (Some((start, end)), Some(at)) => start <= at && at < end,
            (Some(_), None) => false,
            (None, at) => at.is_none_or(|at| at >= sample.block.max(Bytes::mib(1)) * DOUBTFUL),
        };
        open && sample.units == 1
    })
}

fn points(measured: &Measured, order: Order, pick: impl Fn(&Sample) -> bool) -> Points {
    grouped(measured, order, pick, |sample| sample.typical)
}

fn grouped(measured: &Measured, order: Order, pick: impl Fn(&Sample) -> bool, of: impl Fn(&Sample) -> f64) -> Points {
    let mut groups: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    for sample in samples(measured).iter().filter(|sample| sample.order == order && pick(sample)) {
        groups.entry(sample.block).or_default().push(of(sample));
    }
    groups.into_iter().filter_map(|(block, times)| Some((block, median(&times)?))).collect()
}

/// Ordinary sequential writes: outside the area.
fn ordinary(measured: &Measured, shape: &Shape) -> Points {
    let outside = |at: Bytes| shape.area.is_none_or(|(start, end)| at < start || at >= end);
    let doubtful = shape.unit.value * DOUBTFUL;
    let clear = |sample: &Sample| sample.at.is_none_or(|at| outside(at) && (shape.area.is_some() || at >= doubtful));
    let found = points(measured, Order::InOrder, |sample| sample.units == 1 && clear(sample));
    if found.is_empty() { points(measured, Order::InOrder, |sample| within_limit(sample, shape)) } else { found }
}

fn within_limit(sample: &Sample, shape: &Shape) -> bool {
    shape.limits.of(sample.order == Order::Random).map_or(sample.units <= 2, |limit| sample.units <= limit)
}

fn at_block(points: &Points, block: Bytes) -> Option<f64> {
    points.iter().find(|point| point.0 == block).map(|point| point.1)
}

/// Fills in the times of writing.
pub(crate) fn fill(card: &mut Card, measured: &Measured, shape: &Shape) {
    let in_order = ordinary(measured, shape);
    if in_order.is_empty() {
        return nothing_written(card);
    }
    pages(card, &in_order, shape);
    small(card, &in_order, shape);
    if let Some(area) = shape.area {
        area_times(card, &self::in_order(measured, Some(area)), shape);
    }
    merges(card, measured, &in_order, shape);
    chance(card, measured, shape);
}

/// A row that takes longer than others by this share met a stall; what is below is how blocks differ.
const STALL: f64 = 0.1;
/// Blocks do not differ by more than this share: rows that do were met in different states.
const MOST_SPREAD: f64 = 0.05;
/// Fewer figures that ought to be equal say nothing of chance.
const LEAST_ALIKE: usize = 4;
/// Rows of large blocks: few requests a unit.
const LARGE_BLOCKS: u64 = 8;

/// How much units differ, and how often the controller does something else first, by the rows that ought to be equal: whole
/// ordinary units in order, in large blocks.
fn chance(card: &mut Card, measured: &Measured, shape: &Shape) {
    let unit = shape.unit.value;
    let outside = |at: Bytes| shape.area.is_none_or(|(start, end)| at < start || at >= end);
    let mut groups: BTreeMap<Bytes, Vec<f64>> = BTreeMap::new();
    for sample in samples(measured) {
        let large = sample.block * LARGE_BLOCKS >= unit && sample.block <= unit;
        let ordinary = sample.whole_units && sample.at.is_none_or(outside) && within_limit(&sample, shape);
        if large && ordinary && sample.order == Order::InOrder && sample.units == 1 {
            groups.entry(sample.block).or_default().push(sample.mean * unit.as_f64() / sample.block.as_f64());
        }
    }
    let (mut differ, mut stalls, mut all) = (Vec::new(), Vec::new(), 0);
    for times in groups.values().filter(|times| times.len() >= LEAST_ALIKE) {
        let middle = median(times).unwrap_or(0.0);
        let (slow, rest): (Vec<f64>, Vec<f64>) = times.iter().partition(|time| **time > middle * (1.0 + STALL));
        let half_range = |times: &[f64]| {
            let ends = times.iter().fold((f64::MAX, 0.0f64), |ends, time| (ends.0.min(*time), ends.1.max(*time)));
            (ends.1 - ends.0) / 2.0 / middle
        };
        differ.push(half_range(&rest));
        stalls.extend(slow.iter().map(|time| time - middle));
        all += times.len();
    }
    let Some(spread) = median(&differ) else { return };
    let told = || Origin::Fitted("to large rows that ought to be equal".to_owned());
    if spread <= MOST_SPREAD {
        card.set_share("mapping.program.spread", (spread * 1e4).round() / 1e4, told());
    } else {
        let why = "rows that ought to be equal differ by more than blocks do: by what was done before";
        card.set_share("mapping.program.spread", 0.0, Origin::Default(why.to_owned()));
    }
    if !stalls.is_empty() {
        let ends = stalls.iter().fold((f64::MAX, 0.0f64), |ends, time| (ends.0.min(*time), ends.1.max(*time)));
        let often = stalls.len() as f64 / all as f64;
        card.set_share("mapping.housekeeping.refill", (often * 1e4).round() / 1e4, told());
        card.set_share("mapping.housekeeping.chance", 1.0, told());
        card.set_time("mapping.housekeeping.shortest", ends.0, told());
        card.set_time("mapping.housekeeping.longest", ends.1, told());
    }
}

fn nothing_written(card: &mut Card) {
    let default = || Origin::Default("no sequential writes; usual for cards".to_owned());
    card.set_time("mapping.program.page", 1e6, default());
    card.set_time("link.durable_write", 190e3, default());
    card.set_time("mapping.merge.copy", 0.0, Origin::Default("no merge was seen".to_owned()));
    card.set_time("mapping.merge.fixed", 0.0, Origin::Default("no merge was seen".to_owned()));
}

/// Whole pages: a time for each request that the link takes, and a time for each page.
fn pages(card: &mut Card, in_order: &Points, shape: &Shape) {
    let (page, most) = (shape.page.value, card.size("link.max_request").unwrap_or(Bytes::kib(512)));
    let wire = page.as_f64() / card.number("link.bytes_per_s") * 1e9;
    let whole: Points = in_order.iter().copied().filter(|(block, _)| block.is_multiple_of(page)).collect();
    let pieces = |block: Bytes| block.get().div_ceil(most.get()) as f64;
    let x: Vec<f64> = whole.iter().map(|(block, _)| (*block / page) as f64 / pieces(*block)).collect();
    let y: Vec<f64> = whole.iter().map(|(block, time)| time / pieces(*block)).collect();
    let weights: Vec<f64> = y.iter().map(|time| time.powi(-2)).collect();
    let command = card.number("link.command");
    let line = weighted_least_squares(&x, &y, &weights).ok().filter(|line| line.slope > 0.0);
    let per_request = line.as_ref().map_or(command + wire, |line| line.intercept);
    let slopes: Vec<f64> = x.iter().zip(&y).map(|(pages, time)| (time - command - wire) / pages).collect();
    let per_page = line.map(|line| line.slope).or_else(|| median(&slopes));
    match per_page.or_else(|| in_order.last().map(|point| point.1)) {
        Some(time) => {
            card.set_time("mapping.program.page", time.max(1e3), Origin::Fitted("to sequential writes".to_owned()));
        }
        None => card.set_time("mapping.program.page", 1e6, Origin::Default("usual for cards".to_owned())),
    }
    let command = if per_request < command + wire { split_command(card, per_request - wire) } else { command };
    let durable = (per_request - command - wire).max(0.0);
    card.set_time("link.durable_write", durable, Origin::Fitted("to sequential writes of several sizes".to_owned()));
    card.set_time("link.flush", durable.max(100e3), Origin::Default("as a durable write".to_owned()));
}

/// A write that takes less than the command that reads suggest says how much of that was the change of units: where
/// nothing else tells the two apart.
fn split_command(card: &mut Card, at_most: f64) -> f64 {
    let command = card.number("link.command");
    if !matches!(card.origin("mapping.read.unit_switch"), Some(Origin::Default(_))) {
        return command;
    }
    let less = at_most.max(command * LEAST_COMMAND);
    card.set_time("link.command", less, Origin::Fitted("to the shortest writes".to_owned()));
    let switch = card.number("mapping.read.unit_switch") + command - less;
    card.set_time("mapping.read.unit_switch", switch, Origin::Fitted("what reads take beyond that".to_owned()));
    less
}

/// Pieces of pages: a time for each piece, and a time for each page that the pieces fill.
fn small(card: &mut Card, in_order: &Points, shape: &Shape) {
    let (limit, page) = (shape.small_limit.value, shape.page.value);
    card.set_time("mapping.small.gather", 0.0, Origin::Default("pieces are not seen to be read back".to_owned()));
    let rows: Points = in_order.iter().copied().filter(|(block, _)| *block <= limit && *block < page).collect();
    if limit == Bytes::ZERO || rows.is_empty() {
        card.set_count("mapping.small.pages", SMALL_PAGES, Origin::Default("how many does not show".to_owned()));
        let program = card.number("mapping.program.page");
        let why = "small sequential writes were not measured: as a page";
        return card.set_time("mapping.small.program", program, Origin::Default(why.to_owned()));
    }
    let fixed = card.number("link.command") + card.number("link.durable_write");
    let wire = |bytes: Bytes| bytes.as_f64() / card.number("link.bytes_per_s") * 1e9;
    let x: Vec<f64> = rows.iter().map(|(block, _)| page.as_f64() / block.as_f64()).collect();
    let y: Vec<f64> = rows.iter().zip(&x).map(|((_, time), pieces)| time * pieces).collect();
    let weights: Vec<f64> = y.iter().map(|time| time.powi(-2)).collect();
    let line = weighted_least_squares(&x, &y, &weights).ok();
    let line = line.filter(|line| line.slope > fixed && line.intercept > wire(page));
    let (piece, each_page) = match line {
        Some(line) => (line.slope - fixed, line.intercept - wire(page)),
        None => {
            let rest = |(block, time): &(Bytes, f64)| time - fixed - wire(*block);
            (median(&rows.iter().map(rest).collect::<Vec<f64>>()).unwrap_or(0.0), 0.0)
        }
    };
    let told = || Origin::Fitted("to small sequential writes".to_owned());
    card.set_time("mapping.small.program", piece.max(1e3), told());
    card.set_count("mapping.small.pages", SMALL_PAGES, Origin::Default("how many does not show".to_owned()));
    // A collection for each page that comes in: that it is one for several, less often, would look the same here.
    card.set_count("mapping.small.batch", 1, Origin::Default("how many at once does not show".to_owned()));
    card.set_time("mapping.small.collect_shortest", each_page, told());
    card.set_time("mapping.small.collect_longest", each_page, told());
}

fn area_times(card: &mut Card, in_area: &Points, shape: &Shape) {
    let (page, most) = (shape.page.value, card.size("link.max_request").unwrap_or(Bytes::kib(512)));
    let wire = page.as_f64() / card.number("link.bytes_per_s") * 1e9;
    let fixed = card.number("link.command") + card.number("link.durable_write");
    let told = || Origin::Fitted("to sequential writes to the first units".to_owned());
    let per_page = |(block, time): &(Bytes, f64)| {
        let pieces = block.get().div_ceil(most.get()) as f64;
        (time - pieces * (fixed + wire)) / (*block / page) as f64
    };
    let whole: Vec<f64> =
        in_area.iter().filter(|(block, _)| block.is_multiple_of(page) && *block >= page * 4).map(per_page).collect();
    let ordinary = card.number("mapping.program.page");
    card.set_time("mapping.areas.0.program", median(&whole).unwrap_or(ordinary).max(1e3), told());
    let each_page = card.number("mapping.small.collect_shortest");
    let small = |(block, time): &(Bytes, f64)| {
        let of_page = block.as_f64() / page.as_f64();
        time - fixed - wire * of_page - each_page * of_page
    };
    let limit = shape.small_limit.value;
    let pieces: Vec<f64> = in_area.iter().filter(|(block, _)| *block <= limit && *block < page).map(small).collect();
    let ordinary = card.number("mapping.small.program");
    match median(&pieces) {
        Some(piece) if piece > 0.0 => card.set_time("mapping.areas.0.small_program", piece, told()),
        Some(_) => {
            // The model collects for the area as for other units, and there it was not seen to.
            let why = "small writes there take less than the collections that they cost elsewhere: as elsewhere";
            card.set_time("mapping.areas.0.small_program", ordinary, Origin::Default(why.to_owned()));
        }
        None => {
            let why = "small writes there were not measured: as elsewhere";
            card.set_time("mapping.areas.0.small_program", ordinary, Origin::Default(why.to_owned()));
        }
    }
    let sense = card.number("mapping.read.sense");
    card.set_time("mapping.areas.0.sense", sense, Origin::Default("reads of the area were not compared".to_owned()));
    card.set_time("mapping.areas.0.erase", 0.0, Origin::Default("no extra time for its first write shows".to_owned()));
}

/// What one write costs more where it, or the unit that must make way for it, is merged.
fn merges(card: &mut Card, measured: &Measured, in_order: &Points, shape: &Shape) {
    let limit = shape.small_limit.value;
    let (unit, page) = (shape.unit.value, shape.page.value);
    let counts = |block: Bytes| block > limit && block >= page && block * 8 <= unit;
    let extra = |points: &Points| -> Points {
        let rows = points.iter().filter(|(block, _)| counts(*block));
        rows.filter_map(|(block, time)| Some((*block, time - at_block(in_order, *block)?))).collect()
    };
    let too_many = |sample: &Sample| {
        let limit = shape.limits.of(sample.order == Order::Random);
        limit.is_some_and(|limit| sample.units > limit)
    };
    let over: Vec<f64> = [Order::InOrder, Order::Random]
        .iter()
        .flat_map(|order| extra(&points(measured, *order, too_many)))
        .map(|point| point.1)
        .collect();
    let over = median(&over).filter(|time| *time > 0.0);
    let alone = extra(&grouped(measured, Order::Random, |sample| sample.units == 1, |sample| sample.mean));

    let pages_per_unit = (unit / page) as f64;
    let pages_per_sub = (shape.sub_unit.value / page) as f64;
    let told = || Origin::Fitted("to writes to more units than can be open, and to random writes".to_owned());
    let split = || Origin::Default("copies and the rest of a merge were not told apart".to_owned());
    let (copy, fixed, log) = match shape.out_of_order {
        OutOfOrder::Merged | OutOfOrder::MergedWhole => {
            let each = median(&alone.iter().map(|point| point.1).collect::<Vec<f64>>()).unwrap_or(0.0).max(0.0);
            let copy = over.map_or(each * COPIES / pages_per_sub, |whole| whole / pages_per_unit);
            let copy = copy.min(each / pages_per_sub);
            (copy, (each - copy * pages_per_sub).max(0.0), Sourced::fitted(shape.sub_unit.value, "not in use"))
        }
        OutOfOrder::Logged => {
            let per_byte: Vec<f64> = alone.iter().map(|(block, time)| time / block.as_f64()).collect();
            let per_byte = median(&per_byte).filter(|time| *time > 0.0);
            let whole = over.or(per_byte.map(|time| time * unit.as_f64())).unwrap_or(0.0);
            let log = random_log(shape, whole, per_byte);
            (whole * COPIES / pages_per_unit, whole * (1.0 - COPIES), log)
        }
    };
    card.set_time("mapping.merge.copy", copy, if copy > 0.0 { told() } else { no_merge() });
    card.set_time("mapping.merge.fixed", fixed, if fixed > 0.0 { split() } else { no_merge() });
    card.set_size("mapping.random_log", log.value, log.origin);
}

fn no_merge() -> Origin {
    Origin::Default("no merge shows in the times".to_owned())
}

/// How much a log for any order takes before it is merged: as often as random writes to one unit are slowed by that.
fn random_log(shape: &Shape, merge: f64, per_byte: Option<f64>) -> Sourced<Bytes> {
    let (unit, page) = (shape.unit.value, shape.page.value);
    if shape.logs_in_order.value == 0 {
        // These logs take sequential writes as well, and must hold a whole unit to take its place.
        return Sourced {
            value: unit,
            origin: Origin::Default("sequential writes fill it without a merge".to_owned()),
        };
    }
    match per_byte {
        Some(per_byte) if merge > 0.0 => {
            let size = Bytes((merge / per_byte) as u64).align_down(page);
            Sourced::fitted(size.clamp(page * 2, unit), "to random writes to one unit")
        }
        _ => Sourced { value: unit, origin: Origin::Default("random writes to one unit do not show it".to_owned()) },
    }
}
