//! What is true of a simulated device: what a perfect observer would report. **Only scoring may read it**: no probe and
//! no inference sees this module (they cannot depend on this crate), and a session never asks for it.
//!
//! Everything is derived from the parameters that the device runs on; what no formula gives (the price of random order)
//! is measured on a noise-free copy of the device. A figure that the device does not show is marked so: the
//! right answer to it is "cannot tell".

mod area;
mod stalls;
mod state;

pub use area::{AreaPartTruth, AreaTruth};
pub use stalls::StallTruth;
pub use state::{StateTruth, state_of};

use crate::au_log::AuLogParams;
pub use crate::discard::DiscardTruth;
use crate::error::SimError;
use crate::fault::FakeKind;
use crate::ftl::{Extent, Ftl, Work};
use crate::memory::Controller;
pub use crate::memory::{AheadTruth, BufferTruth, MemoryTruth};
use crate::model::{Mapping, Model};
use crate::noise;
pub use crate::page_map::DriveTruth;
use crate::spec;
use flashscope_model::finding::MappingKind;
use flashscope_units::{Bytes, Instant, Nanos};
use std::fmt;

/// One figure of the truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact<T> {
    /// The effective value; `None` where there is no such thing on this device.
    pub value: Option<T>,
    /// Other values that are as right: the device looks the same either way.
    pub aliases: Vec<T>,
    /// An observer who stops here is right to say "at least this".
    pub at_least: Option<T>,
    /// Whether the device shows it at all. Where it does not, "cannot tell" is the right answer.
    pub can_be_told: bool,
    /// Why, or what an alias means; empty where nothing is to be said.
    pub note: String,
}

impl<T> Fact<T> {
    pub(crate) fn known(value: T) -> Fact<T> {
        Fact { value: Some(value), aliases: Vec::new(), at_least: None, can_be_told: true, note: String::new() }
    }

    /// It is known that there is no such thing, and that shows.
    pub(crate) fn known_none() -> Fact<T> {
        Fact { value: None, aliases: Vec::new(), at_least: None, can_be_told: true, note: "there is none".to_owned() }
    }

    pub(crate) fn hidden(value: Option<T>, why: &str) -> Fact<T> {
        Fact { value, aliases: Vec::new(), at_least: None, can_be_told: false, note: why.to_owned() }
    }

    /// There is no such thing on this kind of device, and nobody could tell.
    pub fn none() -> Fact<T> {
        Fact::hidden(None, "")
    }

    /// The same in another unit or kind.
    pub fn map<U>(self, change: impl Fn(T) -> U) -> Fact<U> {
        Fact {
            value: self.value.map(&change),
            aliases: self.aliases.into_iter().map(&change).collect(),
            at_least: self.at_least.map(&change),
            can_be_told: self.can_be_told,
            note: self.note,
        }
    }

    pub(crate) fn noted(mut self, note: &str) -> Fact<T> {
        note.clone_into(&mut self.note);
        self
    }

    pub(crate) fn or(mut self, aliases: Vec<T>) -> Fact<T> {
        self.aliases = aliases;
        self
    }
}

/// In-order rate over random rate in one unit, at one block size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenaltyTruth {
    /// The ratio over a whole unit, closing it included.
    pub ratio: f64,
    /// The ratio over the first part of a unit, as one sees it who does not write it to its end.
    pub at_first: f64,
    /// The block size.
    pub block: Bytes,
}

/// What the device says of its size, and what is true of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeTruth {
    /// How it lies.
    pub kind: FakeKind,
    /// The size that it reports.
    pub claimed: Bytes,
    /// The size that is really there.
    pub real: Bytes,
    /// Share of what is there that does not keep what is written, 0…1; on average over all seeds.
    pub damaged_ratio: f64,
}

impl SizeTruth {
    pub(crate) fn genuine(size: Bytes) -> SizeTruth {
        SizeTruth { kind: FakeKind::Genuine, claimed: size, real: size, damaged_ratio: 0.0 }
    }

    fn of(model: &Model) -> SizeTruth {
        let claimed = model.device.capacity;
        model.fault.as_ref().map_or(SizeTruth::genuine(claimed), |fault| {
            let real = fault.medium(claimed);
            SizeTruth { kind: fault.kind(), claimed, real, damaged_ratio: fault.damaged.ratio(real) }
        })
    }
}

