//! `integrity` on emulated devices through the kernel, whose power a script cuts: faults, commands that do not do what they are
//! to do, devices that come back as something else, runs that are ended.

use crate::harness::{Run, flashscope, interrupt, left_out, scratch};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const KEPT: i32 = 0;
const BROKEN: i32 = 1;
const CANNOT: i32 = 2;
const REFUSED: i32 = 3;

/// A card whose power goes on a signal.
pub(crate) struct Card {
    emulator: Child,
    folder: PathBuf,
    /// The device: `/dev/loopN`, or the file itself.
    device: PathBuf,
}

impl Card {
    /// `None`, and said, where there can be none.
    pub(crate) fn new(faults: &str, seed: u64, attach_loop: bool) -> Option<Card> {
        let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
        if !is_root || !Path::new("/dev/fuse").exists() || !Path::new("/dev/loop-control").exists() {
            left_out("power cuts of emulated devices (not root, no /dev/fuse, or no loop devices)");
            return None;
        }
        let folder = scratch();
        fs::create_dir(folder.join("at")).unwrap();
        let (model, seed) = (format!("sd-4mib,capacity=256MiB,{faults}"), seed.to_string());
        let mut arguments = vec!["emulate", &model, "--at", "at", "--seed", &seed];
        arguments.extend(attach_loop.then_some("--loop"));
        let mut command = flashscope(&arguments).current_dir(&folder).command();
        let mut emulator = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let device = BufReader::new(emulator.stdout.take().unwrap()).lines().next().expect("it starts").unwrap();
        Some(Card { emulator, folder, device: device.into() })
    }

    fn file(&self) -> PathBuf {
        self.folder.canonicalize().unwrap().join("at/disk")
    }

    pub(crate) fn off(&self) -> String {
        format!("kill -PWR {}", self.emulator.id())
    }

    pub(crate) fn on(&self) -> String {
        format!("kill -USR2 {}", self.emulator.id())
    }

    /// A script of these lines.
    fn script(&self, name: &str, lines: &str) -> String {
        let path = self.folder.join(name);
        fs::write(&path, format!("set -e\n{lines}\n")).unwrap();
        format!("sh '{}'", path.display())
    }

    /// A script that does one thing at first, when nothing is written yet, and another one later.
    fn twice(&self, name: &str, first: &str, later: &str) -> String {
        let lines = format!(
            "if [ -e '{0}.was' ]; then\n{later}\nelse\ntouch '{0}.was'\n{first}\nfi",
            self.folder.join(name).display()
        );
        self.script(name, &lines)
    }

    fn command(&self, device: &Path, off: &str, on: &str, more: &[&str]) -> Command {
        let consent = format!("--destroy-data=loop:{}", self.file().display());
        let consent = if device.starts_with("/dev") { consent } else { "--allow-write".to_owned() };
        let arguments = ["integrity", device.to_str().unwrap(), &consent, "--power-off", off, "--power-on", on];
        flashscope(&[&arguments, more].concat()).current_dir(&self.folder).command()
    }

    pub(crate) fn integrity(&self, off: &str, on: &str, more: &[&str]) -> Run {
        self.command(&self.device, off, on, more).output().unwrap().into()
    }

    fn statistics(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.folder.join("at/stats.json")).unwrap()).unwrap()
    }

    fn written(&self) -> u64 {
        self.statistics()["host_written_bytes"].as_u64().unwrap()
    }

    /// Whether it has power, and answers.
    pub(crate) fn answers(&self) -> bool {
        let mut dd = Command::new("dd");
        dd.arg(format!("if={}", self.device.display()));
        dd.args(["of=/dev/null", "bs=4096", "count=1", "iflag=direct"]).stderr(Stdio::null());
        dd.status().unwrap().success()
    }

    pub(crate) fn journals(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "journal")).collect()
    }
}

impl Drop for Card {
    fn drop(&mut self) {
        // Twice: whatever still uses it.
        for _ in 0..2 {
            let _ = Command::new("kill").arg(self.emulator.id().to_string()).status();
            std::thread::sleep(Duration::from_millis(300));
        }
        let _ = self.emulator.wait();
    }
}

fn record(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}\n{}", run.stdout, run.stderr))
}

fn kinds(record: &Value) -> Vec<&str> {
    let verdict = &record["verdict"];
    let all = verdict["faults"].as_array().unwrap().iter().chain(verdict["suspicions"].as_array().unwrap());
    all.map(|fault| fault["kind"].as_str().unwrap()).collect()
}

