//! Devices that go away or are reset, and that the same seed gives the same again.

use crate::common::{CARD, Host, KIB4, at, card};
use flashscope_device::{Completion, DeviceError, ExecuteExt, Request, Target};
use flashscope_units::{Bytes, Nanos};

#[test]
fn vanishes_after_so_many_requests() {
    let mut card = card("vanish_after=3");
    for _ in 0..3 {
        card.read(Bytes::ZERO, KIB4);
    }
    for _ in 0..2 {
        let error = card.target.execute(Request::read(0, Bytes::ZERO, KIB4)).unwrap_err();
        assert_eq!(error, DeviceError::Vanished("it vanished from the bus".to_owned()));
    }
    card.target.power_on();
    card.read(Bytes::ZERO, KIB4);
}

#[test]
fn vanishes_at_a_time_even_within_a_request() {
    let mut card = card("vanish_at=100ms");
    card.read(Bytes::ZERO, KIB4);
    card.target.wait_until(at(99));
    let error = card.target.execute(Request::read(0, Bytes::ZERO, Bytes::mib(16))).unwrap_err();
    assert!(matches!(error, DeviceError::Vanished(_)));
    assert_eq!(card.target.now(), at(100));
    let error = card.target.submit(&[Request::flush(0)]).unwrap_err();
    assert!(matches!(error, DeviceError::Vanished(_)));
}

#[test]
fn what_was_done_before_can_still_be_reaped() {
    let mut card = card("vanish_at=20ms");
    let batch: Vec<Request> = (0..40).map(|id| Request::read(id, Bytes::mib(id), Bytes::kib(16))).collect();
    card.target.submit(&batch).unwrap();
    let mut done: Vec<Completion> = Vec::new();
    let error = card.target.reap(40, &mut done).unwrap_err();
    assert!(matches!(error, DeviceError::Vanished(_)));
    assert!((5..40).contains(&done.len()), "{}", done.len());
    assert!(done.iter().all(|one| one.completed <= at(20)));
}

#[test]
fn a_reset_is_a_pause() {
    for faults in ["reset_after=2,reset_pause=700ms", "reset_at=1ms,reset_pause=700ms"] {
        let mut card = card(faults);
        card.write(Bytes::ZERO, KIB4, 1);
        let times: Vec<Nanos> = (0..5).map(|_| card.read(Bytes::mib(8), KIB4).service_time()).collect();
        let long = times.iter().filter(|&&time| time >= Nanos::millis(700)).count();
        assert_eq!(long, 1, "{faults}: {times:?}");
        assert!(times[4] < Nanos::millis(2));
        assert!(card.holds(Bytes::ZERO, KIB4, 1));
    }
}

/// No fault is no fault: a section in which nothing is wrong changes no time and no answer.
#[test]
fn an_empty_section_changes_nothing() {
    for model in [CARD, "ssd-consumer"] {
        let run = |spec: &str| {
            let mut host = Host::new(spec, 3);
            let mut done = Vec::new();
            for i in 0..400u32 {
                let place = KIB4 * (u64::from(i) * 7919 % 16_000);
                let length = KIB4 * u64::from(i % 9 + 1);
                let write = host.writing(place, length, i, i % 3 == 0);
                done.push(host.target.execute(write).unwrap());
                done.push(host.read(KIB4 * (u64::from(i) * 104_729 % 16_000), length));
                if i % 50 == 0 {
                    host.flush();
                }
            }
            (done, host.target.wear())
        };
        assert!(
            run(&format!("{model},noise=field")) == run(&format!("{model},noise=field,vanish_after=never")),
            "{model}"
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_faults() {
    let run = |seed| {
        let faults = "failing=0.02,slow=0.05,damaged=0.05,write_cache=256KiB,torn=true,reordered=true,\
                      misdirected=0.05,power_cut_after=300";
        let mut host = Host::new(&format!("{CARD},{faults}"), seed);
        let mut done = Vec::new();
        for i in 0..400u32 {
            let request = host.writing(KIB4 * (u64::from(i) * 7919 % 16_000), KIB4, i, i % 7 == 0);
            done.push(host.target.execute(request));
        }
        host.target.power_on();
        for i in 0..16_000 {
            done.push(Ok(host.read(KIB4 * i, KIB4)));
        }
        (done, host.target.last_power_cut(), host.target.held(Bytes::ZERO, Bytes::mib(64)))
    };
    assert!(run(1) == run(1));
    assert!(run(1) != run(2));
}
