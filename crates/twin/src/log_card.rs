//! What of a card's model patterns may move: what no table of durable writes to fresh units tells.

use crate::card::{Card, Origin};
use crate::measured::Measured;
use crate::patterns::{Change, Lever, boxed, start_lever};
use crate::shape::{OutOfOrder, Shape, is_sure};
use flashscope_model::Geometry;
use flashscope_units::Bytes;

/// A log of small writes holds this many pages at most, and no fewer than one.
const SMALL_PAGES: [u64; 7] = [1, 4, 16, 64, 256, 1024, 4096];
/// A log of small writes that is not full for long.
const MANY_PAGES: u64 = 512;
/// Longest writes that any small-write path was seen to take.
const SMALL_LIMITS: [u64; 5] = [0, 4, 8, 16, 32];
/// Write buffers that are tried where none was found, and none was found to be missing.
const BUFFERS: [Bytes; 4] = [Bytes::kib(64), Bytes::kib(256), Bytes::mib(1), Bytes::mib(4)];

/// The levers of this card: what the findings are sure of stays.
pub(crate) fn levers(card: &Card, measured: &Measured, shape: &Shape) -> Vec<Lever> {
    let geometry = &measured.findings.geometry;
    let mut levers = vec![Lever::Time(&["link.flush"])];
    if !is_sure(geometry.write_buffer.confidence()) {
        levers.push(Lever::Form(BUFFERS.into_iter().flat_map(with_buffers).collect()));
    }
    if crate::memory::takes_durable_writes(measured) {
        // Such a buffer hides what durable writes wait for.
        levers.push(Lever::Time(&["mapping.program.page"]));
        levers.push(Lever::Time(&["link.durable_write"]));
    }
    levers.extend([Lever::Near("mapping.program.page"), Lever::Near("link.durable_write"), start_lever()]);
    if !is_sure(geometry.small_write_path.confidence()) {
        levers.push(Lever::Size("mapping.small.limit", SMALL_LIMITS.map(Bytes::kib).to_vec()));
    }
    levers.extend([
        Lever::Time(&["mapping.small.program"]),
        Lever::Count("mapping.small.pages", SMALL_PAGES.to_vec()),
        Lever::Number("mapping.small.pages"),
        Lever::Time(&["mapping.small.collect_shortest", "mapping.small.collect_longest"]),
        Lever::Time(&["mapping.small.gather"]),
        Lever::Count("mapping.small.batch", vec![1, 2, 4, 8, 16]),
        Lever::Time(&["mapping.merge.copy"]),
        Lever::Time(&["mapping.merge.fixed"]),
        Lever::Form([0.5, 0.8, 1.25, 2.0].map(|times| boxed(move |card| other_split(card, times))).into()),
    ]);
    let (unit, page) = (shape.unit.value, shape.page.value);
    let parts: Vec<Bytes> = std::iter::successors(Some(unit), |size| Some(*size / 2))
        .take_while(|size| *size >= page * 2 && size.is_multiple_of(page) && unit.is_multiple_of(*size))
        .collect();
    if !shape.half_shows() {
        levers.push(Lever::Form(parts.iter().map(|size| merged_at_once(*size)).collect()));
        levers.push(Lever::Size("mapping.sub_unit", parts.clone()));
    }
    if shape.logs_random.value > 0 && shape.logs_in_order.value > 0 {
        levers.push(Lever::Size("mapping.random_log", parts));
    }
    let streams = [64, 128, 256, 512, 1024, 4096].map(Bytes::kib);
    levers.push(Lever::Size("mapping.stream", streams.into_iter().filter(|size| *size <= unit).collect()));
    levers.push(Lever::Time(&["mapping.read.small_lookup"]));
    levers.push(Lever::Time(&["link.bytes_per_s"]));
    if card.area().is_some() {
        levers.push(Lever::Time(&["mapping.areas.0.small_program"]));
        levers.push(Lever::Time(&["mapping.areas.0.program"]));
    }
    levers.push(Lever::Form([2, 3, 4].map(|times| boxed(move |card| larger_page(card, times))).into()));
    levers
}

