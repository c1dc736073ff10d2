//! Qualifications in a lab: the verdict of a solo run, after kills as well, and nothing that a plan could start.

use crate::harness::{Place, flashscope};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

const A: &str = "sim:sd-4mib,capacity=256MiB,noise=field";
/// Random reads take longer by far more than the limit.
const SLOW: &str = "sim:sd-4mib,capacity=256MiB,noise=field,mapping.read.sense=900us";

/// Requirements as a file of `flashscope qualify` has them.
const REQUIREMENTS: &str = r#"
[plan]
name = "small"
title = "May it?"
source = "this test"
blocks = 6

[[workload]]
name = "disk"
command = "bench"

[[workload.job]]
name = "random"
rw = "randread"
bs = "4KiB"
runtime = "50ms"

[[workload]]
name = "update"
command = "external"
external = "ota"
prints = "s"

[[requirement]]
name = "read"
title = "Random read"
workload = "disk"
figure = "random read"
limit = ">= 0.9 x reference"
kind = "disk"

[[requirement]]
name = "update"
title = "Update"
workload = "update"
figure = "ota"
limit = "<= 60 s"
kind = "functional"
"#;

const FIGURES: &str = "label,metric,unit,value\ncandidate,ota,s,30\ncandidate,ota,s,31\ncandidate,ota,s,30\ncandidate,ota,s,29\n\
                       candidate,ota,s,30\ncandidate,ota,s,31\n";

/// A plan whose second device is `candidate`; the requirements are those above, below the work.
fn plan(candidate: &str, beside: &str) -> String {
    let held: String = REQUIREMENTS
        .replace("[plan]", "[work.requirements.plan]")
        .replace("[[workload", "[[work.requirements.workload")
        .replace("[[requirement", "[[work.requirements.requirement");
    format!(
        "name = \"q\"\n[[device]]\nname = \"old\"\nsim = \"{A}\"\n[[device]]\nname = \"new\"\nsim = \"{candidate}\"\n\
         [[work]]\nname = \"swap\"\nrun = \"qualify\"\nreference = [\"old\"]\ncandidate = [\"new\"]\n{beside}{held}"
    )
}

/// What a verdict is made of. How long runs took is in the record as well, and is not compared.
fn verdict(record: &Value) -> String {
    serde_json::to_string(&[&record["verdict"], &record["results"], &record["controls"]]).unwrap()
}

