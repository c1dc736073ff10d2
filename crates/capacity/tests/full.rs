//! The full test on simulated devices whose size is known.

use flashscope_capacity::{Filling, FullPlan, Keep, Watch, full, head};
use flashscope_device::{Target, WriteGrant};
use flashscope_journal::{Journal, Subject};
use flashscope_model::StopReason;
use flashscope_model::capacity::{Found, Full, PassOrder, Run};
use flashscope_sim::SimTarget;
use flashscope_units::Bytes;

/// Stops after so many looks, and counts how often it was asked to keep.
struct Stops {
    after: u32,
    kept: Option<String>,
}

impl Watch for Stops {
    fn progress(&mut self, moved: Bytes, most: Bytes) {
        assert!(moved <= most, "{moved} of {most}");
    }

    fn stop(&mut self) -> bool {
        self.after -= 1;
        self.after == 0
    }
}

impl Keep for Stops {
    fn is_due(&mut self) -> bool {
        self.after.is_multiple_of(7)
    }

    fn keep(&mut self, filling: &Filling) {
        self.kept = filling.text().ok();
    }
}

const NEVER: u32 = u32::MAX;

fn subject() -> Subject {
    Subject { identity: "card".to_owned(), capacity_bytes: 1 }
}

fn opened(spec: &str, order: PassOrder) -> (SimTarget, FullPlan) {
    let target = flashscope_sim::open(spec, 3).unwrap();
    let plan = FullPlan::new(target.facts().capacity, target.capabilities().granularity, order, 3).unwrap();
    (target, plan)
}

fn go_on(plan: &FullPlan, filling: &mut Filling, target: &mut SimTarget, after: u32) -> (StopReason, Option<String>) {
    let mut grant = WriteGrant::simulated(target.facts(), filling.writes_left(plan)).unwrap();
    let mut watch = Stops { after, kept: None };
    let stop = full(plan, filling, (target, &mut grant), &mut watch);
    (stop, watch.kept)
}

fn seen(spec: &str, order: PassOrder) -> Full {
    let (mut target, plan) = opened(spec, order);
    let mut filling = Filling::new(&plan, subject(), 1000);
    let (stop, _) = go_on(&plan, &mut filling, &mut target, NEVER);
    assert_eq!(stop, StopReason::Complete, "{spec}");
    assert!(filling.is_over());
    let full = filling.seen(&plan);
    assert!(full.is_whole(), "{spec}: {:?}", full.totals);
    assert_eq!((full.written, full.verified + full.totals.unwritten), (plan.claimed, plan.claimed), "{spec}");
    assert!(full.cells.iter().all(|cell| cell.write_time.is_some()), "{spec}");
    let read = full.cells.iter().filter(|cell| cell.read_time.is_some()).count();
    assert!(read == full.cells.len() || full.totals.unwritten > Bytes::ZERO, "{spec}");
    full
}

const ORDERS: [PassOrder; 2] = [PassOrder::Sequential, PassOrder::Shuffled];

#[test]
fn a_genuine_device_holds_all_of_it() {
    for order in ORDERS {
        let full = seen("sd-4mib,capacity=100MiB", order);
        assert_eq!((full.totals.kept, full.bad.len()), (Bytes::mib(100), 0));
    }
}

#[test]
fn what_is_gone_is_one_stretch_to_the_block() {
    let real = Bytes::mib(37) + Bytes(512 * 77);
    for order in ORDERS {
        let full = seen(&format!("sd-4mib,capacity=100MiB,fake=limbo,real_capacity={}", real.get()), order);
        let gone = Run { at: real, length: Bytes::mib(100) - real, found: Found::Uniform(0) };
        assert_eq!((full.bad, full.first_bad), (vec![gone], Some(real)));
        assert_eq!(full.totals.changed, gone.length);
    }
}

#[test]
fn what_was_written_elsewhere_says_where() {
    let period = Bytes::mib(37) + Bytes(512 * 77);
    for order in ORDERS {
        let spec = format!("sd-4mib,capacity=100MiB,fake=wrap-around,real_capacity={}", period.get());
        let full = seen(&spec, order);
        assert_eq!(full.totals.kept, period, "each place holds one of those that share it");
        assert_eq!(full.totals.elsewhere, Bytes::mib(100) - period);
        for run in &full.bad {
            let Found::Elsewhere(from) = run.found else { panic!("{run:?}") };
            assert_eq!(run.at.get().abs_diff(from.get()) % period.get(), 0, "{run:?}");
        }
    }
}

#[test]
fn it_goes_on_wherever_it_was_stopped() {
    let spec = "sd-4mib,capacity=64MiB,damaged=0.05,grain=16KiB";
    for order in ORDERS {
        let whole = seen(spec, order);
        for after in [1, 20, 63, 64, 65, 70, 90, 130] {
            let (mut target, plan) = opened(spec, order);
            let mut filling = Filling::new(&plan, subject(), 1000);
            let (stop, kept) = go_on(&plan, &mut filling, &mut target, after);
            assert_eq!(stop, StopReason::Interrupted, "{after}");
            let mut filling = Filling::read(&kept.unwrap(), &head(&plan, subject())).unwrap();
            assert_eq!(go_on(&plan, &mut filling, &mut target, NEVER).0, StopReason::Complete, "{after}");
            let full = filling.seen(&plan);
            assert_eq!(full.sessions, 2);
            assert_eq!((&full.totals, &full.bad), (&whole.totals, &whole.bad), "{after}");
        }
    }
}

#[test]
fn what_fails_is_said_to_fail() {
    let full = seen("sd-4mib,capacity=64MiB,failing=0.01,fails=reads,grain=4KiB", PassOrder::Sequential);
    assert_eq!(full.totals.changed + full.totals.elsewhere, Bytes::ZERO);
    let share = full.totals.unreadable.as_f64() / full.claimed.as_f64();
    assert!((0.005..0.02).contains(&share), "{share}");
    let full = seen("sd-4mib,capacity=64MiB,failing=0.01,fails=writes,grain=4KiB", PassOrder::Sequential);
    assert_eq!(full.totals.changed + full.totals.elsewhere, Bytes::ZERO);
    let share = full.totals.unwritten.as_f64() / full.claimed.as_f64();
    assert!((0.005..0.02).contains(&share), "{share}");
}

#[test]
fn a_device_that_goes_away_leaves_what_was_seen() {
    let (mut target, plan) = opened("sd-4mib,capacity=64MiB,vanish_after=100", PassOrder::Sequential);
    let mut filling = Filling::new(&plan, subject(), 1000);
    let (stop, kept) = go_on(&plan, &mut filling, &mut target, NEVER);
    assert!(matches!(stop, StopReason::DeviceLost(_)), "{stop:?}");
    let kept = Filling::read(&kept.unwrap(), &head(&plan, subject())).unwrap();
    assert_eq!(kept.seen(&plan).written, plan.claimed);
    assert!(kept.seen(&plan).totals.kept > Bytes::mib(10), "{:?}", kept.seen(&plan).totals);
}
