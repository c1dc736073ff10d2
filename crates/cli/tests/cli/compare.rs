//! `compare`: records, tables and targets against each other, and everything that is refused.

use crate::harness::*;
use serde_json::Value;

const A: &str = "sim:sd-4mib,noise=field";
/// Random reads of 4 KiB take about 7 % longer than on the other.
const B: &str = "sim:sd-4mib,noise=field,mapping.read.sense=110us";

fn run(args: &[&str]) -> Run {
    flashscope(args).run()
}

fn record(args: &[&str]) -> Value {
    let output = run(args);
    output.expect(0);
    serde_json::from_str(&output.stdout).expect("a record")
}

fn verdicts(record: &Value) -> Vec<(String, String)> {
    let group = &record["groups"][0];
    let rows = group["comparison"]["rows"].as_array().expect("rows").iter();
    rows.map(|row| {
        let metric = &group["readings"]["metrics"][row["metric"].as_u64().unwrap() as usize];
        (metric["name"].as_str().unwrap().to_owned(), row["verdict"]["word"].as_str().unwrap().to_owned())
    })
    .collect()
}

fn verdict(record: &Value) -> String {
    verdicts(record).remove(0).1
}

#[test]
fn live_sides_are_measured_until_they_are_decided() {
    let of = |other: &str| record(&["compare", A, other, "--rw", "randread", "--bs", "4k", "--runtime", "1", "--json"]);
    let found = of(B);
    assert_eq!(verdicts(&found)[0], ("bench read".to_owned(), "worse".to_owned()));
    assert_eq!(found["groups"][0]["comparison"]["method"], "sequence");
    let same = of(A);
    assert_eq!(verdicts(&same)[0], ("bench read".to_owned(), "equivalent".to_owned()));
    assert_eq!(same, of(A), "the same seed gives the same bytes");
}

#[test]
fn a_drifting_host_does_not_decide() {
    let folder = scratch();
    let card = run(&["sim", "show", "sd-4mib"]).stdout;
    // The overhead of the host swings by far more than the parts differ.
    let drifting = |name: &str, card: &str| {
        let path = folder.join(name);
        let noise = "level = \"field\"\ndrift = { by = \"250us\", over = \"40s\" }";
        std::fs::write(&path, card.replace("level = \"bench\"", noise)).unwrap();
        format!("sim:{}", path.display())
    };
    let slower = card.replace("sense = \"46us\"", "sense = \"110us\"");
    assert_ne!(slower, card);
    let (a, b) = (drifting("a.toml", &card), drifting("b.toml", &slower));
    let job = ["--rw", "randread", "--bs", "4k", "--runtime", "1", "--figure", "read", "--json"];
    let found = record(&[&["compare", &a, &b][..], &job].concat());
    assert_eq!(verdicts(&found)[0].1, "worse");
    assert!(found["campaign"]["blocks"].as_u64().unwrap() <= 30);
    let rows = found["groups"][0]["readings"]["rows"].as_array().unwrap().iter();
    let rates: Vec<f64> =
        rows.filter(|row| row["side"] == 0 && row["metric"] == 0).map(|row| row["value"].as_f64().unwrap()).collect();
    let (low, high) = rates.iter().fold((f64::INFINITY, 0f64), |(low, high), rate| (low.min(*rate), high.max(*rate)));
    assert!(high / low > 1.1, "the host drifts from {low} to {high}");
}

#[test]
fn records_of_several_sessions_are_compared_over_sessions() {
    let folder = scratch();
    let path = |name: &str| folder.join(name).display().to_string();
    for seed in ["1", "2", "3"] {
        for (label, model) in [("a", A), ("b", B)] {
            let to = path(&format!("{label}{seed}.json"));
            run(&["bench", model, "--rw", "randread", "--runtime", "1", "--repeat", "3", "--seed", seed, "-o", &to])
                .expect(0);
        }
    }
    let words: Vec<String> = ["a", "b"]
        .iter()
        .flat_map(|label| {
            (1..=3).map(|seed| format!("{label}={}", path(&format!("{label}{seed}.json")))).collect::<Vec<_>>()
        })
        .collect();
    let words: Vec<&str> = ["compare", "--json"].into_iter().chain(words.iter().map(String::as_str)).collect();
    let found = record(&words);
    let row = &found["groups"][0]["comparison"]["rows"][0];
    assert_eq!((row["verdict"]["word"].as_str(), row["level"].as_str()), (Some("worse"), Some("session")));
    assert_eq!(row["other"]["counts"]["runs"], 9);
    // The same through every form of report.
    let kept = path("ab.json");
    std::fs::write(&kept, serde_json::to_string(&found).unwrap()).unwrap();
    for ending in ["html", "md", "csv", "txt", "xlsx"] {
        run(&["report", &kept, "-o", &path(&format!("ab.{ending}"))]).expect(0);
    }
    let csv = std::fs::read_to_string(path("ab.csv")).unwrap();
    assert!(csv.starts_with("factor,figure,unit,better,") && csv.contains(",worse,"), "{csv}");
    // One run a side says nothing about scatter.
    run(&["bench", A, "--rw", "randread", "--runtime", "1", "-o", &path("one.json")]).expect(0);
    let single = run(&["compare", &path("one.json"), &path("one.json")]);
    assert!(single.stdout.contains("one run says nothing about scatter"), "{}", single.stdout);
}

