//! The coordinator over runs in memory: what is lost, doubled, late, or a lie.

use super::*;
use crate::ledger::Ledger;
use std::convert::Infallible;

/// A ledger that keeps plans and records too.
#[derive(Clone, Debug, Default)]
struct Memory {
    ledger: Ledger,
    records: BTreeMap<(String, String), Vec<u8>>,
    plans: Vec<String>,
}

macro_rules! to_ledger {
    ($($name:ident($self:ty $(, $arg:ident: $kind:ty)*) -> $out:ty;)*) => {
        $(fn $name(self: $self $(, $arg: $kind)*) -> Result<$out, Infallible> { self.ledger.$name($($arg),*) })*
    };
}

impl Engine for Memory {
    type Error = Infallible;
    to_ledger! {
        submit(&mut Self, entries: &[Entry]) -> usize;
        claim(&mut Self, id: &str, owner: &str, now: u64, lease: u64) -> Option<Claim>;
        heartbeat(&mut Self, owner: &str, now: u64, lease: u64) -> ();
        bury(&mut Self, owner: &str, now: u64) -> ();
        owners(&Self) -> Vec<String>;
        complete(&mut Self, id: &str, attempt: u32, sha256: &str, now: u64) -> Completion;
        give_back(&mut Self, claim: &Claim, end: &AttemptEnd, now: u64) -> ();
        discard(&mut Self, id: &str, why: &str) -> ();
        retry(&mut Self, id: &str) -> ();
        list(&Self) -> Vec<Entry>;
        attempts(&Self) -> Vec<crate::engine::Attempt>;
    }
}

impl Archive for Memory {
    fn keep_record(&mut self, id: &str, sha256: &str, record: &[u8]) -> Result<(), Infallible> {
        self.records.insert((id.to_owned(), sha256.to_owned()), record.to_owned());
        Ok(())
    }

    fn record(&self, id: &str, sha256: &str) -> Result<Option<Vec<u8>>, Infallible> {
        Ok(self.records.get(&(id.to_owned(), sha256.to_owned())).cloned())
    }

    fn keep_plan(&mut self, _: &str, text: &str) -> Result<(), Infallible> {
        if !self.plans.iter().any(|plan| plan == text) {
            self.plans.push(text.to_owned());
        }
        Ok(())
    }

    fn keep_lie(&mut self, id: &str, agent: &str) -> Result<bool, Infallible> {
        Ok(self.ledger.note_lie(id, agent))
    }

    fn plans(&self) -> Result<Vec<String>, Infallible> {
        Ok(self.plans.clone())
    }
}

const TERMS: Terms = Terms { lease: 60, tries: 3, lies: 2 };
const PLAN: &str = "name = \"p\"\n[[device]]\nname = \"s\"\nsim = \"sim:a\"\ncount = 3\n[[device]]\nname = \"real\"\n\
                    identity = \"0x1c:79\"\n[[work]]\nname = \"look\"\nrun = \"inspect\"\n";

fn begun() -> Coordinator<Memory> {
    let judge = |record: &[u8], _: &Order| match record.starts_with(b"record") {
        true => Ok(()),
        false => Err("it is none".to_owned()),
    };
    let mut coordinator = Coordinator::open(Memory::default(), TERMS, judge, 0).unwrap();
    let submit = OperatorAsk::Submit { retry_failed: false };
    let (answer, _) = coordinator.operator(submit, PLAN.as_bytes(), "1", 0).unwrap();
    assert_eq!(answer, OperatorAnswer::Submitted { new: 4, of: 4 });
    coordinator
}

fn work(
    coordinator: &mut Coordinator<Memory>,
    agent: &str,
    holding: &[&Order],
    room: u32,
    devices: &[&str],
    now: u64,
) -> Vec<Order> {
    let (name, incarnation) = agent.split_once('/').unwrap();
    let ask = AgentAsk::Work {
        incarnation: incarnation.to_owned(),
        holding: holding.iter().map(|order| order.id.clone()).collect(),
        room,
        devices: devices.iter().map(|device| device.to_string()).collect(),
    };
    match coordinator.agent(name, ask, &[], now).unwrap() {
        AgentAnswer::Orders { orders, .. } => orders,
        other => panic!("{other:?}"),
    }
}

fn end(
    coordinator: &mut Coordinator<Memory>,
    agent: &str,
    order: &Order,
    end: End,
    record: &[u8],
    now: u64,
) -> AgentAnswer {
    let ask = AgentAsk::Ended { id: order.id.clone(), attempt: order.attempt, end };
    coordinator.agent(agent, ask, record, now).unwrap()
}

fn done(record: &[u8]) -> End {
    End::Done { sha256: sha256(record) }
}

fn failed() -> End {
    End::Failed { why: "x".to_owned() }
}

fn entry(coordinator: &Coordinator<Memory>, order: &Order) -> Entry {
    coordinator.archive().list().unwrap().into_iter().find(|entry| entry.run.id == order.id).unwrap()
}

