//! The truth of a device's state follows what is done to it, on cards and drives alike.

use flashscope_device::{ExecuteExt, Fill, Request, Target, WriteGrant};
use flashscope_sim::truth::{StateTruth, state_of};
use flashscope_sim::{SimTarget, open};
use flashscope_units::Bytes;

/// A card of 256 MiB, and a drive of 1 GiB with superblocks of 36 MiB.
const CARD: &str = "sd-4mib,capacity=256MiB,noise=none,mapping.housekeeping.earlier_writes=0";
const DRIVE: &str = "ssd-consumer,capacity=1GiB,noise=none,mapping.nand.pages_per_block=72,mapping.nand.blocks_per_plane=46,\
                     mapping.nand.bad_blocks=0,mapping.slc.max_superblocks=2";

fn device(spec: &str) -> (SimTarget, WriteGrant) {
    let target = open(spec, 1).unwrap();
    let grant = WriteGrant::simulated(target.facts(), Bytes::gib(64)).unwrap();
    (target, grant)
}

fn write(target: &mut SimTarget, grant: &mut WriteGrant, at: Bytes, length: Bytes) {
    let request = Request::write(grant, 0, at, length, Fill::Tagged { generation: 1 }, false).unwrap();
    target.execute(request).unwrap();
}

/// Whole capacity in order.
fn pass(target: &mut SimTarget, grant: &mut WriteGrant) {
    let step = Bytes::kib(512);
    for index in 0..target.facts().capacity / step {
        write(target, grant, step * index, step);
    }
}

/// So many pieces of 16 KiB, all over the device.
fn scatter(target: &mut SimTarget, grant: &mut WriteGrant, count: u64) {
    let places = target.facts().capacity / Bytes::kib(16);
    for index in 0..count {
        write(target, grant, Bytes::kib(16) * (index * 7919 % places), Bytes::kib(16));
    }
}

#[test]
fn a_start_state_is_what_it_says() {
    let check = |model: &str, start: &str, mapped: f64| {
        let state = state_of(&open(&format!("{model},state={start}"), 1).unwrap());
        assert!((state.mapped_ratio - mapped).abs() < 1e-9, "{model} {start}: {state:?}");
        assert!((state.capacities_written - mapped).abs() < 1e-9, "{model} {start}: {state:?}");
        assert_eq!((state.mean_erases, state.most_erases, state.share_of_life), (0.0, 0, None));
        // The last superblock may be left half empty.
        assert!(state.invalid_ratio.unwrap_or(0.0) < 0.06, "{model} {start}: {state:?}");
        if mapped > 0.0 {
            assert!(state.in_order_ratio.is_some_and(|ratio| ratio > 0.99), "{model} {start}: {state:?}");
        }
    };
    for model in [CARD, DRIVE] {
        check(model, "blank", 0.0);
        check(model, "half", 0.5);
        check(model, "filled", 1.0);
    }
}

#[test]
fn what_is_spread_over_a_drive_shows_and_goes_with_a_discard_while_its_wear_stays() {
    let (mut target, mut grant) = device(&format!("{DRIVE},state=blank"));
    pass(&mut target, &mut grant);
    let in_order = state_of(&target);
    assert!((in_order.mapped_ratio - 1.0).abs() < 1e-9 && in_order.in_order_ratio > Some(0.99), "{in_order:?}");
    scatter(&mut target, &mut grant, 60_000);
    let dirty = state_of(&target);
    assert!(dirty.in_order_ratio < Some(0.8), "{dirty:?}");
    assert!(dirty.invalid_ratio > Some(0.1) && dirty.invalid_spread > Some(0.3), "{dirty:?}");
    assert!(dirty.mean_erases > in_order.mean_erases && f64::from(dirty.most_erases) >= dirty.mean_erases);
    assert_eq!(dirty.written, in_order.written + Bytes::kib(16) * 60_000);

    let all = target.facts().capacity;
    target.execute(Request::discard(&mut grant, 0, Bytes::ZERO, all).unwrap()).unwrap();
    let clean = state_of(&target);
    assert_eq!((clean.mapped_ratio, clean.in_order_ratio), (0.0, None));
    assert_eq!((clean.written, clean.most_erases), (dirty.written, dirty.most_erases));
}

#[test]
fn what_lies_in_the_logs_of_a_card_is_its_dirt() {
    let (mut target, mut grant) = device(&format!("{CARD},mapping.logs_random=8"));
    let before = state_of(&target);
    scatter(&mut target, &mut grant, 20);
    let StateTruth { invalid_ratio, invalid_spread, .. } = state_of(&target);
    assert_eq!((before.invalid_ratio, before.invalid_spread), (Some(0.0), None));
    assert!(invalid_ratio > Some(0.0) && invalid_spread < Some(0.5), "{invalid_ratio:?} {invalid_spread:?}");
}

#[test]
fn registers_of_health_are_those_of_the_class_and_follow_what_is_written() {
    let ageing = "ageing.rated_erases=10";
    assert_eq!(open(CARD, 1).unwrap().facts().claims.health, None, "a device that does not age has none");
    assert_eq!(open(&format!("{CARD},{ageing}"), 1).unwrap().facts().claims.health, None, "an SD card has none");

    let (mut emmc, mut grant) = device(&format!("emmc-write-align,capacity=256MiB,noise=none,{ageing}"));
    let life = |target: &SimTarget| target.facts().claims.health.and_then(|health| health.life_time_b);
    assert_eq!(life(&emmc), Some(1));
    (0..3).for_each(|_| pass(&mut emmc, &mut grant));
    let used = state_of(&emmc).share_of_life.unwrap();
    assert!(used >= 0.25 && life(&emmc) == Some((10.0 * used) as u8 + 1), "{used} {:?}", life(&emmc));

    let (mut drive, mut grant) = device(&format!("{DRIVE},{ageing}"));
    let written = |target: &SimTarget| target.facts().claims.health.and_then(|health| health.written);
    assert_eq!(written(&drive), Some(Bytes::gib(1)));
    pass(&mut drive, &mut grant);
    assert_eq!(written(&drive), Some(Bytes::gib(2)));
}
