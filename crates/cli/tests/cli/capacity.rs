//! Tests of the capacity: files that the tests make themselves, and simulated devices.

use crate::devices::Loop;
use crate::harness::{Run, flashscope, interrupt, scratch};
use serde_json::Value;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const DONE: i32 = 0;
const NOT_GENUINE: i32 = 1;
const CANNOT: i32 = 2;
const REFUSED: i32 = 3;
const MIB: u64 = 1 << 20;

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", run.stdout, run.stderr))
}

#[test]
fn a_verdict_comes_first_and_is_explained() {
    let run = flashscope(&["capacity", "sim:sd-4mib"]).run();
    run.expect(DONE);
    let second = run.stdout.lines().nth(1).unwrap_or_default();
    assert!(second.contains("verdict") && second.contains("genuine"), "{}", run.stdout);
    for said in ["Excluded", "Not excluded", "wherever addresses begin anew", "--max-write"] {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
    let fake = flashscope(&["capacity", "sim:sd-4mib,fake=limbo,real_capacity=1GiB"]).run();
    fake.expect(NOT_GENUINE);
    let top: String = fake.stdout.lines().take(5).collect();
    assert!(top.contains("FAKE, limbo") && top.contains("1 GiB"), "{}", fake.stdout);
    assert!(fake.stdout.lines().all(|line| line.chars().count() <= 100), "{}", fake.stdout);
}

#[test]
fn a_record_holds_what_was_seen_and_the_same_seed_gives_the_same_bytes() {
    let spec = "sim:sd-4mib,capacity=256MiB,fake=wrap-around,real_capacity=100MiB,wrap=52429312B";
    let run = flashscope(&["capacity", spec, "--json"]).run();
    run.expect(NOT_GENUINE);
    let record = json(&run);
    assert_eq!(record["kind"], "capacity");
    let verdict = &record["verdict"];
    assert_eq!((&verdict["kind"], &verdict["wrap_bytes"]), (&"wrap_around".into(), &52_429_312.into()));
    assert_eq!(verdict["true_size"]["low_bytes"], verdict["true_size"]["high_bytes"]);
    assert!(record["cost"]["written_bytes"].as_u64().is_some_and(|written| written <= 64 * MIB), "{record}");
    assert_eq!(run.stdout, flashscope(&["capacity", spec, "--json"]).run().stdout);
}

#[test]
fn a_report_has_every_form() {
    let folder = scratch();
    let path = |name: &str| folder.join(name).to_str().expect("a plain path").to_owned();
    let (record, page, table) = (path("a.json"), path("a.html"), path("a.csv"));
    let spec = "sim:sd-4mib,capacity=64MiB,damaged=0.1";
    let run = flashscope(&["capacity", spec, "-o", &record, "-o", &page, "-o", &table]).run();
    run.expect(NOT_GENUINE);
    assert!(std::fs::read_to_string(&page).unwrap().contains("DAMAGED"));
    assert!(std::fs::read_to_string(&table).unwrap().starts_with("pass,round,address_bytes,found"));
    for form in ["text", "html", "markdown", "csv", "json"] {
        flashscope(&["report", &record, "--format", form]).run().expect(DONE);
    }
}

#[test]
fn a_file_is_tested_with_consent_only() {
    let folder = scratch();
    let path = folder.join("card.img");
    File::create(&path).and_then(|file| file.set_len(32 * MIB)).expect("a file of our own");
    let file = path.to_str().expect("a plain path");
    flashscope(&["capacity", file]).run().expect(REFUSED);
    let read_only = flashscope(&["capacity", file, "--read-only"]).run();
    read_only.expect(CANNOT);
    assert!(read_only.stderr.contains("only writes tell"), "{}", read_only.stderr);
    let run = flashscope(&["capacity", file, "--allow-write", "--json"]).run();
    run.expect(DONE);
    let first = json(&run);
    let again = json(&flashscope(&["capacity", file, "--allow-write", "--json"]).run());
    assert_ne!(first["generation"], again["generation"], "what an earlier run wrote must not be taken for this one's");
}

#[test]
fn what_makes_no_sense_is_said() {
    let check = |arguments: &[&str], said: &str| {
        let run = flashscope(arguments).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(said) && run.stderr.contains("hint: "), "{}", run.stderr);
    };
    check(&["capacity", "sim:sd-4mib", "--max-write", "64KiB"], "must write at least 256 KiB");
    check(&["capacity", "sim:sd-4mib,vanish_after=9"], "vanished");
}

