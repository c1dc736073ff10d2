//! What does not go together, was cut short, or changed under the test: the report says so, and no answer is sure that
//! rests on it.

#[allow(dead_code)]
use crate::common::card::{Card, written};
use crate::common::{fixture, observations};
use flashscope_infer::{Memo, infer, left_open, next, of_several_devices};
use flashscope_model::observation::{BoundariesData, CandidateData, Observations, Straddle};
use flashscope_model::plan::Budget;
use flashscope_model::{Data, Estimate, Findings, Geometry};
use flashscope_units::{Bytes, Nanos};

/// The surest of the answers that rest on writes.
fn surest_of_writes(geometry: &Geometry) -> f64 {
    let sure = |confidence: Option<f64>| confidence.unwrap_or(0.0);
    [
        sure(geometry.open_units_linear.confidence()),
        sure(geometry.open_units_random.confidence()),
        sure(geometry.random_order_penalty.confidence()),
        sure(geometry.fast_area.confidence()),
        sure(geometry.small_write_path.confidence()),
    ]
    .into_iter()
    .fold(0.0, f64::max)
}

fn warns_of(findings: &Findings, what: &str) -> bool {
    findings.notes.iter().any(|note| note.text.contains(what))
}

/// A whole run on a card that becomes another one once it was written to by so many trials of several units.
fn run_on_a_card_that_changes(mut card: Card, mut other: Card, after: usize) -> Findings {
    let facts = card.facts();
    let mut budget = Budget { write: Bytes::gib(1), time: None };
    let mut seen = Observations { capacity: Some(facts.capacity), runs: Vec::new(), ..Observations::default() };
    let memo = Memo::default();
    while let Some(choice) = next(&facts, &seen, &memo, budget, 5) {
        budget.write = budget.write.checked_sub(written(&choice.experiment)).expect("within the budget");
        let trials = seen.runs.iter().filter(|run| matches!(run.data, Data::OpenUnits(_))).count();
        let now = if trials < after { &mut card } else { &mut other };
        seen.runs.push(now.run(&choice.experiment).expect("an experiment that the card can answer"));
        assert!(seen.runs.len() < 300, "going in circles");
    }
    infer(&seen)
}

#[test]
fn a_card_that_changes_under_the_test_is_noticed() {
    let steady = run_on_a_card_that_changes(Card::new((8, 8), 1), Card::new((8, 8), 2), 4);
    assert!(!warns_of(&steady, "changed under the test"), "{:?}", steady.notes);
    assert!(surest_of_writes(&steady.geometry) > 0.9, "{:?}", steady.geometry);
    // Fewer units can be open from the first confirmation on.
    let fewer = run_on_a_card_that_changes(Card::new((8, 8), 1), Card::new((3, 3), 2), 5);
    assert!(warns_of(&fewer, "changed under the test"), "{:?}", fewer.notes);
    assert!(surest_of_writes(&fewer.geometry) <= 0.6, "{:?}", fewer.geometry);
    // Everything takes five times as long.
    let mut worn = Card::new((8, 8), 2);
    worn.area = (0, u64::MAX, 0.2);
    let slower = run_on_a_card_that_changes(Card::new((8, 8), 1), worn, 5);
    assert!(warns_of(&slower, "changed under the test"), "{:?}", slower.notes);
    assert!(surest_of_writes(&slower.geometry) <= 0.6, "{:?}", slower.geometry);
}

#[test]
fn reads_that_slow_down_during_a_test_are_noticed() {
    let table = |late: u64| {
        let times = || vec![Nanos::micros(700), Nanos::micros(710), Nanos::micros(late)];
        let place = |index: u64| Straddle { at: Bytes::mib(4 * index + 4), pre: times(), on: times(), post: times() };
        let places = (0..15).map(place).collect();
        let candidate = CandidateData { size: Bytes::mib(4), excluded: Vec::new(), places };
        let data = BoundariesData {
            block: Bytes::kib(16),
            offset: Bytes::ZERO,
            rest: Nanos::ZERO,
            candidates: vec![candidate],
        };
        infer(&Observations {
            capacity: Some(Bytes::gib(4)),
            runs: vec![crate::common::run(Data::Boundaries(data.into()))],
            ..Observations::default()
        })
    };
    assert!(warns_of(&table(1500), "at the end of a test"));
    assert!(!warns_of(&table(720), "at the end of a test"));
}

