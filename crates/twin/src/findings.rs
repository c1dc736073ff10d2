//! What became of each finding: the twin holds it, or it was found and the twin does not hold it, or nobody knows.

use crate::card::{Card, Origin};
use crate::shape::{SURE, Shape};
use flashscope_model::capacity::Genuineness;
use flashscope_model::finding::{AreaKind, AreaPart, MappingKind, Penalty};
use flashscope_model::{Estimate, Finding, Geometry};
use flashscope_units::Bytes;
use flashscope_view::answer::{answer, percent};

/// One finding, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TwinFinding {
    /// Which one.
    pub finding: Finding,
    /// The figure or the bound in words; absent where it is unknown.
    pub figure: Option<String>,
    /// Probability that it is right; absent where it is unknown.
    pub confidence: Option<f64>,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The twin has it, in this parameter of the model (a section, where it lies in several), or by leaving that away.
    Held(&'static str),
    /// It was found, and the twin does not have it: why.
    NotHeld(String),
    /// It was not found: why, and the parameter that stands in its place.
    Unknown(String, &'static str),
}

/// Why findings of drives are not held by the model of a card.
const CARD: &str = "a model of a card has no such thing";
/// Why what a device went through is not held.
const PAST: &str = "a fitted twin begins blank or filled sequentially, and as new";
/// Why an area of several parts is not held.
const ONE_AREA: &str = "a fitted twin has one area at the start, and all of it is built alike";

/// Every finding, in the order of a report.
pub(crate) fn all(geometry: &Geometry, card: &Card, shape: &Shape) -> Vec<TwinFinding> {
    Finding::ALL.iter().map(|finding| carried(*finding, geometry, card, shape)).collect()
}

fn carried(finding: Finding, geometry: &Geometry, card: &Card, shape: &Shape) -> TwinFinding {
    let (path, held) = held(finding, geometry, card, shape);
    let answer = answer(finding, geometry);
    let outcome = match (&answer.figure, held) {
        (None, _) => Outcome::Unknown(answer.why, path),
        (Some(_), Ok(())) => Outcome::Held(path),
        (Some(_), Err(why)) => Outcome::NotHeld(why),
    };
    TwinFinding { finding, figure: answer.figure, confidence: answer.confidence, outcome }
}

/// The parameter that a finding is in, and whether the twin has it there or why not; what is unknown is not asked.
fn held(finding: Finding, geometry: &Geometry, card: &Card, shape: &Shape) -> (&'static str, Result<(), String>) {
    use Finding as F;
    if card.is_drive() {
        return of_drive(finding, geometry, card);
    }
    let found = geometry;
    let no_card = || ("", Err(CARD.to_owned()));
    let unit = shape.unit.value;
    match finding {
        F::AllocationUnit => ("mapping.unit", is(&found.allocation_unit, Some(unit), "another unit was taken")),
        F::BoundaryOffset => {
            let offset = Bytes((unit.get() - shape.in_front().get() % unit.get()) % unit.get());
            let held = match is_as(&found.boundary_offset, Some(offset)) {
                true => Ok(()),
                false => Err(not_sure(&found.boundary_offset, "units of the twin begin at multiples of their size")),
            };
            ("mapping.hidden", held)
        }
        F::Page => ("mapping.page", is(&found.page, Some(shape.page.value), "a unit must be whole pages")),
        F::PageInner => {
            let inner = Some(shape.page_inner.value).filter(|inner| *inner < shape.page.value);
            ("mapping.page_inner", is(&found.page_inner, inner, "a page must be whole pages inside"))
        }
        F::OpenUnitsLinear => {
            let units = Some(shape.logs_in_order.value + shape.logs_random.value);
            let why = "the kind of logs that was taken holds another number";
            ("mapping.logs_in_order", is(&found.open_units_linear, units, why))
        }
        F::OpenUnitsRandom => {
            let held = match shape.logs_random.value {
                // Every write out of order is merged; how many units are open then costs nothing, or a part of one.
                0 => Ok(()),
                logs => is(
                    &found.open_units_random,
                    Some(logs),
                    "more units for random than for sequential writes is more than a model can have",
                ),
            };
            ("mapping.logs_random", held)
        }
        F::RandomOrderPenalty => {
            let held = found.random_order_penalty.value().map_or(Ok(()), |penalty| as_dear(&penalty, card));
            ("mapping.merge.copy", held)
        }
        F::SmallWritePath => {
            let path = Some(shape.small_limit.value).filter(|limit| *limit > Bytes::ZERO);
            let size = found.small_write_path.clone().map(|path| path.size);
            ("mapping.small", is(&size, path, "writes below it cost no less"))
        }
        F::FastArea => {
            let wanted = found.fast_area.value().filter(|area| area.kind != AreaKind::None && area.end > area.first);
            let exact = wanted.map(|area| (area.first, area.end)) == shape.area;
            ("mapping.areas", told(exact, "the area of a model must be whole units"))
        }
        F::FastAreaParts => ("mapping.areas", one_part(&found.fast_area_parts, card, shape)),
        F::WriteBuffer => {
            let estimate = &found.write_buffer;
            let held = estimate.value().is_some() && buffered(card) || is_none_above(estimate);
            ("write_buffer", told(held, &not_sure(estimate, ONLY_A_BOUND)))
        }
        F::WriteBufferVolatile => of_buffer("write_buffer.volatile", &found.write_buffer_volatile, card),
        F::WriteBufferFlushedByRead => {
            of_buffer("write_buffer.flushed_by_read", &found.write_buffer_flushed_by_read, card)
        }
        F::WriteBufferFlushWindow => {
            let is_found = matches!(card.origin("write_buffer.window"), Some(Origin::Found(_)));
            ("write_buffer.window", told(is_found, &no_such_buffer(&found.write_buffer_flush_window, card)))
        }
        F::ReadBuffer => {
            let (estimate, has) = (&found.read_buffer, card.size("read_buffer.size"));
            let held = match estimate.value() {
                Some(size) => has == Some(size) || (size == Bytes::ZERO && has.is_none()),
                None => is_none_above(estimate),
            };
            ("read_buffer", told(held, &not_sure(estimate, ONLY_A_BOUND)))
        }
        F::ReadAhead => {
            let (estimate, has) = (&found.read_ahead, card.size("read_ahead.window").unwrap_or(Bytes::ZERO));
            let held = estimate.value().map_or(is_none_above(estimate), |ahead| ahead.window == has);
            ("read_ahead", told(held, &not_sure(estimate, ONLY_A_BOUND)))
        }
        F::Collection => {
            let stalls =
                card.number("mapping.housekeeping.longest") > 0.0 && card.number("mapping.housekeeping.chance") > 0.0;
            ("mapping.housekeeping", told(stalls, "no row that ought to be like others shows when a stall comes"))
        }
        F::Mapping => {
            let held = match found.mapping.value() {
                Some(MappingKind::Page) => Err("a twin is a card, which is mapped by units".to_owned()),
                Some(MappingKind::Other) => Err("no model maps like that".to_owned()),
                Some(MappingKind::UnitLog) => told(shape.logs_random.value > 0, LOGS),
                Some(MappingKind::UnitInOrder) => told(shape.logs_random.value == 0, LOGS),
                None => Ok(()),
            };
            ("mapping.logs_random", held)
        }
        // A bound says that there is none to be seen so far: neither has a card.
        F::SlcCache => ("", told(found.slc_cache.value().is_none(), CARD)),
        // A card has all of its map at hand.
        F::MapReach => ("", told(found.map_reach.value().is_none() && found.map_reach.most().is_none(), CARD)),
        F::Stripe
        | F::ParallelUnits
        | F::Channels
        | F::SlcCacheRecovery
        | F::BitsPerCell
        | F::WriteAmplification
        | F::PhysicalOverUser => no_card(),
        // A model without the section forgets what a discard covers.
        F::Discard => ("discard", told(found.discard.value().is_none(), "a fitted twin discards as most cards do")),
        // A model begins as new and filled sequentially, or blank; what a device went through before is no part of it.
        F::HoldsData | F::DataOrder | F::LifeUsed | F::State => ("", Err(PAST.to_owned())),
        // A twin is as large as it says.
        F::Genuine => {
            let whole = found.genuine.value().is_none_or(|kind| kind == Genuineness::Genuine);
            ("", told(whole, "a fitted twin is no fake"))
        }
        F::TrueCapacity => {
            let most = found.true_capacity.value().is_none_or(|size| card.size("capacity") == Some(size));
            ("capacity", told(most, "a fitted twin has the size that the device claims"))
        }
        F::NeverWritten => {
            let share = if card.is_text("state.start", "blank") { 1.0 } else { 0.0 };
            let near = found.never_written.value().is_none_or(|value| (value - share).abs() < NEARLY);
            ("state.start", told(near, "a model is blank or filled as a whole"))
        }
    }
}

/// The same for a drive that maps by page.
fn of_drive(finding: Finding, found: &Geometry, card: &Card) -> (&'static str, Result<(), String>) {
    use Finding as F;
    const TRIED: &str = "tried by the times of patterns, and not taken from the finding";
    match finding {
        F::Mapping => ("mapping.kind", Ok(())),
        F::WriteBuffer => {
            let size = card.size("mapping.buffer.size");
            let held = found.write_buffer.value().is_some_and(|buffer| Some(buffer.size) == size);
            ("mapping.buffer.size", told(held, TRIED))
        }
        F::WriteBufferVolatile => {
            let volatile = card.flag("mapping.buffer.volatile");
            ("mapping.buffer.volatile", told(found.write_buffer_volatile.value() == volatile, TRIED))
        }
        F::MapReach => {
            let reach = card.size("mapping.map_cache.reach");
            ("mapping.map_cache.reach", told(found.map_reach.value() == reach, TRIED))
        }
        F::Stripe | F::ParallelUnits | F::Channels | F::Page | F::SlcCache | F::SlcCacheRecovery => {
            ("mapping.nand", Err(TRIED.to_owned()))
        }
        F::BitsPerCell | F::WriteAmplification | F::PhysicalOverUser => {
            ("mapping.collection", Err("wear and collection are what is usual: patterns do not show them".to_owned()))
        }
        F::HoldsData | F::DataOrder | F::LifeUsed | F::State => ("", Err(PAST.to_owned())),
        F::Genuine | F::TrueCapacity => ("device.capacity", Ok(())),
        _ => ("", Err("a model that maps by page has no such thing".to_owned())),
    }
}

/// Whether all that is known is that there is none above a size.
fn is_none_above<T: Copy>(estimate: &Estimate<T>) -> bool {
    estimate.value().is_none() && estimate.least().is_none()
}

fn buffered(card: &Card) -> bool {
    card.size("write_buffer.size").is_some()
}

fn of_buffer(path: &'static str, estimate: &Estimate<bool>, card: &Card) -> (&'static str, Result<(), String>) {
    (path, told(estimate.value() == card.flag(path), &no_such_buffer(estimate, card)))
}

fn no_such_buffer<T>(estimate: &Estimate<T>, card: &Card) -> String {
    not_sure(estimate, if buffered(card) { "the twin has another" } else { "the twin has no write buffer" })
}

/// What a reader must know before anything else: that the device maps by page, and what of it is not in a card.
pub(crate) fn caution(geometry: &Geometry, findings: &[TwinFinding]) -> Option<String> {
    let mapping = &geometry.mapping;
    let by_page = mapping.value() == Some(MappingKind::Page) && mapping.is_sure(BY_PAGE);
    by_page.then(|| {
        let not_held = findings.iter().filter(|finding| matches!(finding.outcome, Outcome::NotHeld(_)));
        let lost: Vec<String> = not_held
            .filter_map(|finding| Some(format!("{} {}", finding.finding.label(), finding.figure.as_ref()?)))
            .collect();
        format!(
            "the measured device maps by page, and this twin is a card: it gives the times of single requests, but nothing of \
             a drive's inside (not in it: {}; queues, collection and what wear does are a card's)",
            lost.join(", ")
        )
    })
}

/// A device is said to map by page from this probability on.
const BY_PAGE: f64 = 0.5;
/// Penalties of random order that differ by no more than this factor are the same.
const AS_DEAR: f64 = 1.5;
/// Shares nearer than this are the same.
const NEARLY: f64 = 0.02;
/// Why a bound is not held.
const ONLY_A_BOUND: &str = "only a bound is known, and a model needs a size";
/// Why a mapping is not held.
const LOGS: &str = "the figures of the writes are nearer with logs of the other kind";

/// Whether a finding is true of what the twin has.
fn is_as<T: PartialOrd + Copy>(estimate: &Estimate<T>, twin: Option<T>) -> bool {
    match (estimate.value(), twin) {
        (Some(value), _) => twin == Some(value),
        (None, Some(twin)) => {
            estimate.least().is_none_or(|least| twin >= least) && estimate.most().is_none_or(|most| twin <= most)
        }
        (None, None) => true,
    }
}

fn is<T: PartialOrd + Copy>(estimate: &Estimate<T>, twin: Option<T>, why: &str) -> Result<(), String> {
    told(is_as(estimate, twin), why)
}

fn told(holds: bool, why: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why.to_owned()) }
}

