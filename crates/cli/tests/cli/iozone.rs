//! `bench iozone`, from outside.

use crate::harness::{Run, flashscope, interrupt, left_out, let_work, scratch};
use std::path::Path;

const DONE: i32 = 0;
const EXPECTATION: i32 = 1;
const CANNOT: i32 = 2;
const REFUSED: i32 = 3;

fn iozone(folder: &Path, line: &str) -> Run {
    let mut words = vec!["bench", "iozone"];
    words.extend(line.split_whitespace());
    flashscope(&words).current_dir(folder).run()
}

fn json(run: &Run) -> serde_json::Value {
    serde_json::from_str(&run.stdout).expect(&run.stdout)
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn all_thirteen_tests_move_what_they_should_and_follow_the_schema() {
    let folder = scratch();
    let schema: serde_json::Value = serde_json::from_str(&iozone(&folder, "--schema").stdout).unwrap();
    for way in ["", "-B", "-H 3", "-k 3", "-I", "-o -e -c", "-t 2 -x"] {
        let run = iozone(
            &folder,
            &format!(
                "{way} -E -s 256 -r 16 --json -i 0 -i 1 -i 2 -i 3 -i 4 -i 5 -i 6 -i 7 -i 8 -i 9 -i 10 -i 11 -i 12"
            ),
        );
        if way == "-I" && run.stderr.contains("direct I/O") {
            left_out("iozone past the page cache (no direct I/O here)");
            continue;
        }
        run.expect(DONE);
        let record = json(&run);
        let errors: Vec<String> =
            jsonschema::validator_for(&schema).unwrap().iter_errors(&record).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        let passes = match way.starts_with("-t") {
            true => record["throughput"].as_array().unwrap(),
            false => record["passes"].as_array().unwrap(),
        };
        assert_eq!(passes.len(), 22, "{way}");
        for pass in passes {
            let moved = |one: &serde_json::Value| {
                assert_eq!((&one["mismatched_count"], &one["failure"]), (&0.into(), &serde_json::Value::Null), "{one}");
                one["moved_bytes"].as_u64().unwrap()
            };
            let all = match pass["workers"].as_array() {
                Some(workers) => workers.iter().map(moved).sum::<u64>() / 2,
                None => moved(pass),
            };
            assert_eq!(all, 256 << 10, "{way} {pass}");
        }
        assert_eq!(files(&folder), 0, "{way}: its files are gone");
    }
}

#[test]
fn the_command_line_of_the_manual_works() {
    let folder = scratch();
    let run = iozone(&folder, "-Rab out.xlsx -g 256 -i 0 -i 1 --html page.html --csv all.csv --output record.json");
    run.expect(DONE);
    for block in ["\"Writer report\"", "\"Re-writer report\"", "\"Reader report\"", "\"Re-Reader report\""] {
        assert!(run.stdout.contains(block), "{}", run.stdout);
    }
    assert!(std::fs::read(folder.join("out.xlsx")).unwrap().starts_with(b"PK"));
    assert_eq!(std::fs::read_to_string(folder.join("all.csv")).unwrap().lines().count(), 1 + 4 * (5 + 6 + 7));
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(page.contains("<polygon") && page.contains("Heat map"));
    assert!(std::fs::read_to_string(folder.join("record.json")).unwrap().contains("\"kind\": \"iozone\""));
    assert_eq!(files(&folder), 4);
}

#[test]
fn what_is_not_taken_is_named() {
    let folder = scratch();
    let check = |line: &str, code: i32, words: &[&str]| {
        let run = iozone(&folder, line);
        run.expect(code);
        for word in words {
            assert!(run.stderr.contains(word), "'{word}' is missing from: {}", run.stderr);
        }
        assert!(run.stdout.is_empty() && files(&folder) == 0);
    };
    check("-a -%", CANNOT, &["no option -%", "-h"]);
    check("-U /mnt", CANNOT, &["-U is not supported", "--cold"]);
    check("-+u -a", CANNOT, &["-+u"]);
    check("-s 1x", CANNOT, &["-s 1x"]);
    check("-s 32 -r 64", CANNOT, &["does not fit"]);
    check("-f sim:sd-4mib", CANNOT, &["no files", "emulate"]);
    check("-s 9000g -r 1m -i 0", CANNOT, &["are free", "hint"]);
    check("-s 1m --max-write 64KiB", CANNOT, &["--max-write"]);
    check("-f /no/such/folder/file", CANNOT, &["/no/such/folder/file"]);
    check("-f /dev/null", CANNOT, &["/dev/null"]);
}

#[test]
fn somebody_elses_file_is_only_read_without_consent() {
    let folder = scratch();
    let path = folder.join("precious");
    std::fs::write(&path, vec![7; 1 << 20]).unwrap();
    let same = || std::fs::read(&path).unwrap() == vec![7; 1 << 20];
    let run = iozone(&folder, "-f precious -s 512 -r 64 -i 0");
    run.expect(REFUSED);
    assert!(run.stderr.contains("--allow-write") && same(), "{}", run.stderr);
    iozone(&folder, "-f precious -s 512 -r 64 -i 1 -i 3").expect(DONE);
    assert!(same());
    // With consent it is emptied and written to, and it stays, since it was there before.
    iozone(&folder, "-f precious -s 512 -r 64 -i 0 --allow-write").expect(DONE);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 512 << 10);
}

