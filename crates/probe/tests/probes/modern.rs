//! The experiments beyond flashbench: choice of places, interleaving, rounds.

use crate::common::{KIB, MIB, ranges, recording, run_on};
use flashscope_device::{ExecuteExt, Request, Target};
use flashscope_device::{Fill, WriteGrant};
use flashscope_model::Data;
use flashscope_model::Experiment;
use flashscope_model::observation::CandidateData;
use flashscope_model::plan::{Boundaries, Enough, FastArea, Floor, OpenUnits, Purpose, Span, Survey, Throughput};
use flashscope_model::{Direction, Order};
use flashscope_testkit::{History, ScriptedTarget};
use flashscope_units::{Bytes, Nanos};
use std::collections::BTreeSet;

fn boundaries() -> Boundaries {
    Boundaries {
        block: Bytes::kib(16),
        candidates: [24, 8, 4, 12, 16].map(Bytes::mib).to_vec(),
        exclude: [8, 12, 16, 24, 40].map(Bytes::mib).to_vec(),
        places: 15,
        rounds: 3,
        offset: Bytes::ZERO,
        within: None,
        rest: Nanos::ZERO,
    }
}

fn candidates(plan: &Boundaries, capacity: Bytes) -> Vec<CandidateData> {
    let mut target = ScriptedTarget::new(capacity, |request, _| Nanos(request.offset().get() / 512));
    let run = run_on(&Experiment::Boundaries(plan.clone()), &mut target, 5).unwrap();
    let Data::Boundaries(data) = run.data else { panic!() };
    data.candidates.clone()
}

#[test]
fn floor_reads_one_block_again_and_again() {
    let plan = Floor { block: Bytes(512), at: Bytes(4096), count: 5 };
    assert_eq!(ranges(&Experiment::Floor(plan), Bytes::mib(1), 1), [(4096, 512); 5]);
}

#[test]
fn survey_reaches_every_part_and_tells_blank_from_written() {
    let mut target = ScriptedTarget::steady(Bytes::mib(100), Nanos(7)).with_blank(0xff);
    let mut grant = WriteGrant::simulated(target.facts(), Bytes::mib(50)).unwrap();
    let fill = Fill::Tagged { generation: 1 };
    target.execute(Request::write(&mut grant, 0, Bytes::ZERO, Bytes::mib(50), fill, true).unwrap()).unwrap();
    let plan = Survey { block: Bytes::kib(4), places: 20, repeats: 3, within: None };
    let run = run_on(&Experiment::Survey(plan), &mut target, 1).unwrap();
    let Data::Survey(data) = run.data else { panic!() };
    for (i, place) in data.places.iter().enumerate() {
        assert_eq!(place.at.get() / (5 * MIB), i as u64, "one place in each twentieth");
        assert_eq!(place.uniform, (i >= 10).then_some(0xff));
        assert_eq!(place.times.len(), 3);
    }
    let reads: Vec<Bytes> = target.history().served[1..].iter().map(|request| request.offset()).collect();
    assert!(reads.windows(2).all(|pair| pair[0] != pair[1]));
    assert_ne!(reads[..20], reads[20..40]);
}

#[test]
fn survey_never_reads_a_place_twice_in_a_row() {
    for seed in 0..50 {
        let plan = Survey { block: Bytes::kib(4), places: 2, repeats: 20, within: None };
        let mut target = recording(Bytes::mib(1));
        run_on(&Experiment::Survey(plan), &mut target, seed).unwrap();
        assert!(target.ranges().windows(2).all(|pair| pair[0] != pair[1]));
    }
}

