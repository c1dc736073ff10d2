use super::*;
use flashscope_model::finding::Doubt;
use flashscope_model::{ExperimentName, Reason};
use flashscope_units::Bytes;

fn page(score: f64, doubts: &[Doubt]) -> Claim {
    let found = Estimate::known(Bytes::kib(16), score, "e", &[ExperimentName::Boundaries]);
    let found = found.with_doubts(doubts.iter().copied());
    Claim::of(Finding::Page, &found).unwrap()
}

/// Of clear answers one in a hundred is wrong, of others one in five; with a doubt every other one.
fn counted() -> Table {
    let plain = (0..2000).map(|number| match number % 2 {
        0 => (page(0.99, &[]), number % 200 != 0),
        _ => (page(0.7, &[]), number % 10 != 1),
    });
    let doubted = (0..100).map(|number| (page(0.99, &[Doubt::Blank]), number % 2 == 0));
    table(&plain.chain(doubted).collect::<Vec<_>>())
}

#[test]
fn the_shipped_table_can_be_read() {
    assert_eq!(Table::parse(&shipped().to_text("")), Ok(shipped().clone()));
    assert!(worth(shipped(), &page(0.99, &[])).is_some());
}

#[test]
fn a_share_is_that_of_the_like_in_the_same_range() {
    let table = counted();
    let right = |claim: &Claim| worth(&table, claim).unwrap().right;
    assert!((right(&page(0.99, &[])) - 0.99).abs() < 0.02, "{}", right(&page(0.99, &[])));
    assert!((right(&page(0.7, &[])) - 0.8).abs() < 0.02, "{}", right(&page(0.7, &[])));
    let blank = right(&page(0.99, &[Doubt::Blank]));
    assert!((blank - 0.5).abs() < 0.1, "{blank}");
    // A doubt that was never seen: no more than of what contradicts itself, and no more than without it.
    assert_eq!(right(&page(0.99, &[Doubt::Blurred])), UNCOUNTED);
    let both = right(&page(0.99, &[Doubt::Blank, Doubt::Blurred]));
    assert!((both - blank).abs() < 0.05, "{both} {blank}");
    // A bound was never counted: what is known of answers on the page at all.
    let bound = Estimate::at_most(Bytes::kib(16), 0.99, "e", &[ExperimentName::Boundaries]);
    let bound = Claim::of(Finding::Page, &bound).unwrap();
    assert!((0.8..0.99).contains(&right(&bound)), "{}", right(&bound));
}

#[test]
fn a_finding_that_was_never_counted_keeps_its_score_and_none_keeps_its_doubts() {
    let mut geometry = Geometry::unknown(Reason::NotMeasured);
    geometry.page = Estimate::known(Bytes::kib(16), 0.99, "a step", &[ExperimentName::Boundaries]).but(Doubt::Blank);
    geometry.allocation_unit = Estimate::known(Bytes::mib(4), 0.77, "a step", &[ExperimentName::Boundaries]);
    settle(&mut geometry, &counted());
    assert_eq!(geometry.allocation_unit.confidence(), Some(0.77));
    assert!(!geometry.page.has_doubt(Doubt::Blank));
    assert!(geometry.page.evidence().contains("such answers on known devices"), "{}", geometry.page.evidence());
}

#[test]
fn grounds_are_named_from_coarse_to_fine() {
    let names = page(0.9, &[Doubt::Blank, Doubt::OneBlock]).grounds.coarse_to_fine();
    let [source, kind] = ["probes", "probes value"];
    let [first, both, only] =
        ["probes value one-block", "probes value one-block blank", "probes value one-block blank only"];
    assert_eq!(names, [source, kind, first, both, only]);
}

#[test]
fn a_score_of_any_size_is_a_finite_clearness() {
    let check = |score: f64, expect: f64| assert_eq!(page(score, &[]).clearness(), expect, "{score}");
    check(0.5, 0.0);
    check(0.9, 2.2);
    check(1.0, 20.0);
    check(0.0, -20.0);
    check(f64::NAN, 0.0);
}
