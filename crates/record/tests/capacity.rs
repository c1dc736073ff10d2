//! The part of a test of the capacity.

use flashscope_model::capacity::{
    Between, CapacityRecord, Cell, DamagedShare, Directory, Found, Full, Genuineness, HashAlgorithm, Hashes, PassOrder,
    Place, Quick, Round, Run, Totals, Verdict,
};
use flashscope_model::envelope::Tool;
use flashscope_model::{Envelope, Kind};
use flashscope_record::{from_json, read, schema, to_json};
use flashscope_units::{Bytes, Nanos};
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
        quick: Some(Quick {
            claimed: Bytes::mib(8),
            block: Bytes(512),
            gap: Bytes(9000),
            region: Bytes::kib(64),
            places: places(16),
            region_holds: runs.collect(),
            checks: places(100),
            rounds: vec![Round { places: places(200), controls: places(300), pushed: Bytes::kib(8) }],
            written: Bytes::kib(99),
        }),
        full: Some(full()),
    }
}

fn full() -> Full {
    let cell = |at: u64, write_time: Option<Nanos>| Cell {
        at: Bytes::mib(at),
        length: Bytes::mib(1),
        write_time,
        read_time: write_time.map(|time| time / 2),
        bad: Bytes(512),
    };
    Full {
        directory: Some(Directory { path: "/mnt".to_owned(), files: 2 }),
        claimed: Bytes::mib(8),
        block: Bytes(512),
        order: PassOrder::Shuffled,
        request: Bytes::mib(1),
        written: Bytes::mib(7),
        verified: Bytes::mib(6),
        pushed: Bytes::kib(512),
        totals: Totals {
            kept: Bytes(1),
            changed: Bytes(2),
            elsewhere: Bytes(3),
            unwritten: Bytes(4),
            unreadable: Bytes(5),
        },
        cells: vec![cell(0, Some(Nanos(1000))), cell(1, None)],
        bad: vec![Run { at: Bytes(512), length: Bytes(512), found: Found::Elsewhere(Bytes(0)) }],
        bad_left_out: 3,
        first_bad: Some(Bytes(512)),
        hashes: Some(Hashes { algorithm: HashAlgorithm::Sha256, written: "00ff".to_owned(), read: None }),
        sessions: 2,
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
        assert!(["places", "holds", "cells"].iter().any(|part| error.contains(part)), "{error}");
    };
    check("\"elsewhere_from_bytes\": [512]", "\"elsewhere_from_bytes\": []");
    check("\"holds\": \"elsewhere\"", "\"holds\": \"kept\"");
    check("\"read_time_ns\": [", "\"read_time_ns\": [7,");
}
