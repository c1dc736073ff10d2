//! What a plan can ask for: a fixed set of commands, each with a fixed set of options. Nothing else reaches a worker's command
//! line, so that a plan from elsewhere can name no file, no program and no consent.

use crate::plan::PlanError;
use crate::qualification::{FIGURES, Qualification, REQUIREMENTS};
use crate::run::Phase;
use flashscope_units::{Bytes, Nanos};
use std::fmt;

/// A command of flashscope that a plan may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// A whole characterisation.
    Inspect,
    /// Which state the device is in.
    State,
    /// Load, by a preset or by a job's words.
    Bench,
    /// An application that comes along.
    App,
    /// Whether the device is as large as it says.
    Capacity,
    /// What survives power cuts, or passes until it wears out.
    Integrity,
    /// Whether one device may replace another, by requirements.
    Qualify,
    /// How often inspect is right on some of a fleet of simulated devices. No work of a device: only a fleet has it
    /// ([`crate::FleetPlan`]).
    Fleet,
}

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    /// Nothing: it is there or not (`true`).
    Flag,
    /// A whole number from 1 up to this.
    Count(u64),
    /// A whole number from 0 up to this.
    Place(u64),
    /// A size with its unit (`64MiB`).
    Size,
    /// A time with its unit (`10s`).
    Time,
    /// A percentage (`95%`).
    Share,
    /// A name of something that comes along: letters, digits and hyphens, so that it is no path.
    Name,
    /// One of these.
    OneOf(&'static [&'static str]),
}

use Takes::{Count, Flag, Name, OneOf, Place, Share, Size, Time};

const STATES: Takes = OneOf(&["clean", "sequential", "full", "dirty", "steady", "aged"]);
const PATTERNS: Takes = OneOf(&["read", "write", "randread", "randwrite", "rw", "readwrite", "randrw"]);

/// Options that end a run early or bring the device into a state. What spends more of a device's life than usual
/// (`--accept-wear`, `--life`), what names a file or a command, and what consents is not among them and never will be.
const INSPECT: &[(&str, Takes)] =
    &[("max-write", Size), ("max-time", Time), ("read-only", Flag), ("state", STATES), ("full-to", Share)];
const STATE: &[(&str, Takes)] = &[("max-write", Size), ("max-time", Time), ("read-only", Flag), ("make", STATES)];
const BENCH: &[(&str, Takes)] = &[
    ("preset", Name),
    ("quick", Flag),
    ("rw", PATTERNS),
    ("bs", Size),
    ("size", Size),
    ("offset", Size),
    ("runtime", Time),
    ("iodepth", Count(4096)),
    ("numjobs", Count(256)),
    ("verify", Flag),
    ("repeat", Count(1000)),
    ("max-write", Size),
    ("state", STATES),
    ("full-to", Share),
];
const APP: &[(&str, Takes)] = &[
    ("app", Name),
    ("rounds", Count(10_000_000)),
    ("repeat", Count(1000)),
    ("scale", Flag),
    ("fs", OneOf(&["ext4", "xfs", "btrfs", "f2fs", "ext2", "vfat", "exfat"])),
    ("journal", OneOf(&["delete", "truncate", "persist", "memory", "wal", "off"])),
    ("synchronous", OneOf(&["off", "normal", "full", "extra"])),
    ("state", STATES),
    ("full-to", Share),
];
const CAPACITY: &[(&str, Takes)] = &[
    ("full", Flag),
    ("order", OneOf(&["sequential", "shuffled"])),
    ("restore", Flag),
    ("hash", OneOf(&["md5", "sha256"])),
    ("max-write", Size),
];
const INTEGRITY: &[(&str, Takes)] = &[
    ("cuts", Count(1_000_000)),
    ("offset", Size),
    ("size", Size),
    ("search", Size),
    ("slow-after", Time),
    ("under", OneOf(&["ext4", "xfs", "btrfs", "sqlite"])),
    ("endurance", Flag),
    ("passes", Count(1_000_000)),
    ("max-write", Size),
];
const QUALIFY: &[(&str, Takes)] =
    &[("plan", Name), ("quick", Flag), ("max-time", Time), ("max-write", Size), ("rated-writes", Size)];
/// Devices of a fleet that one run takes at most: what comes of them is one message.
pub(crate) const MOST_OF_A_FLEET: u64 = 256;
const FLEET: &[(&str, Takes)] = &[
    ("generator", OneOf(&["field", "wide", "adversarial"])),
    ("noise", OneOf(&["none", "bench", "field", "harsh"])),
    ("first", Place(1_001_000_000)),
    ("devices", Count(MOST_OF_A_FLEET)),
    ("max-write", Size),
    ("overwrite", Count(10)),
    ("max-time", Time),
    ("max-work", Time),
    ("no-naive", Flag),
];

