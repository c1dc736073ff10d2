//! What became of each finding: the twin holds it, or it was found and the twin does not hold it, or nobody knows.
//!
//! [`all`] takes the findings apart field by field, so that a new one cannot be left out.

use crate::card::{Card, Origin};
use crate::shape::{SURE, Shape};
use flashscope_model::drive::{MappingKind, SlcCache, SlcKind};
use flashscope_model::finding::{
    AreaKind, AreaPart, BufferLimit, Collection, FastArea, Memory, Penalty, ReadAhead, WriteBuffer,
};
use flashscope_model::{DriveFindings, Estimate, Geometry};
use flashscope_units::Bytes;

/// One finding, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Its name, as in a record.
    pub name: &'static str,
    /// The figure or the bound in words; absent where it is unknown.
    pub figure: Option<String>,
    /// Probability that it is right; absent where it is unknown.
    pub confidence: Option<f64>,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The twin has it, in this parameter of the model (a section, where it lies in several), or by leaving that away.
    Held(&'static str),
    /// It was found, and the twin does not have it: why.
    NotHeld(String),
    /// It was not found: why, and the parameter that stands in its place.
    Unknown(String, &'static str),
}

const CARD: &str = "a model of a card has no such thing";
const ONE_AREA: &str = "a fitted twin has one area at the start, and all of it is built alike";

/// Every finding, in the order of a record.
pub(crate) fn all(geometry: &Geometry, card: &Card, shape: &Shape) -> Vec<Finding> {
    let Geometry {
        allocation_unit,
        boundary_offset,
        page,
        page_inner,
        open_units_linear,
        open_units_random,
        random_order_penalty,
        small_write_path,
        fast_area,
        fast_area_parts,
        never_written,
        memory,
        drive,
    } = geometry;
    let size = |size: &Bytes| size.to_string();
    let count = |count: &u32| count.to_string();
    let unit = shape.unit.value;
    let offset = Bytes((unit.get() - shape.in_front().get() % unit.get()) % unit.get());
    let inner = Some(shape.page_inner.value).filter(|inner| *inner < shape.page.value);
    let (in_order, random) = (shape.logs_in_order.value, shape.logs_random.value);
    let path = Some(shape.small_limit.value).filter(|limit| *limit > Bytes::ZERO);
    let mut found = vec![
        of("allocation_unit", "mapping.unit", allocation_unit, size, is(Some(unit), "another unit was taken")),
        of("boundary_offset", "mapping.hidden", boundary_offset, size, |estimate| {
            match is_as(estimate, Some(offset)) {
                true => Ok(()),
                false => Err(not_sure(estimate.confidence, "units of the twin begin at multiples of their size")),
            }
        }),
        of("page", "mapping.page", page, size, is(Some(shape.page.value), "a unit must be whole pages")),
        of("page_inner", "mapping.page_inner", page_inner, size, is(inner, "a page must be whole pages inside")),
        of(
            "open_units_linear",
            "mapping.logs_in_order",
            open_units_linear,
            count,
            is(Some(in_order + random), "the kind of logs that was taken holds another number"),
        ),
        of("open_units_random", "mapping.logs_random", open_units_random, count, |estimate| match random {
            // Every write out of order is merged; how many units are open then costs nothing, or a part of one.
            0 => Ok(()),
            _ => is(Some(random), "more at random than in order is more than a model can have")(estimate),
        }),
        of("random_order_penalty", "mapping.merge.copy", random_order_penalty, penalty, |estimate| {
            estimate.value.map_or(Ok(()), |penalty| as_dear(&penalty, card))
        }),
        of("small_write_path", "mapping.small", small_write_path, size, is(path, "writes below it cost no less")),
        of("fast_area", "mapping.areas", fast_area, area, |estimate| {
            let wanted = estimate.value.filter(|area| area.kind != AreaKind::None && area.end > area.first);
            let exact = wanted.map(|area| (area.first, area.end)) == shape.area;
            told(exact, "the area of a model must be whole units")
        }),
        of(
            "fast_area_parts",
            "mapping.areas",
            fast_area_parts,
            |parts| area_parts(parts),
            |estimate| one_part(estimate, card, shape),
        ),
        of(
            "never_written",
            "state.start",
            never_written,
            |share| percent(*share),
            |estimate| {
                let share = if card.is_text("state.start", "blank") { 1.0 } else { 0.0 };
                let near = estimate.value.is_none_or(|value| (value - share).abs() < NEARLY);
                told(near, "a model is blank or filled as a whole")
            },
        ),
    ];
    found.extend(of_memory(memory, card));
    found.extend(of_drive(drive, shape));
    found
}

fn of_memory(memory: &Memory, card: &Card) -> Vec<Finding> {
    let Memory {
        write_buffer,
        write_buffer_volatile,
        write_buffer_flushed_by_read,
        write_buffer_flush_window,
        read_buffer,
        read_ahead,
        collection,
    } = memory;
    let buffered = card.size("write_buffer.size").is_some();
    let yes = |yes: &bool| if *yes { "yes" } else { "no" }.to_owned();
    let sure = |estimate: Option<f64>| {
        let why = if buffered { "the twin has another" } else { "the twin has no write buffer" };
        not_sure(estimate, why)
    };
    let flag = |path: &'static str| {
        move |estimate: &Estimate<bool>| match estimate.value == card.flag(path) {
            true => Ok(()),
            false => Err(sure(estimate.confidence)),
        }
    };
    let stalls = card.number("mapping.housekeeping.longest") > 0.0 && card.number("mapping.housekeeping.chance") > 0.0;
    vec![
        of("write_buffer", "write_buffer", write_buffer, buffer, |estimate| {
            match (&estimate.value, estimate.at_most) {
                (Some(_), _) if buffered => Ok(()),
                (None, Some(_)) if estimate.at_least.is_none() => Ok(()),
                _ => Err(not_sure(estimate.confidence, ONLY_A_BOUND)),
            }
        }),
        of("write_buffer_volatile", "write_buffer.volatile", write_buffer_volatile, yes, flag("write_buffer.volatile")),
        of(
            "write_buffer_flushed_by_read",
            "write_buffer.flushed_by_read",
            write_buffer_flushed_by_read,
            yes,
            flag("write_buffer.flushed_by_read"),
        ),
        of(
            "write_buffer_flush_window",
            "write_buffer.window",
            write_buffer_flush_window,
            |window| window.to_string(),
            |estimate| match card.origin("write_buffer.window") {
                Some(Origin::Found(_)) => Ok(()),
                _ => Err(sure(estimate.confidence)),
            },
        ),
        of(
            "read_buffer",
            "read_buffer",
            read_buffer,
            |size| size.to_string(),
            |estimate| {
                let has = card.size("read_buffer.size");
                match estimate.value {
                    Some(size) if has == Some(size) || (size == Bytes::ZERO && has.is_none()) => Ok(()),
                    None if estimate.at_least.is_none() => Ok(()),
                    _ => Err(not_sure(estimate.confidence, ONLY_A_BOUND)),
                }
            },
        ),
        of("read_ahead", "read_ahead", read_ahead, ahead, |estimate| {
            let has = card.size("read_ahead.window").unwrap_or(Bytes::ZERO);
            match estimate.value {
                Some(ahead) if ahead.window == has => Ok(()),
                None if estimate.at_least.is_none() => Ok(()),
                _ => Err(not_sure(estimate.confidence, ONLY_A_BOUND)),
            }
        }),
        of("collection", "mapping.housekeeping", collection, stall, |_| {
            told(stalls, "no row that ought to be like others shows when a stall comes")
        }),
    ]
}