#[test]
fn what_is_not_comparable_is_refused_with_what_differs() {
    let folder = scratch();
    let path = |name: &str| folder.join(name).display().to_string();
    for (name, size) in [("four.json", "4k"), ("eight.json", "8k")] {
        let to = path(name);
        run(&["bench", A, "--rw", "randread", "--bs", size, "--runtime", "1", "--repeat", "3", "-o", &to]).expect(0);
    }
    let refused = run(&["compare", &path("four.json"), &path("eight.json")]);
    refused.expect(2);
    assert!(refused.stderr.contains("bench: bs: 4096:1 (four), 8192:1 (eight)"), "{}", refused.stderr);
    let anyway = run(&["compare", &path("four.json"), &path("eight.json"), "--anyway"]);
    anyway.expect(0);
    assert!(anyway.stdout.contains("compared anyway, though this is not the same: bench: bs"), "{}", anyway.stdout);
}

#[test]
fn a_table_of_runs_decides_and_gates() {
    let folder = scratch();
    let table = folder.join("runs.csv");
    let rows: String = (0..8)
        .map(|i| {
            format!(
                "old,write,MB/s,{}\nnew,write,MB/s,{}\n",
                20.0 + 0.1 * f64::from(i % 3),
                17.0 + 0.1 * f64::from(i % 4)
            )
        })
        .collect();
    std::fs::write(&table, format!("label,metric,unit,value\n{rows}")).unwrap();
    let table = table.display().to_string();
    assert_eq!(verdict(&record(&["compare", &table, "--json"])), "worse");
    assert_eq!(verdict(&record(&["compare", &table, "--baseline", "new", "--json"])), "better");
    assert_eq!(verdict(&record(&["compare", &table, "--margin", "30%", "--json"])), "equivalent");
    run(&["compare", &table, "--require", "not-worse"]).expect(1);
    run(&["compare", &table, "--baseline", "new", "--require", "better"]).expect(0);
    let published = fixture("androbench-conditions.csv");
    let found = record(&["compare", &published, "--runs", "3", "--json"]);
    assert_eq!(found["groups"].as_array().unwrap().len(), 2);
    assert_eq!(verdicts(&found).iter().filter(|(_, word)| word == "worse").count(), 4);
}

#[test]
fn bad_input_says_what_to_do() {
    let folder = scratch();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let refused = |args: &[&str], words: &str| {
        let output = run(&[&["compare"], args].concat());
        output.expect(2);
        assert!(output.stderr.contains(words), "{args:?}: {}", output.stderr);
        assert!(output.stderr.contains("hint: "), "{args:?}: {}", output.stderr);
    };
    let one = write("one.csv", "label,metric,unit,value\na,w,MB/s,1\na,w,MB/s,2\n");
    let two = write("two.csv", "label,metric,unit,value\nb,w,ms,1\nb,w,ms,2\n");
    let good = write("good.csv", "label,metric,unit,value\na,w,MB/s,1\nb,w,MB/s,2\n");
    refused(&[&one], "only one side, 'a'");
    refused(&[&one, &two], "`w` is in `ms` here and in `MB/s` before");
    refused(&["nowhere.json"], "there is no such file");
    refused(&[&write("empty", "")], "is empty");
    refused(&[&write("broken.json", "{\"schema\": \"flashscope.record/2\", ")], "broken.json");
    refused(&[&good, "--figure", "zzz"], "the figures are w");
    refused(&[&good, "--margin", "0.001%"], "the margin must lie between");
    refused(&[&good, "--confidence", "20%"], "the confidence must lie between");
    refused(&[&good, "--rw", "read"], "no target to run it on");
    refused(&[&good, A], "measure these first");
    refused(&[A], "only one side");
    refused(&[&format!("x={good}"), &one], "labels of its own");
    refused(&[A, B, "--rw", "randread", "--bs", "5000"], "error: ");
    let no_figures = run(&["fleet", "--devices", "2", "--seed", "3", "--json"]);
    let fleet = write("fleet.json", &no_figures.stdout);
    refused(&[&fleet, &fleet], "has no figures of runs");
}

