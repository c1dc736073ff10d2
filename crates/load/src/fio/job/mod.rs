//! From sections of options to jobs.

mod engine;
mod extent;
mod pace;
mod pattern;

use super::options;
use super::text::{Parsed, Said, Section};
use super::value::{self, Amount, KbBase};
use super::{FioError, Jobs, Place, World};
use crate::job::{Job, JobSet, Phase, Sharing};
use flashscope_units::{Bytes, Nanos};

pub(super) fn assemble(parsed: Parsed, world: &World<'_>) -> Result<Jobs, FioError> {
    let mut jobs =
        Jobs { set: JobSet { phases: Vec::new() }, notes: Vec::new(), without_effect: Vec::new(), warm: false };
    if parsed.nameless {
        jobs.notes.push("no --name begins a job: all of it is taken as one (fio would run nothing)".to_owned());
    }
    let chosen: Vec<&Section> =
        parsed.jobs.iter().filter(|job| parsed.sections.is_empty() || parsed.sections.contains(&job.name)).collect();
    if let Some(missing) = parsed.sections.iter().find(|name| !parsed.jobs.iter().any(|job| job.name == **name)) {
        let at = parsed.jobs.first().map_or(Place { file: None, line: 1 }, |job| job.at.clone());
        let names: Vec<&str> = parsed.jobs.iter().map(|job| job.name.as_str()).collect();
        return Err(FioError {
            at,
            what: format!("there is no job [{missing}]"),
            hint: Some(format!("there are {}", names.join(", "))),
        });
    }
    // The sections whose jobs run side by side last so far.
    let (mut warm, mut running) = (Vec::new(), Vec::new());
    for section in &chosen {
        let reader = Reader { section, world };
        jobs.without_effect.extend(reader.idle());
        warm.push(!reader.truth("invalidate", true)?);
        let delay = reader.time("startdelay", Nanos::secs(1))?.unwrap_or_default();
        let mine = reader.jobs(&mut jobs.notes)?;
        if let (Some(at), Some(_)) = (&parsed.read_only, mine.iter().find(|job| job.mix.has_writes())) {
            let what = format!("job '{}' writes, but --readonly was given", section.name);
            return Err(FioError { at: at.clone(), what, hint: None });
        }
        let waits = reader.truth("stonewall", false)? || reader.waits_for(&running)?;
        match jobs.set.phases.last_mut() {
            Some(phase) if !waits => {
                if phase.pause != delay {
                    let what = "jobs that run side by side begin together here, and this one has another startdelay";
                    return Err(reader.fail("startdelay", what, Some("add stonewall, or the same startdelay")));
                }
                phase.jobs.extend(mine);
                running.push(section.name.as_str());
            }
            _ => {
                jobs.set.phases.push(Phase { jobs: mine, pause: delay });
                running = vec![section.name.as_str()];
            }
        }
    }
    if jobs.set.phases.is_empty() {
        let at = Place { file: None, line: 1 };
        return Err(FioError {
            at,
            what: "there is no job".to_owned(),
            hint: Some("--name=NAME begins one".to_owned()),
        });
    }
    jobs.warm = warm.iter().all(|warm| *warm);
    if !jobs.warm && warm.contains(&true) {
        jobs.notes
            .push("invalidate=0 holds for all jobs or none here: the page cache is dropped before each".to_owned());
    }
    make_unique(&mut jobs.set);
    jobs.without_effect.extend(parsed.switches);
    jobs.without_effect.sort();
    jobs.without_effect.dedup();
    jobs.notes.dedup();
    Ok(jobs)
}

/// fio allows two jobs of one name.
fn make_unique(set: &mut JobSet) {
    let mut seen: Vec<String> = Vec::new();
    for job in set.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
        let plain = job.name.clone();
        let mut number = 2;
        while seen.contains(&job.name) {
            job.name = format!("{plain} {number}");
            number += 1;
        }
        seen.push(job.name.clone());
    }
}

/// Reads one section.
struct Reader<'a> {
    section: &'a Section,
    world: &'a World<'a>,
}

