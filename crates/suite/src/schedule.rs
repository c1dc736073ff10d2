//! From a definition to jobs that can be run, on one kind of place and with what the operator wishes otherwise.

use crate::definition::{Definition, DefinitionError};
use crate::rounds::{Follow, Standing};
use flashscope_load::file::{JobText, JobTextError, settings};
use flashscope_load::job::{EngineChoice, Job, JobSet, Mode, Payload, Phase};
use flashscope_model::bench::BenchPhase;
use flashscope_units::{Bytes, Nanos};

/// What a definition is run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ground {
    /// Whether it is a simulated device, on virtual time; else there is a page cache in between.
    pub simulated: bool,
    /// Past the page cache only whole blocks of this size can be moved.
    pub block: Bytes,
    /// The allocation unit that the device claims, where it claims one and that can be read.
    pub claimed_unit: Option<Bytes>,
}

impl Ground {
    /// Of the smallest blocks, and without a claim.
    pub const fn new(simulated: bool) -> Ground {
        Ground { simulated, block: Bytes::SECTOR, claimed_unit: None }
    }
}

/// What the operator wishes otherwise than defined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wish {
    /// The short version that the definition has.
    pub quick: bool,
    /// Goes over every job.
    pub over: JobText,
    /// How often, instead of what is defined; in a definition of rounds, how many at most.
    pub repeat: Option<u32>,
    /// Seed of every random choice.
    pub seed: u64,
}

/// Jobs, and how often they run.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The jobs; those that prepare come first.
    pub set: JobSet,
    /// So many phases at the start run once only.
    pub prepare: usize,
    /// How often the others run, at most.
    pub repeat: u32,
    /// What is not as defined, in words.
    pub changed: Vec<String>,
    /// Jobs that cannot run there, each with why and a hint.
    pub left_out: Vec<(String, String)>,
}

impl Definition {
    /// What is to be run.
    ///
    /// # Errors
    /// Where a job's words make no sense, or no job is left that can run there.
    pub fn schedule(&self, ground: Ground, wish: &Wish) -> Result<Schedule, DefinitionError> {
        let mut schedule = Schedule {
            set: JobSet { phases: Vec::new() },
            prepare: 0,
            repeat: self.repeats(wish),
            changed: Vec::new(),
            left_out: Vec::new(),
        };
        let defined = self.rounds.as_ref().map_or(self.header.repeat, |rounds| rounds.at_most);
        if schedule.repeat != defined {
            schedule.changed.push(format!("repeats: {defined} → {}", schedule.repeat));
        }
        let prepares = |text: &&JobText| self.is_preparation(text);
        let (first, then): (Vec<&JobText>, Vec<&JobText>) = self.jobs.iter().partition(prepares);
        for text in first.into_iter().chain(then) {
            let (plain, wished) = (self.plain(text), self.wished(text, wish));
            let job = job(&wished, wish.seed)?;
            note_changes(&mut schedule.changed, &plain, &wished, wish.seed)?;
            if let Some(why) = impossible(&job, ground) {
                schedule.left_out.push((job.name.clone(), why));
                continue;
            }
            let beside = wished.beside == Some(true) && !self.is_preparation(text);
            match schedule.set.phases.last_mut() {
                Some(phase) if beside => phase.jobs.push(job),
                _ => schedule.set.phases.push(Phase { jobs: vec![job], pause: wished.pause().map_err(sense)? }),
            }
            schedule.prepare += usize::from(self.is_preparation(text));
        }
        if schedule.set.phases.len() == schedule.prepare {
            let why = schedule.left_out.first().map_or("there is nothing to run", |(_, why)| why);
            return Err(DefinitionError::Sense(format!("{} cannot run on this target: {why}", self.name())));
        }
        Ok(schedule)
    }

    /// Whether no further round is needed.
    pub fn is_enough(&self, schedule: &Schedule, phases: &[BenchPhase]) -> bool {
        let Some(rule) = &self.rounds else { return false };
        let repeated = &phases[schedule.prepare.min(phases.len())..];
        rule.look(&self.followed(), repeated, span(repeated)).0 != Standing::Open
    }

    pub(crate) fn followed(&self) -> Vec<Follow> {
        let track = self.rounds.iter().flat_map(|rounds| &rounds.track);
        let found = track.filter_map(|name| self.figures.iter().find(|figure| figure.name == *name));
        found.map(|figure| Follow { name: figure.name.clone(), take: figure.take.clone() }).collect()
    }

    fn repeats(&self, wish: &Wish) -> u32 {
        let (defined, quick) = match &self.rounds {
            Some(rounds) => (rounds.at_most, self.quick.rounds),
            None => (self.header.repeat, self.quick.repeat),
        };
        wish.repeat.or(quick.filter(|_| wish.quick)).unwrap_or(defined)
    }

    fn is_preparation(&self, text: &JobText) -> bool {
        text.name.as_ref().is_some_and(|name| self.header.prepare.contains(name))
    }