/// A file of our own, with content that depends on its place.
pub(crate) fn card(folder: &Path, mib: u64) -> String {
    let path = folder.join("card.img");
    let word = |number: u64| (number ^ 0x5bd1_e995).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    let content: Vec<u8> = (0..mib * MIB / 8).flat_map(word).collect();
    std::fs::write(&path, content).expect("a file of our own");
    path.to_str().expect("a plain path").to_owned()
}

/// Begins a command, and ends it as soon as `ready`, if it has not ended by then.
pub(crate) fn begun(words: &[&str], folder: &Path, mut ready: impl FnMut() -> bool, end: impl FnOnce(&mut Child)) {
    let mut command = flashscope(words).current_dir(folder).command();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    while !ready() && child.try_wait().expect("it can be waited for").is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    end(&mut child);
    child.wait().expect("it ends");
}

#[test]
fn a_full_test_reads_all_of_it_and_tells_fakes_to_the_block() {
    let spec = "sim:sd-4mib,capacity=64MiB,fake=limbo,real_capacity=37MiB";
    for order in ["sequential", "shuffled"] {
        let run = flashscope(&["capacity", spec, "--full", "--order", order, "--json"]).run();
        run.expect(NOT_GENUINE);
        let record = json(&run);
        assert_eq!((&record["quick"], &record["verdict"]["kind"]), (&Value::Null, &"limbo".into()));
        assert_eq!(record["full"]["order"], order);
        assert_eq!(record["full"]["first_bad_bytes"], 37 * MIB);
        assert_eq!(record["full"]["totals"]["changed_bytes"], 27 * MIB);
        assert_eq!(record["full"]["cells"]["at_bytes"].as_array().map(Vec::len), Some(64));
        assert_eq!(record["verdict"]["true_size"]["high_bytes"], 37 * MIB);
    }
    let genuine = flashscope(&["capacity", "sim:sd-4mib,capacity=64MiB", "--full"]).run();
    genuine.expect(DONE);
    assert!(genuine.stdout.contains("every block was read as it was written"), "{}", genuine.stdout);
    let little = flashscope(&["capacity", "sim:sd-4mib", "--full", "--max-write", "1GiB"]).run();
    little.expect(CANNOT);
    assert!(little.stderr.contains("--max-write leaves for it"), "{}", little.stderr);
    flashscope(&["capacity", "sim:sd-4mib,capacity=64MiB", "--order", "shuffled"]).run().expect(CANNOT);
}

#[test]
fn a_full_test_goes_on_where_it_was_stopped_and_only_on_the_same_part() {
    let folder = scratch();
    let file = card(&folder, 256);
    let words = ["capacity", file.as_str(), "--full", "--allow-write", "--destroy-signatures", "--json"];
    let journal = folder.join("flashscope-card.img.filling.json");
    begun(&words, &folder, || journal.exists(), |child| child.kill().expect("SIGKILL"));
    let kept = || std::fs::read_to_string(&journal).unwrap_or_default();
    begun(&words, &folder, || kept().contains("\"sessions\":2,"), |child| interrupt(child));
    assert!(kept().starts_with("{\"schema\":\"flashscope.filling/1\""), "{}", kept());
    let elsewhere = scratch();
    let other = card(&elsewhere, 256);
    let other = [&["capacity", other.as_str()], &words[2..]].concat();
    let other = flashscope(&other).current_dir(&folder).run();
    other.expect(REFUSED);
    assert!(other.stderr.contains("another part"), "{}", other.stderr);
    let another = flashscope(&[&words[..], &["--order", "shuffled"]].concat()).current_dir(&folder).run();
    another.expect(CANNOT);
    assert!(another.stderr.contains("another order: sequential"), "{}", another.stderr);
    let run = flashscope(&words).current_dir(&folder).run();
    run.expect(DONE);
    assert!(run.stderr.contains("going on where"), "{}", run.stderr);
    let record = json(&run);
    assert!(record["full"]["sessions"].as_u64().is_some_and(|sessions| (2..=3).contains(&sessions)), "{record}");
    assert_eq!(record["full"]["totals"]["kept_bytes"], 256 * MIB);
    assert!(!journal.exists(), "what is over needs no journal");
}

