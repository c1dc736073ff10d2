//! What came of some devices of a fleet, as one line of text, so that they can be found by many hosts and counted up by one.
//!
//! Nothing of it is rounded: confidences travel as the bits of their numbers, so that a fleet that is joined of parts is the fleet
//! that one host would have found, byte for byte, processor times apart.

use crate::run::{DeviceRun, Scored};
use crate::score::{Judged, Parameter};
use crate::{Fleet, Plan};
use flashscope_model::fleet::{Coverage, DeviceCost, Verdict};
use flashscope_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of this format.
const SCHEMA: &str = "flashscope.fleet-part/1";

/// A part of a fleet that cannot be joined; why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartError(String);

impl std::fmt::Display for PartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::error::Error for PartError {}

#[derive(Serialize, Deserialize)]
struct PartText {
    schema: String,
    version: String,
    generator: String,
    noise: Option<String>,
    seed: u64,
    first: u32,
    devices: Vec<DeviceText>,
}

#[derive(Serialize, Deserialize)]
struct DeviceText {
    index: u32,
    seed: u64,
    title: String,
    failure: Option<String>,
    findings: Vec<ScoredText>,
    naive: Vec<ScoredText>,
    log: Vec<ScoredText>,
    intervals: u32,
    hold: u32,
    cost: CostText,
    geometry_cost: CostText,
    by_hand_cost: Option<CostText>,
    complete: bool,
    work_ns: u64,
}

#[derive(Serialize, Deserialize)]
struct ScoredText {
    parameter: String,
    verdict: String,
    false_alarm: bool,
    /// The bits of the confidence, and whether the claim is true.
    claim: Option<(u64, bool)>,
    said: String,
    truth: String,
    because: String,
    declared: bool,
    can_be_told: bool,
}

#[derive(Serialize, Deserialize)]
struct CostText {
    read: u64,
    written: u64,
    erases: u64,
    programmed: u64,
    time_ns: u64,
}

/// A verdict in parts and in `--json`.
pub(crate) fn word(verdict: Verdict) -> &'static str {
    VERDICTS.iter().find(|(one, _)| *one == verdict).map_or("", |(_, word)| word)
}

/// Words of verdicts in parts.
const VERDICTS: [(Verdict, &str); 5] = [
    (Verdict::Exact, "exact"),
    (Verdict::OneStep, "one_step"),
    (Verdict::Wrong, "wrong"),
    (Verdict::Silent, "silent"),
    (Verdict::Unscored, "unscored"),
];

/// What came of a part of a fleet, by this version of the program, in one line.
pub fn part(version: &str, fleet: &Fleet) -> String {
    let plan = &fleet.plan;
    let text = PartText {
        schema: SCHEMA.to_owned(),
        version: version.to_owned(),
        generator: plan.generator.name().to_owned(),
        noise: plan.noise.map(|noise| noise.name().to_owned()),
        seed: plan.seed,
        first: plan.first,
        devices: fleet.devices.iter().map(device).collect(),
    };
    // Plain data: there is nothing in it that JSON cannot say.
    serde_json::to_string(&text).unwrap_or_default()
}

/// A fleet that is joined of parts in any order. A device that came twice counts once.
#[derive(Clone, Debug)]
pub struct Joined {
    plan: Plan,
    version: String,
    devices: BTreeMap<u32, DeviceRun>,
}

impl Joined {
    /// A fleet of this plan whose parts all have to be of this version.
    pub fn new(plan: Plan, version: &str) -> Joined {
        Joined { plan, version: version.to_owned(), devices: BTreeMap::new() }
    }

