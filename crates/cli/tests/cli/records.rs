//! One envelope for every kind of record: what it says, that it follows its schema, and that every kind is shown in every form.

use crate::harness::{Run, fixture, flashscope, scratch};
use serde_json::Value;
use std::path::Path;

const DONE: i32 = 0;
const CANNOT: i32 = 2;

const KINDS: [&str; 11] =
    ["inspect", "probe", "infer", "state", "integrity", "bench", "iozone", "fleet", "twin", "compare", "trace"];

/// A small record of this kind, made by the command that makes it.
fn made(kind: &str, folder: &Path) -> Run {
    let log = fixture("field/pqi-32gb.txt");
    let traced = fixture("traces/mixed.blkparse.txt");
    let runs = folder.join("runs.csv").display().to_string();
    std::fs::write(&runs, "label,metric,unit,value\na,w,MB/s,9\na,w,MB/s,9.1\nb,w,MB/s,8\nb,w,MB/s,8.2\n").unwrap();
    let arguments: Vec<&str> = match kind {
        "inspect" => vec!["inspect", "sim:sd-flat", "--read-only", "--max-time", "400ms", "--json"],
        "probe" => vec!["probe", "floor", "sim:sd-flat", "--count", "20", "--json"],
        "integrity" => vec!["integrity", "sim:sd-4mib", "-n", "6", "--json"],
        "state" => vec!["state", "sim:sd-flat", "--read-only", "--json"],
        "infer" => vec!["infer", &log, "--json"],
        "bench" => vec!["bench", "card.img", "--rw", "randread", "--size", "1M", "--repeat", "2", "--json"],
        "iozone" => vec!["bench", "iozone", "-s", "64", "-r", "16", "-i", "0", "-i", "1", "--json"],
        "fleet" => vec!["fleet", "-n", "1", "--max-write", "1MiB", "--max-time", "300ms", "--no-naive", "--json"],
        "twin" => vec!["twin", "fit", &log, "-o", "twin.toml", "--json"],
        "compare" => vec!["compare", &runs, "--json"],
        "trace" => vec!["trace", "replay", &traced, "sim:ssd-consumer,capacity=256MiB", "--json"],
        other => panic!("{other}"),
    };
    std::fs::write(folder.join("card.img"), vec![7u8; 4 << 20]).unwrap();
    let run = flashscope(&arguments).current_dir(folder).run();
    run.expect(DONE);
    run
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("one JSON document")
}

#[test]
fn every_kind_has_the_same_envelope_and_follows_its_schema() {
    let folder = scratch();
    let schema = |arguments: &[&str]| {
        let run = flashscope(&[&["schema"], arguments].concat()).run();
        run.expect(DONE);
        jsonschema::validator_for(&json(&run.stdout)).expect("a schema")
    };
    let whole = schema(&[]);
    let mut before: Option<Vec<String>> = None;
    for kind in KINDS {
        let record = json(&made(kind, &folder).stdout);
        for validator in [&whole, &schema(&[kind])] {
            let errors: Vec<String> = validator.iter_errors(&record).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{kind}: {errors:?}");
        }
        assert_eq!(record["kind"], kind);
        let tool = &record["tool"];
        assert!(
            tool["version"].is_string() && tool["target"].as_str().is_some_and(|target| target.contains('-')),
            "{tool}"
        );
        assert_eq!(record["ended"]["how"], if kind == "inspect" { "budget_spent" } else { "complete" }, "{kind}");
        let real = ["bench", "iozone"].contains(&kind);
        for field in ["host", "started", "finished"] {
            assert_eq!(record[field].is_null(), !real, "{kind}: {field}");
        }
        assert_eq!(record["conditions"]["before"].as_array().unwrap().is_empty(), !real, "{kind}");
        assert_eq!(record["conditions"]["after"].as_array().unwrap().is_empty(), !real, "{kind}");
        // The envelope comes first, field by field in the same order, and no part has a field of the same name.
        let names: Vec<String> = record.as_object().unwrap().keys().take(16).cloned().collect();
        assert_eq!(names.last().map(String::as_str), Some("ended"), "{names:?}");
        assert_eq!(*before.get_or_insert_with(|| names.clone()), names, "{kind}");
    }
    flashscope(&["schema", "elephant"]).run().expect(CANNOT);
}

