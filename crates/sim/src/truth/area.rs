//! What is true of an area at the start, and of the parts that it consists of.

use super::{Fact, merges_show};
use crate::au_log::{Area, AuLogParams};
use crate::model::Model;
use flashscope_model::finding::AreaKind;
use flashscope_units::{Bytes, Nanos};
use std::fmt;

/// An area at the start that is different.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AreaTruth {
    /// Its start.
    pub first: Bytes,
    /// Its end (exclusive).
    pub end: Bytes,
    /// How it differs.
    pub kind: AreaKind,
    /// Its rate over that of its neighbours for long sequential writes.
    pub ratio: f64,
}

/// Units of such an area that are alike, side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AreaPartTruth {
    /// Start of the part.
    pub first: Bytes,
    /// End of the part (exclusive).
    pub end: Bytes,
    /// Rate over that of units elsewhere for sequential writes, of 32 KiB and of the longest request: blocks between the
    /// two lie between the two.
    pub in_order: [f64; 2],
    /// The same for small writes; `None` where they go the same way as others.
    pub small: Option<f64>,
    /// Whether writes out of order cost no merge.
    pub by_page: bool,
}

/// The parts of the area at the start.
pub(super) fn fast_area_parts(model: &Model, params: &AuLogParams) -> Fact<Vec<AreaPartTruth>> {
    match touching(model, params) {
        areas if areas.is_empty() => Fact::hidden(None, "there is no area at the start"),
        areas => parts_of(model, params, &areas),
    }
}

/// Areas that touch are told as one; where their kinds differ, it is a mixed one.
pub(super) fn fast_area(model: &Model, params: &AuLogParams) -> Fact<AreaTruth> {
    let areas = touching(model, params);
    let (Some(first), Some(last)) = (areas.first(), areas.last()) else {
        return Fact::known(AreaTruth { first: Bytes::ZERO, end: Bytes::ZERO, kind: AreaKind::None, ratio: 1.0 })
            .noted("there is none");
    };
    let kind = area_kind(model, params, first);
    let alike = areas.iter().all(|area| area_kind(model, params, area) == kind);
    let kind = if alike { kind } else { AreaKind::Mixed };
    let shown = |at: Bytes| at.saturating_sub(params.hidden);
    let ratio = long_ratio(model, params, first, model.link.max_request);
    Fact::known(AreaTruth { first: shown(first.start), end: shown(last.end), kind, ratio })
}

/// The first areas of which anything shows, as far as each begins where the one before it ends.
fn touching<'a>(model: &Model, params: &'a AuLogParams) -> Vec<&'a Area> {
    let mut areas: Vec<&Area> =
        params.areas.iter().filter(|area| area_kind(model, params, area) != AreaKind::None).collect();
    areas.sort_by_key(|area| area.start);
    let together = 1 + areas.windows(2).take_while(|pair| pair[0].end == pair[1].start).count();
    areas.truncate(together);
    areas
}

fn area_kind(model: &Model, params: &AuLogParams, area: &Area) -> AreaKind {
    let small = params.small.program.as_f64() / area.small_program.as_f64();
    match (long_ratio(model, params, area, model.link.max_request), small) {
        (long, small) if (long > 1.1 && small < 0.9) || (long < 0.9 && small > 1.1) => AreaKind::Mixed,
        (long, small) if long > 1.1 || small > 1.1 || area.page_mapped => AreaKind::Faster,
        (long, small) if long < 0.9 || small < 0.9 => AreaKind::Slower,
        _ => AreaKind::None,
    }
}

/// Rate of writes of this length in an area over that elsewhere.
fn long_ratio(model: &Model, params: &AuLogParams, area: &Area, length: Bytes) -> f64 {
    let wire = model.link.transfer(params.page);
    let pages = (length / params.page).max(1);
    let fixed = model.link.command + model.link.durable_write + wire;
    let long = |program: Nanos| (fixed + program.max(wire) * pages).as_f64();
    long(params.program.page) / long(area.program)
}

/// Neighbours whose figures differ by less than this factor look alike.
const PARTS_ALIKE: f64 = 1.1;

/// The shortest of the writes that are called long.
const SHORTEST_LONG: Bytes = Bytes::kib(32);

/// The smallest writes that are tried.
const SMALL_WRITE: Bytes = Bytes::kib(4);

/// Whether a part is mapped by page shows only where copies show elsewhere. Who does not say it, and takes neighbours that
/// differ in nothing else for one part, says something true; where no copies show he says all there is.
fn parts_of(model: &Model, params: &AuLogParams, areas: &[&Area]) -> Fact<Vec<AreaPartTruth>> {
    let longest = model.link.max_request.max(SHORTEST_LONG);
    let part = |area: &&Area| AreaPartTruth {
        first: area.start.saturating_sub(params.hidden),
        end: area.end.saturating_sub(params.hidden),
        in_order: [SHORTEST_LONG, longest].map(|length| long_ratio(model, params, area, length)),
        small: (params.small.limit >= SMALL_WRITE).then(|| small_ratio(model, params, area)),
        by_page: area.page_mapped,
    };
    let mut fact = Fact::known(joined(areas.iter().map(part), true));
    let without_mapping = joined(areas.iter().map(part), false);
    fact.at_least = Some(without_mapping.clone());
    if params.logs_random > 0 || !merges_show(model, params) {
        fact.can_be_told = areas.iter().any(|area| !area.page_mapped);
        return fact.or(vec![without_mapping]).noted("few copies show which parts are mapped by page");
    }
    fact
}

fn small_ratio(model: &Model, params: &AuLogParams, area: &Area) -> f64 {
    let fixed = model.link.command + model.link.durable_write + model.link.transfer(SMALL_WRITE);
    (fixed + params.small.program).as_f64() / (fixed + area.small_program).as_f64()
}

/// Neighbours that look alike as one.
fn joined(parts: impl Iterator<Item = AreaPartTruth>, mapping_shows: bool) -> Vec<AreaPartTruth> {
    let near = |a: f64, b: f64| (a / b).ln().abs() < PARTS_ALIKE.ln();
    let alike = |a: &AreaPartTruth, b: &AreaPartTruth| {
        near(a.in_order[1], b.in_order[1])
            && a.small.zip(b.small).is_none_or(|(a, b)| near(a, b))
            && (a.by_page == b.by_page || !mapping_shows)
    };
    let mut all: Vec<AreaPartTruth> = Vec::new();
    for part in parts {
        match all.last_mut() {
            Some(last) if alike(last, &part) => last.end = part.end,
            _ => all.push(part),
        }
    }
    all
}

impl fmt::Display for AreaTruth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            AreaKind::None => write!(f, "none"),
            kind => write!(f, "{} to {}, {kind:?}, {:.2} times its neighbours", self.first, self.end, self.ratio),
        }
    }
}

impl fmt::Display for AreaPartTruth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}, sequential {:.2} to {:.2}", self.first, self.end, self.in_order[0], self.in_order[1])?;
        if let Some(small) = self.small {
            write!(f, ", small writes {small:.2}")?;
        }
        write!(f, "{}", if self.by_page { ", by page" } else { "" })
    }
}
