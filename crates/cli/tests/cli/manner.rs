//! What every command takes: colours, silence, all of the evidence; and what help and version say.

use crate::harness::{flashscope, scratch};

const DONE: i32 = 0;
const CANNOT: i32 = 2;

#[test]
fn colours_are_used_when_they_are_asked_for() {
    let check = |arguments: &[&str], coloured: bool| {
        // What is said in words goes over the environment.
        let run = flashscope(arguments).env("NO_COLOR", "1").run();
        run.expect(DONE);
        assert_eq!(run.stdout.contains("\x1b["), coloured, "{arguments:?}");
    };
    check(&["inspect", "--no-files"], false);
    check(&["inspect", "--no-files", "--color", "always"], true);
    check(&["--color=always", "inspect", "--no-files"], true);
    check(&["inspect", "--no-files", "--color", "never"], false);
    check(&["inspect", "--no-files", "--color", "auto"], false);
    check(&["inspect", "--help"], false);
    check(&["inspect", "--help", "--color", "always"], true);
    check(&["--color", "always", "inspect", "--json"], false);
    let wrong = flashscope(&["inspect", "--color", "sometimes"]).run();
    wrong.expect(CANNOT);
    assert!(wrong.stderr.contains("sometimes") && wrong.stderr.contains("auto, always, never"), "{}", wrong.stderr);
    assert!(!flashscope(&["inspekt", "--color", "always"]).run().stderr.contains('\x1b'));
}

#[test]
fn quiet_leaves_results_and_errors() {
    let folder = scratch();
    let loud = flashscope(&["inspect"]).current_dir(&folder).run();
    let quiet = flashscope(&["inspect", "-q"]).current_dir(&folder).run();
    loud.expect(DONE);
    quiet.expect(DONE);
    assert!(loud.stderr.contains("flashscope-SD08G.html"), "{}", loud.stderr);
    assert_eq!(quiet.stderr, "");
    assert_eq!(quiet.stdout, loud.stdout);
    let wrong = flashscope(&["--quiet", "inspect", "/no/such/device"]).run();
    wrong.expect(CANNOT);
    assert!(wrong.stderr.contains("error: "), "{}", wrong.stderr);
}

#[test]
fn verbose_shows_what_a_first_glance_leaves_out() {
    let job = scratch().join("many.toml");
    std::fs::write(&job, "[[job]]\nrw = \"read\"\ncount = 1\n".repeat(26)).unwrap();
    let arguments = ["bench", "sim:sd-4mib", "--job", job.to_str().unwrap()];
    let short = flashscope(&arguments).run();
    let all = flashscope(&[&arguments[..], &["--verbose"]].concat()).run();
    short.expect(DONE);
    all.expect(DONE);
    assert!(short.stdout.contains("2 more phases: --verbose shows them"), "{}", short.stdout);
    assert!(!all.stdout.contains("more phases") && all.stdout.len() > short.stdout.len(), "{}", all.stdout);
}

#[test]
fn the_version_names_commit_and_machine() {
    let short = flashscope(&["-V"]).run();
    let long = flashscope(&["--version"]).run();
    let record = flashscope(&["inspect", "--json"]).run();
    let record: serde_json::Value = serde_json::from_str(&record.stdout).unwrap();
    let tool = &record["tool"];
    assert_eq!(short.stdout, format!("flashscope {}\n", tool["version"].as_str().unwrap()));
    let commit = tool["commit"].as_str().unwrap_or("unknown");
    let target = tool["target"].as_str().unwrap();
    assert_eq!(long.stdout, format!("{} (commit {commit}, {target})\n", short.stdout.trim_end()));
}

#[test]
fn a_bare_number_is_seconds_where_fio_takes_seconds() {
    let plan = flashscope(&["bench", "sim:sd-4mib", "--runtime", "10", "--ramp-time", "2", "--dry-run"]).run();
    plan.expect(DONE);
    assert!(plan.stdout.contains("runtime = \"10s\""), "{}", plan.stdout);
    assert!(plan.stdout.contains("warm_up = \"2s\""), "{}", plan.stdout);
    let elsewhere = flashscope(&["inspect", "--max-time", "10"]).run();
    elsewhere.expect(CANNOT);
    assert!(elsewhere.stderr.contains("hint: write 10s for seconds"), "{}", elsewhere.stderr);
}

#[test]
fn the_short_options_of_iozone_are_its_own() {
    let record = |words: &[&str]| {
        let run = flashscope(&[&["bench", "iozone", "-a", "-n", "64k", "-g", "64k", "-i", "0"], words].concat()).run();
        run.expect(DONE);
        run.stdout
    };
    assert!(
        record(&["-q", "16k", "-w"]).lines().count() < record(&["-w"]).lines().count(),
        "-q bounds the record size"
    );
}
