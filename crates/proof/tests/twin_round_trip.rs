//! A twin of a device that is known: simulated device → `inspect` → record → fitted model. The fitted model must be true to
//! what was found, and `inspect` must say the same of it as of the original.

use flashscope_device::{Target, WriteGrant};
use flashscope_fleet::{Generator, Noise};
use flashscope_model::envelope::{Envelope, Kind, Tool};
use flashscope_model::finding::{AreaKind, BufferLimit};
use flashscope_model::plan::Budget;
use flashscope_model::run::Cost;
use flashscope_model::{Estimate, Geometry, RunRecord, twin};
use flashscope_proof::Nobody;
use flashscope_session::{Options, inspect};
use flashscope_sim::SimTarget;
use flashscope_sim::truth::{self, Fact, Truth};
use flashscope_twin::{Fit, Measured, Origin, Outcome, Part, Unattended};
use flashscope_units::Bytes;
use std::collections::BTreeMap;
use std::fmt::Debug;

fn opened(text: &str, seed: u64) -> SimTarget {
    flashscope_sim::open_with("model.toml", seed, |_| Ok(text.to_owned())).expect("a model")
}

/// The record of a whole run, as it comes back from a file.
fn record(text: &str, seed: u64) -> RunRecord {
    let mut target = opened(text, seed);
    let budget = Bytes::gib(2).min(target.facts().capacity / 10);
    let mut grant = WriteGrant::simulated(target.facts(), budget).expect("simulated devices may be written to");
    let options = Options { seed, budget: Budget { write: budget, time: None } };
    let report = inspect(&mut target, Some(&mut grant), options, &mut Nobody);
    let envelope = Envelope {
        device: Some(target.facts().clone()),
        path: Some(target.path()),
        cost: Some(Cost { erases: None, ..report.cost }),
        stop: report.stop,
        ..Envelope::new(Kind::Inspect, Tool::default(), "inspect", "sim:model.toml")
    };
    let record =
        RunRecord { envelope, plan: report.plan, observations: report.observations, findings: report.findings };
    flashscope_record::from_json(&flashscope_record::to_json(&record)).expect("what was written can be read")
}

fn fitted(record: RunRecord) -> Fit {
    let measured = Measured::of(vec![Part::of_record("record".to_owned(), record)]).expect("a whole run is enough");
    flashscope_twin::fit(&measured, "twin of a known device", &mut Unattended).expect("a twin")
}

/// What was found of the original must be true of the twin; what was not found may be anything.
fn untrue<T: PartialEq + PartialOrd + Copy + Debug>(what: &str, found: &Estimate<T>, twin: &Fact<T>) -> Option<String> {
    let is = twin.value;
    let holds = match found.value() {
        Some(value) => is == Some(value) || twin.aliases.contains(&value),
        None => found.least().is_none_or(|least| is.is_none_or(|value| value >= least)),
    };
    (!holds).then(|| format!("{what}: found {:?} of the original, the twin has {twin:?}", found.value()))
}

