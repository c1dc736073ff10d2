//! `integrity --endurance`: limits, verdicts, exit codes, forms; a kill, and the same command again.

use crate::capacity::{begun, card};
use crate::harness::{Run, flashscope, interrupt, scratch};
use serde_json::Value;

const SOUND: i32 = 0;
const BROKEN: i32 = 1;
const CANNOT: i32 = 2;
const REFUSED: i32 = 3;
const MIB: u64 = 1 << 20;

/// A drive of 32 MiB whose blocks last forty erases or so.
const WEARS: &str = "sim:emmc-phone,device.kind=nvme,capacity=32MiB,noise=none,mapping.nand.pages_per_block=16,\
                     mapping.nand.blocks_per_plane=24,mapping.nand.bad_blocks=0,ageing.rated_erases=20,ageing.lasts=2.0,\
                     ageing.early_failures=0.0,ageing.reserve_ratio=0.1,ageing.unreadable=0.0";

fn endurance(words: &[&str]) -> Run {
    flashscope(&[&["integrity"], words, &["--endurance"]].concat()).env("COLUMNS", "80").run()
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).expect("one JSON document")
}

#[test]
fn a_device_that_wears_out_is_told_in_every_form() {
    let run = endurance(&[WEARS, "--until", "first-error"]);
    run.expect(BROKEN);
    let first = run.stdout.lines().next().unwrap();
    assert!(first.contains("DIED in pass") && run.stdout.contains("first error       "), "{}", run.stdout);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
    let told = endurance(&[WEARS, "--until", "first-error", "--json"]);
    told.expect(BROKEN);
    let record = json(&told);
    let schema: Value = serde_json::from_str(&flashscope(&["schema", "integrity"]).run().stdout).unwrap();
    let problems: Vec<String> =
        jsonschema::validator_for(&schema).unwrap().iter_errors(&record).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?}");
    let part = &record["endurance"];
    assert_eq!((&part["end"]["kind"], &part["forecast"]["basis"]), (&"read_only".into(), &"seen".into()));
    assert_eq!(part["milestones"][0]["milestone"], "first_error");
    assert_eq!(told.stdout, endurance(&[WEARS, "--until", "first-error", "--json"]).stdout);
    let folder = scratch();
    std::fs::write(folder.join("record.json"), &told.stdout).unwrap();
    let report = |name: &str| {
        flashscope(&["report", "record.json", "-o", name]).current_dir(&folder).run().expect(0);
        std::fs::read(folder.join(name)).unwrap()
    };
    assert!(String::from_utf8(report("r.csv")).unwrap().starts_with("pass,whole,written_bytes,"));
    let page = String::from_utf8(report("r.html")).unwrap();
    assert!(page.contains("Rate by pass") && page.contains("<svg") && page.contains("DIED in pass"));
    assert!(String::from_utf8(report("r.md")).unwrap().contains("## Milestones"));
    assert!(report("r.xlsx").starts_with(b"PK"));
}

#[test]
fn before_its_end_the_first_error_is_forecast_and_without_a_clue_it_is_not() {
    let near = endurance(&[WEARS, "--passes", "24", "--json"]);
    near.expect(SOUND);
    let forecast = &json(&near)["endurance"]["forecast"];
    assert!(["spare", "life"].contains(&forecast["basis"].as_str().unwrap()), "{forecast}");
    let [low, high] = ["capacity_writes_low", "capacity_writes_high"].map(|name| forecast[name].as_f64().unwrap());
    assert!(low > 24.0 - 1.0 && high > low, "{forecast}");
    let card = endurance(&["sim:sd-4mib,capacity=64MiB", "--passes", "2"]);
    card.expect(SOUND);
    assert!(card.stdout.contains("no error in 2 passes"), "{}", card.stdout);
    assert!(card.stdout.contains("cannot tell: the device has no register of wear; 2.0"), "{}", card.stdout);
}