fn of_drive(drive: &DriveFindings, shape: &Shape) -> Vec<Finding> {
    let DriveFindings {
        mapping,
        stripe,
        parallel_units,
        channels,
        slc_cache,
        slc_cache_recovery,
        map_reach,
        bits_per_cell,
        write_amplification,
        physical_over_user,
    } = drive;
    vec![
        of(
            "mapping",
            "mapping.logs_random",
            mapping,
            |kind| mapping_word(*kind).to_owned(),
            |estimate| match estimate.value {
                Some(MappingKind::Page) => Err("a twin is a card, which is mapped by units".to_owned()),
                Some(MappingKind::Other) => Err("no model maps like that".to_owned()),
                Some(MappingKind::UnitLog) => told(shape.logs_random.value > 0, LOGS),
                Some(MappingKind::UnitInOrder) => told(shape.logs_random.value == 0, LOGS),
                None => Ok(()),
            },
        ),
        of("stripe", "", stripe, |size| size.to_string(), |_| Err(CARD.to_owned())),
        of("parallel_units", "", parallel_units, |count| count.to_string(), |_| Err(CARD.to_owned())),
        of("channels", "", channels, |count| count.to_string(), |_| Err(CARD.to_owned())),
        // A bound says that there is none to be seen so far: neither has a card.
        of("slc_cache", "", slc_cache, cache, |estimate| told(estimate.value.is_none(), CARD)),
        of("slc_cache_recovery", "", slc_cache_recovery, |rest| rest.to_string(), |_| Err(CARD.to_owned())),
        // A card has all of its map at hand.
        of(
            "map_reach",
            "",
            map_reach,
            |reach| reach.to_string(),
            |estimate| told(estimate.value.is_none() && estimate.at_most.is_none(), CARD),
        ),
        of("bits_per_cell", "", bits_per_cell, |bits| bits.to_string(), |_| Err(CARD.to_owned())),
        of("write_amplification", "", write_amplification, ratio, |_| Err(CARD.to_owned())),
        of("physical_over_user", "", physical_over_user, ratio, |_| Err(CARD.to_owned())),
    ]
}

