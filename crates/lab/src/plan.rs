//! A plan: devices, and what to do with each. Data, read from TOML; every key and every value is one that is known.

use crate::qualification::Qualification;
use crate::work::{self, Work};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// Devices of one plan.
const MOST_DEVICES: usize = 64;
/// Works of one plan.
const MOST_WORKS: usize = 256;

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What people call it.
    pub name: String,
    /// The devices, in the order in which they are begun with.
    pub devices: Vec<DevicePlan>,
    /// What is done, in this order on each device.
    pub works: Vec<Work>,
    /// Whether devices disturb each other, where that is to be measured first.
    pub neighbours: Option<NeighbourPlan>,
}

/// One device of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct DevicePlan {
    /// What people call it.
    pub name: String,
    /// Where it is found.
    pub address: Address,
    /// Seed of all that is drawn on it.
    pub seed: u64,
    /// Places of [`Plan::works`].
    pub works: Vec<usize>,
}

/// How a plan names a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// By what it says of itself, as `flashscope list` prints it.
    Identity(String),
    /// By the USB port that it or its reader is plugged into, as the kernel names it (`1-2.3`), and the slot of the reader where
    /// that has several.
    Slot {
        /// The port.
        port: String,
        /// The logical unit of the reader; `None` for the only one that holds a medium.
        lun: Option<u64>,
    },
    /// A simulated one, `sim:MODEL[,key=value…]`.
    Simulated(String),
}

/// How it is measured whether devices disturb each other.
#[derive(Clone, Debug, PartialEq)]
pub struct NeighbourPlan {
    /// The place in [`Plan::works`] of what is done on a device alone and beside all others.
    pub work: usize,
    /// How often each.
    pub rounds: u32,
    /// The ratio of rates that still counts as none, 1.02 for 2 %.
    pub margin: f64,
}

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// What.
    pub what: String,
    /// What to do about it.
    pub hint: String,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhint: {}", self.what, self.hint)
    }
}

impl std::error::Error for PlanError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PlanText {
    name: String,
    neighbours: Option<NeighboursText>,
    device: Vec<DeviceText>,
    work: Vec<WorkText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct DeviceText {
    name: Option<String>,
    identity: Option<String>,
    slot: Option<String>,
    lun: Option<u64>,
    sim: Option<String>,
    seed: Option<u32>,
    count: Option<u32>,
    work: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WorkText {
    name: String,
    run: String,
    power: Option<String>,
    #[serde(default)]
    options: BTreeMap<String, Value>,
    // Of qualify.
    #[serde(default)]
    reference: Vec<String>,
    #[serde(default)]
    candidate: Vec<String>,
    requirements: Option<toml::Table>,
    figures: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct NeighboursText {
    work: String,
    rounds: Option<u32>,
    margin: Option<String>,
}

/// A value of an option.
#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Flag(bool),
    Count(i64),
    Text(String),
}

impl Value {
    fn text(self) -> String {
        match self {
            Value::Flag(flag) => flag.to_string(),
            Value::Count(count) => count.to_string(),
            Value::Text(text) => text,
        }
    }
}

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    /// It is not TOML, or holds something that a plan cannot ask for.
    pub fn read(text: &str) -> Result<Plan, PlanError> {
        let text: PlanText = toml::from_str(text).map_err(|error| PlanError {
            what: format!("it is no plan: {}", error.to_string().trim_end()),
            hint: "docs/lab.md has a plan to begin with".to_owned(),
        })?;
        named(&text.name, "the plan")?;
        let works = works(text.work)?;
        let place = |name: &str| {
            works
                .iter()
                .position(|work| work.name == name)
                .ok_or_else(|| error(format!("there is no work '{name}'"), "name one of the [[work]] tables"))
        };
        let neighbours = text.neighbours.map(|text| neighbours(text, &works, &place)).transpose()?;
        let mut devices = Vec::new();
        for (index, text) in text.device.into_iter().enumerate() {
            devices.extend(devices_of(index, text, &works, &place)?);
            if devices.len() > MOST_DEVICES {
                return Err(error(format!("it names more than {MOST_DEVICES} devices"), "make two plans of it"));
            }
        }
        if devices.is_empty() {
            return Err(error("it names no device".to_owned(), "add a [[device]] table"));
        }
        unique(devices.iter().map(|device| device.name.as_str()), "device")?;
        works.iter().try_for_each(|work| sides(work, &devices))?;
        Ok(Plan { name: text.name, devices, works, neighbours })
    }
}

fn error(what: String, hint: &str) -> PlanError {
    PlanError { what, hint: hint.to_owned() }
}

fn named(name: &str, what: &str) -> Result<(), PlanError> {
    match work::is_name(name) {
        true => Ok(()),
        false => Err(error(
            format!("'{name}' is no name for {what}"),
            "take up to 64 letters, digits, hyphens and low lines, a letter or digit first",
        )),
    }
}

fn unique<'a>(names: impl Iterator<Item = &'a str>, what: &str) -> Result<(), PlanError> {
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(error(format!("two {what}s are called '{name}'"), "give each a name of its own"));
        }
    }
    Ok(())
}

