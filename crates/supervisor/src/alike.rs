//! Two engines answer alike: SQLite for one host, and the ledger that the one of many hosts keeps in JetStream.

use crate::Queue;
use flashscope_lab::{AttemptEnd, Claim, Engine, Entry, Ledger, Phase, Run};
use flashscope_stats::Rng;

const IDS: [&str; 4] = ["a", "b", "c", "d"];
const OWNERS: [&str; 3] = ["x", "y", "z"];

fn entry(id: &str) -> Entry {
    let words = vec!["inspect".to_owned()];
    let run =
        Run { id: id.to_owned(), device: 0, work: 0, others: Vec::new(), words, power: None, phase: Phase::Timed };
    Entry::waiting(run, format!("card-{id}"), format!("0x{id}:1"), "look".to_owned())
}

/// Something that an engine is asked.
enum Act {
    Submit,
    Claim,
    Heartbeat,
    Bury,
    Complete,
    Failed,
    Stopped,
    GivenUp,
    Discard,
    Retry,
}

/// Does it, and says what was answered and what is kept then.
fn done<E: Engine>(engine: &mut E, act: &Act, (id, owner): (&str, &str), attempt: u32, now: u64) -> String {
    let claim = Claim { id: id.to_owned(), attempt };
    let why = || "why".to_owned();
    let answered = match act {
        Act::Submit => engine.submit(&[entry(id)]).map(|new| format!("{new}")),
        Act::Claim => engine.claim(id, owner, now, 10).map(|claim| format!("{claim:?}")),
        Act::Heartbeat => engine.heartbeat(owner, now, 10).map(|()| String::new()),
        Act::Bury => engine.bury(owner, now).map(|()| String::new()),
        Act::Complete => engine.complete(id, attempt, &format!("{now}"), now).map(|kept| format!("{kept:?}")),
        Act::Failed => engine.give_back(&claim, &AttemptEnd::Failed(why()), now).map(|()| String::new()),
        Act::Stopped => engine.give_back(&claim, &AttemptEnd::Stopped(why()), now).map(|()| String::new()),
        Act::GivenUp => engine.give_back(&claim, &AttemptEnd::GivenUp(why()), now).map(|()| String::new()),
        Act::Discard => engine.discard(id, "why").map(|()| String::new()),
        Act::Retry => engine.retry(id).map(|()| String::new()),
    };
    let answered = answered.unwrap_or_else(|error| format!("{error}"));
    let kept = |error: E::Error| format!("{error}");
    let list = engine.list().map_or_else(kept, |list| format!("{list:#?}"));
    let attempts = engine.attempts().map_or_else(kept, |attempts| format!("{attempts:#?}"));
    let mut owners = engine.owners().unwrap_or_default();
    owners.sort();
    format!("{answered}\n{list}\n{attempts}\n{owners:?}")
}

#[test]
fn sqlite_and_the_ledger_answer_alike_whatever_they_are_asked() {
    for seed in 1..=12 {
        let path = std::env::temp_dir().join(format!("flashscope-alike-{}-{seed}.db", std::process::id()));
        let mut queue = Queue::open(&path, true).unwrap();
        let mut ledger = Ledger::default();
        let (mut rng, mut now) = (Rng::new(seed), 0);
        for step in 0..60 {
            now += rng.below(6) as u64;
            let (who, attempt) = ((IDS[rng.below(4)], OWNERS[rng.below(3)]), 1 + rng.below(4) as u32);
            let act = match rng.below(14) {
                0..=2 => Act::Submit,
                3..=5 => Act::Claim,
                6 => Act::Heartbeat,
                7 => Act::Bury,
                8 => Act::Complete,
                9 => Act::Failed,
                10 => Act::Stopped,
                11 => Act::GivenUp,
                12 => Act::Discard,
                _ => Act::Retry,
            };
            let one = done(&mut queue, &act, who, attempt, now);
            let other = done(&mut ledger, &act, who, attempt, now);
            assert_eq!(one, other, "seed {seed}, step {step}");
        }
        drop(queue);
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", path.display()));
        }
    }
}
