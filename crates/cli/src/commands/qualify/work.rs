//! What a workload comes to on one part: the words of its command, and what its record says.

use super::child::{self, Ran};
use super::course::write;
use super::states::States;
use super::{external, figures};
use crate::args::QualifyCourse;
use crate::error::Failure;
use anyhow::anyhow;
use flashscope_host::{Folder, sha256};
use flashscope_load::file::{JobText, to_toml};
use flashscope_load::job::{JobSet, Phase};
use flashscope_model::qualification::{Access, FigureValue, KeptRecord, Lacking, Part, RunOutcome, Work};
use flashscope_model::{AnyRecord, DeviceState};
use flashscope_qualify::schedule::Next;
use flashscope_qualify::{Plan, Task, Workload};
use flashscope_units::{Bytes, Nanos};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Through files, jobs that do not say how much they use get a file of so much.
const FILE: &str = "256MiB";

/// Does the runs of a plan.
pub(super) struct Worker<'a> {
    pub(super) plan: &'a Plan,
    pub(super) args: &'a QualifyCourse,
    pub(super) folder: &'a Folder,
    /// Of the run, which names its record.
    pub(super) number: usize,
}

/// What came of a run.
pub(super) struct Worked {
    pub(super) outcome: RunOutcome,
    pub(super) replayed: bool,
    pub(super) record: Option<KeptRecord>,
    pub(super) took: Nanos,
    pub(super) written: Bytes,
}

/// A command, and where its record will be.
struct Words {
    words: Vec<OsString>,
    record: PathBuf,
    /// Whether it prints its record, rather than writing it to a file.
    prints: bool,
    /// Whether it replays the trace of an app in place of the app.
    replays: Option<String>,
}