    /// Takes a part. Answers the devices that are new.
    ///
    /// # Errors
    /// It is no part of this fleet, or of another version.
    pub fn add(&mut self, text: &str) -> Result<Vec<&DeviceRun>, PartError> {
        let odd = |what: &str| PartError(format!("a part of the fleet cannot be read: {what}"));
        let part: PartText = serde_json::from_str(text).map_err(|error| odd(&error.to_string()))?;
        if part.schema != SCHEMA || part.version != self.version {
            return Err(odd(&format!("it is {} of version {}", part.schema, part.version)));
        }
        let plan = &self.plan;
        let noise = plan.noise.map(|noise| noise.name());
        if (part.generator.as_str(), part.noise.as_deref(), part.seed) != (plan.generator.name(), noise, plan.seed) {
            return Err(odd("it is of another fleet"));
        }
        let all = plan.first..plan.first.saturating_add(plan.devices);
        let mut new = Vec::new();
        for text in part.devices {
            let run = run(text).ok_or_else(|| odd("it says what nobody knows"))?;
            if !all.contains(&run.index) {
                return Err(odd("it is of other devices"));
            }
            let index = run.index;
            if self.devices.insert(index, run).is_none() {
                new.push(index);
            }
        }
        Ok(new.into_iter().filter_map(|index| self.devices.get(&index)).collect())
    }

    /// The fleet as far as its parts have come, its devices in order.
    pub fn fleet(self) -> Fleet {
        Fleet { plan: self.plan, devices: self.devices.into_values().collect() }
    }
}

fn device(run: &DeviceRun) -> DeviceText {
    let scored = |all: &[Scored]| all.iter().map(scored).collect();
    DeviceText {
        index: run.index,
        seed: run.seed,
        title: run.title.clone(),
        failure: run.failure.clone(),
        findings: scored(&run.findings),
        naive: scored(&run.naive),
        log: scored(&run.log),
        intervals: run.coverage.intervals,
        hold: run.coverage.hold,
        cost: cost(&run.cost),
        geometry_cost: cost(&run.geometry_cost),
        by_hand_cost: run.by_hand_cost.as_ref().map(cost),
        complete: run.complete,
        work_ns: run.work.get(),
    }
}

fn run(text: DeviceText) -> Option<DeviceRun> {
    let scored = |all: Vec<ScoredText>| all.into_iter().map(scored_of).collect::<Option<Vec<Scored>>>();
    Some(DeviceRun {
        index: text.index,
        seed: text.seed,
        title: text.title,
        failure: text.failure,
        findings: scored(text.findings)?,
        naive: scored(text.naive)?,
        log: scored(text.log)?,
        coverage: Coverage { intervals: text.intervals, hold: text.hold },
        cost: cost_of(&text.cost),
        geometry_cost: cost_of(&text.geometry_cost),
        by_hand_cost: text.by_hand_cost.as_ref().map(cost_of),
        complete: text.complete,
        work: Nanos(text.work_ns),
    })
}

fn scored(scored: &Scored) -> ScoredText {
    let Judged { parameter, verdict, false_alarm, claim, said, truth, because, declared } = scored.judged.clone();
    ScoredText {
        parameter: parameter.field().to_owned(),
        verdict: word(verdict).to_owned(),
        false_alarm,
        claim: claim.map(|(stated, holds)| (stated.to_bits(), holds)),
        said,
        truth,
        because,
        declared,
        can_be_told: scored.can_be_told,
    }
}

/// `None` where it names something that another version may know.
fn scored_of(text: ScoredText) -> Option<Scored> {
    let judged = Judged {
        parameter: Parameter::all().into_iter().find(|one| one.field() == text.parameter)?,
        verdict: VERDICTS.iter().find(|(_, word)| *word == text.verdict)?.0,
        false_alarm: text.false_alarm,
        claim: text.claim.map(|(stated, holds)| (f64::from_bits(stated), holds)),
        said: text.said,
        truth: text.truth,
        because: text.because,
        declared: text.declared,
    };
    Some(Scored { judged, can_be_told: text.can_be_told })
}

fn cost(cost: &DeviceCost) -> CostText {
    CostText {
        read: cost.read.get(),
        written: cost.written.get(),
        erases: cost.erases,
        programmed: cost.programmed.get(),
        time_ns: cost.time.get(),
    }
}

fn cost_of(text: &CostText) -> DeviceCost {
    DeviceCost {
        read: Bytes(text.read),
        written: Bytes(text.written),
        erases: text.erases,
        programmed: Bytes(text.programmed),
        time: Nanos(text.time_ns),
    }
}
