//! Unit-mapped cards, eMMC and sticks.

use super::Generator;
use super::chance::Chance;
use super::times::{self, Reading, scaled};
use flashscope_units::{Bytes, Nanos};

/// A unit-mapped device; parameters as in a model file.
pub(super) struct Card {
    pub(super) kind: &'static str,
    pub(super) capacity: Bytes,
    pub(super) claimed_unit: Option<Bytes>,
    pub(super) command: Nanos,
    pub(super) bytes_per_s: f64,
    pub(super) max_request: Bytes,
    pub(super) durable_write: Nanos,
    pub(super) unit: Bytes,
    pub(super) sub_unit: Bytes,
    /// Flash in front of the host's first byte.
    pub(super) in_front: Bytes,
    pub(super) page: Bytes,
    pub(super) page_inner: Bytes,
    pub(super) logs_in_order: u32,
    pub(super) logs_random: u32,
    pub(super) random_log: Bytes,
    pub(super) stream: Bytes,
    pub(super) spare_units: u32,
    pub(super) chunk: Bytes,
    pub(super) decode: Nanos,
    pub(super) sense: Nanos,
    pub(super) inner_edge: Nanos,
    pub(super) sub_unit_edge: Nanos,
    pub(super) unit_edge: Nanos,
    /// Share of the transfer before an edge that hides it.
    pub(super) hidden: f64,
    pub(super) unit_switch: Nanos,
    pub(super) small_lookup: Nanos,
    pub(super) program: Nanos,
    pub(super) merge_copy: Nanos,
    pub(super) merge_fixed: Nanos,
    /// 0: no small-write log.
    pub(super) small_limit: Bytes,
    pub(super) small_pages: u32,
    pub(super) small_program: Nanos,
    /// The shortest and the longest; `None`: as the form has it.
    pub(super) small_collect: Option<[Nanos; 2]>,
    pub(super) small_gather: Nanos,
    pub(super) stalls: Stalls,
    pub(super) idle_after: Nanos,
    /// Side by side, in the order of their addresses.
    pub(super) areas: Vec<Area>,
    pub(super) blank: bool,
}

/// Collection that a write has to wait for.
#[derive(Clone, Copy, Default)]
pub(super) struct Stalls {
    pub(super) owed: u32,
    pub(super) refill: f64,
    pub(super) chance: f64,
    pub(super) shortest: Nanos,
    pub(super) longest: Nanos,
}

/// An area at the start that is built or handled otherwise.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub(super) start: Bytes,
    pub(super) end: Bytes,
    pub(super) program: Nanos,
    pub(super) sense: Nanos,
    pub(super) small_program: Nanos,
    pub(super) erase: Nanos,
    pub(super) page_mapped: bool,
}

const fn mib(n: u64) -> Bytes {
    Bytes::mib(n)
}

const fn kib(n: u64) -> Bytes {
    Bytes::kib(n)
}