fn works(texts: Vec<WorkText>) -> Result<Vec<Work>, PlanError> {
    let mut works = Vec::new();
    for text in texts {
        named(&text.name, "work")?;
        if let Some(power) = &text.power {
            named(power, "power commands")?;
        }
        let given: Vec<(String, String)> =
            text.options.into_iter().map(|(option, value)| (option, value.text())).collect();
        let says = !text.reference.is_empty() || !text.candidate.is_empty();
        let qualification = match says || text.requirements.is_some() || text.figures.is_some() {
            false => None,
            true => Some(
                Qualification::new(text.reference, text.candidate, text.requirements.as_ref(), text.figures)
                    .map_err(|(what, hint)| PlanError { what: format!("work '{}': {what}", text.name), hint })?,
            ),
        };
        works.push(Work::new(&text.name, &text.run, &given, text.power, qualification)?);
    }
    if works.is_empty() || works.len() > MOST_WORKS {
        return Err(error(
            format!("it has {} works, and takes 1 to {MOST_WORKS}", works.len()),
            "add a [[work]] table, as docs/lab.md has one",
        ));
    }
    unique(works.iter().map(|work| work.name.as_str()), "work")?;
    Ok(works)
}

fn devices_of(
    index: usize,
    text: DeviceText,
    all: &[Work],
    place: &dyn Fn(&str) -> Result<usize, PlanError>,
) -> Result<Vec<DevicePlan>, PlanError> {
    let name = text.name.unwrap_or_else(|| format!("device-{}", index + 1));
    named(&name, "a device")?;
    // What qualifies names its devices itself.
    let by_device = |place: &usize| all[*place].qualification.is_none();
    let works: Vec<usize> = match text.work {
        None => (0..all.len()).filter(by_device).collect(),
        Some(names) => names.iter().map(|name| place(name)).collect::<Result<Vec<_>, _>>()?,
    };
    if let Some(other) = works.iter().find(|place| !by_device(place)) {
        let what = format!("device '{name}' names the work '{}', which names its devices itself", all[*other].name);
        return Err(error(what, "leave it away here"));
    }
    let address = match (text.identity, text.slot, text.sim) {
        (Some(identity), None, None) if !identity.is_empty() => Address::Identity(identity),
        (None, Some(slot), None) => Address::Slot { port: port(slot)?, lun: text.lun },
        (None, None, Some(sim)) => Address::Simulated(simulated(sim)?),
        _ => {
            let hint = "say one of identity (as `flashscope list` prints it), slot (a USB port, as 1-2.3) and sim";
            return Err(error(format!("device '{name}' is not named by exactly one thing"), hint));
        }
    };
    let is_simulated = matches!(address, Address::Simulated(_));
    if text.lun.is_some() && !matches!(address, Address::Slot { .. }) {
        return Err(error(format!("device '{name}': lun goes with slot"), "leave it out"));
    }
    let (seed, count) = (u64::from(text.seed.unwrap_or(1)), text.count);
    if count.is_some() && !is_simulated {
        return Err(error(format!("device '{name}': count goes with sim"), "name each real device by itself"));
    }
    let one = |name: String, seed: u64| DevicePlan { name, address: address.clone(), seed, works: works.clone() };
    Ok(match count {
        None => vec![one(name, seed)],
        // One more than the limit is enough to be refused.
        Some(count) => (0..u64::from(count.min(MOST_DEVICES as u32 + 1)))
            .map(|number| one(format!("{name}-{}", number + 1), seed + number))
            .collect(),
    })
}