/// What a perfect observer would report of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    /// How addresses are mapped: `au-log`, `page-map`.
    pub mapping: &'static str,
    /// What kind of mapping that is to one who only sees times.
    pub mapping_kind: Fact<MappingKind>,
    /// The size that is really there.
    pub capacity: Fact<Bytes>,
    /// The same beside what the device says, and how it lies.
    pub size: SizeTruth,
    /// Allocation unit.
    pub allocation_unit: Fact<Bytes>,
    /// Where the first unit begins.
    pub boundary_offset: Fact<Bytes>,
    /// Effective page.
    pub page: Fact<Bytes>,
    /// Page level inside the effective page.
    pub page_inner: Fact<Bytes>,
    /// By how much reads of the shortest kind have to be told apart for that level, be it that of a chunk.
    pub inner_step: Nanos,
    /// What noise typically adds to a request.
    pub noise: Nanos,
    /// Units that can be half-written sequentially.
    pub open_units_linear: Fact<u32>,
    /// The same at random.
    pub open_units_random: Fact<u32>,
    /// Random-order penalty at a range of block sizes.
    pub random_order_penalty: Vec<PenaltyTruth>,
    /// Longest write that takes the small-write path; no value: there is none.
    pub small_write_path: Fact<Bytes>,
    /// Different areas at the start; no value: there is none.
    pub fast_area: Fact<AreaTruth>,
    /// The parts of such an area, in the order of their addresses; no value: there is none.
    pub fast_area_parts: Fact<Vec<AreaPartTruth>>,
    /// Share of the device that was never written when it is opened, 0…1.
    pub never_written: Fact<f64>,
    /// What only a page-mapped drive has.
    pub drive: Option<DriveTruth>,
    /// Stalls of long sequential writes; no value: there are none.
    pub stalls: Fact<StallTruth>,
    /// Buffers and read-ahead.
    pub memory: MemoryTruth,
    /// What discard does; no value: there is none.
    pub discard: Fact<DiscardTruth>,
}

/// The truth of the device that `spec` names (as for [`crate::open_with`]).
pub fn of(spec: &str, read: impl Fn(&str) -> Result<String, String>) -> Result<Truth, SimError> {
    let spec = spec::parse(spec, read)?;
    Ok(of_model(&spec.model))
}

pub(crate) fn of_model(model: &Model) -> Truth {
    let genuine = model.genuine();
    let truth = match &genuine.mapping {
        Mapping::AuLog(params) => of_au_log(&genuine, params),
        Mapping::PageMap(params) => crate::page_map::truth_of(&genuine, params),
    };
    Truth { size: SizeTruth::of(model), discard: crate::discard::truth_of(model), ..truth }
}

fn of_au_log(model: &Model, params: &AuLogParams) -> Truth {
    Truth {
        mapping: "au-log",
        mapping_kind: mapping_kind(model, params),
        capacity: Fact::known(model.device.capacity),
        size: SizeTruth::genuine(model.device.capacity),
        allocation_unit: allocation_unit(params),
        boundary_offset: boundary_offset(params),
        page: page(params),
        page_inner: page_inner(model, params),
        inner_step: inner_step(model, params),
        noise: noise::typical(model.noise.level),
        open_units_linear: open_units_linear(model, params),
        open_units_random: open_units_random(model, params),
        random_order_penalty: random_order_penalty(model, params),
        small_write_path: small_write_path(model, params),
        fast_area: area::fast_area(model, params),
        fast_area_parts: area::fast_area_parts(model, params),
        never_written: Fact::known(model.never_written()),
        drive: None,
        stalls: stalls::stalls(params),
        memory: crate::memory::truth_of(model),
        discard: Fact::none(),
    }
}

/// Units that nobody's number of open ones exhausts look as if every page could lie anywhere.
fn mapping_kind(model: &Model, params: &AuLogParams) -> Fact<MappingKind> {
    let kind = if params.logs_random == 0 { MappingKind::UnitInOrder } else { MappingKind::UnitLog };
    if !merges_show(model, params) {
        return Fact::hidden(Some(kind), "a merge costs nothing that shows").or(vec![MappingKind::Page]);
    }
    match params.logs_random {
        n if n >= MOST_UNITS => Fact::known(kind).or(vec![MappingKind::Page]).noted("more logs than anybody tries"),
        _ => Fact::known(kind),
    }
}

