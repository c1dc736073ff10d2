//! What kind of device it is: the parameters that are counted and not timed, from the findings.
//!
//! Where the findings leave more than one kind open, all of them are shapes, and the figures choose. What nobody could
//! tell is set so that the twin does not show it either.

use crate::card::Origin;
use crate::measured::Measured;
use crate::memory::gcd;
use flashscope_model::Data;
use flashscope_model::finding::AreaKind;
use flashscope_model::{Estimate, Order};
use flashscope_units::Bytes;

/// A parameter and where it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Sourced<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

impl<T> Sourced<T> {
    fn found(value: T, confidence: Option<f64>) -> Sourced<T> {
        let sure = confidence.map_or_else(String::new, |confidence| format!(", {:.1} % sure", confidence * 100.0));
        Sourced { value, origin: Origin::Found(format!("by inference{sure}")) }
    }

    fn default(value: T, why: impl Into<String>) -> Sourced<T> {
        Sourced { value, origin: Origin::Default(why.into()) }
    }

    pub(crate) fn fitted(value: T, why: impl Into<String>) -> Sourced<T> {
        Sourced { value, origin: Origin::Fitted(why.into()) }
    }

    pub(crate) fn is_default(&self) -> bool {
        matches!(self.origin, Origin::Default(_))
    }
}

/// What a device does with a write out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutOfOrder {
    /// Appended to a log that takes any order.
    Logged,
    /// Merged at once with what lies there.
    Merged,
    /// The same, and that is a whole unit, so that it does not matter how many are open.
    MergedWhole,
}

/// Units that can be written in turn before it gets dear, where that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) in_order: Option<u32>,
    pub(crate) random: Option<u32>,
}

impl Limits {
    pub(crate) fn of(self, random: bool) -> Option<u32> {
        if random { self.random.or(self.in_order) } else { self.in_order }
    }

    /// The counts at which something may change.
    pub(crate) fn all(self) -> Vec<u32> {
        [self.in_order, self.random].into_iter().flatten().collect()
    }
}

/// A kind of device.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) unit: Sourced<Bytes>,
    pub(crate) sub_unit: Sourced<Bytes>,
    pub(crate) page: Sourced<Bytes>,
    pub(crate) page_inner: Sourced<Bytes>,
    pub(crate) logs_in_order: Sourced<u32>,
    pub(crate) logs_random: Sourced<u32>,
    pub(crate) out_of_order: OutOfOrder,
    /// Longest write that takes the small-write path; 0 where there is none.
    pub(crate) small_limit: Sourced<Bytes>,
    /// The area at the start that differs, as the host counts.
    pub(crate) area: Option<(Bytes, Bytes)>,
    /// Whether that area is mapped by page, where that is sure.
    pub(crate) area_by_page: Option<Sourced<bool>>,
    /// Flash in front of the host's first byte; absent where units begin at multiples of their size, or nobody is sure.
    pub(crate) hidden: Option<Sourced<Bytes>>,
    /// Whether what was written is tidied up in a pause.
    pub(crate) tidies_up: bool,
    /// Units that can be written in turn before it gets dear, sequentially and randomly, where that was seen.
    pub(crate) limits: Limits,
}

/// What the model takes over beyond what every device has must be found with this confidence.
pub(crate) const SURE: f64 = 0.9;

/// Whether a finding is sure enough to be taken over.
pub(crate) fn is_sure(confidence: Option<f64>) -> bool {
    confidence.is_some_and(|confidence| confidence >= SURE)
}

impl Shape {
    /// What the controller keeps in front of the host's first byte.
    pub(crate) fn in_front(&self) -> Bytes {
        self.hidden.as_ref().map_or(Bytes::ZERO, |hidden| hidden.value)
    }

    /// What a boundary is of that lies at odd multiples of this size on a grid shifted by `offset`: units that begin elsewhere
    /// make ordinary boundaries of its multiples.
    pub(crate) fn alignment(&self, size: Bytes, offset: Bytes) -> Bytes {
        Bytes(gcd(size.get(), (offset + self.in_front()).get()))
    }

    /// Whether reads show a level between page and unit.
    pub(crate) fn half_shows(&self) -> bool {
        matches!(self.sub_unit.origin, Origin::Fitted(_)) && self.sub_unit.value < self.unit.value
    }
}

/// No limit was seen: as many as anybody tries.
const NO_LIMIT: u32 = 64;
/// Nothing was written: any number is as good, since it costs nothing.
const NOTHING_WRITTEN: u32 = 8;
/// Allocation unit of most SDHC cards, where no unit shows.
const USUAL_UNIT: Bytes = Bytes::mib(4);
/// Page of most cards, where no page shows.
const USUAL_PAGE: Bytes = Bytes::kib(16);

