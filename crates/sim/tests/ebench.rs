//! The published relations between clean and dirty, young and old, on a phone eMMC of a sixteenth of its size. The models of the
//! catalogue themselves are measured by `scripts/prove states` and the example that writes `docs/ebench-states.md`.

#[path = "../examples/ebench-states/states.rs"]
#[expect(dead_code, reason = "the page shows more than the relations")]
mod states;

use states::{Relations, measure};

/// A sixteenth of the pages in each block: as many blocks, a sixteenth of what each takes.
const SMALL: &str = "emmc-phone,capacity=984875008,mapping.nand.pages_per_block=16,mapping.nand.erase=312us,\
                     ageing.upkeep_every=16";

#[test]
fn dirt_and_age_cost_what_is_published_and_small_benchmarks_see_nothing() {
    let found = Relations::of(&measure(SMALL, 77));
    let within = |name: &str, value: f64, low: f64, high: f64| {
        assert!((low..=high).contains(&value), "{name}: {value} is not within {low} and {high}");
    };
    within("dirty over clean", found.dirty_over_clean, 1.3, 1.7);
    within("old over young", found.old_over_young, 1.10, 1.22);
    within("fastest", found.fastest, 1.02, 1.2);
    within("small benchmarks", found.small_change, 0.0, 0.05);
    within("purged over dirty", found.purged_over_dirty, 0.5, 0.8);
    assert!(found.above_100_ms[0] == 0 && found.above_100_ms[1] > 0, "{:?}", found.above_100_ms);
    assert!(found.slow[1] > found.slow[0], "{:?}", found.slow);
}

/// Without the section it is dirt alone that costs.
#[test]
fn a_device_that_does_not_age_is_not_slower_for_what_was_written() {
    let still = format!(
        "{SMALL},ageing.early_failures=0.0,ageing.program_change=0.0,ageing.erase_change=0.0,ageing.read_retries=0.0"
    );
    let found = Relations::of(&measure(&still, 77));
    assert!((found.old_over_young - 1.0).abs() < 0.03, "{}", found.old_over_young);
    assert_eq!(found.above_100_ms, [0, 0]);
}
