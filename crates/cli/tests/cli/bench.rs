//! `bench` as a user meets it: on simulated devices, on files of its own, and when things go wrong.

use crate::harness::{Run, flashscope, interrupt, let_work, scratch};
use serde_json::Value;
use std::path::Path;

const DONE: i32 = 0;
const EXPECTATION: i32 = 1;
const CANNOT: i32 = 2;
const REFUSED: i32 = 3;

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}:\n{}\n{}", run.stdout, run.stderr))
}

fn first(record: &Value) -> &Value {
    &record["phases"][0]["runs"][0]["jobs"][0]
}

#[test]
fn the_same_seed_gives_the_same_bytes_in_virtual_time() {
    let run = |seed: &str| {
        let arguments =
            ["bench", "sim:sd-4mib", "--rw", "randrw", "--size", "16M", "--count", "500", "--json", "--seed", seed];
        let run = flashscope(&arguments).run();
        run.expect(DONE);
        run.stdout
    };
    assert_eq!(run("5"), run("5"));
    assert_ne!(run("5"), run("6"));
    let record: Value = serde_json::from_str(&run("5")).unwrap();
    assert_eq!((&record["virtual_time"], &record["host"]), (&Value::Bool(true), &Value::Null));
}

#[test]
fn output_follows_the_schema() {
    let schema = flashscope(&["bench", "--schema"]).run();
    schema.expect(DONE);
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema.stdout).unwrap()).unwrap();
    let check = |arguments: &[&str]| {
        let run = flashscope(arguments).run();
        let record = json(&run);
        let errors: Vec<String> = validator.iter_errors(&record).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        record
    };
    let folder = scratch();
    let folder = folder.to_str().unwrap();
    let record = check(&[
        "bench", folder, "--size", "1M", "--rw", "randrw", "--mode", "cached", "--verify", "--repeat", "3", "--json",
    ]);
    assert_eq!((&record["schema"], &record["kind"]), (&"flashscope.record/2".into(), &"bench".into()));
    assert_eq!(record["phases"][0]["summary"][0]["values"].as_array().map(Vec::len), Some(3));
    check(&["bench", "sim:sd-4mib", "--size", "1M", "--rate", "100", "--runtime", "1s", "--json"]);
    assert!(!validator.is_valid(&serde_json::json!({ "schema": "flashscope.record/2", "kind": "bench" })));
}

#[test]
fn a_file_of_its_own_needs_no_consent_and_is_gone_afterwards() {
    let folder = scratch();
    let run = flashscope(&[
        "bench",
        folder.to_str().unwrap(),
        "--size",
        "2M",
        "--rw",
        "write",
        "--mode",
        "fdatasync",
        "--json",
    ])
    .run();
    run.expect(DONE);
    let record = json(&run);
    let job = first(&record);
    assert_eq!((&job["write"]["bytes"], &job["flush_time"]["count"]), (&(2 << 20).into(), &1.into()));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    let kept = folder.join("new.img");
    flashscope(&["bench", kept.to_str().unwrap(), "--size", "1M", "--mode", "cached", "--keep"]).run().expect(DONE);
    assert_eq!(std::fs::metadata(&kept).unwrap().len(), 1 << 20);
}

#[test]
fn files_of_a_directory_are_used_as_one_and_gone_afterwards() {
    let folder = scratch();
    for engine in ["sync", "uring", "aio", "mmap"] {
        let run = flashscope(&[
            "bench",
            folder.to_str().unwrap(),
            "--files",
            "10",
            "--size",
            "640k",
            "--bs",
            "16k",
            "--rw",
            "randwrite",
            "--pattern",
            "once",
            "--mode",
            "fdatasync",
            "--engine",
            engine,
            "--verify",
            "--json",
        ])
        .run();
        if run.stderr.contains("kernel does not let us use io_uring") {
            crate::harness::left_out("files of a directory through io_uring");
            continue;
        }
        run.expect(DONE);
        let record = json(&run);
        let job = first(&record);
        assert_eq!((&job["write"]["count"], &job["read_back"]["count"]), (&40.into(), &40.into()), "{engine}");
        assert_eq!((&record["device"]["name"], &job["flush_time"]["count"]), (&"10 files".into(), &1.into()));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    }
    let uneven =
        ["bench", folder.to_str().unwrap(), "--files", "2", "--size", "64k", "--bs", "4k,16k", "--mode", "cached"];
    let run = flashscope(&uneven).run();
    run.expect(CANNOT);
    assert!(run.stderr.contains("two files"), "{}", run.stderr);
    let kept = ["bench", folder.to_str().unwrap(), "--files", "3", "--size", "48k", "--mode", "cached", "--keep"];
    flashscope(&kept).run().expect(DONE);
    let made = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let sizes: Vec<u64> =
        std::fs::read_dir(made).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).collect();
    assert_eq!(sizes, [16 << 10; 3]);
}