fn not_sure<T>(estimate: &Estimate<T>, why: &str) -> String {
    match estimate.confidence() {
        Some(confidence) if confidence < SURE => format!("it is taken over from {} on", percent(SURE)),
        _ => why.to_owned(),
    }
}

/// Whether random order costs on the twin what it does on the device, at the same block.
fn as_dear(found: &Penalty, card: &Card) -> Result<(), String> {
    let text = card.text(false);
    let twin = flashscope_sim::truth::of("twin.toml", |_| Ok(text.clone())).map(|truth| truth.random_order_penalty);
    let twin = twin.unwrap_or_default().into_iter().find(|penalty| penalty.block == found.block);
    let Some(twin) = twin else { return Err("the twin was not asked at that block".to_owned()) };
    let near = |ratio: f64| (ratio / found.ratio).ln().abs() <= AS_DEAR.ln();
    let why = format!("on the twin it is {}, fitted to all writes at once", format_args!("{:.2}×", twin.ratio));
    told(near(twin.ratio) || near(twin.at_first), &why)
}

/// An area that is one part, taken by page or not as the twin's is.
fn one_part(estimate: &Estimate<Vec<AreaPart>>, card: &Card, shape: &Shape) -> Result<(), String> {
    match estimate.figure().map(Vec::as_slice) {
        Some([]) if shape.area.is_none() => Ok(()),
        Some([part]) => {
            let by_page = part.by_page.is_none_or(|by_page| Some(by_page) == card.flag(AREA_BY_PAGE).or(Some(false)));
            told(by_page && shape.area == Some((part.first, part.end)), ONE_AREA)
        }
        _ => Err(ONE_AREA.to_owned()),
    }
}

/// Where the model says whether its area is mapped by page.
pub(crate) const AREA_BY_PAGE: &str = "mapping.areas.0.page_mapped";