pub(super) fn draw(chance: &mut Chance, generator: Generator) -> Card {
    let unit = unit(chance, generator);
    let page = page(chance, generator, unit);
    let page_inner = page_inner(chance, page);
    let (capacity, whole) = capacity(chance, generator, unit);
    let sub_unit = sub_unit(chance, unit, page);
    let (logs_in_order, logs_random) = logs(chance, generator, most_logs(capacity, unit));
    let chunk = chance.any(&[kib(1), kib(2), kib(2), kib(4)]).min(page_inner);
    let (command, bytes_per_s) = times::link(chance, generator);
    let Reading { sense, inner_edge, decode, unit_edge } = Reading::draw(chance, generator, page, page_inner);
    let program = times::program(chance, generator, page);
    let merge_copy = times::merge_copy(chance, generator, page);
    let small_limit = small_limit(chance, generator, page);
    let small_program = times::small_program(chance, generator);
    let mut card = Card {
        kind: chance.weighted(&[(0.75, "sd-card"), (0.15, "emmc"), (0.1, "usb")]),
        capacity,
        claimed_unit: claim(chance, generator, unit),
        command,
        bytes_per_s,
        max_request: chance.weighted(&[(0.2, kib(128)), (0.2, kib(256)), (0.6, kib(512))]),
        durable_write: times::durable_write(chance, generator),
        unit,
        sub_unit,
        in_front: Bytes::ZERO,
        page,
        page_inner,
        logs_in_order,
        logs_random,
        random_log: if chance.happens(0.7) { unit } else { sub_unit },
        stream: chance.any(&[kib(512), mib(1)]).min(unit),
        spare_units: chance.whole(2, 16),
        chunk,
        decode,
        sense,
        inner_edge,
        sub_unit_edge: if sub_unit < unit { scaled(unit_edge, chance.between(0.0, 0.3)) } else { Nanos::ZERO },
        unit_edge,
        hidden: chance.weighted(&[(0.5, 0.0), (0.3, 0.05), (0.2, 0.12)]),
        unit_switch: times::unit_switch(chance, generator),
        small_lookup: chance.micros(20.0, 80.0),
        program,
        merge_copy,
        merge_fixed: chance.micros(2000.0, 40_000.0),
        small_limit,
        small_pages: chance.count(32, 4096),
        small_program,
        small_collect: times::small_collect(chance, generator),
        small_gather: times::small_gather(chance, generator),
        stalls: stalls(chance, generator),
        idle_after: if chance.happens(0.5) { Nanos::ZERO } else { chance.micros(1e6, 5e6) },
        areas: Vec::new(),
        blank: chance.happens(if generator == Generator::Adversarial { 0.25 } else { 0.15 }),
    };
    card.areas = area(chance, generator, &card).into_iter().collect();
    if !whole {
        card.capacity += unit_remainder(chance, unit);
    }
    card
}

fn unit(chance: &mut Chance, generator: Generator) -> Bytes {
    match generator {
        // Of the published cards about nine in ten have 4 MiB; those of 64 GB and more have 8, 16 and 24.
        Generator::Field => chance.weighted(&[
            (0.02, kib(1536)),
            (0.06, mib(2)),
            (0.02, mib(3)),
            (0.62, mib(4)),
            (0.02, mib(6)),
            (0.12, mib(8)),
            (0.04, mib(12)),
            (0.05, mib(16)),
            (0.05, mib(24)),
        ]),
        Generator::Wide => chance.any(&[
            kib(512),
            mib(1),
            kib(1536),
            mib(2),
            mib(3),
            mib(4),
            mib(4),
            mib(4),
            mib(5),
            mib(6),
            mib(8),
            mib(8),
            mib(12),
            mib(16),
            mib(24),
            mib(32),
            mib(64),
        ]),
        Generator::Adversarial => chance.any(&[
            kib(512),
            kib(768),
            mib(1),
            kib(1536),
            mib(2),
            kib(2560),
            mib(3),
            mib(4),
            kib(4608),
            mib(5),
            mib(6),
            mib(7),
            mib(8),
            mib(9),
            mib(10),
            mib(12),
            mib(16),
            mib(20),
            mib(24),
            mib(32),
            mib(48),
            mib(64),
        ]),
    }
}

/// A page of which the unit holds at least 32, whole.
fn page(chance: &mut Chance, generator: Generator, unit: Bytes) -> Bytes {
    // Three dies side by side give pages and units a factor of three.
    if unit.is_multiple_of(kib(48)) && chance.happens(if generator == Generator::Field { 0.5 } else { 0.35 }) {
        return chance.any(&[kib(24), kib(48)]).min(if unit < mib(2) { kib(24) } else { kib(48) });
    }
    loop {
        let page = match generator {
            Generator::Field => chance.weighted(&[(0.1, kib(4)), (0.25, kib(8)), (0.5, kib(16)), (0.15, kib(32))]),
            _ => chance.any(&[kib(2), kib(4), kib(4), kib(8), kib(8), kib(16), kib(16), kib(32), kib(64)]),
        };
        if unit.is_multiple_of(page) && page * 32 <= unit && unit / page <= 8192 {
            return page;
        }
    }
}

fn page_inner(chance: &mut Chance, page: Bytes) -> Bytes {
    match page {
        _ if page < kib(8) || chance.happens(0.6) => page,
        _ if page.is_multiple_of(kib(3)) => page / 3,
        _ if chance.happens(0.7) => page / 2,
        _ => page / 4,
    }
}

