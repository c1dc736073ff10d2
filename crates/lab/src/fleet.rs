//! A fleet of simulated devices as runs: each takes a range of device numbers. What a device is and what comes of it follows
//! from its number, the seed and the generator, so that whoever does a run finds the same.

use crate::engine::Entry;
use crate::order::Order;
use crate::plan::PlanError;
use crate::run::{Run, run_id};
use crate::work::{Command, MOST_OF_A_FLEET, Work};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Before the version, where a run names what it is done on.
const FLEET: &str = "fleet:";
/// Runs that a fleet is divided into at most, where its devices are not too many for that. A device takes about a second of a
/// processor, and a run is three messages: shorter runs would cost more to hand out than they lose where an agent dies.
const RUNS: u32 = 256;
/// The fewest devices of a run.
const FEWEST: u32 = 4;
/// Devices of one fleet, as one host takes them.
const MOST: u32 = 1_000_000;
/// Number of a device in its fleet.
const LAST: u32 = 1_000_000_000;

/// A fleet that is to be spread over hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetPlan {
    /// Version of the program that finds what is to be found; another one may find something else.
    pub version: String,
    /// Seed of the fleet.
    pub seed: u64,
    /// Number of the first device.
    pub first: u32,
    /// How many.
    pub devices: u32,
    /// Devices of a run; the last one may have fewer.
    pub each: u32,
    /// How each device is drawn and run: options of `fleet` by their names, `true` for a flag.
    pub options: BTreeMap<String, String>,
}

/// A fleet as text.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    fleet: FleetText,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FleetText {
    version: String,
    /// In digits, as TOML has no number of 64 bits without a sign.
    seed: String,
    first: u32,
    devices: u32,
    each: u32,
    options: BTreeMap<String, String>,
}

/// Whether a run that names this is done on devices that are simulated: one, or some of a fleet.
pub fn is_simulated(identity: &str) -> bool {
    identity.starts_with("sim:") || identity.starts_with(FLEET)
}

/// Whether this names a fleet: nothing but a version stands in it.
pub(crate) fn is_fleet(identity: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || ".+-".contains(c);
    let version = identity.strip_prefix(FLEET).unwrap_or_default();
    (1..=64).contains(&version.len()) && version.chars().all(letter)
}

impl FleetPlan {
    /// A fleet whose devices are divided evenly.
    pub fn new(version: String, seed: u64, first: u32, devices: u32, options: BTreeMap<String, String>) -> FleetPlan {
        let each = devices.div_ceil(RUNS).clamp(FEWEST, MOST_OF_A_FLEET as u32);
        FleetPlan { version, seed, first, devices, each, options }
    }

    /// The fleet of a text; `None` where it is another plan.
    pub(crate) fn of(text: &str) -> Option<Result<FleetPlan, PlanError>> {
        let table: toml::Table = toml::from_str(text).ok()?;
        table.contains_key("fleet").then(|| FleetPlan::read(text))
    }

    fn read(text: &str) -> Result<FleetPlan, PlanError> {
        let hint = || "`flashscope fleet --lab` hands one in".to_owned();
        let odd = |what: String| PlanError { what: format!("it is no fleet: {what}"), hint: hint() };
        let Text { fleet } = toml::from_str(text).map_err(|error| odd(error.to_string().trim_end().to_owned()))?;
        let FleetText { version, seed, first, devices, each, options } = fleet;
        let seed = seed.parse().map_err(|_| odd(format!("'{seed}' is no seed")))?;
        let plan = FleetPlan { version, seed, first, devices, each, options };
        match plan.is_sound() {
            true => Ok(plan),
            false => Err(odd("it has too many devices, or none".to_owned())),
        }
    }

    fn is_sound(&self) -> bool {
        let each = 1..=MOST_OF_A_FLEET as u32;
        (1..=MOST).contains(&self.devices) && self.first <= LAST && each.contains(&self.each)
    }

    /// Its text, from which a coordinator makes the same runs.
    pub fn text(&self) -> String {
        let FleetPlan { version, seed, first, devices, each, options } = self.clone();
        let fleet = FleetText { version, seed: seed.to_string(), first, devices, each, options };
        // Tables of texts and numbers: there is nothing in it that TOML cannot say.
        toml::to_string(&Text { fleet }).unwrap_or_default()
    }