impl Worker<'_> {
    /// Does one run.
    ///
    /// # Errors
    /// It was refused for safety, or cannot even be started.
    pub(super) fn run(&self, next: &Next, part: &Part, states: &mut States) -> Result<Worked, Failure> {
        let workload = &self.plan.workloads[next.workload];
        if let Task::External { name, prints } = &workload.task {
            let (outcome, took) = external::run(name, *prints, part, next.seed, self.args)?;
            states.used(next.part, None);
            return Ok(Worked { outcome, replayed: false, record: None, took, written: Bytes::ZERO });
        }
        if let Some(outcome) = lacking(workload, part, self.args) {
            return Ok(Worked::nothing(outcome));
        }
        let (target, making) = match self.in_state(workload, next, part, states)? {
            Ok(made) => made,
            Err(outcome) => return Ok(Worked::nothing(outcome)),
        };
        let words = match self.words(workload, next, part, &target)? {
            Ok(words) => words,
            Err(outcome) => return Ok(Worked::nothing(outcome)),
        };
        let ran = child::run(&words.words)?;
        let mut worked = self.read(workload, &words, ran)?;
        worked.took += making;
        let record =
            worked.record.as_ref().and_then(|kept| std::fs::read_to_string(self.folder.path().join(&kept.file)).ok());
        let record = record.and_then(|text| flashscope_record::read(&text).ok());
        states.used(next.part, record.as_ref());
        check_identity(record.as_ref(), part)?;
        Ok(worked)
    }

    /// Brings the part into the state of the workload, where it is not in it. Gives what is then to be named as the target.
    fn in_state(
        &self,
        workload: &Workload,
        next: &Next,
        part: &Part,
        states: &mut States,
    ) -> Result<Result<(String, Nanos), RunOutcome>, Failure> {
        let Some(state) = workload.state else { return Ok(Ok((part.target.clone(), Nanos::ZERO))) };
        let target = match part.access {
            Access::Simulated => {
                let file = self.folder.path().join(format!("part-{}-{}.state", next.part + 1, state.word()));
                format!("{},state={}", part.target, file.display())
            }
            _ => part.target.clone(),
        };
        if states.holds(next.part, state) || (part.access == Access::Simulated && saved(&target)) {
            return Ok(Ok((target, Nanos::ZERO)));
        }
        let mut words = words(&["state", &target, "--make", state.word(), "--seed", &self.args.seed.to_string()]);
        words.extend(self.consent(part));
        words.extend(self.args.accept_wear.then(|| "--accept-wear".into()));
        words.extend(
            self.args
                .rated_writes
                .iter()
                .flat_map(|rated| [OsString::from("--rated-writes"), rated.get().to_string().into()]),
        );
        let ran = child::run(&words)?;
        refused(&ran)?;
        if ran.code != Some(0) {
            let why = format!("it cannot be brought into the state '{}' from here: {}", state.word(), ran.why());
            return Ok(Err(RunOutcome::Unsupported { by: Lacking::Host, why }));
        }
        states.made(next.part, state);
        Ok(Ok((target, ran.took)))
    }

    /// The words of a workload's command.
    fn words(
        &self,
        workload: &Workload,
        next: &Next,
        part: &Part,
        target: &str,
    ) -> Result<Result<Words, RunOutcome>, Failure> {
        let record = self.folder.path().join(format!("run-{:04}.json", self.number + 1));
        let seed = next.seed.to_string();
        let (mut all, mut prints, mut replays) = (Vec::new(), false, None);
        match &workload.task {
            Task::Bench { preset: Some(preset), .. } => {
                all.extend(words(&["bench", target, "--preset", preset, "--seed", &seed]));
                all.extend(self.plan.is_quick.then(|| "--quick".into()));
            }
            Task::Bench { jobs, .. } => {
                let name = format!("jobs-{}.toml", next.workload + 1);
                write(self.folder, &name, job_file(jobs)?.as_bytes())?;
                let file = self.folder.path().join(name);
                all.extend(words(&["bench", target, "--seed", &seed, "--job"]));
                all.push(file.into());
                if part.access == Access::Files && jobs.iter().all(|job| job.span.is_none()) {
                    all.extend(words(&["--size", FILE]));
                }
            }
            Task::App { app, rounds, file_system } => {
                let simulated = part.access == Access::Simulated;
                match flashscope_qualify::trace(app).filter(|_| simulated && (self.plan.is_quick || !can_emulate())) {
                    Some(trace) => {
                        let name = format!("{app}.fstrace");
                        write(self.folder, &name, trace)?;
                        let file = self.folder.path().join(name).display().to_string();
                        all.extend(words(&["trace", "replay", &file, target, "--mode", "dependent", "--seed", &seed]));
                        replays = Some(app.clone());
                    }
                    None if simulated && (self.plan.is_quick || !can_emulate()) => {
                        let why = "no trace of this app comes along, and the emulator, which needs root, /dev/fuse and flashscope-player, is not for the short form";
                        return Ok(Err(RunOutcome::Unsupported { by: Lacking::Host, why: why.to_owned() }));
                    }
                    None => {
                        all.extend(words(&["app", app, target, "--repeat", "1", "--seed", &seed]));
                        all.extend(rounds.iter().flat_map(|rounds| words(&["--rounds", &rounds.to_string()])));
                        if part.access != Access::Files {
                            all.extend(words(&["--fs", file_system]));
                        }
                    }
                }
            }
            Task::Replay { trace } => {
                all.extend(words(&["trace", "replay", trace, target, "--mode", "dependent", "--seed", &seed]));
            }
            Task::Memory { test } => all.extend(words(&["mem", test])),
            Task::Capacity { full } => {
                all.extend(words(&["capacity", target, "--seed", &seed]));
                all.extend(full.then(|| "--full".into()));
            }
            Task::Integrity { cuts } => {
                all.extend(words(&["integrity", target, "--seed", &seed, "--cuts", &cuts.to_string()]));
                let power = [("--power-off", &self.args.power_off), ("--power-on", &self.args.power_on)];
                for (option, command) in power {
                    all.extend(command.iter().flat_map(|command| words(&[option, command])));
                }
            }
            Task::Registers => {
                all.extend(words(&["mmc", "check", target, "--seed", &seed, "--json"]));
                prints = true;
            }
            Task::Inspect => all.extend(words(&["inspect", target, "--seed", &seed, "--read-only"])),
            // It was done before.
            Task::External { .. } => {}
        }
        if !prints {
            all.extend([OsString::from("-o"), record.clone().into()]);
        }
        if !matches!(workload.task, Task::Memory { .. } | Task::Inspect) {
            all.extend(self.consent(part));
        }
        Ok(Ok(Words { words: all, record, prints, replays }))
    }

    /// What the operator consented to, of this part.
    fn consent(&self, part: &Part) -> Vec<OsString> {
        let consent = &self.args.consent;
        let own = consent.destroy_data.iter().filter(|named| Some(*named) == part.identity.as_ref());
        let mut words: Vec<OsString> = own.flat_map(|named| words(&["--destroy-data", named])).collect();
        if part.access == Access::Raw {
            words.extend(consent.destroy_signatures.then(|| "--destroy-signatures".into()));
            words.extend((consent.allow_write && consent.destroy_data.is_empty()).then(|| "--allow-write".into()));
        }
        words.extend((self.args.allow_cached && part.access == Access::Files).then(|| "--allow-cached".into()));
        words
    }

    /// What a command that has ended left.
    fn read(&self, workload: &Workload, words: &Words, ran: Ran) -> Result<Worked, Failure> {
        refused(&ran)?;
        let file = words.record.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if words.prints && matches!(ran.code, Some(0 | 1)) {
            write(self.folder, &file, ran.stdout.as_bytes())?;
        }
        let Ok(bytes) = std::fs::read(&words.record) else {
            return Ok(Worked { took: ran.took, ..Worked::nothing(without_record(workload, &ran)) });
        };
        let kept = Some(KeptRecord { file, sha256: sha256(&bytes) });
        let text = String::from_utf8_lossy(&bytes);
        if words.prints {
            let outcome =
                figures::of_registers(&text).map_err(|error| anyhow!("{}: {error}", words.record.display()))?;
            return Ok(Worked { outcome, replayed: false, record: kept, took: ran.took, written: Bytes::ZERO });
        }
        let record = flashscope_record::read(&text).map_err(|error| anyhow!("{}: {error}", words.record.display()))?;
        let written = record.envelope().cost.as_ref().map_or(Bytes::ZERO, |cost| cost.written);
        let mut outcome = figures::of(&record);
        if let (Some(app), RunOutcome::Done { figures, .. }) = (&words.replays, &mut outcome) {
            // What the app itself would have been told by.
            figures.iter_mut().for_each(|figure: &mut FigureValue| figure.name = format!("{app} run time"));
        }
        Ok(Worked { outcome, replayed: words.replays.is_some(), record: kept, took: ran.took, written })
    }
}