/// The kinds that the findings leave open, the likeliest first.
pub(crate) fn shapes(measured: &Measured) -> Vec<Shape> {
    let geometry = &measured.findings.geometry;
    let unit = unit(measured);
    let page = page(&geometry.page, unit.value);
    let page_inner = match geometry.page_inner.value() {
        Some(inner) if inner < page.value && page.value.is_multiple_of(inner) && inner >= Bytes::kib(1) => {
            Sourced::found(inner, geometry.page_inner.confidence())
        }
        _ => Sourced::default(page.value, "no level shows inside the page"),
    };
    let area = geometry.fast_area.value().filter(|area| area.kind != AreaKind::None && area.end > area.first);
    let hidden = hidden(&geometry.boundary_offset, &unit);
    let in_front = hidden.as_ref().map_or(Bytes::ZERO, |hidden| hidden.value);
    let (start_of, end_of) = (
        |at: Bytes| (at + in_front).align_down(unit.value).saturating_sub(in_front),
        |at: Bytes| (at + in_front).align_up(unit.value) - in_front,
    );
    let area = area.map(|area| (start_of(area.first), end_of(area.end)));
    let parts = &geometry.fast_area_parts;
    let by_page = match parts.figure().map(Vec::as_slice) {
        Some([part]) if area.is_some() && is_sure(parts.confidence()) => part.by_page.filter(|by_page| *by_page),
        _ => None,
    };
    let area_by_page = by_page.map(|by_page| Sourced::found(by_page, parts.confidence()));

    let limits = Limits { in_order: geometry.open_units_linear.value(), random: geometry.open_units_random.value() };
    let mut shapes = Vec::new();
    for (in_order, random, out_of_order) in kinds_of_logs(measured) {
        let small_limits = small_limits(measured, page.value);
        for (small_limit, tidies_up) in small_limits.iter().flat_map(|limit| [(limit, false), (limit, true)]) {
            let sub_unit = sub_unit(measured, &unit, (page.value, in_front), out_of_order);
            shapes.push(Shape {
                unit: unit.clone(),
                sub_unit,
                page: page.clone(),
                page_inner: page_inner.clone(),
                logs_in_order: in_order.clone(),
                logs_random: random.clone(),
                out_of_order,
                small_limit: small_limit.clone(),
                area,
                area_by_page: area_by_page.clone(),
                hidden: hidden.clone(),
                tidies_up,
                limits,
            });
        }
    }
    shapes
}

fn unit(measured: &Measured) -> Sourced<Bytes> {
    let found = &measured.findings.geometry.allocation_unit;
    if let Some(unit) = found.value() {
        return Sourced::found(unit, found.confidence());
    }
    if let Some(least) = found.least() {
        return Sourced::default(least, "the least that it can be");
    }
    match unit_of_tables(measured) {
        Some(unit) => Sourced::default(unit, "it does not show; what was written by"),
        None => Sourced::default(USUAL_UNIT, "it does not show; usual for cards"),
    }
}

/// Where units begin says how much lies in front of the first one.
fn hidden(found: &Estimate<Bytes>, unit: &Sourced<Bytes>) -> Option<Sourced<Bytes>> {
    let offset = found.value().filter(|offset| *offset > Bytes::ZERO && *offset < unit.value)?;
    let sure = !unit.is_default() && is_sure(found.confidence());
    sure.then(|| Sourced::found(unit.value - offset, found.confidence()))
}

/// The unit that the writes went by.
pub(crate) fn unit_of_tables(measured: &Measured) -> Option<Bytes> {
    measured.observations.runs.iter().find_map(|run| match &run.data {
        Data::OpenUnits(data) => data.unit.or(data.rows.iter().map(|row| row.block).max()),
        Data::Fat(data) => data.unit.or(data.rows.iter().map(|row| row.block).max()),
        Data::FastArea(data) => Some(data.unit),
        _ => None,
    })
}

fn page(found: &Estimate<Bytes>, unit: Bytes) -> Sourced<Bytes> {
    if let Some(page) = found.value().filter(|page| unit.is_multiple_of(*page) && *page < unit) {
        return Sourced::found(page, found.confidence());
    }
    let halves = std::iter::successors(Some(unit), |size| Some(*size / 2));
    let usual = halves.take_while(|size| size.is_multiple_of(Bytes::SECTOR) && *size >= USUAL_PAGE).last();
    Sourced::default(usual.unwrap_or(unit), "it does not show; usual for cards")
}

/// How far below the level of the unit that of its half must lie above the page's, as a share of the way.
const HALF_SHOWS: f64 = 0.25;

