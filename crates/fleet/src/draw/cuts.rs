//! Devices whose power is to be cut: honest ones with every cache that the promise allows, and ones with planted faults.

use super::chance::Chance;
use super::text::{self, size, time};
use super::{DrawError, Drawn, Generator, any_noise, card, drive, finished, memory, surroundings};
use crate::integrity::Planted;
use flashscope_units::{Bytes, Nanos};
use toml::{Table, Value};

/// Largest card.
const LARGEST_CARD: Bytes = Bytes::gib(1);

/// A device of either mapping with these faults.
pub(crate) fn draw_for_cuts(seed: u64, index: u32, planted: &[Planted]) -> Result<Drawn, DrawError> {
    let mut chance = Chance::new(seed, index);
    let run_seed = chance.below(1_000_000);
    let (title, page, mut model) = if chance.happens(0.4) {
        let mut drive = drive::draw_between(&mut chance, Bytes::mib(512), Bytes::gib(2));
        drive.bus_bytes_per_s = drive::bus(&mut chance);
        // Where nothing was ever written the mapping finds nothing, whatever went there by mistake.
        drive.blank = false;
        (drive.title(), None, text::of_drive(&drive)?)
    } else {
        let mut card = card::draw(&mut chance, Generator::Wide);
        // Small enough that all of it can be looked through for what went elsewhere.
        card.capacity = card.capacity.min(LARGEST_CARD).align_down(card.unit);
        card.blank = false;
        (card.title(), Some(card.page), text::of_card(&card)?)
    };
    model.memory(&memory::draw(&mut chance, Generator::Wide, page));
    let mut section = cache(&mut chance, planted);
    section.insert("start_up".to_owned(), time(millis(&mut chance, 20.0, 4000.0)));
    planted.iter().for_each(|one| section.extend(fault(*one, &mut chance, model.capacity())));
    model.add("fault", section);
    let noise = any_noise(&mut chance, Generator::Wide);
    let surroundings = surroundings::draw(&mut chance, Generator::Wide);
    finished(model, noise, &surroundings, title, run_seed)
}

fn millis(chance: &mut Chance, low: f64, high: f64) -> Nanos {
    Nanos::millis(chance.ratio(low, high) as u64)
}

/// What the promise allows: no cache, that of the mapping (a volatile buffer, or one that power cannot take), or one of any
/// size that drains soon, late or never, in order or not. A flush that lies needs one to lie about, which keeps data for longer
/// than what is lost late.
fn cache(chance: &mut Chance, planted: &[Planted]) -> Table {
    let lies = planted.iter().any(|one| one.lies());
    let kind = if lies { 2 } else { chance.weighted(&[(0.2, 0), (0.35, 1), (0.45, 2)]) };
    let mut section = Table::new();
    let mut put = |key: &str, value: Value| drop(section.insert(key.to_owned(), value));
    match kind {
        0 => put("write_cache", "none".into()),
        1 => put("write_cache", "mapping".into()),
        _ => {
            let smallest = if lies { Bytes::mib(1) } else { Bytes::kib(64) };
            put("write_cache", size(chance.size(smallest, Bytes::mib(16), Bytes::kib(4))));
            let (shortest, longest) = if lies { (2000.0, 60_000.0) } else { (1.0, 60_000.0) };
            let drains = millis(chance, shortest, longest);
            put("drain_after", if chance.happens(0.3) { "never".into() } else { time(drains) });
        }
    }
    put("reordered", chance.happens(0.4).into());
    section
}

/// The keys of a fault, at a rate that some tens of cuts must meet.
fn fault(planted: Planted, chance: &mut Chance, capacity: Bytes) -> Table {
    let share = |value: f64| Value::from((value * 1e4).round() / 1e4);
    let keys: Vec<(&str, Value)> = match planted {
        Planted::Lost => vec![("lost", share(chance.ratio(0.02, 0.2)))],
        Planted::Late => vec![("late_loss", time(millis(chance, 300.0, 1000.0)))],
        Planted::Lying => vec![("lying_flush", true.into()), ("reordered", false.into())],
        Planted::LyingReordered => vec![("lying_flush", true.into()), ("reordered", true.into())],
        Planted::Torn => vec![("torn", true.into())],
        Planted::Shorn => vec![("shorn", true.into())],
        Planted::Misdirected => vec![("misdirected", share(chance.ratio(0.02, 0.2)))],
        Planted::Neighbours => vec![("neighbours", share(chance.ratio(0.3, 1.0)))],
        Planted::Rollback => {
            vec![("rollback", share(chance.ratio(0.15, 0.6))), ("rollback_by", time(millis(chance, 1500.0, 20_000.0)))]
        }
        Planted::Shrink => {
            let left = if chance.happens(0.5) { Bytes::ZERO } else { (capacity / 8).align_down(Bytes::mib(1)) };
            vec![("shrink", share(chance.ratio(0.15, 0.5))), ("shrunk_to", size(left))]
        }
        Planted::Dead => vec![("dead", share(chance.ratio(0.15, 0.5)))],
        Planted::SlowStart => {
            vec![
                ("slow_start", share(chance.ratio(0.15, 0.5))),
                ("slow_start_by", time(millis(chance, 12_000.0, 60_000.0))),
            ]
        }
    };
    keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