/// Whole units, and whether it stays so.
fn capacity(chance: &mut Chance, generator: Generator, unit: Bytes) -> (Bytes, bool) {
    let (least, units, remainders) = match generator {
        Generator::Field => (Bytes::gib(2), 256, 0.1),
        Generator::Wide => (mib(256), 128, 0.3),
        Generator::Adversarial => (mib(256), 24, 0.5),
    };
    let least = least.max(unit * units);
    (chance.size(least, Bytes::gib(64), unit).max(least.align_up(unit)), !chance.happens(remainders))
}

fn unit_remainder(chance: &mut Chance, unit: Bytes) -> Bytes {
    let step = chance.any(&[Bytes::SECTOR, kib(64), kib(512)]);
    Bytes(chance.below((unit / step) as usize) * step.get())
}

/// Flash in front of the host's first byte: a part of a unit, some pages, or some sectors. Drawn from a stream of its own,
/// so that the rest of a device does not depend on it.
pub(super) fn in_front(chance: &mut Chance, generator: Generator, card: &Card) -> Bytes {
    let with = match generator {
        Generator::Field => 0.01,
        Generator::Wide => 0.03,
        Generator::Adversarial => 0.08,
    };
    if !chance.happens(with) {
        return Bytes::ZERO;
    }
    match chance.weighted(&[(0.3, 0), (0.5, 1), (0.2, 2)]) {
        0 => card.unit / chance.any(&[2, 4, 8]),
        1 => card.page * (1 + chance.below((card.unit / card.page - 1) as usize)),
        _ => Bytes::SECTOR * (1 + chance.below(2047)),
    }
}

fn sub_unit(chance: &mut Chance, unit: Bytes, page: Bytes) -> Bytes {
    let part = chance.weighted(&[(0.55, 1), (0.3, 2), (0.15, 4)]);
    let sub_unit = unit / part;
    if sub_unit * part == unit && sub_unit.is_multiple_of(page) { sub_unit } else { unit }
}

/// Logs take flash of their own: no more than an eighth of the units.
fn most_logs(capacity: Bytes, unit: Bytes) -> u32 {
    u32::try_from(capacity / unit / 8).unwrap_or(u32::MAX).max(1)
}

/// Logs in order and logs for any order.
fn logs(chance: &mut Chance, generator: Generator, most: u32) -> (u32, u32) {
    let open = match generator {
        Generator::Field => chance.weighted(&[
            (0.03, 1),
            (0.08, 2),
            (0.2, 3),
            (0.18, 4),
            (0.12, 5),
            (0.1, 6),
            (0.09, 7),
            (0.08, 8),
            (0.04, 10),
            (0.03, 16),
            (0.03, 20),
            (0.02, 64),
        ]),
        Generator::Wide => chance.count(1, 64),
        Generator::Adversarial => chance.count(1, 96),
    };
    let open = open.min(most);
    match chance.weighted(&[(0.35, 0), (0.35, 1), (0.3, 2)]) {
        // Every write out of order merges.
        0 => (open, 0),
        // The same logs for every order.
        1 => (0, open),
        // Some of each.
        _ => (open, chance.count(1, open)),
    }
}

fn small_limit(chance: &mut Chance, generator: Generator, page: Bytes) -> Bytes {
    // `twin fit` needs such a path in 14 of 15 published logs: up to 8 KiB in ten, 4 KiB in four.
    let without = if generator == Generator::Field { 0.1 } else { 0.4 };
    if chance.happens(without) {
        return Bytes::ZERO;
    }
    match generator {
        Generator::Field => chance.any(&[kib(4), kib(8), kib(8)]),
        _ => chance.any(&[kib(4), kib(8), kib(16)]),
    }
    .min(page)
}

/// Collections of 20 ms to 2 s.
fn stalls(chance: &mut Chance, generator: Generator) -> Stalls {
    let (with, often) = match generator {
        Generator::Field => (0.4, 0.15),
        Generator::Wide => (0.5, 0.25),
        Generator::Adversarial => (0.8, 0.4),
    };
    if !chance.happens(with) {
        return Stalls::default();
    }
    let shortest = chance.ratio(20e3, 400e3);
    let longest = shortest * chance.ratio(1.2, 5.0);
    Stalls {
        owed: chance.whole(0, 8),
        refill: chance.ratio(0.005, often),
        chance: chance.ratio(0.03, often),
        shortest: super::chance::micros(shortest),
        longest: super::chance::micros(longest.min(2e6)),
    }
}

