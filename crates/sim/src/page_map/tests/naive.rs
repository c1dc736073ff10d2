//! Any sequence of requests against a map that is a plain list, with every invariant looked at after every step.

use super::*;
use proptest::prelude::*;

/// 20 superblocks of 8 MiB for 112 MiB: collection runs most of the time.
const CAPACITY: Bytes = Bytes(112 << 20);

#[derive(Clone, Debug)]
enum Step {
    Write {
        start: u64,
        length: u64,
        durable: bool,
    },
    Read {
        start: u64,
        length: u64,
    },
    Discard {
        start: u64,
        length: u64,
    },
    Flush,
    Idle {
        time: u64,
    },
    /// Many small random writes.
    Storm {
        count: u32,
        seed: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let sectors = CAPACITY.get() / 512;
    let range = move || (0..sectors, prop_oneof![1u64..64, 1u64..4096]);
    prop_oneof![
        4 => (range(), any::<bool>()).prop_map(|((start, length), durable)| Step::Write { start, length, durable }),
        3 => (0..100u64, Just(8192u64)).prop_map(|(at, length)| Step::Write { start: at * 2048, length, durable: false }),
        3 => range().prop_map(|(start, length)| Step::Read { start, length }),
        1 => range().prop_map(|(start, length)| Step::Discard { start, length }),
        1 => Just(Step::Flush),
        1 => (0u64..200_000_000).prop_map(|time| Step::Idle { time }),
        2 => (100u32..4000, any::<u64>()).prop_map(|(count, seed)| Step::Storm { count, seed }),
    ]
}

/// A drive, and which writing of each unit is the last one.
struct Pair {
    drive: PageMap,
    naive: Vec<Option<u64>>,
    writings: u64,
    now: Instant,
}

impl Pair {
    fn new(mut drive: PageMap) -> Pair {
        drive.oracle.watching = true;
        drive.flash.trace = Some(Vec::new());
        let units = drive.geometry.units as usize;
        Pair { drive, naive: vec![None; units], writings: 0, now: Instant::ORIGIN }
    }

    /// Takes the step and looks at the invariants that are looked at after every step.
    fn take(&mut self, step: &Step) -> Result<(), String> {
        let range = |start: u64, length: u64| {
            let start = Bytes(start * 512);
            (start, Bytes(length * 512).min(CAPACITY - start))
        };
        match *step {
            Step::Write { start, length, durable } => {
                let (start, length) = range(start, length);
                self.write(start, length, durable)?;
            }
            Step::Storm { count, seed } => {
                let mut random = Random::new(seed);
                for _ in 0..count {
                    self.write(Bytes(random.below(self.naive.len() as u64) * 4096), Bytes::kib(4), false)?;
                }
            }
            Step::Read { start, length } => {
                let (start, length) = range(start, length);
                self.now = self.drive.read(self.now, start, length);
            }
            Step::Discard { start, length } => {
                let (start, length) = range(start, length);
                self.now = self.drive.discard(self.now, start, length);
                let whole = start.get().div_ceil(4096)..(start + length).get() / 4096;
                for unit in whole {
                    self.naive[unit as usize] = None;
                }
            }
            Step::Flush => self.now = self.drive.flush(self.now),
            Step::Idle { time } => {
                let until = self.now + Nanos(time);
                self.drive.idle(self.now, until);
                self.now = until;
            }
        }
        self.drive.check()
    }

    fn write(&mut self, start: Bytes, length: Bytes, durable: bool) -> Result<(), String> {
        self.now = self.drive.write(self.now, start, length, durable);
        for unit in start.get() / 4096..(start + length).get().div_ceil(4096) {
            self.writings += 1;
            self.naive[unit as usize] = Some(self.writings);
        }
        self.drive.check()
    }

    /// Read your writes: what the map leads to is what was written last, and only that.
    fn compare(&self) -> Result<(), String> {
        self.drive.check_all()?;
        for (unit, expect) in self.naive.iter().enumerate() {
            let physical = self.drive.forward.get(unit as u32);
            let found = (physical != NONE).then(|| self.drive.oracle.slots.get(&physical).copied());
            if found != expect.map(|writing| Some((unit as u32, writing))) {
                return Err(format!("unit {unit} reads {found:?}, written was {expect:?}"));
            }
        }
        Ok(())
    }

