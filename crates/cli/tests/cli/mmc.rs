//! `mmc`: registers of dumps, and checks of simulated parts.

use crate::harness::{Run, flashscope, scratch};
use serde_json::Value;
use std::path::Path;

const DONE: i32 = 0;
const FAILED: i32 = 1;
const CANNOT: i32 = 2;
const REFUSED: i32 = 3;

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", run.stdout, run.stderr))
}

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/registers").join(name);
    path.to_str().expect("a plain path").to_owned()
}

#[test]
fn a_dump_is_shown_and_saved_and_shown_again() {
    let folder = scratch();
    let saved = folder.join("part.registers");
    let saved = saved.to_str().expect("a plain path");
    let run = flashscope(&["mmc", "show", &fixture("emmc-5.1-samsung.ext_csd.txt"), "--save", saved]).run();
    run.expect(DONE);
    let top: String = run.stdout.lines().take(6).collect();
    for said in ["eMMC 5.1", "7.281 GiB", "RPMB 512 KiB", "cache     8 MiB", "life time A: 0 to 10 % used"] {
        assert!(top.contains(said), "{said}: {top}");
    }
    assert!(run.stdout.contains("DEVICE_LIFE_TIME_EST_TYP_A"), "{}", run.stdout);
    let again = flashscope(&["mmc", "show", saved]).run();
    assert_eq!(again.stdout, run.stdout);
    flashscope(&["mmc", "show", saved, "--save", saved]).run().expect(REFUSED);
    let dump = flashscope(&["mmc", "dump", saved]).run();
    assert_eq!(dump.stdout, std::fs::read_to_string(saved).unwrap());
    let all = json(&flashscope(&["mmc", "show", saved, "--json"]).run());
    assert_eq!((&all["schema"], &all["health"]["life_time_a"]), (&"flashscope.registers/1".into(), &1.into()));
    let fields = all["registers"][0]["fields"].as_array().unwrap();
    let cache = fields.iter().find(|field| field["name"] == "CACHE_SIZE").unwrap();
    assert_eq!((&cache["value"], &cache["unit"], &cache["low"]), (&8_388_608.into(), &"bytes".into(), &249.into()));
}

#[test]
fn a_directory_of_sysfs_is_a_card() {
    let folder = scratch();
    let files = [
        ("type", "SD"),
        ("cid", "03534453553034478022ed3d8100db00"),
        ("csd", "400e00325b5900003bdd7f800a400000"),
        ("scr", "0235800001000000"),
        ("ocr", "0x40ff8080"),
        ("ssr", "00"),
    ];
    for (name, text) in files {
        std::fs::write(folder.join(name), format!("{text}\n")).unwrap();
    }
    let run = flashscope(&["mmc", "show", folder.to_str().unwrap()]).run();
    run.expect(DONE);
    for said in [
        "SD card, specification 3.0X",
        "SanDisk",
        "SU04G",
        "made 11/2013",
        "8035237888",
        "left out  ssr",
        "SD Physical Layer 5.3",
    ] {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
}

#[test]
fn what_contradicts_itself_is_said_and_ends_with_1() {
    let folder = scratch();
    let dump = folder.join("ext_csd");
    let mut bytes = std::fs::read(fixture("emmc-5.1-58gib.ext_csd.bin")).unwrap();
    bytes[249..253].fill(0);
    bytes[267] = 9;
    bytes[192] = 11;
    std::fs::write(&dump, &bytes).unwrap();
    let run = flashscope(&["mmc", "show", dump.to_str().unwrap()]).run();
    run.expect(FAILED);
    for said in
        ["revision 1.11 is not known", "CACHE_SIZE says that there is no cache", "PRE_EOL_INFO: 0x9 is reserved"]
    {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
}

#[test]
fn bad_dumps_end_with_2_and_a_hint() {
    let folder = scratch();
    let check = |name: &str, bytes: &[u8], options: &[&str], says: &str| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        let run = flashscope(&[&["mmc", "show", path.to_str().unwrap()], options].concat()).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(says) && run.stderr.contains("hint: "), "{name}: {}", run.stderr);
        assert!(run.stdout.is_empty(), "{}", run.stdout);
    };
    check("empty", b"", &[], "no register has 0 bytes");
    check("short", &[0; 500], &[], "no register has 500 bytes");
    check("short-2", &[0; 500], &["--register", "ext-csd"], "ext_csd has 512 bytes, and this dump 500");
    check("what", &[1; 16], &[], "--register cid");
    check("cid", &[1; 16], &[], "--family sd");
    check("scr", &[1; 8], &["--family", "mmc"], "an MMC part has no scr");
    check("large", &vec![b'0'; 2 << 20], &[], "larger than 1 MiB");
    let run = flashscope(&["mmc", "show", "/dev/null"]).run();
    run.expect(CANNOT);
    flashscope(&["mmc", "show", folder.join("none").to_str().unwrap()]).run().expect(CANNOT);
    let run = flashscope(&["mmc", "show", "emmc-cached"]).run();
    assert!(run.stderr.contains("did you mean sim:emmc-cached"), "{}", run.stderr);
}

#[test]
fn an_honest_part_passes_and_a_planted_contradiction_does_not() {
    let honest = flashscope(&["mmc", "check", "sim:emmc-cached", "--spec", "5.0", "--json"]).run();
    honest.expect(DONE);
    let rows = json(&honest);
    let rows = rows["features"].as_array().unwrap();
    let outcomes = ["works", "fails", "unsupported by host", "unsupported by part"];
    assert!(
        rows.len() == 26 && rows.iter().all(|row| outcomes.contains(&row["outcome"].as_str().unwrap())),
        "{rows:?}"
    );
    let lying = flashscope(&["mmc", "check", "sim:emmc-cached", "--plant", "flush-lies"]).run();
    lying.expect(FAILED);
    assert_eq!(lying.stdout.lines().next(), Some("fails: flush"));
    assert_eq!(lying.stdout, flashscope(&["mmc", "check", "sim:emmc-cached", "--plant", "flush-lies"]).run().stdout);
}

#[test]
fn what_cannot_be_checked_says_why() {
    let check = |arguments: &[&str], says: &str| {
        let run = flashscope(&[&["mmc", "check"], arguments].concat()).run();
        run.expect(CANNOT);
        assert!(run.stderr.contains(says), "{arguments:?}: {}", run.stderr);
    };
    check(&["sim:sd-4mib"], "is no eMMC part");
    check(&["sim:emmc-cached", "--plant", "flsh-lies"], "did you mean flush-lies?");
    check(&["sim:emmc-cached", "--read-only"], "only reads");
    check(&["sim:emmc-cached", "--spec", "6.0"], "5.1");
}
