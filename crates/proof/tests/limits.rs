//! A run keeps its limits: of time within an experiment, not only between two; and different purposes draw differently.

use flashscope_device::{Target, WriteGrant, forward};
use flashscope_model::plan::Budget;
use flashscope_model::{DeviceFacts, StopReason};
use flashscope_proof::Nobody;
use flashscope_session::{Options, SessionReport, inspect};
use flashscope_sim::SimTarget;
use flashscope_units::{Bytes, Nanos};
use std::cell::Cell;

fn run(spec: &str, time: Nanos) -> SessionReport {
    let mut target = flashscope_sim::open(spec, 1).expect("a model of the catalogue");
    let write = Bytes::gib(1).min(target.facts().capacity / 10);
    let mut grant = WriteGrant::simulated(target.facts(), write).expect("simulated devices may be written to");
    inspect(&mut target, Some(&mut grant), Options { seed: 1, budget: Budget { write, time: Some(time) } }, &mut Nobody)
}

#[test]
fn the_time_ends_a_long_experiment() {
    for seconds in [2, 20] {
        let time = Nanos::secs(seconds);
        let report = run("sd-4mib", time);
        assert_eq!(report.stop, StopReason::BudgetSpent);
        // A single request may take long, and progress is looked at every 50 ms.
        // What no experiment fits into is left.
        assert!(report.cost.time * 10 >= time * 9 && report.cost.time < time + Nanos::secs(1), "{}", report.cost.time);
        let note =
            report.findings.notes.iter().find(|note| note.text.contains("--max-time")).expect("which budget it was");
        assert!(note.text.contains("open units"), "{note:?}");
    }
}

/// Says a smaller size as soon as a plan is made for the larger one: no plan of ours fits it.
struct Shrinking {
    inner: SimTarget,
    small: DeviceFacts,
    asked: Cell<u32>,
}

impl Target for Shrinking {
    forward!(inner: capabilities, path, now, submit, reap, wait_until, wear);

    fn facts(&self) -> &DeviceFacts {
        self.asked.set(self.asked.get() + 1);
        if self.asked.get() > 2 { &self.small } else { self.inner.facts() }
    }
}

/// A plan that does not fit the device is nobody's budget: the record says that flashscope is at fault.
#[test]
fn a_fault_of_ours_is_said_to_be_one() {
    let inner = flashscope_sim::open("sd-flat", 1).expect("a model of the catalogue");
    let small = DeviceFacts { capacity: Bytes(512), ..inner.facts().clone() };
    let mut target = Shrinking { inner, small, asked: Cell::new(0) };
    let options = Options { seed: 1, budget: Budget { write: Bytes::ZERO, time: None } };
    let report = inspect(&mut target, None, options, &mut Nobody);
    let StopReason::InternalError(what) = &report.stop else { panic!("{:?}", report.stop) };
    assert!(what.contains("does not fit this device"), "{what}");
}

#[test]
fn a_file_is_no_card() {
    use flashscope_model::{DeviceKind, Observations};
    let report = run("sd-4mib", Nanos::secs(100_000));
    let mut target = flashscope_sim::open("sd-4mib", 1).expect("a model of the catalogue").facts().clone();
    let advice = |kind, target: &mut flashscope_model::DeviceFacts, seen: &Observations| {
        target.kind = kind;
        flashscope_infer::infer_on(Some(target), seen)
    };
    let card = advice(DeviceKind::Emulated, &mut target, &report.observations);
    assert!(!card.advice.is_empty() && card.geometry.allocation_unit.confidence() > Some(0.9));
    for kind in [DeviceKind::File, DeviceKind::Loop] {
        let file = advice(kind, &mut target, &report.observations);
        assert!(file.advice.is_empty(), "{:?}", file.advice);
        assert!(file.geometry.allocation_unit.confidence().is_none_or(|confidence| confidence <= 0.5));
        assert!(file.notes[0].text.contains("not the card"), "{:?}", file.notes[0]);
    }
}

#[test]
fn what_is_said_before_a_run_holds_after_it() {
    for spec in ["sd-4mib", "sd-worn", "ssd-consumer"] {
        let target = flashscope_sim::open(spec, 1).expect("a model of the catalogue");
        let write = Bytes::gib(1).min(target.facts().capacity / 10);
        let said = flashscope_infer::outlook(target.facts(), Budget { write, time: None });
        let cost = run(spec, Nanos::secs(100_000)).cost;
        assert!(cost.written <= said.will_write_at_most, "{spec}: {} {said:?}", cost.written);
        assert!(cost.read < said.will_read_about * 3, "{spec}: {} {said:?}", cost.read);
        assert!(cost.read * 3 > said.will_read_about, "{spec}: {} {said:?}", cost.read);
        assert!(cost.time < said.time.1, "{spec}: {} {said:?}", cost.time);
    }
}
