//! Apps as what `sweep` and `compare` do in turns: their figures, the knobs that they bring along, and what is left: nothing.

use crate::app::{player_of, record, until, with_player};
use crate::app_devices::{CARD, can_emulate, left};
use crate::devices::{Loop, alone};
use crate::harness::{Run, fixture, flashscope, interrupt, left_out, scratch};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

const DONE: i32 = 0;
const NOT_ALL: i32 = 1;
const CANNOT: i32 = 2;
const REFUSED: i32 = 3;

/// Names of the figures that were compared.
fn figures(record: &Value) -> Vec<String> {
    let metrics = record["groups"][0]["readings"]["metrics"].as_array().expect("metrics");
    metrics.iter().map(|metric| metric["name"].as_str().expect("a name").to_owned()).collect()
}

fn conditions(record: &Value) -> Vec<(String, u64)> {
    let all = record["knob_settings"].as_array().expect("conditions");
    all.iter().map(|one| (one["label"].as_str().unwrap().to_owned(), one["runs"].as_u64().unwrap())).collect()
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn settings_of_apps_are_knobs_and_what_users_notice_are_figures() {
    with_player();
    let folder = scratch();
    let path = folder.to_str().unwrap();
    let words =
        ["sweep", path, "--app", "contacts", "--rounds", "24", "--vary", "journal=truncate,off", "--blocks", "2"];
    let run = flashscope(&[&words[..], &["--json"]].concat()).run();
    run.expect(DONE);
    let told = record(&run);
    assert_eq!(conditions(&told), [("journal=truncate".to_owned(), 4), ("journal=off".to_owned(), 4)]);
    let names = figures(&told);
    for name in ["contacts run time", "contacts insert", "contacts insert p90", "contacts stalls + ½"] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
    assert!(told["campaign"]["job"].as_str().unwrap().starts_with("# contacts, 24 rounds\nname = "), "{told}");
    assert!(is_empty(&folder));

    let run = flashscope(&[&words[..], &["--figure", "run time", "--json"]].concat()).run();
    run.expect(DONE);
    assert_eq!(figures(&record(&run)), ["contacts run time"]);
    let run = flashscope(&[&words[..], &["--dry-run"]].concat()).run();
    run.expect(DONE);
    assert!(run.stdout.contains("each run plays contacts (24 rounds)"), "{}", run.stdout);
}

#[test]
fn mistakes_are_said_before_anything_is_played() {
    with_player();
    let folder = scratch();
    let path = folder.to_str().unwrap();
    let check = |words: &[&str], said: &str| {
        let run = flashscope(words).run();
        assert_eq!(run.code, Some(CANNOT), "{words:?}: {}", run.stderr);
        assert!(run.stderr.contains(said) && run.stderr.contains("hint: "), "{words:?}: {}", run.stderr);
        assert!(is_empty(&folder), "{words:?}");
    };
    let vary = ["--vary", "journal=wal,off"];
    let sweep = |words: &[&str], said: &str| check(&[&["sweep", path], words].concat(), said);
    sweep(&[&["--app", "contact"], &vary[..]].concat(), "did you mean contacts?");
    sweep(&[&["--app", "contacts", "--rw", "read"], &vary[..]].concat(), "apps and a job are both said");
    sweep(&[&["--app", "contacts", "--read-only"], &vary[..]].concat(), "leave --read-only away");
    sweep(&[&["--app", "web", "--app", "web"], &vary[..]].concat(), "named twice");
    sweep(&["--app", "contacts", "--vary", "journal=wal,of"], "did you mean off?");
    sweep(&["--app", "contacts", "--vary", "fs=ext4,xfs"], "is a directory, whose file system is there already");
    sweep(&["--app", "contacts", "--vary", "iodepth=1,2"], "there is no knob 'iodepth'");
    sweep(&["--app", "contacts", "--vary", "journal=wal,off", "--state", "dirty"], "leave out --state");
    check(&["compare", path, path, "--app", "web", "--bs", "4k"], "apps and a job are both said");
    let table = scratch().join("runs.csv");
    std::fs::write(&table, "label,metric,value\na,x,1\na,x,2\nb,x,1\nb,x,2\n").unwrap();
    check(&["compare", table.to_str().unwrap(), "--app", "web"], "no target to run it on");
}

#[test]
fn kernels_knobs_and_file_systems_of_emulated_devices() {
    if !can_emulate() {
        return;
    }
    with_player();
    let _alone = alone();
    let words = ["sweep", CARD, "--app", "contacts", "--rounds", "4", "--speed", "max", "--blocks", "2", "--json"];
    let vary = ["--vary", "read_ahead_kb=16,128", "--vary", "fs=ext4,ext2,zfs"];
    let run = flashscope(&[&words[..], &vary].concat()).run();
    if run.stderr.contains("another sweep") {
        return left_out("sweeping the read-ahead of an emulated device (another sweep is at work)");
    }
    // What cannot be had is given up, and told by the exit code.
    run.expect(NOT_ALL);
    let told = record(&run);
    let runs = conditions(&told);
    assert_eq!(runs.len(), 4, "{runs:?}");
    assert!(runs[..3].iter().all(|(_, runs)| *runs >= 2) && runs[3].0.contains("fs=zfs"), "{runs:?}");
    assert!(told["knob_settings"][3]["ended"].as_str().unwrap().contains("does not know how to make zfs"), "{told}");
    let read_ahead = &told["knobs"][0];
    assert_eq!((&read_ahead["place"], read_ahead["paths"].as_array().unwrap().len()), (&"host".into(), 2));
    assert_eq!(told["virtual_time"], false, "the kernel plays in real time");
    assert_eq!(left("/disk"), Vec::<String>::new());
    assert!(!Path::new("/run/flashscope/sweep/restore").exists());
}

#[test]
fn a_device_changes_its_file_system_and_mount_options_and_a_kill_leaves_nothing() {
    with_player();
    let Some(device) = Loop::new("sweeping apps on a loop device", 128) else { return };
    let words = ["sweep", &device.node, "--app", "contacts", "--rounds", "3", "--blocks", "2"];
    let vary = ["--vary", "fs=ext4,ext2", "--vary", "mount=rw;noatime;nonsense"];
    let before = device.content();
    flashscope(&[&words[..], &vary].concat()).run().expect(REFUSED);
    assert!(device.content() == before, "not one byte may change");
    drop(before);
    let consent = format!("--destroy-data={}", device.identity());
    let run = flashscope(&[&words[..], &vary, &[&consent, "--json"]].concat()).run();
    run.expect(NOT_ALL);
    let told = record(&run);
    let runs = conditions(&told);
    assert_eq!(runs.iter().filter(|(_, runs)| *runs >= 2).count(), 3, "{runs:?}");
    let nonsense = told["knob_settings"].as_array().unwrap().iter().find(|one| one["label"] == "mount=nonsense");
    let nonsense = nonsense.unwrap_or_else(|| panic!("{runs:?}"));
    assert!(nonsense["ended"].as_str().unwrap().contains("hint: leave out --fs-options nonsense"), "{nonsense}");
    assert_eq!(left(&device.node), Vec::<String>::new());

    let queue = Path::new("/sys/block").join(device.node.trim_start_matches("/dev/")).join("queue/read_ahead_kb");
    let read_ahead = || std::fs::read_to_string(&queue).unwrap().trim().to_owned();
    let was = read_ahead();
    let playing = || {
        let more = ["--vary", "read_ahead_kb=64,512", "--destroy-signatures", "--blocks", "100", "--rounds", "300"];
        let mut command = flashscope(&[&words[..4], &more, &[&consent]].concat()).command();
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        until("it plays", || player_of(child.id()).is_some() && read_ahead() != was);
        std::thread::sleep(Duration::from_millis(300));
        child
    };
    let child = playing();
    interrupt(&child);
    let run = Run::from(child.wait_with_output().expect("it ends"));
    run.expect(CANNOT);
    assert_eq!((left(&device.node), read_ahead()), (Vec::new(), was.clone()), "{}", run.stderr);

    let mut child = playing();
    child.kill().expect("killed");
    child.wait().expect("gone");
    until("something is left after a kill", || left(&device.node).is_empty());
    flashscope(&["sweep", "--restore"]).run().expect(DONE);
    assert_eq!(read_ahead(), was);
}

#[test]
fn sides_play_apps_in_turns() {
    with_player();
    let folders = [scratch(), scratch()];
    let [one, other] = [0, 1].map(|at| folders[at].to_str().unwrap());
    let words = ["compare", one, other, "--app", "contacts", "--rounds", "12", "--blocks", "2", "--json"];
    let run = flashscope(&words).run();
    run.expect(DONE);
    let told = record(&run);
    assert!(figures(&told).contains(&"contacts update".to_owned()), "{told}");
    assert!(told["campaign"]["job"].as_str().unwrap().starts_with("# contacts, 12 rounds"), "{told}");
    assert!(folders.iter().all(|folder| is_empty(folder)));

    if !can_emulate() {
        return;
    }
    let _alone = alone();
    let words = ["compare", CARD, "sim:emmc-phone,capacity=256MiB", "--app", "contacts", "--rounds", "3"];
    let run = flashscope(&[&words[..], &["--blocks", "2", "--figure", "run time", "--json"]].concat()).run();
    run.expect(DONE);
    // The card takes some seven times as long.
    let ratio = record(&run)["groups"][0]["comparison"]["rows"][0]["ratio"]["value"].as_f64();
    assert!(ratio.is_some_and(|ratio| ratio < 0.8), "{}", run.stdout);
    assert_eq!(left("/disk"), Vec::<String>::new());
}

#[test]
fn replays_and_explanations_are_compared_as_records() {
    let folder = scratch();
    let trace = fixture("traces/mixed.blkparse.txt");
    let replay = |target: &str, to: &str| {
        let words = ["trace", "replay", &trace, target, "--mode", "dependent", "--json", "-o", to];
        flashscope(&words).current_dir(&folder).run().expect(DONE);
    };
    replay("sim:ssd-consumer,capacity=256MiB", "a.json");
    replay("sim:emmc-phone,capacity=256MiB", "b.json");
    let run = flashscope(&["compare", "a.json", "b.json", "--json"]).current_dir(&folder).run();
    run.expect(DONE);
    let names = figures(&record(&run));
    assert!(names.contains(&"replay time".to_owned()) && names.contains(&"writes".to_owned()), "{names:?}");
    // Replayed in another way it means another thing.
    let words = ["trace", "replay", &trace, "sim:emmc-phone,capacity=256MiB", "--json", "-o", "c.json"];
    flashscope(&words).current_dir(&folder).run().expect(DONE);
    let run = flashscope(&["compare", "a.json", "c.json"]).current_dir(&folder).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("mode: dependent"), "{}", run.stderr);
}
