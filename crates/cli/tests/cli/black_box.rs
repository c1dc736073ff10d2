//! The binary as a user meets it: what it prints where, its exit codes, and what it keeps when things go wrong.

use crate::harness::{Run, fixture, flashscope, scratch};
use std::process::Stdio;

const DONE: i32 = 0;
const EXPECTATION: i32 = 1;
const CANNOT: i32 = 2;
const REFUSED: i32 = 3;

#[test]
fn the_first_command_of_a_newcomer_shows_the_whole_thing() {
    let folder = scratch();
    let run = flashscope(&["inspect"]).current_dir(&folder).run();
    run.expect(DONE);
    for part in
        ["Geometry", "allocation unit", "4 MiB", "page", "16 KiB", "open units", "Performance", "mkfs.ext4", "Cost"]
    {
        assert!(run.stdout.contains(part), "'{part}' is missing from:\n{}", run.stdout);
    }
    assert!(folder.join("flashscope-SD08G.html").is_file());
    assert!(folder.join("flashscope-SD08G.json").is_file());
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let once = flashscope(&["inspect", "sim:sd-4mib", "--json", "--seed", "5"]).run();
    let twice = flashscope(&["inspect", "sim:sd-4mib", "--json", "--seed", "5"]).run();
    let other = flashscope(&["inspect", "sim:sd-4mib", "--json", "--seed", "6"]).run();
    once.expect(DONE);
    assert_eq!(once.stdout, twice.stdout);
    assert_ne!(once.stdout, other.stdout);
    assert!(once.stderr.is_empty(), "--json prints the record and nothing else: {}", once.stderr);
}

#[test]
fn json_is_one_record_and_reports_can_be_made_from_it_again() {
    let folder = scratch();
    let run = flashscope(&["inspect", "sim:sd-4mib", "--json"]).run();
    let record: serde_json::Value = serde_json::from_str(&run.stdout).expect("stdout is one JSON document");
    assert_eq!(record["schema"], "flashscope.record/2");
    let stored = folder.join("r.json");
    std::fs::write(&stored, &run.stdout).unwrap();
    let stored = stored.to_str().unwrap();
    for (format, mark) in
        [("text", "Geometry"), ("html", "<html"), ("json", "flashscope.record/2"), ("markdown", "|"), ("csv", ",")]
    {
        let again = flashscope(&["report", stored, "--format", format]).run();
        again.expect(DONE);
        assert!(again.stdout.contains(mark), "{format}");
    }
    let json = flashscope(&["report", stored, "--format", "json"]).run();
    assert_eq!(json.stdout, run.stdout, "a record survives reading and writing to the byte");
    let inferred = flashscope(&["infer", stored, "--json"]).run();
    inferred.expect(DONE);
    let inferred: serde_json::Value = serde_json::from_str(&inferred.stdout).unwrap();
    assert_eq!(inferred["geometry"], record["geometry"], "inference on a record is the same as live");
}

#[test]
fn bad_names_are_explained() {
    let check = |arguments: &[&str], words: &[&str]| {
        let run = flashscope(arguments).run();
        run.expect(CANNOT);
        assert!(run.stdout.is_empty(), "{}", run.stdout);
        for word in words {
            assert!(run.stderr.contains(word), "'{word}' is missing from: {}", run.stderr);
        }
    };
    check(&["inspect", "sim:sd-4mb"], &["sd-4mb", "hint", "sd-4mib"]);
    check(&["inspect", "sim:"], &["hint"]);
    check(&["inspect", "sim:sd-4mib,colour=red"], &["colour"]);
    check(&["inspect", "sim:./no-such.toml"], &["no-such.toml"]);
    check(&["inspect", "/no/such/device"], &["/no/such/device", "hint"]);
    check(&["inspekt"], &["inspekt"]);
    check(&[], &["Usage"]);
    check(&["inspect", "--max-write", "4KX"], &["4KX", "unknown unit"]);
    check(&["probe", "open-au", "sim:sd-4mib", "-e", "3M", "-b", "16k"], &["hint"]);
    check(&["probe", "open-au", "sim:sd-4mib", "--open-au-nr", "4000"], &["hint"]);
    check(&["sim", "show", "nothing"], &["nothing", "hint"]);
    check(&["report", "/no/such.json"], &["/no/such.json"]);
    check(&["infer", "/no/such.log"], &["/no/such.log"]);
    check(&["infer", "/"], &["directory"]);
}

