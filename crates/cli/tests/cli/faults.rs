//! What the binary makes of devices on which something is wrong: it keeps what was measured, says how the run ended, and
//! ends with the right code.

use crate::harness::{Run, flashscope, scratch};

const DONE: i32 = 0;
const CANNOT: i32 = 2;

fn record(run: &Run) -> serde_json::Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", run.stdout, run.stderr))
}

fn runs(record: &serde_json::Value) -> &Vec<serde_json::Value> {
    record["observations"]["runs"].as_array().expect("the runs are kept")
}

/// A run that lost its device: exit code 2, a reason, and all of the measurements until then.
fn check_lost(spec: &str, reason: &str) -> serde_json::Value {
    let run = flashscope(&["inspect", spec, "--json"]).run();
    run.expect(CANNOT);
    let record = record(&run);
    assert_eq!(record["schema"], "flashscope.record/2");
    assert_eq!(record["ended"]["how"], "device_lost", "{spec}");
    let why = record["ended"]["reason"].as_str().expect("a reason");
    assert!(why.contains(reason), "{spec}: {why}");
    assert!(run.stderr.contains(reason) && run.stderr.contains("hint"), "{spec}: {}", run.stderr);
    assert!(!runs(&record).is_empty(), "{spec}: nothing was kept");
    record
}

#[test]
fn a_device_that_vanishes_leaves_what_was_measured() {
    let whole = record(&flashscope(&["inspect", "sim:sd-4mib", "--json"]).run());
    let cut = check_lost("sim:sd-4mib,vanish_after=2000", "vanished");
    assert!(cut["cost"]["read_bytes"].as_u64().unwrap() > 0);
    assert!(cut["cost"]["time_ns"].as_u64() < whole["cost"]["time_ns"].as_u64());
    // All runs but the last are those of the whole one, to the sample.
    let (cut, whole) = (runs(&cut), runs(&whole));
    assert!(cut.len() > 1 && cut.len() < whole.len());
    assert_eq!(cut[..cut.len() - 1], whole[..cut.len() - 1]);
    assert_eq!(cut.last().unwrap()["complete"], false);
    check_lost("sim:sd-4mib,vanish_at=2s", "vanished");
}

#[test]
fn a_run_that_is_cut_short_can_be_looked_at_again() {
    let folder = scratch();
    let run = flashscope(&["inspect", "sim:sd-4mib,vanish_after=2000", "--json"]).run();
    let path = folder.join("r.json");
    std::fs::write(&path, &run.stdout).unwrap();
    for command in ["report", "infer"] {
        flashscope(&[command, path.to_str().unwrap()]).run().expect(DONE);
    }
}

#[test]
fn a_power_cut_and_a_hang_end_a_run_with_their_reason() {
    check_lost("sim:sd-4mib,power_cut_after=500", "power was cut");
    check_lost("sim:sd-4mib,power_cut_at=3s,write_cache=4MiB", "power was cut");
    let hung = check_lost("sim:sd-4mib,hanging=0.001,hang_timeout=7s", "no completion within 7.00 s");
    assert!(hung["cost"]["time_ns"].as_u64().unwrap() >= 7_000_000_000);
}

#[test]
fn failing_sectors_are_kept_and_the_rest_goes_on() {
    let run = flashscope(&["inspect", "sim:sd-4mib,failing=0.002,grain=16KiB,fails=reads", "--json"]).run();
    run.expect(DONE);
    let record = record(&run);
    assert_eq!(record["ended"]["how"], "complete");
    let failures: Vec<&serde_json::Value> =
        runs(&record).iter().flat_map(|run| run["failures"].as_array().expect("failures")).collect();
    assert!(!failures.is_empty(), "no failure was kept");
    for failure in &failures {
        assert!(failure["reason"].as_str().is_some_and(|reason| reason.starts_with("EIO")), "{failure}");
    }
    assert_eq!(record["geometry"]["allocation_unit"]["bytes"], 4 << 20, "the rest tells it all the same");
}

#[test]
fn a_device_that_only_fails_is_given_up() {
    let run = flashscope(&["inspect", "sim:sd-4mib,failing=1.0", "--json"]).run();
    run.expect(CANNOT);
    let record = record(&run);
    assert_eq!(record["ended"]["how"], "device_lost");
    assert!(record["geometry"]["allocation_unit"]["bytes"].is_null());
}

#[test]
fn slow_sectors_and_a_reset_spoil_no_answer() {
    for faults in ["slow=0.002,slow_by=50ms", "reset_after=700,reset_pause=3s"] {
        let run = flashscope(&["inspect", &format!("sim:sd-4mib,{faults}"), "--json"]).run();
        run.expect(DONE);
        let unit = &record(&run)["geometry"]["allocation_unit"];
        assert!(unit["bytes"] == 4 << 20 || unit["bytes"].is_null(), "{faults}: {unit}");
    }
}

/// Every kind of fake is characterised without a word of its size: that is another command's work.
#[test]
fn fakes_are_devices_like_others() {
    for fake in [
        "fake=wrap-around,real_capacity=1GiB",
        "fake=limbo,real_capacity=1GiB",
        "fake=chain,real_capacity=1GiB,wrap=2GiB",
        "fake=damaged,damaged=0.05",
    ] {
        let run = flashscope(&["inspect", &format!("sim:sd-4mib,{fake}"), "--json"]).run();
        run.expect(DONE);
        assert_eq!(record(&run)["device"]["capacity_bytes"], 7_948_206_080_u64, "{fake}");
    }
}

#[test]
fn the_parameters_are_shown_and_mistakes_explained() {
    let shown = flashscope(&["sim", "show", "sim:sd-4mib,fake=limbo,real_capacity=1GiB", "--truth"]).run();
    shown.expect(DONE);
    for line in ["[fault]", "fake = \"limbo\"", "real_capacity = \"1GiB\"", "limbo: 1 GiB of"] {
        assert!(shown.stdout.contains(line), "{line} is missing from:\n{}", shown.stdout);
    }
    let check = |spec: &str, word: &str| {
        let run = flashscope(&["inspect", spec]).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(word), "{spec}: {}", run.stderr);
    };
    check("sim:sd-4mib,vanish_aftr=5", "vanish_after");
    check("sim:sd-4mib,fake=limbo", "real_capacity");
    check("sim:sd-4mib,failing=4KX-8KX", "unknown unit");
}
