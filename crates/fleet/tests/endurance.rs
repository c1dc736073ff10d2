//! The table of quantiles that forecasts of the first error go by, and a few tests.

use flashscope_fleet::endurance::{Figures, Plan, samples, worn_out};

#[test]
fn the_table_is_made_from_what_is_measured_today() {
    let kept = include_str!("../../infer/src/endurance/sample.csv");
    let hint = "stale: run `cargo run -p flashscope-fleet --example counted-table -- endurance`";
    assert_eq!(samples().expect("devices can be drawn"), kept, "{hint}");
}

#[test]
fn intervals_hold_on_devices_never_seen_and_nothing_is_guessed() {
    let figures = Figures::of(&worn_out(Plan { first: 0, devices: 120, seed: 41 }).expect("devices"));
    assert!(figures.holds.all > 100, "{:?}", figures.holds);
    let share = figures.holds.value().expect("there are some");
    assert!((0.8..=0.98).contains(&share), "{:?}", figures.holds);
    assert_eq!((figures.guessed.count, figures.bounds.count), (0, figures.bounds.all));
    assert!(figures.off < figures.naive_off, "{:?} {:?}", figures.off, figures.naive_off);
}
