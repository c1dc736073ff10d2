//! What was typed behind `--vary`: knobs, whose they are, and the conditions that they make.

use crate::args::{AppSettings, AppWords, JournalWord, Sweep as Args, SynchronousWord, TargetArgs};
use crate::error::Failure;
use crate::{near, target};
use anyhow::anyhow;
use clap::ValueEnum;
use flashscope_experiment::sweep;
use flashscope_host::SysRoot;
use flashscope_host::knob::{self, KnobError, Knobs, Wanted};
use flashscope_load::file::{JobOption, JobText};
use flashscope_model::sweep::{Condition, Knob, KnobPlace, Layout};
use std::collections::BTreeMap;
use std::path::Path;

/// What is varied, and how each value is brought about.
pub(super) struct Varied {
    pub(super) knobs: Vec<Knob>,
    pub(super) layout: Layout,
    pub(super) conditions: Vec<Condition>,
    /// The kernel's knobs among them, in their order.
    pub(super) host: Vec<knob::Knob>,
    /// Of an emulated device and a knob, by its place among the knobs, where that is in `host`.
    emulated: BTreeMap<(String, usize), usize>,
    ways: Vec<Way>,
}

/// How a knob is set.
enum Way {
    /// The kernel's: its place in [`Varied::host`].
    Host(usize),
    /// The kernel's, of emulated devices, which are there only once their conditions are known.
    Emulated,
    App(AppKnob),
    Job(&'static JobOption),
    Model,
}

/// What is varied of apps.
#[derive(Clone, Copy)]
enum AppKnob {
    FileSystem,
    Mount,
    Journal,
    Synchronous,
}

/// Their names. Of a directory `mount` is the kernel's, as the file system is mounted already.
const APP_KNOBS: [(&str, AppKnob); 4] = [
    ("fs", AppKnob::FileSystem),
    ("mount", AppKnob::Mount),
    ("journal", AppKnob::Journal),
    ("synchronous", AppKnob::Synchronous),
];

impl AppKnob {
    fn find(name: &str, is_directory: bool) -> Option<AppKnob> {
        let (_, knob) = APP_KNOBS.into_iter().find(|(other, _)| *other == name)?;
        (!(is_directory && matches!(knob, AppKnob::Mount))).then_some(knob)
    }

    fn set(self, words: &mut AppWords, value: &str) -> Result<(), Failure> {
        match self {
            AppKnob::FileSystem => words.fs = Some(value.to_owned()),
            AppKnob::Mount => words.fs_options = Some(value.to_owned()),
            AppKnob::Journal => words.journal = Some(word::<JournalWord>("journal", value)?),
            AppKnob::Synchronous => words.synchronous = Some(word::<SynchronousWord>("synchronous", value)?),
        }
        Ok(())
    }

    /// The value that was typed beside, or that is there otherwise.
    fn now(self, words: &AppWords) -> Option<String> {
        let name = |word: Option<clap::builder::PossibleValue>| word.map(|word| word.get_name().to_owned());
        match self {
            AppKnob::FileSystem => words.fs.clone().or(Some("ext4".to_owned())),
            AppKnob::Mount => words.fs_options.clone(),
            AppKnob::Journal => name(words.journal.and_then(|word| word.to_possible_value())),
            AppKnob::Synchronous => name(words.synchronous.and_then(|word| word.to_possible_value())),
        }
    }
}

fn word<T: ValueEnum>(knob: &str, value: &str) -> Result<T, Failure> {
    T::from_str(value, true).map_err(|_| {
        let known =
            T::value_variants().iter().filter_map(|known| Some(known.to_possible_value()?.get_name().to_owned()));
        Failure::Cannot(anyhow!("--vary {knob}={value}: there is no such value\n{}", near::hint(value, known)))
    })
}

/// The machine, or the tree that stands for it.
pub(super) fn sys(args: &Args) -> Result<SysRoot, Failure> {
    let Some(path) = &args.sysfs else { return Ok(SysRoot::live()) };
    // A tree is a copy: the machine's own files are reached without naming one.
    let holds = path.join("sys").is_dir() && path.canonicalize().is_ok_and(|path| path != Path::new("/"));
    match holds {
        true => Ok(SysRoot::at(path)),
        false => Err(Failure::Cannot(anyhow!(
            "{} holds no tree\nhint: name a directory that holds `sys`, and `proc` beside it",
            path.display()
        ))),
    }
}

impl Varied {
    pub(super) fn of(args: &Args, sys: &SysRoot) -> Result<Varied, Failure> {
        if args.vary.is_empty() {
            return Err(Failure::Cannot(anyhow!(
                "nothing is varied\nhint: --vary KNOB=A,B,… (--knobs lists the kernel's; settings of the job, as bs=4k,64k, are knobs too)"
            )));
        }
        let layout = if args.full { Layout::Factorial } else { Layout::OneAtATime };
        let mut varied = Varied {
            knobs: Vec::new(),
            layout,
            conditions: Vec::new(),
            host: Vec::new(),
            emulated: BTreeMap::new(),
            ways: Vec::new(),
        };
        let known = Knobs::of(sys, Path::new(&args.target.target));
        for typed in &args.vary {
            varied.add(args, &known, typed)?;
        }
        sweep::check(&varied.knobs).map_err(|error| anyhow!("{error}"))?;
        varied.conditions = sweep::conditions(&varied.knobs, layout).map_err(|error| anyhow!("{error}"))?;
        Ok(varied)
    }