#[test]
fn an_honest_cache_is_not_accused_through_the_kernel() {
    let Some(card) = Card::new("write_cache=1MiB,drain_after=never,reordered=true", 1, true) else { return };
    let run = card.integrity(&card.off(), &card.on(), &["-n", "10", "--json"]);
    run.expect(KEPT);
    let record = record(&run);
    let cuts = record["power_cuts"].as_array().unwrap();
    assert!(
        cuts.len() == 10 && cuts.iter().any(|cut| cut["dropped_bytes"].as_u64() > Some(0)),
        "the power really went"
    );
    let switched = &record["plan"]["switched_by"];
    assert!(switched["off"].as_str().unwrap().contains("kill -PWR") && switched["on_after_ns"].as_u64() > Some(0));
    assert!(card.journals().is_empty() && card.answers(), "all is as it was");
    assert!(run.stderr.contains("a dry cut: off after"), "{}", run.stderr);
}

#[test]
fn lost_writes_are_found_through_the_kernel() {
    let Some(card) = Card::new("lost=0.1", 1, true) else { return };
    let run = card.integrity(&card.off(), &card.on(), &["-n", "8", "--json"]);
    run.expect(BROKEN);
    assert!(kinds(&record(&run)).contains(&"lost_flushed"), "{}", run.stdout);
}

#[test]
fn a_lying_flush_is_found_on_the_emulators_own_file_where_durable_writes_reach_it() {
    let Some(card) = Card::new("write_cache=1MiB,drain_after=never,lying_flush=true", 1, false) else { return };
    let run = card.integrity(&card.off(), &card.on(), &["-n", "8", "--json"]);
    run.expect(BROKEN);
    assert!(
        kinds(&record(&run)).iter().any(|kind| ["lost_flushed", "rollback", "late_loss"].contains(kind)),
        "{}",
        run.stdout
    );
    assert!(card.statistics()["durable_write_requests"].as_u64() > Some(0), "{}", card.statistics());
}

#[test]
fn a_command_that_does_not_cut_is_refused_before_anything_is_written() {
    let Some(card) = Card::new("write_cache=mapping", 1, true) else { return };
    let on = card.on();
    let check = |off: &str, on: &str, more: &[&str], says: &[&str]| {
        let run = card.integrity(off, on, more);
        run.expect(CANNOT);
        for word in says {
            assert!(run.stderr.contains(word), "{word} is missing from: {}", run.stderr);
        }
    };
    let hint = "hint: try the command by hand";
    check("sh -c 'echo no such hub >&2; exit 3'", &on, &[], &["exit status: 3: no such hub", hint]);
    check("/nowhere/at/all off", &on, &[], &["cannot start `/nowhere/at/all off`", hint]);
    check("sleep 100", &on, &["--wait-off", "300ms"], &["had not ended after 300 ms, and was killed", hint]);
    check(
        "true",
        &on,
        &["--wait-off", "300ms"],
        &["still answers 300 ms after `true`", "hint: does the command switch the port"],
    );
    check(&card.off(), "sh -c 'echo jammed >&2; exit 1'", &[], &["exit status: 1: jammed", hint]);
    assert!(!card.answers(), "nobody switched it on");
    let run = card.integrity("true", &on, &[]);
    run.expect(REFUSED);
    assert!(run.stderr.contains("cannot be searched for file systems"), "{}", run.stderr);
    assert!(Command::new("sh").args(["-c", &on]).status().unwrap().success());
    check(&card.off(), "true", &["--wait-on", "1s"], &["does not answer reads", "hint: --wait-on"]);
    assert!(card.written() == 0 && card.journals().is_empty());
    check("kill 'PWR", &on, &[], &["is no command", "quotes must be closed"]);
    check(&card.off(), &on, &["--replay", "3"], &["--replay is for simulated devices"]);
    check(&card.off(), &on, &["--size", "100k"], &["from 256 KiB to 1 GiB"]);
    assert_eq!(card.written(), 0);
}

