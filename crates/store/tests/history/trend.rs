//! What is said of a figure over time.

use crate::harness::{Place, bench_of};
use flashscope_stats::Rng;

/// A history with a scatter of 1 % or so, in which reads became a tenth slower with the record of day 40.
fn place() -> Place {
    let place = Place::new();
    let mut rng = Rng::new(142);
    let files: Vec<String> = (0..60)
        .map(|day| {
            let scatter = 1.0 + 0.01 * rng.normal();
            let level = if day < 40 { 1.0 } else { 0.9 };
            place.file(&format!("{day}.json"), &bench_of(day * 24, scatter * level))
        })
        .collect();
    let mut words = vec!["add", "-q"];
    words.extend(files.iter().map(String::as_str));
    place.run(&words).expect(0);
    place
}

#[test]
fn a_change_is_marked_with_its_time_and_size() {
    let place = place();
    let figures = place.json(&["trend", "--json"]);
    let rate = figures.as_array().unwrap().iter().find(|one| one["unit"] != "ns").expect("a rate");
    assert_eq!(rate["records"], 60);
    let name = rate["figure"].as_str().unwrap();
    let trends = place.json(&["trend", name, "--json"]);
    assert_eq!(trends.as_array().unwrap().len(), 1, "one part, one setup");
    let trend = &trends[0];
    assert_eq!(trend["points"].as_array().unwrap().len(), 60);
    let changes = trend["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{changes:?}");
    let change = &changes[0];
    assert_eq!((&change["better"], &change["first"]["record"]), (&false.into(), &41.into()));
    assert_eq!(change["first"]["at"], trend["points"][40]["at"]);
    let [low, ratio, high] = ["ratio_low", "ratio", "ratio_high"].map(|name| change[name].as_f64().unwrap());
    assert!(low < 0.9 && 0.9 < high && low < ratio && ratio < high && high - low < 0.02, "{change}");

    let text = place.run(&["trend", name]).stdout;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("1  worse: -") && text.contains("seen first in record 41"), "{text}");
    assert_eq!(text.lines().find(|line| line.contains('█')).unwrap().trim().chars().count(), 60, "{text}");
    let few = place.run(&["trend", name, "--since", "2026-03-01T00:00:00Z", "--kind", "bench"]).stdout;
    assert!(few.contains("60 records"), "{few}");
    let few = place.run(&["trend", name, "--since", "2026-04-25"]).stdout;
    assert!(few.contains("cannot tell whether it changed: 12 records are needed"), "{few}");
    place.run(&["trend", "no such figure"]).refused("no record has a figure called");
    let none = place.run(&["trend", name, "--target", "another"]);
    none.expect(0);
    assert!(none.stdout.contains("no record matches"));
}

#[test]
fn what_was_measured_in_another_way_is_another_trend() {
    let place = Place::new();
    let one = bench_of(0, 1.0);
    assert!(one.contains("4096:1"), "the fixture has a block size");
    let other = bench_of(24, 1.0).replace("4096:1", "8192:1");
    place.run(&["add", &place.file("a.json", &one), &place.file("b.json", &other)]).expect(0);
    let figures = place.json(&["trend", "--json"]);
    let name = figures[0]["figure"].as_str().unwrap();
    assert_eq!(figures[0]["records"], 2);
    assert_eq!(place.json(&["trend", name, "--json"]).as_array().unwrap().len(), 2);
}
