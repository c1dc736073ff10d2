//! `capacity DIRECTORY`: files as f3write and H2testw write them, and theirs.

use crate::app::until;
use crate::devices::Mounted;
use crate::harness::{flashscope, interrupt, left_out, scratch};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

const DONE: i32 = 0;
const LOST: i32 = 1;
const CANNOT: i32 = 2;
const MIB: u64 = 1 << 20;

/// What a program that hashes prints.
fn summed(program: &str, path: &Path) -> String {
    let told = Command::new(program).arg(path).output().expect("it is in coreutils");
    String::from_utf8_lossy(&told.stdout).split(' ').next().unwrap_or_default().to_owned()
}

#[test]
fn files_need_consent_and_the_system_is_never_filled() {
    let folder = scratch();
    let path = folder.to_str().unwrap();
    for (words, said) in [
        (&["capacity", path][..], "add --allow-write"),
        (&["capacity", path, "--allow-write"], "add --max-write"),
        (&["capacity", path, "--read-only"], "leave --read-only out"),
        (&["capacity", path, "--restore", "--allow-write"], "leave --restore out"),
    ] {
        let run = flashscope(words).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn what_is_written_is_read_and_what_changed_is_counted() {
    let folder = scratch();
    let path = folder.to_str().unwrap();
    let fill = ["capacity", path, "--allow-write", "--max-write", "18MiB", "--json"];
    let run = flashscope(&fill).run();
    run.expect(DONE);
    let record: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(record["full"]["totals"]["kept_bytes"], 16 * MIB);
    assert_eq!((&record["verdict"]["kind"], &record["full"]["directory"]["files"]), (&Value::Null, &1.into()));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "they go when they were read");
    flashscope(&[&fill[..], &["--keep-files"]].concat()).run().expect(DONE);
    let file = folder.join("1.h2w");
    let mut bytes = std::fs::read(&file).unwrap();
    assert_eq!(bytes.len() as u64, 16 * MIB);
    // One bit, one sector from elsewhere, one that was never written.
    bytes[5_000_000] ^= 1;
    bytes.copy_within(0..512, 1 << 20);
    bytes[2 << 20..(2 << 20) + 512].fill(0);
    std::fs::write(&file, bytes).unwrap();
    let run = flashscope(&["capacity", path, "--read-only", "--json"]).run();
    run.expect(LOST);
    let record: Value = serde_json::from_str(&run.stdout).unwrap();
    let totals = &record["full"]["totals"];
    assert_eq!((&totals["changed_bytes"], &totals["elsewhere_bytes"]), (&1024.into(), &512.into()));
    assert_eq!(record["full"]["first_bad_bytes"], MIB);
    let again = flashscope(&fill).run();
    again.expect(CANNOT);
    assert!(again.stderr.contains("are there already"), "{}", again.stderr);
    assert!(file.exists(), "what was there stays");
}

/// How often a test was begun that has its journal in this folder.
fn kept_sessions(folder: &Path) -> u64 {
    let mut files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let Some(journal) = files.find(|path| path.extension().is_some_and(|end| end == "json")) else { return 0 };
    let kept: Option<Value> = std::fs::read(journal).ok().and_then(|text| serde_json::from_slice(&text).ok());
    kept.map_or(0, |kept| kept["sessions"].as_u64().expect("a journal counts them"))
}

#[test]
fn a_stopped_filling_goes_on() {
    let Some(mounted) = Mounted::new("a filling that was stopped", 192) else { return };
    let folder = scratch();
    let words = ["capacity", mounted.path(), "--allow-write", "--json"];
    let mut session = 0;
    let mut stopped = |end: &dyn Fn(&mut std::process::Child)| {
        let mut command = flashscope(&words).current_dir(&folder).command();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        session += 1;
        // Its journal tells when it is at its work, however fast the machine is; one that is over sooner has begun anew next time.
        until("it is at its work", || kept_sessions(&folder) >= session || child.try_wait().unwrap().is_some());
        if child.try_wait().unwrap().is_none() {
            end(&mut child);
        }
        child.wait().expect("it ends");
    };
    stopped(&|child| interrupt(child));
    stopped(&|child| child.kill().expect("SIGKILL"));
    let run = flashscope(&words).current_dir(&folder).run();
    run.expect(DONE);
    let record: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(record["full"]["totals"]["kept_bytes"], record["full"]["claimed_bytes"]);
    assert!(!mounted.point.join("1.h2w").exists());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "what is over needs no journal");
}

#[test]
fn f3_reads_ours_and_we_read_its() {
    let Some(mounted) = Mounted::new("files of f3write and f3read", 64) else { return };
    let f3 = |program: &str| {
        let told = Command::new(program).arg(&mounted.point).output().ok()?;
        Some(String::from_utf8_lossy(&told.stdout).into_owned())
    };
    flashscope(&["capacity", mounted.path(), "--allow-write", "--keep-files"]).run().expect(DONE);
    let Some(said) = f3("f3read") else { return left_out("files of f3write and f3read (no f3read)") };
    assert!(said.contains("Data LOST: 0.00 Byte") && !said.contains("Data OK: 0.00"), "{said}");
    std::fs::remove_file(mounted.point.join("1.h2w")).unwrap();
    f3("f3write");
    let run = flashscope(&["capacity", mounted.path(), "--read-only"]).run();
    run.expect(DONE);
    assert!(run.stdout.contains("keeps what is written"), "{}", run.stdout);
}

#[test]
fn hashes_are_those_of_the_programs_of_these_names() {
    let folder = scratch();
    let path = folder.to_str().unwrap();
    let file = folder.join("card.img");
    std::fs::write(&file, vec![0; 3 << 20]).unwrap();
    let run =
        flashscope(&["capacity", file.to_str().unwrap(), "--full", "--allow-write", "--hash", "md5", "--json"]).run();
    run.expect(DONE);
    let record: Value = serde_json::from_str(&run.stdout).unwrap();
    let hashes = &record["full"]["hashes"];
    assert_eq!((&hashes["read"], &hashes["written"]), (&summed("md5sum", &file).into(), &hashes["read"]));
    std::fs::remove_file(&file).unwrap();
    let fill = ["capacity", path, "--allow-write", "--max-write", "9MiB", "--keep-files", "--hash", "sha256", "--json"];
    let run = flashscope(&fill).current_dir(&folder).run();
    run.expect(DONE);
    let record: Value = serde_json::from_str(&run.stdout).unwrap();
    let hashes = &record["full"]["hashes"];
    let sum = summed("sha256sum", &folder.join("1.h2w"));
    assert_eq!((&hashes["read"], &hashes["written"]), (&sum.as_str().into(), &hashes["read"]));
    flashscope(&["capacity", "sim:sd-4mib", "--hash", "md5"]).run().expect(CANNOT);
}
