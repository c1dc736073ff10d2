//! Passes over simulated devices that wear out, whose end is known.

use flashscope_device::{Target, WriteGrant};
use flashscope_endurance::{Journal, Look, Plan, Progress, Watch, endure, head};
use flashscope_journal::{Journal as Kept, Subject};
use flashscope_model::StopReason;
use flashscope_model::endurance::{Basis, EndKind, Endurance, LifeLimit, Milestone, Rating};
use flashscope_sim::{SimTarget, open};
use flashscope_units::{Bytes, Nanos};

/// A drive of 32 MiB with superblocks of 2 MiB.
const DRIVE: &str = "emmc-phone,device.kind=nvme,capacity=32MiB,noise=none,mapping.nand.pages_per_block=16,\
                     mapping.nand.blocks_per_plane=24,mapping.nand.bad_blocks=0";
/// Blocks last forty erases or so, and nothing else happens.
const WEARS: &str = "ageing.rated_erases=20,ageing.lasts=2.0,ageing.lasts_spread=0.15,ageing.early_failures=0.0,\
                     ageing.reserve_ratio=0.1,ageing.unreadable=0.0,ageing.upkeep_every=0";

/// Stops after so many looks, and keeps the last text.
#[derive(Default)]
struct Watcher {
    looks_left: Option<u32>,
    kept: String,
    progress: Option<Progress>,
    /// Size that the host sees from now on.
    capacity: Option<Bytes>,
}

impl Watch for Watcher {
    fn progress(&mut self, progress: Progress) {
        assert!(progress.moved <= progress.most, "{progress:?}");
        self.progress = Some(progress);
    }

    fn stop(&mut self) -> bool {
        self.looks_left.as_mut().is_some_and(|left| {
            *left = left.saturating_sub(1);
            *left == 0
        })
    }

    fn is_due(&mut self) -> bool {
        false
    }

    fn keep(&mut self, journal: &Journal) {
        self.kept = journal.text().unwrap();
    }

    fn look(&mut self, target: &dyn Target) -> Look {
        Look { health: target.facts().claims.health, capacity: self.capacity.or(Some(target.facts().capacity)) }
    }

    fn clock(&mut self, target: &dyn Target) -> Nanos {
        target.now() - flashscope_units::Instant::ORIGIN
    }

    fn wait(&mut self, target: &mut dyn Target, until: Nanos) {
        target.wait_until(flashscope_units::Instant::ORIGIN + until);
    }
}

fn device(spec: &str) -> (SimTarget, WriteGrant) {
    let mut target = open(spec, 7).unwrap();
    target.check_always(false);
    let grant = WriteGrant::simulated(target.facts(), Bytes::gib(1 << 14)).unwrap();
    (target, grant)
}

fn plan(target: &SimTarget) -> Plan {
    let (claimed, block) = (target.facts().capacity, target.capabilities().granularity);
    Plan { claimed, block, seed: 5, most_passes: None, until: None, limit: None, reread_after: None }
}

fn subject(plan: &Plan) -> Subject {
    Subject { identity: "it".to_owned(), capacity_bytes: plan.claimed.get() }
}

fn done(target: &mut SimTarget, grant: &mut WriteGrant, plan: &Plan) -> Endurance {
    let mut journal = Journal::new(plan, subject(plan), 100);
    let stop = endure(plan, &mut journal, (target, grant), &mut Watcher::default());
    assert!(matches!(stop, StopReason::Complete | StopReason::DeviceLost(_)), "{stop:?}");
    journal.told(plan, &stop)
}

#[test]
fn a_sound_device_does_as_many_passes_as_were_asked_for() {
    let (mut target, mut grant) = device(DRIVE);
    let plan = Plan { most_passes: Some(3), ..plan(&target) };
    let told = done(&mut target, &mut grant, &plan);
    assert_eq!((told.end.kind, told.passes.len(), told.sessions), (EndKind::Passes, 3, 1));
    assert_eq!((told.capacity_writes(), told.milestones.len()), (3.0, 0));
    for pass in &told.passes {
        assert_eq!((pass.written, pass.read, pass.totals.kept), (plan.claimed, plan.claimed, plan.claimed));
        assert!(pass.whole && pass.write_rate().is_some() && pass.read_rate().is_some() && pass.registers.is_some());
    }
    assert!(!told.is_broken() && told.forecast.high.is_none());
}

