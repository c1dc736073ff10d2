//! `integrity` on simulated devices: verdicts, exit codes, forms, replays.

use crate::harness::{flashscope, scratch};
use serde_json::Value;

const KEPT: i32 = 0;
const BROKEN: i32 = 1;
const CANNOT: i32 = 2;

#[test]
fn an_honest_cache_is_not_accused() {
    let run = flashscope(&["integrity", "sim:sd-4mib,write_cache=1MiB,drain_after=5s,reordered=true", "-n", "40"])
        .env("COLUMNS", "80")
        .run();
    run.expect(KEPT);
    assert!(run.stdout.contains("kept its promise after all 40 power cuts: at most 7.5 %"), "{}", run.stdout);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
    assert!(!run.stdout.contains("safe"), "no number of cuts says so: {}", run.stdout);
}

#[test]
fn a_broken_promise_is_named_and_comes_again_from_its_seed() {
    let target = "sim:sd-4mib,capacity=256MiB,shorn=true";
    let run = flashscope(&["integrity", target, "-n", "30", "--seed", "4", "--json"]).run();
    run.expect(BROKEN);
    let record: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&record["kind"], &record["verdict"]["faults"][0]["kind"]), (&"integrity".into(), &"shorn".into()));
    let schema: Value = serde_json::from_str(&flashscope(&["schema", "integrity"]).run().stdout).unwrap();
    let problems: Vec<String> =
        jsonschema::validator_for(&schema).unwrap().iter_errors(&record).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(run.stdout, flashscope(&["integrity", target, "-n", "30", "--seed", "4", "--json"]).run().stdout);

    let first = record["verdict"]["faults"][0]["first_cut"].as_u64().unwrap();
    let cut = &record["power_cuts"][first as usize - 1];
    let again = flashscope(&["integrity", target, "--seed", "4", "--replay", &first.to_string(), "--json"]).run();
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(&again["power_cuts"][0], cut);
    assert!(again["replayed_requests"].as_array().is_some_and(|requests| requests.len() > 5));

    let folder = scratch();
    std::fs::write(folder.join("record.json"), &run.stdout).unwrap();
    let report = |name: &str| {
        flashscope(&["report", "record.json", "-o", name]).current_dir(&folder).run().expect(0);
        std::fs::read(folder.join(name)).unwrap()
    };
    assert!(String::from_utf8(report("r.csv")).unwrap().starts_with("cut,moment,at_ns,"));
    assert!(String::from_utf8(report("r.html")).unwrap().contains("BROKE ITS PROMISE"));
    assert!(String::from_utf8(report("r.md")).unwrap().contains("shorn write"));
    assert!(report("r.xlsx").starts_with(b"PK"));
}

#[test]
fn a_device_that_is_gone_or_smaller_is_said() {
    for (fault, kind) in [("dead=1.0", "dead"), ("shrink=1.0,shrunk_to=64MiB", "shrunk")] {
        let target = format!("sim:sd-4mib,{fault}");
        let run = flashscope(&["integrity", &target, "-n", "10", "--json"]).run();
        run.expect(BROKEN);
        let record: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(record["verdict"]["faults"][0]["kind"], kind, "{}", record["verdict"]);
        assert!(record["verdict"]["ended"].is_string());
    }
}

#[test]
fn the_log_of_writes_is_one_of_the_kernels_format() {
    let folder = scratch();
    let arguments = ["integrity", "sim:sd-4mib", "-n", "5", "--log-writes", "writes.log"];
    flashscope(&arguments).current_dir(&folder).run().expect(KEPT);
    let log = std::fs::read(folder.join("writes.log")).unwrap();
    let number = |at: usize| u64::from_le_bytes(log[at..at + 8].try_into().unwrap());
    assert_eq!((number(0), number(8)), (0x006a_7366_7773_6872, 1));
    assert!(number(16) > 20 && log.len() > 2 << 20, "the first filling is in it");
    assert!(log.windows(5).any(|text| text == b"cut 5"));
    // What is there and not ours stays.
    std::fs::write(folder.join("writes.log"), "thesis").unwrap();
    flashscope(&arguments).current_dir(&folder).run().expect(3);
}

#[test]
fn what_cannot_be_is_refused_with_a_hint() {
    let check = |arguments: &[&str], says: &str| {
        let run = flashscope(&[&["integrity"], arguments].concat()).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(says), "{arguments:?}: {}", run.stderr);
    };
    check(&["/dev/null"], "cannot be cut from here");
    check(&["sim:sd-4mib", "--read-only"], "leave out --read-only");
    check(&["sim:sd-4mib", "--size", "100k"], "from 256 KiB to 1 GiB");
    check(&["sim:sd-4mib", "--offset", "1T"], "do not lie inside");
    check(&["sim:sd-4mib", "--cuts", "0"], "0 is not in 1..=1000000");
    check(&["sim:sd-4mib", "--max-write", "1M"], "budget");
    check(&["sim:sd-4mib,damaged=0.5,fake=damaged", "-n", "5"], "with the power on");
}
