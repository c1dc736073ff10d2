//! A small part of `scripts/prove explain`: known causes in, their names out, and none where there is none.

use flashscope_proof::explain::{Kind, Named, draw, named, of_models, of_records, workload};

/// Nobody tunes with it; that of docs/explain.md is another one.
const SEED: u64 = 4_711;

#[test]
fn a_cause_is_named_and_none_is_invented() {
    let mut pairs = 0;
    for number in 0..12 {
        let work = workload(u64::from(number));
        if let Some(pair) = draw(Kind::One, SEED, number, &work) {
            let answer = of_models(&pair, &work).unwrap();
            assert!(named(&answer).is(pair.causes[0]), "{number}: {:?} is named {:?}", pair.causes, named(&answer));
            let all: f64 = answer.shares.iter().map(|share| share.gap.time_ns).sum();
            let difference = answer.difference.time_ns;
            assert!((all - difference).abs() <= 0.001 * difference.abs(), "{number}: {all} of {difference}");
            pairs += 1;
        }
        for kind in [Kind::Nothing, Kind::Untouched] {
            let Some(pair) = draw(kind, SEED, number, &work) else { continue };
            assert_eq!(named(&of_models(&pair, &work).unwrap()), Named::Nothing, "{number}: {:?}", pair.causes);
        }
    }
    assert!(pairs >= 3, "{pairs} pairs");
}

#[test]
fn a_device_known_by_its_record_is_not_told_from_itself() {
    let work = workload(1);
    let pair = (0..9).find_map(|number| draw(Kind::Nothing, SEED, number, &work)).expect("a card");
    assert_eq!(named(&of_records(&pair, &work).unwrap()), Named::Nothing);
}