#[test]
fn boundaries_are_multiples_of_their_candidate_and_of_nothing_excluded() {
    let plan = boundaries();
    let data = candidates(&plan, Bytes::gib(8));
    assert_eq!(data.iter().map(|candidate| candidate.size.get() / MIB).collect::<Vec<_>>(), [4, 8, 12, 16, 24]);
    for candidate in &data {
        assert_eq!(candidate.places.len(), 15);
        let distinct: BTreeSet<Bytes> = candidate.places.iter().map(|place| place.at).collect();
        assert_eq!(distinct.len(), 15);
        for place in &candidate.places {
            assert!(place.at.is_multiple_of(candidate.size));
            for &other in &plan.exclude {
                let allowed = candidate.size.is_multiple_of(other);
                assert!(allowed || !place.at.is_multiple_of(other), "{} at {}", candidate.size, place.at);
            }
        }
    }
    let eight = &data[1];
    assert!(eight.places.iter().all(|place| !place.at.is_multiple_of(Bytes::mib(24))));
    assert_eq!(eight.excluded, [12, 16, 24, 40].map(Bytes::mib));
}

#[test]
fn boundaries_keep_each_time_where_it_belongs() {
    for candidate in candidates(&Boundaries { offset: Bytes::kib(512), ..boundaries() }, Bytes::gib(8)) {
        for place in candidate.places {
            assert!((place.at - Bytes::kib(512)).is_multiple_of(candidate.size));
            let sector = place.at.get() / 512;
            assert_eq!(place.pre, [Nanos(sector - 32); 3]);
            assert_eq!(place.on, [Nanos(sector - 16); 3]);
            assert_eq!(place.post, [Nanos(sector); 3]);
        }
    }
}

#[test]
fn each_round_visits_all_triples_in_a_new_order_that_defeats_read_ahead() {
    let got: Vec<u64> = ranges(&Experiment::Boundaries(boundaries()), Bytes::gib(8), 2).iter().map(|r| r.0).collect();
    let rounds: Vec<&[u64]> = got.chunks(5 * 15 * 3).collect();
    assert_eq!(rounds.len(), 3);
    let sets: Vec<BTreeSet<u64>> = rounds.iter().map(|round| round.iter().copied().collect()).collect();
    assert!(sets[0] == sets[1] && sets[1] == sets[2]);
    assert_ne!(rounds[0], rounds[1]);
    for i in 1..got.len() {
        let before = &got[i.saturating_sub(4)..i];
        let near = before.iter().any(|at| at.abs_diff(got[i]) < 64 * KIB);
        assert!(!near, "request {i}");
    }
}

#[test]
fn no_read_of_a_boundary_follows_one_of_the_same_unit() {
    let check = |capacity: Bytes, within: Option<Span>, apart: u64| {
        let plan = Boundaries { within, places: 40, ..boundaries() };
        let got: Vec<u64> = ranges(&Experiment::Boundaries(plan), capacity, 7).iter().map(|r| r.0).collect();
        let close = got.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) < apart * MIB).count();
        assert_eq!(close, 0, "{capacity}: of {} reads", got.len());
    };
    check(Bytes::gib(8), None, 64);
    check(Bytes::gib(8), Some(Span { start: Bytes::gib(1), length: Bytes::mib(400) }), 64);
    check(Bytes::mib(100), None, 20);
}

#[test]
fn small_devices_get_fewer_places() {
    // Below 100 MiB, with 8 MiB on either side: 8, 16 … 88 without 16, 24 and so on.
    let data = candidates(&boundaries(), Bytes::mib(100));
    let places = |size: u64| -> Vec<u64> {
        let candidate = data.iter().find(|candidate| candidate.size == Bytes::mib(size)).unwrap();
        candidate.places.iter().map(|place| place.at.get() / MIB).collect()
    };
    assert_eq!(places(4), [4, 20, 28, 44, 52, 68, 76, 92]);
    assert_eq!(places(8), [8, 56, 88]);
    assert_eq!(places(12), [12, 36, 60, 84]);
    assert_eq!(places(16), [16, 32, 64]);
    assert_eq!(places(24), [24, 72]);
}

