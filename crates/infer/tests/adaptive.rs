//! The choice of experiments, run to its end against a card of known inside.

#[allow(dead_code)]
use crate::common::card::{Card, written};
use flashscope_infer::{Memo, infer, infer_with, left_open, next, outlook};
use flashscope_model::finding::{AreaKind, UpTo};
use flashscope_model::observation::Observations;
use flashscope_model::plan::{Budget, Purpose};
use flashscope_model::{DeviceFacts, DeviceKind, Experiment, ExperimentName, Findings, Identity};
use flashscope_units::{Bytes, Nanos};

/// Everything that was chosen, and what it showed.
struct Session {
    facts: DeviceFacts,
    experiments: Vec<Experiment>,
    observations: Observations,
    budget: Budget,
}

fn session(mut card: Card, write: Bytes, seed: u64) -> Session {
    let facts = card.facts();
    let mut budget = Budget { write, time: None };
    let mut observations = Observations { capacity: Some(facts.capacity), runs: Vec::new(), ..Observations::default() };
    let mut experiments = Vec::new();
    let memo = Memo::default();
    while let Some(choice) = next(&facts, &observations, &memo, budget, seed) {
        assert!(experiments.len() < 300, "going in circles: {:?}", experiments.last());
        assert!(!choice.why.is_empty());
        let cost = written(&choice.experiment);
        budget.write = budget.write.checked_sub(cost).expect("within the budget");
        experiments.push(choice.experiment.clone());
        observations.runs.push(card.run(&choice.experiment).expect("an experiment that the card can answer"));
    }
    Session { facts, experiments, observations, budget }
}

impl Session {
    fn findings(&self) -> Findings {
        infer(&self.observations)
    }

    fn written(&self) -> Bytes {
        self.experiments.iter().map(written).sum()
    }
}

#[test]
fn limits_are_bracketed_bisected_and_confirmed() {
    for (seed, open) in [(8, 8), (3, 3), (6, 5), (20, 2), (11, 13), (2, 2), (5, 64)].into_iter().enumerate() {
        let session = session(Card::new(open, seed as u64), Bytes::gib(1), 7 + seed as u64);
        let geometry = session.findings().geometry;
        assert_eq!(
            geometry.open_units_linear.value(),
            Some(open.0 as u32),
            "{open:?} {:?}",
            geometry.open_units_linear
        );
        let random = &geometry.open_units_random;
        match open.1 {
            // Where every write at random is copied for, twice the limit in order is far enough.
            64 => assert!(random.value().is_none() && random.least().is_some_and(|bound| bound >= 10), "{random:?}"),
            count => assert_eq!(random.value(), Some(count as u32), "{open:?} {random:?}"),
        }
        assert!(geometry.open_units_linear.confidence().unwrap() > 0.95, "{:?}", geometry.open_units_linear);
    }
}

#[test]
fn noise_and_stray_collections_are_lived_with() {
    let (mut answers, mut wrong) = (0, Vec::new());
    for seed in 0..24u64 {
        let open = (2 + (seed as usize * 7) % 19, 1 + (seed as usize * 5) % 13);
        let mut card = Card::new(open, seed);
        card.noise = 0.02 + 0.01 * (seed % 30) as f64;
        card.spikes = 0.002 * (seed % 8) as f64;
        card.copy = Nanos::millis(20 + 20 * (seed % 20));
        let geometry = session(card, Bytes::gib(1), seed).findings().geometry;
        for (found, want) in [(&geometry.open_units_linear, open.0), (&geometry.open_units_random, open.1)] {
            answers += u32::from(!found.is_unknown());
            let want = want as u32;
            let right = found.value().is_none_or(|value| value == want)
                && found.least().is_none_or(|bound| bound <= want)
                && found.most().is_none_or(|bound| bound >= want);
            if !right {
                wrong.push((seed, open, found.clone()));
            }
        }
    }
    assert!(answers >= 46, "{answers}");
    assert!(wrong.len() <= 1, "{wrong:#?}");
    assert!(wrong.iter().all(|(_, _, found)| found.confidence().unwrap() < 0.99), "{wrong:#?}");
}

