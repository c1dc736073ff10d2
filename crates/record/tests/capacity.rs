//! The part of a test of the capacity.

use flashscope_model::capacity::{
    Between, CapacityRecord, DamagedShare, Found, Genuineness, Place, Quick, Round, Run, Verdict,
};
use flashscope_model::envelope::Tool;
use flashscope_model::{Envelope, Kind};
use flashscope_record::{from_json, read, schema, to_json};
use flashscope_units::Bytes;
use serde_json::Value;

fn places(from: u64) -> Vec<Place> {
    let found = [
        Found::Kept,
        Found::Elsewhere(Bytes(512)),
        Found::Uniform(0xff),
        Found::Other,
        Found::WriteFailed,
        Found::ReadFailed,
    ];
    found.into_iter().zip(from..).map(|(found, at)| Place { at: Bytes(at * 4096), found }).collect()
}

fn record() -> CapacityRecord {
    let runs = places(0).into_iter().map(|place| Run { at: place.at, length: Bytes(4096), found: place.found });
    CapacityRecord {
        envelope: Envelope::new(Kind::Capacity, Tool::default(), "capacity", "card.img"),
        verdict: Verdict {
            kind: Some(Genuineness::WrapAround),
            likely: vec![(Genuineness::WrapAround, 0.98), (Genuineness::Chain, 0.02)],
            true_size: Some(Between { low: Bytes::mib(1), high: Bytes::mib(1) }),
            size_confidence: Some(0.97),
            wrap: Some(Bytes::mib(1)),
            damaged: Some(DamagedShare { share: 0.1, low: 0.05, high: 0.15 }),
            evidence: vec!["what came back".to_owned()],
            excluded: vec!["limbo".to_owned()],
            open: vec!["a larger cache".to_owned()],
        },
        generation: 77,
        quick: Quick {
            claimed: Bytes::mib(8),
            block: Bytes(512),
            gap: Bytes(9000),
            region: Bytes::kib(64),
            places: places(16),
            region_holds: runs.collect(),
            checks: places(100),
            rounds: vec![Round { places: places(200), controls: places(300), pushed: Bytes::kib(8) }],
            written: Bytes::kib(99),
        },
    }
}

#[test]
fn a_test_of_the_capacity_comes_back_whole_and_follows_the_schema() {
    let text = to_json(&record());
    assert_eq!(from_json::<CapacityRecord>(&text).unwrap(), record());
    assert_eq!(read(&text).unwrap().envelope().kind, Kind::Capacity);
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema(None)).unwrap()).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn contradictions_are_refused() {
    let check = |from: &str, to: &str| {
        let text = to_json(&record());
        assert!(text.contains(from), "{from}");
        let error = from_json::<CapacityRecord>(&text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains("places") || error.contains("holds"), "{error}");
    };
    check("\"elsewhere_from_bytes\": [512]", "\"elsewhere_from_bytes\": []");
    check("\"holds\": \"elsewhere\"", "\"holds\": \"kept\"");
}
