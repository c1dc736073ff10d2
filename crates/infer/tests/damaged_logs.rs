//! Logs that lost rows, hold what does not belong together, or were pasted twice: less is said of them, and nothing wrong.

#[allow(dead_code)]
use crate::common::{fixture, observations};
use flashscope_infer::infer;
use flashscope_model::Geometry;
use flashscope_model::finding::AreaKind;
use flashscope_units::Bytes;

fn geometry(text: &str) -> Geometry {
    infer(&observations(text)).geometry
}

/// A log without the rows of the tables of writes for which this holds: the heading they stand under, and their size.
fn without(text: &str, drop: impl Fn(&str, Bytes) -> bool) -> String {
    let mut heading = String::new();
    let keep = |line: &&str| {
        if line.starts_with("=======") || line.contains("flashbench") {
            heading = line.to_string();
        }
        let size = line.split_whitespace().next().and_then(|word| word.parse::<Bytes>().ok());
        !(line.contains("/s") && size.is_some_and(|size| drop(&heading, size)))
    };
    text.lines().filter(keep).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_lost_head_row_does_not_split_a_card() {
    let log = "======= AU=1, linear access =======\n4MiB 9.8M/s\n512KiB 9.7M/s\n64KiB 8.2M/s\n\
               ======= AU=2, linear access =======\n2MiB 9.6M/s\n512KiB 9.4M/s\n128KiB 9.5M/s\n\
               ======= AU=3, linear access =======\n512KiB 10M/s\n128KiB 9.2M/s\n64KiB 8.3M/s\n\
               ======= AU=4, linear access =======\n2MiB 3.6M/s\n512KiB 1.2M/s\n128KiB 318K/s\n64KiB 161K/s\n\
               ======= AU=5, linear access =======\n4MiB 8.4M/s\n512KiB 1.2M/s\n64KiB 165K/s\n\
               ======= AU=7, linear access =======\n4MiB 8.5M/s\n512KiB 1.2M/s\n64KiB 159K/s\n";
    let found = geometry(log).open_units_linear;
    assert_eq!(found.value(), Some(3), "{found:?}");
}

#[test]
fn an_area_keeps_its_place_when_its_head_row_is_lost() {
    let whole = geometry(&fixture("field/card-9.txt")).fast_area.value().unwrap();
    let headless =
        without(&fixture("field/card-9.txt"), |heading, size| heading.contains("FAT") && size == Bytes::mib(4));
    let found = geometry(&headless).fast_area;
    let found = found.value().unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!((found.first, found.end, found.kind), (whole.first, whole.end, whole.kind));
}

#[test]
fn without_any_row_near_the_unit_there_is_no_area_and_no_sure_limit() {
    let tail = without(&fixture("field/card-6-2.txt"), |_, size| size > Bytes::kib(16));
    let found = geometry(&tail);
    assert!(found.fast_area.is_unknown(), "{:?}", found.fast_area);
    for count in [&found.open_units_linear, &found.open_units_random] {
        assert!(count.confidence().is_none_or(|confidence| confidence <= 0.7), "{count:?}");
        assert!(count.value().is_none_or(|value| value == 3), "{count:?}");
    }
}

#[test]
fn two_rows_do_not_deny_a_limit() {
    let head = without(&fixture("field/card-6-2.txt"), |_, size| size < Bytes::mib(1));
    let found = geometry(&head).open_units_random;
    assert!(found.is_unknown(), "the limit of 3 shows below 256 KiB only: {found:?}");
    // The fewer rows, the less sure.
    let log = fixture("field/card-27.txt");
    let mut last = 1.0;
    for least in [4, 32, 64, 128].map(Bytes::kib) {
        let found = geometry(&without(&log, |_, size| size < least)).open_units_linear;
        let confidence = found.confidence().unwrap_or(0.0);
        // Shares of counts, which scatter.
        assert!(confidence <= last + 0.05, "{least}: {found:?}");
        last = confidence;
    }
    assert!(last < 0.95, "{last}");
}

#[test]
fn a_tenfold_fall_is_no_slow_decline() {
    let log = "======= AU=2, linear access =======\n4MiB 9.9M/s\n512KiB 9.7M/s\n64KiB 9.99M/s\n\
               ======= AU=3, linear access =======\n4MiB 9.8M/s\n512KiB 9.6M/s\n64KiB 999K/s\n";
    let found = geometry(log).open_units_linear;
    assert!(found.is_unknown(), "{found:?}");
}

fn tables(rates: &[(u32, f64)]) -> String {
    let rows = |scale: f64| -> String {
        (0..10)
            .map(|halving| format!("{}KiB {:.2}M/s\n", 4096 >> halving, scale * (10.0 - 0.3 * f64::from(halving))))
            .collect()
    };
    rates.iter().map(|(count, scale)| format!("======= AU={count}, linear access =======\n{}", rows(*scale))).collect()
}

#[test]
fn what_recovers_is_no_sure_limit_and_no_table_alone_is() {
    let full = [(1, 1.0), (2, 1.0), (3, 1.0), (4, 1.0), (5, 1.0)];
    let geometry = |rates: &[(u32, f64)]| geometry(&tables(rates));
    let recovers = geometry(&[&full[..], &[(6, 0.35), (7, 1.0)]].concat()).open_units_linear;
    assert!(recovers.confidence().is_none_or(|confidence| confidence <= 0.6), "{recovers:?}");
    let once = geometry(&[&full[..], &[(6, 0.35)]].concat()).open_units_linear;
    let twice = geometry(&[&full[..], &[(6, 0.35), (7, 0.33)]].concat()).open_units_linear;
    assert_eq!((once.value(), twice.value()), (Some(5), Some(5)));
    // No read shows the unit.
    assert!(
        [&once, &twice].iter().all(|found| (0.5..0.95).contains(&found.confidence().unwrap())),
        "{once:?} {twice:?}"
    );
}

#[test]
fn two_cards_in_one_log_are_not_averaged() {
    let two = fixture("field/card-8.txt") + &fixture("field/card-31-1.txt");
    let found = geometry(&two);
    for count in [&found.open_units_linear, &found.open_units_random] {
        assert!(count.confidence().is_none_or(|confidence| confidence <= 0.6), "{count:?}");
    }
    let notes = infer(&observations(&two)).notes;
    assert!(notes.iter().any(|note| note.text.contains("two cards")), "{notes:?}");
}

#[test]
fn the_noisier_the_units_the_less_is_denied() {
    // Every other unit is faster by a factor, controls too.
    let log = |factor: f64| -> String {
        let row = |halving: u32| -> String {
            let rate = |unit: u32| 12.0 * if [1, 4, 6].contains(&unit) { factor } else { 1.0 };
            let rates: Vec<String> = (0..8).map(|unit| format!("{:.2}M/s", rate(unit))).collect();
            format!("{}KiB {}\n", 4096 >> halving, rates.join(" "))
        };
        format!("======= find FAT =======\n{}", (0..11).map(row).collect::<String>())
    };
    let confidence = |factor: f64| {
        let found = geometry(&log(factor)).fast_area;
        assert!(found.value().is_none_or(|area| area.kind == AreaKind::None), "{found:?}");
        found.confidence().unwrap_or(0.0)
    };
    assert!(confidence(1.02) > 0.8, "{}", confidence(1.02));
    assert!(confidence(1.9) < 0.6, "{}", confidence(1.9));
}

#[test]
fn a_log_pasted_twice_says_no_more_than_once() {
    for path in ["field/card-6-2.txt", "field/card-9.txt", "field/card-2.txt"] {
        let once = fixture(path);
        let twice = infer(&observations(&(once.clone() + &once)));
        assert_eq!(twice.geometry, geometry(&once), "{path}");
        assert!(twice.notes.iter().any(|note| note.text.contains("copies")), "{:?}", twice.notes);
    }
}

#[test]
fn large_blocks_in_order_are_no_small_write_path() {
    let log = without(&fixture("field/card-1-2.txt"), |heading, _| !heading.contains("linear"));
    let found = geometry(&log).small_write_path;
    assert!(found.value().is_none_or(|path| path.size <= Bytes::kib(16)), "{found:?}");
}

#[test]
fn advice_does_not_contradict_itself() {
    let advice = infer(&observations(&fixture("field/card-6-2.txt"))).advice;
    for advice in advice.iter().filter(|advice| advice.text.contains("random writes of")) {
        assert!(!advice.text.contains("separate path"), "{}", advice.text);
    }
}

#[test]
fn a_penalty_is_as_sure_as_it_is_determined() {
    // Large rows only: no more than a bound.
    let head = geometry(&without(&fixture("field/card-27.txt"), |_, size| size < Bytes::mib(1))).random_order_penalty;
    assert!(head.value().is_none() && head.confidence().is_none_or(|confidence| confidence <= 0.9), "{head:?}");
    // Nothing to see.
    let flat = geometry(&fixture("field/card-31-1.txt")).random_order_penalty;
    assert_eq!(flat.value().map(|penalty| penalty.ratio), Some(1.0), "{flat:?}");
    // What it was: deep, on a whole table.
    let deep = geometry(&fixture("field/card-27.txt")).random_order_penalty;
    assert!(deep.confidence().unwrap() > 0.6 && deep.evidence().contains("± 25 %"), "{deep:?}");
}
