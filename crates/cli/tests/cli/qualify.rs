//! `qualify`: verdicts on simulated parts, sides that were measured by themselves, and everything that is refused.

use crate::harness::*;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Small, so that capacity is over soon.
const A: &str = "sim:sd-4mib,capacity=256MiB,noise=field";
/// Random reads take longer by far more than any limit of the plan.
const SLOW: &str = "sim:sd-4mib,capacity=256MiB,noise=field,mapping.read.sense=900us";

const PLAN: &str = r#"
[plan]
name = "small"
title = "May it?"
source = "this test"
blocks = 20
runs = 4
sessions = 1

[quick]
blocks = 5
runtime = "50ms"
leave_out = ["genuine"]
cannot_decide = ["whether it is genuine"]

[[workload]]
name = "disk"
command = "bench"

[[workload.job]]
name = "random"
rw = "randread"
bs = "4KiB"
runtime = "200ms"

[[workload]]
name = "capacity"
command = "capacity"

[[requirement]]
name = "read"
title = "Random read"
workload = "disk"
figure = "random read"
limit = ">= 0.9 x reference"
kind = "disk"

[[requirement]]
name = "genuine"
title = "As large as it says"
workload = "capacity"
figure = "genuine"
limit = "holds"
kind = "integrity"
"#;

const EXTERNAL: &str = r#"
[plan]
name = "product"
title = "Does the update do?"
source = "this test"
blocks = 6

[[workload]]
name = "update"
command = "external"
external = "ota"
prints = "s"

[[requirement]]
name = "update"
title = "Update"
workload = "update"
figure = "ota"
limit = "<= 60 s"
kind = "functional"
"#;