#[test]
fn whole_files_are_made_read_and_gone_afterwards() {
    let folder = scratch();
    let at = folder.to_str().unwrap();
    let check = |extra: &[&str]| {
        let load = ["bench", at, "--engine", "whole", "--size", "5000k", "--bs", "4k", "--json"];
        let run = flashscope(&[&load[..], extra].concat()).run();
        run.expect(DONE);
        json(&run)
    };
    let record = check(&["--rw", "write", "--mode", "fdatasync", "--verify"]);
    let job = first(&record);
    assert_eq!((&job["write"]["count"], &job["read_back"]["count"]), (&1250.into(), &1250.into()));
    assert_eq!(job["flush_time"]["count"], 1);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    let record = check(&["--rw", "randread", "--pattern", "once", "--mode", "cached", "--keep"]);
    assert_eq!(first(&record)["read"]["count"], 1250);
    let made = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let last = made.join("4096/001/249");
    assert_eq!(std::fs::metadata(last).unwrap().len(), 4096);
    assert!(!made.join("4096/001/250").exists());
    let refused = |extra: &[&str], word: &str| {
        let run = flashscope(&[&["bench", "--engine", "whole", "--size", "64k"], extra].concat()).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(word) && run.stderr.contains("hint"), "{}", run.stderr);
    };
    refused(&[at, "--bs", "4k,8k"], "one of them");
    refused(&[at, "--iodepth", "4"], "one request at a time");
    refused(&["sim:sd-4mib"], "no files");
    refused(&[made.join("4096/000/000").to_str().unwrap()], "no directory");
}

#[test]
fn somebody_elses_file_is_only_written_to_with_consent() {
    let path = scratch().join("precious");
    std::fs::write(&path, vec![7; 1 << 20]).unwrap();
    let name = path.to_str().unwrap();
    let run = flashscope(&["bench", name, "--rw", "write", "--mode", "cached"]).run();
    run.expect(REFUSED);
    assert!(run.stderr.contains("--allow-write"), "{}", run.stderr);
    flashscope(&["bench", name, "--rw", "write", "--mode", "cached", "--read-only"]).run().expect(CANNOT);
    assert!(std::fs::read(&path).unwrap() == vec![7; 1 << 20], "not one byte may change");
    flashscope(&["bench", name, "--rw", "write", "--mode", "cached", "--allow-write"]).run().expect(DONE);
    assert!(std::fs::read(&path).unwrap() != vec![7; 1 << 20]);
}

#[test]
fn every_engine_moves_the_same() {
    let folder = scratch();
    for engine in [["--engine", "sync"], ["--engine", "uring"], ["--engine", "aio"], ["--engine", "mmap"]] {
        let mut arguments = vec![
            "bench",
            folder.to_str().unwrap(),
            "--size",
            "1M",
            "--rw",
            "randrw",
            "--mode",
            "cached",
            "--verify",
            "--json",
        ];
        arguments.extend(engine);
        let run = flashscope(&arguments).run();
        if run.stderr.contains("kernel does not let us use io_uring") {
            crate::harness::left_out("bench through io_uring");
            continue;
        }
        run.expect(DONE);
        let record = json(&run);
        let job = first(&record);
        assert_eq!(
            job["read"]["bytes"].as_u64().unwrap() + job["write"]["bytes"].as_u64().unwrap(),
            1 << 20,
            "{engine:?}"
        );
        assert_eq!((&job["mismatched_count"], &job["failed_count"]), (&0.into(), &0.into()));
        assert!(job["read_back"]["count"].as_u64().unwrap() > 10);
    }
}