#[test]
fn boundaries_stay_within_their_part() {
    let within = Span { start: Bytes::mib(100), length: Bytes::mib(300) };
    let plan = Boundaries { within: Some(within), places: 200, ..boundaries() };
    let got = ranges(&Experiment::Boundaries(plan), Bytes::gib(8), 2);
    assert!(got.iter().all(|&(at, length)| at >= 100 * MIB && at + length <= 400 * MIB));
}

fn open_units(order: Order) -> OpenUnits {
    OpenUnits {
        order,
        unit: Bytes::mib(4),
        block: Bytes::kib(64),
        rounds: 10,
        units: [40, 8, 24, 80].map(Bytes::mib).to_vec(),
        first_offset: Bytes::kib(512),
        enough: None,
    }
}

#[test]
fn each_round_writes_one_block_to_each_unit() {
    for order in [Order::InOrder, Order::Random] {
        let got = ranges(&Experiment::OpenUnits(open_units(order)), Bytes::mib(100), 3);
        assert_eq!(got.len(), 40);
        let rounds: Vec<Vec<(u64, u64)>> = got
            .chunks(4)
            .map(|round| round.iter().map(|&(at, _)| (at / (4 * MIB), at % (4 * MIB) / (64 * KIB))).collect())
            .collect();
        let turn: Vec<u64> = rounds[0].iter().map(|&(unit, _)| unit).collect();
        assert_eq!(turn.iter().copied().collect::<BTreeSet<_>>(), BTreeSet::from([2, 6, 10, 20]));
        for (unit, &start) in turn.iter().enumerate() {
            assert!(rounds.iter().all(|round| round[unit].0 == start), "the turn is the same in every round");
            let offsets: Vec<u64> = rounds.iter().map(|round| round[unit].1).collect();
            match order {
                Order::InOrder => assert_eq!(offsets, (8..18).collect::<Vec<_>>()),
                Order::Random => {
                    let distinct: BTreeSet<u64> = offsets.iter().copied().collect();
                    assert!(distinct.len() == 10 && distinct.iter().all(|&offset| (8..64).contains(&offset)));
                    assert!(distinct.last().unwrap() - distinct.first().unwrap() > 18, "across the unit");
                }
            }
        }
    }
}

#[test]
fn the_turn_of_the_units_depends_on_the_seed() {
    let turns: BTreeSet<Vec<u64>> = (0..20)
        .map(|seed| {
            let got = ranges(&Experiment::OpenUnits(open_units(Order::InOrder)), Bytes::mib(100), seed);
            got[..4].iter().map(|request| request.0).collect()
        })
        .collect();
    assert!(turns.len() > 8, "{} of 24 orders in 20 draws", turns.len());
}

#[test]
fn rounds_end_once_all_that_follows_the_first_is_slow() {
    let check = |time: fn(usize) -> u64, fast_rounds: Option<u32>, requests: usize| {
        let enough = Some(Enough { slow: Nanos(100), rounds: 5, requests: 6, fast_rounds });
        let plan = OpenUnits { enough, ..open_units(Order::InOrder) };
        let script = move |_: &Request, history: &History| Nanos(time(history.served.len()));
        let mut target = ScriptedTarget::new(Bytes::mib(100), script);
        run_on(&Experiment::OpenUnits(plan), &mut target, 1).unwrap();
        assert_eq!(target.history().served.len(), requests);
    };
    // Six slow writes behind the first round are in the third.
    check(|_| 100, None, 12);
    check(|at| if at < 4 { 1 } else { 100 }, None, 12);
    // One of them is fast: slow on average is told by more rounds.
    check(|at| if at % 4 == 0 { 1 } else { 1000 }, None, 20);
    check(|at| if at < 8 { 1000 } else { 1 }, None, 40);
    // Two rounds, and three, in which nothing was slow.
    check(|at| if at < 8 { 1000 } else { 1 }, Some(2), 16);
    check(|at| if at == 8 { 1000 } else { 1 }, Some(3), 24);
}