/// The sides of a qualification are devices of the plan, all simulated or all real: times of one kind are not held against
/// times of the other.
fn sides(work: &Work, devices: &[DevicePlan]) -> Result<(), PlanError> {
    let Some(qualification) = &work.qualification else { return Ok(()) };
    let mut simulated = Vec::new();
    for name in qualification.devices() {
        let Some(device) = devices.iter().find(|device| device.name == *name) else {
            let what = format!("work '{}': there is no device '{name}'", work.name);
            return Err(error(what, "name a [[device]]; of several with count they are NAME-1, NAME-2 …"));
        };
        simulated.push(matches!(device.address, Address::Simulated(_)));
    }
    match simulated.iter().any(|one| *one != simulated[0]) {
        true => Err(error(
            format!("work '{}' holds simulated devices against real ones", work.name),
            "name devices of one kind on both sides",
        )),
        false => Ok(()),
    }
}

/// A USB port as the kernel names it: bus, then ports down to the device (`1-2.3`).
fn port(slot: String) -> Result<String, PlanError> {
    let numbers = |text: &str, by: char| text.split(by).all(|part| part.parse::<u8>().is_ok_and(|number| number > 0));
    match slot.split_once('-') {
        Some((bus, ports)) if numbers(bus, '.') && !bus.contains('.') && numbers(ports, '.') => Ok(slot),
        _ => Err(error(
            format!("'{slot}' is no USB port"),
            "name it as the kernel does, 1-2.3: bus 1, port 2, port 3 of the hub there",
        )),
    }
}

/// A simulated device without any file: neither a model file nor a saved state.
pub(crate) fn simulated(sim: String) -> Result<String, PlanError> {
    let letter = |c: char| c.is_ascii_alphanumeric() || "_.,=%+-:".contains(c);
    let spec = sim.strip_prefix("sim:").unwrap_or_default();
    let mut parts = spec.split(',');
    let model = parts.next().unwrap_or_default();
    let reads_a_file =
        parts.any(|part| part.split_once('=').is_some_and(|(key, value)| key.trim() == "state" && value.contains('.')));
    if work::is_name(model) && sim.chars().all(letter) && !reads_a_file {
        return Ok(sim);
    }
    Err(error(
        format!("'{sim}' is no simulated device for a plan"),
        "it is sim:MODEL[,key=value…] with a model of `flashscope sim list`; a plan names no files",
    ))
}