    fn add(&mut self, args: &Args, known: &Knobs, typed: &str) -> Result<(), Failure> {
        let (name, values) = split(typed)?;
        let model = args.target.target.strip_prefix("sim:");
        let apps = args.apps.are_said();
        let is_directory = Path::new(&args.target.target).is_dir();
        let of_apps = AppKnob::find(&name, is_directory).filter(|_| apps);
        let option = JobText::options().find(|known| known.option == name || known.alias == Some(name.as_str()));
        let option = option.filter(|_| !apps);
        let mut knob = Knob { name, place: KnobPlace::Job, values, baseline: 0, before: None, paths: Vec::new() };
        let way = match (of_apps, option, model) {
            (Some(own), ..) => {
                let now = own.now(&args.apps);
                knob.values.iter().try_for_each(|value| own.set(&mut args.apps.clone(), value))?;
                knob.baseline = now.and_then(|now| place_of(&knob.values, &now)).unwrap_or(0);
                Way::App(own)
            }
            (None, None, Some(_)) if apps && knob::is_known(&knob.name) => {
                knob.place = KnobPlace::Host;
                Way::Emulated
            }
            (None, Some(option), _) => {
                knob.baseline = in_force(args.words.text(), option, &knob.values)?;
                Way::Job(option)
            }
            (None, None, Some(spec)) => {
                knob.place = KnobPlace::Model;
                let mut given = spec.split(',').filter_map(|part| part.split_once('='));
                let now = given.rfind(|(key, _)| key.trim() == knob.name);
                knob.baseline = now.and_then(|(_, now)| place_of(&knob.values, now.trim())).unwrap_or(0);
                Way::Model
            }
            (None, None, None) => {
                let found = known.find(&knob.name).map_err(|error| unknown(error, &knob.name, apps))?;
                knob.place = KnobPlace::Host;
                knob.before = found.value().map_err(|error| anyhow!("{error}"))?;
                knob.paths = found.paths().map(|path| path.display().to_string()).collect();
                knob.baseline = knob.values.iter().position(|value| found.is(value).unwrap_or(false)).unwrap_or(0);
                self.host.push(found);
                Way::Host(self.host.len() - 1)
            }
        };
        self.knobs.push(knob);
        self.ways.push(way);
        Ok(())
    }

    fn values<'a>(&'a self, condition: &'a Condition) -> impl Iterator<Item = (&'a Way, &'a str, &'a str)> {
        let each = self.ways.iter().zip(&self.knobs).zip(&condition.values);
        each.map(|((way, knob), value)| (way, knob.name.as_str(), knob.values[*value].as_str()))
    }

    /// The words of the job under a condition.
    pub(super) fn words(&self, args: &Args, condition: &Condition) -> Result<JobText, Failure> {
        let mut words = args.words.text().clone();
        for (way, name, value) in self.values(condition) {
            if let Way::Job(option) = way {
                (option.set)(&mut words, value).map_err(|why| anyhow!("--vary {name}: {why}"))?;
            }
        }
        Ok(words)
    }

    /// The target under a condition.
    pub(super) fn target(&self, args: &Args, condition: &Condition) -> String {
        let mut target = args.target.target.clone();
        for (_, name, value) in self.values(condition).filter(|(way, ..)| matches!(way, Way::Model)) {
            target.push_str(&format!(",{name}={value}"));
        }
        target
    }

    /// What the kernel's knobs are under a condition.
    pub(super) fn wanted(&self, args: &Args, condition: &Condition) -> Vec<Wanted> {
        let venue = self.venue(args, condition);
        let host = self.values(condition).enumerate().filter_map(|(at, (way, _, value))| {
            let knob = match way {
                Way::Host(knob) => *knob,
                Way::Emulated => *self.emulated.get(&(venue.clone(), at))?,
                Way::App(_) | Way::Job(_) | Way::Model => return None,
            };
            Some(Wanted { knob, value: value.to_owned() })
        });
        host.collect()
    }

    /// How apps are played under a condition.
    pub(super) fn app_settings(&self, args: &Args, condition: &Condition) -> Result<AppSettings, Failure> {
        let mut words = args.apps.clone();
        for (way, _, value) in self.values(condition) {
            if let Way::App(knob) = way {
                knob.set(&mut words, value)?;
            }
        }
        let target = TargetArgs { target: self.target(args, condition), ..args.target.clone() };
        Ok(words.settings(&target, &args.in_state))
    }

