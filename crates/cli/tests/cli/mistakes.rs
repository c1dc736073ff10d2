//! Typical mistakes: each is named in one line, with a hint that says what to do, and ends with the right exit code.

use crate::harness::{flashscope, scratch};
use std::path::Path;
use std::process::Stdio;

const EXPECTATION: i32 = 1;
const CANNOT: i32 = 2;

/// What was typed in this folder ends so, and says this on stderr.
fn check(folder: &Path, arguments: &[&str], code: i32, says: &[&str]) {
    let run = flashscope(arguments).current_dir(folder).run();
    run.expect(code);
    for words in says {
        assert!(run.stderr.contains(words), "{arguments:?} does not say '{words}': {}", run.stderr);
    }
    let message = run.stderr.strip_prefix("error: ").unwrap_or_else(|| panic!("{arguments:?}: {}", run.stderr));
    let first = message.lines().next().unwrap_or_default();
    assert!(!first.ends_with('.'), "{arguments:?} ends with a stop: {first}");
    assert!(!first.starts_with(|c: char| c.is_uppercase()), "{arguments:?} begins with a capital: {first}");
    assert!(!run.stderr.contains("(os error"), "{arguments:?} prints a number for a reason: {}", run.stderr);
    assert!(!run.stderr.contains("fault of flashscope"), "{arguments:?} takes a mistake for a fault: {}", run.stderr);
}

/// A folder with the files that people name by mistake.
fn folder() -> std::path::PathBuf {
    let folder = scratch();
    std::fs::create_dir(folder.join("dir")).unwrap();
    std::fs::write(folder.join("empty"), "").unwrap();
    std::fs::write(folder.join("plain.txt"), "hello\n").unwrap();
    std::fs::write(folder.join("binary"), [0xff, 0xfe, 0, 1, 2, 3]).unwrap();
    folder
}

#[test]
fn a_mistyped_name_is_answered_with_the_nearest() {
    let folder = folder();
    let check = |arguments: &[&str], says: &[&str]| check(&folder, arguments, CANNOT, says);
    check(&["inspect", "sim:sd-4mb"], &["hint: did you mean sd-4mib"]);
    check(&["inspect", "sim:sd-4mib,capacty=1G"], &["hint: did you mean capacity"]);
    check(&["emulate", "sd-4mb", "--at", "dir"], &["hint: did you mean sd-4mib"]);
    check(&["probe", "alingn", "sim:sd-4mib"], &["'alingn'", "'align'"]);
    check(&["bench", "sim:sd-4mib", "--preset", "crystaldiskmarc"], &["hint: did you mean crystaldiskmark?"]);
    check(&["bench", "sim:sd-4mib", "--preset", "zzz"], &["hint: one of crystaldiskmark, "]);
    check(&["bench", "sim:sd-4mib", "--rw", "randwrit"], &["hint: one of read, write,"]);
    check(&["schema", "inspct"], &["hint: did you mean inspect?"]);
    check(&["inspct"], &["similar subcommands exist: 'inspect'"]);
    check(&["inspect", "sd-4mib"], &["no file or device sd-4mib\nhint: did you mean sim:sd-4mib?"]);
    check(&["bench", "sd-4mib,noise=field", "--rw", "write"], &["hint: did you mean sim:sd-4mib,noise=field?"]);
}