impl Command {
    /// All that a plan may do with a device.
    pub const ALL: [Command; 7] = [
        Command::Inspect,
        Command::State,
        Command::Bench,
        Command::App,
        Command::Capacity,
        Command::Integrity,
        Command::Qualify,
    ];

    /// As it is typed.
    pub const fn word(self) -> &'static str {
        match self {
            Command::Inspect => "inspect",
            Command::State => "state",
            Command::Bench => "bench",
            Command::App => "app",
            Command::Capacity => "capacity",
            Command::Integrity => "integrity",
            Command::Qualify => "qualify",
            Command::Fleet => "fleet",
        }
    }

    fn options(self) -> &'static [(&'static str, Takes)] {
        match self {
            Command::Inspect => INSPECT,
            Command::State => STATE,
            Command::Bench => BENCH,
            Command::App => APP,
            Command::Capacity => CAPACITY,
            Command::Integrity => INTEGRITY,
            Command::Qualify => QUALIFY,
            Command::Fleet => FLEET,
        }
    }

    /// Whether times are what it finds, so that nothing may share the way to the device meanwhile. What fills a device, wears
    /// it out or cuts its power looks at what it holds.
    pub const fn phase(self) -> Phase {
        match self {
            Command::Inspect | Command::State | Command::Bench | Command::App | Command::Qualify | Command::Fleet => {
                Phase::Timed
            }
            Command::Capacity | Command::Integrity => Phase::Wear,
        }
    }
}

/// What is done to a device: a command with its options, all of them known and in the order in which they are typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// What the plan calls it.
    pub name: String,
    /// What is run.
    pub command: Command,
    /// Its options, sorted by name; the value is empty for a flag.
    options: Vec<(&'static str, String)>,
    /// The name of the commands that cut the power, which the host's own file has.
    pub power: Option<String>,
    /// What is held against what, where it qualifies.
    pub qualification: Option<Qualification>,
}

impl Work {
    /// Takes options by name with the text of their values (`true` and `false` for flags).
    ///
    /// # Errors
    /// The command is none that is run, an option is none that it takes here, or a value is none that the option takes.
    pub fn new(
        name: &str,
        command: &str,
        given: &[(String, String)],
        power: Option<String>,
        qualification: Option<Qualification>,
    ) -> Result<Work, PlanError> {
        let command = Command::ALL.into_iter().find(|known| known.word() == command).ok_or_else(|| {
            let known: Vec<&str> = Command::ALL.iter().map(|known| known.word()).collect();
            let what = format!("work '{name}': there is no command '{command}' for a plan");
            PlanError { what, hint: format!("there are {}", known.join(", ")) }
        })?;
        Work::of(name, command, given, power, qualification)
    }

    /// A command that is known, with its options.
    pub(crate) fn of(
        name: &str,
        command: Command,
        given: &[(String, String)],
        power: Option<String>,
        qualification: Option<Qualification>,
    ) -> Result<Work, PlanError> {
        let of = |what: String, hint: String| PlanError { what: format!("work '{name}': {what}"), hint };
        let mut options = Vec::new();
        for (option, value) in given {
            let known = command.options().iter().find(|(known, _)| known == option);
            let Some((known, takes)) = known else {
                let names: Vec<&str> = command.options().iter().map(|(name, _)| *name).collect();
                return Err(of(
                    format!("{} has no option '{option}' in a plan", command.word()),
                    format!("it has {}", names.join(", ")),
                ));
            };
            match takes.read(value) {
                Ok(Some(value)) => options.push((*known, value)),
                Ok(None) => {}
                Err(wanted) => return Err(of(format!("'{value}' does not do for {option}"), wanted)),
            }
        }
        options.sort();
        let work = Work { name: name.to_owned(), command, options, power, qualification };
        work.check().map_err(|(what, hint)| of(what, hint))?;
        Ok(work)
    }