#[test]
fn data_that_are_left_alone_are_read_again_in_virtual_time() {
    let loses = format!("{WEARS},ageing.raw_errors=0.02,ageing.raw_errors_spread=0.6,ageing.retention=1h");
    let run = endurance(&[&loses, "--passes", "12", "--reread-after", "720h", "--json"]);
    run.expect(BROKEN);
    let part = &json(&run)["endurance"];
    assert!(part["retention"]["lost_bytes"].as_u64().is_some_and(|lost| lost > 0), "{}", part["retention"]);
    assert_eq!(part["milestones"].as_array().map(Vec::len), Some(0));
}

#[test]
fn what_is_too_much_for_a_device_is_refused_and_what_makes_no_sense_is_an_error() {
    let folder = scratch();
    let file = card(&folder, 8);
    let said = |words: &[&str], code: i32, what: &str| {
        let run = flashscope(&[&["integrity"], words].concat()).current_dir(&folder).run();
        run.expect(code);
        assert!(run.stderr.contains(what), "{words:?}: {}", run.stderr);
    };
    let on = |more: &[&'static str]| -> Vec<&str> {
        [&[file.as_str(), "--endurance", "--allow-write", "--destroy-signatures"], more].concat()
    };
    said(&on(&["--passes", "30"]), REFUSED, "add --life 10%");
    said(&on(&["--rated-writes", "16MiB"]), REFUSED, "1 pass takes 50.0 % of the rated life that was given");
    said(&on(&["--max-write", "4MiB"]), CANNOT, "which is more than --max-write allows");
    said(&on(&["--until", "20%"]), CANNOT, "there are first-error");
    said(&[&file, "--endurance", "--passes", "1"], REFUSED, "--allow-write");
    said(&[&file, "--endurance", "--cuts", "5"], CANNOT, "cannot be used with");
    said(&[&file, "--passes", "5"], CANNOT, "--endurance");
    said(&["sim:sd-4mib,capacity=64MiB", "--endurance", "--journal", "x"], CANNOT, "leave out --journal");
    said(&["sim:sd-4mib", "--endurance", "--read-only"], CANNOT, "leave out --read-only");
    let plan = flashscope(&[&["integrity"], &on(&["--passes", "3", "--dry-run"])[..]].concat()).run();
    plan.expect(SOUND);
    assert!(plan.stdout.contains("at most 3 passes over all of 8 MiB: 24 MiB written"), "{}", plan.stdout);
    assert!(plan.stdout.contains("assumed: 300 times the capacity"), "{}", plan.stdout);
}

#[test]
fn passes_go_on_where_they_were_killed_and_only_on_the_same_part() {
    let folder = scratch();
    let file = card(&folder, 128);
    let words =
        ["integrity", file.as_str(), "--endurance", "--allow-write", "--destroy-signatures", "--passes", "3", "--json"];
    let journal = folder.join("flashscope-card.img.endurance.json");
    begun(&words, &folder, || journal.exists(), |child| child.kill().expect("SIGKILL"));
    let kept = || std::fs::read_to_string(&journal).unwrap_or_default();
    begun(&words, &folder, || kept().contains("\"sessions\":2,"), |child| interrupt(child));
    assert!(kept().starts_with("{\"schema\":\"flashscope.endurance/2\""), "{}", kept());
    let elsewhere = scratch();
    let other = card(&elsewhere, 128);
    let other = flashscope(&[&["integrity", other.as_str()], &words[2..]].concat()).current_dir(&folder).run();
    other.expect(REFUSED);
    assert!(other.stderr.contains("another part"), "{}", other.stderr);
    // The data of the last pass are read again, where that is asked for later.
    let further = [&words[..], &["--reread-after", "1s"]].concat();
    let run = flashscope(&further).current_dir(&folder).run();
    run.expect(SOUND);
    assert!(run.stderr.contains("going on where") && run.stderr.contains("left alone for"), "{}", run.stderr);
    let part = &json(&run)["endurance"];
    assert!(part["sessions"].as_u64().is_some_and(|sessions| (2..=3).contains(&sessions)), "{part}");
    let passes = part["passes"].as_array().unwrap();
    assert!(passes.len() == 3 && passes.iter().all(|pass| pass["totals"]["kept_bytes"] == 128 * MIB), "{passes:?}");
    assert_eq!((&part["retention"]["lost_bytes"], &part["retention"]["whole"]), (&0.into(), &true.into()));
    assert!(!journal.exists(), "what is over needs no journal");
}
