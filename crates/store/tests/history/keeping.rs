//! What goes in comes out: whole, once, and as asked for.

use crate::harness::{Place, Run, bench, old};
use std::io::Write;
use std::process::Stdio;

#[test]
fn records_of_every_kind_and_of_old_versions_come_back_byte_for_byte() {
    let place = Place::new();
    let kinds = ["bench", "bench-preset", "fleet", "infer", "inspect", "iozone", "probe", "twin"];
    let files: Vec<String> = kinds.iter().map(|kind| old(kind).to_str().unwrap().to_owned()).collect();
    let now = place.file("now.json", &bench(1));
    let all: Vec<&str> = ["add", "--json"].into_iter().chain(files.iter().map(String::as_str)).chain([&*now]).collect();
    let kept = place.json(&all);
    let kept = kept.as_array().unwrap();
    assert_eq!(kept.len(), 9);
    for one in kept {
        assert_eq!(one["new"], true);
        let shown = place.run(&["show", &one["id"].to_string(), "--json"]);
        shown.expect(0);
        assert_eq!(shown.stdout, std::fs::read_to_string(one["file"].as_str().unwrap()).unwrap());
    }
    let listed = place.json(&["list", "--json"]);
    assert_eq!(listed.as_array().unwrap().len(), 9);
    let found = |kind: &str| listed.as_array().unwrap().iter().filter(|one| one["kind"] == kind).count();
    assert_eq!((found("bench"), found("twin"), found("inspect")), (3, 1, 1));
}

#[test]
fn the_same_bytes_are_kept_once_and_any_other_byte_is_another_record() {
    let place = Place::new();
    let file = place.file("a.json", &bench(1));
    let same = place.file("b.json", &bench(1));
    let other = place.file("c.json", &format!("{}\n", bench(1)));
    let kept = place.json(&["add", "--json", &file, &same, &other, &file]);
    let told: Vec<(i64, bool)> =
        kept.as_array().unwrap().iter().map(|one| (one["id"].as_i64().unwrap(), one["new"] == true)).collect();
    assert_eq!(told, [(1, true), (1, false), (2, true), (1, false)]);
    assert_eq!(place.json(&["list", "--json"]).as_array().unwrap().len(), 2);
}

#[test]
fn what_is_no_record_costs_the_others_nothing() {
    let place = Place::new();
    let (good, after) = (place.file("good.json", &bench(1)), place.file("after.json", &bench(2)));
    let bad = place.file("bad.json", "{\"schema\": \"flashscope.record/2\", \"kind\": \"be");
    let array = place.file("array.json", &format!("[{}]", bench(3)));
    std::fs::write(place.path("noise"), [0xff, 0xfe, 0x00]).unwrap();
    let noise = place.path("noise");
    let run = place.run(&["add", &good, &bad, "nowhere.json", &array, noise.to_str().unwrap(), &after]);
    run.expect(2);
    for file in ["bad.json", "nowhere.json", "array.json", "noise"] {
        let line = run.stderr.lines().find(|line| line.starts_with("error: ") && line.contains(file));
        assert!(line.is_some(), "{file}: {}", run.stderr);
    }
    assert_eq!(run.stderr.matches("kept as").count(), 2, "{}", run.stderr);
    assert_eq!(run.stderr.matches("hint: ").count(), 4, "{}", run.stderr);
    assert_eq!(place.json(&["list", "--json"]).as_array().unwrap().len(), 2);
}

#[test]
fn a_record_comes_from_a_pipe_quietly() {
    let place = Place::new();
    let mut child = place
        .command(&["add", "-", "--quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bench(4).as_bytes()).unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    run.expect(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    assert_eq!(place.run(&["show", "1", "--json"]).stdout, bench(4));
}

#[test]
fn a_list_is_of_what_was_asked_for_newest_first() {
    let place = Place::new();
    let files: Vec<String> = (0..40).map(|n| place.file(&format!("{n}.json"), &bench(n * 24))).collect();
    let mut words = vec!["add", "-q"];
    words.extend(files.iter().take(28).map(String::as_str));
    place.run(&words).expect(0);
    let ids = |words: &[&str]| {
        let listed = place.json(words);
        listed.as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&["list", "--json", "--limit", "3"]), [28, 27, 26]);
    assert_eq!(ids(&["list", "--json", "--since", "2026-03-27"]), [28, 27]);
    assert_eq!(ids(&["list", "--json", "--since", "2026-03-28T00:00:00Z"]), [28]);
    assert!(ids(&["list", "--json", "--kind", "twin"]).is_empty());
    assert!(ids(&["list", "--json", "--target", "another"]).is_empty());
    let all = place.json(&["list", "--json", "--limit", "1000"]);
    let target = all[0]["target"].as_str().unwrap().to_owned();
    assert_eq!(ids(&["list", "--json", "--target", &target]).len(), 28);
    let table = place.run(&["list", "--limit", "5"]);
    assert!(table.stdout.lines().all(|line| line.chars().count() <= 80), "{}", table.stdout);
    assert!(table.stdout.contains("2026-03-28 00:00") && table.stdout.contains("--limit N"), "{}", table.stdout);
    for wrong in ["yesterday", "2026-13-01", "12", "-5d", "now", "30 d", "99999999999d"] {
        place.run(&["list", &format!("--since={wrong}")]).refused("is no point in time");
    }
}

#[test]
fn without_a_store_it_lies_where_the_specification_says() {
    let place = Place::new();
    let file = place.file("a.json", &bench(1));
    let run = |words: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_flashscope-history"));
        command.args(words).env("HOME", place.path("home")).env_remove("XDG_DATA_HOME");
        command
    };
    let of = |mut command: std::process::Command| Run::from(command.output().unwrap());
    of(run(&["list"])).refused("there is no history");
    of(run(&["add", &file])).expect(0);
    assert!(place.path("home/.local/share/flashscope/history.db").is_file());
    let mut elsewhere = run(&["add", &file]);
    elsewhere.env("XDG_DATA_HOME", place.path("data"));
    of(elsewhere).expect(0);
    assert!(place.path("data/flashscope/history.db").is_file());
    let mut nowhere = run(&["list"]);
    nowhere.env_remove("HOME").env("XDG_DATA_HOME", "relative");
    of(nowhere).refused("neither XDG_DATA_HOME nor HOME");
}