/// What a reader must know before anything else: that the device maps by page, and what of it is not in a card.
pub(crate) fn caution(geometry: &Geometry, findings: &[Finding]) -> Option<String> {
    let mapping = &geometry.drive.mapping;
    let by_page = mapping.value == Some(MappingKind::Page) && mapping.confidence.is_some_and(|sure| sure >= BY_PAGE);
    by_page.then(|| {
        let not_held = findings.iter().filter(|finding| matches!(finding.fate, Fate::NotHeld(_)));
        let lost: Vec<String> = not_held
            .filter_map(|finding| Some(format!("{} {}", finding.name.replace('_', " "), finding.figure.as_ref()?)))
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
const ONLY_A_BOUND: &str = "only a bound is known, and a model needs a size";
const LOGS: &str = "the figures of the writes are nearer with logs of the other kind";

fn of<T>(
    name: &'static str,
    path: &'static str,
    estimate: &Estimate<T>,
    show: impl Fn(&T) -> String,
    held: impl Fn(&Estimate<T>) -> Result<(), String>,
) -> Finding {
    let figure = match (&estimate.value, &estimate.at_least, &estimate.at_most) {
        (Some(value), ..) => Some(show(value)),
        (None, Some(least), Some(most)) => Some(format!("{} to {}", show(least), show(most))),
        (None, Some(least), None) => Some(format!("at least {}", show(least))),
        (None, None, Some(most)) => Some(format!("at most {}", show(most))),
        (None, None, None) => None,
    };
    let fate = match (&figure, held(estimate)) {
        (None, _) => Fate::Unknown(estimate.reason_unknown.clone().unwrap_or_default(), path),
        (Some(_), Ok(())) => Fate::Held(path),
        (Some(_), Err(why)) => Fate::NotHeld(why),
    };
    Finding { name, figure, confidence: estimate.confidence, fate }
}

/// Whether a finding is true of what the twin has.
fn is_as<T: PartialOrd + Copy>(estimate: &Estimate<T>, twin: Option<T>) -> bool {
    match (estimate.value, twin) {
        (Some(value), _) => twin == Some(value),
        (None, Some(twin)) => {
            estimate.at_least.is_none_or(|least| twin >= least) && estimate.at_most.is_none_or(|most| twin <= most)
        }
        (None, None) => true,
    }
}

fn is<T: PartialOrd + Copy>(twin: Option<T>, why: &'static str) -> impl Fn(&Estimate<T>) -> Result<(), String> {
    move |estimate| told(is_as(estimate, twin), why)
}

fn told(holds: bool, why: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why.to_owned()) }
}

fn not_sure(confidence: Option<f64>, why: &str) -> String {
    match confidence {
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
    let why = format!("on the twin it is {}, fitted to all writes at once", ratio(&twin.ratio));
    told(near(twin.ratio) || near(twin.at_first), &why)
}

/// An area that is one part, taken by page or not as the twin's is.
fn one_part(estimate: &Estimate<Vec<AreaPart>>, card: &Card, shape: &Shape) -> Result<(), String> {
    match estimate.value.as_deref() {
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

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn ratio(ratio: &f64) -> String {
    format!("{ratio:.2}×")
}

fn penalty(penalty: &Penalty) -> String {
    format!("{:.1}× at {}", penalty.ratio, penalty.block)
}

fn area(area: &FastArea) -> String {
    let kind = match area.kind {
        AreaKind::None => return "none".to_owned(),
        AreaKind::Faster => "faster",
        AreaKind::Slower => "slower",
        AreaKind::Mixed => "mixed",
    };
    format!("{} to {}, {kind} ({:.2}×)", area.first, area.end, area.ratio)
}

fn area_parts(parts: &[AreaPart]) -> String {
    let part = |part: &AreaPart| {
        let by_page = if part.by_page == Some(true) { " by page" } else { "" };
        format!("{} to {}{by_page}", part.first, part.end)
    };
    parts.iter().map(part).collect::<Vec<String>>().join(", ")
}

fn buffer(buffer: &WriteBuffer) -> String {
    match buffer.limit {
        BufferLimit::Entries => format!("{} writes", buffer.writes),
        BufferLimit::Bytes | BufferLimit::Unknown => buffer.size.to_string(),
    }
}

fn ahead(ahead: &ReadAhead) -> String {
    match ahead.window {
        Bytes::ZERO => "none".to_owned(),
        window => format!("{window} behind {} reads in a row", ahead.trigger),
    }
}

fn stall(collection: &Collection) -> String {
    format!("{} every {}", collection.stall, collection.spacing)
}

fn cache(cache: &SlcCache) -> String {
    let kind = match cache.kind {
        SlcKind::Untested => "",
        SlcKind::Static => ", static",
        SlcKind::Dynamic => ", dynamic",
    };
    format!("{}{kind}", cache.size)
}

const fn mapping_word(kind: MappingKind) -> &'static str {
    match kind {
        MappingKind::Page => "by page",
        MappingKind::UnitLog => "unit logs",
        MappingKind::UnitInOrder => "units in order",
        MappingKind::Other => "none known",
    }
}
