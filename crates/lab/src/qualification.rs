//! What a plan may hold of a qualification: two lists of its own devices, and requirements as data.
//!
//! Requirements are a plan that comes along, by its name, or a table in the words of `docs/qualify.md`. What they mean is
//! checked by the program that runs them. What is checked here is that nothing in them reaches beyond the devices that the
//! lab's plan names: every key is one of a list, and no value is a path, an option, another device or a command.

use crate::work::is_name;
use toml::{Table, Value};

/// Which devices are held against each other, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qualification {
    /// The devices in use, by their names in the plan.
    pub reference: Vec<String>,
    /// Those that may replace them.
    pub candidate: Vec<String>,
    /// The requirements, where the plan holds them itself.
    pub requirements: Option<String>,
    /// Figures that somebody noted by hand: the content of a CSV.
    pub figures: Option<String>,
}

/// The worker's name of the file that holds [`Qualification::requirements`], in the folder of its run.
pub const REQUIREMENTS: &str = "./requirements.toml";
/// The same of [`Qualification::figures`].
pub const FIGURES: &str = "figures.csv";

/// Devices of one qualification, of both sides together.
const MOST_DEVICES: usize = 16;
/// Bytes of figures that somebody noted by hand.
const MOST_FIGURES: usize = 1 << 20;

const PLAN: &[&str] = &["name", "title", "source", "confidence", "blocks", "runs", "sessions", "time"];
const QUICK: &[&str] =
    &["blocks", "runs", "sessions", "time", "runtime", "rounds", "cuts", "leave_out", "cannot_decide"];
const REQUIREMENT: &[&str] = &["name", "title", "workload", "figure", "limit", "kind", "weight", "confidence"];
const WORKLOAD: &[&str] = &[
    "name",
    "command",
    "state",
    "preset",
    "job",
    "app",
    "rounds",
    "file_system",
    "trace",
    "test",
    "full",
    "cuts",
    "external",
    "prints",
];
/// Values of a workload that name something which comes along, or which the host's own file gives a meaning.
const NAMES: &[&str] = &["preset", "app", "file_system", "trace", "test", "external"];
/// What a job says of its load. Where it runs (`target`, `targets`, `files`), on which processors and with which seed is not
/// the plan's to say.
const JOB: &[&str] = &[
    "name",
    "beside",
    "pause",
    "rw",
    "reads",
    "pattern",
    "bs",
    "write_bs",
    "align",
    "offset",
    "span",
    "iodepth",
    "batch",
    "reap",
    "jobs",
    "parts",
    "shift",
    "rate",
    "spacing",
    "think",
    "think_every",
    "bytes",
    "count",
    "runtime",
    "steady",
    "steady_rounds",
    "warm_up",
    "warm_up_count",
    "mode",
    "engine",
    "polled",
    "flush_every",
    "flush_at_end",
    "payload",
    "verify",
    "ends_all",
];

impl Qualification {
    /// Takes what a plan says.
    ///
    /// # Errors
    /// What is wrong, and what to do about it.
    pub(crate) fn new(
        reference: Vec<String>,
        candidate: Vec<String>,
        requirements: Option<&Table>,
        figures: Option<String>,
    ) -> Result<Qualification, (String, String)> {
        let wrong = |what: &str, hint: &str| Err((what.to_owned(), hint.to_owned()));
        if candidate.is_empty() {
            return wrong("it has no candidate", "candidate = [\"NAME\"], and reference = [\"NAME\"], of its devices");
        }
        if reference.len() + candidate.len() > MOST_DEVICES {
            return wrong(
                &format!("it holds more than {MOST_DEVICES} devices against each other"),
                "make two works of it",
            );
        }
        let mut all: Vec<&String> = reference.iter().chain(&candidate).collect();
        all.sort();
        if let Some(pair) = all.windows(2).find(|pair| pair[0] == pair[1]) {
            return wrong(&format!("it names '{}' twice", pair[0]), "a device is on one side, once");
        }
        if figures.as_ref().is_some_and(|text| text.len() > MOST_FIGURES) {
            return wrong("its figures are more than 1 MiB", "leave out what no requirement asks for");
        }
        if let Some(table) = requirements {
            check(table).map_err(|what| {
                let hint = "docs/lab.md has what requirements in a plan can say";
                (format!("its requirements: {what}"), hint.to_owned())
            })?;
        }
        let requirements = requirements.map(toml::to_string).transpose();
        let requirements = requirements.map_err(|error| (error.to_string(), "write them anew".to_owned()))?;
        Ok(Qualification { reference, candidate, requirements, figures })
    }