#[test]
fn files_without_tables_are_an_expectation_that_failed() {
    let folder = scratch();
    let check = |name: &str, content: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, content).unwrap();
        let run = flashscope(&["infer", "--json", path.to_str().unwrap()]).run();
        run.expect(EXPECTATION);
        let record: serde_json::Value = serde_json::from_str(&run.stdout).expect("a record all the same");
        assert!(record["geometry"]["allocation_unit"]["bytes"].is_null());
        assert!(record["geometry"]["allocation_unit"]["reason_unknown"].is_string());
    };
    check("empty.log", b"");
    check("other.log", b"dear diary, the align of my wheels is 4 MiB/s today\n");
    check("binary.log", &(0..=255u8).cycle().take(100_000).collect::<Vec<_>>());
}

#[test]
fn several_logs_give_an_array_in_order() {
    let logs = [fixture("field/card-1-2.txt"), fixture("field/card-9.txt")];
    let run = flashscope(&["infer", "--json", &logs[0], &logs[1]]).run();
    run.expect(DONE);
    let records: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(records.as_array().map(Vec::len), Some(2));
    assert_eq!(records[0]["target"], logs[0].as_str());
}

#[test]
fn a_log_in_a_forums_mark_up_is_a_log_and_an_array_of_records_is_read_back() {
    let folder = scratch();
    let log = std::fs::read_to_string(fixture("field/card-1-2.txt")).unwrap();
    let path = folder.join("pasted.txt");
    std::fs::write(&path, format!("{{code}}\n{log}\n{{code}}\n")).unwrap();
    let run = flashscope(&["infer", "--json", path.to_str().unwrap()]).run();
    run.expect(DONE);

    let both = flashscope(&["infer", "--json", path.to_str().unwrap(), &fixture("field/card-9.txt")]).run();
    let stored = folder.join("both.json");
    std::fs::write(&stored, format!("\u{feff}{}", both.stdout)).unwrap();
    let again = flashscope(&["infer", "--json", stored.to_str().unwrap()]).run();
    again.expect(DONE);
    let (both, again): (serde_json::Value, serde_json::Value) =
        (serde_json::from_str(&both.stdout).unwrap(), serde_json::from_str(&again.stdout).unwrap());
    assert_eq!(both[1]["geometry"], again[1]["geometry"]);
}

#[test]
fn one_unreadable_log_does_not_cost_the_others_their_answer() {
    let log = fixture("field/card-1-2.txt");
    let run = flashscope(&["infer", "--json", &log, "/no/such.log"]).run();
    run.expect(CANNOT);
    let records: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(records.as_array().map(Vec::len), Some(1));
}

#[test]
fn a_damaged_record_is_refused_with_a_reason() {
    let folder = scratch();
    let path = folder.join("r.json");
    let good = flashscope(&["probe", "floor", "sim:sd-4mib", "--json"]).run().stdout;
    let check = |content: &str, word: &str| {
        std::fs::write(&path, content).unwrap();
        let run = flashscope(&["report", path.to_str().unwrap()]).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(word), "{}", run.stderr);
    };
    check(&good[..good.len() / 2], "hint");
    check("{}", "schema");
    check("not json", "hint");
    check(&good.replace("flashscope.record/2", "flashscope.record/99"), "99");
}

#[test]
fn a_closed_pipe_is_success() {
    let mut child = flashscope(&["inspect", "sim:sd-4mib", "--json"]).command().stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(DONE));
}

