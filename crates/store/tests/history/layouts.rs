//! Histories of earlier layouts: brought up to date with nothing lost, and kept beside.

use crate::harness::{Place, bench, old};
use rusqlite::Connection;

/// Written by the program of layout 1, of these records.
const FIRST: &[u8] = include_bytes!("layout-1.db");
const IN_FIRST: [&str; 4] = ["bench", "probe", "iozone", "infer"];

#[test]
fn an_older_layout_is_brought_up_to_date_with_a_copy_kept() {
    let place = Place::new();
    std::fs::write(place.store(), FIRST).unwrap();
    let listed = place.json(&["list", "--json"]);
    assert_eq!(listed.as_array().unwrap().len(), 4);
    for (id, kind) in (1..).zip(IN_FIRST) {
        let id: u32 = id;
        let text = std::fs::read_to_string(old(kind)).unwrap();
        assert_eq!(place.run(&["show", &id.to_string(), "--json"]).stdout, text);
    }
    // Figures come from the records, not from what the older layout knew of them.
    let figures = place.json(&["trend", "--json"]);
    assert!(figures.as_array().unwrap().iter().any(|figure| figure["unit"] == "ns"), "{figures}");
    // The copy is what the older program can still read.
    let copy = Connection::open(place.path("history.db.layout-1")).unwrap();
    let version: i64 = copy.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    let kept: i64 = copy.query_row("SELECT count(*) FROM body", [], |row| row.get(0)).unwrap();
    assert_eq!((version, kept), (1, 4));
    place.run(&["add", &place.file("a.json", &bench(1))]).expect(0);
    assert_eq!(place.json(&["list", "--json"]).as_array().unwrap().len(), 5);
    // Another older file in the same place does not cost the first copy.
    std::fs::write(place.store(), FIRST).unwrap();
    place.run(&["list"]).expect(0);
    assert!(place.path("history.db.layout-1").is_file() && place.path("history.db.layout-1-2").is_file());
}

#[test]
fn many_programs_bring_one_file_up_to_date_once() {
    let place = Place::new();
    std::fs::write(place.store(), FIRST).unwrap();
    let children: Vec<_> = (0..6)
        .map(|n| {
            let file = place.file(&format!("{n}.json"), &bench(n));
            place.command(&["add", "-q", &file]).stderr(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        crate::harness::Run::from(child.wait_with_output().unwrap()).expect(0);
    }
    assert_eq!(place.json(&["list", "--json"]).as_array().unwrap().len(), 10);
    let beside = std::fs::read_dir(place.path("")).unwrap().flatten();
    let copies = beside.filter(|entry| entry.file_name().to_string_lossy().starts_with("history.db.")).count();
    assert_eq!(copies, 1, "one copy, and nothing else left behind");
    let sound: String =
        Connection::open(place.store()).unwrap().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
}
