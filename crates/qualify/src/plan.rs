//! A plan as it stands in a file.

use crate::limit;
use crate::task::{Shorter, Task};
use flashscope_load::file::{JobText, Text};
use flashscope_load::job::{JobSet, Phase};
use flashscope_model::DeviceState;
use flashscope_model::qualification::{Area, Limit, PlanFacts, Requirement, Weight};
use flashscope_units::Nanos;
use serde::Deserialize;
use std::fmt;

/// How sure each result must be where the plan does not say: one wrong result in a hundred.
const CONFIDENCE: f64 = 0.99;
/// Blocks that a workload has at most, where the plan does not say.
const BLOCKS: u32 = 30;
/// Runs of a workload in one session of a part that takes no turns, and sessions, where the plan does not say.
const RUNS: u32 = 5;
const SESSIONS: u32 = 3;
/// More of anything is a slip of the keyboard.
const MOST: u32 = 1000;

/// A plan: what is run, and what is required of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// What it asks, in a sentence.
    pub title: String,
    /// Whose requirements these are.
    pub source: String,
    /// The text that it was read from.
    pub text: String,
    /// Whether this is its short form.
    pub is_quick: bool,
    /// What the short form cannot decide; empty in the full form.
    pub cannot_decide: Vec<String>,
    /// Blocks that each workload has at most.
    pub blocks: u32,
    /// Runs of each workload in a session of a part that takes no turns.
    pub runs: u32,
    /// Sessions of such a part.
    pub sessions: u32,
    /// No block begins after this time.
    pub time: Option<Nanos>,
    /// What is run.
    pub workloads: Vec<Workload>,
    /// What is required.
    pub requirements: Vec<Requirement>,
    quick: Option<QuickText>,
}

/// A workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Its name, unique within the plan.
    pub name: String,
    /// What it does.
    pub task: Task,
    /// The state that the part is brought into before each run; `None`: as it is found.
    pub state: Option<DeviceState>,
}

/// Why a text is no plan. Prints as what is wrong, and a hint on its own line where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// It is not TOML, or has a key that there is not; the message says where.
    Text(String),
    /// It contradicts itself; the message says where.
    Sense(String),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::Text(why) => {
                write!(f, "{why}\nhint: `flashscope qualify emcp-replacement --explain` prints a plan")
            }
            PlanError::Sense(why) => write!(f, "{why}"),
        }
    }
}

impl std::error::Error for PlanError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    plan: HeaderText,
    quick: Option<QuickText>,
    #[serde(default)]
    workload: Vec<WorkloadText>,
    #[serde(default)]
    requirement: Vec<RequirementText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HeaderText {
    /// Its name.
    name: String,
    /// What it asks.
    title: String,
    /// Whose requirements these are.
    source: String,
    /// How sure each result must be, where a requirement does not say.
    confidence: Option<String>,
    /// Blocks at most.
    blocks: Option<u32>,
    /// Runs in a session of a board.
    runs: Option<u32>,
    /// Sessions of a board.
    sessions: Option<u32>,
    /// No block begins after this.
    time: Option<String>,
}