    /// All its devices, those of the reference first.
    pub fn devices(&self) -> impl Iterator<Item = &String> {
        self.reference.iter().chain(&self.candidate)
    }
}

/// What requirements ask of the host, read from their text: one that `flashscope qualify --explain` has printed, or that is in
/// a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Names of the product's own commands.
    pub commands: Vec<String>,
    /// Whether anything of it writes to the devices.
    pub writes: bool,
}

impl Asked {
    /// Reads it, in its short form where `quick` says so. A text that is none asks for nothing; whoever runs it refuses it.
    pub fn of(text: &str, quick: bool) -> Asked {
        let table: Table = toml::from_str(text).unwrap_or_default();
        let left_out = table.get("quick").and_then(|quick| quick.get("leave_out")).and_then(Value::as_array);
        let left_out = left_out.filter(|_| quick).map_or(&[][..], Vec::as_slice);
        let named = |one: &Table, key: &str, workload: &Table| one.get(key) == workload.get("name");
        let is_asked = |workload: &Table| {
            tables(&table, "requirement")
                .filter(|one| one.get("name").is_none_or(|name| !left_out.contains(name)))
                .any(|one| named(one, "workload", workload))
        };
        let mut asked = Asked::default();
        for workload in tables(&table, "workload").filter(|workload| is_asked(workload)) {
            if let Some(name) = workload.get("external").and_then(Value::as_str) {
                asked.commands.push(name.to_owned());
            }
            asked.writes |= writes(workload);
        }
        asked.commands.sort();
        asked.commands.dedup();
        asked
    }
}

/// Whether a workload changes what is on a device. What the product's command does nobody knows.
fn writes(workload: &Table) -> bool {
    let command = workload.get("command").and_then(Value::as_str).unwrap_or_default();
    let only_reads = |job: &Table| matches!(job.get("rw").and_then(Value::as_str), None | Some("read" | "randread"));
    workload.contains_key("state")
        || match command {
            "registers" | "inspect" | "mem" => false,
            "bench" => workload.contains_key("preset") || !tables(workload, "job").all(only_reads),
            _ => true,
        }
}

/// The tables of an array of that name.
fn tables<'a>(of: &'a Table, name: &str) -> impl Iterator<Item = &'a Table> {
    of.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table)
}

fn check(table: &Table) -> Result<(), String> {
    known(table, &["plan", "quick", "workload", "requirement"], "them")?;
    for (name, keys) in [("plan", PLAN), ("quick", QUICK)] {
        match table.get(name) {
            None => {}
            Some(Value::Table(table)) => plain(table, keys, name)?,
            Some(_) => return Err(format!("'{name}' is no table")),
        }
    }
    each(table, "requirement", |one| plain(one, REQUIREMENT, "requirement"))?;
    each(table, "workload", |one| {
        known(one, WORKLOAD, "workload")?;
        for (key, value) in one.iter().filter(|(key, _)| *key != "job") {
            let text = value.as_str().unwrap_or_default();
            match (NAMES.contains(&key.as_str()), value) {
                (true, Value::String(_)) if is_name(text) => {}
                (true, _) => {
                    return Err(format!("'{value}' is no name for {key}; a plan names no file, option or command"));
                }
                (false, value) if is_plain(value) => {}
                (false, _) => return Err(format!("{key} of a workload is one value")),
            }
        }
        each(one, "job", |job| plain(job, JOB, "job"))
    })
}

/// Does something to each table of an array, where there is one of that name.
fn each(of: &Table, name: &str, act: impl Fn(&Table) -> Result<(), String>) -> Result<(), String> {
    match of.get(name) {
        None => Ok(()),
        Some(Value::Array(all)) if all.iter().all(Value::is_table) => tables(of, name).try_for_each(act),
        Some(_) => Err(format!("'{name}' is a list of tables")),
    }
}

fn known(table: &Table, keys: &[&str], at: &str) -> Result<(), String> {
    match table.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(other) => Err(format!("a plan of a lab cannot say '{other}' of {at}; it can say {}", keys.join(", "))),
        None => Ok(()),
    }
}

