//! What a perfect observer would report of a page-mapped drive. Only scoring may read it.

use super::PageMap;
use crate::model::{Model, Start};
use crate::noise;
use crate::page_map::{PageMapParams, SlcCache};
use crate::truth::{AreaTruth, Fact, PenaltyTruth, SizeTruth, Truth, penalties};
use flashscope_model::finding::AreaKind;
use flashscope_model::finding::{MappingKind, SlcKind};
use flashscope_units::{Bytes, Instant, Nanos};

/// What is true of a drive and has no counterpart in a card.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveTruth {
    /// Data that one row of pages over all dies holds.
    pub stripe: Fact<Bytes>,
    /// Dies: rows that are read at the same time.
    pub parallel_units: Fact<u32>,
    /// Channels that lead to the dies.
    pub channels: Fact<u32>,
    /// Bits per cell.
    pub bits_per_cell: Fact<u32>,
    /// Host data that the SLC cache takes in the start state; no value: there is none.
    pub slc_cache: Fact<Bytes>,
    /// Whether that depends on how full the device is.
    pub slc_kind: Fact<SlcKind>,
    /// Physical capacity over user capacity, bad superblocks left out.
    pub physical_over_user: Fact<f64>,
    /// How much of the device the part of the mapping table in memory stands for; no value: all of it.
    pub map_reach: Fact<Bytes>,
}

/// The truth of a page-mapped drive.
pub(crate) fn of(model: &Model, params: &PageMapParams) -> Truth {
    Truth {
        mapping: "page-map",
        mapping_kind: Fact::known(MappingKind::Page),
        capacity: Fact::known(model.device.capacity),
        size: SizeTruth::genuine(model.device.capacity),
        allocation_unit: allocation_unit(model, params),
        boundary_offset: Fact::hidden(Some(Bytes::ZERO), "no request pays for a superblock's edge"),
        page: page(model, params),
        page_inner: page_inner(model, params),
        inner_step: Edges::of(model, params).inner_step(),
        noise: noise::typical(model.noise.level),
        open_units_linear: no_limit(),
        open_units_random: no_limit(),
        random_order_penalty: random_order_penalty(model),
        small_write_path: Fact::hidden(None, "there is none"),
        fast_area: Fact::known(AreaTruth { first: Bytes::ZERO, end: Bytes::ZERO, kind: AreaKind::None, ratio: 1.0 })
            .noted("there is none"),
        fast_area_parts: Fact::hidden(None, "there is none"),
        never_written: Fact::known(model.never_written()),
        drive: drive(model, params),
        stalls: Fact::hidden(None, "what a drive collects shows in random writes"),
        memory: crate::memory::truth_of(model),
        discard: Fact::none(),
    }
}

/// No read and no write pays for a superblock's edge: the next row is on another die either way.
fn allocation_unit(model: &Model, params: &PageMapParams) -> Fact<Bytes> {
    let superblock = PageMap::of_model(params, model, 0).ok().map(|drive| drive.superblock());
    Fact::hidden(superblock, "a superblock, whose edge no request pays for")
}

/// The effective page is what one die senses at once: the pages of all its planes. A read across its edge has two dies
/// sense side by side, or one die twice; across the edge of a plane's page, one die senses two planes at once.
fn page(model: &Model, params: &PageMapParams) -> Fact<Bytes> {
    let edges = Edges::of(model, params);
    let row = params.nand.page * u64::from(params.nand.planes);
    if !edges.stands_out(model, edges.row, edges.plane) {
        let why = "crossing from one die to the next costs what an edge inside does";
        return Fact::hidden(Some(row), why).or(vec![params.nand.page, params.unit]);
    }
    Fact::known(row)
}

fn page_inner(model: &Model, params: &PageMapParams) -> Fact<Bytes> {
    let edges = Edges::of(model, params);
    let aliases = vec![params.unit];
    if params.nand.planes > 1 {
        let shown = edges.stands_out(model, edges.plane, edges.unit);
        let plane =
            Fact::hidden(Some(params.nand.page), "two planes are sensed in the time of one").or(aliases.clone());
        return if shown { Fact::known(params.nand.page).or(aliases) } else { plane };
    }
    Fact::hidden(None, "there is none; short reads may show the unit of the map").or(aliases)
}

/// What the shortest read pays, in nanoseconds, when it straddles an edge instead of lying beside it.
struct Edges {
    /// Edge of the map's unit: two units leave the die.
    unit: f64,
    /// Edge of a plane's page, or of the unit where there is one plane.
    plane: f64,
    /// Edge of the pages of all planes: the next die, or the same one again where it is the only one.
    row: f64,
}