fn allocation_unit(params: &AuLogParams) -> Fact<Bytes> {
    let edge = params.read.unit_edge.time;
    let below = params.read.sub_unit_edge.time;
    if edge > below {
        return Fact::known(params.unit);
    }
    if params.merge.copy > Nanos::ZERO && params.sub_unit == params.unit {
        return Fact::known(params.unit).noted("reads do not show it; writes do");
    }
    Fact::hidden(Some(params.unit), "no read pays for its edge")
}

/// Units begin this far behind the host's first byte.
fn boundary_offset(params: &AuLogParams) -> Fact<Bytes> {
    let beyond = params.hidden.get() % params.unit.get();
    let offset = Bytes((params.unit.get() - beyond) % params.unit.get());
    if params.read.unit_edge.time > params.read.sub_unit_edge.time {
        return Fact::known(offset);
    }
    Fact::hidden(Some(offset), "no read pays for a unit's edge")
}

/// Edges whose costs differ by less than this share are of one kind to everybody who cannot look inside.
const LEAST_DIFFERENCE: f64 = 0.15;

fn page(params: &AuLogParams) -> Fact<Bytes> {
    if params.read.sense == Nanos::ZERO {
        return Fact::hidden(Some(params.page), "sensing a page costs nothing that shows");
    }
    if edges_alike(params) {
        let why = "the edges of the inner page cost the same, as those of a smaller page would";
        return Fact::known(params.page).or(vec![params.page_inner]).noted(why);
    }
    Fact::known(params.page)
}

/// Whether an edge of the page costs what one of the inner page does.
fn edges_alike(params: &AuLogParams) -> bool {
    let (page, inner) = (params.read.sense.as_f64(), params.read.inner_edge.as_f64());
    params.page_inner < params.page && (page - inner).abs() < LEAST_DIFFERENCE * page
}

fn page_inner(model: &Model, params: &AuLogParams) -> Fact<Bytes> {
    if params.page_inner < params.page && params.read.inner_edge > Nanos::ZERO {
        let inner = params.page_inner;
        if edges_alike(params) && params.read.decode > Nanos::ZERO && params.read.chunk < inner {
            // The page that shows is this one, and what shows inside it is the chunk.
            return Fact::known(inner).or(vec![params.read.chunk]);
        }
        // Twenty times averaged, a step of half the noise of one request just stands out; a smaller one may not.
        if params.read.inner_edge * 2 < noise::typical(model.noise.level) {
            return Fact::hidden(Some(params.page_inner), "its step is below half of what noise adds to a request");
        }
        return Fact::known(params.page_inner);
    }
    if params.read.decode > Nanos::ZERO && params.read.chunk < params.page {
        // Blocks shorter than two chunks show the chunk's edge; longer ones do not.
        return Fact::hidden(None, "there is none; short reads may show the chunk").or(vec![params.read.chunk]);
    }
    Fact::hidden(None, "there is none")
}

/// What an edge of the inner page costs, or of a chunk where there is none: a chunk is decoded while the half of a short read
/// before it is on its way, and what that hides does not show. Where page and inner page cost the same, the difference between
/// them tells both, or the chunk tells that there is a level inside what looks like a page.
fn inner_step(model: &Model, params: &AuLogParams) -> Nanos {
    let read = &params.read;
    let decoded = read.decode.saturating_sub(model.link.transfer(model.device.logical_block));
    let chunk = if read.chunk < params.page_inner { decoded } else { Nanos::ZERO };
    match read.inner_edge {
        edge if params.page_inner == params.page || edge == Nanos::ZERO => chunk,
        edge if edges_alike(params) => chunk.max(Nanos(read.sense.get().abs_diff(edge.get()))),
        edge => edge,
    }
}

/// In order, a unit too many costs a merge per write; the limit shows where that is dear against the write. A unit whose
/// log in order was taken away goes on in a log for random order, so both kinds count.
fn open_units_linear(model: &Model, params: &AuLogParams) -> Fact<u32> {
    if !merges_show(model, params) {
        return unlimited("a unit too many costs nothing that shows");
    }
    let both = bounded(params.logs_in_order + params.logs_random);
    match (params.logs_in_order, params.logs_random) {
        (_, 0) => both,
        (0, _) => both.noted("the same logs serve every order"),
        _ => both.noted("logs for random writes take over beyond the sequential logs"),
    }
}

