//! A run that ends in the middle is judged by what it kept outside the device.

use flashscope_device::{DeviceError, PowerSwitch, Target, WriteGrant};
use flashscope_integrity::judge::Map;
use flashscope_integrity::ledger::{Entry, Head, Kept, Ledger, cut_text};
use flashscope_integrity::{Plan, first_generation, judge_kept, run, usual_region};
use flashscope_model::integrity::FaultKind;
use flashscope_sim::SimTarget;
use flashscope_units::{Bytes, Nanos};

const CARD: &str = "sd-4mib,capacity=64MiB,noise=none,mapping.areas.0.start=0,mapping.areas.0.end=4MiB";
/// The cut that nobody is there for any more.
const LAST: u32 = 7;

/// Keeps a journal in memory, and refuses to go on at the last cut, as one who is killed does.
struct Killed {
    head: Head,
    text: String,
    number: u32,
}

impl Ledger for Killed {
    fn begin(&mut self, number: u32, before: &Map) -> Result<(), String> {
        self.number = number;
        self.text = self.head.to_string() + &cut_text(number, before);
        Ok(())
    }

    fn note(&mut self, entry: &Entry) -> Result<(), String> {
        self.text += &entry.to_string();
        Ok(())
    }

    fn secure(&mut self) -> Result<(), String> {
        self.text += &Entry::Off.to_string();
        if self.number == LAST { Err("killed".to_owned()) } else { Ok(()) }
    }
}

/// A run that is killed when the power is about to go for the last time, and the device after that.
fn killed(faults: &str, seed: u64) -> (SimTarget, Kept) {
    let mut target = flashscope_sim::open(&format!("{CARD},{faults}"), seed).unwrap();
    target.check_always(false);
    let mut grant = WriteGrant::simulated(target.facts(), Bytes::gib(64)).unwrap();
    let (capacity, (offset, length)) = (target.facts().capacity, usual_region(target.facts().capacity));
    let generation = first_generation(seed);
    let head = Head { identity: "x".into(), capacity, offset, length, generation, seed, boot: "b".into(), under: None };
    let mut ledger = Killed { head, text: String::new(), number: 0 };
    let plan = Plan { cuts: 20, seed, generation, offset, length, slow_after: Nanos::secs(10), search: Bytes::ZERO };
    let report = run(&mut target, &mut grant, &plan, &mut ledger, &mut ());
    assert_eq!(report.cuts.len(), LAST as usize - 1);
    PowerSwitch::cut_power(&mut target).unwrap();
    assert_eq!(target.has_lost_power(), Ok::<_, DeviceError>(true));
    target.restore_power().unwrap();
    (target, Kept::parse(&ledger.text).unwrap())
}

#[test]
fn what_a_killed_run_kept_accuses_no_honest_device() {
    for seed in 1..12 {
        let (mut target, kept) = killed("write_cache=1MiB,drain_after=5s,reordered=true", seed);
        assert!(kept.is_off && kept.number == LAST && kept.journal.writes.len() > 5);
        let report = judge_kept(&mut target, &kept, true).unwrap();
        assert_eq!(report.cuts[0].found, 0, "seed {seed}: {:#?}", report.cuts[0].violations);
        assert_eq!(report.cuts[0].number, LAST);
    }
}

#[test]
fn what_a_killed_run_kept_shows_a_fault() {
    let broken = (1..12).filter(|seed| {
        let (mut target, kept) = killed("write_cache=1MiB,drain_after=never,lying_flush=true", *seed);
        let report = judge_kept(&mut target, &kept, true).unwrap();
        report.cuts[0].violations.iter().any(|one| one.kind == FaultKind::LostFlushed)
    });
    assert!(broken.count() >= 8, "what flushes had covered is gone at nearly every cut");
}

#[test]
fn newer_data_than_the_journal_knows_of_are_a_fault_only_where_it_is_whole() {
    let (mut target, mut kept) = killed("write_cache=none", 3);
    // Of a journal that lost its last third with the machine, only the device knows.
    kept.journal.writes.truncate(kept.journal.writes.len() * 2 / 3);
    let found = |target: &mut SimTarget, is_whole| judge_kept(target, &kept, is_whole).unwrap().cuts[0].found;
    assert!(found(&mut target, true) > 0);
    assert_eq!(found(&mut target, false), 0);
}
