//! The consumer SSD of the catalogue, as a host sees it, against its truth.

use flashscope_device::{ExecuteExt, Fill, Request, Target, WriteGrant};
use flashscope_sim::{SimTarget, open, truth};
use flashscope_units::{Bytes, Nanos};

const MODEL: &str = "ssd-consumer,noise=none";

fn ssd(changes: &str) -> (SimTarget, WriteGrant) {
    let target = open(&format!("{MODEL}{changes}"), 1).unwrap();
    let grant = WriteGrant::simulated(target.facts(), Bytes::gib(100)).unwrap();
    (target, grant)
}

fn truth_of(changes: &str) -> truth::Truth {
    truth::of(&format!("{MODEL}{changes}"), |_| Err(String::new())).unwrap()
}

/// Keeps `depth` requests outstanding until `count` are done; the time from the first to the last.
fn queued(target: &mut SimTarget, depth: usize, count: u64, mut make: impl FnMut(u64) -> Request) -> Nanos {
    let begin = target.now();
    let (mut issued, mut done) = (0, Vec::new());
    while (done.len() as u64) < count {
        let room = (depth as u64 - (issued - done.len() as u64)).min(count - issued);
        let batch: Vec<Request> = (issued..issued + room).map(&mut make).collect();
        issued += room;
        target.submit(&batch).unwrap();
        target.reap(1, &mut done).unwrap();
    }
    target.now() - begin
}

/// A place that looks random, in blocks.
fn place(index: u64, blocks: u64) -> u64 {
    let z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20) % blocks
}

fn random_read_iops(target: &mut SimTarget, depth: usize) -> f64 {
    let blocks = target.facts().capacity / Bytes::kib(4);
    let count = 4_000;
    let time =
        queued(target, depth, count, |index| Request::read(index, Bytes::kib(4) * place(index, blocks), Bytes::kib(4)));
    count as f64 / time.as_secs_f64()
}

/// Speed of each GiB written in order from the start, in MB/s, until `gib` are written.
fn write_in_order(target: &mut SimTarget, grant: &mut WriteGrant, gib: u64) -> Vec<f64> {
    let block = Bytes::mib(1);
    let mut rates = Vec::new();
    for gib in 0..gib {
        let mut request = |index: u64| {
            Request::write(grant, index, Bytes::gib(gib) + block * index, block, Fill::Tagged { generation: 1 }, false)
                .unwrap()
        };
        let time = queued(target, 4, 1024, &mut request);
        rates.push(Bytes::gib(1).as_f64() / time.as_secs_f64() / 1e6);
    }
    rates
}

#[test]
fn reads_scale_with_queue_depth_until_the_dies_are_busy() {
    let (mut target, _) = ssd("");
    let rates: Vec<f64> = [1, 4, 32].iter().map(|depth| random_read_iops(&mut target, *depth)).collect();
    let one = rates[0];
    assert!((7_000.0..10_000.0).contains(&one), "one at a time: {one:.0} IOPS");
    assert!(rates[1] > 2.5 * one && rates[1] < 4.0 * one, "four: {rates:?}");
    assert!(rates[2] > 1.5 * rates[1] && rates[2] < 8.0 * 12_500.0, "eight dies of 80 us: {rates:?}");
    let time = queued(&mut target, 4, 512, |index| Request::read(index, Bytes::mib(1) * index, Bytes::mib(1)));
    let rate = Bytes::mib(512).as_f64() / time.as_secs_f64() / 1e6;
    assert!((500.0..545.0).contains(&rate), "in order the link sets the pace: {rate:.0} MB/s");
}

#[test]
fn the_slc_cache_ends_where_the_truth_says() {
    for changes in ["", ",state=blank"] {
        let drive = truth_of(changes).drive.unwrap();
        let cache = drive.slc_cache.value.unwrap();
        let (mut target, mut grant) = ssd(changes);
        let gib = cache / Bytes::gib(1);
        let rates = write_in_order(&mut target, &mut grant, gib + 3);
        let slow_from = rates.iter().position(|rate| *rate < 480.0).unwrap() as u64;
        assert_eq!(slow_from, gib, "{changes}: cache of {cache}, {rates:.0?}");
        let direct = rates.last().unwrap();
        assert!((240.0..275.0).contains(direct), "{changes}: the rest as fast as eight dies: {rates:.0?}");
        target.check().unwrap();
    }
}

#[test]
fn idleness_brings_the_cache_back() {
    let (mut target, mut grant) = ssd("");
    let before = write_in_order(&mut target, &mut grant, 10);
    assert!(before[9] < 300.0);
    let now = target.now();
    target.wait_until(now + Nanos::secs(300));
    let after = write_in_order(&mut target, &mut grant, 2);
    assert!(after[1] > 480.0, "{after:.0?}");
    target.check().unwrap();
}

#[test]
fn a_flush_makes_a_volatile_buffer_wait_for_the_flash() {
    let (mut target, mut grant) = ssd("");
    let write = Request::write(&mut grant, 0, Bytes::ZERO, Bytes::kib(4), Fill::Byte(1), false).unwrap();
    let taken = target.execute(write).unwrap();
    assert!(taken.completed - taken.issued < Nanos::micros(60));
    let flush = target.execute(Request::flush(1)).unwrap();
    assert!(flush.completed - flush.issued > Nanos::micros(250), "one SLC program at least");
    let again = target.execute(Request::flush(2)).unwrap();
    assert!(again.completed - again.issued < Nanos::micros(60));
}

#[test]
fn its_truth() {
    let truth = truth_of("");
    assert_eq!(truth.mapping, "page-map");
    // Four planes of 16 KiB are sensed at once.
    assert_eq!(truth.page.value, Some(Bytes::kib(64)));
    assert!(!truth.allocation_unit.can_be_told);
    assert_eq!(truth.allocation_unit.value, Some(Bytes::mib(1152)));
    assert_eq!((truth.open_units_linear.value, truth.open_units_linear.at_least), (None, Some(u32::MAX)));
    assert!(truth.random_order_penalty.iter().all(|one| (0.95..1.05).contains(&one.ratio)), "{truth}");
    let drive = truth.drive.unwrap();
    assert_eq!(drive.stripe.value, Some(Bytes::kib(512)));
    assert_eq!(drive.slc_cache.value, Some(Bytes::mib(384) * 19));
    assert!((1.13..1.15).contains(&drive.physical_over_user.value.unwrap()));
}

#[test]
fn parameters_can_be_changed_by_name_and_bad_ones_are_refused() {
    let changed = truth_of(",mapping.slc.max_superblocks=3,mapping.nand.bad_blocks=4").drive.unwrap();
    assert_eq!(changed.slc_cache.value, Some(Bytes::mib(384) * 3));
    let refused = open("ssd-consumer,capacity=256GiB", 0).unwrap_err().to_string();
    assert!(refused.contains("superblocks"), "{refused}");
}