fn sub_unit(
    measured: &Measured,
    unit: &Sourced<Bytes>,
    (page, in_front): (Bytes, Bytes),
    out_of_order: OutOfOrder,
) -> Sourced<Bytes> {
    let half = unit.value / 2;
    if !half.is_multiple_of(page) || half < page * 2 {
        return Sourced::default(unit.value, "one block takes a whole unit");
    }
    if half_shows(measured, unit.value, page, in_front) {
        return Sourced::fitted(half, "straddling costs more at half units than at pages");
    }
    if unit.is_default() && out_of_order != OutOfOrder::MergedWhole {
        return Sourced::default(half, "nothing tells what is merged at once");
    }
    match out_of_order {
        OutOfOrder::Merged => Sourced::default(half, "a write out of order merges less than a unit"),
        OutOfOrder::MergedWhole => {
            Sourced::fitted(unit.value, "writes out of order cost the same however many are open")
        }
        OutOfOrder::Logged => Sourced::default(unit.value, "nothing shows a part of it"),
    }
}

/// Whether boundaries of half units stand clear of those of pages.
fn half_shows(measured: &Measured, unit: Bytes, page: Bytes, in_front: Bytes) -> bool {
    let tables: Vec<[f64; 3]> = crate::reads::tables(measured, in_front)
        .iter()
        .filter_map(|table| table.levels_around_half(unit, page))
        .collect();
    let middle = |index: usize| {
        let values: Vec<f64> = tables.iter().map(|levels| levels[index]).collect();
        flashscope_stats::location::median(&values)
    };
    let (Some(whole), Some(half), Some(pages)) = (middle(0), middle(1), middle(2)) else { return false };
    whole > half && half - pages > HALF_SHOWS * (whole - pages)
}

/// A count of open units as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Count {
    Exactly(u32),
    AtLeast(u32),
    Unknown,
}

fn count(estimate: &Estimate<u32>) -> Count {
    match (estimate.value(), estimate.least()) {
        (Some(count), _) => Count::Exactly(count.max(1)),
        (None, Some(least)) => Count::AtLeast(least),
        _ => Count::Unknown,
    }
}

type Logs = (Sourced<u32>, Sourced<u32>, OutOfOrder);

/// Logs in order and for any order that give the counts of open units which were found.
fn kinds_of_logs(measured: &Measured) -> Vec<Logs> {
    let geometry = &measured.findings.geometry;
    let (linear, random) = (count(&geometry.open_units_linear), count(&geometry.open_units_random));
    let total: Sourced<u32> = match (linear, random) {
        (Count::Exactly(count), _) => Sourced::found(count, geometry.open_units_linear.confidence()),
        (Count::AtLeast(_), _) => Sourced::default(NO_LIMIT, "no limit was seen: as many as anybody tries"),
        (Count::Unknown, Count::Exactly(count)) => Sourced::default(count, "as many as for random writes"),
        (Count::Unknown, Count::AtLeast(_)) => {
            Sourced::default(NO_LIMIT, "no limit was seen: as many as anybody tries")
        }
        (Count::Unknown, Count::Unknown) => Sourced::default(NOTHING_WRITTEN, "no writes to several units were seen"),
    };
    let any_order = match random {
        Count::Exactly(count) if count <= total.value => Sourced::found(count, geometry.open_units_random.confidence()),
        Count::Exactly(_) => Sourced::default(
            total.value,
            "more units for random than for sequential writes is more than a model can have",
        ),
        _ => Sourced { value: total.value, origin: Origin::Default("as many as for sequential writes".to_owned()) },
    };
    let in_order = |count: u32| Sourced { value: count, origin: total.origin.clone() };
    let none = Sourced::fitted(0, "writes out of order cost a merge each");
    if matches!(random, Count::AtLeast(least) if least > total.value) {
        return vec![(in_order(total.value), none, OutOfOrder::MergedWhole)];
    }
    let logged = (in_order(total.value - any_order.value), any_order.clone(), OutOfOrder::Logged);
    let merged = (in_order(total.value), none, OutOfOrder::Merged);
    // Logs that serve any order take both counts to be the same; so do merges of less than a unit.
    if any_order.value == total.value { vec![logged, merged] } else { vec![logged] }
}

/// The small-write path that was found; where nobody looked, whether there is one is left to the rows below the page.
fn small_limits(measured: &Measured, page: Bytes) -> Vec<Sourced<Bytes>> {
    let found = &measured.findings.geometry.small_write_path;
    if let Some(limit) = found.value() {
        return vec![Sourced::found(limit.size, found.confidence())];
    }
    let none = Sourced::default(Bytes::ZERO, "no small-write path was found");
    let below: Vec<Bytes> =
        crate::writes::in_order_blocks(measured, Order::InOrder).into_iter().filter(|block| *block < page).collect();
    let largest = below.iter().max().copied();
    let mut limits = vec![none];
    let why = "not found as such, but writes below a page take too little time to be whole pages";
    limits.extend(largest.map(|block| Sourced::fitted(block, why)));
    let second = below.iter().filter(|block| Some(**block) != largest).max();
    limits.extend(second.map(|block| Sourced::fitted(*block, why)));
    limits
}