#[test]
fn a_card_is_characterised_with_few_writes() {
    let mut card = Card::new((8, 8), 1);
    card.area = (1, 2, 1.9);
    card.small = Bytes::kib(8);
    let session = session(card, Bytes::gib(1), 3);
    let findings = session.findings();
    let geometry = &findings.geometry;
    assert!(session.written() < Bytes::mib(600), "{}", session.written());
    let area = geometry.fast_area.value().unwrap();
    assert_eq!((area.first, area.end, area.kind), (Bytes::mib(4), Bytes::mib(8), AreaKind::Faster));
    assert!((1.7..2.1).contains(&area.ratio), "{area:?}");
    assert_eq!(
        geometry.small_write_path.value(),
        Some(UpTo { size: Bytes::kib(8) }),
        "{:?}",
        geometry.small_write_path
    );
    let penalty = geometry.random_order_penalty.value().unwrap();
    assert_eq!(penalty.block, Bytes::kib(16), "{:?}", geometry.random_order_penalty);
    // 190 ms of copy on 1.4 ms of write.
    assert!((100.0..160.0).contains(&penalty.ratio), "{penalty:?}");
    assert_eq!(findings.performance.len(), 16);
    assert_eq!(geometry.never_written.value(), Some(0.0));
    assert!(left_open(&session.facts, &session.observations, &Memo::default(), session.budget).is_empty());
}

#[test]
fn a_longer_area_is_followed_to_its_end() {
    let mut card = Card::new((8, 8), 2);
    card.area = (0, 7, 0.5);
    // Small writes that are copied for would not tell whether it is so for them as well.
    card.small = Bytes::kib(8);
    let area = session(card, Bytes::gib(1), 5).findings().geometry.fast_area;
    let found = area.value().unwrap();
    assert_eq!((found.first, found.end, found.kind), (Bytes::ZERO, Bytes::mib(28), AreaKind::Slower), "{area:?}");
    // Slower areas are rare, so that few were counted.
    assert!(area.confidence().unwrap() > 0.75, "{area:?}");
}

#[test]
fn where_one_unit_can_be_open_units_are_written_one_after_the_other() {
    let mut card = Card::new((1, 1), 2);
    card.area = (1, 2, 2.0);
    let session = session(card, Bytes::gib(1), 5);
    let geometry = session.findings().geometry;
    assert_eq!(geometry.open_units_linear.value(), Some(1), "{:?}", geometry.open_units_linear);
    let area = geometry.fast_area.value().expect("an area");
    assert_eq!((area.first, area.end, area.kind), (Bytes::mib(4), Bytes::mib(8), AreaKind::Faster));
}

#[test]
fn small_writes_that_escape_are_found_beyond_the_open_units() {
    let mut card = Card::new((4, 4), 3);
    card.small = Bytes::kib(4);
    // Random order within an open unit costs nothing here: only beyond the open units do copies show.
    card.in_place = true;
    let small = session(card, Bytes::gib(1), 6).findings().geometry.small_write_path;
    assert_eq!(small.value(), Some(UpTo { size: Bytes::kib(4) }), "{small:?}");
    assert_eq!(small.method(), [ExperimentName::OpenUnits]);
}

#[test]
fn without_a_grant_nothing_is_written_and_the_flag_is_named() {
    let session = session(Card::new((8, 8), 1), Bytes::ZERO, 3);
    assert_eq!(session.written(), Bytes::ZERO);
    assert!(session.experiments.len() >= 10, "reads are done: {}", session.experiments.len());
    assert!(session.findings().geometry.open_units_linear.is_unknown());
    let notes = left_open(&session.facts, &session.observations, &Memo::default(), session.budget);
    assert!(notes[0].text.contains("open units, sequential"), "{notes:?}");
    assert!(notes[0].hint.as_ref().unwrap().contains("--read-only"), "{notes:?}");
}