impl<'a> Reader<'a> {
    /// The last word on an option.
    fn said(&self, name: &str) -> Option<&'a Said> {
        self.section.said.iter().rev().find(|said| said.name == name)
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.said(name).map(|said| said.value.as_deref().unwrap_or("1"))
    }

    fn fail(&self, name: &str, what: &str, hint: Option<&str>) -> FioError {
        let at = self.said(name).map_or(&self.section.at, |said| &said.at).clone();
        let job = &self.section.name;
        let what = match what.is_empty() {
            true => format!("{name} of job '{job}'"),
            false => format!("{name} of job '{job}': {what}"),
        };
        FioError { at, what, hint: hint.map(str::to_owned) }
    }

    fn parsed<T>(&self, name: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<Option<T>, FioError> {
        self.text(name).map(|text| parse(text).map_err(|what| self.fail(name, &what, None))).transpose()
    }

    fn base(&self) -> Result<KbBase, FioError> {
        match self.text("kb_base").map(str::trim) {
            None | Some("1024") => Ok(KbBase::Binary),
            Some("1000") => Ok(KbBase::Standard),
            Some(_) => Err(self.fail("kb_base", "is 1024 or 1000", None)),
        }
    }

    fn bytes(&self, name: &str) -> Result<Option<Bytes>, FioError> {
        let base = self.base()?;
        self.parsed(name, |text| value::bytes(text, base))
    }

    fn number(&self, name: &str) -> Result<Option<u64>, FioError> {
        let base = self.base()?;
        self.parsed(name, |text| value::number(text, base))
    }

    fn count(&self, name: &str) -> Result<Option<u32>, FioError> {
        let found = self.number(name)?;
        found.map(|found| u32::try_from(found).map_err(|_| self.fail(name, "is too large", None))).transpose()
    }

    fn time(&self, name: &str, bare: Nanos) -> Result<Option<Nanos>, FioError> {
        self.parsed(name, |text| value::time(text, bare))
    }

    fn truth(&self, name: &str, default: bool) -> Result<bool, FioError> {
        match self.said(name) {
            None => Ok(default),
            Some(said) => value::truth(said.value.as_deref()).map_err(|what| self.fail(name, &what, None)),
        }
    }

    /// Options of this job that change no result.
    fn idle(&self) -> Vec<String> {
        let idle = |said: &&Said| match options::find(said.name) {
            Some((_, options::Kind::Ignored | options::Kind::Refused(_))) => true,
            Some((name, _)) => options::is_idle_flag(name),
            None => false,
        };
        self.section.said.iter().filter(idle).map(|said| said.name.to_owned()).collect()
    }

    /// The job, or one per file where fio would make several.
    fn jobs(&self, notes: &mut Vec<String>) -> Result<Vec<Job>, FioError> {
        self.refuse_values()?;
        let workers = self.count("numjobs")?.unwrap_or(1);
        if !(1..=crate::plan::MOST_WORKERS).contains(&workers) {
            return Err(self.fail("numjobs", "must be from 1 to 1024", None));
        }
        let increment = self.amount("offset_increment")?;
        let folder = self.text("directory").map(|folder| folder.trim_end_matches('/'));
        let place = |name: &str| match folder {
            Some(folder) if !name.starts_with('/') => format!("{folder}/{name}"),
            _ => name.to_owned(),
        };
        let files = self.count("nrfiles")?.filter(|files| *files != 1);
        if let Some(name) = self.text("filename") {
            if files.is_some() {
                return Err(self.fail(
                    "nrfiles",
                    "says nothing where there is a filename",
                    Some("leave one of them away"),
                ));
            }
            let mut names = self.names(name)?.into_iter().map(|name| place(&name));
            let first = names.next().unwrap_or_default();
            let mut job = self.job(first, names.collect(), notes)?;
            job.workers = workers;
            job.sharing = match increment {
                None | Some(Amount::Bytes(0)) => Sharing::Whole,
                Some(Amount::Bytes(bytes)) => Sharing::Shifted(Bytes(bytes)),
                Some(Amount::Percent(_)) => return Err(self.fail("offset_increment", "is no percentage here", None)),
            };
            return Ok(vec![job]);
        }
        if increment.is_some() {
            return Err(self.fail("offset_increment", "needs a filename that the jobs share", None));
        }
        let format = self.text("filename_format").unwrap_or("$jobname.$jobnum.$filenum");
        if files.is_some() && self.said("filename_format").is_some() {
            return Err(self.fail("filename_format", "files of a folder have names of their own here", None));
        }
        (0..workers)
            .map(|index| {
                let name = format.replace("$jobname", &self.section.name).replace("$jobnum", &index.to_string());
                let mut job = self.job(place(&name.replace("$filenum", "0")), Vec::new(), notes)?;
                job.files = files;
                if workers > 1 {
                    job.name = format!("{}.{index}", job.name);
                    job.seed = job.seed.wrapping_add(u64::from(index));
                }
                Ok(job)
            })
            .collect()
    }

    /// Values of options of which only some can be carried out.
    fn refuse_values(&self) -> Result<(), FioError> {
        for (name, allowed, why) in [
            ("zonemode", "none", "there are no zones here"),
            ("dedupe_percentage", "0", "there is no such payload here"),
            ("cpus_allowed_policy", "shared", "all workers of a job share its processors here"),
        ] {
            if self.text(name).is_some_and(|text| text != allowed) {
                return Err(self.fail(name, why, Some("leave it away, or use fio for this job")));
            }
        }
        Ok(())
    }

    /// The file names between colons; a colon that belongs to a name is escaped.
    fn names(&self, text: &str) -> Result<Vec<String>, FioError> {
        let plain = text.replace("\\:", "\u{0}");
        if plain.starts_with("sim:") {
            return Ok(vec![text.to_owned()]);
        }
        let names: Vec<String> = plain.split(':').map(|name| name.trim().replace('\u{0}', ":")).collect();
        if names.iter().any(|name| name == "-") {
            return Err(self.fail("filename", "standard input and output are no targets", None));
        }
        if names.iter().any(String::is_empty) {
            let hint = "a colon in a name is written \\:";
            return Err(self.fail("filename", "there is nothing between two colons", Some(hint)));
        }
        Ok(names)
    }

    /// Whether it waits for all jobs that run last so far: those of the section that it names, where these are all.
    fn waits_for(&self, running: &[&str]) -> Result<bool, FioError> {
        let Some(name) = self.text("wait_for") else { return Ok(false) };
        if running.iter().all(|other| *other == name) && !running.is_empty() {
            return Ok(true);
        }
        let hint = "add stonewall to wait for all jobs before it";
        Err(self.fail(
            "wait_for",
            "a job here waits for all that run beside each other before it, or for none",
            Some(hint),
        ))
    }

    /// `exitall` ends a reporting group; here it ends what runs side by side, which is the same where that is one group.
    fn ends_all(&self) -> Result<bool, FioError> {
        let ends = self.truth("exitall", false)?;
        let groups = self.truth("new_group", false)?;
        match self.text("exit_what") {
            _ if !ends => Ok(false),
            Some("stonewall") => Ok(true),
            None | Some("group") if !groups => Ok(true),
            None | Some("group") => {
                let hint = "with exit_what=stonewall it ends all jobs up to the next stonewall";
                Err(self.fail("exitall", "groups are not told apart here", Some(hint)))
            }
            Some(_) => Err(self.fail(
                "exit_what",
                "jobs that come later run all the same here",
                Some("one of group, stonewall"),
            )),
        }
    }

    /// From a list or a mask.
    fn processors(&self) -> Result<Option<Vec<u32>>, FioError> {
        if let Some(list) = self.parsed("cpus_allowed", crate::file::processors)? {
            return Ok(Some(list));
        }
        let mask = self.number("cpumask")?;
        Ok(mask.map(|mask| (0..u64::BITS).filter(|bit| mask >> bit & 1 == 1).collect()))
    }

    fn amount(&self, name: &str) -> Result<Option<Amount>, FioError> {
        let base = self.base()?;
        self.parsed(name, |text| value::amount(text, base))
    }

    fn job(&self, target: String, more: Vec<String>, notes: &mut Vec<String>) -> Result<Job, FioError> {
        let mut job = Job::new(self.text("name").unwrap_or(&self.section.name));
        let mut note = |what: String| {
            let line = format!("{}: {what}", self.section.name);
            if !notes.contains(&line) {
                notes.push(line);
            }
        };
        (job.read_sizes, job.write_sizes) = self.sizes()?;
        job.align = self.bytes("ba")?.filter(|align| *align > Bytes::ZERO);
        self.engine(&mut job, &mut note)?;
        self.mode(&mut job, &mut note)?;
        let step = self.direction(&mut job, &mut note)?;
        self.distribution(&mut job)?;
        if !more.is_empty() {
            note("filename: the files are used as if they lay end to end, in order one after another".to_owned());
        }
        job.more = more;
        let extent = self.extent(&job, &target)?;
        job.span = extent.span;
        job.target = Some(target);
        job.ends_all = self.ends_all()?;
        job.processors = self.processors()?;
        job.stop = self.stop(&job, &extent, step)?;
        job.warm_up = self.time("ramp_time", Nanos::secs(1))?.unwrap_or_default();
        job.arrivals = self.arrivals(&mut job, &mut note)?;
        job.flush = self.flush(&mut note)?;
        self.data(&mut job, &mut note)?;
        if let Some(seed) = self.number("randseed")? {
            job.seed = seed;
        }
        for name in ["randrepeat", "allrandrepeat"] {
            if self.said(name).is_some() && !self.truth(name, true)? {
                note(format!("{name}=0: the seed of --seed decides, the same gives the same requests"));
            }
        }
        Ok(job)
    }
}
