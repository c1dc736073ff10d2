//! The judge against a naive model of the promise: sector by sector, value by value.

use flashscope_device::{Holds, Stretch, stretch};
use flashscope_integrity::judge::{Case, Map, judge};
use flashscope_integrity::{Done, Flush, Journal, Write};
use flashscope_model::integrity::FaultKind;
use flashscope_units::{Bytes, Instant};
use proptest::prelude::*;

const SECTOR: Bytes = Bytes::SECTOR;
const SECTORS: u64 = 12;
const START: Bytes = Bytes::mib(1);
/// The generation of what stood there before; write `n` of the journal has `BEFORE + 1 + n`.
const BEFORE: u32 = 100;

#[derive(Clone, Debug)]
enum Event {
    Write {
        at: u64,
        sectors: u64,
        durable: bool,
    },
    /// The oldest write that is under way is done.
    Done,
    Flush {
        completes: bool,
    },
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let write = (0..SECTORS, 1..5u64, prop::bool::weighted(0.2)).prop_map(|(at, sectors, durable)| Event::Write {
        at,
        sectors: sectors.min(SECTORS - at),
        durable,
    });
    let flush = prop::bool::weighted(0.8).prop_map(|completes| Event::Flush { completes });
    prop::collection::vec(prop_oneof![4 => write, 3 => Just(Event::Done), 1 => flush], 0..24)
}

/// The journal, and beside it for each sector what may stand there, worked out event by event.
fn played(events: &[Event]) -> (Journal, Vec<Vec<u32>>) {
    let mut journal = Journal::default();
    // For each sector: (generation, done, issued in turn, done in turn), oldest first.
    let mut may: Vec<Vec<u32>> = vec![vec![BEFORE]; SECTORS as usize];
    let mut under_way: Vec<usize> = Vec::new();
    for (turn, event) in (1..).zip(events) {
        let at = Instant(u64::from(turn) * 1000);
        match event {
            Event::Write { at: first, sectors, durable } => {
                let generation = BEFORE + 1 + journal.writes.len() as u32;
                let (at, length) = (START + SECTOR * *first, SECTOR * *sectors);
                under_way.push(journal.writes.len());
                journal.writes.push(Write { at, length, generation, turn, done: None, durable: *durable });
                (*first..*first + *sectors).for_each(|sector| may[sector as usize].push(generation));
            }
            Event::Done if !under_way.is_empty() => {
                let index = under_way.remove(0);
                journal.writes[index].done = Some(Done { turn, at });
                if journal.writes[index].durable {
                    cover(&mut may, &journal, index);
                }
            }
            Event::Done => {}
            Event::Flush { completes } => {
                let done = completes.then_some(Done { turn, at });
                journal.flushes.push(Flush { turn, done, covers: Bytes::ZERO });
                if *completes {
                    for index in 0..journal.writes.len() {
                        if journal.writes[index].done.is_some() {
                            cover(&mut may, &journal, index);
                        }
                    }
                }
            }
        }
    }
    (journal, may)
}

/// A write is covered: what it had overwritten for sure cannot come back.
fn cover(may: &mut [Vec<u32>], journal: &Journal, index: usize) {
    let write = journal.writes[index];
    for sector in 0..SECTORS {
        let at = START + SECTOR * sector;
        if at < write.at || at >= write.end() || !may[sector as usize].contains(&write.generation) {
            continue;
        }
        may[sector as usize].retain(|generation| {
            let Some(other) = generation.checked_sub(BEFORE + 1).map(|index| journal.writes[index as usize]) else {
                return false;
            };
            let was_over = other.done.is_some_and(|done| done.turn < write.turn);
            !(other.generation < write.generation && was_over)
        });
    }
}

fn judged(journal: &Journal, holds: &[Holds]) -> Vec<(u64, FaultKind)> {
    let mut found = Vec::new();
    holds.iter().for_each(|holds| stretch::append(&mut found, Stretch { length: SECTOR, holds: *holds }));
    let before = Map::written(START, SECTOR * SECTORS, BEFORE);
    let found = Map::new(START, found);
    let cut_at = Instant(1_000_000);
    let case = Case { sector: SECTOR, before: &before, journal, cut_at, found: &found, unreadable: &[] };
    let all = judge(&case).violations;
    let sectors = |one: flashscope_integrity::judge::Violation| {
        (0..one.length / SECTOR).map(move |sector| ((one.at - START) / SECTOR + sector, one.kind))
    };
    all.into_iter().flat_map(sectors).collect()
}

