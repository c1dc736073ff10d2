//! The settings file: what it sets, what goes over it, and what it is refused for.

use crate::harness::{Call, Run, flashscope, scratch};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const DONE: i32 = 0;
const CANNOT: i32 = 2;

/// A settings file in a folder of its own.
fn settings(text: impl AsRef<[u8]>) -> PathBuf {
    let path = scratch().join("settings.toml");
    std::fs::write(&path, text).unwrap();
    path
}

/// A call with this settings file.
fn with(path: &Path, arguments: &[&str]) -> Call {
    flashscope(arguments).env("FLASHSCOPE_SETTINGS", path)
}

fn record(run: &Run) -> Value {
    run.expect(DONE);
    serde_json::from_str(&run.stdout).expect("JSON")
}

/// What `settings --json` says of one.
fn setting(run: &Run, name: &str) -> Value {
    let all = record(run)["settings"].clone();
    all.as_array().unwrap().iter().find(|setting| setting["name"] == name).expect(name).clone()
}

#[test]
fn the_command_line_goes_over_the_environment_over_the_file_over_the_default() {
    let path = settings("# mine\nseed = 3\nmax_write = \"8MiB\"\n");
    let check = |call: Call, seed: u64, source: &str| {
        let said = setting(&call.run(), "seed");
        assert_eq!((&said["value"], &said["source"]), (&json!(seed), &json!(source)));
    };
    check(flashscope(&["settings", "--json"]), 1, "default");
    check(with(&path, &["settings", "--json"]), 3, "settings file");
    check(with(&path, &["settings", "--json"]).env("FLASHSCOPE_SEED", "4"), 4, "environment");
    check(with(&path, &["settings", "--json", "--seed", "5"]).env("FLASHSCOPE_SEED", "4"), 5, "command line");
    let seed = |call: Call| record(&call.run())["plan"]["seed"].clone();
    let probe = ["probe", "floor", "--json"];
    assert_eq!(seed(flashscope(&probe)), 1);
    assert_eq!(seed(with(&path, &probe)), 3);
    assert_eq!(seed(with(&path, &probe).env("FLASHSCOPE_SEED", "4")), 4);
    assert_eq!(seed(with(&path, &["probe", "floor", "--json", "--seed", "5"]).env("FLASHSCOPE_SEED", "4")), 5);
}

#[test]
fn a_file_is_named_or_lies_in_its_place() {
    let folder = scratch();
    std::fs::create_dir(folder.join("flashscope")).unwrap();
    std::fs::write(folder.join("flashscope/settings.toml"), "seed = 6\n").unwrap();
    let home = || flashscope(&["settings", "--json"]).env("XDG_CONFIG_HOME", &folder);
    let said = setting(&home().run(), "seed");
    assert_eq!((&said["value"], &said["line"]), (&json!(6), &json!(1)));
    let other = settings("seed = 7\n");
    let named = flashscope(&["settings", "--json", "--settings", other.to_str().unwrap()]);
    let named = named.env("XDG_CONFIG_HOME", &folder).env("FLASHSCOPE_SETTINGS", "/no/such/file");
    assert_eq!(setting(&named.run(), "seed")["value"], 7);
    assert_eq!(setting(&home().env("FLASHSCOPE_SETTINGS", "/dev/null").run(), "seed")["value"], 1);
    let text = home().env("XDG_CONFIG_HOME", scratch()).run();
    text.expect(DONE);
    assert!(text.stdout.contains("\"found\": false"), "{}", text.stdout);
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    let check = |path: &Path, expect: &str| {
        let run = with(path, &["inspect", "--json"]).run();
        run.expect(CANNOT);
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains(expect), "{expect}: {}", run.stderr);
        assert!(run.stderr.contains("hint: ") && run.stdout.is_empty(), "{}", run.stderr);
        // Whoever asks for help is not sent away.
        with(path, &["inspect", "--help"]).run().expect(DONE);
    };
    let wrong = |text: &str, expect: &str| check(&settings(text), expect);
    wrong(
        "seed = 1\ncolour = 'never'\n",
        "settings.toml, line 2: there is no setting 'colour'\nhint: did you mean color?",
    );
    wrong("seed = 'x'\n", "settings.toml, line 1: seed is a number from 0 to");
    wrong(
        "[bench]\nrandom_time = '100h'\n[inspect]\nmax_time = '1000000h'",
        "line 4: '1000000h' cannot be inspect.max_time",
    );
    wrong("allow_write = true\n", "consent holds for one run and one target");
    wrong("[inspect]\ndestroy-data = 'x'\n", "line 2: 'inspect.destroy-data' cannot be a setting");
    wrong("seed =\n", "line 1: ");
    check(&settings(b"seed = 1\n# \xff\n"), "line 2: this is not text (UTF-8)");
    check(&settings(vec![b'#'; 1 << 20]), "longer than settings can be");
    check(Path::new("/no/such/file"), "cannot read the settings in /no/such/file: there is no such file");
    check(&scratch(), "it is a directory");
}

