//! A device that was never written answers reads without touching its flash. `inspect` fills a part of it and must then
//! find there what it finds on a device that is full.

use flashscope_device::{Target, WriteGrant};
use flashscope_model::StopReason;
use flashscope_model::plan::Budget;
use flashscope_model::{Estimate, Geometry};
use flashscope_proof::Nobody;
use flashscope_session::{Options, inspect};
use flashscope_sim::truth::{self, Fact};
use flashscope_units::Bytes;

fn inspected(spec: &str, seed: u64) -> Geometry {
    let mut target = flashscope_sim::open(spec, seed).expect("a model of the catalogue");
    let budget = Bytes::gib(2).min(target.facts().capacity / 10);
    let mut grant = WriteGrant::simulated(target.facts(), budget).expect("simulated devices may be written to");
    let options = Options { seed, budget: Budget { write: budget, time: None } };
    let report = inspect(&mut target, Some(&mut grant), options, &mut Nobody);
    assert_eq!(report.stop, StopReason::Complete, "{spec}");
    report.findings.geometry
}

fn fault(name: &str, fact: &Fact<Bytes>, found: &Estimate<Bytes>) -> Option<String> {
    let right = found.value().is_some() && found.value() == fact.value;
    (!right).then(|| format!("{name}: the truth is {fact:?}, but found {found:?}"))
}

fn check(model: &str) {
    let truth = truth::of(model, |_| Err("no files".to_owned())).expect("every model has a truth");
    let mut faults = Vec::new();
    for seed in 1..=3 {
        let found = inspected(&format!("{model},state=blank"), seed);
        let here = [
            fault("allocation unit", &truth.allocation_unit, &found.allocation_unit),
            fault("page", &truth.page, &found.page),
        ];
        faults.extend(here.into_iter().flatten().map(|fault| format!("seed {seed}: {fault}")));
    }
    assert!(faults.is_empty(), "{model}:\n{}", faults.join("\n"));
}

#[test]
fn sd_4mib() {
    check("sd-4mib");
}

#[test]
fn sd_24mib() {
    check("sd-24mib");
}

#[test]
fn more_units_are_written_in_turn_than_the_region_to_read_holds() {
    let spec = "sd-24mib,state=blank,mapping.logs_in_order=50,mapping.logs_random=0";
    let found = inspected(spec, 1).open_units_linear;
    let truth = truth::of(spec, |_| Err("no files".to_owned())).expect("a model of the catalogue").open_units_linear;
    assert_eq!((found.value(), truth.value), (Some(50), Some(50)), "{found:?}");
}
