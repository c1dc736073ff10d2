use super::*;
use flashscope_model::capacity::{Between, Found, Run, Totals};
use flashscope_units::Bytes;

const BLOCK: u64 = 4096;
const CLAIMED: u64 = 1000;

/// A map of 1000 blocks, by what stands at each.
fn map(found: impl Fn(u64) -> Found) -> Full {
    let mut full = Full { claimed: Bytes(BLOCK * CLAIMED), block: Bytes(BLOCK), ..Full::default() };
    let mut totals = Totals::default();
    for number in 0..CLAIMED {
        let run = Run { at: Bytes(BLOCK * number), length: Bytes(BLOCK), found: found(number) };
        totals.add(run.length, run.found);
        if run.found != Found::Kept {
            full.bad.push(run);
        }
    }
    full.totals = totals;
    full
}

/// What a pass in order of address leaves: of those that share a place the last one, or nothing where there is no flash.
fn wrapping(period: u64, real: u64) -> impl Fn(u64) -> Found {
    move |at| {
        let last = at + (CLAIMED - 1 - at) / period * period;
        match at % period {
            within if within >= real => Found::Other,
            _ if last == at => Found::Kept,
            _ => Found::Elsewhere(Bytes(BLOCK * last)),
        }
    }
}

fn check(full: &Full, kind: Genuineness, size: u64, period: Option<u64>) {
    let shape = shape(full);
    let at = Bytes(BLOCK * size);
    assert_eq!((shape.kind, shape.period), (Some(kind), period.map(|period| Bytes(BLOCK * period))), "{shape:?}");
    assert_eq!(shape.size, Some(Between { low: at, high: at }), "{shape:?}");
    assert!(shape.may_be_claimed && shape.clarity() > 0.97, "{shape:?}");
}

#[test]
fn kinds_and_sizes_follow_from_a_whole_map() {
    check(&map(|_| Found::Kept), Genuineness::Genuine, CLAIMED, None);
    check(&map(|at| if at < 300 { Found::Kept } else { Found::Other }), Genuineness::Limbo, 300, None);
    for period in [301, 256, 500, 97, 999, 3] {
        check(&map(wrapping(period, period)), Genuineness::WrapAround, period, Some(period));
    }
    for (period, real) in [(301, 150), (256, 255), (500, 1), (900, 600)] {
        check(&map(wrapping(period, real)), Genuineness::Chain, real, Some(period));
    }
    let damaged = map(|at| if at.is_multiple_of(9) { Found::Uniform(0) } else { Found::Kept });
    check(&damaged, Genuineness::Damaged, CLAIMED, None);
    assert!((shape(&damaged).damaged.unwrap().share - 0.112).abs() < 1e-9);
    // A fake that keeps its last part, where file systems look.
    let hides = map(|at| if (300..960).contains(&at) { Found::Other } else { Found::Kept });
    check(&hides, Genuineness::Limbo, 300, None);
    assert_eq!(shape(&hides).tail, Some(Bytes(BLOCK * 960)));
}

#[test]
fn a_worn_place_makes_no_fake() {
    check(&map(|at| if at == 999 { Found::Other } else { Found::Kept }), Genuineness::Limbo, 999, None);
    let mut one = map(|at| if at == 999 { Found::Other } else { Found::Kept });
    one.claimed = Bytes(BLOCK * CLAIMED * 1000);
    one.totals.kept = one.claimed - Bytes(BLOCK);
    assert_eq!(shape(&one).kind, Some(Genuineness::Damaged));
    // A write that flew is damage, not a device whose addresses begin anew.
    let flown = map(|at| if at == 500 { Found::Elsewhere(Bytes(BLOCK * 400)) } else { Found::Kept });
    assert_eq!(shape(&flown).kind, Some(Genuineness::Damaged));
}

#[test]
fn what_failed_is_not_held_against_a_device() {
    let some = |at: u64| if at.is_multiple_of(30) { Found::ReadFailed } else { Found::Kept };
    check(&map(some), Genuineness::Genuine, CLAIMED, None);
    let many = map(|at| if at.is_multiple_of(3) { Found::WriteFailed } else { Found::Kept });
    assert!(!shape(&many).may_be_claimed);
    assert_eq!(verdict(&many).kind, None);
    assert_eq!(shape(&map(|_| Found::ReadFailed)).kind, None);
    let edge = map(|at| match at {
        0..299 => Found::Kept,
        299 => Found::ReadFailed,
        _ => Found::Other,
    });
    let (low, high) = (Bytes(BLOCK * 299), Bytes(BLOCK * 300));
    assert_eq!(shape(&edge).size, Some(Between { low, high }));
}

#[test]
fn nothing_is_claimed_of_a_part() {
    let mut part = map(|_| Found::Kept);
    part.totals.kept = Bytes(BLOCK * 900);
    assert_eq!(verdict(&part).kind, None);
    assert!(verdict(&part).open.iter().any(|said| said.contains("were not read back")));
    assert_eq!(verdict(&Full::default()).kind, None);
}

#[test]
fn of_stretches_that_are_left_out_the_parts_tell() {
    let gone = |at: u64| if at < 300 { Found::Kept } else { Found::Uniform(at as u8) };
    let mut full = map(gone);
    let cell = |at: u64| flashscope_model::capacity::Cell {
        at: Bytes(BLOCK * at),
        length: Bytes(BLOCK * 10),
        bad: if at < 300 { Bytes::ZERO } else { Bytes(BLOCK * 10) },
        ..Default::default()
    };
    full.cells = (0..100).map(|number| cell(number * 10)).collect();
    full.bad_left_out = full.bad.len() as u64 - 40;
    full.bad.truncate(40);
    check(&full, Genuineness::Limbo, 300, None);
}
