//! How long things take on a card.
//!
//! The ranges of `field` come from the logs in `fixtures/field`: from the tables themselves, or from the twins that `twin fit`
//! makes of them (docs/twin.md). 19 logs have a whole align table, 15 tables of writes below a page. They are ranges, rounded, and
//! drawn evenly or evenly in the logarithm, whichever has its middle nearer to that of the fits; docs/generator.md
//! holds what comes of them against the logs.

use super::Generator;
use super::chance::Chance;
use flashscope_units::{Bytes, Nanos};

/// What a read pays inside.
pub(super) struct Reading {
    pub(super) sense: Nanos,
    pub(super) inner_edge: Nanos,
    pub(super) decode: Nanos,
    pub(super) unit_edge: Nanos,
}

/// Four of 19 fits have no step at a page; 14 sense a page in 57 to 297 µs, and one behind a USB reader in 838.
const FIELD_NO_PAGE: f64 = 0.2;
/// Time to sense a page, least and most, in microseconds, from these fits.
const FIELD_SENSE_US: [f64; 2] = [55.0, 300.0];
/// Four of 19 fits have no step at a unit; the others go on into another unit in 25 to 371 µs, whatever the page takes.
const FIELD_NO_UNIT_EDGE: f64 = 0.2;
/// Time of a step at a unit's edge, least and most, in microseconds, from these fits.
const FIELD_UNIT_EDGE_US: [f64; 2] = [25.0, 375.0];
/// 12 of 15 fits need 90 to 1097 µs for a read in another unit than the last one was in; three need none.
const FIELD_UNIT_SWITCH: f64 = 0.8;
/// Time of such a change of unit, least and most, in microseconds, from these fits.
const FIELD_UNIT_SWITCH_US: [f64; 2] = [90.0, 1100.0];
/// 92 to 546 µs in 19 of 20 fits; the other one, 1004 µs, is a slow link.
const FIELD_COMMAND_US: [f64; 2] = [90.0, 600.0];
/// 12 of 15 fits do not tell it from the command, three have 416 to 851 µs.
const FIELD_DURABLE_US: [f64; 2] = [10.0, 900.0];
/// From the tables: the fastest row of 128 KiB and more, one unit in order, has 4.4 to 17.7 MB/s in 13 of 15 logs (0.44 and
/// 31 in the others).
const FIELD_PROGRAM_BYTES_PER_S: [f64; 2] = [4e6, 18e6];
/// Ten fits have a limit of open units or merges at random: 0.35 to 3 ms for 16 KiB in nine, 2 ms for 8 KiB in one.
const FIELD_COPY_BYTES_PER_S: [f64; 2] = [4e6, 46e6];
/// 59 µs to 5.4 ms in the 14 fits with a path for small writes.
const FIELD_SMALL_PROGRAM_US: [f64; 2] = [60.0, 5000.0];
/// None of these fits reads earlier pieces of a page back; the card of `fixtures/transcripts` does.
const FIELD_GATHER: f64 = 0.1;
/// Making room in the small-write log takes at most 2.5 ms a page in 13 of these fits, 73 ms in one; the card of
/// `fixtures/transcripts` takes 190 to 220.
const FIELD_SLOW_COLLECT: f64 = 0.1;
/// Time of making room for a page, least and most, in microseconds, from these fits.
const FIELD_COLLECT_US: [f64; 2] = [5.0, 2500.0];
/// The same of the slow ones.
const FIELD_SLOW_COLLECT_US: [f64; 2] = [70e3, 220e3];

impl Reading {
    pub(super) fn draw(chance: &mut Chance, generator: Generator, page: Bytes, page_inner: Bytes) -> Reading {
        if generator == Generator::Field {
            return Reading::of_the_field(chance, page, page_inner);
        }
        let sense = chance.micros(30.0, 130.0);
        let inner_edge = inner_edge(chance, page, page_inner);
        let decode = decode(chance);
        Reading { sense, inner_edge, decode, unit_edge: unit_edge(chance, generator, sense) }
    }

    fn of_the_field(chance: &mut Chance, page: Bytes, page_inner: Bytes) -> Reading {
        let [nearest, farthest] = FIELD_UNIT_EDGE_US;
        let unit_edge = if chance.happens(FIELD_NO_UNIT_EDGE) {
            Nanos::ZERO
        } else {
            super::chance::micros(chance.between(nearest, farthest))
        };
        // Where no page shows, nothing below it does.
        if chance.happens(FIELD_NO_PAGE) {
            return Reading { sense: Nanos::ZERO, inner_edge: Nanos::ZERO, decode: Nanos::ZERO, unit_edge };
        }
        let sense = micros_in(chance, FIELD_SENSE_US);
        Reading { sense, inner_edge: inner_edge(chance, page, page_inner), decode: decode(chance), unit_edge }
    }
}

