//! Drives that map by page: a model of their own, where a record has patterns to fit it to.
//!
//! Findings say which sizes a drive has where they are sure; all else is tried (`patterns`). How many blocks a drive has follows
//! from its capacity: over-provisioning and wear are not measured by patterns, and stay what is usual.

use crate::card::{Card, Origin};
use crate::measured::Measured;
use crate::patterns::{Lever, boxed, start_lever};
use crate::shape::is_sure;
use flashscope_model::finding::MappingKind;
use flashscope_model::{Data, Direction, Geometry, Order};
use flashscope_stats::location::median;
use flashscope_units::Bytes;

/// Spare space of a drive of which nothing is known.
const SPARE: f64 = 0.1;
/// Superblocks for the data, about, where there is room for sensible blocks.
const SUPERBLOCKS: u64 = 400;
/// Pages of a block at least and at most, and what their number is a multiple of, so that it divides by bits per cell.
const PAGES: (u64, u64, u64) = (12, 2304, 12);
/// Superblocks beside spare space: free ones, those that are written to, and those that a cache keeps free.
const BESIDE: u64 = 16;
/// What a time of the link or of the flash is taken for, where nothing tells.
const SENSE_NS: f64 = 60e3;
const PROCESSING_NS: f64 = 15e3;
const PROGRAM_NS: f64 = 1.2e6;
/// The wire is this much faster than the fastest reads.
const FASTER: f64 = 1.15;

/// How much of a map may be in memory.
const REACHES: [Bytes; 4] = [Bytes::mib(128), Bytes::mib(512), Bytes::gib(2), Bytes::gib(8)];

const SLC: [&str; 2] = ["mapping.slc.max_superblocks", "mapping.slc.keep_free"];
const MAP_CACHE: [&str; 1] = ["mapping.map_cache."];

/// Whether the device may map by page: it was found to, or it was not found out.
pub(crate) fn may_be_one(geometry: &Geometry) -> bool {
    geometry.mapping.value().is_none_or(|kind| kind == MappingKind::Page)
}

/// The model to start from.
pub(crate) fn first_guess(measured: &Measured, card: &mut Card) {
    let geometry = &measured.findings.geometry;
    let guess = || Origin::Default("tried by patterns from here on".to_owned());
    let floor = floor(measured).unwrap_or(150e3);
    card.set_time("link.command", (floor - SENSE_NS - PROCESSING_NS).max(floor * 0.3), guess());
    card.set_share("link.bytes_per_s", fastest_read(measured).unwrap_or(100e6) * FASTER, guess());
    for (path, time) in [
        ("link.flush", floor),
        ("link.durable_write", 0.0),
        ("mapping.processing", PROCESSING_NS),
        ("mapping.nand.slc_read", SENSE_NS * 0.7),
        ("mapping.nand.slc_program", PROGRAM_NS / 4.0),
    ] {
        card.set_time(path, time, guess());
    }
    card.set_times("mapping.nand.read", SENSE_NS, guess());
    card.set_times("mapping.nand.program", PROGRAM_NS, guess());
    for (path, count) in [("channels", 2), ("dies_per_channel", 1), ("planes", 2)] {
        card.set_count(&format!("mapping.nand.{path}"), count, guess());
    }
    card.set_size("mapping.nand.page", Bytes::kib(16), guess());
    let buffer = geometry.write_buffer.value().filter(|_| is_sure(geometry.write_buffer.confidence()));
    card.set_size(
        "mapping.buffer.size",
        buffer.map_or(Bytes::mib(1), |buffer| buffer.size.max(Bytes::kib(64))),
        guess(),
    );
    let volatile = geometry.write_buffer_volatile.value().unwrap_or(true);
    card.set_flag("mapping.buffer.volatile", volatile, guess());
    without_cache(card);
    match geometry.map_reach.value() {
        Some(reach) => with_reach(card, reach.max(Bytes::mib(4)).align_down(Bytes::mib(4))),
        None => without_reach(card),
    }
    settle(card);
}

/// The drives to begin with: without a cache of fast cells, and with one.
pub(crate) fn starts(drive: &Card) -> Vec<Card> {
    vec![drive.clone(), drive.with(with_cache)]
}