#[test]
fn what_does_not_fit_is_skipped_and_the_rest_is_done() {
    let session = session(Card::new((8, 8), 1), Bytes::mib(12), 3);
    assert!(session.written() <= Bytes::mib(12));
    let notes = left_open(&session.facts, &session.observations, &Memo::default(), session.budget);
    assert!(notes[0].hint.as_ref().unwrap().contains("--max-write"), "{notes:?}");
    // The dear bracket was given up, the cheap trials in one unit were not.
    let one_unit =
        |experiment: &Experiment| matches!(experiment, Experiment::Throughput(t) if t.purpose == Purpose::OneUnit);
    assert!(session.experiments.iter().any(one_unit));
    let linear = session.findings().geometry.open_units_linear;
    assert!(linear.value().is_none() && linear.least().is_none_or(|count| count <= 8), "{linear:?}");
}

#[test]
fn trials_take_fresh_units_that_lie_apart() {
    let session = session(Card::new((8, 8), 1), Bytes::gib(1), 3);
    let mut used: Vec<Bytes> = Vec::new();
    for experiment in &session.experiments {
        if let Experiment::OpenUnits(plan) = experiment {
            used.extend(&plan.units);
        }
    }
    used.sort_unstable();
    assert!(used.len() > 50);
    for pair in used.windows(2) {
        assert!(pair[1] - pair[0] >= Bytes::mib(16), "{pair:?}");
    }
    assert!(used[0] >= Bytes::mib(64), "the start is left to the fast-area experiment");
}

#[test]
fn a_blank_device_is_filled_where_boundaries_are_looked_for() {
    let mut card = Card::new((8, 8), 1);
    card.written = false;
    let granted = session(card.clone(), Bytes::gib(1), 3);
    let filled = granted.experiments.iter().find_map(|experiment| match experiment {
        Experiment::Throughput(plan) if plan.purpose == Purpose::Fill => Some(*plan),
        _ => None,
    });
    let filled = filled.expect("a fill");
    assert!(filled.length >= Bytes::mib(128) && filled.length <= Bytes::gib(1) * 2 / 5, "{filled:?}");
    assert_eq!(filled.block * u64::from(filled.requests), filled.length);
    for experiment in &granted.experiments {
        if let Experiment::Boundaries(plan) = experiment {
            let within = plan.within.expect("reads stay where data is");
            assert_eq!((within.start, within.length), (filled.start, filled.length));
        }
    }
    let refused = session(card, Bytes::ZERO, 3);
    let findings = refused.findings();
    assert!(
        findings.geometry.never_written.is_unknown(),
        "nothing to compare with: {:?}",
        findings.geometry.never_written
    );
    assert!(findings.notes.iter().any(|note| note.text.contains("never written") && note.hint.is_some()));
}