#[test]
fn what_an_earlier_run_wrote_is_checked_and_corruption_found_where_it_is() {
    let path = scratch().join("data");
    let name = path.to_str().unwrap();
    let check = |extra: &[&str], code: i32| {
        let run = flashscope(&[&["bench", name, "--mode", "cached", "--json"], extra].concat()).run();
        run.expect(code);
        json(&run)
    };
    check(&["--size", "1M", "--rw", "write", "--payload", "tagged:3", "--keep"], DONE);
    check(&["--rw", "read", "--verify-generation", "3"], DONE);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[70_000] ^= 1;
    bytes.copy_within(0..4096, 400 * 1024);
    std::fs::write(&path, bytes).unwrap();
    let record = check(&["--rw", "read", "--verify-generation", "3"], EXPECTATION);
    let job = first(&record);
    assert_eq!(job["mismatched_count"], 2);
    assert_eq!(job["failures"][0]["mismatch"]["position_bytes"], 70_000);
    assert_eq!(job["failures"][1]["mismatch"]["position_bytes"], 400 * 1024);
    assert_eq!(job["failures"][1]["mismatch"]["found"], "generation 3 of position 0");
}

#[test]
fn mistakes_are_explained() {
    let folder = scratch();
    let file = folder.join("f");
    std::fs::write(&file, vec![1; 1 << 20]).unwrap();
    let file = file.to_str().unwrap();
    let job = folder.join("job.toml");
    std::fs::write(&job, "[[job]]\nrw = \"read\"\nqueue_dept = 4\n").unwrap();
    let check = |arguments: &[&str], words: &[&str]| {
        let run = flashscope(&[&["bench"], arguments].concat()).run();
        run.expect(CANNOT);
        assert!(run.stdout.is_empty(), "{}", run.stdout);
        for word in words {
            assert!(run.stderr.contains(word), "'{word}' is missing from: {}", run.stderr);
        }
    };
    check(&[file, "--size", "1G", "--mode", "cached"], &["the target has 1 MiB", "hint"]);
    check(&[file, "--rw", "reed"], &["there is no 'reed'", "randread"]);
    check(&[file, "--bs", "4KX"], &["unknown unit 'KX'"]);
    check(&[file, "--timeout", "10"], &["no unit"]);
    check(&[file, "--iodepth", "4", "--engine", "sync", "--mode", "cached"], &["one request at a time", "hint"]);
    check(&[file, "--engine", "mmap"], &["page cache", "hint"]);
    check(&[file, "--job", job.to_str().unwrap()], &["queue_dept", "line 3"]);
    check(&[file, "--job", "/no/such.toml"], &["/no/such.toml"]);
    check(&["/no/such/folder/file"], &["/no/such/folder/file"]);
    // A slip in a device's name must not measure a file in memory instead.
    check(&["/dev/flashscope-none", "--rw", "write"], &["no device /dev/flashscope-none", "flashscope list"]);
    check(&["/dev", "--rw", "write", "--size", "1M"], &["no file is made among devices"]);
    let line = "--name=a --filename=/dev/flashscope-none --size=1m --rw=write";
    check(&[&["fio", "--"], &line.split(' ').collect::<Vec<_>>()[..]].concat(), &["no device /dev/flashscope-none"]);
    check(&["iozone", "-s", "64", "-f", "/dev/flashscope-none"], &["no device /dev/flashscope-none"]);
    assert!(!std::path::Path::new("/dev/flashscope-none").exists());
    check(&[folder.to_str().unwrap(), "--size", "900T"], &["free", "hint"]);
    check(&["sim:sd-4mib", "--rw", "write", "--size", "64M", "--max-write", "1M"], &["--max-write", "hint"]);
}

#[test]
fn holes_are_told_once_and_blamed_for_what_no_device_read() {
    let folder = scratch();
    let file = folder.join("hollow");
    std::fs::File::create(&file).unwrap().set_len(1 << 20).unwrap();
    let job = folder.join("job.toml");
    std::fs::write(&job, "[all]\nrw = \"read\"\n[[job]]\nname = \"a\"\n[[job]]\nname = \"b\"\n").unwrap();
    let arguments = ["bench", file.to_str().unwrap(), "--job", job.to_str().unwrap(), "--mode", "cached", "--json"];
    let run = flashscope(&arguments).run();
    run.expect(DONE);
    assert_eq!(run.stderr.matches("has holes").count(), 1, "{}", run.stderr);
    let evidence = &json(&run)["phases"][0]["runs"][0]["evidence"];
    if evidence["counters"].to_string().contains("device_read_bytes") {
        assert!(evidence["why"].as_str().unwrap().contains("holes"), "{evidence}");
    }
}

