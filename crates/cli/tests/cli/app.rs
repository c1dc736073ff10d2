//! `app`: what is played, what is refused, and what an end at any moment leaves behind.

use crate::devices::Mounted;
use crate::harness::{Run, flashscope, have_built, interrupt, left_out, scratch};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

const DONE: i32 = 0;
const FAILED: i32 = 1;
const CANNOT: i32 = 2;

/// The program that plays lies beside the one under test.
pub(crate) fn with_player() {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| have_built("flashscope-player"));
}

pub(crate) fn record(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).expect("one JSON document")
}

fn names_in(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn an_app_is_played_again_and_again_and_leaves_nothing() {
    with_player();
    let folder = scratch();
    let words = ["app", "contacts", folder.to_str().unwrap(), "--rounds", "8", "--repeat", "3", "--json"];
    let run = flashscope(&words).run();
    run.expect(DONE);
    let record = record(&run);
    let runs = record["app_runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    for run in runs {
        // 8 inserts, an update in every other round and a delete in every fourth.
        let counts: Vec<usize> = run["operations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|operation| operation["response_time_ns"].as_array().unwrap().len())
            .collect();
        assert_eq!(counts, [8, 4, 2]);
        let time = |name: &str| run[name].as_u64().unwrap();
        let within: u64 = run["operations"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|operation| operation["response_time_ns"].as_array().unwrap())
            .map(|time| time.as_u64().unwrap())
            .sum();
        // All of the run is accounted for: operations, thinking, and our own time.
        assert_eq!(time("elapsed_ns"), within + time("think_time_ns") + time("own_time_ns"));
    }
    let figures = &record["figures"][0];
    assert_eq!((&figures["app"], &figures["runs"]), (&"contacts".into(), &3.into()));
    // On a busy machine three times scatter so much that their interval would reach below zero.
    assert!(figures["run_time"]["deviation_ns"].is_u64());
    assert!(record["place"]["sqlite_version"].as_str().unwrap().starts_with("3."));
    assert_eq!(names_in(&folder), Vec::<String>::new());
}

#[test]
fn a_definition_of_ones_own_is_played_and_its_settings_are_sqlites() {
    with_player();
    let folder = scratch();
    let explained = flashscope(&["app", "messenger", "--explain"]).run();
    explained.expect(DONE);
    std::fs::write(folder.join("mine.toml"), explained.stdout.replace("\"messenger\"", "\"mine\"")).unwrap();
    let words =
        ["app", "mine.toml", ".", "--rounds", "10", "--repeat", "1", "--journal", "persist", "--keep-files", "--json"];
    let run = flashscope(&words).current_dir(&folder).run();
    run.expect(DONE);
    assert_eq!(record(&run)["plan"]["journal_mode"], "persist");
    let left = names_in(&folder).into_iter().find(|name| name.starts_with("flashscope-app-")).expect("kept");
    let files = names_in(&folder.join(left).join("1-1-mine"));
    // A journal of this mode stays; one of the app's own mode (WAL) is another file.
    assert!(files.contains(&"messages.db-journal".to_owned()), "{files:?}");
}

#[test]
fn a_database_that_breaks_is_an_outcome_and_one_that_is_busy_is_waited_for() {
    with_player();
    let folder = scratch();
    let insert = r#"steps = [{ do = "sql", database = "one", statements = [
        { sql = "INSERT INTO t (text) VALUES (?)", values = ["text:4000"] }] }]"#;
    let app = |second: &str| {
        let text = format!(
            "name = \"own\"\ntitle = \"t\"\nsource = \"s\"\nrounds = 3\n[databases.one]\nfile = \"one.db\"\njournal = \"truncate\"\n\
             schema = [\"CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)\"]\n[[operation]]\nname = \"insert\"\n{insert}\n\
             [[operation]]\nname = \"second\"\n{second}\n"
        );
        std::fs::write(folder.join("own.toml"), text).unwrap();
        flashscope(&["app", "./own.toml", ".", "--repeat", "1", "--json"]).current_dir(&folder).run()
    };
    // It pauses, or a file system whose fsync is slow would leave no gap for the one that waits.
    let run = app(&format!("thread = \"other\"\nthink = \"20ms\"\n{insert}"));
    run.expect(DONE);
    assert_eq!(record(&run)["app_runs"][0]["failures"], Value::Array(Vec::new()));
    let run = app(r#"steps = [{ do = "truncate", file = "one.db", size = "1KiB" }]"#);
    run.expect(FAILED);
    let told = &record(&run)["app_runs"][0];
    let what = told["failures"][0]["what"].as_str().unwrap_or_else(|| panic!("{told}"));
    assert!(what.contains("database disk image is malformed"), "{what}");
}