fn neighbours(
    text: NeighboursText,
    works: &[Work],
    place: &dyn Fn(&str) -> Result<usize, PlanError>,
) -> Result<NeighbourPlan, PlanError> {
    let work = place(&text.work)?;
    if works[work].command != work::Command::Bench {
        return Err(error(
            format!("neighbours are checked by a bench, and '{}' is none", text.work),
            "name a work with run = \"bench\"",
        ));
    }
    let rounds = text.rounds.unwrap_or(5);
    if !(2..=100).contains(&rounds) {
        return Err(error(format!("{rounds} rounds of neighbours"), "take 2 to 100"));
    }
    let margin = text.margin.as_deref().unwrap_or("2%");
    let share = margin.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    match share.filter(|share| *share > 0.0 && *share <= 50.0) {
        Some(share) => Ok(NeighbourPlan { work, rounds, margin: 1.0 + share / 100.0 }),
        None => Err(error(format!("'{margin}' is no margin"), "it is a percentage up to 50%, as \"2%\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "name = \"p\"\n[[device]]\nname = \"card\"\nsim = \"sim:a\"\ncount = 2\n\
                       [[device]]\nname = \"real\"\nidentity = \"x\"\n";
    const QUALIFY: &str = "[[work]]\nname = \"swap\"\nrun = \"qualify\"\nreference = [\"card-1\"]\ncandidate = [\"card-2\"]\n\
                           options = { plan = \"emcp-replacement\", quick = true }\n";

    #[test]
    fn a_qualification_names_devices_of_the_plan() {
        let plan = Plan::read(&format!("{TWO}{WORK}{QUALIFY}")).unwrap();
        assert_eq!(plan.works[1].words(), ["qualify", "emcp-replacement", "--quick"]);
        assert!(plan.devices.iter().all(|device| device.works == [0]), "it is no work of each device");
        let held = TWO.to_owned()
            + &QUALIFY.replace("plan = \"emcp-replacement\", ", "")
            + "figures = \"label,metric,unit,value\\n\"\n[work.requirements.plan]\nname = \"p\"\n";
        let plan = Plan::read(&held).unwrap();
        assert_eq!(plan.works[0].words(), ["qualify", "./requirements.toml", "--table=figures.csv", "--quick"]);
        let with = |from: &str, to: &str| format!("{TWO}{}", QUALIFY.replace(from, to));
        refused(&with("[\"card-2\"]", "[\"card-3\"]"), "no device 'card-3'");
        refused(&with("[\"card-2\"]", "[\"card-1\"]"), "names 'card-1' twice");
        refused(&with("[\"card-2\"]", "[\"real\"]"), "simulated devices against real ones");
        refused(&with("candidate = [\"card-2\"]\n", ""), "no candidate");
        refused(&with("reference = [\"card-1\"]\ncandidate = [\"card-2\"]\n", ""), "nothing is held against");
        refused(&with("plan = \"emcp-replacement\", ", ""), "from one place");
        refused(&with("\"emcp-replacement\"", "\"../mine.toml\""), "does not do for plan");
        refused(&with("quick = true", "anyway = true"), "no option 'anyway'");
        refused(&format!("{TWO}{QUALIFY}[work.requirements.plan]\nname = \"p\"\n"), "from one place");
        refused(&format!("{TWO}work = [\"swap\"]\n{QUALIFY}"), "names its devices itself");
        refused(&format!("{TWO}{WORK}candidate = [\"card-1\"]\n"), "holds no devices against each other");
    }

    const WORK: &str = "[[work]]\nname = \"look\"\nrun = \"inspect\"\n";

    fn refused(text: &str, why: &str) {
        let error = Plan::read(text).expect_err(text).to_string();
        assert!(error.contains(why) && error.contains("\nhint: "), "{error}");
    }

    #[test]
    fn a_plan_is_read() {
        let text = format!(
            "name = \"shelf\"\n[neighbours]\nwork = \"speed\"\n[[device]]\nidentity = \"0x1c:79\"\nwork = [\"speed\"]\n\
             [[device]]\nslot = \"1-2.3\"\nlun = 1\n[[device]]\nname = \"s\"\nsim = \"sim:sd-4mib,capacity=1GiB\"\ncount = 3\nseed = 7\n\
             {WORK}[[work]]\nname = \"speed\"\nrun = \"bench\"\noptions = {{ rw = \"randread\", runtime = \"5s\", iodepth = 4 }}\n"
        );
        let plan = Plan::read(&text).unwrap();
        let names: Vec<&str> = plan.devices.iter().map(|device| device.name.as_str()).collect();
        assert_eq!(names, ["device-1", "device-2", "s-1", "s-2", "s-3"]);
        assert_eq!(plan.devices[0].works, [1]);
        assert_eq!(plan.devices[1].address, Address::Slot { port: "1-2.3".to_owned(), lun: Some(1) });
        assert_eq!(plan.devices[4].seed, 9);
        assert_eq!(plan.works[1].words(), ["bench", "--iodepth=4", "--runtime=5s", "--rw=randread"]);
        assert_eq!(plan.neighbours, Some(NeighbourPlan { work: 1, rounds: 5, margin: 1.02 }));
    }

    #[test]
    fn what_a_plan_cannot_ask_for_is_refused() {
        let sim = |spec: &str| format!("name = \"p\"\n[[device]]\nsim = \"{spec}\"\n{WORK}");
        refused("name = \"p\"", "missing field");
        refused(&format!("name = \"p\"\ncommand = \"reboot\"\n[[device]]\nsim = \"sim:a\"\n{WORK}"), "unknown field");
        refused(&format!("{}exec = \"reboot\"\n", sim("sim:a")), "unknown field");
        refused(&sim("sim:../../etc/passwd"), "no simulated device");
        refused(&sim("sim:./mine.toml"), "no simulated device");
        refused(&sim("sim:sd-4mib,state=x.state"), "no simulated device");
        refused(&sim("/dev/sda"), "no simulated device");
        refused(&sim("--help"), "no simulated device");
        refused(&format!("name = \"../p\"\n[[device]]\nsim = \"sim:a\"\n{WORK}"), "no name for the plan");
        refused(&format!("name = \"p\"\n[[device]]\nsim = \"sim:a\"\nidentity = \"x\"\n{WORK}"), "exactly one");
        refused(&format!("name = \"p\"\n[[device]]\nslot = \"../1\"\n{WORK}"), "no USB port");
        refused(&format!("name = \"p\"\n[[device]]\nsim = \"sim:a\"\ncount = 65\n{WORK}"), "more than 64");
        refused(&format!("name = \"p\"\n[[device]]\nidentity = \"x\"\ncount = 2\n{WORK}"), "count goes with sim");
        refused(&format!("name = \"p\"\n[[device]]\nsim = \"sim:a\"\nwork = [\"no\"]\n{WORK}"), "no work 'no'");
        refused(&format!("{}{WORK}", sim("sim:a")), "two works are called");
        refused(&format!("{}power = \"a; reboot\"\n", sim("sim:a")), "no name for power");
    }
}
