//! Random work on random small cards, held against a naive model: a plain map from block to what was written last.

use flashscope_device::{Completion, Content, ExecuteExt, Fill, Outcome, Request, Target, WriteGrant};
use flashscope_sim::{SimTarget, open};
use flashscope_units::{Bytes, Instant, Nanos};
use proptest::prelude::*;
use std::collections::BTreeMap;

const BLOCK: u64 = 4096;
const CAPACITY: u64 = 16 << 20;

/// One step, in blocks.
#[derive(Clone, Debug)]
enum Step {
    Write { at: u64, blocks: u64 },
    Read { at: u64, blocks: u64 },
    Discard { at: u64, blocks: u64 },
    Flush,
    Pause { millis: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let last = CAPACITY / BLOCK;
    let range = (0..last, prop_oneof![4 => 1..4u64, 2 => 4..64u64, 1 => 64..512u64])
        .prop_map(move |(at, blocks)| (at, blocks.min(last - at)));
    let step = prop_oneof![
        12 => range.clone().prop_map(|(at, blocks)| Step::Write { at, blocks }),
        3 => range.clone().prop_map(|(at, blocks)| Step::Read { at, blocks }),
        1 => range.prop_map(|(at, blocks)| Step::Discard { at, blocks }),
        1 => Just(Step::Flush),
        1 => (1..3000u64).prop_map(|millis| Step::Pause { millis }),
    ];
    prop::collection::vec(step, 1..120)
}

/// Small cards of very different kinds, all from the one model.
fn card() -> impl Strategy<Value = String> {
    let choose = |values: &'static [&'static str]| prop::sample::select(values);
    (
        choose(&[
            "unit=1MiB,mapping.sub_unit=512KiB",
            "unit=1MiB,mapping.sub_unit=1MiB",
            "unit=3MiB,mapping.sub_unit=768KiB",
        ]),
        choose(&["logs_in_order=0", "logs_in_order=1", "logs_in_order=3"]),
        choose(&["logs_random=0", "logs_random=2", "logs_random=5"]),
        choose(&["random_log=256KiB", "random_log=1MiB"]),
        choose(&["small.limit=0", "small.limit=8KiB"]),
        choose(&["small.pages=4", "small.pages=64"]),
        choose(&["start=blank", "start=filled"]),
        choose(&["idle_after=0s", "idle_after=1s"]),
    )
        .prop_filter("a card needs logs", |card| (card.1, card.2) != ("logs_in_order=0", "logs_random=0"))
        .prop_map(|(unit, k, r, log, limit, pages, start, idle)| {
            format!(
                "sd-4mib,capacity={CAPACITY},mapping.stripe=16KiB,mapping.areas.0.start=0,mapping.areas.0.end=3MiB,\
                 mapping.areas.0.page_mapped=true,mapping.{unit},mapping.{k},mapping.{r},mapping.{log},\
                 mapping.{limit},mapping.{pages},state.{start},mapping.housekeeping.{idle},\
                 mapping.housekeeping.earlier_writes=99"
            )
        })
}

/// The naive model: what each block holds, and how it would be written.
struct Naive {
    held: BTreeMap<u64, Option<u32>>,
    generation: u32,
}

fn run(spec: &str, seed: u64, steps: &[Step]) -> Vec<Completion> {
    let mut target = open(spec, seed).unwrap();
    target.check_always(true);
    let mut grant = WriteGrant::simulated(target.facts(), Bytes::gib(64)).unwrap();
    let first = if spec.contains("start=filled") { Some(0) } else { None };
    let mut naive = Naive { held: (0..CAPACITY / BLOCK).map(|block| (block, first)).collect(), generation: 0 };
    steps.iter().map(|step| apply(step, &mut target, &mut grant, &mut naive)).collect()
}

fn apply(step: &Step, target: &mut SimTarget, grant: &mut WriteGrant, naive: &mut Naive) -> Completion {
    let before = target.now();
    let bytes = |at: u64, blocks: u64| (Bytes(at * BLOCK), Bytes(blocks * BLOCK));
    let request = match *step {
        Step::Write { at, blocks } => {
            naive.generation += 1;
            naive.held.extend((at..at + blocks).map(|block| (block, Some(naive.generation))));
            let (at, length) = bytes(at, blocks);
            Request::write(grant, 0, at, length, Fill::Tagged { generation: naive.generation }, true).unwrap()
        }
        Step::Discard { at, blocks } => {
            naive.held.extend((at..at + blocks).map(|block| (block, None)));
            let (at, length) = bytes(at, blocks);
            Request::discard(grant, 0, at, length).unwrap()
        }
        Step::Flush => Request::flush(0),
        Step::Read { at, blocks } => {
            let (start, length) = bytes(at, blocks);
            Request::read(0, start, length)
        }
        Step::Pause { millis } => {
            target.wait_until(before + Nanos::millis(millis));
            Request::read(0, Bytes::ZERO, Bytes(BLOCK))
        }
    };
    let done = target.execute(request).unwrap();
    assert!(done.completed > done.issued && done.issued >= before, "completions are causal");
    assert!(target.now() >= done.completed);
    if let Step::Write { at, blocks } | Step::Read { at, blocks } | Step::Discard { at, blocks } = *step {
        for block in at..at + blocks {
            read_back(block, target, naive);
        }
    }
    target.check().unwrap();
    done
}

fn read_back(block: u64, target: &mut SimTarget, naive: &Naive) {
    let (at, length) = (Bytes(block * BLOCK), Bytes(BLOCK));
    match naive.held[&block] {
        Some(generation) => {
            let done = target.execute(Request::verify(0, at, length, Fill::Tagged { generation })).unwrap();
            assert_eq!((done.outcome, done.content), (Outcome::Success, Content::Varied), "block {block}");
        }
        None => {
            let done = target.execute(Request::read(0, at, length)).unwrap();
            assert_eq!(done.content, Content::Uniform(0xff), "block {block}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is written is read back, whatever the card does inside, and every invariant holds after every step.
    #[test]
    fn read_your_writes(spec in card(), seed in 0..1000u64, steps in steps()) {
        run(&spec, seed, &steps);
    }

    /// The same seed gives the same times, bit for bit.
    #[test]
    fn deterministic(spec in card(), seed in 0..1000u64, steps in steps()) {
        prop_assert_eq!(run(&spec, seed, &steps), run(&spec, seed, &steps));
    }
}

#[test]
fn time_starts_at_the_origin_and_only_moves_when_something_happens() {
    let mut target = open("sd-4mib", 1).unwrap();
    assert_eq!(target.now(), Instant::ORIGIN);
    target.wait_until(Instant(5));
    assert_eq!(target.now(), Instant(5));
    target.wait_until(Instant(3));
    assert_eq!(target.now(), Instant(5));
}
