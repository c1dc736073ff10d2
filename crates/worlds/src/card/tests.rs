//! What the papers say of merges.

use super::*;
use crate::evict::Rule;

fn plan() -> CardPlan {
    CardPlan {
        capacity: 64 << 20,
        unit: 1 << 20,
        page: 16 << 10,
        hidden: 0,
        logs: 3,
        rule: Rule::LeastRecent,
        shared: 0,
        route: Route::Own,
        maps_at_hand: None,
        keeps: Keeps::Nothing,
        codeword: 1024,
        partial_programs: 1,
        fast_units: 0,
        filled: 1.0,
        used: false,
        times: CardTimes {
            command: Nanos::micros(100),
            wire: 50e6,
            sense: Nanos::micros(50),
            program: Nanos::micros(500),
            fast: 1.0,
            erase: Nanos::millis(2),
            copy: Nanos::micros(550),
            map: Nanos::micros(100),
            codeword: Nanos::micros(5),
        },
    }
}

fn write_units(card: &mut Card, units: u64, order: impl Fn(u64) -> u64) {
    let pages = card.plan.pages_per_unit();
    for step in 0..pages {
        for unit in 0..units {
            card.write(Instant::ORIGIN, unit * card.plan.unit + order(step) * card.plan.page, card.plan.page);
            card.check().expect("sound");
        }
    }
}

#[test]
fn sequential_units_are_switched_without_a_copy() {
    let mut card = Card::new(plan(), 1, None);
    write_units(&mut card, 3, |step| step);
    write_units(&mut card, 3, |step| step);
    assert_eq!((card.meter.erases, card.meter.programmed), (2 * 3, 6 << 20));
}

#[test]
fn one_unit_more_than_log_blocks_is_merged_with_each_write() {
    let mut card = Card::new(plan(), 1, None);
    write_units(&mut card, 4, |step| step);
    // All but the first three writes find no log block of their unit, and copy most of one.
    assert!(card.meter.erases >= 4 * 64 - 3, "{}", card.meter.erases);
    assert!(card.meter.programmed > 30 * (4 << 20), "{}", card.meter.programmed);
}

#[test]
fn random_writes_cost_a_full_merge_in_each_unit() {
    let mut card = Card::new(plan(), 1, None);
    write_units(&mut card, 1, |step| 63 - step);
    write_units(&mut card, 1, |step| 63 - step);
    // Written twice, copied once, and two blocks erased.
    assert_eq!((card.meter.erases, card.meter.programmed), (2, 3 << 20));
}

#[test]
fn shared_log_blocks_merge_each_unit_that_the_oldest_holds() {
    let mut plan = plan();
    (plan.shared, plan.logs, plan.route) = (2, 1, Route::ByOrder);
    let mut card = Card::new(plan, 1, None);
    for step in 0..=2 * 64 {
        let unit = step % 16;
        card.write(Instant::ORIGIN, (unit << 20) + (1 + step / 16) * (16 << 10), 16 << 10);
        card.check().expect("sound");
    }
    // Sixteen units of 64 pages, and the log block itself.
    assert_eq!(card.meter.erases, 17);
    assert_eq!(card.meter.programmed, (129 + 16 * 64) * (16 << 10));
}

#[test]
fn a_unit_whose_map_is_not_at_hand_is_read_more_slowly() {
    let mut plan = plan();
    plan.maps_at_hand = Some(2);
    let mut card = Card::new(plan, 1, None);
    let mut now = Instant::ORIGIN;
    let mut read = |at: u64, length: u64| {
        let before = now;
        now = card.read(now, at, length);
        now.since(before)
    };
    let far = read(5 << 20, 4096);
    assert_eq!(read(5 << 20, 4096) + Nanos::micros(100), far);
    // Across the edge of two units: two maps, and a page more, while the first half is on its way (two codewords and 2 KiB).
    let on_its_way = Nanos(2 * 5_000 + 40_960);
    assert_eq!(read((9 << 20) - 2048, 4096) + on_its_way, far + Nanos::micros(150));
    assert_eq!(read(5 << 20, 4096), far, "two others came between");
}
