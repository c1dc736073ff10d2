//! A full test of the capacity in every form of the report.

use flashscope_model::capacity::{
    CapacityRecord, Cell, Directory, Found, Full, Genuineness, HashAlgorithm, Hashes, Run, Totals, Verdict,
};
use flashscope_model::envelope::Tool;
use flashscope_model::{Envelope, Kind};
use flashscope_report::Style;
use flashscope_report::capacity::{csv, html, markdown, sheets, terminal};
use flashscope_units::{Bytes, Nanos};

const PLAIN: Style = Style { colour: false, width: 100, verbose: true };

/// 100 MiB, of which the last 36 MiB are gone, at 10 MiB/s written and 100 MiB/s read.
fn record() -> CapacityRecord {
    let cell = |number: u64| Cell {
        at: Bytes::mib(4) * number,
        length: Bytes::mib(4),
        write_time: Some(Nanos::millis(if number == 3 { 800 } else { 400 })),
        read_time: Some(Nanos::millis(40)).filter(|_| number < 24),
        bad: if number < 16 { Bytes::ZERO } else { Bytes::mib(4) },
    };
    CapacityRecord {
        envelope: Envelope::new(Kind::Capacity, Tool::default(), "capacity", "card.img"),
        verdict: Verdict {
            kind: Some(Genuineness::Limbo),
            likely: vec![(Genuineness::Limbo, 0.99)],
            ..Verdict::default()
        },
        generation: 7,
        quick: None,
        full: Some(Full {
            claimed: Bytes::mib(100),
            block: Bytes(512),
            request: Bytes::mib(1),
            written: Bytes::mib(100),
            verified: Bytes::mib(96),
            totals: Totals { kept: Bytes::mib(64), changed: Bytes::mib(32), ..Totals::default() },
            cells: (0..25).map(cell).collect(),
            bad: vec![
                Run { at: Bytes::mib(64), length: Bytes::mib(30), found: Found::Uniform(0) },
                Run { at: Bytes::mib(94), length: Bytes::mib(2), found: Found::Elsewhere(Bytes::mib(5)) },
            ],
            bad_left_out: 5,
            first_bad: Some(Bytes::mib(64)),
            hashes: Some(Hashes { algorithm: HashAlgorithm::Md5, written: "a1".to_owned(), read: None }),
            sessions: 2,
            ..Full::default()
        }),
    }
}

#[test]
fn a_full_test_is_shown_in_every_form() {
    let record = record();
    let text = terminal(&record, PLAIN);
    for said in [
        "card.img   says 100 MiB",
        "100 MiB written, 96 MiB read back of 100 MiB, in order, in 2 sessions",
        "32 MiB changed",
        "64 MiB (67108864 bytes)",
        "Speed over address",
        "5 stretches left out",
        "md5 a1",
        "not all could be read: DIFFERENT",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    for form in [markdown(&record), html(&record)] {
        assert!(form.contains("Speed over address") && form.contains("written to another address"), "{form}");
    }
    let names: Vec<String> = sheets(&record).iter().map(|sheet| sheet.name.clone()).collect();
    assert_eq!(names, ["speed", "bad", "verdict"]);
    let csv = csv(&record);
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("address_bytes,length_bytes,write_time_ns,read_time_ns,bad_bytes"));
    assert_eq!(lines.next(), Some("0,4194304,400000000,40000000,0"));
    assert_eq!(csv.lines().last(), Some("100663296,4194304,400000000,,4194304"));
}

#[test]
fn files_are_named() {
    let mut record = record();
    if let Some(full) = &mut record.full {
        full.directory = Some(Directory { path: "/mnt/card".to_owned(), files: 3 });
    }
    assert!(terminal(&record, PLAIN).contains("3 in /mnt/card"));
}