/// With logs for random order they are the limit; without, the open units are, as long as a merge of a
/// sub-unit is cheaper than one of the whole unit.
fn open_units_random(model: &Model, params: &AuLogParams) -> Fact<u32> {
    if !merges_show(model, params) {
        return unlimited("random order costs nothing that shows");
    }
    match params.logs_random {
        0 if params.sub_unit < params.unit => bounded(params.logs_in_order),
        0 => Fact::hidden(None, "every write out of order costs a whole merge, however many units are open"),
        n => bounded(n),
    }
}

/// Nobody need try more units than this.
const MOST_UNITS: u32 = 64;

/// Fewer than there are is a bound that is right as well.
fn bounded(count: u32) -> Fact<u32> {
    let mut fact = Fact::known(count);
    fact.at_least = Some(count.min(MOST_UNITS));
    fact
}

/// No limit shows: "at least n" is right for every n.
fn unlimited(why: &str) -> Fact<u32> {
    Fact::hidden(None, why)
}

fn merges_show(model: &Model, params: &AuLogParams) -> bool {
    let write = model.link.command + model.link.durable_write + params.program.page;
    params.merge.copy * (params.sub_unit / params.page) + params.merge.fixed > write
}

fn small_write_path(model: &Model, params: &AuLogParams) -> Fact<Bytes> {
    let limit = params.small.limit;
    if limit == Bytes::ZERO {
        return Fact::hidden(None, "there is none");
    }
    if !merges_show(model, params) {
        return Fact::hidden(Some(limit), "longer random writes cost no more");
    }
    if params.logs_random >= MOST_UNITS {
        return Fact::hidden(Some(limit), "it shows only beyond more open units than anybody tries");
    }
    let mut fact = Fact::known(limit);
    if params.page_inner < limit {
        fact = fact.or(vec![params.page_inner]).noted("longer ones must be whole pages");
    }
    fact
}

/// Writes one ordinary unit of a noise-free copy sequentially and randomly, with blocks from 4 KiB to a quarter of it.
fn random_order_penalty(model: &Model, params: &AuLogParams) -> Vec<PenaltyTruth> {
    let mut still = params.clone();
    still.housekeeping.owed = 0;
    still.housekeeping.refill = 0.0;
    still.housekeeping.earlier_writes = 0;
    still.small.wait_chance = 0.0;
    still.small.collect_longest = still.small.collect_shortest;
    let quiet = Model { mapping: Mapping::AuLog(still), ..model.clone() };
    let units = (params.hidden + model.device.capacity) / params.unit;
    let first = params.hidden.align_up(params.unit) / params.unit;
    let Some(unit) = (first..units).rev().find(|&unit| params.area_of(unit as u32).is_none()) else {
        return Vec::new();
    };
    penalties(&quiet, params.unit * unit - params.hidden, params.unit)
}

/// The same for any stretch of a noise-free device that is written as one.
pub(crate) fn penalties(model: &Model, start: Bytes, stretch: Bytes) -> Vec<PenaltyTruth> {
    let fresh = Controller::new(model, 0);
    let blocks = (12..).map(|k| Bytes(1 << k)).take_while(|&block| block <= stretch / 4);
    blocks
        .filter(|&block| block >= model.device.logical_block && stretch.is_multiple_of(block))
        .map(|block| {
            let count = stretch / block;
            let ratio = |writes: usize| {
                let scattered = scattered(count).filter(|&index| index != 0).take(writes);
                let in_order = (1..count).take(writes);
                unit_time(model, &fresh, start, block, scattered) / unit_time(model, &fresh, start, block, in_order)
            };
            PenaltyTruth { ratio: ratio(usize::MAX), at_first: ratio((count / 8).max(2) as usize), block }
        })
        .collect()
}

/// How long writes to a copy of a fresh device take, one after the other.
fn unit_time(model: &Model, fresh: &Controller, start: Bytes, block: Bytes, order: impl Iterator<Item = u64>) -> f64 {
    let mut device = fresh.clone();
    let mut now = Instant::ORIGIN;
    // The first block opens the unit, so that both orders find it open; it is not written again, which would be out of order.
    let mut write = |at: Bytes, length: Bytes| {
        let mut at = at;
        let end = at + length;
        while at < end {
            let extent = Extent::new(at, model.link.max_request.min(end - at));
            now = device.serve(now, Work::Write { extent, durable: true });
            at = extent.end();
        }
        now
    };
    let begin = write(start, block);
    let mut end = begin;
    for index in order {
        end = write(start + block * index, block);
    }
    end.since(begin).as_f64()
}