fn solo(place: &Place, candidate: &str) -> Value {
    std::fs::write(place.path("small.toml"), REQUIREMENTS).unwrap();
    std::fs::write(place.path("noted.csv"), FIGURES).unwrap();
    let words =
        ["qualify", "./small.toml", "--table", "noted.csv", "--reference", A, "--candidate", candidate, "--json"];
    let output = Command::new(flashscope())
        .args(words)
        .current_dir(place.path(""))
        .env("XDG_CONFIG_HOME", place.path("none"))
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn record_of(place: &Place, lab: &Value) -> Value {
    let run = &lab["lab_runs"][0];
    assert_eq!((run["state"].as_str(), run["device"].as_str()), (Some("done"), Some("old, new")), "{run}");
    let path = place.path("q.lab").join(run["record"].as_str().unwrap());
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn the_verdict_is_that_of_a_solo_run_after_kills_as_well() {
    let place = Place::new();
    let solo = solo(&place, SLOW);
    assert_eq!(solo["verdict"]["answer"], "may_not", "{}", solo["verdict"]);
    place.plan(&plan(SLOW, &format!("figures = {}\n", serde_json::to_string(FIGURES).unwrap())));
    let words = ["run", "plan.toml", "--retry-after", "10ms", "--tries", "20"];
    let journal = || {
        let runs = std::fs::read_dir(place.path("q.lab/runs")).ok()?;
        let journal = runs.flatten().next()?.path().join("runs/qualification.json");
        let text = std::fs::read_to_string(journal).ok()?;
        Some(serde_json::from_str::<Value>(&text).ok()?["runs"].as_array()?.len())
    };
    let mut child = place.command(&words).spawn().unwrap();
    // In the middle: the figures of the table are there from the beginning, and runs come to them.
    while journal().unwrap_or(0) < 8 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(child.try_wait().unwrap().is_none(), "no kill came in the middle");
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = journal().unwrap();
    let mut child = place.command(&words).spawn().unwrap();
    while journal().unwrap_or(0) <= kept && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id())).unwrap_or_default();
    // The worker, and not who is asked first what the requirements mean.
    let is_worker = |pid: &&str| {
        std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|words| words.contains("--runs=runs"))
    };
    let worker = children.split_whitespace().find(is_worker);
    if let Some(worker) = worker.and_then(|pid| Pid::from_raw(pid.parse().ok()?)) {
        let _ = kill_process(worker, Signal::KILL);
    }
    let ended = child.wait().unwrap();
    assert!(ended.success(), "{ended}: {}", place.run(&["status", "plan.toml"]).stdout);
    let lab = place.record(&words, 0);
    let record = record_of(&place, &lab);
    assert_eq!(verdict(&record), verdict(&solo));
    assert_eq!(record["runs"].as_array().unwrap().len(), solo["runs"].as_array().unwrap().len(), "none was done twice");
    let said = "swap on old, new: the candidate may not replace the reference, by small";
    assert!(lab["notes"].to_string().contains(said), "{}", lab["notes"]);
    let status = place.run(&["status", "plan.toml"]);
    status.expect(0);
    assert!(status.stdout.starts_with("1 of 1 runs on 2 devices are done"), "{}", status.stdout);
    assert!(status.stdout.contains("may not replace the reference"), "{}", status.stdout);
}

#[test]
fn the_hosts_own_file_says_what_a_name_stands_for() {
    let place = Place::new();
    flashscope();
    place.plan(&plan(A, ""));
    let nobody = place.run(&["run", "plan.toml", "--dry-run"]);
    nobody.expect(0);
    assert!(nobody.stdout.contains("nobody says what 'ota' is"), "{}", nobody.stdout);
    std::fs::write(place.path("host.toml"), "[external]\nota = \"echo 30\"\n").unwrap();
    let lab = place.record(&["run", "plan.toml", "--host", "host.toml"], 0);
    let record = record_of(&place, &lab);
    let update = &record["results"].as_array().unwrap()[1];
    assert_eq!(update["result"]["word"], "pass", "{update}");
    assert_eq!(lab["notes"].as_array().unwrap().len(), 1, "the verdict alone: {}", lab["notes"]);
}

#[test]
fn requirements_that_make_no_sense_or_reach_elsewhere_start_nothing() {
    let place = Place::new();
    flashscope();
    for (text, why) in [
        (plan(A, "").replace("external = \"ota\"", "external = \"/bin/touch pwned\""), "no name for external"),
        (plan(A, "").replace("runtime = \"50ms\"", "target = \"/dev/sda\""), "cannot say 'target' of job"),
        (plan(A, "").replace("limit = \"<= 60 s\"", "limit = \"<= 60\""), "unit"),
        (plan(A, "").replace("workload = \"update\"", "workload = \"other\""), "no workload 'other'"),
        (plan(A, "options = { quick = true }\n"), "short form"),
        (plan(A, "options = { accept-wear = true }\n"), "no option 'accept-wear'"),
        (plan(A, "power-off = \"touch pwned\"\n"), "unknown field"),
        (plan(A, "power = \"rack\"\n"), "no power commands called 'rack'"),
    ] {
        place.plan(&text);
        let run = place.run(&["run", "plan.toml"]);
        run.expect(2);
        assert!(run.stderr.contains(why) && run.stderr.contains("hint: "), "{why}: {}", run.stderr);
    }
    assert!(!place.path("pwned").exists() && !place.path("q.lab").exists());
}
