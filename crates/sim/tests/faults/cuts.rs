//! What else a power cut does: damage beside, an older mapping, a slow start, a device that is smaller or stays away.

use crate::common::{CARD, Host, KIB4, card};
use flashscope_device::{DeviceError, ExecuteExt, Holds, Known, Request, Target};
use flashscope_sim::Recovery;
use flashscope_units::{Bytes, Nanos};

const A: Bytes = Bytes::mib(8);
const B: Bytes = Bytes::mib(9);

#[test]
fn what_was_flushed_may_be_lost_for_a_while() {
    for (pause, kept) in [(200, false), (900, true)] {
        for cache in ["none", "1MiB,drain_after=never"] {
            let mut card = card(&format!("write_cache={cache},late_loss=800ms"));
            card.write(A, KIB4, 1);
            card.flush();
            card.write_durably(B, KIB4, 2);
            card.pause(Nanos::millis(pause));
            card.cycle();
            assert_eq!((card.holds(A, KIB4, 1), card.holds(B, KIB4, 2)), (kept, kept), "{cache} after {pause} ms");
        }
    }
}

#[test]
fn a_shorn_write_mixes_new_and_old_within_a_block() {
    for seed in 0..20 {
        let mut card = Host::new(&format!("{CARD},shorn=true,power_cut_after=1"), seed);
        card.write(A, Bytes::mib(1), 1);
        assert!(card.try_write(A, Bytes::mib(1), 2).is_err());
        card.target.power_on();
        let shorn = card.target.last_power_cut().unwrap().shorn.unwrap();
        let look = Request::examine(0, shorn, Bytes(512), Known { first: 1, last: 2 });
        let found = card.target.execute(look).unwrap().stretches;
        let generations: Vec<_> = found
            .iter()
            .map(|one| match one.holds {
                Holds::Tagged { generation, .. } => (generation, one.length.get()),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(generations, [(2, 256), (1, 256)], "seed {seed}");
        card.target.check().unwrap();
    }
}

#[test]
fn a_cut_within_a_write_damages_what_was_written_before_it() {
    let mut card = card("neighbours=1.0,power_cut_after=9");
    for i in 0..9 {
        card.write(A + KIB4 * i, KIB4, 1);
    }
    assert!(card.try_write(B, KIB4, 2).is_err());
    card.target.power_on();
    let at = card.target.last_power_cut().unwrap().neighbour.unwrap();
    assert!(at >= A && at < A + KIB4 * 9);
    let damaged = (0..9).filter(|&i| !card.holds(A + KIB4 * i, KIB4, 1)).count();
    assert_eq!(damaged, 1);
    // With nothing under way nothing is damaged.
    card.write(A, KIB4, 3);
    card.cycle();
    assert_eq!(card.target.last_power_cut().unwrap().neighbour, None);
}

#[test]
fn an_older_mapping_knows_nothing_of_what_was_written_since() {
    let mut card = card("rollback=1.0,rollback_by=2s");
    card.write(A, KIB4, 1);
    card.flush();
    card.pause(Nanos::secs(3));
    card.write(A, KIB4, 2);
    card.write(B, KIB4, 2);
    card.flush();
    card.pause(Nanos::secs(1));
    card.cycle();
    assert!(card.holds(A, KIB4, 1) && card.holds(B, KIB4, 0));
    assert_eq!(card.target.last_power_cut().unwrap().rolled_back, KIB4 * 2);
    // What the device came back with stays.
    card.cycle();
    assert!(card.holds(A, KIB4, 1) && card.holds(B, KIB4, 0));
}

#[test]
fn it_may_come_back_late_smaller_or_not_at_all() {
    let mut slow = card("slow_start=1.0,slow_start_by=12s");
    let before = slow.target.now();
    slow.cycle();
    assert!(slow.target.now() >= before + Nanos::secs(12));
    assert_eq!(slow.target.last_power_cut().unwrap().recovery, Recovery::Slow);

    let mut small = card("shrink=1.0,shrunk_to=1MiB");
    small.cycle();
    assert_eq!(small.target.facts().capacity, Bytes::mib(1));
    small.write(Bytes::ZERO, KIB4, 1);
    assert!(matches!(small.try_write(A, KIB4, 1), Err(DeviceError::Invalid(_))));

    let mut dead = card("dead=1.0");
    dead.target.cut_power().unwrap();
    for _ in 0..2 {
        dead.target.power_on();
        assert_eq!(dead.target.gone(), Some("it does not start up any more"));
        assert!(matches!(dead.target.execute(Request::flush(0)), Err(DeviceError::Vanished(_))));
    }
}