fn inner_edge(chance: &mut Chance, page: Bytes, page_inner: Bytes) -> Nanos {
    if page_inner < page { chance.micros(15.0, 60.0) } else { Nanos::ZERO }
}

/// A chunk is decoded behind the transfer of the one before, so that some of it must be left to show at all.
fn decode(chance: &mut Chance) -> Nanos {
    chance.micros(10.0, 80.0)
}

/// The step at a unit's edge is 10 % to 92 % of all that a straddling read pays there.
fn unit_edge(chance: &mut Chance, generator: Generator, sense: Nanos) -> Nanos {
    let hard = generator == Generator::Adversarial;
    if chance.happens(if hard { 0.08 } else { 0.03 }) {
        return Nanos::ZERO;
    }
    let share = if hard { chance.ratio(0.1, 0.7) } else { chance.between(0.2, 0.92) };
    scaled(sense, share / (1.0 - share))
}

/// A read in another unit than the last one was in.
pub(super) fn unit_switch(chance: &mut Chance, generator: Generator) -> Nanos {
    let [least, most] = FIELD_UNIT_SWITCH_US;
    match generator {
        Generator::Field if chance.happens(FIELD_UNIT_SWITCH) => super::chance::micros(chance.between(least, most)),
        Generator::Wide | Generator::Adversarial if chance.happens(0.8) => chance.micros(40.0, 300.0),
        _ => Nanos::ZERO,
    }
}

/// Command time and bytes per second on the wire.
pub(super) fn link(chance: &mut Chance, generator: Generator) -> (Nanos, f64) {
    let slow = if generator == Generator::Adversarial { 0.35 } else { 0.1 };
    if chance.happens(slow) {
        // SD default speed, and readers on USB 2.
        return chance.any(&[(Nanos::micros(900), 12.0e6), (Nanos::micros(1200), 19e6), (Nanos::micros(700), 21e6)]);
    }
    let rate = chance.any(&[21e6, 38e6, 42e6, 45e6, 80e6, 95e6, 170e6]);
    (micros_in(chance, if generator == Generator::Field { FIELD_COMMAND_US } else { [120.0, 600.0] }), rate)
}

/// Added to a write that must be durable.
pub(super) fn durable_write(chance: &mut Chance, generator: Generator) -> Nanos {
    micros_in(chance, if generator == Generator::Field { FIELD_DURABLE_US } else { [60.0, 300.0] })
}

/// A page; as a rate, which compares across page sizes.
pub(super) fn program(chance: &mut Chance, generator: Generator, page: Bytes) -> Nanos {
    let [slow, fast] = if generator == Generator::Field { FIELD_PROGRAM_BYTES_PER_S } else { [2.5e6, 25e6] };
    time_for(page, chance.ratio(slow, fast), 250.0, 6000.0)
}

/// Copying an inner page, in the same way.
pub(super) fn merge_copy(chance: &mut Chance, generator: Generator, page: Bytes) -> Nanos {
    let [slow, fast] = if generator == Generator::Field { FIELD_COPY_BYTES_PER_S } else { [6e6, 50e6] };
    time_for(page, chance.ratio(slow, fast), 100.0, 6000.0)
}

/// An entry of the small-write log.
pub(super) fn small_program(chance: &mut Chance, generator: Generator) -> Nanos {
    micros_in(chance, if generator == Generator::Field { FIELD_SMALL_PROGRAM_US } else { [400.0, 3200.0] })
}

/// The shortest and the longest collection of the small-write log; `None`: as the form has it.
pub(super) fn small_collect(chance: &mut Chance, generator: Generator) -> Option<[Nanos; 2]> {
    if generator != Generator::Field {
        return None;
    }
    let slow = chance.happens(FIELD_SLOW_COLLECT);
    let shortest = micros_in(chance, if slow { FIELD_SLOW_COLLECT_US } else { FIELD_COLLECT_US });
    Some([shortest, scaled(shortest, 1.15)])
}

/// Reading an earlier piece of a page back.
pub(super) fn small_gather(chance: &mut Chance, generator: Generator) -> Nanos {
    let with = if generator == Generator::Field { FIELD_GATHER } else { 0.5 };
    if chance.happens(1.0 - with) { Nanos::ZERO } else { chance.micros(60.0, 400.0) }
}

/// What a page takes at this number of bytes per second, within these microseconds.
fn time_for(page: Bytes, bytes_per_s: f64, least: f64, most: f64) -> Nanos {
    super::chance::micros((page.as_f64() / bytes_per_s * 1e6).clamp(least, most))
}

fn micros_in(chance: &mut Chance, [least, most]: [f64; 2]) -> Nanos {
    chance.micros(least, most)
}

pub(super) fn scaled(time: Nanos, by: f64) -> Nanos {
    super::chance::micros(time.as_f64() * by / 1e3)
}