#[test]
fn what_stood_there_comes_back() {
    let folder = scratch();
    let file = card(&folder, 32);
    let before = std::fs::read(&file).unwrap();
    let run = |more: &[&str]| {
        let words = [&["capacity", file.as_str(), "--allow-write", "--destroy-signatures"], more].concat();
        flashscope(&words).current_dir(&folder).run()
    };
    let undo = folder.join("flashscope-card.img.undo");
    for depth in [&[][..], &["--full"], &["--full", "--order", "shuffled"]] {
        let run = run(&[depth, &["--restore"]].concat());
        run.expect(DONE);
        assert!(run.stderr.contains("put back: "), "{}", run.stderr);
        assert!(std::fs::read(&file).unwrap() == before && !undo.exists(), "{depth:?}");
    }
    let simulated = flashscope(&["capacity", "sim:sd-4mib", "--restore"]).run();
    simulated.expect(CANNOT);
    assert!(simulated.stderr.contains("holds nobody's data"), "{}", simulated.stderr);
}

#[test]
fn what_was_killed_is_put_back_by_the_next_run() {
    let folder = scratch();
    let file = card(&folder, 64);
    let before = std::fs::read(&file).unwrap();
    let undo = folder.join("flashscope-card.img.undo");
    let mut killed = 0;
    // Times from the start find what was not thought of; those since something is kept find it kept, however busy the machine.
    let times = [(30, false), (60, false), (20, true), (140, true), (400, true)];
    let since_kept = [(0, false), (0, true), (10, true), (40, true)];
    let moments = times.map(|moment| (moment, false)).into_iter().chain(since_kept.map(|moment| (moment, true)));
    for ((time, full), since_kept) in moments {
        let depth: &[&str] = if full { &["--full"] } else { &[] };
        let quiet = ["capacity", file.as_str(), "--allow-write", "--destroy-signatures"];
        let words = [&quiet[..], depth, &["--restore"]].concat();
        let mut begin = (!since_kept).then(Instant::now);
        let ready = || {
            if undo.exists() {
                begin.get_or_insert_with(Instant::now);
            }
            begin.is_some_and(|begin| begin.elapsed() >= Duration::from_millis(time))
        };
        begun(&words, &folder, ready, |child| drop(child.kill()));
        if undo.exists() {
            killed += 1;
            // Nobody passes over it, and a journal of another part is not taken.
            let refused = flashscope(&quiet).current_dir(&folder).run();
            refused.expect(REFUSED);
            assert!(refused.stderr.contains("add --restore"), "{}", refused.stderr);
        }
        let run = flashscope(&[&quiet[..], &["--restore"]].concat()).current_dir(&folder).run();
        run.expect(DONE);
        assert!(std::fs::read(&file).unwrap() == before, "after {time} ms");
        assert!(!undo.exists());
    }
    assert!(killed > 0, "no run was killed while it kept anything");
}

#[test]
fn an_empty_journal_keeps_nothing_and_stops_nobody() {
    let folder = scratch();
    let file = card(&folder, 8);
    let before = std::fs::read(&file).unwrap();
    let undo = folder.join("flashscope-card.img.undo");
    let plain = ["capacity", file.as_str(), "--allow-write", "--destroy-signatures"];
    std::fs::write(&undo, "").unwrap();
    let run = flashscope(&[&plain[..], &["--restore"]].concat()).current_dir(&folder).run();
    run.expect(DONE);
    assert!(!run.stderr.contains("an earlier run"), "{}", run.stderr);
    assert!(std::fs::read(&file).unwrap() == before && !undo.exists());
    std::fs::write(&undo, "").unwrap();
    flashscope(&plain).current_dir(&folder).run().expect(DONE);
}

#[test]
fn a_loop_device_gets_back_what_it_held() {
    let Some(device) = Loop::new("a_loop_device_gets_back_what_it_held", 32) else { return };
    let (identity, before) = (device.identity(), device.content());
    let folder = scratch();
    let words = ["capacity", &device.node, "--destroy-data", &identity, "--destroy-signatures", "--restore"];
    flashscope(&words).current_dir(&folder).run().expect(DONE);
    assert!(device.content() == before);
    flashscope(&[&words[..], &["--full"]].concat()).current_dir(&folder).run().expect(DONE);
    assert!(device.content() == before);
}