#[test]
fn the_same_seed_chooses_the_same_and_another_does_not() {
    let run = |seed| session(Card::new((6, 6), 4), Bytes::mib(400), seed).experiments;
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn no_time_no_experiment_and_an_outlook_within_the_budget() {
    let facts = Card::new((8, 8), 1).facts();
    let none = Observations::default();
    assert_eq!(next(&facts, &none, &Memo::default(), Budget { write: Bytes::ZERO, time: Some(Nanos::ZERO) }, 1), None);
    let said = outlook(&facts, Budget { write: Bytes::mib(600), time: None });
    assert_eq!(said.will_write_at_most, Bytes::mib(600));
    assert!(!said.regions.is_empty() && !said.experiments.is_empty() && said.left_out.is_empty());
    assert!(said.time.0 < said.time.1 && said.will_read_about > Bytes::mib(100), "{said:?}");
    let little = outlook(&facts, Budget { write: Bytes::mib(5), time: Some(Nanos::secs(9)) });
    assert!(little.left_out.iter().any(|name| name.contains("open units")), "{little:?}");
    assert!(little.time.1 <= Nanos::secs(9));
    assert_eq!(outlook(&facts, Budget { write: Bytes::ZERO, time: None }).will_write_at_most, Bytes::ZERO);
    // What overwrites all of a device is named before anybody consents to it, and only where it can come to that.
    let names = |write: Bytes| outlook(&facts, Budget { write, time: None }).experiments.join("; ");
    assert!(!names(facts.capacity).contains("all of it"), "{}", names(facts.capacity));
    let much = names(facts.capacity * 2);
    assert!(much.contains("spare space") && much.contains("a cache of fast cells shrinks"), "{much}");
}

#[test]
fn small_devices_have_plans_that_fit() {
    for capacity in [Bytes::mib(2), Bytes::mib(16), Bytes::mib(64), Bytes::mib(500)] {
        let mut card = Card::new((4, 4), 1);
        card.capacity = capacity;
        card.unit = Bytes::kib(256);
        let session = session(card, Bytes::gib(1), 3);
        for experiment in &session.experiments {
            let end = match experiment {
                Experiment::OpenUnits(plan) => plan.units.iter().max().copied().unwrap() + plan.unit,
                Experiment::Throughput(plan) => plan.start + plan.length,
                Experiment::FastArea(plan) => {
                    plan.suspects.iter().chain(&plan.controls).max().copied().unwrap() + plan.unit
                }
                _ => Bytes::ZERO,
            };
            assert!(end <= capacity, "{capacity}: {experiment:?}");
        }
    }
}

#[test]
fn the_hint_on_the_budget_is_enough_the_first_time() {
    for write in [Bytes::mib(6), Bytes::mib(40)] {
        let first = session(Card::new((8, 8), 3), write, 4);
        let notes = left_open(&first.facts, &first.observations, &Memo::default(), first.budget);
        let hint = notes[0].hint.clone().unwrap();
        let figure: u64 = hint.split(&[' ', 'M'][..]).find_map(|word| word.parse().ok()).expect("a figure");
        let second = session(Card::new((8, 8), 3), Bytes::mib(figure), 4);
        let left = left_open(&second.facts, &second.observations, &Memo::default(), second.budget);
        assert!(left.is_empty(), "{hint}: {left:?}");
    }
}

#[test]
fn the_right_identity_is_never_printed_for_copying() {
    let mut session = session(Card::new((8, 8), 3), Bytes::ZERO, 4);
    let hint = |facts: &DeviceFacts, session: &Session| {
        let notes = left_open(facts, &session.observations, &Memo::default(), session.budget);
        notes.into_iter().filter_map(|note| note.hint).collect::<String>()
    };
    assert!(hint(&session.facts, &session).contains("--read-only"));
    session.facts.simulated = false;
    session.facts.identity = Some(Identity("0x1234:7948206080".into()));
    let real = hint(&session.facts, &session);
    assert!(!real.contains("0x1234") && real.contains("flashscope list"), "{real}");
    session.facts.kind = DeviceKind::File;
    assert!(hint(&session.facts, &session).contains("--allow-write"));
}

#[test]
fn a_memo_changes_no_answer() {
    let facts = Card::new((8, 8), 3).facts();
    let (mut card, memo) = (Card::new((8, 8), 3), Memo::default());
    let budget = Budget { write: Bytes::ZERO, time: None };
    let mut observations = Observations { capacity: Some(facts.capacity), runs: Vec::new(), ..Observations::default() };
    while let Some(choice) = next(&facts, &observations, &memo, budget, 3) {
        assert_eq!(next(&facts, &observations, &Memo::default(), budget, 3).as_ref(), Some(&choice));
        observations.runs.push(card.run(&choice.experiment).expect("an experiment that the card can answer"));
    }
    assert!(observations.runs.len() > 3, "{observations:?}");
    assert_eq!(infer_with(None, &observations, &memo), infer(&observations));
}