#[test]
fn how_results_are_said_can_be_set() {
    let path = settings("color = \"always\"\nquiet = true\n");
    let run = with(&path, &["inspect"]).run();
    run.expect(DONE);
    assert!(run.stdout.contains("\x1b[") && run.stderr.is_empty(), "{}", run.stderr);
    assert!(!with(&path, &["inspect", "--color", "never"]).run().stdout.contains("\x1b["));
    assert!(!with(&path, &["inspect", "-v"]).run().stderr.is_empty(), "what was typed is not silenced");
    let verbose = settings("verbose = true\n");
    let long = with(&verbose, &["inspect", "--no-files"]).run().stdout.len();
    assert!(long > flashscope(&["inspect", "--no-files"]).run().stdout.len());
}

#[test]
fn limits_hold_where_nobody_says_otherwise() {
    let path = settings("max_write = \"8MiB\"\n[inspect]\nmax_time = \"10s\"\n");
    let cost = |arguments: &[&str]| record(&with(&path, arguments).run())["cost"].clone();
    let small = cost(&["inspect", "--json"]);
    assert!(small["written_bytes"].as_u64().unwrap() <= 8 << 20, "{small}");
    // The request that is under way when the time is over is waited for.
    assert!(small["time_ns"].as_u64().unwrap() <= 10_500_000_000, "{small}");
    let more = cost(&["inspect", "--json", "--max-write", "64M", "--max-time", "10min"]);
    assert!(more["written_bytes"].as_u64().unwrap() > 8 << 20, "{more}");
}

#[test]
fn jobs_say_more_than_settings() {
    let path = settings("[bench]\nrandom_time = \"3s\"\nmode = \"dsync\"\n");
    let plan = |arguments: &[&str]| {
        let run = with(&path, &[&["bench", "sim:sd-4mib", "--dry-run"], arguments].concat()).run();
        run.expect(DONE);
        run.stdout
    };
    let check = |arguments: &[&str], expect: &[&str]| {
        let plan = plan(arguments);
        assert!(expect.iter().all(|line| plan.contains(line)), "{arguments:?}: {expect:?} in\n{plan}");
    };
    check(&["--rw", "randread"], &["runtime = \"3s\"", "mode = \"dsync\""]);
    check(&["--rw", "randread", "--mode", "direct", "--runtime", "5"], &["runtime = \"5s\"", "mode = \"direct\""]);
    let job = scratch().join("job.toml");
    std::fs::write(&job, "[all]\nmode = \"fdatasync\"\n[[job]]\nrw = \"randwrite\"\n").unwrap();
    check(&["--job", job.to_str().unwrap()], &["runtime = \"3s\"", "mode = \"fdatasync\""]);
    // What others agreed to measure is measured as they did.
    let preset = ["--preset", "crystaldiskmark"];
    let plain = flashscope(&[&["bench", "sim:sd-4mib", "--dry-run"], &preset[..]].concat()).run();
    assert_eq!(plan(&preset), plain.stdout);
}

#[test]
fn the_example_of_the_page_sets_every_setting() {
    let page = include_str!("../../../../docs/settings.md");
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let run = with(&settings(example), &["settings", "--json"]).run();
    let all = record(&run)["settings"].clone();
    for setting in all.as_array().unwrap() {
        let line = setting["line"].as_u64().unwrap_or_else(|| panic!("{setting} is not in the example"));
        let text = example.lines().nth(line as usize - 1).unwrap();
        let name = setting["name"].as_str().unwrap().rsplit('.').next().unwrap();
        assert!(text.starts_with(&format!("{name} = ")), "{setting}: {text}");
    }
}
