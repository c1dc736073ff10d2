//! `sweep`: on simulated devices, over a made-up tree of knobs, and on a loop device; always with the machine as it was in the end.

use crate::devices::Loop;
use crate::harness::{Run, flashscope, interrupt, scratch};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

const DONE: i32 = 0;
const NOT_ALL: i32 = 1;
const CANNOT: i32 = 2;

/// Streams that write side by side, to a card with fewer or more open units than that.
const STREAMS: [&str; 12] =
    ["sweep", "sim:sd-4mib", "--rw", "write", "--bs", "64k", "--jobs", "4", "--parts", "--bytes", "2M", "--json"];

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}\n{}", run.stdout, run.stderr))
}

#[test]
fn a_parameter_of_a_simulated_device_is_told() {
    let arguments = [&STREAMS[..], &["--vary", "mapping.open=2,8", "--blocks", "8"]].concat();
    let run = flashscope(&arguments).run();
    run.expect(DONE);
    let record = json(&run);
    assert_eq!((&record["kind"], &record["layout"]), (&"sweep".into(), &"one_at_a_time".into()));
    let answer = &record["answers"][0];
    assert_eq!((&answer["verdict"]["word"], &answer["value"]), (&"better".into(), &1.into()), "{answer:#}");
    assert!(answer["ratio"]["value"].as_f64().unwrap() > 2.0, "{answer:#}");
    assert_eq!(record["knob_settings"][0]["label"], "mapping.open=2");
    assert_eq!(record["campaign"]["end"], "decided");
    let schema: Value = serde_json::from_str(&flashscope(&["schema", "sweep"]).run().stdout).unwrap();
    let problems: Vec<String> =
        jsonschema::validator_for(&schema).unwrap().iter_errors(&record).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(run.stdout, flashscope(&arguments).run().stdout, "the same seed gives the same bytes");

    let folder = scratch();
    std::fs::write(folder.join("record.json"), &run.stdout).unwrap();
    let report = |name: &str| {
        flashscope(&["report", "record.json", "-o", name]).current_dir(&folder).run().expect(DONE);
        std::fs::read(folder.join(name)).unwrap()
    };
    let csv = String::from_utf8(report("r.csv")).unwrap();
    assert!(
        csv.starts_with("condition,figure,unit,runs,void_runs,mean,stdev,centre,") && csv.contains("mapping.open=8")
    );
    let page = String::from_utf8(report("r.html")).unwrap();
    assert!(page.contains(">The answer") && page.contains("Ratios to the baseline"));
    assert!(report("r.xlsx").starts_with(b"PK"));
    let text = flashscope(&["report", "record.json"]).current_dir(&folder).env("COLUMNS", "80").run().stdout;
    assert!(text.contains("mapping.open: 8 against 2: bench write") && text.contains("faster"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_factorial_of_job_settings_says_what_values_do_together() {
    let arguments = [
        "sweep",
        "sim:sd-4mib",
        "--vary",
        "bs=4k,64k",
        "--vary",
        "iodepth=1,4",
        "--full",
        "--rw",
        "randread",
        "--count",
        "200",
        "--blocks",
        "6",
        "--json",
    ];
    let run = flashscope(&arguments).run();
    run.expect(DONE);
    let record = json(&run);
    let labels: Vec<&str> =
        record["knob_settings"].as_array().unwrap().iter().map(|one| one["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["bs=4k, iodepth=1", "bs=64k, iodepth=1", "bs=4k, iodepth=4", "bs=64k, iodepth=4"]);
    assert!(record["groups"][0]["readings"]["metrics"][0]["unit"] == "B/s", "sizes differ, so bytes are counted");
    let effects = record["effects"].as_array().unwrap();
    assert!(effects.iter().any(|effect| effect["terms"].as_array().unwrap().len() == 2), "{effects:#?}");
}

#[test]
fn mistakes_are_said_before_anything_is_done() {
    let check = |arguments: &[&str], parts: &[&str]| {
        let run = flashscope(&[&["sweep"], arguments].concat()).run();
        run.expect(CANNOT);
        for part in parts {
            assert!(run.stderr.contains(part), "{arguments:?}: {}", run.stderr);
        }
    };
    let file = scratch().join("card.img");
    std::fs::write(&file, vec![7; 1 << 20]).unwrap();
    let file = file.to_str().unwrap();
    let read = ["--rw", "read"];
    check(&["sim:sd-4mib"], &["nothing is varied", "--vary KNOB=A,B"]);
    check(&["sim:sd-4mib", "--vary", "mapping.open=2,4"], &["there is no job to run", "--preset NAME"]);
    check(&[&["sim:sd-4mib", "--vary", "mapping.opne=2,4"], &read[..]].concat(), &["mapping.opne", "did you mean"]);
    check(&[&["sim:sd-4mib", "--vary", "bs=4k"], &read[..]].concat(), &["bs has one value"]);
    check(&[&["sim:sd-4mib", "--vary", "bs=4k,x"], &read[..]].concat(), &["bs", "'x' is not a size"]);
    check(&[&["sim:sd-4mib", "--vary", "bs=4k,8k", "--vary", "bs=1k,2k"], &read[..]].concat(), &["bs is varied twice"]);
    check(&[&["sim:sd-4mib", "--vary", "bs"], &read[..]].concat(), &["there are no values"]);
    check(
        &[&[file, "--vary", "schedular=none,bfq"], &read[..]].concat(),
        &["no knob 'schedular'", "did you mean scheduler?"],
    );
    check(&[&[file, "--vary", "/etc/passwd=a,b"], &read[..]].concat(), &["only what lies below /sys and /proc/sys"]);
    check(&[&[file, "--vary", "/sys/kernel/nothing=a,b"], &read[..]].concat(), &["there is no /sys/kernel/nothing"]);
    check(&[&[file, "--vary", "/proc/sys/kernel/osrelease=a,b"], &read[..]].concat(), &["may not be written"]);
    check(&["sim:sd-4mib", "--knobs"], &["a simulated device has no kernel"]);
    check(&[&[file, "--vary", "bs=4k,8k", "--sysfs", "/nowhere"], &read[..]].concat(), &["/nowhere holds no tree"]);
}

/// A tree with the governors that a machine may lack, and a file to read.
struct Tree {
    root: PathBuf,
    file: PathBuf,
}

impl Tree {
    fn new() -> Tree {
        let root = scratch();
        for cpu in ["cpu0", "cpu1"] {
            let folder = root.join("sys/devices/system/cpu").join(cpu).join("cpufreq");
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("scaling_governor"), "ondemand\n").unwrap();
        }
        let file = root.join("card.img");
        std::fs::write(&file, vec![7; 4 << 20]).unwrap();
        Tree { root, file }
    }

    fn knob(&self) -> PathBuf {
        self.root.join("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor")
    }

    fn governor(&self) -> String {
        std::fs::read_to_string(self.knob()).unwrap().trim().to_owned()
    }

    /// Reads through the page cache, which every file system has.
    fn arguments<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let fixed = ["sweep", self.file.to_str().unwrap(), "--sysfs", self.root.to_str().unwrap()];
        let job = ["--rw", "read", "--bs", "64k", "--mode", "cached", "--warm-up-count", "1"];
        fixed.iter().chain(&job).chain(more).copied().collect()
    }

    /// A sweep that takes its time.
    fn slow(&self) -> Child {
        let vary = [
            "--vary",
            "governor=ondemand,performance",
            "--pause",
            "300ms",
            "--blocks",
            "100",
            "--json",
            "--margin",
            "0.02%",
        ];
        let child = flashscope(&self.arguments(&vary)).started();
        self.wait_for("performance");
        // The rehearsal is over as soon as the baseline is measured; then the other one has its turn.
        self.wait_for("ondemand");
        self.wait_for("performance");
        child
    }

    fn wait_for(&self, governor: &str) {
        let begun = Instant::now();
        while self.governor() != governor {
            assert!(begun.elapsed() < Duration::from_secs(60), "the governor never becomes {governor}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn note(&self) -> PathBuf {
        self.root.join("run/flashscope/sweep/restore")
    }
}

fn ended(child: Child) -> Run {
    Run::from(child.wait_with_output().expect("the binary ends"))
}

#[test]
fn knobs_are_as_they_were() {
    let tree = Tree::new();
    let run = flashscope(&tree.arguments(&["--vary", "governor=powersave,ondemand", "--blocks", "3", "--json"])).run();
    run.expect(DONE);
    let record = json(&run);
    let knob = &record["knobs"][0];
    assert_eq!((&knob["before"], &knob["baseline"], &knob["place"]), (&"ondemand".into(), &1.into(), &"host".into()));
    assert_eq!(knob["paths"].as_array().unwrap().len(), 2);
    assert_eq!((tree.governor().as_str(), tree.note().exists()), ("ondemand", false));

    let planned = flashscope(&tree.arguments(&["--vary", "governor=powersave,ondemand", "--dry-run"])).run();
    planned.expect(DONE);
    assert!(planned.stdout.contains("2 conditions") && planned.stdout.contains("changes and puts back: /sys/devices/"));
    let listed = flashscope(&tree.arguments(&["--knobs"])).run();
    assert!(listed.stdout.contains("governor") && listed.stdout.contains("ondemand"), "{}", listed.stdout);
}

#[test]
fn an_interrupt_keeps_what_was_measured_and_puts_the_knobs_back() {
    let tree = Tree::new();
    let child = tree.slow();
    interrupt(&child);
    let run = ended(child);
    run.expect(CANNOT);
    assert_eq!((tree.governor().as_str(), tree.note().exists()), ("ondemand", false), "{}", run.stderr);
    let record = json(&run);
    assert_eq!(record["campaign"]["end"], "interrupted");
    assert!(record["groups"][0]["readings"]["rows"].is_array());

    // The second one ends it at once, and puts the knobs back all the same.
    let child = tree.slow();
    interrupt(&child);
    std::thread::sleep(Duration::from_millis(350));
    let _ = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    ended(child);
    assert_eq!((tree.governor().as_str(), tree.note().exists()), ("ondemand", false));
}

#[test]
fn after_a_kill_only_a_sweep_puts_the_knobs_back() {
    let tree = Tree::new();
    let mut child = tree.slow();
    let restore = || flashscope(&["sweep", "--restore", "--sysfs", tree.root.to_str().unwrap()]).run();
    let vary = ["--vary", "governor=ondemand,powersave", "--blocks", "2"];

    // Not under a living one.
    let second = flashscope(&tree.arguments(&vary)).run();
    second.expect(CANNOT);
    let who = format!("another sweep (process {}) is changing the knobs", child.id());
    assert!(second.stderr.contains(&who), "{}", second.stderr);
    restore().expect(CANNOT);

    tree.wait_for("performance");
    child.kill().expect("SIGKILL");
    ended(child);
    let left = tree.governor();
    assert!(tree.note().exists());
    flashscope(&["bench", tree.file.to_str().unwrap(), "--rw", "read", "--mode", "cached"]).run().expect(DONE);
    assert_eq!(tree.governor(), left, "no other command touches them");

    let run = restore();
    run.expect(DONE);
    assert_eq!((tree.governor().as_str(), tree.note().exists()), ("ondemand", false), "{}", run.stderr);
    assert!(restore().stdout.contains("nothing was left"));

    // The next sweep does it as well, before it looks at what the knobs are.
    let mut child = tree.slow();
    child.kill().expect("SIGKILL");
    ended(child);
    std::fs::write(tree.knob(), "performance\n").unwrap();
    let run = flashscope(&tree.arguments(&[&vary[..], &["--json"]].concat())).run();
    run.expect(DONE);
    assert!(run.stderr.contains("put back after a sweep that was killed"), "{}", run.stderr);
    assert_eq!(tree.governor(), "ondemand");
    assert_eq!(json(&run)["knobs"][0]["before"], "ondemand");
}

#[test]
fn another_program_that_changes_a_knob_voids_the_run() {
    let tree = Tree::new();
    let child = tree.slow();
    // As a daemon would: again and again.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) {
        if tree.governor() == "performance" {
            std::fs::write(tree.knob(), "conservative\n").unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    if !is_over(&child) {
        interrupt(&child);
    }
    let run = ended(child);
    let record = json(&run);
    let condition = &record["knob_settings"][1];
    let void = condition["void"].as_array().unwrap();
    assert!(!void.is_empty(), "{condition:#}\n{}", run.stderr);
    assert!(void[0].as_str().unwrap().contains("is 'conservative': another program changes it"), "{condition:#}");
    assert!(condition["ended"].as_str().unwrap().contains("void again and again"), "{condition:#}");
    assert_eq!(tree.governor(), "ondemand");
}

fn is_over(child: &Child) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(child.id().to_string()).join("stat"));
    stat.map_or(true, |stat| stat.contains(") Z "))
}

#[test]
fn the_kernels_knobs_of_a_loop_device() {
    let Some(device) = Loop::new("sweeping the read-ahead of a loop device", 16) else { return };
    let queue = Path::new("/sys/block").join(device.node.trim_start_matches("/dev/")).join("queue");
    let get = |name: &str| std::fs::read_to_string(queue.join(name)).unwrap();
    let was = [get("read_ahead_kb"), get("scheduler"), get("nr_requests")];
    let job = ["--rw", "read", "--bs", "128k", "--mode", "cached", "--blocks", "2", "--json"];
    let run = flashscope(&[&["sweep", &device.node, "--vary", "read_ahead_kb=64,1024,none"], &job[..]].concat()).run();
    if run.stderr.contains("another sweep") {
        return crate::harness::left_out("sweeping the read-ahead of a loop device (another sweep is at work)");
    }
    // A value that the kernel refuses ends its condition, and is told by the exit code.
    run.expect(NOT_ALL);
    let record = json(&run);
    let conditions = record["knob_settings"].as_array().unwrap();
    assert_eq!(conditions.len(), 3);
    let refused = conditions.iter().find(|one| one["label"] == "read_ahead_kb=none").unwrap();
    assert!(refused["ended"].as_str().unwrap().contains("EINVAL"), "{refused:#}");
    assert!(conditions.iter().filter(|one| one["ended"].is_null()).all(|one| one["runs"].as_u64() >= Some(2)));
    assert_eq!([get("read_ahead_kb"), get("scheduler"), get("nr_requests")], was);
    assert!(!Path::new("/run/flashscope/sweep/restore").exists());
}
