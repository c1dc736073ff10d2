//! What every device must keep to behind the seam, whatever it is: time, content, wear, and the same again from the same seed.

use flashscope_device::{Completion, Content, ExecuteExt, Fill, Outcome, Request, Target, WriteGrant};
use flashscope_stats::Rng;
use flashscope_units::{Bytes, Instant, Nanos};
use flashscope_worlds::{Kind, WorldTarget, draw};
use std::collections::BTreeSet;

const SEED: u64 = 3;

fn grant(target: &WorldTarget) -> WriteGrant {
    WriteGrant::simulated(target.facts(), Bytes::gib(4)).expect("it is simulated")
}

/// Random requests, batches of reads among them, and rests; what came of them.
fn work(target: &mut WorldTarget, seed: u64, steps: u32) -> Vec<Completion> {
    let (mut rng, mut grant, mut all) = (Rng::new(seed), grant(target), Vec::new());
    let blocks = (target.facts().capacity / Bytes::kib(4)) as usize;
    for step in 0..steps {
        let at = |rng: &mut Rng| Bytes::kib(4 * rng.below(blocks.min(4096)) as u64);
        match rng.below(8) {
            0 => target.wait_until(target.now() + Nanos::millis(1 + rng.below(500) as u64)),
            1 | 2 => {
                let batch: Vec<Request> = (0..4).map(|id| Request::read(id, at(&mut rng), Bytes::kib(4))).collect();
                target.submit(&batch).expect("taken");
                target.reap(4, &mut all).expect("done");
            }
            3 => all.push(target.execute(Request::flush(0)).expect("flushed")),
            _ => {
                let length = Bytes::kib(4 << rng.below(5));
                let fill = Fill::Tagged { generation: step };
                let write = Request::write(&mut grant, 0, at(&mut rng), length, fill, true).expect("granted");
                all.push(target.execute(write).expect("written"));
            }
        }
    }
    all
}

#[test]
fn time_never_runs_backwards_and_the_inside_stays_sound() {
    for number in 0..24 {
        let mut target = draw(SEED, number).open();
        let mut last = Instant::ORIGIN;
        let mut erases = 0;
        for part in 0..4 {
            for done in work(&mut target, part, 60) {
                assert!(done.completed > done.issued, "{number}");
                assert!(done.completed >= last || done.issued <= last, "{number}");
                last = last.max(done.completed);
            }
            assert!(target.now() >= last, "{number}");
            target.check().unwrap_or_else(|broken| panic!("device {number}: {broken}"));
            let wear = target.wear().expect("it counts");
            assert!(wear.erases >= erases, "{number}");
            erases = wear.erases;
        }
    }
}

#[test]
fn what_is_programmed_is_no_less_than_what_was_written() {
    for number in 0..24 {
        let mut target = draw(SEED, number).open();
        let mut grant = grant(&target);
        let begin = target.wear().expect("it counts").programmed;
        for step in 0..64 {
            let write = Request::write_any(&mut grant, 0, Bytes::kib(256 * step), Bytes::kib(256), true);
            target.execute(write.expect("granted")).expect("written");
        }
        let programmed = target.wear().expect("it counts").programmed - begin;
        assert!(programmed >= Bytes::mib(16), "device {number}: {programmed}");
    }
}

#[test]
fn what_was_written_last_is_read_back() {
    for number in 0..12 {
        let world = draw(SEED, number);
        let mut target = world.open();
        let mut grant = grant(&target);
        let tag = |generation| Fill::Tagged { generation };
        let mut write = |target: &mut WorldTarget, at: u64, kib: u64, fill| {
            let request = Request::write(&mut grant, 0, Bytes::kib(at), Bytes::kib(kib), fill, false).expect("granted");
            target.execute(request).expect("written");
        };
        write(&mut target, 64, 64, tag(1));
        write(&mut target, 80, 4, tag(2));
        let mut verify = |at: u64, kib: u64, fill| {
            target.execute(Request::verify(0, Bytes::kib(at), Bytes::kib(kib), fill)).expect("read").outcome
        };
        assert_eq!(verify(64, 16, tag(1)), Outcome::Success);
        assert_eq!(verify(80, 4, tag(2)), Outcome::Success);
        assert_eq!(verify(64, 32, tag(1)), Outcome::Mismatch);
        assert_eq!(verify(84, 44, tag(1)), Outcome::Success);
        if !target.capabilities().discard {
            continue;
        }
        let mut grant = self::grant(&target);
        let discard = Request::discard(&mut grant, 0, Bytes::ZERO, Bytes::mib(2)).expect("granted");
        target.execute(discard).expect("discarded");
        let found = target.execute(Request::read(0, Bytes::ZERO, Bytes::mib(1))).expect("read").content;
        assert!(matches!(found, Content::Uniform(0x00 | 0xff)), "device {number}: {found:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_times_and_another_does_not() {
    for number in 0..8 {
        let run = |seed| work(&mut draw(seed, number).open(), 1, 80);
        assert_eq!(run(SEED), run(SEED), "{number}");
        assert_ne!(run(SEED), run(SEED + 1), "{number}");
    }
}

#[test]
fn quiet_copies_have_no_chance_in_them_but_the_inside() {
    let world = draw(SEED, 0);
    let read = |target: &mut WorldTarget| {
        target.execute(Request::read(0, Bytes::mib(3), Bytes::kib(4))).expect("read").service_time()
    };
    let mut quiet = world.open_quiet();
    read(&mut quiet);
    let times: BTreeSet<Nanos> = (0..50).map(|_| read(&mut quiet)).collect();
    assert_eq!(times.len(), 1);
    let mut noisy = world.open();
    let times: BTreeSet<Nanos> = (0..50).map(|_| read(&mut noisy)).collect();
    assert!(times.len() > 1);
}

#[test]
fn every_mechanism_is_drawn_and_its_truth_can_be_said() {
    let worlds: Vec<_> = (0..60).map(|number| draw(SEED, number)).collect();
    let kinds: BTreeSet<Kind> = worlds.iter().flat_map(|world| world.kinds.clone()).collect();
    assert_eq!(kinds.len(), Kind::ALL.len(), "{kinds:?}");
    for world in worlds.iter().take(6) {
        let truth = world.truth();
        assert!(truth.allocation_unit.value.is_some(), "{}", world.title);
        assert!(truth.penalties.iter().all(|penalty| penalty.at_first > 0.0 && penalty.long > 0.0), "{truth:?}");
    }
}