/// Records of version 1 and those of today alike.
#[test]
fn every_kind_is_shown_in_every_form() {
    let folder = scratch();
    let old = Path::new(&fixture("records/v1")).read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = old.map(|path| path.to_str().unwrap().to_owned()).collect();
    for kind in KINDS {
        let path = folder.join(format!("{kind}.json"));
        std::fs::write(&path, made(kind, &folder).stdout).unwrap();
        files.push(path.to_str().unwrap().to_owned());
    }
    assert!(files.len() >= 17, "{files:?}");
    for file in &files {
        let shown = |format: &str| {
            let run = flashscope(&["report", file, "--format", format]).run();
            run.expect(DONE);
            run.stdout
        };
        assert!(shown("text").lines().count() > 3, "{file}");
        let page = shown("html");
        assert!(
            page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>") && !page.contains("http://"),
            "{file}"
        );
        let page = shown("markdown");
        assert!(page.contains("| ---") || page.contains("|---"), "{file}: {page}");
        let csv = shown("csv");
        let columns = csv.lines().next().unwrap().split(',').count();
        assert!(columns >= 4 && csv.lines().count() > 1 || file.contains("workers"), "{file}: {csv}");
        let again = shown("json");
        assert_eq!(json(&again)["schema"], "flashscope.record/2", "{file}");
        if !file.contains("v1") {
            assert_eq!(again, std::fs::read_to_string(file).unwrap(), "{file}: to the byte");
        }
        let book = folder.join("book.xlsx");
        let run = flashscope(&["report", file, "--format", "xlsx", "-o", book.to_str().unwrap()]).run();
        run.expect(DONE);
        assert!(std::fs::read(&book).unwrap().starts_with(b"PK"), "{file}");
        std::fs::remove_file(&book).unwrap();
    }
}

#[test]
fn a_record_of_another_kind_is_refused_with_the_command_that_takes_it() {
    let folder = scratch();
    let bench = fixture("records/v1/bench.json");
    for arguments in [&["infer", &bench][..], &["twin", "fit", &bench, "-o", "twin.toml"]] {
        let run = flashscope(arguments).current_dir(&folder).run();
        run.expect(CANNOT);
        assert!(
            run.stderr.contains("a record of bench where one of inspect, probe, infer or state is needed"),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains("hint: `flashscope report"), "{}", run.stderr);
    }
    let run = flashscope(&["report", &fixture("field/pqi-32gb.txt")]).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("flashbench logs are read by `flashscope infer`"), "{}", run.stderr);
    let later = folder.join("later.json");
    let today = flashscope(&["report", &fixture("records/v1/probe.json"), "--format", "json"]).run().stdout;
    let text = today.replace("\"kind\": \"probe\"", "\"kind\": \"tomorrow\"");
    assert_ne!(text, today);
    std::fs::write(&later, text).unwrap();
    let run = flashscope(&["report", later.to_str().unwrap()]).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("kind 'tomorrow'") && run.stderr.contains("or a later one"), "{}", run.stderr);
}