#[test]
fn a_device_that_wears_out_ends_read_only_and_its_milestones_are_told() {
    let (mut target, mut grant) = device(&format!("{DRIVE},{WEARS}"));
    let plan = plan(&target);
    let told = done(&mut target, &mut grant, &plan);
    assert_eq!(told.end.kind, EndKind::ReadOnly, "{:?}", told.end);
    let first = told.milestones.first().unwrap();
    assert_eq!((first.milestone, told.forecast.basis), (Milestone::FirstError, Basis::Seen));
    assert!((15.0..60.0).contains(&first.capacity_writes), "{first:?}");
    let spare: Vec<u8> = told.passes.iter().filter_map(|pass| pass.registers?.spare_percent).collect();
    assert!(spare.is_sorted_by(|one, next| one >= next) && spare.last() == Some(&0), "{spare:?}");
    // Before its end, it was told.
    let before = |passes: usize| {
        let end = flashscope_model::endurance::End { kind: EndKind::Passes, why: None };
        let passes = &told.passes[..passes];
        flashscope_infer::endurance::forecast(told.registers.as_ref(), passes, plan.claimed, &end)
    };
    let late = before(told.passes.len() - 2);
    assert_eq!(late.basis, Basis::Spare);
    assert!(late.low <= first.capacity_writes && late.high.unwrap() >= first.capacity_writes - 1.0, "{late:?}");
}

#[test]
fn rows_that_cannot_be_read_lead_through_all_milestones() {
    let errors = "ageing.lasts=100.0,ageing.raw_errors=0.001,ageing.raw_errors_power=4.0,ageing.raw_errors_spread=0.6";
    let (mut target, mut grant) = device(&format!("{DRIVE},{WEARS},{errors}"));
    let plan = Plan { until: Some(Milestone::Half), ..plan(&target) };
    let told = done(&mut target, &mut grant, &plan);
    assert_eq!((told.end.kind, told.milestones.len()), (EndKind::Until, 5), "{:?}", told.milestones);
    assert!(told.milestones.is_sorted_by(|one, next| one.pass <= next.pass));
    let last = told.passes.last().unwrap();
    assert!(last.totals.unreadable.as_f64() >= 0.5 * plan.claimed.as_f64() && last.totals.changed == Bytes::ZERO);
}

#[test]
fn it_ends_before_more_than_the_share_of_the_life_is_spent() {
    let (mut target, mut grant) = device(&format!("{DRIVE},{WEARS}"));
    let rated = target.facts().capacity * 20;
    let check = |share: f64, rated: Bytes, passes: usize, target: &mut SimTarget, grant: &mut WriteGrant| {
        let limit = Some(LifeLimit { share, rated, rating: Rating::Given });
        let plan = Plan { limit, ..plan(target) };
        let told = done(target, grant, &plan);
        assert_eq!((told.end.kind, told.passes.len()), (EndKind::Life, passes), "{share} of {rated}");
    };
    check(0.2, rated, 4, &mut target, &mut grant);
    check(0.049, rated, 0, &mut target, &mut grant);
    // By its registers at last, where a data sheet promises more than there is: 20 erases are the rated life.
    let limit = Some(LifeLimit { share: 0.3, rated: rated * 100, rating: Rating::Given });
    let plan = Plan { limit, ..plan(&target) };
    let told = done(&mut target, &mut grant, &plan);
    assert!(told.end.kind == EndKind::Life && (6..=10).contains(&told.passes.len()), "{}", told.passes.len());
}