#[test]
fn consent_and_a_place_for_the_journal_are_asked_for() {
    let Some(card) = Card::new("write_cache=mapping", 1, true) else { return };
    let (off, on, device) = (card.off(), card.on(), card.device.to_str().unwrap());
    let run = flashscope(&["integrity", device, "--power-off", &off, "--power-on", &on]).run();
    run.expect(REFUSED);
    assert!(run.stderr.contains("add --destroy-data=IDENTITY"), "{}", run.stderr);
    // The device itself, and the file that it stands on.
    for journal in [device.to_owned(), card.file().display().to_string()] {
        let run = card.integrity(&off, &on, &["--journal", &journal]);
        assert!([CANNOT, REFUSED].contains(&run.code.unwrap()), "{journal}: {}", run.stderr);
    }
    fs::write(card.folder.join("thesis.txt"), "all of it").unwrap();
    card.integrity(&off, &on, &["--journal", "thesis.txt"]).expect(REFUSED);
    assert_eq!(fs::read_to_string(card.folder.join("thesis.txt")).unwrap(), "all of it");
    assert_eq!(card.written(), 0);
    // A file on a disk has no power of its own.
    fs::write(card.folder.join("plain"), vec![0; 4 << 20]).unwrap();
    let run: Run = card.command(&card.folder.join("plain"), &off, &on, &[]).output().unwrap().into();
    run.expect(CANNOT);
    assert!(run.stderr.contains("a file on a file system"), "{}", run.stderr);
}

#[test]
fn a_device_that_comes_back_smaller_is_said() {
    // With this seed not at the dry cut, but at the next.
    let Some(card) = Card::new("shrink=0.5,shrunk_to=64MiB", 2, true) else { return };
    let run = card.integrity(&card.off(), &card.on(), &["-n", "3", "--json"]);
    run.expect(BROKEN);
    assert_eq!(kinds(&record(&run)), ["shrunk"]);

    let Some(card) = Card::new("shrink=1.0,shrunk_to=64MiB", 2, true) else { return };
    let run = card.integrity(&card.off(), &card.on(), &["-n", "3"]);
    run.expect(CANNOT);
    assert!(run.stderr.contains("it came back with 64 MiB of 256 MiB, though nothing was written"), "{}", run.stderr);
}

#[test]
fn a_device_that_comes_back_read_only_is_said() {
    let Some(card) = Card::new("write_cache=mapping", 1, true) else { return };
    let device = card.device.display();
    let on = card.twice("on", &card.on(), &format!("{}\nblockdev --setro {device}", card.on()));
    let run = card.integrity(&card.off(), &on, &["-n", "3", "--json"]);
    run.expect(BROKEN);
    let record = record(&run);
    assert_eq!(kinds(&record), ["read_only"]);
    assert!(record["verdict"]["ended"].as_str().unwrap().contains("read-only"), "{}", record["verdict"]);
    assert_eq!(record["power_cuts"][0]["violation_count"], 1, "what it holds is as promised");
    // The next run is refused as any other.
    card.integrity(&card.off(), &on, &["-n", "3"]).expect(REFUSED);
    assert!(Command::new("blockdev").arg("--setrw").arg(&card.device).status().unwrap().success());
}

#[test]
fn a_device_that_does_not_come_back_is_dead() {
    let Some(card) = Card::new("write_cache=mapping", 1, false) else { return };
    let on = card.twice("on", &card.on(), "true");
    let run = card.integrity(&card.off(), &on, &["-n", "3", "--json", "--wait-on", "2s"]);
    run.expect(BROKEN);
    assert_eq!(kinds(&record(&run)), ["dead"]);
    assert_eq!(card.journals().len(), 1, "what it had acknowledged is kept: {}", run.stderr);
}

/// A loop device over the emulator's file that is bound and unbound by hand, as a reader is that gets another name.
struct Hand(String);

impl Hand {
    fn bind(file: &Path) -> Hand {
        let losetup = Command::new("losetup").args(["--find", "--show", "--direct-io=on"]).arg(file).output().unwrap();
        assert!(losetup.status.success(), "{}", String::from_utf8_lossy(&losetup.stderr));
        Hand(String::from_utf8(losetup.stdout).unwrap().trim().to_owned())
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.0]).stderr(Stdio::null()).status();
    }
}