    /// As defined. What prepares is done when it is done, and takes no more from `[all]` than the place.
    fn plain(&self, text: &JobText) -> JobText {
        if self.is_preparation(text) { text.over(&place(&self.all)) } else { text.over(&self.all) }
    }

    /// What the operator says goes over what `--quick` says, and that over the definition, where it says something of the kind.
    fn wished(&self, text: &JobText, wish: &Wish) -> JobText {
        let plain = self.plain(text);
        if self.is_preparation(text) {
            return place(&wish.over).over(&plain);
        }
        let shorter = JobText {
            runtime: quick(wish, &plain.runtime, &self.quick.runtime),
            pause: quick(wish, &plain.pause, &self.quick.pause),
            ..JobText::default()
        };
        wish.over.over(&shorter.over(&plain))
    }
}

/// What `--quick` says of what is defined.
fn quick<T: Clone>(wish: &Wish, defined: &Option<T>, quick: &Option<T>) -> Option<T> {
    quick.clone().filter(|_| wish.quick && defined.is_some())
}

/// Only where.
fn place(text: &JobText) -> JobText {
    JobText { span: text.span.clone(), offset: text.offset.clone(), ..JobText::default() }
}

/// The span of what repeats: that of its first job.
pub(crate) fn span(phases: &[BenchPhase]) -> Bytes {
    let first = phases.iter().flat_map(|phase| &phase.runs).flat_map(|run| &run.jobs).next();
    let span = first.and_then(|job| job.settings.iter().find(|(name, _)| name == "span"));
    Bytes(span.and_then(|(_, value)| value.parse().ok()).unwrap_or(0))
}

fn sense(error: JobTextError) -> DefinitionError {
    DefinitionError::Sense(error.to_string())
}

fn job(text: &JobText, seed: u64) -> Result<Job, DefinitionError> {
    let job = text.job("job").map_err(sense)?;
    Ok(Job { seed: text.seed.unwrap_or(seed), ..job })
}

/// Why a job cannot run there.
fn impossible(job: &Job, ground: Ground) -> Option<String> {
    let smallest = job.smallest().min(job.align.unwrap_or(job.smallest()));
    if job.mode.is_direct() && !smallest.is_multiple_of(ground.block) {
        return Some(format!(
            "requests of {smallest} are no whole blocks of this target, which has {}\nhint: past the page cache only whole \
             blocks can be moved; what else is defined runs",
            ground.block
        ));
    }
    if !ground.simulated {
        return None;
    }
    let hint =
        "hint: run it on a file, a directory or a block device; `flashscope emulate` makes one of a simulated device";
    if job.files.is_some() || job.engine == EngineChoice::Whole {
        return Some(format!("a simulated device has no files\n{hint}"));
    }
    if !matches!(job.mode, Mode::Direct | Mode::Dsync) || job.engine == EngineChoice::Mmap {
        return Some(format!("a simulated device has no page cache in front of it\n{hint}"));
    }
    if job.payload == Payload::Urandom {
        return Some(format!("bytes are drawn from a kernel, and virtual time has none\n{hint}"));
    }
    None
}

/// Adds what differs between what is defined and what is wished, each kind of change once.
fn note_changes(
    changed: &mut Vec<String>,
    plain: &JobText,
    wished: &JobText,
    seed: u64,
) -> Result<(), DefinitionError> {
    if plain == wished {
        return Ok(());
    }
    let words = |text: &JobText| -> Result<Vec<(&'static str, String)>, DefinitionError> {
        let mut words = settings(&job(text, seed)?);
        words.push(("pause", format!("\"{}ns\"", text.pause().map_err(sense)?.get())));
        Ok(words)
    };
    let (plain, wished) = (words(plain)?, words(wished)?);
    let names = plain.iter().chain(&wished).map(|(name, _)| *name);
    for name in names.filter(|name| *name != "name") {
        let find = |words: &[(&str, String)]| {
            words
                .iter()
                .find(|(other, _)| *other == name)
                .map_or("(not set)".to_owned(), |(name, value)| readable(name, value))
        };
        let (before, after) = (find(&plain), find(&wished));
        let line = format!("{name}: {before} → {after}");
        if before != after && !changed.contains(&line) {
            changed.push(line);
        }
    }
    Ok(())
}

/// A setting as people write it.
fn readable(name: &str, value: &str) -> String {
    let bare = value.trim_matches('"');
    if let Some(time) = bare.strip_suffix("ns").and_then(|number| number.parse().ok()) {
        return Nanos(time).to_string();
    }
    if ["bs", "write_bs"].contains(&name)
        && let Some(size) = bare.strip_suffix(":1").and_then(|number| number.parse().ok())
    {
        return Bytes(size).to_string();
    }
    match bare.parse() {
        Ok(size) if ["span", "offset", "bytes", "align"].contains(&name) => Bytes(size).to_string(),
        _ => bare.to_owned(),
    }
}