impl Edges {
    fn of(model: &Model, params: &PageMapParams) -> Edges {
        let nand = &params.nand;
        let bus = 1e9 * params.unit.as_f64() / nand.bus_bytes_per_s;
        let unit = if params.unit < nand.page { bus } else { 0.0 };
        let plane = if nand.planes > 1 { bus + nand.multi_plane_read.as_f64() } else { unit };
        let sense = nand.read.iter().map(|time| time.as_f64()).fold(f64::INFINITY, f64::min);
        let row = match (nand.channels, nand.dies_per_channel) {
            (1, 1) => sense + bus,
            (1, _) => bus.max(params.issue.as_f64()),
            // While the second half is on its way, the first half goes to the host.
            _ => params.issue.as_f64() - model.link.transfer(model.device.logical_block).as_f64(),
        };
        Edges { unit, plane, row }
    }

    /// By how much the edges inside a page stand out: those of a plane's page from those of the map's unit, or these from none.
    fn inner_step(&self) -> Nanos {
        Nanos((self.plane - self.unit).abs().max(self.unit) as u64)
    }

    /// Whether two edges differ by half of what noise adds to a request, which averaging twenty times just shows.
    fn stands_out(&self, model: &Model, one: f64, other: f64) -> bool {
        (one - other).abs() * 2.0 > noise::typical(model.noise.level).as_f64()
    }
}

/// Every write goes to the same row, wherever it belongs: whatever number of units an observer tried, he is right to say "at least that".
fn no_limit() -> Fact<u32> {
    let mut fact = Fact::hidden(None, "no limit: any lower bound is right");
    fact.at_least = Some(u32::MAX);
    fact.can_be_told = true;
    fact
}

fn random_order_penalty(model: &Model) -> Vec<PenaltyTruth> {
    let region = Bytes::mib(4);
    let start = Bytes(model.device.capacity.get() / 2).align_down(region);
    penalties(model, start, region)
}

fn drive(model: &Model, params: &PageMapParams) -> Option<DriveTruth> {
    let drive = PageMap::of_model(params, model, 0).ok()?;
    let slc_cache = slc_cache(model, params, &drive)?;
    Some(DriveTruth {
        slc_kind: slc_kind(model, params, &drive, &slc_cache),
        stripe: stripe(model, params, drive.stripe()),
        parallel_units: parallel_units(model, params),
        channels: channels(model, params),
        bits_per_cell: bits_per_cell(params),
        slc_cache,
        physical_over_user: Fact::known(drive.physical_over_user())
            .or(vec![drive.turnover_over_user()])
            .noted("or what is left of it when those superblocks are left out that are always free or being written"),
        map_reach: map_reach(model, params),
    })
}

/// Reads that meet in one die wait for each other; where one at a time can be outstanding, none ever meet.
fn stripe(model: &Model, params: &PageMapParams, stripe: Bytes) -> Fact<Bytes> {
    match params.nand.channels * params.nand.dies_per_channel {
        1 => Fact::hidden(None, "there is one die").or(vec![stripe]),
        _ if model.link.queue_depth < 4 => Fact::hidden(Some(stripe), "reads come one at a time"),
        _ => Fact::known(stripe),
    }
}

fn parallel_units(model: &Model, params: &PageMapParams) -> Fact<u32> {
    match params.nand.channels * params.nand.dies_per_channel {
        1 => Fact::hidden(Some(1), "there is one die"),
        dies if model.link.queue_depth < 4 => Fact::hidden(Some(dies), "reads come one at a time"),
        dies => Fact::known(dies),
    }
}

/// Two reads that share a channel wait for each other's way over it, as far as the controller and the link do not make
/// the second one wait longer anyway.
fn channels(model: &Model, params: &PageMapParams) -> Fact<u32> {
    let nand = &params.nand;
    let dies = nand.channels * nand.dies_per_channel;
    let apart = (params.processing + params.issue).as_f64();
    let wait = |read: Bytes| {
        let bus = read.align_up(params.unit).as_f64() / nand.bus_bytes_per_s * 1e9;
        bus - model.link.transfer(read).as_f64().max(apart)
    };
    let row = nand.page * u64::from(nand.planes);
    let shows = wait(row).max(wait(model.device.logical_block));
    let hidden = |why: &str| Fact::hidden(Some(nand.channels), why);
    match nand.channels {
        _ if dies == 1 => hidden("there is one die"),
        _ if model.link.queue_depth < 4 => hidden("reads come one at a time"),
        1 => hidden("any two dies wait for each other, as they would for a slow link"),
        _ if shows * 4.0 <= noise::typical(model.noise.level).as_f64() => {
            hidden("the controller and the link take as long as a channel does")
        }
        channels => Fact::known(channels),
    }
}

/// Pages tell their kind by their tR.
fn bits_per_cell(params: &PageMapParams) -> Fact<u32> {
    let mut times = params.nand.read.clone();
    times.sort_unstable();
    times.dedup();
    let bits = params.nand.bits_per_cell;
    if times.len() == bits as usize && bits > 1 {
        return Fact::known(bits);
    }
    Fact::hidden(Some(bits), "all pages take the same time to read")
}

