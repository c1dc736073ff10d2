//! Small fleets, whole: drawn, inspected, scored, counted and printed.

use flashscope_fleet::{
    Fleet, Generator, Limits, Noise, Parameter, Plan, Reader, Summary, Verdict, Watch, html, json, sail, text,
};
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts, and stops after so many.
struct Counter {
    done: AtomicU32,
    most: u32,
}

impl Watch for Counter {
    fn done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn stop(&self) -> bool {
        self.done.load(Ordering::Relaxed) >= self.most
    }
}

fn plan(devices: u32, by_hand: bool) -> Plan {
    Plan {
        devices,
        seed: 8,
        generator: Generator::Field,
        noise: Some(Noise::Bench),
        limits: Limits { max_write: None, max_time: None, by_hand },
    }
}

fn sailed(plan: Plan, most: u32) -> Fleet {
    let watch = Counter { done: AtomicU32::new(0), most };
    sail(plan, &watch).expect("devices can be drawn")
}

#[test]
fn the_outcome_depends_on_the_plan_alone() {
    let plan = plan(5, true);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    let three = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
    let alone = one.install(|| sailed(plan, u32::MAX));
    let together = three.install(|| sailed(plan, u32::MAX));
    assert_eq!(json(&alone, &Summary::of(&alone)), json(&together, &Summary::of(&together)));
}

#[test]
fn every_finding_of_every_device_is_counted_once() {
    let fleet = sailed(plan(20, false), u32::MAX);
    let summary = Summary::of(&fleet);
    assert!(summary.failures.is_empty(), "{:?}", summary.failures);
    assert_eq!(fleet.devices.len(), 20);
    for (parameter, row) in &summary.inspect {
        let counted = row.exact + row.exact_beyond + row.one_step + row.wrong + row.missed + row.silent;
        assert_eq!((counted, row.devices + row.unscored), (row.devices, 20), "{}", parameter.words());
    }
    // Page sizes of readable cards are the easiest figure there is: a fleet that finds none of them is broken.
    let page = summary.row(Reader::Inspect, Parameter::Page);
    assert!(page.told >= 10 && page.exact * 10 >= page.told * 8, "{page:?}");
    let bad = fleet.devices.iter().flat_map(|run| &run.findings).filter(|scored| match scored.judged.verdict {
        Verdict::OneStep | Verdict::Wrong => true,
        Verdict::Silent => scored.can_be_told,
        Verdict::Exact | Verdict::Unscored => false,
    });
    assert_eq!(summary.worst.len(), bad.count());
    let claims: u32 = summary.calibration.bins.iter().map(|bin| bin.claims).sum();
    let by_parameter = summary.calibration_by.iter().flat_map(|(_, one)| &one.bins).map(|bin| bin.claims);
    assert_eq!(claims, by_parameter.sum::<u32>());

    let printed = text(&fleet, &summary);
    for (parameter, _) in &summary.inspect {
        assert!(printed.contains(parameter.words()), "{printed}");
    }
    let page = html(&fleet, &summary);
    assert!(page.contains("<svg") && page.contains("--show") != summary.worst.is_empty());
    assert!(!page.contains("http"), "the page loads nothing");
}

#[test]
fn what_is_done_is_kept_when_it_is_stopped() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    let fleet = pool.install(|| sailed(plan(20, false), 2));
    assert_eq!(fleet.devices.len(), 2);
    assert!(text(&fleet, &Summary::of(&fleet)).contains("stopped early: 20 were asked for"));
}

#[test]
fn a_budget_too_small_is_no_crash_and_no_guess() {
    let mut plan = plan(4, false);
    plan.limits.max_write = Some(flashscope_units::Bytes::ZERO);
    let fleet = sailed(plan, u32::MAX);
    let summary = Summary::of(&fleet);
    assert!(summary.failures.is_empty(), "{:?}", summary.failures);
    let row = summary.row(Reader::Inspect, Parameter::OpenInOrder);
    assert_eq!((row.devices, row.silent + row.missed), (4, 4), "nothing may be said of writes that were not done");
}