#[test]
fn an_interrupt_keeps_what_was_measured() {
    let arguments = ["probe", "scatter", "sim:sd-4mib", "--scatter-order", "18", "-c", "5000", "-b", "16k", "--json"];
    let child = flashscope(&arguments).started();
    crate::harness::let_work(&child, std::time::Duration::from_millis(500));
    crate::harness::interrupt(&child);
    let run = Run::from(child.wait_with_output().unwrap());
    run.expect(CANNOT);
    let record: serde_json::Value = serde_json::from_str(&run.stdout).expect("the record is kept");
    assert_eq!(record["ended"]["how"], "interrupted");
    assert!(record["cost"]["read_bytes"].as_u64().unwrap() > 0);
}

#[test]
fn a_file_is_only_read_unless_writing_is_allowed() {
    let folder = scratch();
    let image = folder.join("card.img");
    let content: Vec<u8> = (0..8u32 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    std::fs::write(&image, &content).unwrap();
    let path = image.to_str().unwrap();

    let run = flashscope(&["inspect", path, "--json", "--allow-cached"]).run();
    run.expect(DONE);
    let record: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(record["cost"]["written_bytes"], 0);
    assert!(std::fs::read(&image).unwrap() == content, "not one byte may change");

    let small = flashscope(&["probe", "program", path, "--allow-cached", "--allow-write"]).run();
    small.expect(REFUSED);
    assert!(small.stderr.contains("20 MiB"), "the plan needs more than there is: {}", small.stderr);

    let refused = flashscope(&["probe", "program", path, "--allow-cached", "--offset", "0"]).run();
    refused.expect(REFUSED);
    assert!(refused.stderr.contains("--allow-write"), "{}", refused.stderr);
    assert!(std::fs::read(&image).unwrap() == content, "not one byte may change");

    // The path alone names it: what somebody keeps there is asked about.
    let arguments = ["inspect", path, "--json", "--allow-cached", "--allow-write", "--max-write", "1M"];
    let refused = flashscope(&arguments).run();
    refused.expect(REFUSED);
    assert!(refused.stderr.contains("holds data that flashscope did not write"), "{}", refused.stderr);
    assert!(std::fs::read(&image).unwrap() == content, "not one byte may change");

    let granted = flashscope(&[&arguments[..], &["--destroy-signatures"]].concat()).run();
    granted.expect(DONE);
    let record: serde_json::Value = serde_json::from_str(&granted.stdout).unwrap();
    assert!(record["cost"]["written_bytes"].as_u64().unwrap() <= 1 << 20, "the budget is kept");
    assert_eq!(std::fs::metadata(&image).unwrap().len(), content.len() as u64, "a file does not grow");
}

#[test]
fn blank_images_and_those_of_earlier_runs_need_no_second_word() {
    let image = scratch().join("card.img");
    std::fs::File::create(&image).unwrap().set_len(32 << 20).unwrap();
    let path = image.to_str().unwrap();
    flashscope(&["inspect", path, "--allow-cached", "--allow-write", "--max-write", "8M"]).run().expect(DONE);
    let payloads = ["incompressible", "compressible:30%", "zeros", "byte:90", "tagged:7"];
    for (payload, size) in payloads.into_iter().flat_map(|payload| [(payload, "4k"), (payload, "1000")]) {
        let load = ["bench", path, "--rw", "write", "--mode", "cached", "--bs", size, "--payload", payload];
        let odd = payload.starts_with("tagged") && size == "1000";
        let load = [&load[..], &["--bytes", if odd { "1000" } else { "4M" }, "--allow-write"]].concat();
        flashscope(&load).run().expect(DONE);
    }
    flashscope(&["bench", path, "--rw", "randrw", "--verify", "--mode", "cached", "--allow-write"]).run().expect(DONE);
    flashscope(&["inspect", path, "--allow-cached", "--allow-write", "--max-write", "1M"]).run().expect(DONE);
}

#[test]
fn somebodys_data_is_named_and_stays() {
    let check = |start: &[u8], kind: &str| {
        let path = scratch().join("precious");
        let rest = (0..1_000_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes());
        let content: Vec<u8> =
            if kind == "text" { start.repeat(100_000) } else { start.iter().copied().chain(rest).collect() };
        std::fs::write(&path, &content).unwrap();
        let name = path.to_str().unwrap();
        let inspect = vec!["inspect", name, "--allow-cached"];
        let bench = vec!["bench", name, "--rw", "write", "--mode", "cached"];
        let iozone = vec!["bench", "iozone", "-f", name, "-s", "512", "-r", "64", "-i", "0"];
        for words in [inspect, bench, iozone] {
            let run = flashscope(&[&words[..], &["--allow-write"]].concat()).run();
            run.expect(REFUSED);
            assert!(
                run.stderr.contains(&format!("holds {kind}")) && run.stderr.contains("--destroy-signatures"),
                "{}",
                run.stderr
            );
            assert!(std::fs::read(&path).unwrap() == content, "not one byte may change");
        }
        flashscope(&[
            "bench",
            "iozone",
            "-f",
            name,
            "-s",
            "512",
            "-r",
            "64",
            "-i",
            "0",
            "--allow-write",
            "--destroy-signatures",
        ])
        .run()
        .expect(DONE);
    };
    check(b"PK\x03\x04\x14\0", "a ZIP archive");
    check(b"SQLite format 3\0", "an SQLite database");
    check(b"to whom it may concern\n", "text");
    check(b"", "data that flashscope did not write");
}

#[test]
fn odd_devices_give_answers_or_reasons() {
    let check = |spec: &str| {
        let run = flashscope(&["inspect", spec, "--json"]).run();
        run.expect(DONE);
        let record: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let unit = &record["geometry"]["allocation_unit"];
        assert!(
            unit["bytes"].is_u64() || unit["reason_unknown"].is_string() || !unit["at_least"].is_null(),
            "{spec}: {unit}"
        );
    };
    check("sim:sd-4mib,capacity=1MiB");
    check("sim:sd-4mib,capacity=1000001024");
    check("sim:sd-4mib,device.logical_block=4096");
    check("sim:sd-4mib,state=blank");
}

#[test]
fn a_tiny_file_gives_reasons() {
    let folder = scratch();
    let image = folder.join("tiny.img");
    std::fs::write(&image, [7u8; 8192]).unwrap();
    let run = flashscope(&["inspect", image.to_str().unwrap(), "--json", "--allow-cached"]).run();
    run.expect(DONE);
    let record: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(record["geometry"]["allocation_unit"]["reason_unknown"].is_string());
}

#[test]
fn a_model_file_is_not_taken_for_a_card() {
    let folder = scratch();
    let toml = flashscope(&["sim", "show", "sd-4mib"]).run().stdout;
    std::fs::write(folder.join("my.toml"), toml).unwrap();
    let run = flashscope(&["inspect", "my.toml"]).current_dir(&folder).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("sim:./my.toml"), "{}", run.stderr);
    flashscope(&["inspect", "sim:./my.toml", "--json"]).current_dir(&folder).run().expect(DONE);
}

#[test]
fn the_budget_is_kept_to_the_byte() {
    for budget in ["0", "100k", "5M", "60M"] {
        let run = flashscope(&["inspect", "sim:sd-4mib", "--json", "--max-write", budget]).run();
        run.expect(DONE);
        let record: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let limit = record["plan"]["budget"]["write_bytes"].as_u64().unwrap();
        assert!(record["cost"]["written_bytes"].as_u64().unwrap() <= limit, "{budget}");
    }
}

#[test]
fn every_probe_prints_every_format() {
    for probe in ["align", "write-align", "open-au", "fat", "scatter", "interval", "program"] {
        for format in ["table", "json", "flashbench"] {
            let run = flashscope(&["probe", probe, "sim:sd-4mib", "-b", "64k", "--format", format]).run();
            let run = if probe == "interval" {
                flashscope(&["probe", probe, "sim:sd-4mib", "--format", format]).run()
            } else {
                run
            };
            run.expect(DONE);
            assert!(run.stdout.lines().count() > 3, "{probe} {format}:\n{}", run.stdout);
        }
    }
}