/// Nobody need write more than this share of a drive, nor more than this, to look for a cache: a bound ("at least") is right
/// from there on.
const SEARCHED_SHARE: u64 = 20;
/// Most that need be written in search of a cache.
const SEARCHED: Bytes = Bytes::mib(512);

/// A cache shows where long writes are slower behind it.
fn slc_cache(model: &Model, params: &PageMapParams, drive: &PageMap) -> Option<Fact<Bytes>> {
    let room = drive.slc_room();
    let without = PageMapParams { slc: SlcCache::None, ..params.clone() };
    let (cached, direct) = (long_write(model, params)?, long_write(model, &without)?);
    let shows = direct.as_f64() / cached.as_f64();
    let mut fact = match params.slc {
        SlcCache::None => Fact::hidden(None, "there is none"),
        _ if room == Bytes::ZERO => Fact::hidden(None, "no superblock is free for it"),
        _ if shows < LEAST_SHOWN => {
            Fact::hidden(None, "what is behind it is no slower as far as the link lets see").or(vec![room])
        }
        SlcCache::Dynamic { .. } => {
            // Free superblocks that other tests used up meanwhile are missing here.
            let one = drive.geometry.bytes(drive.geometry.slc_slots);
            let fewer = (1..=2).map(|less| room.saturating_sub(one * less)).filter(|left| *left > Bytes::ZERO);
            Fact::known(room).or(fewer.collect()).noted("fewer superblocks are free once others were written")
        }
        SlcCache::Static { .. } => Fact::known(room),
    };
    fact.at_least = Some(room.min(SEARCHED).min(model.device.capacity / SEARCHED_SHARE));
    Some(fact)
}

/// A cache is measured on the device as it comes and on the filled one; a full device is no emptier the first time.
fn slc_kind(model: &Model, params: &PageMapParams, drive: &PageMap, cache: &Fact<Bytes>) -> Fact<SlcKind> {
    let kind = match params.slc {
        SlcCache::None => return Fact::hidden(None, "there is none"),
        SlcCache::Static { .. } => SlcKind::Static,
        SlcCache::Dynamic { .. } => SlcKind::Dynamic,
    };
    if !cache.can_be_told {
        return Fact::hidden(Some(kind), "the cache does not show");
    }
    if model.state.start == Start::Filled {
        return Fact::hidden(Some(kind), "the device is full as it comes");
    }
    let data = Bytes((model.device.capacity.as_f64() * NEARLY_FULL) as u64);
    let left = drive.slc_room_behind(data).as_f64() / drive.slc_room().as_f64();
    match kind {
        SlcKind::Dynamic if left > STAYS => Fact::known(SlcKind::Static)
            .noted("free superblocks are enough for it when the device is nearly full: it does not shrink"),
        SlcKind::Dynamic if left > SHRINKS => Fact::hidden(Some(kind), "it shrinks by less than a quarter"),
        kind => Fact::known(kind),
    }
}

/// Share of the device that holds data when a cache is measured again, and what is left then of one that stays as it is or
/// shrinks.
const NEARLY_FULL: f64 = 0.95;
/// Share of its size from which on such a cache stays as it is.
const STAYS: f64 = 0.9;
/// Share of its size below which it shrinks.
const SHRINKS: f64 = 0.75;

/// Long writes are slower by this factor where a cache shows.
const LEAST_SHOWN: f64 = 1.25;

/// A durable write of 1 MiB, once the first one is done.
fn long_write(model: &Model, params: &PageMapParams) -> Option<Nanos> {
    let mut drive = PageMap::of_model(params, model, 0).ok()?;
    let mut now = Instant::ORIGIN;
    let mut last = Nanos::ZERO;
    for index in 0..2 {
        let issued = now;
        let (mut at, end) = (Bytes::mib(index), Bytes::mib(index + 1));
        while at < end {
            let length = model.link.max_request.min(end - at);
            now = now.max(drive.write(issued, at, length, true));
            at += length;
        }
        last = now.since(issued);
    }
    Some(last)
}

/// Nobody need read further than this to look for a reach.
const SEARCHED_REACH: Bytes = Bytes::gib(16);

/// A miss reads a page of the map first.
fn map_reach(model: &Model, params: &PageMapParams) -> Fact<Bytes> {
    match &params.map_cache {
        None => Fact::hidden(None, "all of the map is in memory"),
        Some(cache) if cache.reach >= model.device.capacity => {
            Fact::hidden(None, "all of the map is in memory").or(vec![cache.reach])
        }
        Some(cache) => {
            let mut fact = Fact::known(cache.reach);
            fact.at_least = Some(cache.reach.min(SEARCHED_REACH));
            fact
        }
    }
}
