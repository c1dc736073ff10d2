//! How much memory a drive takes, and what parameters make none.

use super::*;

#[test]
fn eight_bytes_per_page_with_every_table() {
    let mut drive = drive(&small(256), Bytes::mib(1792));
    drive.fill();
    let mut random = Random::new(9);
    let mut now = Instant::ORIGIN;
    let units = u64::from(drive.geometry.units);
    for _ in 0..3 * units {
        now = drive.write(now, Bytes(random.below(units) * 4096), Bytes::kib(4), false);
    }
    let per_page = drive.state_bytes() as f64 / drive.physical_units() as f64;
    assert!(per_page <= 8.0, "{per_page:.2} bytes per physical page");
}

#[test]
fn a_fill_in_order_takes_next_to_nothing() {
    let mut params = small(160);
    params.nand.pages_per_block = 512;
    let mut drive = drive(&params, Bytes::gib(8));
    let block = Bytes::kib(512);
    let mut now = Instant::ORIGIN;
    for index in 0..Bytes::gib(8) / block {
        now = drive.write(now, block * index, block, false);
    }
    drive.check_all().unwrap();
    let per_page = drive.state_bytes() as f64 / drive.physical_units() as f64;
    assert!(per_page < 0.1, "{per_page:.3} bytes per page after a fill by the host");
    assert_eq!(drive.counters().copied_units, 0);
}

#[test]
fn parameters_that_make_no_drive_are_refused() {
    let check = |change: fn(&mut PageMapParams), expect: &str| {
        let mut params = small(20);
        change(&mut params);
        let error = PageMap::new(params, link(), Bytes::mib(112), 0).unwrap_err();
        assert!(error.contains(expect), "{error}");
    };
    check(|params| params.unit = Bytes::kib(3), "a multiple of mapping.unit");
    check(|params| params.nand.read.clear(), "read names no time");
    check(|params| params.nand.channels = 0, "mapping.nand.channels (0) must lie between 1 and 256");
    check(|params| params.nand.blocks_per_plane = 18, "are usable, but 19 are needed");
    check(|params| params.nand.bad_blocks = 2, "are usable, but 19 are needed");
    check(
        |params| params.collection.foreground_below = 1,
        "mapping.collection.foreground_below (1) must lie between 2",
    );
    check(|params| params.slc = SlcCache::Dynamic { max_superblocks: 1, keep_free: 1 }, "keep_free");
    check(|params| (params.nand.blocks_per_plane, params.nand.pages_per_block) = (1 << 20, 65_536), "32 bits");
}