#[test]
fn the_wrong_file_is_named_with_what_would_be_right() {
    let folder = folder();
    let check = |arguments: &[&str], says: &[&str]| check(&folder, arguments, CANNOT, says);
    for (name, why) in [("none", "there is no such file"), ("dir", "it is a directory"), ("binary", "is not text")] {
        check(&["report", name], &[name, why, "\nhint: name a record that flashscope wrote"]);
        check(&["bench", "--job", name], &[name, why, "\nhint: name a job file"]);
        check(&["bench", "fio", name], &[name, why, "\nhint: name a job file"]);
        check(&["bench", "sim:sd-4mib", "--preset", &format!("./{name}")], &[name, why, "\nhint: name a preset"]);
    }
    check(&["report", "empty"], &["the record is empty", "\nhint: "]);
    check(&["report", "plain.txt"], &["not a flashscope record", "\nhint: "]);
    check(&["bench", "--job", "plain.txt"], &["plain.txt", "line 1", "\nhint: "]);
    check(&["infer", "none"], &["cannot open none: there is no such file\nhint: name a flashbench log"]);
    check(&["infer", "dir"], &["dir is a directory\nhint: "]);
    check(&["twin", "fit", "plain.txt", "-o", "model.toml"], &["nothing to fit", "\nhint: "]);
    check(&["inspect", "none"], &["there is no file or device none\nhint: `flashscope list`"]);
    check(&["inspect", "dir"], &["dir is a directory", "\nhint: "]);
    check(&["inspect", "/dev/null"], &["special file", "\nhint: "]);
    check(&["inspect", "empty"], &["empty holds 0 B", "\nhint: "]);
    check(&["inspect", "plain.txt"], &["plain.txt holds 6 B", "\nhint: "]);
    let made: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(made.len(), 4, "nothing is written for a mistake: {made:?}");
}

#[test]
fn a_value_that_cannot_be_meant_is_named_with_its_place() {
    let folder = folder();
    let check = |arguments: &[&str], says: &[&str]| check(&folder, arguments, CANNOT, says);
    check(&["inspect", "--max-write", "5"], &["5 B is less than one sector (512 B)\nhint: with a unit it is 5M or 5G"]);
    check(&["bench", "sim:sd-4mib", "--rw", "read", "--size", "4qB"], &["--size", "unknown unit 'qB'"]);
    let run = flashscope(&["inspect"]).env("FLASHSCOPE_SEED", "abc").run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("FLASHSCOPE_SEED"), "{}", run.stderr);
}

#[test]
fn a_file_that_is_only_read_is_not_made() {
    let folder = folder();
    check(&folder, &["bench", "nope.img", "--rw", "read"], CANNOT, &["no file nope.img to read\nhint: ", "--size"]);
    assert!(!folder.join("nope.img").exists());
    let run = flashscope(&["bench", "new.img", "--rw", "read", "--size", "1M", "--mode", "cached"])
        .current_dir(&folder)
        .run();
    run.expect(0);
    assert!(run.stderr.contains("makes a file of 1 MiB at new.img, which is removed after the run"), "{}", run.stderr);
    assert!(!folder.join("new.img").exists());
}

#[test]
fn a_log_without_tables_says_so_in_the_record() {
    let folder = folder();
    for name in ["empty", "plain.txt", "binary"] {
        let run = flashscope(&["infer", name, "--json"]).current_dir(&folder).run();
        run.expect(EXPECTATION);
        let record: serde_json::Value = serde_json::from_str(&run.stdout).expect("a record");
        let first = &record["notes"][0];
        assert!(first["text"].as_str().is_some_and(|text| text.starts_with("no flashbench table")), "{name}: {first}");
    }
}

#[test]
fn a_full_disk_is_said_and_ends_with_2() {
    for arguments in [&["sim", "list"][..], &["probe", "floor", "sim:sd-4mib"], &["schema"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
        let run = flashscope(arguments).command().stdout(Stdio::from(full)).output().expect("the binary starts");
        assert_eq!(run.status.code(), Some(CANNOT), "{arguments:?}");
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(said.contains("cannot write to stdout: no space left on the device"), "{arguments:?}: {said}");
    }
}

#[test]
fn a_file_that_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let path = folder.join("plain.txt");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        return crate::harness::left_out("files that may not be read (root reads all)");
    }
    for arguments in [&["report", "plain.txt"][..], &["infer", "plain.txt"], &["bench", "--job", "plain.txt"]] {
        check(&folder, arguments, CANNOT, &["plain.txt", "permission denied", "\nhint: "]);
    }
    check(&folder, &["inspect", "plain.txt"], CANNOT, &["permission denied", "\nhint: run with sudo"]);
}