fn untruths(found: &Geometry, twin: &Truth) -> Vec<String> {
    let area = |first: Bytes, end: Bytes, kind: AreaKind| (kind != AreaKind::None).then_some((first, end));
    let areas = (
        found.fast_area.value().and_then(|found| area(found.first, found.end, found.kind)),
        twin.fast_area.value.and_then(|twin| area(twin.first, twin.end, twin.kind)),
    );
    [
        untrue("allocation unit", &found.allocation_unit, &twin.allocation_unit),
        untrue("page", &found.page, &twin.page),
        untrue("inner page", &found.page_inner, &twin.page_inner),
        untrue("open units in order", &found.open_units_linear, &twin.open_units_linear),
        untrue("open units random", &found.open_units_random, &twin.open_units_random),
        untrue("small-write path", &found.small_write_path.clone().map(|path| path.size), &twin.small_write_path),
        (areas.0 != areas.1).then(|| format!("area: found {:?} of the original, the twin has {:?}", areas.0, areas.1)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Two runs say the same where both say something.
fn contradictions(original: &Geometry, twin: &Geometry) -> Vec<String> {
    fn differ<T: PartialEq + Copy + Debug>(what: &str, left: &Estimate<T>, right: &Estimate<T>) -> Option<String> {
        let (left, right) = (left.value()?, right.value()?);
        (left != right).then(|| format!("{what}: {left:?} of the original, {right:?} of the twin"))
    }
    [
        differ("allocation unit", &original.allocation_unit, &twin.allocation_unit),
        differ("page", &original.page, &twin.page),
        differ("open units in order", &original.open_units_linear, &twin.open_units_linear),
        differ("open units random", &original.open_units_random, &twin.open_units_random),
        differ("small-write path", &original.small_write_path, &twin.small_write_path),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn twins_of_random_cards_are_true_to_them() {
    let mut faults = Vec::new();
    let mut closeness = Vec::new();
    let mut doubtful = 0;
    for index in 0..DEVICES {
        let drawn = flashscope_fleet::draw(Generator::Field, SEED, index, Some(Noise::Bench)).expect("draws");
        let record = record(&drawn.text, drawn.seed);
        let found = record.findings.geometry.clone();
        if found.allocation_unit.confidence() < Some(SURE) {
            // Everything else is counted in units: of a card whose unit is doubtful, so is the twin.
            doubtful += 1;
            continue;
        }
        let fit = fitted(record);
        let truth = truth::of("twin.toml", |_| Ok(fit.model.clone())).expect("the twin is a model");
        let again = self::record(&fit.model, drawn.seed).findings.geometry;
        closeness.push(fit.goodness.within());
        let here = untruths(&found, &truth).into_iter().chain(contradictions(&found, &again));
        faults.extend(here.map(|fault| format!("{index} ({}): {fault}", drawn.title)));
    }
    assert!(faults.is_empty(), "{}\n{closeness:.2?}", faults.join("\n"));
    // One in five of such cards shows no step at a unit's edge.
    assert!(doubtful <= DEVICES / 2, "{doubtful} of {DEVICES} units are doubtful");
    let mean = closeness.iter().sum::<f64>() / closeness.len() as f64;
    assert!(mean >= LEAST_CLOSENESS, "{closeness:.2?}");
}

/// Devices of the fleet with this seed.
const DEVICES: u32 = 8;
const SEED: u64 = 404;
/// Share of the figures within 15 %, in the mean over the devices.
const LEAST_CLOSENESS: f64 = 0.6;
/// Of a unit that the twin is to have.
const SURE: f64 = 0.9;

/// A model of the catalogue, changed on the spot.
fn model(spec: &str) -> String {
    flashscope_sim::show(spec, false, |_| Err("no files".to_owned())).expect("a model of the catalogue")
}

#[test]
fn a_twin_has_the_buffers_of_its_original() {
    let record = record(&model("emmc-cached"), 7);
    let found = record.findings.geometry.clone();
    let fit = fitted(record);
    for path in ["write_buffer.size", "read_buffer.size", "read_ahead.window", "write_buffer.volatile"] {
        let parameter = fit.parameters.iter().find(|parameter| parameter.path == path);
        let parameter = parameter.unwrap_or_else(|| panic!("{path}: {}", fit.model));
        assert!(matches!(&parameter.origin, Origin::Found(_)), "{parameter:?}");
    }
    let twin = self::record(&fit.model, 7).findings.geometry;
    assert_eq!(
        found.write_buffer.value().map(|buffer| (buffer.size, buffer.limit)),
        Some((Bytes::kib(256), BufferLimit::Bytes))
    );
    assert_eq!(twin.write_buffer.value(), found.write_buffer.value(), "{:?}", twin.write_buffer);
    assert_eq!(
        twin.write_buffer_volatile.value(),
        found.write_buffer_volatile.value(),
        "{:?}",
        twin.write_buffer_volatile
    );
    assert_eq!(found.read_buffer.value(), Some(Bytes::kib(64)));
    assert_eq!(twin.read_buffer.value(), found.read_buffer.value(), "{:?}", twin.read_buffer);
    assert_eq!(found.read_ahead.value().map(|ahead| ahead.window), Some(Bytes::kib(128)));
    assert_eq!(twin.read_ahead.value(), found.read_ahead.value(), "{:?}", twin.read_ahead);
}

#[test]
fn units_of_a_twin_begin_where_those_of_its_original_do() {
    for hidden in ["1632KiB", "3MiB"] {
        let record = record(&model(&format!("sd-4mib,mapping.hidden={hidden}")), 7);
        let found = record.findings.geometry.clone();
        assert!(
            found.boundary_offset.value().is_some_and(|offset| offset > Bytes::ZERO),
            "{:?}",
            found.boundary_offset
        );
        let fit = fitted(record);
        let truth = truth::of("twin.toml", |_| Ok(fit.model.clone())).expect("the twin is a model");
        assert_eq!(truth.boundary_offset.value, found.boundary_offset.value(), "{}", fit.model);
        assert_eq!(untruths(&found, &truth), Vec::<String>::new(), "{hidden}");
        let twin = self::record(&fit.model, 7).findings.geometry;
        assert_eq!(twin.allocation_unit.value(), found.allocation_unit.value(), "{:?}", twin.allocation_unit);
        assert_eq!(twin.boundary_offset.value(), found.boundary_offset.value(), "{:?}", twin.boundary_offset);
    }
}

/// Every estimate of a record by its name: an object that says how sure it is, or why it is not known.
fn estimates(value: &serde_json::Value, named: &str, found: &mut BTreeMap<String, bool>) {
    let Some(object) = value.as_object() else { return };
    if object.contains_key("confidence") {
        found.insert(named.to_owned(), object["confidence"].is_number());
        return;
    }
    object.iter().for_each(|(name, value)| estimates(value, name, found));
}

#[test]
fn nothing_that_was_found_of_a_drive_is_left_out_in_silence() {
    let record = record(&model("ssd-consumer"), 7);
    let json: serde_json::Value = serde_json::from_str(&flashscope_record::to_json(&record)).expect("a record is JSON");
    let mut all = BTreeMap::new();
    estimates(&json["geometry"], "", &mut all);
    let fit = fitted(record);
    let told: BTreeMap<String, bool> =
        fit.findings.iter().map(|finding| (finding.finding.wire().to_owned(), finding.figure.is_some())).collect();
    assert_eq!(told, all, "a finding of the record is missing, or it is not said of one whether it was found");

    let told = fit.told(Envelope::new(Kind::Twin, Tool::default(), "twin fit", ""));
    let text = flashscope_report::twin::text(&told, false);
    for finding in &fit.findings {
        let listed = told.findings.iter().find(|listed| listed.name == finding.finding.wire()).expect("all of them");
        match &finding.outcome {
            Outcome::Held(_) => assert_eq!(listed.outcome, twin::Outcome::Held),
            Outcome::NotHeld(why) => {
                assert_eq!((listed.outcome, listed.why.as_ref()), (twin::Outcome::NotHeld, Some(why)));
                assert!(text.contains(why) && text.contains(finding.finding.label()), "{finding:?}\n{text}");
            }
            Outcome::Unknown(..) => assert_eq!(listed.outcome, twin::Outcome::Unknown),
        }
    }
    for name in ["mapping", "stripe", "parallel_units"] {
        let finding = fit.findings.iter().find(|finding| finding.finding.wire() == name).expect("it is one of them");
        assert!(matches!(finding.outcome, Outcome::NotHeld(_)), "{finding:?}");
    }
    assert!(fit.caution.is_some() && text.contains("maps by page, and this twin is a card"), "{text}");
    assert!(fit.model.starts_with("# the measured device maps by page"), "{}", fit.model);
    opened(&fit.model, 1);
}
