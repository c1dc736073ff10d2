//! The table of probabilities that verdicts about power cuts go by, and a few devices.

use flashscope_fleet::integrity::{Figures, Kind, Plan, judged, samples};

#[test]
fn the_table_is_made_from_what_is_seen_today() {
    let kept = include_str!("../../integrity/src/sample.csv");
    let hint = "stale: run `cargo run -p flashscope-fleet --example counted-table -- integrity`";
    assert_eq!(samples().expect("devices can be drawn"), kept, "{hint}");
}

#[test]
fn honest_devices_are_not_accused_and_faults_are_noticed() {
    let figures = |kind, devices| {
        let outcomes = judged(Plan { first: 0, devices, seed: 16_003, kind, cuts: 30 }).expect("devices can be drawn");
        Figures::of(kind, &outcomes)
    };
    let honest = figures(Kind::Honest, 24);
    assert_eq!((honest.broken.count, honest.broken.all), (0, 720));
    assert!(honest.any_loss.count > 100, "most of them lose what nothing covered: {honest:?}");
    let alone = figures(Kind::Alone, 24);
    assert!(alone.noticed.all >= 12 && alone.noticed.count == alone.noticed.all, "{alone:?}");
}
