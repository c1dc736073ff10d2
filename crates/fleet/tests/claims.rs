//! The counts that every confidence goes by.

use flashscope_fleet::claims::samples;

#[test]
fn the_counts_are_made_from_what_is_claimed_today() {
    let kept = include_str!("../../infer/src/claims/sample.csv");
    let hint = "stale: run `cargo run --release -p flashscope-fleet --example counted-table -- claims`";
    assert_eq!(samples().expect("devices can be drawn"), kept, "{hint}");
}