#[test]
fn a_kept_file_is_read_later() {
    let folder = scratch();
    iozone(&folder, "-i 0 -w -s 256 -r 64 -f kept").expect(DONE);
    assert_eq!(std::fs::metadata(folder.join("kept")).unwrap().len(), 256 << 10);
    let run = iozone(&folder, "-i 1 -s 256 -r 64 -f kept --json");
    run.expect(DONE);
    assert_eq!(json(&run)["passes"].as_array().unwrap().len(), 2);
    assert!(folder.join("kept").exists());
}

#[test]
fn a_dry_run_says_what_would_be_done() {
    let folder = scratch();
    let run = iozone(&folder, "-a -i 0 -i 1 --dry-run");
    run.expect(DONE);
    for words in ["cells      126", "64 KiB", "512 MiB", "write, rewrite, read, reread"] {
        assert!(run.stdout.contains(words), "{}", run.stdout);
    }
    assert_eq!(files(&folder), 0);
}

#[test]
fn an_interrupt_keeps_what_was_measured_and_takes_the_file_away() {
    let folder = scratch();
    let words = ["bench", "iozone", "-a", "-n", "16m", "-g", "64m", "-y", "4", "-i", "0", "-i", "2", "-o", "--json"];
    let child = flashscope(&words).current_dir(&folder).started();
    let_work(&child, std::time::Duration::from_secs(1));
    interrupt(&child);
    let run = Run::from(child.wait_with_output().unwrap());
    run.expect(CANNOT);
    assert_eq!(json(&run)["ended"]["how"], "interrupted");
    assert!(!json(&run)["passes"].as_array().unwrap().is_empty());
    assert_eq!(files(&folder), 0);
}

#[test]
fn a_full_file_system_is_an_outcome() {
    let folder = scratch();
    let mounted =
        std::process::Command::new("mount").args(["-t", "tmpfs", "-o", "size=2M", "none"]).arg(&folder).status();
    if !mounted.is_ok_and(|status| status.success()) {
        left_out("iozone on a full file system (mount did not work)");
        return;
    }
    let plain = iozone(&folder, "-s 1m -r 64 -i 0 -i 1 --json");
    let refused = iozone(&folder, "-s 3m -r 64 -i 0");
    // Enough space when it begins; then somebody else takes what each file of its own gives back.
    let mut words = vec!["bench", "iozone", "-i", "0", "-r", "4", "--json"];
    (0..400).for_each(|_| words.extend(["-s", "1m"]));
    let child = flashscope(&words).current_dir(&folder).started();
    std::thread::sleep(std::time::Duration::from_millis(200));
    let mut filler = std::fs::File::create(folder.join("filler")).unwrap();
    for _ in 0..200 {
        let _ = std::io::Write::write(&mut filler, &[1; 1 << 16]);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let full = Run::from(child.wait_with_output().unwrap());
    drop(filler);
    std::process::Command::new("umount").arg(&folder).status().unwrap();
    plain.expect(DONE);
    refused.expect(CANNOT);
    assert!(refused.stderr.contains("are free"), "{}", refused.stderr);
    full.expect(EXPECTATION);
    let record = json(&full);
    let passes = record["passes"].as_array().unwrap();
    let failed =
        |pass: &&serde_json::Value| pass["failure"]["reason"].as_str().is_some_and(|why| why.contains("ENOSPC"));
    assert!(passes.iter().any(|pass| failed(&pass)) && passes.iter().any(|pass| pass["failure"].is_null()));
}