#[test]
fn a_round_of_many_units_ends_once_half_of_it_was_slow() {
    let check = |time: fn(usize) -> u64, requests: usize| {
        let enough = Some(Enough { slow: Nanos(100), rounds: 5, requests: 6, fast_rounds: None });
        let units = (0..32).map(|unit| Bytes::mib(4 * unit)).collect();
        let plan = OpenUnits { enough, units, rounds: 4, ..open_units(Order::InOrder) };
        let script = move |_: &Request, history: &History| Nanos(time(history.served.len()));
        let mut target = ScriptedTarget::new(Bytes::mib(200), script);
        run_on(&Experiment::OpenUnits(plan), &mut target, 1).unwrap();
        assert_eq!(target.history().served.len(), requests);
    };
    check(|_| 100, 32 + 16);
    // The first of a round are slow while logs change hands; and one that is fast keeps all of them going.
    check(|at| if at < 32 + 15 { 100 } else { 1 }, 4 * 32);
    check(|at| if at == 32 + 3 { 1 } else { 100 }, 4 * 32);
}

#[test]
fn suspects_and_controls_take_turns() {
    let plan = FastArea {
        unit: Bytes::mib(1),
        reach: Bytes::mib(1),
        suspects: [0, 1].map(Bytes::mib).to_vec(),
        controls: [50, 60, 70].map(Bytes::mib).to_vec(),
        block: Bytes::kib(256),
        direction: Direction::Write,
        order: Order::InOrder,
        requests: 6,
        enough: None,
    };
    let mut target = ScriptedTarget::new(Bytes::mib(100), |request, _| Nanos(request.offset().get() / (256 * KIB)));
    let run = run_on(&Experiment::FastArea(plan), &mut target, 1).unwrap();
    let blocks: Vec<u64> = target.history().served.iter().map(|request| request.offset().get() / (256 * KIB)).collect();
    let turns: Vec<&[u64]> = blocks.chunks(5).collect();
    for (i, turn) in turns.iter().enumerate() {
        // The fifth and sixth request begin again at the start of the unit.
        let expect = [0, 1, 50, 60, 70].map(|unit| unit * 4 + i as u64 % 4);
        assert_eq!(turn.iter().copied().collect::<BTreeSet<_>>(), BTreeSet::from(expect));
    }
    let order = |turn: &[u64]| turn.iter().map(|block| block / 4).collect::<Vec<_>>();
    assert!(turns.windows(2).any(|pair| order(pair[0]) != order(pair[1])));
    let Data::FastArea(data) = run.data else { panic!() };
    assert_eq!(data.suspects[1].times, [4, 5, 6, 7, 4, 5].map(Nanos));
    assert_eq!(data.controls.iter().map(|unit| unit.at.get() / MIB).collect::<Vec<_>>(), [50, 60, 70]);
    assert_eq!(data.controls[2].times[0], Nanos(280));
}

#[test]
fn throughput_passes_over_its_region_again() {
    let plan = Throughput {
        direction: Direction::Read,
        order: Order::InOrder,
        block: Bytes::kib(4),
        start: Bytes::mib(1),
        length: Bytes::kib(16),
        requests: 10,
        most_time: None,
        purpose: Purpose::Performance,
    };
    let blocks = |order| -> Vec<u64> {
        let got = ranges(&Experiment::Throughput(Throughput { order, ..plan }), Bytes::mib(2), 1);
        got.into_iter().map(|(at, _)| (at - MIB) / (4 * KIB)).collect()
    };
    assert_eq!(blocks(Order::InOrder), [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]);
    let random = blocks(Order::Random);
    assert!(random.len() == 10 && random[..8].chunks(4).all(|pass| pass.iter().collect::<BTreeSet<_>>().len() == 4));
    assert_ne!(random[8], random[9]);
}