#[test]
fn what_an_app_must_not_say_is_refused_before_anything_is_made() {
    let folder = scratch();
    let app = |steps: &str| {
        format!(
            "name = \"x\"\ntitle = \"x\"\nsource = \"me\"\nrounds = 1\n[databases.d]\nfile = \"d.db\"\nschema = []\n\
             [[operation]]\nname = \"op\"\nsteps = [{steps}]\n"
        )
    };
    for (steps, said) in [
        (r#"{ do = "write", file = "/etc/x", size = "1KiB" }"#, "leads out of the directory"),
        (r#"{ do = "write", file = "../x", size = "1KiB" }"#, "leads out of the directory"),
        (r#"{ do = "sql", database = "d", statements = [{ sql = "ATTACH '/etc/passwd' AS x" }] }"#, "attach"),
        (r#"{ do = "run", command = "rm" }"#, "run"),
    ] {
        std::fs::write(folder.join("bad.toml"), app(steps)).unwrap();
        let run = flashscope(&["app", "bad.toml", "."]).current_dir(&folder).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(said), "{steps}: {}", run.stderr);
        assert_eq!(names_in(&folder), ["bad.toml"]);
    }
    for (words, said) in [
        (&["app", "camara", "."][..], "hint: did you mean camera"),
        (&["app", "camera", "sim:sd-5mib"], "sd-5mib"),
        (&["app", "camera", "bad.toml"], "is no directory and no block device"),
        (&["app", "camera", ".", "--fs", "xfs"], "hint: leave out --fs"),
        (&["app", "camera", "sim:sd-4mib", "--destroy-data", "x"], "hint: leave out --destroy-data"),
        (&["app", "camera", "nowhere"], "there is no directory nowhere"),
        (&["app", "suite", "heavier", "."], "there is no suite called 'heavier'"),
        (&["app", "suite", "heavy", ".", "--count", "boot=3"], "has no app called 'boot'"),
        (&["app", "suite", "heavy", ".", "--sequence", "main,half"], "no case 'half'"),
    ] {
        let run = flashscope(words).current_dir(&folder).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(said), "{words:?}: {}", run.stderr);
    }
}

#[test]
fn an_interrupt_keeps_what_was_played_and_leaves_nothing() {
    with_player();
    let folder = scratch();
    let child =
        flashscope(&["app", "playback", ".", "--repeat", "2", "-o", "kept.json"]).current_dir(&folder).started();
    let begun = Instant::now();
    // The film is there, and some of it has been played.
    while begun.elapsed() < Duration::from_secs(60) {
        let film = names_in(&folder).into_iter().map(|name| folder.join(name).join("1-1-playback/film.mp4"));
        if film.into_iter().any(|film| film.metadata().is_ok_and(|found| found.len() == 24 << 20)) {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(800));
    interrupt(&child);
    let run = Run::from(child.wait_with_output().expect("it ends"));
    run.expect(CANNOT);
    assert!(run.stderr.contains("interrupted"), "{}", run.stderr);
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(folder.join("kept.json")).unwrap()).unwrap();
    assert_eq!(kept["ended"]["how"], "interrupted");
    assert_eq!(kept["app_runs"].as_array().unwrap().len(), 1);
    assert_eq!(names_in(&folder), ["kept.json"]);
}

/// The process that plays for this one.
pub(crate) fn player_of(parent: u32) -> Option<u32> {
    let programs = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let numbers = programs.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_player = |number: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        // Name, state and parent: the kernel keeps 15 letters of the name.
        let after = stat.rsplit_once(") ").map(|(before, after)| (before.contains("(flashscope-play"), after));
        after.is_some_and(|(named, after)| named && after.split(' ').nth(1) == Some(&parent.to_string()))
    };
    numbers.into_iter().find(is_player)
}

/// Waits until this holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_kill_leaves_nothing_and_what_a_killed_player_leaves_is_said() {
    with_player();
    let folder = scratch();
    let playing = || {
        let mut command = flashscope(&["app", "playback", "."]).current_dir(&folder).command();
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        until("it plays", || !names_in(&folder).is_empty());
        std::thread::sleep(Duration::from_millis(300));
        child
    };
    let mut child = playing();
    child.kill().expect("killed");
    child.wait().expect("gone");
    // The player ends by itself, and takes its files with it.
    until("the player goes on without flashscope", || names_in(&folder).is_empty());

    let child = playing();
    let player = player_of(child.id()).expect("it plays");
    assert!(Command::new("kill").args(["-KILL", &player.to_string()]).status().expect("kill runs").success());
    let run = Run::from(child.wait_with_output().expect("it ends"));
    run.expect(CANNOT);
    assert!(run.stderr.contains("flashscope-player ended with signal: 9"), "{}", run.stderr);
    let [left] = &names_in(&folder)[..] else { panic!("{:?}", names_in(&folder)) };
    let run = flashscope(&["app", "contacts", ".", "--rounds", "1", "--repeat", "1"]).current_dir(&folder).run();
    run.expect(DONE);
    assert!(run.stderr.contains(&format!("{left} was left by a run that was killed")), "{}", run.stderr);
    assert!(run.stderr.contains("hint: rm -r"), "{}", run.stderr);
}