#[test]
fn nothing_is_written_to_a_target_without_consent() {
    let folder = scratch();
    let file = folder.join("image");
    std::fs::write(&file, vec![0u8; 1 << 20]).unwrap();
    // A plain file is no target of compare: bench measures such.
    let path = file.display().to_string();
    let refused = run(&["compare", &path, &path, "--rw", "write"]);
    refused.expect(2);
    assert_eq!(std::fs::read(&file).unwrap(), vec![0u8; 1 << 20]);
}

#[test]
fn comparisons_are_scored_on_pairs_whose_ratio_is_known() {
    let folder = scratch();
    let page = folder.join("pairs.html").display().to_string();
    let found = record(&["fleet", "compare", "-n", "6", "--scatter", "0.02", "--seed", "9", "-o", &page, "--json"]);
    let figures = found["kinds"][0]["figures"].as_array().unwrap();
    let of = |words: &str| figures.iter().find(|figure| figure["figure"].as_str().unwrap().contains(words)).unwrap();
    assert_eq!(of("true nulls called better or worse")["share"]["all"], 2);
    assert!(of("best of three: true nulls")["met"].is_null());
    assert!(std::fs::read_to_string(&page).unwrap().contains("a band of 10 %"));
    run(&["fleet", "compare", "--scatter", "7"]).expect(2);
    let marks = record(&["fleet", "trend", "-n", "90", "--scatter", "0.02", "--json"]);
    assert_eq!(marks["kinds"].as_array().unwrap().len(), 3);
    assert_eq!(marks["kinds"][0]["figures"][0]["met"], true, "{marks:#}");
}

#[test]
fn an_interrupt_keeps_the_blocks_that_were_done() {
    let sides = [scratch(), scratch()].map(|side| side.display().to_string());
    let job =
        ["--rw", "randread", "--size", "1M", "--mode", "cached", "--runtime", "200ms", "--blocks", "1000", "--json"];
    // Another test may throw the page cache of one of both away, which would not be comparable.
    let words = [&["compare", &sides[0], &sides[1], "--margin", "0.01%", "--anyway"][..], &job].concat();
    let mut child = flashscope(&words).started();
    let said = heard(&mut child);
    // Each run makes its file, and a block is of four runs: two blocks are done, or one after what is measured first, to be left out.
    let mut before = Vec::new();
    let files = said.iter().inspect(|line| before.push(line.clone())).filter(|line| line.starts_with("makes a file"));
    assert!(files.take(9).count() == 9, "it ended before a block was done: {before:#?}");
    interrupt(&child);
    let ended = Run::from(child.wait_with_output().unwrap());
    ended.expect(2);
    assert!(said.iter().any(|line| line.contains("the record holds what was measured")));
    let record: Value = serde_json::from_str(&ended.stdout).expect("a record");
    assert_eq!(record["ended"]["how"], "interrupted");
    assert!(record["campaign"]["blocks"].as_u64().unwrap() >= 1, "{}", record["campaign"]);
    assert!(!record["groups"][0]["readings"]["rows"].as_array().unwrap().is_empty());
    // Nothing is left of the files that it made.
    for side in &sides {
        assert_eq!(std::fs::read_dir(side).unwrap().count(), 0);
    }
}

#[test]
fn an_interrupt_before_the_first_block_promises_no_record() {
    let sides = [scratch(), scratch()].map(|side| side.display().to_string());
    let job = ["--rw", "randread", "--size", "1M", "--mode", "cached", "--runtime", "60s", "--json"];
    let mut child = flashscope(&[&["compare", &sides[0], &sides[1]][..], &job].concat()).started();
    let said = heard(&mut child);
    assert!(said.iter().any(|line| line.starts_with("makes a file")), "it ended before its first run");
    interrupt(&child);
    let ended = Run::from(child.wait_with_output().unwrap());
    ended.expect(2);
    assert!(said.iter().any(|line| line.contains("interrupted before anything could be compared")));
    assert!(ended.stdout.is_empty(), "{}", ended.stdout);
}