/// The cards to begin with: those whose logs are of another kind, where the findings leave the kind open.
pub(crate) fn starts(card: &Card, geometry: &Geometry, shape: &Shape) -> Vec<Card> {
    // How many pages a log of small writes holds and what each of them costs is told apart from a start near enough only.
    let with_pages = |pages| card.with(|card| card.set_count("mapping.small.pages", pages, tried()));
    let mut starts = vec![card.clone(), with_pages(MANY_PAGES)];
    let (in_order, any_order) = (u64::from(shape.logs_in_order.value), u64::from(shape.logs_random.value));
    let all = in_order + any_order;
    let sure = is_sure(geometry.open_units_random.confidence()) && is_sure(geometry.open_units_linear.confidence());
    let kinds = [(all, 0), (0, all), (all.saturating_sub(1).max(1), 1), (all / 2, all - all / 2)];
    let other = kinds.into_iter().filter(|kind| *kind != (in_order, any_order));
    let open = shape.out_of_order != OutOfOrder::MergedWhole;
    starts.extend(other.filter(|kind| open && (!sure || kind.0 == 0 || kind.1 == 0)).map(|(in_order, any_order)| {
        card.with(|card| {
            card.set_count("mapping.logs_in_order", in_order, tried());
            card.set_count("mapping.logs_random", any_order, tried());
        })
    }));
    starts
}

/// A buffer of this size, written out at once or bit by bit, that a power cut loses or not; and none.
fn with_buffers(size: Bytes) -> Vec<Change> {
    let kinds = [("whole", true), ("steady", true), ("steady", false)];
    let with = kinds.map(|(flush, volatile)| {
        boxed(move |card| {
            card.set_size("write_buffer.size", size, tried());
            card.set_count("write_buffer.entries", 0, tried());
            card.set_text("write_buffer.flush", flush, tried());
            card.set_time("write_buffer.window", 0.0, tried());
            card.set_flag("write_buffer.flushed_by_read", false, tried());
            card.set_flag("write_buffer.volatile", volatile, tried());
        })
    });
    with.into()
}

/// Pages that a merge of a sub-unit copies.
fn pages(card: &Card) -> f64 {
    let size = |path: &str| card.size(path).unwrap_or(Bytes::mib(1)).as_f64();
    size("mapping.sub_unit") / size("mapping.page")
}

/// Another part of a unit is merged at once, in the same time.
fn merged_at_once(size: Bytes) -> Change {
    boxed(move |card| {
        let all = card.number("mapping.merge.copy") * pages(card);
        card.set_size("mapping.sub_unit", size, tried());
        card.set_time("mapping.merge.copy", all / pages(card), tried());
    })
}

/// A merge takes as long, and copies make up another share of it.
fn other_split(card: &mut Card, times: f64) {
    let (copy, fixed) = (card.number("mapping.merge.copy"), card.number("mapping.merge.fixed"));
    let all = copy * pages(card) + fixed;
    let copy = (copy * times).min(all / pages(card));
    card.set_time("mapping.merge.copy", copy, tried());
    card.set_time("mapping.merge.fixed", all - copy * pages(card), tried());
}

/// What was found is a page of one plane, and several are programmed at once.
fn larger_page(card: &mut Card, times: u64) {
    let Some(page) = card.size("mapping.page") else { return };
    card.set_size("mapping.page", page * times, tried());
    for path in ["mapping.program.page", "mapping.merge.copy", "mapping.areas.0.program"] {
        let time = card.number(path);
        if time > 0.0 {
            card.set_time(path, time * times as f64, tried());
        }
    }
}

fn tried() -> Origin {
    Origin::Fitted("to requests as applications mix them".to_owned())
}