    /// The work of these words, which came from elsewhere: the same rules as for what a plan has, and the same words again.
    ///
    /// # Errors
    /// No plan leads to them.
    pub fn of_words(name: &str, words: &[String], power: Option<String>) -> Result<Work, PlanError> {
        let (command, rest) = words.split_first().map_or(("", words), |(command, rest)| (command.as_str(), rest));
        let option = |word: &String| match word.strip_prefix("--").map(|option| option.split_once('=')) {
            Some(Some((option, value))) => (option.to_owned(), value.to_owned()),
            Some(None) => (word.trim_start_matches('-').to_owned(), "true".to_owned()),
            None => (Command::App.word().to_owned(), word.clone()),
        };
        let given: Vec<(String, String)> = rest.iter().map(option).collect();
        // Runs of one host hold devices against each other, as no order names several.
        let work = match command == Command::Fleet.word() {
            true => Work::of(name, Command::Fleet, &given, power, None)?,
            false => Work::new(name, command, &given, power, None)?,
        };
        // Of an option that stands there twice, this and the worker could each heed another one.
        let is_twice = work.options.windows(2).any(|pair| pair[0].0 == pair[1].0);
        match work.words() == words && !is_twice {
            true => Ok(work),
            false => Err(PlanError {
                what: format!("work '{name}': its words are not those of a plan"),
                hint: "submit the plan again with a server of the same version".to_owned(),
            }),
        }
    }

    fn check(&self) -> Result<(), (String, String)> {
        let hint = |text: &str| text.to_owned();
        let holds = self.qualification.as_ref().map(|one| one.requirements.is_some());
        match self.command {
            Command::Qualify if holds.is_none() => Err((
                hint("nothing is held against anything"),
                hint("candidate = [\"NAME\"], and reference = [\"NAME\"], beside run"),
            )),
            Command::Qualify if self.option("plan").is_some() == (holds == Some(true)) => Err((
                hint("it needs requirements, from one place"),
                hint("plan = \"emcp-replacement\" under options, or a table [work.requirements]"),
            )),
            command if command != Command::Qualify && holds.is_some() => Err((
                hint("it holds no devices against each other"),
                hint("reference, candidate, requirements and figures go with run = \"qualify\""),
            )),
            Command::App if self.option("app").is_none() => {
                Err((hint("no app is named"), hint("app = \"contacts\" under options; `flashscope app list` has them")))
            }
            Command::Fleet if ["generator", "first", "devices"].iter().any(|name| self.option(name).is_none()) => {
                Err((hint("no devices are named"), hint("it has generator, first and devices")))
            }
            Command::Bench if self.option("preset").is_none() && self.option("rw").is_none() => {
                Err((hint("no load is named"), hint("rw = \"randread\" or preset = \"sd-class\" under options")))
            }
            command if !matches!(command, Command::Integrity | Command::Qualify) && self.power.is_some() => {
                Err((hint("it cuts no power"), hint("power goes with run = \"integrity\" or \"qualify\"")))
            }
            _ => Ok(()),
        }
    }

    /// The value of an option; empty for a flag that is set.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_str())
    }

    /// The words of the command line, without the target and without what the host adds (where the record goes, the seed,
    /// consent).
    pub fn words(&self) -> Vec<String> {
        let mut words = vec![self.command.word().to_owned()];
        words.extend(self.option("app").map(str::to_owned));
        if let Some(qualification) = &self.qualification {
            words.push(self.option("plan").unwrap_or(REQUIREMENTS).to_owned());
            words.extend(qualification.figures.as_ref().map(|_| format!("--table={FIGURES}")));
        }
        words.extend(self.options.iter().filter(|(name, _)| !matches!(*name, "app" | "plan")).map(|(name, value)| {
            match value.is_empty() {
                true => format!("--{name}"),
                // In one word, so that a value can never be taken for an option.
                false => format!("--{name}={value}"),
            }
        }));
        words
    }

    /// Whether it writes to the device whatever the device is, so that on a real one it needs the operator's consent. What only
    /// adapts (inspect, state) reads where nobody consents.
    pub fn must_write(&self) -> bool {
        let makes = self.option("state").is_some() || self.option("make").is_some();
        let reads = self.option("rw").is_some_and(|pattern| matches!(pattern, "read" | "randread"));
        makes
            || match self.command {
                Command::Inspect | Command::State | Command::Fleet => false,
                Command::Bench => self.option("preset").is_some() || !reads,
                // Requirements that only read are told by their text ([`crate::Asked`]).
                Command::App | Command::Capacity | Command::Integrity | Command::Qualify => true,
            }
    }

    /// Whether it may take a target of which only reading is consented to, and says so by itself.
    pub fn reads_without_consent(&self) -> bool {
        !self.must_write()
    }
}

