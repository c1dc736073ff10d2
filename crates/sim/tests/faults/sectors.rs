//! Sectors that are slow, fail or hang.

use crate::common::{KIB4, card};
use flashscope_device::{DeviceError, ExecuteExt, Outcome, Request, Target};
use flashscope_units::{Bytes, Nanos};

const BAD: Bytes = Bytes::mib(20);

#[test]
fn slow_sectors_are_slow() {
    let mut card = card("slow=20MiB-21MiB,slow_by=80ms");
    let good = card.read(Bytes::mib(24), KIB4).service_time();
    let slow = card.read(BAD, KIB4).service_time();
    assert_eq!(slow, good + Nanos::millis(80));
    assert_eq!(card.read(Bytes::mib(28), KIB4).service_time(), good);
}

#[test]
fn failing_sectors_fail_and_the_rest_goes_on() {
    for (fails, read, write) in [("both", true, true), ("reads", true, false), ("writes", false, true)] {
        let mut card = card(&format!("failing=20MiB-21MiB,fails={fails}"));
        let failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed(why) if why.starts_with("EIO"));
        let done = card.try_write(BAD - KIB4, KIB4 * 2, 1).unwrap();
        assert_eq!(failed(&done.outcome), write, "{fails}");
        assert!(done.service_time() > Nanos::ZERO);
        assert_eq!(failed(&card.read(BAD, KIB4).outcome), read, "{fails}");
        if write {
            assert!(card.holds(BAD - KIB4, KIB4, 0), "a write that fails changes nothing");
        }
        card.write(Bytes::mib(30), KIB4, 2);
        assert!(card.holds(Bytes::mib(30), KIB4, 2));
        card.target.check().unwrap();
    }
}

/// A failed write must not take back what an earlier one made durable.
#[test]
fn a_failed_write_leaves_durable_data_alone() {
    let mut card = card("failing=20MiB-20484KiB,fails=writes,write_cache=1MiB");
    let near = BAD + KIB4;
    card.write(near, KIB4, 1);
    card.flush();
    assert!(matches!(card.try_write(BAD, KIB4 * 2, 2).unwrap().outcome, Outcome::Failed(_)));
    card.cycle();
    assert!(card.holds(near, KIB4, 1));
}

#[test]
fn hanging_sectors_never_complete_and_the_rest_does() {
    let mut card = card("hanging=20MiB-21MiB,hang_timeout=12s");
    let start = card.target.now();
    let error = card.target.execute(Request::read(0, BAD, KIB4)).unwrap_err();
    assert!(matches!(&error, DeviceError::Hung(what) if what.contains("12")), "{error}");
    assert_eq!(card.target.now(), start + Nanos::secs(12));
    assert_eq!(card.read(Bytes::mib(2), KIB4).outcome, Outcome::Success);
    // Others of the queue come first.
    let batch = [Request::read(1, BAD, KIB4), Request::read(2, Bytes::mib(4), KIB4)];
    card.target.submit(&batch).unwrap();
    let mut done = Vec::new();
    card.target.reap(1, &mut done).unwrap();
    assert_eq!(done[0].id, 2);
    assert!(matches!(card.target.reap(1, &mut done), Err(DeviceError::Hung(_))));
}

#[test]
fn bad_sectors_of_a_wrap_around_are_bad_at_each_of_their_addresses() {
    let mut card = card("fake=wrap-around,real_capacity=16MiB,failing=4MiB-5MiB");
    for turn in 0..4 {
        let outcome = card.read(Bytes::mib(4 + 16 * turn), KIB4).outcome;
        assert!(matches!(outcome, Outcome::Failed(_)), "turn {turn}");
    }
}