/// A table of known keys with values, and lists of texts, and nothing deeper.
fn plain(table: &Table, keys: &[&str], at: &str) -> Result<(), String> {
    known(table, keys, at)?;
    let is_list = |value: &Value| value.as_array().is_some_and(|all| all.iter().all(Value::is_str));
    match table.iter().find(|(_, value)| !is_plain(value) && !is_list(value)) {
        Some((key, _)) => Err(format!("{key} of {at} is neither a value nor a list of texts")),
        None => Ok(()),
    }
}

fn is_plain(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Integer(_) | Value::Float(_) | Value::Boolean(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(requirements: &str) -> Result<Qualification, (String, String)> {
        let table: Table = toml::from_str(requirements).expect("TOML");
        Qualification::new(vec!["old".to_owned()], vec!["new".to_owned()], Some(&table), None)
    }

    const WELL: &str = "[plan]\nname = \"p\"\ntitle = \"May it?\"\nsource = \"us\"\nblocks = 6\n\
        [[workload]]\nname = \"disk\"\ncommand = \"bench\"\n[[workload.job]]\nname = \"r\"\nrw = \"randread\"\nruntime = \"1s\"\n\
        [[workload]]\nname = \"update\"\ncommand = \"external\"\nexternal = \"ota\"\n\
        [[requirement]]\nname = \"r\"\ntitle = \"Reads\"\nworkload = \"disk\"\nfigure = \"r read\"\nlimit = \">= 0.9 x reference\"\nkind = \"disk\"\n";

    #[test]
    fn requirements_are_handed_on_as_they_are_and_say_what_they_ask_for() {
        let text = new(WELL).unwrap().requirements.unwrap();
        assert_eq!(toml::from_str::<Table>(&text).unwrap(), toml::from_str::<Table>(WELL).unwrap());
        let update = "[[requirement]]\nname = \"u\"\nworkload = \"update\"\n[quick]\nleave_out = [\"u\"]\n";
        let text = format!("{text}{update}");
        assert_eq!(Asked::of(&text, false), Asked { commands: vec!["ota".to_owned()], writes: true });
        assert_eq!(Asked::of(&text, true), Asked::default(), "the short form leaves it out");
        let writes = |from: &str, to: &str| Asked::of(&WELL.replace(from, to), false).writes;
        assert!(!writes("", "") && writes("randread", "randrw"));
        assert!(writes("command = \"bench\"", "command = \"bench\"\nstate = \"full\""));
    }

    #[test]
    fn what_could_reach_beyond_the_devices_is_refused() {
        let with = |from: &str, to: &str| WELL.replace(from, to);
        for text in [
            format!("command = \"reboot\"\n{WELL}"),
            with("external = \"ota\"", "external = \"/bin/sh\""),
            with("external = \"ota\"", "external = \"ota --now\""),
            with("external = \"ota\"", "external = [\"sh\"]"),
            with("command = \"external\"\nexternal = \"ota\"", "command = \"replay\"\ntrace = \"/etc/passwd\""),
            with("command = \"external\"\nexternal = \"ota\"", "command = \"replay\"\ntrace = \"../x\""),
            with("command = \"external\"\nexternal = \"ota\"", "command = \"bench\"\npreset = \"./mine.toml\""),
            with("command = \"external\"\nexternal = \"ota\"", "command = \"mem\"\ntest = \"--output=/etc/passwd\""),
            with("command = \"external\"\nexternal = \"ota\"", "command = \"app\"\napp = \"../mine.toml\""),
            with("runtime = \"1s\"", "target = \"/dev/sda\""),
            with("runtime = \"1s\"", "targets = [\"/dev/sda\"]"),
            with("runtime = \"1s\"", "files = 3"),
            with("runtime = \"1s\"", "payload = { file = \"/etc/passwd\" }"),
            with("blocks = 6", "destroy_data = \"x:1\""),
            with("blocks = 6", "accept_wear = true"),
            with("blocks = 6", "power_off = \"reboot\""),
            with("kind = \"disk\"", "kind = \"disk\"\ncommand = \"reboot\""),
        ] {
            assert!(new(&text).is_err(), "{text}");
        }
        let both = |reference: &[&str], candidate: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            Qualification::new(owned(reference), owned(candidate), None, None)
        };
        assert!(both(&["a"], &[]).is_err() && both(&["a"], &["a"]).is_err() && both(&[], &["a", "a"]).is_err());
        assert!(both(&[], &["a"]).is_ok());
    }
}
