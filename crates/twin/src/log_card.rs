//! What of a card's model patterns may move: what no table of durable writes to fresh units tells.

use crate::card::Card;
use crate::patterns::Lever;
use crate::shape::{OutOfOrder, Shape, is_sure};
use flashscope_model::Geometry;
use flashscope_units::Bytes;

/// A log of small writes holds this many pages at most, and no fewer than one.
const SMALL_PAGES: [u64; 7] = [1, 4, 16, 64, 256, 1024, 4096];
/// Longest writes that any small-write path was seen to take.
const SMALL_LIMITS: [u64; 5] = [0, 4, 8, 16, 32];
/// Open units that are tried where the findings do not say how many there are.
const LOGS: [u64; 7] = [0, 1, 2, 4, 8, 16, 32];

/// The levers of this card: what the findings are sure of stays.
pub(crate) fn levers(card: &Card, geometry: &Geometry, shape: &Shape) -> Vec<Lever> {
    let mut levers = vec![
        Lever::Time(&["link.flush"]),
        Lever::Time(&["link.durable_write"]),
        Lever::Time(&["mapping.program.page"]),
    ];
    if !is_sure(geometry.small_write_path.confidence()) {
        levers.push(Lever::Size("mapping.small.limit", SMALL_LIMITS.map(Bytes::kib).to_vec()));
    }
    levers.extend([
        Lever::Time(&["mapping.small.program"]),
        Lever::Count("mapping.small.pages", SMALL_PAGES.to_vec()),
        Lever::Time(&["mapping.small.collect_shortest", "mapping.small.collect_longest"]),
        Lever::Time(&["mapping.small.gather"]),
        Lever::Count("mapping.small.batch", vec![1, 2, 4, 8, 16]),
        Lever::Time(&["mapping.merge.copy"]),
        Lever::Time(&["mapping.merge.fixed"]),
    ]);
    let (unit, page) = (shape.unit.value, shape.page.value);
    let parts: Vec<Bytes> = std::iter::successors(Some(unit), |size| Some(*size / 2))
        .take_while(|size| *size >= page * 2 && size.is_multiple_of(page) && unit.is_multiple_of(*size))
        .collect();
    if !shape.half_shows() {
        levers.push(Lever::Size("mapping.sub_unit", parts.clone()));
    }
    if shape.logs_random.value > 0 && shape.logs_in_order.value > 0 {
        levers.push(Lever::Size("mapping.random_log", parts));
    }
    if shape.out_of_order != OutOfOrder::MergedWhole && !is_sure(geometry.open_units_random.confidence()) {
        levers.push(Lever::Count("mapping.logs_random", LOGS.to_vec()));
    }
    if !is_sure(geometry.open_units_linear.confidence()) {
        levers.push(Lever::Count("mapping.logs_in_order", LOGS.to_vec()));
    }
    let streams = [64, 128, 256, 512, 1024, 4096].map(Bytes::kib);
    levers.push(Lever::Size("mapping.stream", streams.into_iter().filter(|size| *size <= unit).collect()));
    levers.push(Lever::Time(&["mapping.read.small_lookup"]));
    if card.area().is_some() {
        levers.push(Lever::Time(&["mapping.areas.0.small_program"]));
        levers.push(Lever::Time(&["mapping.areas.0.program"]));
    }
    levers
}
