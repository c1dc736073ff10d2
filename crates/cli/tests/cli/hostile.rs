//! Names, files and numbers of somebody who means harm: nothing of them is acted on, and all is answered at once.

use crate::harness::{Run, fixture, flashscope, scratch};
use std::path::Path;

/// A name that clears the screen, sets a title, reverses the line, runs a script, a link and a formula.
const NAME: &str = "=1+1|\x1b[2J\x1b]0;x\x07\u{9b}31m\u{202e}gpj<script>a</script>[x](javascript:y)`*";

/// Nothing that a terminal acts on, whatever comes of it.
fn harmless(run: &Run, what: &str) {
    for (stream, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        let acts = |letter: char| {
            (letter.is_control() && letter != '\n' && letter != '\t') || ('\u{202a}'..='\u{202e}').contains(&letter)
        };
        assert!(!text.chars().any(acts), "{what}: {stream} holds {:?}", text.chars().find(|letter| acts(*letter)));
    }
}

/// A model file whose product has that name.
fn hostile_card(folder: &Path) {
    let model = flashscope(&["sim", "show", "sd-4mib"]).run();
    model.expect(0);
    let name: String = NAME.chars().map(|letter| format!("\\U{:08x}", u32::from(letter))).collect();
    let text = model.stdout.replace("product = \"SD08G\"", &format!("product = \"{name}\""));
    assert_ne!(text, model.stdout, "the name stands in the model");
    std::fs::write(folder.join("card.toml"), text).expect("a scratch file");
}

fn in_folder(folder: &Path, arguments: &[&str]) -> Run {
    flashscope(arguments).current_dir(folder).run()
}

#[test]
fn a_hostile_device_name_reaches_no_form_of_a_report() {
    let folder = scratch();
    hostile_card(&folder);
    for (command, file) in [
        (vec!["probe", "floor", "sim:./card.toml", "--count", "20", "--json"], "record.json"),
        (vec!["bench", "sim:./card.toml", "--rw", "read", "--size", "64k", "--json"], "bench.json"),
    ] {
        let made = in_folder(&folder, &command);
        made.expect(0);
        harmless(&made, file);
        std::fs::write(folder.join(file), &made.stdout).expect("a scratch file");
        let kept: serde_json::Value = serde_json::from_str(&made.stdout).expect("JSON");
        assert_eq!(kept["device"]["name"], NAME, "the record holds the name as it is");
        for form in ["text", "csv", "markdown"] {
            let shown = in_folder(&folder, &["report", file, "--format", form]);
            if (file, form) == ("bench.json", "markdown") {
                continue;
            }
            shown.expect(0);
            harmless(&shown, form);
            let saved = in_folder(&folder, &["report", file, "--format", form, "-o", "out"]);
            saved.expect(0);
            let saved = std::fs::read_to_string(folder.join("out")).expect("a report");
            assert!(!saved.contains(['\x1b', '\u{9b}', '\u{202e}']), "{form}: {saved}");
            std::fs::remove_file(folder.join("out")).expect("a report");
            match form {
                "csv" => {
                    assert!(!saved.lines().flat_map(|line| line.split(',')).any(|field| field.starts_with("=1+1")))
                }
                "markdown" => {
                    assert!(!saved.contains("<script>") && !saved.contains("[x](javascript"), "{saved}");
                }
                _ => {}
            }
        }
    }
}

#[test]
fn a_hostile_file_name_is_shown_and_not_acted_on() {
    let folder = scratch();
    let name = "\x1b[2J\u{9b}31m\u{202e}gol.txt";
    harmless(&in_folder(&folder, &["report", name]), "a file that is not there");
    harmless(&in_folder(&folder, &["infer", name]), "a file that is not there");
    harmless(&in_folder(&folder, &["bench", "--job", name, "sim:sd-4mib"]), "a job file that is not there");
    harmless(&in_folder(&folder, &["inspect", name]), "a target that is not there");
    harmless(&in_folder(&folder, &["inspect", "--max-time", name]), "a time that is none");
    std::fs::copy(fixture("transcripts/sd-card-4mib.txt"), folder.join(name)).expect("a scratch file");
    let read = in_folder(&folder, &["infer", name]);
    harmless(&read, "a log");
    assert!(read.stdout.contains("\\u001b[2J"), "{}", read.stdout);
    std::fs::write(folder.join(name), format!("{NAME}\n")).expect("a scratch file");
    harmless(&in_folder(&folder, &["infer", name]), "a log without tables");
    harmless(&in_folder(&folder, &["report", name]), "no record");
    harmless(&in_folder(&folder, &["inspect", name, "--read-only", "--no-files"]), "a file as a target");
}

#[test]
fn numbers_out_of_range_are_answered_at_once() {
    let folder = scratch();
    let refused = |arguments: &[&str], expect: &str| {
        let run = in_folder(&folder, arguments);
        run.expect(2);
        assert!(run.stderr.contains(expect), "{arguments:?}: {}", run.stderr);
    };
    refused(&["fleet", "--devices", "4294967295"], "1..=1000000");
    refused(&["fleet", "--devices", "2", "--first", "4294967295"], "..=1000000000");
    refused(&["probe", "align", "sim:sd-4mib", "--places", "4294967295"], "1..=1000000");
    refused(&["probe", "open-au", "sim:sd-4mib", "--open-au-nr", "4294967295"], "1..=65536");
    refused(&["inspect", "--max-time", "100000h"], "more than a year");
    refused(
        &["inspect", "sim:sd-4mib,mapping.small.pages=4294967295"],
        "mapping.small.pages (4294967295) must lie between",
    );
    let jobs: String = (0..100_000).map(|number| format!("[job{number}]\nrw=read\nsize=4k\n")).collect();
    std::fs::write(folder.join("many.fio"), jobs).expect("a scratch file");
    refused(&["bench", "fio", "many.fio"], "more than 1024 jobs");
    let jobs: String = (0..2000).map(|_| "[[job]]\nrw = \"read\"\n").collect();
    std::fs::write(folder.join("many.toml"), jobs).expect("a scratch file");
    refused(&["bench", "sim:sd-4mib", "--job", "many.toml"], "more than 1024");
}

#[test]
fn a_record_with_an_impossible_number_is_refused_by_its_path() {
    let folder = scratch();
    let made = in_folder(&folder, &["probe", "floor", "sim:sd-4mib", "--count", "20", "--json"]);
    let mut record: serde_json::Value = serde_json::from_str(&made.stdout).expect("JSON");
    record["device"]["capacity_bytes"] = u64::MAX.into();
    std::fs::write(folder.join("record.json"), record.to_string()).expect("a scratch file");
    for command in [vec!["infer", "record.json"], vec!["report", "record.json", "--format", "html"]] {
        let run = in_folder(&folder, &command);
        run.expect(2);
        assert!(run.stderr.contains("device.capacity_bytes is out of its range"), "{}", run.stderr);
    }
}
