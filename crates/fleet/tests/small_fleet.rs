//! Small fleets, whole: drawn, inspected, scored, counted and printed.

use flashscope_fleet::{
    DeviceRun, Fleet, Generator, Joined, Limits, MaxWrite, Noise, Parameter, Plan, Reader, Summary, Verdict, Watch,
    part, record, sail, sail_alone,
};
use flashscope_model::Finding;
use flashscope_model::envelope::{Envelope, Kind, Tool};
use flashscope_model::fleet::FleetRecord;
use flashscope_record::to_json;
use flashscope_report::fleet::{html, text};
use flashscope_units::Nanos;
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts, and stops after so many.
struct Counter {
    done: AtomicU32,
    most: u32,
}

impl Watch for Counter {
    fn clock(&self) -> Nanos {
        Nanos::ZERO
    }

    fn done(&self, _device: &DeviceRun) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn stop(&self) -> bool {
        self.done.load(Ordering::Relaxed) >= self.most
    }
}

fn plan(devices: u32, by_hand: bool) -> Plan {
    Plan {
        devices,
        first: 0,
        seed: 8,
        generator: Generator::Field,
        noise: Some(Noise::Bench),
        limits: Limits { max_write: MaxWrite::Usual, max_time: None, by_hand, most_work: Limits::USUAL_WORK },
    }
}

fn sailed(plan: Plan, most: u32) -> Fleet {
    let watch = Counter { done: AtomicU32::new(0), most };
    sail(plan, &watch).expect("devices can be drawn")
}

fn recorded(fleet: &Fleet) -> FleetRecord {
    record(Envelope::new(Kind::Fleet, Tool::default(), "fleet", "fleet"), fleet, &Summary::of(fleet))
}

#[test]
fn the_outcome_depends_on_the_plan_alone() {
    let plan = plan(5, true);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    let three = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
    let alone = one.install(|| sailed(plan, u32::MAX));
    let together = three.install(|| sailed(plan, u32::MAX));
    assert_eq!(to_json(&recorded(&alone)), to_json(&recorded(&together)));
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
    let page = summary.row(Reader::Inspect, Parameter::Of(Finding::Page));
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

    let printed = text(&recorded(&fleet));
    for (parameter, _) in &summary.inspect {
        assert!(printed.contains(parameter.words()), "{printed}");
    }
    let page = html(&recorded(&fleet));
    assert!(page.contains("<svg") && page.contains("--show") != summary.worst.is_empty());
    // The banner of a vendored script names its authors' address, which nothing follows.
    let scripts = page.split("<script");
    let outside: String = scripts.map(|part| part.split_once("</script>").map_or(part, |(_, rest)| rest)).collect();
    assert!(!outside.contains("://"), "the page loads nothing");
}

#[test]
fn what_is_done_is_kept_when_it_is_stopped() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    let fleet = pool.install(|| sailed(plan(20, false), 2));
    assert_eq!(fleet.devices.len(), 2);
    assert!(text(&recorded(&fleet)).contains("stopped early: 20 were asked for"));
}

#[test]
fn a_budget_too_small_is_no_crash_and_no_guess() {
    let mut plan = plan(4, false);
    plan.limits.max_write = MaxWrite::Size(flashscope_units::Bytes::ZERO);
    let fleet = sailed(plan, u32::MAX);
    let summary = Summary::of(&fleet);
    assert!(summary.failures.is_empty(), "{:?}", summary.failures);
    let row = summary.row(Reader::Inspect, Parameter::Of(Finding::OpenUnitsLinear));
    assert_eq!((row.devices, row.silent + row.missed), (4, 4), "nothing may be said of writes that were not done");
}

/// A clock on which every reading takes a second.
struct Ticking {
    readings: AtomicU32,
    failed: AtomicU32,
}

impl Watch for Ticking {
    fn clock(&self) -> Nanos {
        Nanos::secs(self.readings.fetch_add(1, Ordering::Relaxed).into())
    }

    fn done(&self, device: &DeviceRun) {
        self.failed.fetch_add(device.failure.is_some().into(), Ordering::Relaxed);
    }

    fn stop(&self) -> bool {
        false
    }
}

#[test]
fn a_device_that_takes_too_long_is_given_up_and_named() {
    let mut plan = plan(3, true);
    plan.limits.most_work = Nanos::secs(4);
    let watch = Ticking { readings: AtomicU32::new(0), failed: AtomicU32::new(0) };
    let fleet = sail(plan, &watch).expect("devices can be drawn");
    let summary = Summary::of(&fleet);
    assert_eq!((fleet.devices.len(), watch.failed.load(Ordering::Relaxed)), (3, 3));
    assert_eq!(summary.failures.iter().map(|(index, _)| *index).collect::<Vec<u32>>(), [0, 1, 2]);
    assert!(summary.failures.iter().all(|(_, why)| why.contains("not finished")), "{:?}", summary.failures);
    assert!(fleet.devices.iter().all(|device| device.work > plan.limits.most_work), "what it took is known");
    assert!(text(&recorded(&fleet)).contains("no result for device 2"));
}

#[test]
fn a_fleet_joined_of_parts_is_the_fleet_of_one_host() {
    let plan = plan(5, true);
    let whole = sailed(plan, u32::MAX);
    let watch = Counter { done: AtomicU32::new(0), most: u32::MAX };
    let mut joined = Joined::new(plan, "1");
    // In any order, and one of them twice.
    for (first, devices) in [(3, 2), (0, 2), (2, 1), (0, 2)] {
        let range = sail_alone(Plan { first, devices, ..plan }, &watch).expect("devices can be drawn");
        let text = part("1", &range);
        assert!(!text.contains('\n'));
        joined.add(&text).expect("a part of it");
    }
    let other = part("1", &sail_alone(Plan { first: 0, devices: 1, seed: 9, ..plan }, &watch).expect("drawn"));
    for odd in [other.as_str(), &other.replace("\"version\":\"1\"", "\"version\":\"2\""), "{}", ""] {
        assert!(joined.add(odd).is_err(), "{odd}");
    }
    let joined = joined.fleet();
    assert_eq!(joined, whole);
    assert_eq!(to_json(&recorded(&joined)), to_json(&recorded(&whole)));
}
