//! A run keeps its limits: of time within an experiment, not only between two; and different purposes draw differently.

use flashscope_device::{Target, WriteGrant};
use flashscope_model::plan::Budget;
use flashscope_model::run::Ended;
use flashscope_proof::Nobody;
use flashscope_session::{Options, SessionReport, inspect};
use flashscope_units::{Bytes, Nanos};

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
        assert_eq!(report.ended, Ended::BudgetSpent);
        // A single request may take long, and progress is looked at every 50 ms.
        assert!(report.cost.time >= time && report.cost.time < time + Nanos::secs(1), "{}", report.cost.time);
        let note =
            report.findings.notes.iter().find(|note| note.text.contains("--max-time")).expect("which budget it was");
        assert!(note.text.contains("open units"), "{note:?}");
    }
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