#[test]
fn a_file_system_that_is_too_small_or_becomes_full_is_said() {
    with_player();
    let Some(mounted) = Mounted::new("app on a small file system", 64) else { return };
    let run = flashscope(&["app", "ota", mounted.path()]).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("not one round has room"), "{}", run.stderr);
    let run = flashscope(&["app", "camera", mounted.path(), "--rounds", "40"]).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("hint: --scale plays the "), "{}", run.stderr);
    let run =
        flashscope(&["app", "camera", mounted.path(), "--rounds", "40", "--scale", "--repeat", "1", "--json"]).run();
    run.expect(DONE);
    let rounds = record(&run)["plan"]["apps"][0]["rounds"].as_u64().unwrap();
    assert!((1..40).contains(&rounds), "{rounds}");
    assert!(record(&run)["place"]["block_device"].as_str().unwrap().starts_with("/dev/loop"));

    // Somebody else takes the room meanwhile: an outcome, which ends the run and not the program.
    let app = mounted.point.join("slow.toml");
    let steps = r#"{ do = "write", file = "{n}", size = "256KiB" }, { do = "fsync", file = "{n}" }"#;
    let text = "name = \"slow\"\ntitle = \"slow\"\nsource = \"me\"\nrounds = 60\n[[operation]]\nname = \"op\"\nthink = \"50ms\"\n";
    std::fs::write(&app, format!("{text}steps = [{steps}]\n")).unwrap();
    let child = flashscope(&["app", app.to_str().unwrap(), mounted.path(), "--repeat", "2", "--json"]).started();
    std::thread::sleep(Duration::from_millis(1200));
    let room = rustix::fs::statvfs(&mounted.point).expect("it is mounted");
    let taken = std::fs::File::create(mounted.point.join("taken")).unwrap();
    let most = room.f_bavail * room.f_frsize - (128 << 10);
    rustix::fs::fallocate(&taken, rustix::fs::FallocateFlags::empty(), 0, most).expect("taken");
    let run = Run::from(child.wait_with_output().expect("it ends"));
    run.expect(FAILED);
    let record = record(&run);
    let ended = record["app_runs"][0]["ended_by"].as_str().expect("it ended early");
    assert!(ended.contains("ENOSPC"), "{ended}");
    assert!(!record["app_runs"][0]["operations"][0]["response_time_ns"].as_array().unwrap().is_empty());
    assert_eq!(record["ended"]["how"], "complete");
}

#[test]
fn the_sync_call_that_is_recorded_is_the_one_that_sqlite_makes() {
    with_player();
    let folder = scratch();
    let log = folder.join("calls");
    let words =
        ["-f", "-y", "-e", "trace=fsync,fdatasync", "-o", log.to_str().unwrap(), env!("CARGO_BIN_EXE_flashscope")];
    let app = ["app", "contacts", folder.to_str().unwrap(), "--rounds", "4", "--repeat", "1", "--json"];
    let Ok(output) = Command::new("strace").args(words).args(app).output() else {
        return left_out("which call SQLite makes (no strace)");
    };
    assert_eq!(output.status.code(), Some(DONE), "{}", String::from_utf8_lossy(&output.stderr));
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    let said = format!("{}(", record["place"]["sync_call"].as_str().unwrap());
    let calls = std::fs::read_to_string(log).unwrap();
    let of_database: Vec<&str> = calls.lines().filter(|line| line.contains(".db")).collect();
    assert!(of_database.len() >= 4 && of_database.iter().all(|line| line.contains(&said)), "{said}: {calls}");
}