#[test]
fn a_stopped_run_goes_on_from_its_journal_to_the_same_end() {
    let spec = format!("{DRIVE},{WEARS}");
    let (mut whole, mut grant) = device(&spec);
    let plan = Plan { most_passes: Some(4), ..plan(&whole) };
    let wanted = done(&mut whole, &mut grant, &plan);
    let (mut target, mut grant) = device(&spec);
    let mut watch = Watcher { looks_left: Some(30), ..Watcher::default() };
    let mut journal = Journal::new(&plan, subject(&plan), 100);
    let mut stops = 0;
    let told = loop {
        match endure(&plan, &mut journal, (&mut target, &mut grant), &mut watch) {
            StopReason::Interrupted => {
                assert_eq!(journal.told(&plan, &StopReason::Interrupted).end.kind, EndKind::Stopped);
                journal = Journal::read(&watch.kept, &head(&plan, subject(&plan))).unwrap();
                (watch.looks_left, stops) = (Some(30), stops + 1);
            }
            stop => break journal.told(&plan, &stop),
        }
    };
    assert!(stops > 3 && told.sessions == stops + 1, "{stops}");
    let of = |told: &Endurance| -> Vec<_> {
        told.passes.iter().map(|pass| (pass.written, pass.read, pass.totals, pass.registers)).collect()
    };
    assert_eq!(of(&told), of(&wanted));
}

#[test]
fn what_is_left_alone_is_read_again_and_its_loss_is_counted_apart() {
    let errors = "ageing.raw_errors=0.02,ageing.raw_errors_spread=0.6,ageing.retention=1h";
    let (mut target, mut grant) = device(&format!("{DRIVE},{WEARS},{errors}"));
    let after = |time: Nanos| Plan { most_passes: Some(15), reread_after: Some(time), ..plan(&target) };
    let (short, long) = (after(Nanos::secs(1)), after(Nanos::secs(30 * 24 * 3600)));
    let kept = done(&mut target, &mut grant, &short).retention.unwrap();
    assert_eq!((kept.lost, kept.totals.kept, kept.whole), (Bytes::ZERO, short.claimed, true));
    let (mut target, mut grant) = device(&format!("{DRIVE},{WEARS},{errors}"));
    let told = done(&mut target, &mut grant, &long);
    let lost = told.retention.unwrap();
    assert!(lost.kept_for >= Nanos::secs(30 * 24 * 3600) && lost.lost > Bytes::ZERO, "{lost:?}");
    assert_eq!((lost.lost, told.milestones.len()), (lost.totals.unreadable, 0));
    assert!(told.is_broken());
}

#[test]
fn a_device_that_goes_away_or_shrinks_is_an_outcome() {
    let (mut target, mut grant) = device(&format!("{DRIVE},vanish_after=150"));
    let all = plan(&target);
    let told = done(&mut target, &mut grant, &all);
    assert_eq!((told.end.kind, told.milestones.len()), (EndKind::Gone, 1), "{:?}", told.end);
    assert!(!told.passes.last().unwrap().whole && told.is_broken());
    let (mut target, mut grant) = device(DRIVE);
    let mut journal = Journal::new(&all, subject(&all), 1);
    let mut watch = Watcher { capacity: Some(Bytes::mib(8)), ..Watcher::default() };
    let stop = endure(&all, &mut journal, (&mut target, &mut grant), &mut watch);
    let told = journal.told(&all, &stop);
    assert_eq!((told.end.kind, told.end.why.as_deref()), (EndKind::Shrunk, Some("8 MiB are left of 32 MiB")));
}

#[test]
fn the_budget_ends_it_before_a_pass_that_it_does_not_cover() {
    let (mut target, _) = device(DRIVE);
    let plan = plan(&target);
    let mut grant = WriteGrant::simulated(target.facts(), plan.claimed * 2 + Bytes(4096)).unwrap();
    let told = done(&mut target, &mut grant, &plan);
    assert_eq!((told.end.kind, told.passes.len()), (EndKind::Budget, 2));
}
