//! Devices that age: what was promised holds to the end of their life, a purge clears no age, and nothing ages that was not
//! asked to.

use flashscope_device::{Completion, ExecuteExt, Fill, Outcome, Request, Target, WriteGrant};
use flashscope_sim::truth::state_of;
use flashscope_sim::{SimTarget, open};
use flashscope_units::Bytes;
use proptest::prelude::*;
use std::collections::BTreeMap;

const BLOCK: u64 = 16 << 10;
const CAPACITY: u64 = 32 << 20;

/// A card of 4 MiB units, and a drive with superblocks of 2 MiB; both wear out in no time.
const CARD: &str = "emmc-write-align,capacity=32MiB,noise=none,mapping.logs_random=3,mapping.random_log=256KiB";
const DRIVE: &str = "emmc-phone,capacity=32MiB,noise=none,mapping.nand.pages_per_block=16,mapping.nand.blocks_per_plane=40,\
                     mapping.nand.bad_blocks=0";
/// Half of the blocks last three erases.
const SHORT_LIFE: &str = "ageing.rated_erases=3,ageing.lasts=1.0,ageing.lasts_spread=0.4,ageing.early_failures=0.02,\
                          ageing.reserve_ratio=0.1,ageing.search=2us,ageing.upkeep_entry=1ms,ageing.upkeep_every=1,\
                          ageing.unpaired=2.0,ageing.read_retries=1.0,ageing.unreadable=0.0";

struct Device {
    target: SimTarget,
    grant: WriteGrant,
    /// Generation of each block, where it was written; 0: as it came.
    naive: BTreeMap<u64, u32>,
    generation: u32,
}

impl Device {
    fn new(spec: &str, seed: u64) -> Device {
        let target = open(spec, seed).unwrap();
        let grant = WriteGrant::simulated(target.facts(), Bytes::gib(64)).unwrap();
        Device { target, grant, naive: BTreeMap::new(), generation: 0 }
    }

    fn write(&mut self, at: u64, blocks: u64) -> Completion {
        self.generation += 1;
        let fill = Fill::Tagged { generation: self.generation };
        let request = Request::write(&mut self.grant, 0, Bytes(at * BLOCK), Bytes(blocks * BLOCK), fill, false);
        let done = self.target.execute(request.unwrap()).unwrap();
        if done.outcome == Outcome::Success {
            self.naive.extend((at..at + blocks).map(|block| (block, self.generation)));
        }
        done
    }

    fn discard(&mut self, at: u64, blocks: u64) {
        let request = Request::discard(&mut self.grant, 0, Bytes(at * BLOCK), Bytes(blocks * BLOCK)).unwrap();
        if self.target.execute(request).unwrap().outcome == Outcome::Success {
            self.naive.extend((at..at + blocks).map(|block| (block, u32::MAX)));
        }
    }

    /// What was acknowledged is there, or cannot be read: never something else.
    fn read_back(&mut self, block: u64) -> Outcome {
        let generation = self.naive.get(&block).copied().unwrap_or(0);
        let (at, length) = (Bytes(block * BLOCK), Bytes(BLOCK));
        let request = match generation {
            u32::MAX => Request::read(0, at, length),
            generation => Request::verify(0, at, length, Fill::Tagged { generation }),
        };
        self.target.execute(request).unwrap().outcome
    }
}

#[derive(Clone, Debug)]
enum Step {
    Write { at: u64, blocks: u64 },
    Discard { at: u64, blocks: u64 },
    Pass,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let last = CAPACITY / BLOCK;
    let range = (0..last, prop_oneof![4 => 1..4u64, 2 => 4..64u64]).prop_map(move |(at, n)| (at, n.min(last - at)));
    let step = prop_oneof![
        20 => range.clone().prop_map(|(at, blocks)| Step::Write { at, blocks }),
        2 => range.prop_map(|(at, blocks)| Step::Discard { at, blocks }),
        1 => Just(Step::Pass),
    ];
    prop::collection::vec(step, 1..150)
}

