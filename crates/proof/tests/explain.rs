//! A small part of `scripts/prove explain`: known causes in, their names out, and none where there is none.

use flashscope_proof::explain::{Kind, Named, draw, named, of_models, of_records, workload};
use rayon::prelude::*;

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
fn devices_known_by_their_records_are_not_told_from_themselves() {
    let pairs = (0..9).filter_map(|number| {
        let work = workload(u64::from(number));
        Some((draw(Kind::Nothing, SEED, number, &work)?, work))
    });
    let pairs: Vec<_> = pairs.take(4).collect();
    let named: Vec<Named> =
        pairs.into_par_iter().with_max_len(1).map(|(pair, work)| named(&of_records(&pair, &work).unwrap())).collect();
    assert_eq!(named, vec![Named::Nothing; 4]);
}