fn tag(generation: u32, sector: u64) -> Holds {
    Holds::Tagged { generation, addressed: START + SECTOR * sector }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever stands there, exactly the sectors are named that hold what they may not.
    #[test]
    fn the_judge_agrees_with_a_naive_model(events in events(), picks in prop::collection::vec(0..100u32, SECTORS as usize)) {
        let (journal, may) = played(&events);
        let written = journal.writes.len() as u32;
        // Mostly what may stand there, else any write's value, or nobody's.
        let holds: Vec<Holds> = (0..SECTORS).map(|sector| {
            let (pick, may) = (picks[sector as usize], &may[sector as usize]);
            match pick {
                0..60 => tag(may[pick as usize % may.len()], sector),
                60..90 => tag(BEFORE + pick % (written + 1), sector),
                90..94 => Holds::Uniform(0xff),
                94..97 => tag(BEFORE, (sector + 1) % SECTORS),
                _ => Holds::Foreign,
            }
        }).collect();
        let wrong: Vec<u64> = (0..SECTORS).filter(|sector| {
            !may[*sector as usize].iter().any(|generation| holds[*sector as usize] == tag(*generation, *sector))
        }).collect();
        let named: Vec<u64> = judged(&journal, &holds).into_iter().map(|(sector, _)| sector).collect();
        prop_assert_eq!(named, wrong, "{:?} over {:?}", holds, journal);
    }
}

#[test]
fn kinds_are_told_by_what_stands_there() {
    let write = |at: u64, sectors: u64, durable| Event::Write { at, sectors, durable };
    // Sectors 0 to 3 are written and flushed; 4 and 5 are written and not.
    let (journal, _) =
        played(&[write(0, 4, false), Event::Done, Event::Flush { completes: true }, write(4, 2, false), Event::Done]);
    let check = |sector: u64, holds: Holds, expect: Option<FaultKind>| {
        let mut all: Vec<Holds> = (0..SECTORS).map(|sector| tag(BEFORE + u32::from(sector < 4), sector)).collect();
        all[sector as usize] = holds;
        let named: Vec<FaultKind> = judged(&journal, &all).into_iter().map(|(_, kind)| kind).collect();
        assert_eq!(named, Vec::from_iter(expect), "{holds:?} at {sector}");
    };
    check(0, tag(BEFORE + 1, 0), None);
    check(0, tag(BEFORE, 0), Some(FaultKind::LostFlushed));
    check(0, Holds::Uniform(0), Some(FaultKind::LostFlushed));
    check(4, tag(BEFORE + 2, 4), None);
    check(4, tag(BEFORE, 4), None);
    check(4, Holds::Foreign, Some(FaultKind::Corrupted));
    check(0, Holds::Foreign, Some(FaultKind::Neighbour));
    check(9, tag(BEFORE + 2, 4), Some(FaultKind::Flying));
    check(9, Holds::Foreign, Some(FaultKind::Neighbour));
}

#[test]
fn a_sector_of_two_writes_is_shorn() {
    let half = SECTOR / 2;
    let before = Map::written(START, SECTOR, BEFORE);
    let written = Write { at: START, length: SECTOR, generation: BEFORE + 1, turn: 1, done: None, durable: false };
    let journal = Journal { writes: vec![written], flushes: Vec::new() };
    let parts = vec![
        Stretch { length: half, holds: tag(BEFORE + 1, 0) },
        Stretch { length: half, holds: Holds::Tagged { generation: BEFORE, addressed: START + half } },
    ];
    let found = Map::new(START, parts);
    let case =
        Case { sector: SECTOR, before: &before, journal: &journal, cut_at: Instant(9), found: &found, unreadable: &[] };
    let kinds: Vec<FaultKind> = judge(&case).violations.into_iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [FaultKind::Shorn]);
    let unreadable = [(START, START + SECTOR)];
    let kinds: Vec<FaultKind> =
        judge(&Case { unreadable: &unreadable, ..case }).violations.into_iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [FaultKind::Corrupted]);
}
