//! Tests of the capacity: files that the tests make themselves, and simulated devices.

use crate::harness::{Run, flashscope, scratch};
use serde_json::Value;
use std::fs::File;

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