fn run(spec: &str, seed: u64, steps: &[Step]) -> Vec<Completion> {
    let mut device = Device::new(spec, seed);
    let (mut done, mut wear) = (Vec::new(), 0);
    for step in steps {
        match *step {
            Step::Write { at, blocks } => {
                done.push(device.write(at, blocks));
                let found = device.read_back(at);
                assert!(found == Outcome::Success || matches!(found, Outcome::Failed(_)), "{found:?} at {at}");
            }
            Step::Discard { at, blocks } => device.discard(at, blocks),
            Step::Pass => done.extend((0..CAPACITY / BLOCK / 32).map(|index| device.write(index * 32, 32))),
        }
        device.target.check().unwrap();
        let now = device.target.wear().map_or(0, |wear| wear.erases);
        assert!(now >= wear, "erases only grow");
        wear = now;
    }
    for block in 0..CAPACITY / BLOCK {
        let found = device.read_back(block);
        assert!(found == Outcome::Success || matches!(found, Outcome::Failed(_)), "{found:?} at {block}");
    }
    done
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever goes bad inside, every invariant holds after every step and nothing acknowledged turns into something else.
    #[test]
    fn a_device_keeps_its_word_to_the_end(drive in any::<bool>(), seed in 0..1000u64, unreadable in any::<bool>(), steps in steps()) {
        let model = if drive { DRIVE } else { CARD };
        let lost = if unreadable { 0.2 } else { 0.0 };
        let spec = format!("{model},{SHORT_LIFE},ageing.unreadable={lost}");
        prop_assert_eq!(run(&spec, seed, &steps), run(&spec, seed, &steps));
    }

    /// A section that changes nothing changes nothing.
    #[test]
    fn a_device_that_does_not_age_is_what_it_was(seed in 0..1000u64, steps in steps()) {
        prop_assert_eq!(run(&format!("{CARD},ageing.rated_erases=100000"), seed, &steps), run(CARD, seed, &steps));
    }
}

/// Long enough for some passes over a card, which erases its units several times in each.
const LONGER: &str = "ageing.rated_erases=60,ageing.early_failures=0.001";

/// Passes until a write fails.
fn wear_out(device: &mut Device) -> u32 {
    (1..1000)
        .find(|_| (0..CAPACITY / BLOCK / 32).any(|i| device.write(i * 32, 32).outcome != Outcome::Success))
        .unwrap()
}

#[test]
fn a_device_past_its_end_turns_read_only_and_keeps_what_it_holds() {
    for model in [CARD, DRIVE] {
        let mut device = Device::new(&format!("{model},{SHORT_LIFE},{LONGER}"), 3);
        let new = state_of(&device.target);
        let passes = wear_out(&mut device);
        let worn = state_of(&device.target);
        assert!((2..200).contains(&passes), "{model}: {passes} passes");
        assert!(worn.share_of_life > Some(0.5) && worn.replaced_blocks > 0, "{model}: {worn:?}");
        assert!(worn.spare_units < new.spare_units / 2, "{model}: {} of {}", worn.spare_units, new.spare_units);
        let health = device.target.facts().claims.health.unwrap();
        assert!(health.life_time_b > Some(5) && health.pre_end_of_life > Some(1), "{model}: {health:?}");
        assert!((0..CAPACITY / BLOCK).all(|block| device.read_back(block) == Outcome::Success), "{model}");
        let failed = device.write(0, 1);
        assert!(matches!(failed.outcome, Outcome::Failed(_)), "{model}: {failed:?}");
        device.target.check().unwrap();
    }
}

#[test]
fn sectors_fail_where_worn_units_had_to_be_used_on() {
    let mut device = Device::new(&format!("{CARD},{SHORT_LIFE},{LONGER},ageing.unreadable=0.5"), 3);
    wear_out(&mut device);
    let lost = (0..CAPACITY / BLOCK).filter(|&block| matches!(device.read_back(block), Outcome::Failed(_))).count();
    assert!(lost > 0 && lost < (CAPACITY / BLOCK) as usize, "{lost}");
}

#[test]
fn a_purge_clears_the_dirt_and_not_the_age() {
    let slower = "ageing.rated_erases=1000,ageing.early_failures=0.01,ageing.reserve_ratio=0.9,ageing.search=20us";
    for model in [CARD, DRIVE] {
        let fresh = |spec: &str| Device::new(spec, 5);
        let spec = format!("{model},{slower},state=blank");
        let mut old = fresh(&spec);
        for _ in 0..20 {
            (0..CAPACITY / BLOCK / 32).for_each(|index| drop(old.write(index * 32, 32)));
        }
        let before = state_of(&old.target);
        old.discard(0, CAPACITY / BLOCK);
        let after = state_of(&old.target);
        assert_eq!((after.mapped_ratio, after.replaced_blocks), (0.0, before.replaced_blocks), "{model}");
        let mut young = fresh(&spec);
        let one = |device: &mut Device| device.write(7, 1).service_time();
        // The first of each opens what it needs.
        one(&mut old);
        one(&mut young);
        assert!(one(&mut old) > one(&mut young), "{model}: {:?}", before.replaced_blocks);
    }
}