impl Takes {
    /// The text of a value as it is typed: nothing for a flag that is set; `None` for one that is not.
    ///
    /// # Errors
    /// What would do.
    fn read(self, text: &str) -> Result<Option<String>, String> {
        let owned = || Some(text.to_owned());
        let good = match self {
            Flag => match text {
                "true" => return Ok(Some(String::new())),
                "false" => return Ok(None),
                _ => false,
            },
            Count(most) => text.parse::<u64>().is_ok_and(|count| (1..=most).contains(&count)),
            Place(most) => text.parse::<u64>().is_ok_and(|place| place <= most),
            Size => plain(text) && text.parse::<Bytes>().is_ok(),
            Time => plain(text) && text.parse::<Nanos>().is_ok(),
            Share => text.strip_suffix('%').is_some_and(|number| {
                plain(number) && number.parse::<f64>().is_ok_and(|share| share > 0.0 && share <= 100.0)
            }),
            Name => is_name(text),
            OneOf(words) => words.contains(&text),
        };
        if good { Ok(owned()) } else { Err(self.to_string()) }
    }
}

impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flag => write!(f, "it is true or false"),
            Count(most) => write!(f, "it is a whole number from 1 to {most}"),
            Place(most) => write!(f, "it is a whole number from 0 to {most}"),
            Size => write!(f, "it is a size with its unit, as \"64MiB\""),
            Time => write!(f, "it is a time with its unit, as \"10s\""),
            Share => write!(f, "it is a percentage, as \"95%\""),
            Name => write!(f, "it is a name of letters, digits and hyphens; a plan names no files"),
            OneOf(words) => write!(f, "it is one of {}", words.join(", ")),
        }
    }
}

/// Digits, letters and what stands in numbers.
fn plain(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == 'µ' || c == ' ';
    text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(letter)
}

/// Whether a text is a name: letters, digits, hyphens and low lines, a letter or digit first, of at most 64.
pub fn is_name(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.len() <= 64 && text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(command: &str, options: &[(&str, &str)]) -> Result<Work, PlanError> {
        let options: Vec<_> = options.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        Work::new("w", command, &options, None, None)
    }

    #[test]
    fn words_are_those_of_the_command_line() {
        let bench = work("bench", &[("rw", "randread"), ("runtime", "10s"), ("verify", "true"), ("quick", "false")]);
        assert_eq!(bench.unwrap().words(), ["bench", "--runtime=10s", "--rw=randread", "--verify"]);
        assert_eq!(
            work("app", &[("app", "contacts"), ("rounds", "3")]).unwrap().words(),
            ["app", "contacts", "--rounds=3"]
        );
    }

    #[test]
    fn what_could_reach_beyond_the_device_is_refused() {
        for (command, option, value) in [
            ("bench", "job", "x.toml"),
            ("bench", "preset", "./mine.toml"),
            ("bench", "preset", "--output=/etc/passwd"),
            ("bench", "bs", "4k;reboot"),
            ("bench", "bs", "-1"),
            ("bench", "ioengine", "null"),
            ("integrity", "power-off", "reboot"),
            ("integrity", "journal", "/etc/passwd"),
            ("inspect", "output", "/etc/passwd"),
            ("inspect", "destroy-data", "x:1"),
            ("inspect", "accept-wear", "true"),
            ("app", "app", "../mine.toml"),
            ("app", "fs-options", "exec"),
            ("state", "max-time", "ten"),
            ("capacity", "full", "yes"),
            ("qualify", "plan", "./mine.toml"),
            ("qualify", "table", "/etc/passwd"),
            ("qualify", "runs", "/etc"),
            ("qualify", "anyway", "true"),
            ("qualify", "power-off", "reboot"),
            ("fleet", "devices", "1"),
            ("sh", "c", "true"),
        ] {
            let with = [("rw", "read"), (option, value)];
            let refused = if command == "bench" { work(command, &with) } else { work(command, &with[1..]) };
            assert!(refused.is_err(), "{command} {option} {value}");
        }
        assert!(Work::new("w", "inspect", &[], Some("rack".to_owned()), None).is_err());
    }

    #[test]
    fn what_writes_needs_consent() {
        let must = |command: &str, options: &[(&str, &str)]| work(command, options).unwrap().must_write();
        assert!(!must("inspect", &[]) && !must("state", &[]) && !must("bench", &[("rw", "randread")]));
        assert!(must("bench", &[("rw", "randrw")]) && must("bench", &[("preset", "dd")]) && must("capacity", &[]));
        assert!(must("inspect", &[("state", "dirty")]) && must("state", &[("make", "full")]));
        assert!(must("app", &[("app", "camera")]) && must("integrity", &[("cuts", "3")]));
    }
}