    /// What names the device that apps are played on under a condition: a simulated one is another one where its parameters or its
    /// file system are, and so is never made anew.
    pub(super) fn venue(&self, args: &Args, condition: &Condition) -> String {
        let target = self.target(args, condition);
        let file_system = self.values(condition).find(|(way, ..)| matches!(way, Way::App(AppKnob::FileSystem)));
        match file_system.filter(|_| target.starts_with("sim:")) {
            Some((.., value)) => format!("{target} with {value}"),
            None => target,
        }
    }

    /// Finds the kernel's knobs of an emulated device, which is there now.
    ///
    /// # Errors
    /// It does not have one.
    pub(super) fn adopt(&mut self, sys: &SysRoot, venue: &str, device: &Path) -> Result<(), Failure> {
        let known = Knobs::of(sys, device);
        let emulated: Vec<usize> = (0..self.ways.len()).filter(|at| matches!(self.ways[*at], Way::Emulated)).collect();
        for at in emulated {
            let knob = &mut self.knobs[at];
            let found = known.find(&knob.name).map_err(|error| unknown(error, &knob.name, true))?;
            if knob.paths.is_empty() {
                knob.before = found.value().map_err(|error| anyhow!("{error}"))?;
            }
            knob.paths.extend(found.paths().map(|path| path.display().to_string()));
            self.emulated.insert((venue.to_owned(), at), self.host.len());
            self.host.push(found);
        }
        Ok(())
    }

    /// Whether requests are of another size from condition to condition, so that their number says little.
    pub(super) fn varies_sizes(&self) -> bool {
        self.knobs.iter().any(|knob| ["bs", "block", "write-bs"].contains(&knob.name.as_str()))
    }
}

/// `KNOB=A,B` or `KNOB=A;B`.
fn split(typed: &str) -> Result<(String, Vec<String>), Failure> {
    let wrong = |what: &str| {
        Failure::Cannot(anyhow!("--vary {typed}: {what}\nhint: a knob and its values, as --vary read_ahead_kb=128,512"))
    };
    let (name, values) = typed.split_once('=').ok_or_else(|| wrong("there are no values"))?;
    let between = if values.contains(';') { ';' } else { ',' };
    let values: Vec<String> = values.split(between).map(|value| value.trim().to_owned()).collect();
    if name.trim().is_empty() {
        return Err(wrong("there is no knob"));
    }
    if values.iter().any(String::is_empty) {
        return Err(wrong("a value is empty"));
    }
    if typed.contains(['\n', '\t', '\0']) {
        return Err(wrong("names and values are one line without tabs"));
    }
    Ok((name.trim().to_owned(), values))
}

/// The value that the words of the job have already; the first where they have none of them.
fn in_force(words: &JobText, option: &JobOption, values: &[String]) -> Result<usize, Failure> {
    let mut found = None;
    for (at, value) in values.iter().enumerate() {
        let mut changed = words.clone();
        (option.set)(&mut changed, value).map_err(|why| anyhow!("--vary {}={value}: {why}", option.option))?;
        if changed == *words {
            found = Some(at);
        }
    }
    Ok(found.unwrap_or(0))
}

fn place_of(values: &[String], now: &str) -> Option<usize> {
    let number = |text: &str| text.parse::<i128>().ok();
    values.iter().position(|value| value == now || number(value).is_some_and(|value| number(now) == Some(value)))
}

/// A knob that there is not may be a slip.
fn unknown(error: KnobError, name: &str, apps: bool) -> Failure {
    match error {
        KnobError::Unknown { known, .. } => {
            let options: Vec<String> = match apps {
                true => APP_KNOBS.iter().map(|(name, _)| (*name).to_owned()).collect(),
                false => JobText::options().map(|option| option.option.to_owned()).collect(),
            };
            let hint = near::hint(name, known.into_iter().chain(options));
            Failure::Cannot(anyhow!("there is no knob '{name}'\n{hint}; or a path below /sys or /proc/sys"))
        }
        other => Failure::Cannot(anyhow!("{other}")),
    }
}

/// Whether a simulated device can be made under a condition.
pub(super) fn check_model(target: &str) -> Result<(), Failure> {
    if let Some(spec) = target.strip_prefix("sim:") {
        target::open_model(spec, 1)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knob_and_its_values() {
        let check = |typed: &str, name: &str, values: &[&str]| {
            let (found, list) = split(typed).expect("sound");
            assert_eq!((found.as_str(), list.iter().map(String::as_str).collect::<Vec<_>>()), (name, values.to_vec()));
        };
        check("read_ahead_kb=128, 512", "read_ahead_kb", &["128", "512"]);
        check("bs=4k:3,64k:1;4k", "bs", &["4k:3,64k:1", "4k"]);
        check("write_cache=write back,write through", "write_cache", &["write back", "write through"]);
        for wrong in ["bs", "=1,2", "bs=4k,,8k", "bs=4k\t,8k"] {
            assert!(split(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_value_is_found_however_it_is_written() {
        let values = ["128".to_owned(), "0512".to_owned(), "none".to_owned()];
        assert_eq!(
            [place_of(&values, "512"), place_of(&values, "none"), place_of(&values, "64")],
            [Some(1), Some(2), None]
        );
    }
}