#[test]
fn a_dry_run_prints_a_job_file_that_says_the_same() {
    let arguments = ["bench", "sim:sd-4mib", "--rw", "randwrite", "--size", "1M", "--iodepth", "2", "--dry-run"];
    let run = flashscope(&arguments).run();
    run.expect(DONE);
    assert!(run.stdout.contains("writes at most 1 MiB"), "{}", run.stdout);
    let file = scratch().join("job.toml");
    std::fs::write(&file, &run.stdout).unwrap();
    let again = flashscope(&["bench", "sim:sd-4mib", "--job", file.to_str().unwrap(), "--dry-run"]).run();
    assert_eq!(again.stdout, run.stdout);
}

#[test]
fn jobs_of_a_file_run_in_turn_or_side_by_side() {
    let file = scratch().join("job.toml");
    let text = "[all]\nspan = \"1M\"\n[[job]]\nname = \"fill\"\nrw = \"write\"\n[[job]]\nname = \"a\"\n[[job]]\nname = \"b\"\nbeside = true\n";
    std::fs::write(&file, text).unwrap();
    let run = flashscope(&["bench", "sim:sd-4mib", "--job", file.to_str().unwrap(), "--json"]).run();
    run.expect(DONE);
    let record = json(&run);
    let names = |phase: usize| {
        let jobs = record["phases"][phase]["runs"][0]["jobs"].as_array().unwrap();
        jobs.iter().map(|job| job["name"].as_str().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((names(0), names(1)), (vec!["fill"], vec!["a", "b"]));
}

#[test]
fn an_interrupt_keeps_what_was_measured() {
    let folder = scratch();
    let words = ["bench", folder.to_str().unwrap(), "--size", "1M", "--mode", "cached", "--runtime", "1h", "--json"];
    let child = flashscope(&words).started();
    let_work(&child, std::time::Duration::from_secs(2));
    // `timeout` sends each signal to the program and then to its whole group: that is one wish, not two.
    interrupt(&child);
    std::thread::sleep(std::time::Duration::from_millis(1));
    interrupt(&child);
    let run = Run::from(child.wait_with_output().unwrap());
    run.expect(CANNOT);
    let record = json(&run);
    assert_eq!(record["ended"]["how"], "interrupted");
    // In two seconds the kernel has looked often enough to divide processor time.
    let cpu = &first(&record)["cpu"];
    assert!(cpu["user_ns"].as_u64().unwrap() <= cpu["total_ns"].as_u64().unwrap(), "{cpu}");
    assert_eq!(first(&record)["ended"]["how"], "stopped");
    assert!(first(&record)["read"]["count"].as_u64().unwrap() > 0);
    assert_eq!(std::fs::read_dir(Path::new(&folder)).unwrap().count(), 0, "its own file is gone all the same");
}

#[test]
fn a_full_file_system_is_an_outcome() {
    let folder = scratch();
    let mounted =
        std::process::Command::new("mount").args(["-t", "tmpfs", "-o", "size=2M", "none"]).arg(&folder).status();
    if !mounted.is_ok_and(|status| status.success()) {
        crate::harness::left_out("bench on a full file system (mount did not work)");
        return;
    }
    for (engine, reason) in [("sync", "ENOSPC"), ("aio", "ENOSPC"), ("mmap", "SIGBUS")] {
        // A file with holes, whose size the file system cannot hold.
        let path = folder.join(engine);
        std::fs::File::create(&path).unwrap().set_len(8 << 20).unwrap();
        let load = ["bench", path.to_str().unwrap(), "--rw", "write", "--mode", "cached", "--allow-write", "--json"];
        let run = flashscope(&[&load[..], &["--engine", engine]].concat()).run();
        std::fs::remove_file(&path).unwrap();
        run.expect(EXPECTATION);
        let record = json(&run);
        let job = first(&record);
        assert_eq!(job["ended"]["how"], "failing", "{engine}");
        assert!(job["failures"][0]["reason"].as_str().unwrap().contains(reason), "{}", job["failures"][0]);
        assert!(job["write"]["count"].as_u64().unwrap() > 100, "{engine}");
    }
    std::process::Command::new("umount").arg(&folder).status().unwrap();
}

#[test]
fn a_trace_holds_every_request() {
    let folder = scratch();
    let trace = folder.join("trace.csv");
    let file = folder.join("data");
    let run = flashscope(&[
        "bench",
        file.to_str().unwrap(),
        "--size",
        "1M",
        "--mode",
        "cached",
        "--count",
        "100",
        "--trace",
        "70",
        "--trace-to",
        trace.to_str().unwrap(),
    ])
    .run();
    run.expect(DONE);
    let text = std::fs::read_to_string(&trace).unwrap();
    assert_eq!(text.lines().count(), 71);
    assert!(text.starts_with("phase,worker,kind,offset_bytes,"), "{text}");
}

/// Runs a command in which the kernel refuses to set `io_uring` up, as a container's seccomp filter does.
const WITHOUT_URING: &str = r#"
import ctypes, os, struct, sys
op = lambda code, yes, no, value: struct.pack("HBBI", code, yes, no, value)
io_uring_setup, errno, allow = 425, 0x00050001, 0x7fff0000
code = op(0x20, 0, 0, 0) + op(0x15, 0, 1, io_uring_setup) + op(0x06, 0, 0, errno) + op(0x06, 0, 0, allow)
memory = ctypes.create_string_buffer(code)
program = struct.pack("@HP", 4, ctypes.addressof(memory))
libc = ctypes.CDLL(None)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0): sys.exit(99)
os.execv(sys.argv[1], sys.argv[1:])
"#;

#[test]
fn a_kernel_that_refuses_io_uring_is_named_and_nothing_else_is_tried() {
    let folder = scratch();
    let run = std::process::Command::new("python3")
        .args(["-c", WITHOUT_URING, env!("CARGO_BIN_EXE_flashscope"), "bench"])
        .arg(&folder)
        .args(["--size", "1M", "--mode", "cached", "--iodepth", "4"])
        .output();
    let Some(run) = run.ok().filter(|run| run.status.code() != Some(99)) else {
        crate::harness::left_out("bench without io_uring (python3 or seccomp is missing)");
        return;
    };
    let run = Run::from(run);
    run.expect(CANNOT);
    assert!(run.stdout.is_empty(), "{}", run.stdout);
    assert!(run.stderr.contains("does not let us use io_uring") && run.stderr.contains("hint"), "{}", run.stderr);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "its own file is gone all the same");
}