    /// Its runs in the order of the devices.
    ///
    /// # Errors
    /// It asks for something that no fleet has.
    pub fn runs(&self) -> Result<(Vec<Entry>, Vec<Order>), PlanError> {
        let identity = format!("{FLEET}{}", self.version);
        if !is_fleet(&identity) {
            let what = format!("'{}' is no version", self.version);
            return Err(PlanError {
                what,
                hint: "it is that of the program, as `flashscope --version` says".to_owned(),
            });
        }
        if let Some(range) = ["first", "devices"].into_iter().find(|name| self.options.contains_key(*name)) {
            let hint = "first and devices stand in the table [fleet]".to_owned();
            return Err(PlanError { what: format!("{range} is no option of each run"), hint });
        }
        let (mut entries, mut orders) = (Vec::new(), Vec::new());
        let end = self.first + self.devices;
        for first in (self.first..end).step_by(self.each.max(1) as usize) {
            let devices = self.each.min(end - first);
            let name = format!("devices-{first}-{}", first + devices - 1);
            let mut given: Vec<(String, String)> = self.options.clone().into_iter().collect();
            given.extend([("first".to_owned(), first.to_string()), ("devices".to_owned(), devices.to_string())]);
            let words = Work::of(&name, Command::Fleet, &given, None, None)?.words();
            let phase = Command::Fleet.phase();
            let id = run_id(&identity, self.seed, &words, phase);
            let run = Run { id, device: 0, others: Vec::new(), work: 0, words, power: None, phase };
            let entry = Entry::waiting(run, format!("fleet-{}", self.seed), identity.clone(), name);
            orders.push(Order::of(&entry, true, self.seed, 0));
            entries.push(entry);
        }
        Ok((entries, orders))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(options: &[(&str, &str)]) -> FleetPlan {
        let options = options.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        FleetPlan::new("0.1.0".to_owned(), u64::MAX, 10, 9, options)
    }

    #[test]
    fn ranges_cover_every_device_once_and_are_orders_that_a_host_takes() {
        let plan = plan(&[("generator", "wide"), ("noise", "field"), ("no-naive", "true")]);
        assert_eq!(FleetPlan::of(&plan.text()), Some(Ok(plan.clone())));
        let (entries, orders) = plan.runs().unwrap();
        let ranges: Vec<&str> = entries.iter().map(|entry| entry.work.as_str()).collect();
        assert_eq!(ranges, ["devices-10-13", "devices-14-17", "devices-18-18"]);
        for order in &orders {
            let work = order.check(&[], &[]).unwrap();
            assert!(!work.must_write());
        }
        assert_eq!(
            orders[2].words,
            ["fleet", "--devices=1", "--first=18", "--generator=wide", "--no-naive", "--noise=field"]
        );
        let million = FleetPlan::new("1".to_owned(), 1, 0, MOST, plan.options);
        let (entries, _) = million.runs().unwrap();
        assert_eq!(entries.len(), MOST.div_ceil(MOST_OF_A_FLEET as u32) as usize);
    }

    #[test]
    fn what_a_fleet_cannot_ask_for_is_refused() {
        for (option, value) in [
            ("html", "/etc/passwd"),
            ("output", "x"),
            ("part", "/etc/passwd"),
            ("lab", "nats://x:1"),
            ("generator", "../x"),
            ("generator", "wide --html=/etc/passwd"),
            ("noise", "loud"),
            ("max-write", "1;reboot"),
            ("devices", "0"),
        ] {
            assert!(plan(&[("generator", "wide"), (option, value)]).runs().is_err(), "{option} {value}");
        }
        let good = plan(&[("generator", "wide")]);
        for odd in [
            FleetPlan { version: "../1".to_owned(), ..good.clone() },
            FleetPlan { version: String::new(), ..good.clone() },
        ] {
            assert!(odd.runs().is_err());
        }
        for odd in [
            FleetPlan { devices: 0, ..good.clone() },
            FleetPlan { devices: MOST + 1, ..good.clone() },
            FleetPlan { first: LAST + 1, ..good.clone() },
            FleetPlan { each: 0, ..good.clone() },
            FleetPlan { each: MOST_OF_A_FLEET as u32 + 1, ..good.clone() },
        ] {
            assert!(matches!(FleetPlan::of(&odd.text()), Some(Err(_))), "{odd:?}");
        }
        assert!(matches!(FleetPlan::of(&format!("exec = \"x\"\n{}", good.text())), Some(Err(_))));
        assert_eq!(FleetPlan::of("name = \"p\""), None);
    }
}
