//! Known devices in, right answers out: `inspect` on every model of the catalogue, over several seeds, against the truth.

use flashscope_device::{Target, WriteGrant};
use flashscope_model::StopReason;
use flashscope_model::finding::AreaKind;
use flashscope_model::plan::Budget;
use flashscope_model::{Estimate, Geometry};
use flashscope_proof::Nobody;
use flashscope_proof::twins::FITTED;
use flashscope_session::{Options, inspect};
use flashscope_sim::truth::{self, Fact, Truth};
use flashscope_units::Bytes;
use std::fmt::Debug;

fn inspected(spec: &str, seed: u64) -> Geometry {
    let mut target = flashscope_sim::open(spec, seed).expect("a model of the catalogue");
    let budget = Bytes::gib(2).min(target.facts().capacity / 10);
    let mut grant = WriteGrant::simulated(target.facts(), budget).expect("simulated devices may be written to");
    let options = Options { seed, budget: Budget { write: budget, time: None } };
    let report = inspect(&mut target, Some(&mut grant), options, &mut Nobody);
    assert_eq!(report.stop, StopReason::Complete, "{spec}");
    assert!(report.observations.spent().written <= budget, "{spec}: the budget is kept");
    report.findings.geometry
}

/// A finding is right when it is the value or an alias of it, or a bound that holds where a bound is a right answer, or
/// no answer where the device does not show it.
fn wrong<T: PartialOrd + PartialEq + Copy + Debug>(
    name: &str,
    fact: &Fact<T>,
    estimate: &Estimate<T>,
) -> Option<String> {
    let says =
        |what: String| Some(format!("{name}: {what}, but the truth is {fact:?}; evidence: {}", estimate.evidence()));
    if let Some(value) = estimate.value() {
        let right = fact.value == Some(value) || fact.aliases.contains(&value);
        return if right { None } else { says(format!("found {value:?}")) };
    }
    if let Some(least) = estimate.least() {
        let holds = fact.value.is_none_or(|value| least <= value);
        // Without a limit any bound is right; with one, a bound must come as far as the truth says one need look.
        let enough = !fact.can_be_told || fact.value.is_none() || fact.at_least.is_some_and(|allowed| least >= allowed);
        return if holds && enough { None } else { says(format!("found at least {least:?}")) };
    }
    if fact.can_be_told && fact.value.is_some() {
        return says(format!("cannot tell ({:?}: {})", estimate.reason(), estimate.evidence()));
    }
    None
}

fn wrong_area(truth: &Truth, geometry: &Geometry) -> Option<String> {
    let found = geometry.fast_area.value().filter(|area| area.kind != AreaKind::None);
    match (truth.fast_area.value.filter(|area| area.kind != AreaKind::None), found) {
        (None, None) => None,
        (Some(truth), Some(found)) if (found.first, found.end, found.kind) == (truth.first, truth.end, truth.kind) => {
            None
        }
        (truth, found) => Some(format!("fast area: found {found:?}, but the truth is {truth:?}")),
    }
}

/// The penalty is stated at one block size and must be within a quarter of the truth there.
fn wrong_penalty(truth: &Truth, geometry: &Geometry) -> Option<String> {
    // Of what is no surer than this one in four is wrong, as it says.
    let claimed = geometry.random_order_penalty.confidence().is_some_and(|confidence| confidence > 0.75);
    let found = geometry.random_order_penalty.value().filter(|_| claimed)?;
    let right = truth.random_order_penalty.iter().find(|penalty| penalty.block == found.block)?;
    // A trial may stop before the unit is full, so anything between the two truths is right as well.
    let (low, high) = (right.ratio.min(right.at_first) / 1.25, right.ratio.max(right.at_first) * 1.25);
    (!(low..=high).contains(&found.ratio))
        .then(|| format!("penalty {:.1} at {}, but the truth is {:.1}", found.ratio, found.block, right.ratio))
}

fn check(model: &str) {
    check_seeds(model, 4);
}

fn check_seeds(model: &str, seeds: u64) {
    let truth = truth::of(model, |_| Err("no files".to_owned())).expect("every model has a truth");
    let mut faults = Vec::new();
    for seed in 1..=seeds {
        let found = inspected(model, seed);
        let here = [
            wrong("allocation unit", &truth.allocation_unit, &found.allocation_unit),
            wrong("page", &truth.page, &found.page),
            wrong("inner page", &truth.page_inner, &found.page_inner),
            wrong("open units in order", &truth.open_units_linear, &found.open_units_linear),
            wrong("open units random", &truth.open_units_random, &found.open_units_random),
            wrong("small-write path", &truth.small_write_path, &found.small_write_path.clone().map(|path| path.size)),
            wrong_area(&truth, &found),
            wrong_penalty(&truth, &found),
        ];
        faults.extend(here.into_iter().flatten().map(|fault| format!("seed {seed}: {fault}")));
    }
    assert!(faults.is_empty(), "{model}:\n{}", faults.join("\n"));
}

#[test]
fn the_catalogue_is_tested_whole() {
    let by_hand = [
        "sd-4mib",
        "emmc-write-align",
        "emmc-cached",
        "sd-24mib",
        "sd-worn",
        "sd-flat",
        "ssd-consumer",
        "emmc-phone",
        "ssd-budget",
    ];
    let tested: Vec<&str> = by_hand.into_iter().chain(FITTED.iter().map(|twin| twin.model)).collect();
    let names: Vec<&str> = flashscope_sim::catalogue().iter().map(|entry| entry.name).collect();
    assert!(names.iter().all(|name| tested.contains(name)), "add a test for each of {names:?}");
}

#[test]
fn sd_4mib() {
    check("sd-4mib");
}

#[test]
fn emmc_write_align() {
    check("emmc-write-align");
}

#[test]
fn emmc_cached() {
    check_seeds("emmc-cached", 2);
}

#[test]
fn sd_24mib() {
    check("sd-24mib");
}

#[test]
fn sd_worn() {
    check("sd-worn");
}

#[test]
fn sd_flat() {
    check("sd-flat");
}

#[test]
fn ssd_consumer() {
    check("ssd-consumer");
}

/// Fitted twins have nothing that the others lack: two seeds each keep the test short.
#[test]
fn emmc_phone() {
    check("emmc-phone");
}

#[test]
fn ssd_budget() {
    check("ssd-budget");
}

#[test]
fn fitted_twins() {
    FITTED.iter().for_each(|twin| check_seeds(twin.model, 2));
}
