//! The published logs of real devices against a careful reading of each (`fixtures/field/readings.json`).
//!
//! The reading is no ground truth: where it says "at least", an answer that abstains is as good; where it gives a
//! count, the count is wanted; and nothing may be contradicted.

use crate::common;
use flashscope_infer::infer;
use flashscope_model::Estimate;
use flashscope_model::finding::{AreaKind, Geometry, UpTo};
use flashscope_units::Bytes;

/// What the careful reading says of a count.
#[derive(Clone, Copy, Debug)]
enum Count {
    /// The test was not run.
    Absent,
    /// This many.
    Exactly(u32),
    /// No limit up to this many.
    AtLeast(u32),
}

use AreaKind::{Faster, Mixed, None as NoArea, Slower};
use Count::{Absent, AtLeast, Exactly};

/// File, open units in order and at random, area in MiB and its kind (absent where the test was not run).
type Reading = (&'static str, Count, Count, Option<(u64, u64, AreaKind)>);

const READINGS: [Reading; 21] = [
    ("field/flashbench-readme.txt", Exactly(2), Absent, None),
    ("field/pqi-32gb.txt", Absent, Absent, None),
    ("field/usb-reader-2mib.txt", Absent, Absent, None),
    ("field/card-1-2.txt", Exactly(4), Exactly(4), Some((4, 8, Faster))),
    ("field/card-2.txt", AtLeast(7), Exactly(6), Some((0, 0, NoArea))),
    ("field/card-3-2.txt", Exactly(6), Absent, Some((0, 0, NoArea))),
    ("field/card-3-3.txt", Exactly(6), Exactly(6), Some((0, 0, NoArea))),
    ("field/card-5-2.txt", Exactly(3), Exactly(3), Some((0, 0, NoArea))),
    ("field/card-6-2.txt", Exactly(3), Exactly(3), Some((0, 8, Slower))),
    ("field/card-8.txt", Exactly(4), Exactly(2), Some((0, 12, Slower))),
    ("field/card-9.txt", Exactly(4), Exactly(4), Some((4, 8, Faster))),
    ("field/card-13.txt", Absent, Absent, None),
    ("field/card-14.txt", AtLeast(7), AtLeast(7), Some((0, 0, NoArea))),
    ("field/card-15.txt", Exactly(3), AtLeast(3), Some((0, 8, Mixed))),
    ("field/card-18.txt", AtLeast(7), Exactly(6), Some((0, 0, NoArea))),
    ("field/card-19.txt", AtLeast(7), Exactly(6), Some((0, 0, NoArea))),
    ("field/card-20-2.txt", Absent, Absent, None),
    ("field/card-27.txt", AtLeast(7), AtLeast(7), Some((4, 8, Faster))),
    ("field/card-29-1.txt", AtLeast(7), AtLeast(7), Some((0, 0, NoArea))),
    ("field/card-31-1.txt", AtLeast(7), AtLeast(7), Some((0, 0, NoArea))),
    ("transcripts/sd-card-4mib.txt", Exactly(8), Exactly(8), Some((4, 8, Faster))),
];

fn geometry(path: &str) -> Geometry {
    infer(&common::observations(&common::fixture(path))).geometry
}

fn check_count(what: &str, got: &Estimate<u32>, want: Count) {
    match want {
        Absent => assert!(got.is_unknown(), "{what}: {got:?}"),
        Exactly(count) => assert_eq!(got.value(), Some(count), "{what}: {got:?}"),
        AtLeast(count) => {
            assert_eq!((got.value(), got.most()), (None, None), "{what}: {got:?}");
            assert!(got.is_unknown() || got.least() == Some(count), "{what}: {got:?}");
        }
    }
    if let Some(confidence) = got.confidence() {
        // A fall in the last table and few of its rows is about as often chance as not.
        assert!((0.4..1.0).contains(&confidence), "{what}: {got:?}");
        assert!(got.evidence().contains(" units"), "{what}: {got:?}");
    }
}

#[test]
fn counts_and_areas_agree_with_the_careful_readings() {
    for (path, in_order, random, area) in READINGS {
        let found = geometry(path);
        check_count(&format!("{path} in order"), &found.open_units_linear, in_order);
        check_count(&format!("{path} at random"), &found.open_units_random, random);
        let got = found.fast_area.value().map(|area| (area.first, area.end, area.kind));
        let want = area.map(|(first, end, kind)| (Bytes::mib(first), Bytes::mib(end), kind));
        assert_eq!(got, want, "{path}: {:?}", found.fast_area);
    }
}

#[test]
fn an_area_that_changes_between_runs_is_denied_with_less_confidence() {
    let confidence = |path| geometry(path).fast_area.confidence().unwrap();
    for (unclear, clear) in [("field/card-2.txt", "field/card-14.txt"), ("field/card-19.txt", "field/card-18.txt")] {
        let both = (confidence(unclear), confidence(clear));
        assert!(both.0 < both.1 && both.1 > 0.75, "{unclear}, {clear}: {both:?}");
    }
}

#[test]
fn the_published_sd_card_shows_what_its_owner_read() {
    let observations = common::observations(&common::fixture("transcripts/sd-card-4mib.txt"));
    let findings = infer(&observations);
    let geometry = findings.geometry;
    let linear = &geometry.open_units_linear;
    // The tables of reads are not among these: with them, the unit speaks for it.
    assert!(linear.confidence().unwrap() > 0.74, "{linear:?}");
    assert!(linear.evidence().starts_with("8 → 9 units: 14.7 → 0.34 MB/s at 128 KiB"), "{linear:?}");
    let penalty = geometry.random_order_penalty.value().unwrap();
    assert_eq!((penalty.block, penalty.ratio.round()), (Bytes::kib(16), 118.0));
    assert_eq!(
        geometry.small_write_path.value(),
        Some(UpTo { size: Bytes::kib(8) }),
        "{:?}",
        geometry.small_write_path
    );
    let area = geometry.fast_area.value().unwrap();
    assert!((1.7..2.0).contains(&area.ratio), "{area:?}");
    let line = findings.transfer.unwrap();
    // The log's own fit, which the largest sizes rule, says 38.4339 MB/s and 62.2 µs, where its shortest read took 408 µs.
    assert!((line.rate.get() / 38.4339e6 - 1.0).abs() < 0.1, "{line:?}");
    assert!((380e3..480e3).contains(&line.access.get()), "{line:?}");
}

#[test]
fn small_writes_take_another_way_where_half_the_size_is_faster() {
    let check = |path: &str, want: Option<u64>| {
        let found = geometry(path).small_write_path;
        assert_eq!(found.value().map(|path| path.size), want.map(Bytes::kib), "{path}: {found:?}");
    };
    check("field/card-1-2.txt", Some(8));
    check("field/card-9.txt", Some(8));
    check("field/card-27.txt", Some(8));
    check("field/card-6-2.txt", Some(4));
    check("field/card-14.txt", None);
    check("field/card-31-1.txt", None);
    check("field/pqi-32gb.txt", None);
}

#[test]
fn write_align_bounds_the_open_units_and_shows_the_way_of_small_writes() {
    let found = geometry("transcripts/emmc-write-align.txt");
    let bound = &found.open_units_linear;
    assert_eq!((bound.value(), bound.least(), bound.most()), (None, None, Some(7)), "{bound:?}");
    assert!(bound.confidence().unwrap() < 0.95, "an indirect sign: {bound:?}");
    assert_eq!(found.small_write_path.value(), Some(UpTo { size: Bytes::kib(16) }), "{:?}", found.small_write_path);
    assert!(found.open_units_random.is_unknown());
}