/// Every number below `count` once, in an order without a trend: a step near the golden section, prime to `count`.
fn scattered(count: u64) -> impl Iterator<Item = u64> {
    let common = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let from = (count as f64 * 0.618) as u64;
    let step = (from..).find(|&step| common(step, count) == 1).unwrap_or(1);
    (1..=count).map(move |i| i * step % count)
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.mapping_kind.value.map_or("no kind that is known", mapping_word);
        writeln!(f, "mapping                 {}: {kind}", self.mapping)?;
        line(f, "capacity", &self.capacity)?;
        writeln!(f, "{:<24}{}", "size", self.size)?;
        line(f, "allocation unit", &self.allocation_unit)?;
        line(f, "first one begins at", &self.boundary_offset)?;
        line(f, "page (effective)", &self.page)?;
        line(f, "inner page", &self.page_inner)?;
        line(f, "open units, sequential", &self.open_units_linear)?;
        line(f, "open units, random", &self.open_units_random)?;
        for penalty in &self.random_order_penalty {
            writeln!(f, "random-order penalty    {:.1} at {}", penalty.ratio, penalty.block)?;
        }
        line(f, "small-write path", &self.small_write_path)?;
        line(f, "fast area", &self.fast_area)?;
        for part in self.fast_area_parts.value.iter().flatten() {
            writeln!(f, "{:<24}{part}", "… inside")?;
        }
        line(f, "never written", &self.never_written)?;
        line(f, "stalls", &self.stalls)?;
        line(f, "write buffer", &self.memory.write_buffer)?;
        line(f, "… volatile", &self.memory.volatile)?;
        line(f, "… flushed by a read", &self.memory.flushed_by_read)?;
        line(f, "… flushed after", &self.memory.flush_window)?;
        line(f, "read buffer", &self.memory.read_buffer)?;
        line(f, "read-ahead", &self.memory.read_ahead)?;
        line(f, "discard", &self.discard)?;
        let Some(drive) = &self.drive else { return Ok(()) };
        line(f, "stripe", &drive.stripe)?;
        line(f, "parallel units", &drive.parallel_units)?;
        line(f, "channels", &drive.channels)?;
        line(f, "bits per cell", &drive.bits_per_cell)?;
        line(f, "SLC cache", &drive.slc_cache)?;
        line(f, "over-provisioning", &three_digits(&drive.physical_over_user))?;
        line(f, "mapping-table reach", &drive.map_reach)
    }
}

impl fmt::Display for SizeTruth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind.name())?;
        if self.real < self.claimed {
            write!(f, ": {} of {}", self.real, self.claimed)?;
        }
        if self.damaged_ratio > 0.0 {
            write!(f, ", {:.2} % damaged", 100.0 * self.damaged_ratio)?;
        }
        Ok(())
    }
}

/// What the mapping does, in a few words.
fn mapping_word(kind: MappingKind) -> &'static str {
    match kind {
        MappingKind::Page => "every page can lie anywhere",
        MappingKind::UnitLog => "units with logs, which take writes in any order",
        MappingKind::UnitInOrder => "units with logs, which take sequential writes",
        MappingKind::Other => "none of those that inference tells apart",
    }
}

/// A ratio for people.
fn three_digits(fact: &Fact<f64>) -> Fact<String> {
    let shown = |ratio: &f64| format!("{ratio:.3}");
    Fact {
        value: fact.value.as_ref().map(shown),
        aliases: fact.aliases.iter().map(shown).collect(),
        at_least: fact.at_least.as_ref().map(shown),
        can_be_told: fact.can_be_told,
        note: fact.note.clone(),
    }
}

fn line<T: fmt::Display>(f: &mut fmt::Formatter<'_>, name: &str, fact: &Fact<T>) -> fmt::Result {
    write!(f, "{name:<24}")?;
    match &fact.value {
        Some(value) => write!(f, "{value}")?,
        None => write!(f, "none")?,
    }
    for alias in &fact.aliases {
        write!(f, ", or {alias}")?;
    }
    if !fact.can_be_told {
        write!(f, " (cannot be told)")?;
    }
    if !fact.note.is_empty() {
        write!(f, ": {}", fact.note)?;
    }
    writeln!(f)
}