fn plan(folder: &Path, text: &str) -> String {
    let path = folder.join("plan.toml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn run(args: &[&str]) -> Run {
    flashscope(args).run()
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn shown(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn words(record: &Value) -> Vec<String> {
    let rows = record["results"].as_array().expect("results").iter();
    rows.map(|row| row["result"]["word"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_exit_code_is_the_verdict() {
    let folder = scratch();
    let plan = plan(&folder, PLAN);
    let check = |candidate: &str, code: i32, answer: &str, results: [&str; 2]| {
        let done = run(&["qualify", &plan, "--reference", A, "--candidate", candidate, "--json"]);
        done.expect(code);
        let record: Value = serde_json::from_str(&done.stdout).expect("a record");
        assert_eq!(record["verdict"]["answer"], answer, "{candidate}");
        assert_eq!(words(&record), results, "{candidate}");
        record
    };
    let record = check(A, 0, "may_replace", ["pass", "pass"]);
    assert!(record["runs"].as_array().unwrap().len() < 60, "it stops when it is decided");
    check(SLOW, 1, "may_not", ["fail", "pass"]);
    check(&format!("{A},fake=limbo,real_capacity=64MiB"), 1, "may_not", ["pass", "fail"]);
}

#[test]
fn the_short_form_says_what_it_leaves_open() {
    let folder = scratch();
    let done = run(&["qualify", &plan(&folder, PLAN), "--quick", "--reference", A, "--candidate", SLOW]);
    done.expect(1);
    assert!(
        done.stdout.starts_with("the candidate may not replace the reference, by small (short form)"),
        "{}",
        done.stdout
    );
    let done = run(&["qualify", "emcp-replacement", "--quick", "--explain"]);
    done.expect(0);
    assert!(done.stdout.contains("cannot_decide"), "{}", done.stdout);
}

#[test]
fn what_is_done_is_not_done_again_and_not_believed_once_it_was_changed() {
    let folder = scratch();
    let (plan, record) = (plan(&folder, PLAN), folder.join("v.json"));
    let args = ["qualify", &plan, "--reference", A, "--candidate", A, "-o", shown(&record), "--force"];
    let part = flashscope(&[&args[..], &["--max-time", "1ns"]].concat()).run();
    part.expect(2);
    let runs = folder.join("v.runs");
    let first = std::fs::read(runs.join("run-0001.json")).unwrap();
    let whole = run(&args);
    whole.expect(0);
    assert!(whole.stderr.contains("goes on with 4 runs"), "one block was finished: {}", whole.stderr);
    assert_eq!(std::fs::read(runs.join("run-0001.json")).unwrap(), first);
    let before = read(&record)["runs"].as_array().unwrap().len();
    run(&args).expect(0);
    assert_eq!(read(&record)["runs"].as_array().unwrap().len(), before, "nothing is left to do");
    std::fs::write(runs.join("run-0002.json"), first).unwrap();
    let changed = run(&args);
    changed.expect(2);
    assert!(changed.stderr.contains("was changed after it was made"), "{}", changed.stderr);
    let other = run(&["qualify", &plan, "--reference", A, "--candidate", SLOW, "-o", shown(&record), "--force"]);
    other.expect(2);
    assert!(other.stderr.contains("holds the runs of another part"), "{}", other.stderr);
}

/// One side in `sessions` sessions; each seed is another session of a simulated part.
fn side(folder: &Path, plan: &str, name: &str, target: &str) -> PathBuf {
    let record = folder.join(format!("{name}.json"));
    run(&["qualify", "run", plan, "--side", name, target, "-o", shown(&record), "--seed", "3"]).expect(0);
    record
}

#[test]
fn sides_are_measured_apart_and_judged_together() {
    let folder = scratch();
    let plan = plan(&folder, PLAN);
    let (a, b) = (side(&folder, &plan, "A", A), side(&folder, &plan, "B", SLOW));
    let record = folder.join("verdict.json");
    let judged = run(&["qualify", "judge", shown(&a), shown(&b), "-o", shown(&record)]);
    judged.expect(1);
    let judged = read(&record);
    assert_eq!(judged["verdict"]["answer"], "may_not");
    assert!(judged["verdict"]["scope"].as_str().unwrap().contains("in this one session each"), "{}", judged["verdict"]);
    let parts = judged["parts"].as_array().unwrap();
    assert_eq!((&parts[0]["role"], &parts[1]["role"]), (&"reference".into(), &"candidate".into()));

    let alone = run(&["qualify", "judge", shown(&a)]);
    alone.expect(2);
    assert!(alone.stderr.contains("limits against a reference"), "{}", alone.stderr);
    let text = std::fs::read_to_string(&b).unwrap();
    std::fs::write(&b, text.replacen("\"place\": 1", "\"place\": 7", 1)).unwrap();
    let changed = run(&["qualify", "judge", shown(&a), shown(&b)]);
    changed.expect(2);
    assert!(changed.stderr.contains("its hash is not its own"), "{}", changed.stderr);
}

#[test]
fn a_board_is_only_used_through_files() {
    let folder = scratch();
    let card = folder.join("card");
    std::fs::create_dir(&card).unwrap();
    let (plan, record) = (plan(&folder, PLAN), folder.join("a.json"));
    let args = ["qualify", "run", &plan, "--side", "A", "--dir", shown(&card), "-o", shown(&record), "--quick"];
    flashscope(&[&args[..], &["--allow-cached"]].concat()).run().expect(0);
    let record = read(&record);
    assert_eq!(record["parts"][0]["access"], "files");
    let runs = record["runs"].as_array().unwrap();
    let control = runs.iter().filter(|run| run["workload"] == "control job").count();
    assert_eq!(control, 3, "each session runs the control job");
    assert_eq!(std::fs::read_dir(&card).unwrap().count(), 0, "nothing is left there");
}

#[test]
fn a_command_of_the_product_is_named_by_the_host_alone() {
    let folder = scratch();
    let plan = plan(&folder, EXTERNAL);
    let settings = folder.join("settings.toml");
    let with = |command: &str| {
        std::fs::write(&settings, format!("[qualify.external]\nota = {command:?}\n")).unwrap();
        run(&["--settings", shown(&settings), "qualify", &plan, "--candidate", A, "--json"])
    };
    let reason = |done: &Run| {
        let record: Value = serde_json::from_str(&done.stdout).expect("a record");
        record["results"][0]["reason"].as_str().unwrap().to_owned()
    };
    let good = with("echo took 12.5");
    good.expect(0);
    let slow = with("echo took 90");
    slow.expect(1);
    let silent = with("echo nothing");
    silent.expect(2);
    assert!(reason(&silent).contains("printed no number"), "{}", reason(&silent));
    let failing = with("false");
    failing.expect(2);
    assert!(reason(&failing).contains("ended with 1"), "{}", reason(&failing));
    let nobody = run(&["qualify", &plan, "--candidate", A, "--json"]);
    nobody.expect(2);
    assert!(reason(&nobody).contains("qualify.external.ota"), "{}", reason(&nobody));
    let table = folder.join("by-hand.csv");
    let rows: String = (0..6).map(|i| format!("candidate,ota,s,{}\n", 30.0 + f64::from(i) / 10.0)).collect();
    std::fs::write(&table, format!("label,metric,unit,value\n{rows}")).unwrap();
    run(&["qualify", &plan, "--candidate", A, "--table", shown(&table)]).expect(0);
    std::fs::write(&table, "label,metric,unit,value\nsomebody,ota,s,30\n").unwrap();
    let stranger = run(&["qualify", &plan, "--candidate", A, "--table", shown(&table)]);
    stranger.expect(2);
    assert!(stranger.stderr.contains("there is no side 'somebody'"), "{}", stranger.stderr);
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_do() {
    let folder = scratch();
    let check = |text: &str, more: &[&str], expect: &str| {
        let plan = plan(&folder, text);
        let done = flashscope(&[&["qualify", &plan][..], more].concat()).run();
        done.expect(2);
        assert!(done.stderr.contains(expect), "{expect}: {}", done.stderr);
        assert!(done.stderr.contains("hint: "), "{}", done.stderr);
    };
    let both = ["--reference", A, "--candidate", A];
    check(&PLAN.replacen("blocks = 20", "blocks = 20\nspeed = 1", 1), &both, "unknown field `speed`");
    check(&PLAN.replacen(">= 0.9 x reference", ">= 20", 1), &both, "'>= 20' has no unit");
    check(PLAN, &["--candidate", A], "'Random read' is held against a reference, and there is none");
    check(PLAN, &["--reference", A], "there is no candidate");
    check(EXTERNAL, &["--candidate", A, "--quick"], "has no short form");
    check(PLAN, &["--reference", A, "--candidate", "sim:sd-4mib,state=./x.state"], "leave state=FILE away");
    let unknown = run(&["qualify", "emcp-replacemnt", "--candidate", A]);
    unknown.expect(2);
    assert!(unknown.stderr.contains("did you mean emcp-replacement?"), "{}", unknown.stderr);
    // Time of a simulated part and of a real one are not the same.
    let card = folder.join("card");
    std::fs::create_dir(&card).unwrap();
    check(PLAN, &["--reference", A, "--candidate", shown(&card)], "the sides are not comparable");
}

#[test]
fn plans_are_listed_and_told_before_they_are_run() {
    let list = run(&["qualify", "list"]);
    list.expect(0);
    for name in ["emcp-replacement", "emmc-second-source", "sd-for-boards"] {
        assert!(list.stdout.contains(name), "{}", list.stdout);
    }
    let dry = run(&["qualify", "sd-for-boards", "--candidate", A, "--dry-run"]);
    dry.expect(0);
    assert!(dry.stdout.contains("runs") && dry.stdout.contains("in all: "), "{}", dry.stdout);
}