#[test]
fn a_file_system_without_direct_io_is_named_and_nothing_runs() {
    let folder = scratch();
    let mounted = std::process::Command::new("mount").args(["-t", "ramfs", "none"]).arg(&folder).status();
    if !mounted.is_ok_and(|status| status.success()) {
        crate::harness::left_out("bench where direct I/O is refused (mount did not work)");
        return;
    }
    let run = flashscope(&["bench", folder.to_str().unwrap(), "--size", "1M"]).run();
    std::process::Command::new("umount").arg(&folder).status().unwrap();
    run.expect(CANNOT);
    assert!(run.stdout.is_empty(), "{}", run.stdout);
    assert!(run.stderr.contains("direct I/O") && run.stderr.contains("hint"), "{}", run.stderr);
}

#[test]
fn a_device_that_fails_hangs_or_vanishes_keeps_what_was_measured() {
    let run = |spec: &str, code: i32| {
        let run = flashscope(&["bench", spec, "--rw", "randread", "--count", "20000", "--json"]).run();
        run.expect(code);
        json(&run)
    };
    let failing = run("sim:sd-4mib,failing=0.01", EXPECTATION);
    let job = first(&failing);
    assert!(job["failed_count"].as_u64().unwrap() > 50, "{}", job["failed_count"]);
    assert!(job["failures"][0]["reason"].as_str().is_some());
    assert_eq!(job["ended"]["how"], "complete");
    for spec in ["sim:sd-4mib,vanish_after=500", "sim:sd-4mib,hanging=0.001,hang_timeout=7s"] {
        let lost = run(spec, CANNOT);
        assert_eq!(lost["ended"]["how"], "device_lost", "{spec}");
        assert!(first(&lost)["read"]["count"].as_u64().unwrap() > 10, "{spec}");
    }
}