fn times_done(coordinator: &Coordinator<Memory>, order: &Order) -> usize {
    let attempts = coordinator.archive().attempts().unwrap();
    attempts.iter().filter(|one| one.id == order.id && one.end.as_deref() == Some("done")).count()
}

#[test]
fn real_devices_go_to_the_host_that_has_them_and_simulated_ones_to_any() {
    let mut coordinator = begun();
    let two = work(&mut coordinator, "a/1", &[], 2, &["0x1c:78"], 1);
    assert!(two.len() == 2 && two.iter().all(|order| order.simulated));
    let rest = work(&mut coordinator, "b/1", &[], 9, &["0x1c:79"], 1);
    assert_eq!(rest.iter().map(|order| order.simulated).collect::<Vec<_>>(), [true, false]);
    assert!(work(&mut coordinator, "a/1", &two.iter().collect::<Vec<_>>(), 9, &[], 2).is_empty());
}

#[test]
fn whatever_is_lost_on_the_way_is_said_again_and_whatever_comes_twice_changes_nothing() {
    let mut coordinator = begun();
    let given = work(&mut coordinator, "a/1", &[], 1, &[], 1);
    // The answer was lost: the same claim, with the same number.
    assert_eq!(work(&mut coordinator, "a/1", &[], 1, &[], 2), given);
    let order = &given[0];
    let kept = AgentAnswer::Confirmed { sha256: sha256(b"record") };
    for _ in 0..3 {
        assert_eq!(end(&mut coordinator, "a", order, done(b"record"), b"record", 3), kept);
    }
    // A failure of the same attempt, late.
    assert_eq!(end(&mut coordinator, "a", order, failed(), b"", 4), AgentAnswer::Noted);
    assert_eq!((entry(&coordinator, order).state, times_done(&coordinator, order)), (RunState::Done, 1));
    // Another coordinator in the place of this one.
    coordinator.look_again(5).unwrap();
    assert_eq!(end(&mut coordinator, "a", order, done(b"record"), b"record", 6), kept);
    assert_eq!(times_done(&coordinator, order), 1);
}

#[test]
fn a_lease_that_is_over_goes_to_another_and_the_first_record_counts() {
    let mut coordinator = begun();
    let first = work(&mut coordinator, "a/1", &[], 3, &[], 1);
    let held: Vec<&Order> = first.iter().collect();
    assert!(work(&mut coordinator, "b/1", &[], 3, &[], 60).is_empty(), "leases hold");
    work(&mut coordinator, "a/1", &held, 0, &[], 50);
    assert!(work(&mut coordinator, "b/1", &[], 3, &[], 109).is_empty(), "and longer after a heartbeat");
    let second = work(&mut coordinator, "b/1", &[], 3, &[], 110);
    assert_eq!(
        second.iter().map(|order| (&order.id, order.attempt)).collect::<Vec<_>>(),
        first.iter().map(|order| (&order.id, 2)).collect::<Vec<_>>()
    );
    // The one that was thought dead is quicker, and the other is told whose record counts.
    let kept = AgentAnswer::Confirmed { sha256: sha256(b"record a") };
    assert_eq!(end(&mut coordinator, "a", &first[0], done(b"record a"), b"record a", 111), kept);
    assert_eq!(end(&mut coordinator, "b", &second[0], done(b"record b"), b"record b", 112), kept);
    // A failure of the one whose lease is over is none of the other's attempt.
    end(&mut coordinator, "a", &first[1], failed(), b"", 113);
    assert_eq!(entry(&coordinator, &first[1]).failures, 0);
    assert_eq!((entry(&coordinator, &first[0]).state, times_done(&coordinator, &first[0])), (RunState::Done, 1));
}

#[test]
fn a_new_incarnation_frees_what_the_earlier_one_held_and_brings_what_it_left() {
    let mut coordinator = begun();
    let first = work(&mut coordinator, "a/1", &[], 3, &[], 1);
    let again = work(&mut coordinator, "a/2", &[&first[0]], 2, &[], 2);
    // All three are free; two are given, of which one is the one that it has a record of.
    assert_eq!(again.len(), 2);
    let kept = AgentAnswer::Confirmed { sha256: sha256(b"record") };
    assert_eq!(end(&mut coordinator, "a", &first[0], done(b"record"), b"record", 3), kept);
    assert_eq!(entry(&coordinator, &first[0]).state, RunState::Done);
    let rest = work(&mut coordinator, "b/1", &[], 9, &[], 4);
    assert!(rest.iter().all(|order| order.id != first[0].id), "done is done");
}

