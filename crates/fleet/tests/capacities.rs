//! The table of probabilities that tests of the capacity go by, and a few tests.

use flashscope_fleet::capacities::{Depth, Figures, Plan, Which, samples, tested};

#[test]
fn the_table_is_made_from_what_is_measured_today() {
    let kept = include_str!("../../infer/src/capacity/sample.csv");
    let hint = "stale: run `cargo run -p flashscope-fleet --example counted-table -- capacity`";
    assert_eq!(samples().expect("devices can be drawn"), kept, "{hint}");
}

#[test]
fn genuine_devices_are_never_accused_and_fakes_are_told() {
    for depth in [Depth::Quick, Depth::Full] {
        let plan = |which| Plan { first: 0, devices: 60, seed: 41, which, depth };
        let figures = |which| Figures::of(&tested(plan(which)).expect("devices"));
        let genuine = figures(Which::Genuine);
        assert_eq!(genuine.accused.count, 0);
        assert_eq!(genuine.cleared.count, 60);
        let fakes = figures(Which::Fakes);
        assert!(fakes.right.all > 50 && fakes.right.count == fakes.right.all, "{:?}", fakes.right);
        assert!(fakes.naive.count * 2 < fakes.naive.all, "powers of two tell few: {:?}", fakes.naive);
    }
}