/// What a comparison needs: every run, the order in which they were done, when, under which conditions, at what cost, of which
/// part in which session.
#[test]
fn a_bench_keeps_what_a_comparison_needs() {
    let folder = scratch();
    let job = "[[job]]\nname = 'a'\nrw = 'randwrite'\nbs = '16k'\nbytes = '1MiB'\n\
               [[job]]\nname = 'b'\nrw = 'randread'\nbs = '4k'\nbytes = '1MiB'\n";
    std::fs::write(folder.join("two.toml"), job).unwrap();
    let run = |target: &str, seed: &str| {
        let arguments =
            ["bench", target, "--job", "two.toml", "--repeat", "3", "--seed", seed, "--json", "--allow-write"];
        let run = flashscope(&arguments).current_dir(&folder).run();
        run.expect(DONE);
        json(&run.stdout)
    };
    let check = |record: &Value| {
        let runs = |phase: usize| record["phases"][phase]["runs"].as_array().unwrap().clone();
        let orders = |phase: usize| runs(phase).iter().map(|run| run["order"].as_u64().unwrap()).collect::<Vec<_>>();
        assert_eq!((orders(0), orders(1)), (vec![1, 3, 5], vec![2, 4, 6]), "phases take turns");
        let mut all = [runs(0), runs(1)].concat();
        all.sort_by_key(|run| run["order"].as_u64());
        let starts: Vec<u64> = all.iter().map(|run| run["started_ns"].as_u64().unwrap()).collect();
        assert!(starts.windows(2).all(|pair| pair[0] < pair[1]), "{starts:?}");
        let written = |run: &Value| run["cost"]["written_bytes"].as_u64().unwrap();
        assert_eq!(all.iter().map(written).collect::<Vec<_>>(), [1 << 20, 0, 1 << 20, 0, 1 << 20, 0]);
        assert_eq!(record["cost"]["written_bytes"], 3 << 20);
        assert_eq!(record["cost"]["read_bytes"], 3 << 20);
        assert!(record["cost"]["time_ns"].as_u64().unwrap() > 0);
        all
    };
    let simulated = run("sim:sd-4mib", "5");
    check(&simulated);
    assert_eq!(simulated["session"], "virtual-5");
    assert!(simulated["cost"]["erases"]["counted"] == true, "{}", simulated["cost"]);
    assert_eq!(simulated, run("sim:sd-4mib", "5"), "the same seed gives the same record");
    std::fs::write(folder.join("card.img"), vec![7u8; 4 << 20]).unwrap();
    let (one, other) = (run("card.img", "5"), run("card.img", "6"));
    for run in check(&one) {
        let conditions = run["conditions"].as_array().unwrap();
        assert!(conditions.iter().all(|condition| condition["value"].is_string()), "{run}");
    }
    assert!(one["session"].is_string() && one["session"] == other["session"], "nothing was taken away in between");
    assert!(one["started"].as_str() <= one["finished"].as_str() && one["host"]["kernel"].is_string());
}

#[test]
fn a_fleet_keeps_the_records_that_inspect_writes() {
    let folder = scratch();
    std::fs::create_dir(folder.join("samples")).unwrap();
    let limits = ["--max-write", "1MiB", "--max-time", "300ms"];
    let fleet = |records| {
        let words = ["fleet", "-n", "2", "--seed", "7", "--no-naive", "--records", records];
        flashscope(&[&words[..], &limits].concat()).current_dir(&folder).run()
    };
    fleet("samples").expect(DONE);
    let shown = flashscope(&["fleet", "--seed", "7", "--show", "1"]).run();
    std::fs::write(folder.join("wide-7-1.toml"), &shown.stdout).unwrap();
    let seed = shown.stderr.split_whitespace().last().expect("it says the seed").to_owned();
    let words = ["inspect", "sim:wide-7-1.toml", "--json", "--seed", &seed];
    let inspected = flashscope(&[&words[..], &limits].concat()).current_dir(&folder).run();
    let kept = std::fs::read_to_string(folder.join("samples/wide-7-1.json")).expect("its record");
    assert_eq!(kept.trim_end(), inspected.stdout.trim_end());
    assert!(folder.join("samples/wide-7-0.json").exists());
    let nowhere = fleet("nowhere");
    nowhere.expect(CANNOT);
    assert!(nowhere.stderr.contains("not every record is kept"), "{}", nowhere.stderr);
}