fn claim(chance: &mut Chance, generator: Generator, unit: Bytes) -> Option<Bytes> {
    let wrong = if generator == Generator::Adversarial { 0.4 } else { 0.12 };
    if chance.happens(wrong) {
        return Some(chance.any(&[mib(1), mib(2), mib(4), mib(8), mib(16)]));
    }
    chance.happens(0.7).then_some(unit)
}

fn area(chance: &mut Chance, generator: Generator, card: &Card) -> Option<Area> {
    let with = if generator == Generator::Field { 0.5 } else { 0.4 };
    if !chance.happens(with) {
        return None;
    }
    let first = u64::from(chance.happens(0.4));
    let units = u64::from(chance.count(1, if generator == Generator::Field { 3 } else { 8 }));
    let (start, end) = (card.unit * first, card.unit * (first + units));
    if end * 4 > card.capacity {
        return None;
    }
    let mut area = Area {
        start,
        end,
        program: card.program,
        sense: card.sense,
        small_program: card.small_program,
        erase: if chance.happens(0.3) { chance.micros(2000.0, 15_000.0) } else { Nanos::ZERO },
        page_mapped: false,
    };
    let small = card.small_limit > Bytes::ZERO;
    match chance.weighted(&[(0.45, 0), (0.25, 1), (if small { 0.15 } else { 0.0 }, 2), (0.15, 3)]) {
        0 => area.program = scaled(card.program, chance.between(0.3, 0.75)),
        1 => area.program = scaled(card.program, chance.between(1.35, 2.5)),
        2 => {
            area.program = scaled(card.program, chance.between(1.35, 2.0));
            area.small_program = scaled(card.small_program, chance.between(0.3, 0.6));
        }
        _ => area.page_mapped = true,
    }
    Some(area)
}

/// Some areas are of two kinds side by side. Drawn from a stream of its own, so that the rest of a device does not depend on
/// it.
pub(super) fn in_parts(chance: &mut Chance, card: &Card) -> Vec<Area> {
    let [whole] = card.areas[..] else { return card.areas.clone() };
    let units = (whole.end - whole.start) / card.unit;
    if units < 2 || !chance.happens(0.4) {
        return card.areas.clone();
    }
    let border = whole.start + card.unit * (1 + chance.below((units - 1) as usize));
    // Mapping by page shows where all else is copied for; elsewhere the parts would look alike.
    let mapping_shows = card.logs_random == 0;
    let mut second = Area { start: border, ..whole };
    let faster = whole.program < card.program;
    match chance.weighted(&[(0.5, 0), (0.2, 1), (if mapping_shows { 0.3 } else { 0.0 }, 2)]) {
        0 if faster => second.program = card.program,
        0 => second.program = scaled(card.program, chance.between(0.3, 0.7)),
        1 if faster => second.program = scaled(card.program, chance.between(1.35, 2.5)),
        1 => second.program = scaled(card.program, chance.between(0.2, 0.4)),
        _ => second.page_mapped = !whole.page_mapped,
    }
    second.small_program = card.small_program;
    // What is as any other unit is no part of an area.
    second.page_mapped |= second.program == card.program && mapping_shows;
    if second.program == card.program && !second.page_mapped {
        second.program = scaled(card.program, chance.between(1.35, 2.5));
    }
    vec![Area { end: border, ..whole }, second]
}

impl Card {
    pub(super) fn title(&self) -> String {
        let area = match self.areas.len() {
            0 => "",
            1 => ", an area at the start",
            _ => ", an area of two kinds at the start",
        };
        let hidden = if self.in_front > Bytes::ZERO { format!(", {} in front", self.in_front) } else { String::new() };
        format!(
            "{} of {}, unit {}, page {}, logs {} sequential and {} in any order{hidden}{area}",
            self.kind, self.capacity, self.unit, self.page, self.logs_in_order, self.logs_random
        )
    }
}