/// The short form: what it makes less of.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct QuickText {
    blocks: Option<u32>,
    runs: Option<u32>,
    sessions: Option<u32>,
    time: Option<String>,
    /// Of each job of bench.
    runtime: Option<Text>,
    /// Of each app.
    rounds: Option<u32>,
    /// Of integrity.
    cuts: Option<u32>,
    /// Requirements that are not tried.
    #[serde(default)]
    leave_out: Vec<String>,
    /// What follows from that.
    cannot_decide: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadText {
    name: String,
    /// bench, app, replay, mem, capacity, integrity, registers, inspect or external.
    command: String,
    state: Option<String>,
    // Of bench.
    preset: Option<String>,
    job: Option<Vec<JobText>>,
    // Of app.
    app: Option<String>,
    rounds: Option<u32>,
    file_system: Option<String>,
    // Of replay.
    trace: Option<String>,
    // Of mem.
    test: Option<String>,
    // Of capacity.
    full: Option<bool>,
    // Of integrity.
    cuts: Option<u32>,
    // Of external.
    external: Option<String>,
    prints: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequirementText {
    name: String,
    title: String,
    workload: String,
    figure: String,
    limit: String,
    /// functional, disk, memory, integrity or registers.
    kind: String,
    /// must or should.
    weight: Option<String>,
    confidence: Option<String>,
}

impl Plan {
    /// Reads one.
    ///
    /// # Errors
    /// Where the text is not TOML, has an unknown key, a limit without a unit, a name twice or a workload that there is not.
    pub fn parse(text: &str) -> Result<Plan, PlanError> {
        let file: FileText =
            toml::from_str(text).map_err(|error| PlanError::Text(error.to_string().trim_end().to_owned()))?;
        let header = file.plan;
        let usual = header.confidence.as_deref().map_or(Ok(CONFIDENCE), |text| confidence(text, "[plan]"))?;
        let workloads = file.workload.into_iter().map(workload).collect::<Result<Vec<_>, _>>()?;
        let requirements = file
            .requirement
            .into_iter()
            .map(|requirement| self::requirement(requirement, usual, &workloads))
            .collect::<Result<Vec<_>, _>>()?;
        let plan = Plan {
            name: header.name,
            title: header.title,
            source: header.source,
            text: text.to_owned(),
            is_quick: false,
            cannot_decide: Vec::new(),
            blocks: counted(header.blocks, BLOCKS, "blocks")?,
            runs: counted(header.runs, RUNS, "runs")?,
            sessions: counted(header.sessions, SESSIONS, "sessions")?,
            time: header.time.as_deref().map(|text| time(text, "[plan]")).transpose()?,
            workloads,
            requirements,
            quick: file.quick,
        };
        plan.check()?;
        // The short form is found wrong when the file is read, not on the day when somebody is in a hurry.
        plan.short_form()?;
        Ok(plan)
    }

    /// Its short form; `None` where it has none.
    ///
    /// # Panics
    /// Never: [`Plan::parse`] has tried it.
    pub fn quick(&self) -> Option<Plan> {
        self.short_form().expect("it was tried when the plan was read")
    }

    fn short_form(&self) -> Result<Option<Plan>, PlanError> {
        let Some(quick) = &self.quick else { return Ok(None) };
        let mut plan = Plan { is_quick: true, cannot_decide: quick.cannot_decide.clone(), ..self.clone() };
        plan.blocks = counted(quick.blocks, plan.blocks, "blocks of [quick]")?;
        plan.runs = counted(quick.runs, plan.runs, "runs of [quick]")?;
        plan.sessions = counted(quick.sessions, plan.sessions, "sessions of [quick]")?;
        plan.time = quick.time.as_deref().map(|text| time(text, "[quick]")).transpose()?.or(plan.time);
        if let Some(name) = quick.leave_out.iter().find(|name| !plan.requirements.iter().any(|one| one.name == **name))
        {
            return sense(format!("[quick] leaves out '{name}', which is no requirement"));
        }
        if quick.cannot_decide.is_empty() {
            return sense("[quick] does not say what it cannot decide\nhint: cannot_decide = [\"wear\"]");
        }
        plan.requirements.retain(|requirement| !quick.leave_out.contains(&requirement.name));
        plan.workloads.retain(|workload| plan.requirements.iter().any(|one| one.workload == workload.name));
        let shorter = Shorter { runtime: quick.runtime.clone(), rounds: quick.rounds, cuts: quick.cuts };
        plan.workloads.iter_mut().for_each(|workload| workload.task.shorten(&shorter));
        plan.check()?;
        Ok(Some(plan))
    }

    /// The workload of this name.
    pub fn workload(&self, name: &str) -> Option<&Workload> {
        self.workloads.iter().find(|workload| workload.name == name)
    }

    /// The first requirement that needs a reference.
    pub fn needs_reference(&self) -> Option<&Requirement> {
        self.requirements.iter().find(|requirement| matches!(requirement.limit, Limit::Reference { .. }))
    }

    /// As records keep it.
    pub fn facts(&self, seed: u64) -> PlanFacts {
        PlanFacts {
            name: self.name.clone(),
            title: self.title.clone(),
            source: self.source.clone(),
            text: self.text.clone(),
            quick: self.is_quick,
            cannot_decide: self.cannot_decide.clone(),
            most_blocks: self.blocks,
            most_time: self.time,
            seed,
            requirements: self.requirements.clone(),
        }
    }

    fn check(&self) -> Result<(), PlanError> {
        if !self.requirements.iter().any(|requirement| requirement.weight == Weight::Must) {
            return sense(
                "no requirement must be met, so that there is nothing to decide\nhint: a [[requirement]] has weight = \"must\"",
            );
        }
        twice("requirement", self.requirements.iter().map(|requirement| &requirement.name))?;
        twice("workload", self.workloads.iter().map(|workload| &workload.name))?;
        let asked = |workload: &&Workload| self.requirements.iter().any(|one| one.workload == workload.name);
        match self.workloads.iter().find(|workload| !asked(workload)) {
            Some(idle) => sense(format!("no requirement asks for the workload '{}'\nhint: leave it away", idle.name)),
            None => Ok(()),
        }
    }
}

fn sense<T>(why: impl Into<String>) -> Result<T, PlanError> {
    Err(PlanError::Sense(why.into()))
}

fn twice<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> Result<(), PlanError> {
    let mut seen: Vec<&String> = Vec::new();
    for name in names {
        if name.trim().is_empty() {
            return sense(format!("a {what} has no name"));
        }
        if seen.contains(&name) {
            return sense(format!("there are two {what}s '{name}'"));
        }
        seen.push(name);
    }
    Ok(())
}

fn counted(said: Option<u32>, usual: u32, what: &str) -> Result<u32, PlanError> {
    match said.unwrap_or(usual) {
        count if (1..=MOST).contains(&count) => Ok(count),
        count => sense(format!("{what}: {count} is not from 1 to {MOST}")),
    }
}

fn time(text: &str, at: &str) -> Result<Nanos, PlanError> {
    text.parse().map_err(|error| PlanError::Sense(format!("time of {at}: {error}")))
}

/// `99%`, as a share of one.
fn confidence(text: &str, at: &str) -> Result<f64, PlanError> {
    let number = text.trim().strip_suffix('%').map(str::trim).and_then(|text| text.parse::<f64>().ok());
    match number.map(|percent| percent / 100.0) {
        Some(share) if (0.5..=0.9999).contains(&share) => Ok(share),
        _ => sense(format!("confidence of {at}: '{text}' is not from 50% to 99.99%\nhint: confidence = \"99%\"")),
    }
}

fn requirement(text: RequirementText, usual: f64, workloads: &[Workload]) -> Result<Requirement, PlanError> {
    let at = format!("requirement '{}'", text.name);
    let names = || workloads.iter().map(|workload| workload.name.as_str()).collect::<Vec<_>>().join(", ");
    let Some(workload) = workloads.iter().find(|workload| workload.name == text.workload) else {
        return sense(format!("{at}: there is no workload '{}'\nhint: workloads are {}", text.workload, names()));
    };
    let limit = limit::parse(&text.limit).map_err(|why| PlanError::Sense(format!("{at}: {why}")))?;
    if limit == Limit::Holds && !workload.task.answers() {
        return sense(format!(
            "{at}: the workload '{}' ({}) gives figures and answers nothing with yes or no\nhint: give a limit, as \">= 0.95 x reference\"",
            workload.name,
            workload.task.work().word()
        ));
    }
    let area = [Area::Functional, Area::Disk, Area::Memory, Area::Integrity, Area::Registers]
        .into_iter()
        .find(|area| area.word() == text.kind)
        .ok_or_else(|| {
            PlanError::Sense(format!(
                "{at}: '{}' is no kind\nhint: kinds are functional, disk, memory, integrity and registers",
                text.kind
            ))
        })?;
    let weight = match text.weight.as_deref() {
        None | Some("must") => Weight::Must,
        Some("should") => Weight::Should,
        Some(other) => return sense(format!("{at}: weight is \"must\" or \"should\", not '{other}'")),
    };
    Ok(Requirement {
        confidence: text.confidence.as_deref().map_or(Ok(usual), |text| confidence(text, &at))?,
        name: text.name,
        title: text.title,
        workload: text.workload,
        work: workload.task.work(),
        state: workload.state.map(|state| state.word().to_owned()),
        figure: text.figure,
        limit,
        weight,
        area,
    })
}

fn workload(mut text: WorkloadText) -> Result<Workload, PlanError> {
    let at = format!("workload '{}'", text.name);
    let wrong = |why: String| PlanError::Sense(format!("{at}: {why}"));
    let state = match text.state.take() {
        None => None,
        Some(word) => Some(DeviceState::from_word(&word).ok_or_else(|| {
            let words: Vec<&str> = DeviceState::ALL.iter().map(|state| state.word()).collect();
            wrong(format!("there is no state '{word}'\nhint: states are {}", words.join(", ")))
        })?),
    };
    let needed = |key: &str| wrong(format!("it needs {key} = …"));
    let task = match text.command.as_str() {
        "bench" => {
            let (preset, jobs) = (text.preset.take(), text.job.take().unwrap_or_default());
            if preset.is_some() != jobs.is_empty() {
                return Err(wrong("it needs preset = … or [[workload.job]], and not both".to_owned()));
            }
            check_jobs(&jobs).map_err(&wrong)?;
            Task::Bench { preset, jobs }
        }
        "app" => Task::App {
            app: text.app.take().ok_or_else(|| needed("app"))?,
            rounds: text.rounds.take(),
            file_system: text.file_system.take().unwrap_or_else(|| "ext4".to_owned()),
        },
        "replay" => Task::Replay { trace: text.trace.take().ok_or_else(|| needed("trace"))? },
        "mem" => Task::Memory { test: text.test.take().ok_or_else(|| needed("test"))? },
        "capacity" => Task::Capacity { full: text.full.take().unwrap_or(false) },
        "integrity" => Task::Integrity { cuts: text.cuts.take().ok_or_else(|| needed("cuts"))? },
        "registers" => Task::Registers,
        "inspect" => Task::Inspect,
        "external" => {
            let name = text.external.take().ok_or_else(|| needed("external"))?;
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)) {
                return Err(wrong(format!(
                    "'{name}' is no name of an external command\nhint: a plan names a command, and the settings of the host say \
                     what it is (qualify.external.NAME); names have letters, digits, - and _"
                )));
            }
            let prints = text.prints.take().map(|word| {
                limit::unit(&word)
                    .ok_or_else(|| wrong(format!("'{word}' is no unit of a figure\nhint: prints = \"ms\"")))
            });
            Task::External { name, prints: prints.transpose()? }
        }
        other => {
            return Err(wrong(format!(
                "there is no command '{other}'\nhint: commands are bench, app, replay, mem, capacity, integrity, registers, inspect and external"
            )));
        }
    };
    match left_over(&text) {
        Some(key) => Err(wrong(format!("'{key}' is no key of a workload that runs {}", text.command))),
        None => Ok(Workload { name: text.name, task, state }),
    }
}

/// A key that no one took.
fn left_over(text: &WorkloadText) -> Option<&'static str> {
    let keys = [
        ("preset", text.preset.is_some()),
        ("job", text.job.is_some()),
        ("app", text.app.is_some()),
        ("rounds", text.rounds.is_some()),
        ("file_system", text.file_system.is_some()),
        ("trace", text.trace.is_some()),
        ("test", text.test.is_some()),
        ("full", text.full.is_some()),
        ("cuts", text.cuts.is_some()),
        ("external", text.external.is_some()),
        ("prints", text.prints.is_some()),
    ];
    keys.into_iter().find(|(_, is_there)| *is_there).map(|(key, _)| key)
}

/// What is wrong with jobs is found when the plan is read.
fn check_jobs(jobs: &[JobText]) -> Result<(), String> {
    let made = jobs.iter().enumerate().map(|(at, text)| {
        if text.name.is_none() {
            return Err(format!("job {} has no name\nhint: figures are called by it, as 'NAME read'", at + 1));
        }
        text.job("job").map(|job| Phase { jobs: vec![job], pause: Nanos::ZERO }).map_err(|error| error.to_string())
    });
    made.collect::<Result<Vec<_>, _>>().map(|phases| drop(JobSet { phases }))
}