#[test]
fn a_device_that_reads_slower_in_a_later_run_is_noticed() {
    let boundaries = |micros: u64, until: u64| {
        let times = || [0, 5, 9].map(|more| Nanos::micros(micros + more)).to_vec();
        let place = |index: u64| {
            let at = Bytes::mib(until * (index + 1) / 15);
            Straddle { at, pre: times(), on: times(), post: times() }
        };
        let candidates =
            vec![CandidateData { size: Bytes::mib(4), excluded: Vec::new(), places: (0..15).map(place).collect() }];
        let data = BoundariesData { block: Bytes::kib(16), offset: Bytes::ZERO, rest: Nanos::ZERO, candidates };
        crate::common::run(Data::Boundaries(data.into()))
    };
    let check = |early: u64, late: u64, until: u64, expect: bool| {
        let runs = vec![boundaries(early, 1500), boundaries(late, until)];
        let found = infer(&Observations { capacity: Some(Bytes::gib(4)), runs, ..Observations::default() });
        assert_eq!(warns_of(&found, "changed under the test"), expect, "{early} {late} {until}: {:?}", found.notes);
    };
    check(700, 1100, 1500, true);
    check(1100, 700, 1500, true);
    check(700, 800, 1500, false);
    // A host may be slower by 150 µs, and a stretch whose map is at hand faster than the whole device.
    check(200, 350, 1500, false);
    check(1100, 700, 300, false);
}

#[test]
fn a_size_that_the_tables_do_not_fit_is_said() {
    let mut log = observations(&fixture("transcripts/emmc-write-align.txt"));
    let largest = log.runs.iter().filter_map(|run| match &run.data {
        Data::Align(table) => table.rows.iter().map(|row| row.align).max(),
        _ => None,
    });
    let largest = largest.max().expect("a table of alignments");
    log.capacity = Some(largest * 7);
    assert!(!warns_of(&infer(&log), "said to hold"));
    log.capacity = Some(largest * 2);
    let found = infer(&log);
    assert!(warns_of(&found, "said to hold"), "{:?}", found.notes);
    assert!(found.geometry.allocation_unit.confidence().is_none_or(|sure| sure <= 0.6), "{found:?}");
}

#[test]
fn of_a_log_of_two_cards_nothing_is_sure() {
    let mut found = infer(&observations(&fixture("field/card-9.txt")));
    of_several_devices(&mut found);
    assert!(found.notes[0].text.contains("more than one device"), "{:?}", found.notes);
    let sure = found.geometry.allocation_unit.confidence().unwrap_or(0.0).max(surest_of_writes(&found.geometry));
    assert!(sure <= 0.5 && found.advice.is_empty(), "{found:?}");
}

#[test]
fn a_log_that_breaks_off_says_less_and_nothing_else() {
    fn check<T: PartialEq + std::fmt::Debug>(what: &str, whole: &Estimate<T>, part: &Estimate<T>) {
        let sure = part.confidence().is_some_and(|confidence| confidence >= 0.95);
        let differs = part.figure().is_some() && whole.figure().is_some() && part.figure() != whole.figure();
        assert!(!(sure && differs), "{what}: {part:?} against {whole:?}");
    }
    for path in ["field/card-6-2.txt", "field/card-9.txt", "field/card-27.txt"] {
        let text = fixture(path);
        let whole = infer(&observations(&text)).geometry;
        let lines: Vec<&str> = text.lines().collect();
        for end in (0..lines.len()).step_by(9) {
            let part = infer(&observations(&lines[..end].join("\n"))).geometry;
            let what = format!("{path} up to line {end}");
            check(&what, &whole.allocation_unit, &part.allocation_unit);
            check(&what, &whole.open_units_linear, &part.open_units_linear);
            check(&what, &whole.open_units_random, &part.open_units_random);
        }
    }
}

#[test]
fn a_budget_too_small_for_any_answer_leaves_them_open() {
    let mut card = Card::new((8, 8), 3);
    let facts = card.facts();
    let mut budget = Budget { write: Bytes::kib(64), time: None };
    let mut seen = Observations { capacity: Some(facts.capacity), runs: Vec::new(), ..Observations::default() };
    let memo = Memo::default();
    while let Some(choice) = next(&facts, &seen, &memo, budget, 5) {
        budget.write = budget.write.checked_sub(written(&choice.experiment)).expect("within the budget");
        seen.runs.push(card.run(&choice.experiment).expect("an experiment that the card can answer"));
        assert!(seen.runs.len() < 300, "going in circles");
    }
    let geometry = infer(&seen).geometry;
    assert!(geometry.open_units_linear.is_unknown() && geometry.open_units_random.is_unknown(), "{geometry:?}");
    assert!(geometry.fast_area.is_unknown() && geometry.random_order_penalty.value().is_none(), "{geometry:?}");
    let notes = left_open(&facts, &seen, &memo, budget);
    assert!(notes.iter().any(|note| note.text.contains("open units, sequential")), "{notes:?}");
}
