//! Two versions beside each other on the same devices: which rows became better or worse, beyond what chance does.
//!
//! Both are given by what `flashscope fleet --json` printed of the same seed, so that a version that has no such comparison yet
//! can be one side. An answer counts from a confidence of one half on; what is less sure is unanswered on both sides. Only
//! devices on which the two differ say anything: under chance each of them falls to either side as a coin does (McNemar's
//! test, Psychometrika 12, 1947, by the exact binomial distribution).

use crate::Fleet;
use crate::part::word;
use crate::run::{DeviceRun, Scored};
use flashscope_model::fleet::DeviceCost;
use flashscope_stats::binomial_cdf;
use flashscope_stats::test::holm;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// Devices that one version finds before it is the other one's turn, so that what the machine does beside meets both.
pub const AT_A_TIME: u32 = 25;

/// A fleet, as far as it is looked at here.
#[derive(Debug, Deserialize)]
pub struct Sailed {
    seed: u64,
    generator: String,
    devices: Vec<Device>,
}

impl Sailed {
    /// What this version found.
    pub fn of(fleet: &Fleet) -> Sailed {
        Sailed {
            seed: fleet.plan.seed,
            generator: fleet.plan.generator.name().to_owned(),
            devices: fleet.devices.iter().map(Device::of).collect(),
        }
    }

    /// Adds further devices of the same fleet.
    ///
    /// # Errors
    /// Where they are of another one.
    pub fn join(&mut self, more: Sailed) -> Result<(), NotPaired> {
        self.is_of(&more)?;
        self.devices.extend(more.devices);
        Ok(())
    }

    /// Fails where this is not a part of the same fleet as another.
    fn is_of(&self, other: &Sailed) -> Result<(), NotPaired> {
        if (self.seed, &self.generator) == (other.seed, &other.generator) {
            Ok(())
        } else {
            Err(NotPaired("these are two different fleets".to_owned()))
        }
    }
}

#[derive(Debug, Deserialize)]
struct Device {
    device: u32,
    title: String,
    processor_time_s: Option<f64>,
    findings: Vec<Judged>,
    cost: Option<Cost>,
    geometry_cost: Option<Cost>,
}

#[derive(Debug, Deserialize)]
struct Judged {
    parameter: String,
    verdict: String,
    can_be_told: bool,
    confidence: Option<f64>,
}

/// What a run took of a device.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Cost {
    written_bytes: u64,
    device_time_ns: u64,
}

impl Device {
    fn of(run: &DeviceRun) -> Device {
        let cost = |cost: DeviceCost| Some(Cost { written_bytes: cost.written.get(), device_time_ns: cost.time.get() });
        Device {
            device: run.index,
            title: run.title.clone(),
            processor_time_s: Some(run.work.as_secs_f64()),
            findings: run.findings.iter().map(Judged::of).collect(),
            cost: cost(run.cost),
            geometry_cost: cost(run.geometry_cost),
        }
    }
}

/// Of what a row counts the devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counted {
    /// Right answers, of devices on which either version can tell.
    Right,
    /// Wrong answers, and those one step beside, of all devices.
    Wrong,
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Counted::Right { "right" } else { "wrong" })
    }
}

/// One finding on all devices.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Name of the finding.
    pub parameter: String,
    /// What is counted.
    pub counted: Counted,
    /// How many devices.
    pub devices: u32,
    /// On how many of them in each version.
    pub before: u32,
    /// See [`Row::before`].
    pub after: u32,
    /// Devices that became better, and worse.
    pub changed: (u32, u32),
    /// Probability that chance makes it at least this much worse, multiplied for all rows (Holm).
    pub chance_of_worse: f64,
}

/// Least loss that counts, as a share of the devices.
const LEAST_LOSS: f64 = 0.003;

/// Chance of one row or more that is called worse and is not.
const FAMILY: f64 = 0.05;

/// An answer that is less sure counts as none.
const ANSWERS_FROM: f64 = 0.5;

impl Row {
    /// Whether it is worse, by more than counts and beyond chance.
    pub fn is_worse(&self) -> bool {
        let (better, worse) = self.changed;
        f64::from(worse) - f64::from(better) > LEAST_LOSS * f64::from(self.devices) && self.chance_of_worse < FAMILY
    }
}

/// Why two fleets cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotPaired(String);

impl fmt::Display for NotPaired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhint: both must be of the same seed, generator and devices", self.0)
    }
}

impl std::error::Error for NotPaired {}

/// Rows of all findings that both know.
///
/// # Errors
/// Where the two are not of the same devices.
pub fn rows(before: &Sailed, after: &Sailed) -> Result<Vec<Row>, NotPaired> {
    let mut rows: BTreeMap<(String, Counted), Row> = BTreeMap::new();
    for (old, new) in pairs(before, after)? {
        for was in &old.findings {
            let Some(is) = new.findings.iter().find(|is| is.parameter == was.parameter) else { continue };
            if was.can_be_told || is.can_be_told {
                count(&mut rows, &was.parameter, Counted::Right, [was, is].map(Judged::is_right));
            }
            count(&mut rows, &was.parameter, Counted::Wrong, [was, is].map(Judged::is_wrong));
        }
    }
    let mut rows: Vec<Row> = rows.into_values().collect();
    let single: Vec<f64> = rows.iter().map(|row| of_chance(row.changed)).collect();
    for (row, chance) in rows.iter_mut().zip(holm(&single).unwrap_or(single)) {
        row.chance_of_worse = chance;
    }
    Ok(rows)
}

