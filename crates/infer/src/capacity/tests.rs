use super::*;
use flashscope_model::capacity::{Between, Found, Place, Run};
use flashscope_units::Bytes;

const MIB: u64 = 1 << 20;
const CLAIMED: Bytes = Bytes::mib(1000);
const REGION: Bytes = Bytes::mib(10);

/// A first pass over a device of 1000 MiB, with a place in each 7 MiB.
fn pass(found: impl Fn(u64) -> Found) -> Quick {
    let at = |number: u64| Bytes(10 * MIB + number * 7 * MIB + 512 * number);
    let places = (0..140).map(|number| Place { at: at(number), found: found(at(number).get()) }).collect();
    Quick {
        claimed: CLAIMED,
        block: Bytes(512),
        gap: Bytes(7 * MIB + 512),
        region: REGION,
        places,
        region_holds: vec![Run { at: Bytes::ZERO, length: REGION, found: Found::Kept }],
        ..Quick::default()
    }
}

fn wrapping(period: u64, real: u64) -> impl Fn(u64) -> Found {
    move |at| match at % period {
        within if at >= period && within < REGION.get() => Found::Elsewhere(Bytes(within)),
        within if within >= real => Found::Uniform(0),
        _ => Found::Kept,
    }
}

#[test]
fn kinds_are_told_by_what_came_back() {
    let check = |quick: &Quick, kind: Genuineness, period: Option<u64>| {
        let shape = shape(quick);
        assert_eq!((shape.kind, shape.period), (Some(kind), period.map(Bytes)), "{shape:?}");
    };
    check(&pass(|_| Found::Kept), Genuineness::Genuine, None);
    check(&pass(|at| if at < 300 * MIB { Found::Kept } else { Found::Other }), Genuineness::Limbo, None);
    check(
        &pass(|at| if (at / (7 * MIB)).is_multiple_of(9) { Found::Uniform(0) } else { Found::Kept }),
        Genuineness::Damaged,
        None,
    );
    for period in [301 * MIB + 512, 256 * MIB, 500 * MIB, 97 * MIB] {
        check(&pass(wrapping(period, period)), Genuineness::WrapAround, Some(period));
        check(&pass(wrapping(period, period / 2)), Genuineness::Chain, Some(period));
    }
    // A fake that keeps its last part, where file systems look.
    let hides = pass(|at| if (300 * MIB..960 * MIB).contains(&at) { Found::Other } else { Found::Kept });
    check(&hides, Genuineness::Limbo, None);
    assert!(shape(&hides).tail.is_some());
}

#[test]
fn an_edge_lies_between_what_keeps_and_what_does_not() {
    let size = |quick: &Quick| shape(quick).size.unwrap();
    let limbo = size(&pass(|at| if at < 300 * MIB { Found::Kept } else { Found::Other }));
    assert!(limbo.low <= Bytes::mib(300) && limbo.high >= Bytes::mib(300), "{limbo:?}");
    assert!(limbo.high - limbo.low <= Bytes::mib(8), "{limbo:?}");
    assert_eq!(size(&pass(|_| Found::Kept)), Between { low: CLAIMED, high: CLAIMED });
    let chain = size(&pass(wrapping(300 * MIB, 200 * MIB)));
    assert!(chain.low <= Bytes::mib(200) && chain.high >= Bytes::mib(200), "{chain:?}");
}

#[test]
fn what_failed_is_not_held_against_a_device() {
    let failing = pass(|at| if (at / (7 * MIB)).is_multiple_of(30) { Found::ReadFailed } else { Found::Kept });
    assert_eq!(shape(&failing).kind, Some(Genuineness::Genuine));
    let broken = pass(|at| if (at / (7 * MIB)).is_multiple_of(3) { Found::WriteFailed } else { Found::Kept });
    assert!(!shape(&broken).may_be_claimed);
    assert_eq!(verdict(&broken).kind, None);
    assert_eq!(shape(&pass(|_| Found::ReadFailed)).kind, None);
    assert_eq!(verdict(&Quick::default()).kind, None);
}

#[test]
fn a_round_narrows_an_edge_and_has_controls() {
    let quick = pass(|at| if at < 300 * MIB { Found::Kept } else { Found::Other });
    let Some(Next::Round(places, controls)) = next(&quick) else { panic!("a round") };
    let size = shape(&quick).size.unwrap();
    assert!(places.contains(&size.low) && places.contains(&(size.high - Bytes(512))));
    assert!(controls.iter().all(|control| control.at > Bytes::mib(900)), "{controls:?}");
    assert_eq!(next(&pass(|_| Found::Kept)), None);
    assert!(matches!(next(&pass(wrapping(256 * MIB, 256 * MIB))), Some(Next::Check(_))));
}

#[test]
fn the_shipped_table_can_be_read() {
    assert_eq!(Table::parse(&table().to_text("")), Ok(table().clone()));
}