/// What is moved.
pub(crate) fn levers() -> Vec<Lever> {
    vec![
        Lever::Time(&["link.bytes_per_s"]),
        Lever::Time(&["link.command"]),
        Lever::Time(&["mapping.nand.read"]),
        Lever::Time(&["mapping.nand.program"]),
        Lever::Form(vec![Box::new(with_cache), Box::new(without_cache)]),
        Lever::Count("mapping.nand.channels", vec![1, 2, 4, 8]),
        Lever::Count("mapping.nand.dies_per_channel", vec![1, 2, 4]),
        Lever::Count("mapping.nand.planes", vec![1, 2, 4]),
        Lever::Size("mapping.nand.page", [4, 8, 16].map(Bytes::kib).to_vec()),
        Lever::Size("mapping.buffer.size", [128, 512, 1024, 4096, 16384].map(Bytes::kib).to_vec()),
        Lever::Form([true, false].map(|is| boxed(move |card| volatile(card, is))).into()),
        Lever::Time(&["mapping.processing"]),
        Lever::Time(&["mapping.nand.slc_program"]),
        Lever::Time(&["link.flush"]),
        Lever::Time(&["link.durable_write"]),
        Lever::Form(vec![Box::new(without_reach)]),
        Lever::Form(REACHES.map(|reach| boxed(move |card| with_reach(card, reach))).into()),
        start_lever(),
    ]
}

/// Blocks enough for the capacity, whatever a superblock is.
pub(crate) fn settle(card: &mut Card) {
    let count = |path: &str| card.number(&format!("mapping.nand.{path}")).max(1.0) as u64;
    let page = card.size("mapping.nand.page").unwrap_or(Bytes::kib(16));
    let row = page * (count("channels") * count("dies_per_channel") * count("planes"));
    let capacity = card.size("device.capacity").unwrap_or(Bytes::gib(16));
    let pages = (capacity / SUPERBLOCKS / row.get()).get().clamp(PAGES.0, PAGES.1) / PAGES.2 * PAGES.2;
    let data = capacity.get().div_ceil((row * pages).get());
    let blocks = data + (data as f64 * SPARE) as u64 + BESIDE;
    let follows = || Origin::Default("follows from the capacity".to_owned());
    card.set_count("mapping.nand.pages_per_block", pages, follows());
    card.set_count("mapping.nand.blocks_per_plane", blocks, follows());
}

fn with_cache(card: &mut Card) {
    card.leave_out(&SLC, false);
    card.set_text("mapping.slc.kind", "dynamic", tried());
}

fn without_cache(card: &mut Card) {
    card.leave_out(&SLC, true);
    card.set_text("mapping.slc.kind", "none", tried());
}

fn with_reach(card: &mut Card, reach: Bytes) {
    card.leave_out(&MAP_CACHE, false);
    card.set_size("mapping.map_cache.reach", reach, tried());
}

fn without_reach(card: &mut Card) {
    card.leave_out(&MAP_CACHE, true);
}

fn volatile(card: &mut Card, is: bool) {
    card.set_flag("mapping.buffer.volatile", is, tried());
}

fn tried() -> Origin {
    Origin::Fitted("to requests as applications mix them".to_owned())
}

/// The shortest time of one block that is read again and again, in nanoseconds.
fn floor(measured: &Measured) -> Option<f64> {
    measured.observations.runs.iter().find_map(|run| match &run.data {
        Data::Floor(data) => Some(data.times.iter().min()?.as_f64()),
        _ => None,
    })
}

/// Bytes per second.
fn fastest_read(measured: &Measured) -> Option<f64> {
    let rates = measured.observations.runs.iter().filter_map(|run| match &run.data {
        Data::Throughput(data) if (data.direction, data.order) == (Direction::Read, Order::InOrder) => {
            let times: Vec<f64> = data.times.iter().map(|time| time.as_f64()).collect();
            Some(data.block.as_f64() / median(&times)? * 1e9)
        }
        _ => None,
    });
    rates.max_by(f64::total_cmp)
}