#[test]
fn a_record_that_is_not_what_its_hash_says_is_rejected_and_its_agent_found_out() {
    let mut coordinator = begun();
    for turn in 0..2 {
        let given = work(&mut coordinator, "liar/1", &[], 1, &[], turn);
        let answer = end(&mut coordinator, "liar", &given[0], done(b"record x"), b"record y", turn);
        assert!(matches!(answer, AgentAnswer::Rejected { .. }));
        assert_eq!(
            (entry(&coordinator, &given[0]).state, entry(&coordinator, &given[0]).failures),
            (RunState::Waiting, turn as u32 + 1)
        );
    }
    assert!(work(&mut coordinator, "liar/1", &[], 3, &[], 5).is_empty(), "no more work");
    assert!(work(&mut coordinator, "liar/2", &[], 3, &[], 6).is_empty(), "under whatever incarnation");
    // Another coordinator in the place of this one has not forgotten, and one that is told to bear more gives it work.
    let archive = coordinator.archive().clone();
    let mut other = Coordinator::open(archive.clone(), TERMS, coordinator.judge, 6).unwrap();
    assert!(work(&mut other, "liar/3", &[], 3, &[], 6).is_empty(), "no more work");
    let mut patient = Coordinator::open(archive, Terms { lies: 3, ..TERMS }, coordinator.judge, 6).unwrap();
    assert_eq!(work(&mut patient, "liar/3", &[], 1, &[], 6).len(), 1);
    let honest = work(&mut coordinator, "b/1", &[], 3, &[], 7);
    assert_eq!(honest.len(), 3);
    assert!(coordinator.archive().records.is_empty());
    // Whole, and none of this run.
    let answer = end(&mut coordinator, "b", &honest[1], done(b"other"), b"other", 8);
    assert_eq!(answer, AgentAnswer::Rejected { why: "it is none".to_owned() });
    // Nobody speaks of runs that were never handed to him.
    assert_eq!(end(&mut coordinator, "c", &honest[2], done(b"record"), b"record", 9), AgentAnswer::Foreign);
}

#[test]
fn failures_are_counted_by_run_and_the_last_one_is_said() {
    let mut coordinator = begun();
    for turn in 0..3 {
        let given = work(&mut coordinator, "a/1", &[], 1, &[], turn);
        assert_eq!(given[0].device, "s-1");
        end(&mut coordinator, "a", &given[0], failed(), b"", turn);
        end(&mut coordinator, "a", &given[0], failed(), b"", turn);
    }
    let given = work(&mut coordinator, "a/1", &[], 1, &[], 9);
    assert_eq!(given[0].device, "s-2");
    let stopped = End::Stopped { why: "x".to_owned() };
    end(&mut coordinator, "a", &given[0], stopped, b"", 9);
    assert_eq!((entry(&coordinator, &given[0]).state, entry(&coordinator, &given[0]).failures), (RunState::Waiting, 0));
    let submit = OperatorAsk::Submit { retry_failed: true };
    coordinator.operator(submit, PLAN.as_bytes(), "1", 10).unwrap();
    assert_eq!(work(&mut coordinator, "a/1", &[], 1, &[], 11)[0].device, "s-1");
}

#[test]
fn a_plan_that_no_single_host_is_named_in_is_refused() {
    let mut coordinator = begun();
    for (from, to, why) in [
        ("identity = \"0x1c:79\"", "slot = \"1-2\"", "is of one host"),
        ("run = \"inspect\"", "run = \"sh\"", "no command 'sh'"),
        ("name = \"p\"", "name = \"p\"\n[neighbours]\nwork = \"look\"", "by a bench"),
    ] {
        let text = PLAN.replace(from, to);
        let (answer, _) =
            coordinator.operator(OperatorAsk::Submit { retry_failed: false }, text.as_bytes(), "1", 0).unwrap();
        assert!(
            matches!(&answer, OperatorAnswer::Refused { why: told } if told.contains(why) && told.contains("hint: ")),
            "{answer:?}"
        );
    }
    assert_eq!(coordinator.archive().plans.len(), 1);
}

#[test]
fn a_clock_that_jumps_while_no_coordinator_runs_loses_nothing() {
    for back_at in [0, 1_000_000] {
        let mut coordinator = begun();
        let first = work(&mut coordinator, "a/1", &[], 3, &[], 500);
        // A new coordinator: each holder has a lease's time by the clock as it is now.
        coordinator.look_again(back_at).unwrap();
        assert!(work(&mut coordinator, "b/1", &[], 3, &[], back_at + 59).is_empty());
        let kept = AgentAnswer::Confirmed { sha256: sha256(b"record") };
        assert_eq!(end(&mut coordinator, "a", &first[0], done(b"record"), b"record", back_at + 59), kept);
        assert_eq!(entry(&coordinator, &first[0]).state, RunState::Done);
    }
}

#[test]
fn a_run_of_which_the_engine_says_that_it_is_held_waits_and_is_not_lost() {
    let mut coordinator = begun();
    // The engine's lease is longer than the coordinator knows.
    let first = work(&mut coordinator, "a/1", &[], 1, &[], 0);
    coordinator.archive.heartbeat("a/1", 1000, 60).unwrap();
    let others = work(&mut coordinator, "b/1", &[], 3, &[], 100);
    assert!(others.len() == 2 && others.iter().all(|order| order.id != first[0].id));
    let later = work(&mut coordinator, "c/1", &[], 3, &[], 1060);
    assert!(later.iter().any(|order| order.id == first[0].id));
}
