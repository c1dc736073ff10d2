//! The table of probabilities that diagnoses go by, and a few diagnoses.

use flashscope_fleet::states::{Figures, Plan, Question, diagnosed, samples};

#[test]
fn the_table_is_made_from_what_is_measured_today() {
    let kept = include_str!("../../infer/src/calibrated/sample.csv");
    let hint = "stale: run `cargo run -p flashscope-fleet --example counted-table -- state`";
    assert_eq!(samples().expect("devices can be drawn"), kept, "{hint}");
}

#[test]
fn a_small_fleet_is_diagnosed_and_its_confidence_is_no_boast() {
    for writes in [true, false] {
        let outcomes = diagnosed(Plan { first: 0, devices: 24, seed: 15_003, writes }).expect("devices can be drawn");
        assert_eq!(outcomes.len(), 24);
        let figures = Question::ALL.map(|question| Figures::of(question, &outcomes));
        assert!(figures[0].right.all >= 12, "most devices are answered: {figures:?}");
        for figures in figures {
            let wrong = figures.right.all - figures.right.count;
            assert!(wrong <= 2, "claims are 90 % sure or more: {figures:?}");
        }
    }
}
