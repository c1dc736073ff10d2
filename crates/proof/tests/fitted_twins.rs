//! The fitted twins of the catalogue: each still as near its log as its page says, and still what `twin fit` makes of it.

use flashscope_proof::twins::{self, Cell, FITTED, Fitted, cells};
use flashscope_twin::goodness::WITHIN;
use std::path::Path;

fn log(twin: &Fitted) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(twin.path)).expect("a fixture")
}

fn share_within(cells: &[Cell]) -> f64 {
    let figures: Vec<&Cell> = cells.iter().filter(|cell| cell.column != "diff").collect();
    figures.iter().filter(|cell| cell.error().abs() <= WITHIN).count() as f64 / figures.len() as f64
}

fn share(twin: &Fitted, spec: &str) -> f64 {
    let replay = twins::replay(&log(twin));
    share_within(&cells::all(&replay.measured, &twins::simulate(&replay, spec, 1)))
}

#[test]
fn each_is_as_near_its_log_as_the_page_says() {
    let found: Vec<(&str, f64, f64)> =
        FITTED.iter().map(|twin| (twin.model, share(twin, twin.model), twin.within)).collect();
    assert!(found.iter().all(|(_, share, least)| share >= least), "{found:.3?}");
}

#[test]
fn none_is_as_near_the_log_of_another() {
    for twin in &FITTED {
        let own = share(twin, twin.model);
        let flat = share(twin, "sd-flat");
        let other = share(twin, "sd-4mib");
        assert!(own > flat + 0.1 && own > other + 0.1, "{}: {own:.3}, {flat:.3}, {other:.3}", twin.model);
    }
}

/// The smallest log, so that the test is short; the others were made by the same command.
#[test]
fn the_model_in_the_catalogue_is_what_the_fit_makes() {
    let twin = FITTED.iter().find(|twin| twin.model == "card-readme").expect("it is one of them");
    let stored =
        flashscope_sim::show(twin.model, false, |_| Err("no files".to_owned())).expect("it is in the catalogue");
    let fit = twin.fit(&log(twin)).expect("a twin");
    assert_eq!(fit.model, stored, "run the example fitted-twins and look at the difference");
}