    /// No die and no channel does two things at once.
    fn nothing_taken_twice(&self) -> Result<(), String> {
        let mut taken: Vec<_> = self.drive.flash.trace.iter().flatten().filter(|one| one.start < one.end).collect();
        taken.sort_by_key(|one| (one.channel, one.index, one.start));
        for pair in taken.windows(2) {
            let same = (pair[0].channel, pair[0].index) == (pair[1].channel, pair[1].index);
            if same && pair[1].start < pair[0].end {
                return Err(format!("{:?} and {:?}", pair[0], pair[1]));
            }
        }
        Ok(())
    }
}

fn run(pair: &mut Pair, steps: &[Step]) -> Result<(), String> {
    for step in steps {
        pair.take(step).map_err(|error| format!("after {step:?}: {error}"))?;
    }
    pair.compare()?;
    pair.nothing_taken_twice()
}

fn variant(kind: u8) -> PageMapParams {
    let mut params = small(20);
    params.collection.policy = [Policy::Greedy, Policy::Fifo, Policy::CostBenefit][kind as usize % 3];
    params.slc =
        [SlcCache::None, SlcCache::Dynamic { max_superblocks: 3, keep_free: 2 }, SlcCache::Static { superblocks: 1 }]
            [kind as usize / 3 % 3];
    if kind.is_multiple_of(2) {
        params.map_cache = Some(MapCacheParams { reach: Bytes::mib(8), page: Bytes::kib(4) });
        params.full_duplex = false;
    }
    params
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn is_the_naive_map(kind in 0u8..18, steps in prop::collection::vec(step(), 1..40)) {
        let mut pair = Pair::new(drive(&variant(kind), CAPACITY));
        if let Err(error) = run(&mut pair, &steps) {
            prop_assert!(false, "{}", error);
        }
    }
}

/// Enough random writes for every superblock to be collected several times.
fn churn() -> Vec<Step> {
    let fill = (0..28).map(|i| Step::Write { start: i * 8192, length: 8192, durable: false });
    fill.chain((0..20).map(|seed| Step::Storm { count: 6000, seed })).collect()
}

#[test]
fn every_kind_survives_collection() {
    for kind in 0..9 {
        let mut pair = Pair::new(drive(&variant(kind), CAPACITY));
        run(&mut pair, &churn()).unwrap_or_else(|error| panic!("kind {kind}: {error}"));
        assert!(pair.drive.counters().copied_units > 150_000, "kind {kind}: {:?}", pair.drive.counters());
        assert!(pair.drive.wear().erases > 40, "kind {kind}");
    }
}

#[test]
fn forgotten_copies_are_caught() {
    let mut pair = Pair::new(drive(&variant(1), CAPACITY));
    pair.drive.oracle.fault = Fault::ForgetCopies;
    let error = run(&mut pair, &churn()).unwrap_err();
    assert!(error.contains("valid slots"), "{error}");
    // With the counts put right, only what was written can tell.
    let mut pair = Pair::new(drive(&variant(1), CAPACITY));
    pair.drive.oracle.fault = Fault::ForgetCopiesQuietly;
    let error = run(&mut pair, &churn()).unwrap_err();
    assert!(error.contains("reads None, written was Some"), "{error}");
}

#[test]
fn worn_out_superblocks_leave_until_the_spare_is_gone() {
    let mut params = small(20);
    params.nand.endurance = Some(3);
    let mut pair = Pair::new(drive(&params, Bytes::mib(88)));
    let storms: Vec<Step> = (0..40).map(|seed| Step::Storm { count: 6000, seed }).collect();
    for storm in storms {
        pair.take(&storm).unwrap();
    }
    pair.compare().unwrap();
    let bad = pair.drive.superblocks.all().iter().filter(|one| one.usage == superblocks::Use::Bad).count();
    let needed = pair.drive.geometry.superblocks_for_data() + params.least_spare();
    assert!(bad > 0 && bad as u32 <= 20 - needed, "{bad} went bad");
}

#[test]
fn same_seed_same_times_and_same_wear() {
    let run_once = |seed| {
        let mut params = variant(5);
        params.nand.bad_blocks = 2;
        let mut pair = Pair::new(PageMap::new(params, link(), Bytes::mib(96), seed).unwrap());
        let mut steps = churn();
        steps.retain(|step| !matches!(step, Step::Write { .. }));
        for storm in &mut steps {
            if let Step::Storm { count, .. } = storm {
                *count /= 8;
            }
        }
        for step in &steps {
            pair.take(step).unwrap();
        }
        let bad: Vec<_> = pair.drive.superblocks.all().iter().map(|one| one.usage == superblocks::Use::Bad).collect();
        (pair.now, pair.drive.wear(), bad)
    };
    assert_eq!(run_once(3), run_once(3));
    assert_ne!(run_once(3).2, run_once(4).2, "the seed places the bad superblocks");
}
