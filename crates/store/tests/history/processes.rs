//! Two programs at once, and one that is killed in the middle.

use crate::harness::{Place, Run, bench};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

#[test]
fn programs_that_add_at_once_lose_nothing() {
    let place = Place::new();
    // Of the 60 records each 20 are common to neighbours, so that the same bytes meet as well.
    let words: Vec<Vec<String>> = (0..4)
        .map(|part| (part * 10..part * 10 + 30).map(|n| place.file(&format!("{part}-{n}.json"), &bench(n))).collect())
        .collect();
    let children: Vec<_> = words
        .iter()
        .map(|files| {
            let mut command = place.command(&["add", "-q"]);
            command.args(files).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        Run::from(child.wait_with_output().unwrap()).expect(0);
    }
    let kept = everything(&place);
    assert_eq!(kept, (0..60).map(bench).collect());
}

#[test]
fn a_kill_in_the_middle_loses_nothing_that_was_said_to_be_kept() {
    let place = Place::new();
    let files: Vec<String> = (0..320).map(|n| place.file(&format!("{n}.json"), &bench(n))).collect();
    let mut seen_in_the_middle = false;
    for round in 0..6 {
        let mut child = place.command(&["add"]).args(&files).stderr(Stdio::piped()).spawn().unwrap();
        // Killed later from round to round, measured from the first that is said to be kept; the last rounds often end by themselves.
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut told = Vec::new();
        told.extend(lines.next());
        std::thread::sleep(Duration::from_millis(5 + 25 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        told.extend(lines);
        let told: Vec<String> = told.into_iter().flatten().filter(|line| line.contains(" as ")).collect();
        let kept = everything(&place);
        for line in &told {
            let file = line.split_once(": ").expect("a file").1;
            assert!(kept.contains(&std::fs::read_to_string(file).unwrap()), "{line}, but it is not there");
        }
        seen_in_the_middle |= !told.is_empty() && told.len() < files.len();
    }
    assert!(seen_in_the_middle, "no kill came in the middle");
    // Whoever comes next finds a whole file, and finishes.
    place.run(&[&["add", "-q"], files.iter().map(String::as_str).collect::<Vec<_>>().as_slice()].concat()).expect(0);
    assert_eq!(everything(&place).len(), 320);
}

#[test]
fn a_file_that_is_held_is_waited_for_and_then_named() {
    let place = Place::new();
    let record = place.file("a.json", &bench(1));
    place.run(&["add", &record]).expect(0);
    let other = Connection::open(place.store()).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let waiting = place.command(&["add", &place.file("b.json", &bench(2))]).stderr(Stdio::piped()).spawn().unwrap();
    place.run(&["list"]).refused("another program is writing");
    other.execute_batch("COMMIT").unwrap();
    // It began waiting at the same time, so it may have given up just before; no third outcome is right.
    let run = Run::from(waiting.wait_with_output().unwrap());
    if run.code != Some(0) {
        run.refused("another program is writing");
    }
    place.run(&["list"]).expect(0);
}

/// The texts of all records, after a look at the whole file.
fn everything(place: &Place) -> BTreeSet<String> {
    let sound: String =
        Connection::open(place.store()).unwrap().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    let listed = place.json(&["list", "--json", "--limit", "10000"]);
    let ids: Vec<String> = listed.as_array().unwrap().iter().map(|one| one["id"].to_string()).collect();
    let texts: BTreeSet<String> = ids.iter().map(|id| place.run(&["show", id, "--json"]).stdout).collect();
    assert_eq!(texts.len(), ids.len(), "a record is there twice");
    texts
}
