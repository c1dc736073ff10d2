//! Our change points beside Apache Otava's in the same histories (`fixtures/comparisons/otava-changes.py` made them).

use flashscope_fleet::histories::{CONFIDENCE, Found, found};
use flashscope_stats::change::level_shifts;
use serde_json::Value;

#[test]
fn no_worse_than_otava_on_the_same_histories() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/comparisons/otava.json");
    let histories: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("the fixture")).expect("JSON");
    let histories = histories.as_array().expect("a list");
    assert_eq!(histories.len(), 180);
    let places = |history: &Value, name: &str| -> Vec<usize> {
        let list = history[name].as_array().expect("a list").iter();
        list.map(|place| place.as_u64().expect("an index") as usize).collect()
    };
    let (mut ours, mut theirs) = (Found::default(), Found::default());
    for history in histories {
        let values = history["values"].as_array().expect("values");
        let logs: Vec<f64> = values.iter().map(|value| value.as_f64().expect("a number").ln()).collect();
        let marks: Vec<usize> =
            level_shifts(&logs, CONFIDENCE).expect("long enough").shifts.iter().map(|shift| shift.start).collect();
        let planted = places(history, "planted");
        ours += found(&marks, &planted);
        theirs += found(&places(history, "otava"), &planted);
    }
    assert!(ours.f1() >= theirs.f1(), "ours {ours:?} {:?}, Otava {theirs:?} {:?}", ours.f1(), theirs.f1());
    // Where marks are looked at on their own: a false one costs a person an hour.
    assert!(ours.wrong <= theirs.wrong, "ours {ours:?}, Otava {theirs:?}");
}
