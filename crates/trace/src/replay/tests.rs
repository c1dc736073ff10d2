//! Replays on simulated devices whose times are known.

use super::*;
use crate::{Flags, Op};
use flashscope_device::Target;
use flashscope_sim::{SimTarget, open};

fn device() -> SimTarget {
    open("ssd-consumer,capacity=256MiB", 1).unwrap()
}

fn request(op: Op, issued: u64, took: u64, offset: u64) -> Traced {
    let (issued, completed) = (Instant(issued), Some(Instant(issued + took)));
    Traced { issued, completed, offset: Bytes(offset), length: 4096, process: None, op, flags: Flags::NONE }
}

fn replayed(requests: &[Traced], mode: Mode) -> (Replay, Option<ReplayError>) {
    let mut target = device();
    let facts = target.facts().clone();
    let plan = Plan {
        mode,
        addresses: Addresses::Refuse,
        capacity: facts.capacity,
        block: facts.logical_block,
        room: 256,
        discard: true,
    };
    let grant = WriteGrant::simulated(&facts, Bytes::gib(1));
    let mut player = Player::new(requests.iter().map(|request| Ok(*request)), plan, grant);
    in_virtual_time(&mut player, &mut target, |_| false).unwrap();
    player.finish(Vec::new())
}

#[test]
fn an_open_replay_keeps_the_times_of_the_trace() {
    let requests: Vec<Traced> = (0..500).map(|at| request(Op::Read, at * 1_000_000, 90_000, at * 8192)).collect();
    let (replay, error) = replayed(&requests, Mode::Open);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(replay.figures.requests, 500);
    let lateness = replay.lateness.unwrap();
    assert_eq!((lateness.count, lateness.max), (500, Nanos::ZERO));
    let (total, original) = (replay.total.as_f64(), replay.original.as_f64());
    assert!((total / original - 1.0).abs() < 0.005, "{total} {original}");
    assert_eq!(replay.order_violations, Some(0));
}

#[test]
fn a_closed_replay_is_as_fast_as_the_device_and_no_deeper_than_asked() {
    let requests: Vec<Traced> = (0..500).map(|at| request(Op::Read, at * 50_000_000, 90_000, at * 8192)).collect();
    let totals = [1, 8].map(|depth| {
        let (replay, _) = replayed(&requests, Mode::Closed { depth });
        assert_eq!(replay.figures.depth.unwrap().max, depth);
        assert_eq!(replay.lateness, None, "nothing is due at a time of its own");
        replay.total.as_f64()
    });
    assert!(totals[0] < 0.2e9 && totals[1] < totals[0] / 3.0, "{totals:?}");
}

#[test]
fn a_dependent_replay_waits_for_what_had_ended_and_keeps_think_times() {
    // Pairs issued together; the next pair 2 ms after the later one of the pair before ended.
    let pair = |at: u64| {
        let issued = at * 3_000_000;
        [request(Op::Read, issued, 500_000, at * 65_536), request(Op::Read, issued, 1_000_000, at * 65_536 + 8192)]
    };
    let requests: Vec<Traced> = (0..100).flat_map(pair).collect();
    let (replay, error) = replayed(&requests, Mode::Dependent);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(replay.order_violations, Some(0));
    let figures = &replay.figures;
    assert_eq!(figures.depth.as_ref().unwrap().max, 2);
    let times = figures.kinds[0].times.unwrap();
    // 99 think times of 2 ms, and 100 pairs as long as the device takes.
    let thought = replay.total.as_f64() - 99.0 * 2e6;
    let device = 100.0 * times.mean.as_f64();
    assert!((0.9..1.5).contains(&(thought / device)), "{thought} {device}");
}

#[test]
fn an_open_replay_on_a_slower_device_tells_of_what_went_ahead() {
    let requests: Vec<Traced> = (0..200).map(|at| request(Op::Read, at * 10_000, 1_000, at * 8192)).collect();
    let (replay, _) = replayed(&requests, Mode::Open);
    assert!(replay.order_violations.unwrap() > 190, "{:?}", replay.order_violations);
    assert!(replay.depth_distance.unwrap() > 0.9, "{:?}", replay.depth_distance);
}

#[test]
fn what_cannot_be_replayed_is_told() {
    let beyond = [request(Op::Read, 0, 10, Bytes::gib(1).get())];
    assert!(matches!(replayed(&beyond, Mode::Open).1, Some(ReplayError::NoPlace { .. })));
    let endless = [Traced { completed: None, ..request(Op::Read, 0, 10, 0) }];
    assert!(matches!(replayed(&endless, Mode::Dependent).1, Some(ReplayError::NoEnds)));
    let much: Vec<Traced> = (0..300_000).map(|at| request(Op::Write, at, 10, at % 8 * 4096)).collect();
    let (replay, error) = replayed(&much, Mode::Closed { depth: 4 });
    assert!(matches!(error, Some(ReplayError::Budget)), "{error:?}");
    assert_eq!(replay.figures.requests, 262_144, "up to the last byte of the budget");
}