#[test]
fn a_device_is_found_under_another_name_and_another_device_is_refused() {
    let Some(card) = Card::new("write_cache=mapping", 1, false) else { return };
    let (file, other) = (card.file(), card.folder.join("other"));
    fs::write(&other, vec![0; 256 << 20]).unwrap();
    let hand = Hand::bind(&file);
    let (name, file, other) = (&hand.0, file.display(), other.display());
    // Another disk takes its name, and it comes back under the next one that is free.
    let moved =
        format!("losetup -d {name}\nlosetup {name} '{other}'\nlosetup --find --show --direct-io=on '{file}' > new");
    let on = card.twice("moves", &format!("{}\n{moved}", card.on()), &card.on());
    let run: Run = card.command(Path::new(name), &card.off(), &on, &["-n", "2", "--json"]).output().unwrap().into();
    let new = Hand(fs::read_to_string(card.folder.join("new")).unwrap_or_default().trim().to_owned());
    run.expect(KEPT);
    assert!(new.0.starts_with("/dev/loop") && new.0 != *name, "{}", new.0);
    drop(new);

    // Only the other one is there.
    let swapped = Hand::bind(Path::new(&file.to_string()));
    let on = card.script("swaps", &format!("{}\nlosetup -d {1}\nlosetup {1} '{other}'", card.on(), swapped.0));
    let command = card.command(Path::new(&swapped.0), &card.off(), &on, &["-n", "2", "--wait-on", "3s"]);
    let (mut command, before) = (command, card.written());
    let run: Run = command.output().unwrap().into();
    run.expect(CANNOT);
    assert!(run.stderr.contains("another device is at"), "{}", run.stderr);
    assert_eq!(card.written(), before, "nothing was written to either");
    assert!(fs::read(other.to_string()).unwrap().iter().all(|byte| *byte == 0));
}

/// Starts a run and waits until so many cuts have begun.
fn under_way(card: &Card, cuts: u32) -> Child {
    let mut command = card.command(&card.device, &card.off(), &card.on(), &["-n", "50", "--journal", "kept.journal"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    let line = format!("\ncut {cuts}\n");
    while !fs::read_to_string(card.folder.join("kept.journal")).is_ok_and(|text| text.contains(&line)) {
        assert!(begun.elapsed() < Duration::from_secs(120), "cut {cuts} never began");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

#[test]
fn what_was_killed_is_judged_by_the_journal() {
    for (faults, code) in [
        ("write_cache=1MiB,drain_after=never,reordered=true", KEPT),
        ("write_cache=1MiB,drain_after=never,lying_flush=true", BROKEN),
    ] {
        let Some(card) = Card::new(faults, 1, true) else { return };
        let mut child = under_way(&card, 2);
        // As soon as the power goes, or in the middle of what comes before.
        let begun = Instant::now();
        let is_off = || fs::read_to_string(card.folder.join("kept.journal")).is_ok_and(|text| text.contains("\noff\n"));
        while !is_off() && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        std::thread::sleep(Duration::from_millis(200));
        for signal in [card.off(), card.on()] {
            assert!(Command::new("sh").args(["-c", &signal]).status().unwrap().success());
            std::thread::sleep(Duration::from_millis(100));
        }
        let device = card.device.to_str().unwrap();
        let judge = |more: &[&str]| {
            flashscope(&[&["integrity", device, "--judge", "--json", "--journal"], more].concat())
                .current_dir(&card.folder)
                .run()
        };
        let before = card.written();
        let run = judge(&["kept.journal"]);
        run.expect(code);
        assert_eq!((&record(&run)["power_cuts"][0]["number"], card.written()), (&2.into(), before));
        // Nothing writes over it unasked.
        let run = card.integrity(&card.off(), &card.on(), &["--journal", "kept.journal"]);
        run.expect(CANNOT);
        assert!(run.stderr.contains("was left by a run that was killed"), "{}", run.stderr);
        // Another device has another one.
        let text = fs::read_to_string(card.folder.join("kept.journal")).unwrap();
        fs::write(card.folder.join("other.journal"), text.replace("identity loop:", "identity loop:/other")).unwrap();
        judge(&["other.journal"]).expect(REFUSED);
        fs::write(card.folder.join("none.journal"), "# notes\n").unwrap();
        judge(&["none.journal"]).expect(CANNOT);
    }
}

#[test]
fn whoever_stops_a_run_leaves_the_power_on() {
    let Some(card) = Card::new("write_cache=mapping", 1, true) else { return };
    let child = under_way(&card, 2);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(CANNOT));
    assert!(card.answers() && card.journals().is_empty());

    // Twice, while the power is off: it ends at once, and leaves it on all the same.
    let off = card.script("slow", &format!("{}\nsleep 5", card.off()));
    let mut command = card.command(&card.device, &off, &card.on(), &["-n", "5", "--wait-off", "30s"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while card.answers() && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    interrupt(&child);
    std::thread::sleep(Duration::from_millis(600));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    std::thread::sleep(Duration::from_millis(500));
    assert!(card.answers());
}