/// What the two took, as the share of the second in the first: a name, and the ratio of the sums over all devices.
///
/// # Errors
/// As [`rows`].
pub fn ratios(before: &Sailed, after: &Sailed) -> Result<Vec<(&'static str, f64)>, NotPaired> {
    type Figure = (&'static str, fn(&Device) -> Option<f64>);
    let figures: [Figure; 5] = [
        ("processor time", |device| device.processor_time_s),
        ("device time", |device| Some(device.cost?.device_time_ns as f64)),
        ("bytes written", |device| Some(device.cost?.written_bytes as f64)),
        ("device time of the geometry", |device| Some(device.geometry_cost?.device_time_ns as f64)),
        ("bytes written for the geometry", |device| Some(device.geometry_cost?.written_bytes as f64)),
    ];
    let pairs = pairs(before, after)?;
    let ratio = |(name, figure): Figure| {
        let both = pairs.iter().filter_map(|(old, new)| Some((figure(old)?, figure(new)?)));
        let (old, new) = both.fold((0.0, 0.0), |sums, both| (sums.0 + both.0, sums.1 + both.1));
        (name, new / old)
    };
    Ok(figures.map(ratio).to_vec())
}

type Pairs<'a> = Vec<(&'a Device, &'a Device)>;

fn pairs<'a>(before: &'a Sailed, after: &'a Sailed) -> Result<Pairs<'a>, NotPaired> {
    before.is_of(after)?;
    let pair = |old: &'a Device| Some((old, after.devices.iter().find(|new| new.device == old.device)?));
    let pairs: Pairs<'a> = before.devices.iter().filter_map(pair).collect();
    // Titles are worded anew now and then, and begin with the kind and the capacity of what was drawn.
    let begin = |device: &'a Device| device.title.split(',').next();
    match pairs.iter().find(|(old, new)| begin(old) != begin(new)) {
        Some((old, _)) => Err(NotPaired(format!("device {} is another one in the second fleet", old.device))),
        None if pairs.is_empty() => Err(NotPaired("the two have no device in common".to_owned())),
        None => Ok(pairs),
    }
}

fn count(rows: &mut BTreeMap<(String, Counted), Row>, parameter: &str, counted: Counted, [was, is]: [bool; 2]) {
    let row = rows.entry((parameter.to_owned(), counted)).or_insert_with(|| Row {
        parameter: parameter.to_owned(),
        counted,
        devices: 0,
        before: 0,
        after: 0,
        changed: (0, 0),
        chance_of_worse: 1.0,
    });
    row.devices += 1;
    row.before += u32::from(was);
    row.after += u32::from(is);
    if was != is {
        let better = is == (counted == Counted::Right);
        *(if better { &mut row.changed.0 } else { &mut row.changed.1 }) += 1;
    }
}

/// Probability that of so many changes this many or more are for the worse, by chance.
fn of_chance((better, worse): (u32, u32)) -> f64 {
    binomial_cdf(u64::from(better), u64::from(better + worse), 0.5)
}

impl Judged {
    fn of(scored: &Scored) -> Judged {
        let judged = &scored.judged;
        Judged {
            parameter: judged.parameter.field().to_owned(),
            verdict: word(judged.verdict).to_owned(),
            can_be_told: scored.can_be_told,
            confidence: judged.claim.map(|(stated, _)| stated),
        }
    }

    fn is_answered(&self) -> bool {
        self.confidence.is_some_and(|sure| sure >= ANSWERS_FROM)
    }

    fn is_right(&self) -> bool {
        self.is_answered() && self.verdict == "exact"
    }

    fn is_wrong(&self) -> bool {
        self.is_answered() && matches!(self.verdict.as_str(), "wrong" | "one_step")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A fleet of devices with one finding, each with this verdict.
    fn fleet(seed: u64, verdicts: &[&str]) -> Sailed {
        let device = |(device, verdict): (usize, &&str)| {
            json!({
                "device": device, "title": "a card of 4 GiB, unit 4 MiB", "processor_time_s": 2.0,
                "findings": [{"parameter": "page", "verdict": verdict, "can_be_told": true, "confidence": 0.9}],
                "cost": {"written_bytes": 10, "device_time_ns": 100},
                "geometry_cost": {"written_bytes": 5, "device_time_ns": 50},
            })
        };
        let devices: Vec<_> = verdicts.iter().enumerate().map(device).collect();
        serde_json::from_value(json!({"seed": seed, "generator": "wide", "devices": devices})).unwrap()
    }

    #[test]
    fn what_chance_does_is_not_worse_and_what_it_does_not_is() {
        let good = fleet(1, &["exact"; 40]);
        let of = |wrong: usize| {
            let verdicts: Vec<&str> = (0..40).map(|device| if device < wrong { "wrong" } else { "exact" }).collect();
            rows(&good, &fleet(1, &verdicts)).unwrap()
        };
        let row = |wrong, counted| of(wrong).into_iter().find(|row| row.counted == counted).unwrap();
        assert_eq!(row(4, Counted::Wrong).changed, (0, 4));
        // 1/16, and twice that for two rows.
        assert!((row(4, Counted::Right).chance_of_worse - 0.125).abs() < 1e-9);
        assert!(!row(4, Counted::Right).is_worse());
        assert!(row(8, Counted::Right).is_worse() && row(8, Counted::Wrong).is_worse());
        assert!(!row(0, Counted::Right).is_worse());
    }

    #[test]
    fn other_devices_are_refused() {
        assert!(rows(&fleet(1, &["exact"]), &fleet(2, &["exact"])).is_err());
        assert!(rows(&fleet(1, &[]), &fleet(1, &["exact"])).is_err());
    }

    #[test]
    fn what_is_taken_is_compared_by_sums() {
        let same = fleet(1, &["exact", "wrong"]);
        assert!(ratios(&same, &same).unwrap().iter().all(|(_, ratio)| (ratio - 1.0).abs() < 1e-9));
    }
}