impl Worked {
    fn nothing(outcome: RunOutcome) -> Worked {
        Worked { outcome, replayed: false, record: None, took: Nanos::ZERO, written: Bytes::ZERO }
    }
}

/// What cannot even be tried on this part, and whose lack that is.
fn lacking(workload: &Workload, part: &Part, args: &QualifyCourse) -> Option<RunOutcome> {
    let unsupported = |why: &str| Some(RunOutcome::Unsupported { by: Lacking::Host, why: why.to_owned() });
    match (&workload.task, part.access) {
        (Task::Memory { .. }, Access::Simulated) => unsupported("memory is the board's, and a simulated part has none"),
        (task, Access::Files) if !task.through_files() => {
            unsupported("it needs the whole device, and the part was reached through files")
        }
        (_, Access::Files) if workload.state.is_some() => {
            unsupported("a state is made on a whole device, and the part was reached through files")
        }
        (Task::Integrity { .. }, Access::Raw) if args.power_off.is_none() => {
            unsupported("its power cannot be cut from here: --power-off and --power-on name the commands that do it")
        }
        _ => None,
    }
}

/// A command that left no record cannot be done here, or went wrong.
fn without_record(workload: &Workload, ran: &Ran) -> RunOutcome {
    let why = ran.why();
    match workload.task.work() {
        Work::Registers => RunOutcome::Unsupported { by: Lacking::Part, why },
        Work::Memory | Work::App | Work::Replay | Work::Integrity => RunOutcome::Unsupported { by: Lacking::Host, why },
        _ => RunOutcome::Failed { why },
    }
}

/// What is refused for safety is refused here as well, and nothing goes on.
fn refused(ran: &Ran) -> Result<(), Failure> {
    if ran.code != Some(3) {
        return Ok(());
    }
    let refusal = flashscope_device::Refusal {
        kind: flashscope_device::RefusalKind::NoConsent,
        what: ran.stderr.trim().trim_start_matches("error: ").to_owned(),
        release: None,
    };
    Err(Failure::Refused { target: "the part".to_owned(), writing: true, refusals: vec![refusal] })
}

/// Whether a record speaks of the part that was meant.
fn check_identity(record: Option<&AnyRecord>, part: &Part) -> Result<(), Failure> {
    let device = record.and_then(|record| record.envelope().device.as_ref());
    let told = device.and_then(|device| device.identity.as_ref()).map(|identity| identity.0.as_str());
    match (told, part.identity.as_deref(), part.access) {
        (Some(told), Some(meant), Access::Raw) if told != meant => Err(Failure::Cannot(anyhow!(
            "{} was {meant}, and a run found {told} there\nhint: the run does not count; put the part back, and the same command goes on",
            part.target
        ))),
        _ => Ok(()),
    }
}

/// Whether a simulated device of this name was saved already.
fn saved(target: &str) -> bool {
    target.rsplit_once("state=").is_some_and(|(_, file)| Path::new(file).is_file())
}

/// Whether a simulated device can be had as a real one here.
fn can_emulate() -> bool {
    let beside = std::env::current_exe().map(|own| own.with_file_name("flashscope-player"));
    rustix::process::geteuid().is_root()
        && Path::new("/dev/fuse").exists()
        && beside.is_ok_and(|player| player.exists())
}

/// Jobs as a job file.
pub(super) fn job_file(jobs: &[JobText]) -> Result<String, Failure> {
    let phase = |text: &JobText| -> Result<Phase, Failure> {
        let name = text.name.clone().unwrap_or_default();
        let job = text.job(&name).map_err(|error| anyhow!("{error}"))?;
        let pause = text.pause().map_err(|error| anyhow!("{error}"))?;
        Ok(Phase { jobs: vec![job], pause })
    };
    Ok(to_toml(&JobSet { phases: jobs.iter().map(phase).collect::<Result<_, _>>()? }))
}

/// How long this host takes for what needs no device: a simulated card inspected.
pub(super) fn control() -> Result<Nanos, Failure> {
    let ran = child::run(&words(&["inspect", "sim:sd-4mib", "--read-only", "--seed", "1", "--json"]))?;
    match ran.code {
        Some(0) => Ok(ran.took),
        _ => Err(Failure::Cannot(anyhow!("the control job failed: {}", ran.why()))),
    }
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// The state words of a plan, for people.
pub(super) fn state(state: Option<DeviceState>) -> &'static str {
    state.map_or("as found", DeviceState::word)
}
