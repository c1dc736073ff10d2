//! Bringing a target into a state: from what was typed to a plan that can be refused, then to the certificate.
//!
//! How a state is made is in [`flashscope_state`]; here is what it stands in: consent, the journal beside the record, progress,
//! and the device's registers.

mod keeper;
mod plan;
mod watch;

use crate::args::{InState, Making, TargetArgs};
use crate::commands::inspect::default_name;
use crate::commands::report;
use crate::error::Failure;
use crate::target::{self, Opened, Writes};
use crate::{input, interrupt, output};
use anyhow::anyhow;
use flashscope_device::{NoPurge, Purge, Refusal, RefusalKind, Target, WriteGrant};
use flashscope_host::purge::{HostPurge, Tools};
use flashscope_host::{HostTarget, Output, Surroundings, SysRoot};
use flashscope_journal::{Journal as Kept, JournalError, Subject};
use flashscope_model::envelope::State;
use flashscope_model::{DeviceFacts, DeviceState, StopReason};
use flashscope_sim::SimTarget;
use flashscope_state::{Journal, Life, Made, Recipe, Wish, head, make};
use flashscope_units::Bytes;
pub(crate) use keeper::Keeper;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use watch::Watcher;
pub(crate) use watch::{health, told};

/// A state that is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    target: TargetArgs,
    wish: Wish,
    life: Life,
    accept_wear: bool,
    /// Where the record goes, beside which the journal lies.
    place: Option<PathBuf>,
    quiet: bool,
    /// Whether a simulated device is saved to the file that its name says (`state=FILE`).
    saves: bool,
}

/// What was planned for a device, once it was looked at.
struct Planned {
    recipe: Recipe,
    journal: Journal,
    /// Where the journal is kept. Of a simulated device only where that is saved, as it is gone with this program.
    kept: Option<Output>,
    /// Where a simulated device is saved.
    saved: Option<Output>,
}

/// A target that was brought into a state, or as far as that went.
pub(crate) enum Brought {
    /// A simulated device.
    Simulated(Box<SimTarget>),
    /// One of this machine.
    Host(Box<HostTarget>, Box<Surroundings>),
}

impl Order {
    pub(crate) fn new(
        target: &TargetArgs,
        state: DeviceState,
        making: &Making,
        place: Option<&Path>,
        quiet: bool,
    ) -> Order {
        Order {
            target: target.clone(),
            wish: making.wish(state, target.seed),
            life: making.life(),
            accept_wear: making.accept_wear,
            place: place.map(Path::to_owned),
            quiet,
            saves: false,
        }
    }

    /// The same with a simulated device saved where its name says so.
    pub(crate) fn saved(self) -> Order {
        Order { saves: true, ..self }
    }

    /// What is asked for before a measurement; `None` where nothing is.
    pub(crate) fn before(asked: &InState, target: &TargetArgs, place: Option<&Path>, quiet: bool) -> Option<Order> {
        asked.state.map(|state| Order::new(target, state, &asked.making, place, quiet))
    }

    /// What would be done: the target is opened for reading only.
    pub(crate) fn dry_run(&self, json: bool) -> Result<String, Failure> {
        let planned = RefCell::new(None);
        let mut reading = self.clone();
        reading.target.consent.read_only = true;
        let cost = |facts: &DeviceFacts| reading.look(facts, &planned);
        let opened = target::open(&reading.target, Writes::Exactly(&cost))?;
        let Planned { recipe, journal, .. } = taken(&planned)?;
        let text = |facts: &DeviceFacts, ladder| plan::text_or_json(self, (&recipe, &journal), facts, ladder, json);
        Ok(match opened {
            Opened::Simulated { target, .. } => {
                text(target.facts(), flashscope_state::ladder::offers(target.as_ref(), &mut NoPurge))
            }
            Opened::Host { target, .. } => {
                let mut purge = purge(&target);
                text(target.facts(), flashscope_state::ladder::offers(target.as_ref(), purge.as_mut()))
            }
        })
    }

    /// Opens the target with the operator's consent, and brings it into the state, or goes on doing so.
    pub(crate) fn bring(&self) -> Result<(Brought, Made), Failure> {
        let planned = RefCell::new(None);
        let cost = |facts: &DeviceFacts| self.look(facts, &planned);
        let opened = target::open(&self.target, Writes::Exactly(&cost))?;
        let planned = taken(&planned)?;
        match opened {
            Opened::Simulated { mut target, grant } => {
                let made = self.make(planned, target.as_mut(), grant, &mut NoPurge, save)?;
                Ok((Brought::Simulated(target), made))
            }
            Opened::Host { mut target, grant, here } => {
                let mut purge = purge(&target);
                let made = self.make(planned, target.as_mut(), grant, purge.as_mut(), |_, _| Ok(()))?;
                Ok((Brought::Host(target, here), made))
            }
        }
    }

    /// The same for a simulated device that something was done to already.
    pub(crate) fn bring_again(&self, target: &mut SimTarget) -> Result<Made, Failure> {
        let planned = RefCell::new(None);
        let budget = self.look(target.facts(), &planned)?;
        let grant = WriteGrant::simulated(target.facts(), budget);
        self.make(taken(&planned)?, target, grant, &mut NoPurge, save)
    }

    /// Brings the target into the state before a measurement, which is pointless where that fails. A simulated device comes back.
    pub(crate) fn prepare(&self, device: &mut Option<SimTarget>) -> Result<State, Failure> {
        let made = match device {
            Some(device) => self.bring_again(device)?,
            None => {
                let (brought, made) = self.bring()?;
                if let Brought::Simulated(target) = brought {
                    *device = Some(*target);
                }
                made
            }
        };
        match made.stop {
            StopReason::Complete if made.certificate.reached => Ok(self.state(made)),
            _ => Err(Failure::Cannot(anyhow!(
                "{} was not made {}, and nothing was measured: {}\nhint: `flashscope state {} --make {}` shows all of it",
                self.target.target,
                self.wish.state.word(),
                made.certificate.why,
                self.target.target,
                self.wish.state.word()
            ))),
        }
    }

    /// The target with what is left of `--max-write` once the state was made so often, which must be enough.
    pub(crate) fn rest(&self, times: u64) -> Result<TargetArgs, Failure> {
        let mut rest = self.target.clone();
        let Some(limit) = rest.consent.max_write else { return Ok(rest) };
        let planned = RefCell::new(None);
        let mut look = self.clone();
        look.target.consent.read_only = true;
        look.target.consent.max_write = None;
        let cost = |facts: &DeviceFacts| look.look(facts, &planned);
        drop(target::open(&look.target, Writes::Exactly(&cost))?);
        let Planned { recipe, journal, .. } = taken(&planned)?;
        let needed = Bytes(journal.most_left(&recipe).get().saturating_mul(times));
        let left = limit.checked_sub(needed).ok_or_else(|| self.too_much(needed, limit))?;
        rest.consent.max_write = Some(left);
        Ok(rest)
    }

    fn too_much(&self, needed: Bytes, limit: Bytes) -> Failure {
        Failure::Cannot(anyhow!(
            "making {} {} writes up to {needed}, which is more than --max-write allows ({limit})\nhint: allow more",
            self.target.target,
            self.wish.state.word()
        ))
    }

    /// What is brought into it, as typed.
    pub(crate) fn target(&self) -> &str {
        &self.target.target
    }

    /// The state that is asked for.
    pub(crate) fn wished(&self) -> DeviceState {
        self.wish.state
    }

    /// The state with its certificate, for the record.
    pub(crate) fn state(&self, made: Made) -> State {
        State {
            name: self.wish.state.word().to_owned(),
            certificate: Some(made.certificate.why.clone()),
            made: Some(made.certificate),
        }
    }

    /// Plans for a device: refuses what asks for a word more, finds the journal, and says what is written.
    fn look(&self, facts: &DeviceFacts, planned: &RefCell<Option<Planned>>) -> Result<Bytes, Failure> {
        let recipe = Recipe::new(&self.wish, facts).map_err(|error| anyhow!("{error}"))?;
        let subject = subject(&self.target.target, facts);
        let saved = state_file(&self.target.target).filter(|_| self.saves);
        let (journal, kept) = match (facts.simulated, &saved) {
            (true, None) => (Journal::new(&self.wish, subject), None),
            _ => self.journal(facts, subject, saved.as_deref())?,
        };
        let saved = saved.map(|path| output::plan(&mut output::door(false, None::<&Path>), &path)).transpose()?;
        let most = journal.most_left(&recipe);
        if let Some(why) = self.life.refusal(recipe.most_written(), facts.capacity).filter(|_| !self.may_wear(facts)) {
            let what = format!("making {} {} wears it: {why}", self.target.target, self.wish.state.word());
            let release = Some("add --accept-wear, or name what it is rated for with --rated-writes".to_owned());
            let refusals = vec![Refusal { kind: RefusalKind::NoConsent, what, release }];
            return Err(Failure::Refused { target: self.target.target.clone(), writing: true, refusals });
        }
        if let Some(limit) = self.target.consent.max_write.filter(|limit| most > *limit) {
            return Err(self.too_much(most, limit));
        }
        *planned.borrow_mut() = Some(Planned { recipe, journal, kept, saved });
        Ok(most)
    }

    /// A simulated device wears nobody's, and what is only looked at does not wear.
    fn may_wear(&self, facts: &DeviceFacts) -> bool {
        self.accept_wear || facts.simulated || self.target.consent.read_only
    }

    /// The journal beside the record, gone on with where there is one.
    fn journal(
        &self,
        facts: &DeviceFacts,
        subject: Subject,
        saved: Option<&Path>,
    ) -> Result<(Journal, Option<Output>), Failure> {
        let path = match saved.or(self.place.as_deref()) {
            Some(saved) if facts.simulated => format!("{}.making.json", saved.display()).into(),
            place => beside(place, facts, "making.json"),
        };
        let kept = output::plan(&mut output::door(false, [&self.target.target]), &path)?;
        if !path.exists() {
            return Ok((Journal::new(&self.wish, subject), Some(kept)));
        }
        let text = input::text(&path, "remove it, and begin anew")?;
        let journal = Journal::read(&text, &head(&self.wish, subject))
            .map_err(|error| unfit(&path, &self.target.target, error))?;
        Ok((journal, Some(kept)))
    }

    fn make<T: Target>(
        &self,
        planned: Planned,
        target: &mut T,
        grant: Option<WriteGrant>,
        purge: &mut dyn Purge,
        save: impl FnOnce(&T, &Output) -> Result<(), Failure>,
    ) -> Result<Made, Failure> {
        let Planned { recipe, mut journal, kept, saved } = planned;
        let Some(mut grant) = grant else {
            return Err(Failure::Cannot(anyhow!(
                "a state is made by writing, and the target was opened with --read-only\nhint: leave --read-only away"
            )));
        };
        if !journal.is_new() {
            output::talk(&format!("going on where {} was stopped", self.target.target));
        }
        if !target.facts().simulated {
            let ladder = flashscope_state::ladder::offers(target, purge);
            output::talk(&plan::text_or_json(self, (&recipe, &journal), target.facts(), ladder, false));
        }
        interrupt::arm();
        // A journal must not be ahead of the device, and one that is simulated is saved at the end.
        let as_it_goes = kept.as_ref().filter(|_| saved.is_none());
        let mut watch = Watcher::new(&self.target.target, self.quiet, as_it_goes);
        let made = make(&recipe, &mut journal, self.life, (target, &mut grant), purge, &mut watch);
        watch.finish();
        if let (Some(saved), Some(kept)) = (&saved, &kept) {
            save(target, saved)?;
            let text = journal.text().map_err(|error| anyhow!("{error}"))?;
            kept.write(text.as_bytes()).map_err(target::failure)?;
        }
        match (&made.stop, &kept) {
            (StopReason::Complete, Some(kept)) => kept.remove(),
            (_, Some(kept)) => output::talk(&format!("the same command goes on from here ({})", kept.path().display())),
            (_, None) => {}
        }
        Ok(made)
    }
}

/// What names the very part.
pub(crate) fn subject(target: &str, facts: &DeviceFacts) -> Subject {
    let path = || std::fs::canonicalize(target).map(|path| path.display().to_string());
    let identity = match &facts.identity {
        Some(identity) => identity.0.clone(),
        None => path().unwrap_or_else(|_| target.to_owned()),
    };
    Subject { identity, capacity_bytes: facts.capacity.get() }
}

/// Where a journal is kept: beside the record, or named by the device.
pub(crate) fn beside(place: Option<&Path>, facts: &DeviceFacts, ending: &str) -> PathBuf {
    match place {
        Some(place) if report::known_format(place).is_some() => place.with_extension(ending),
        Some(place) => format!("{}.{ending}", place.display()).into(),
        None => format!("{}.{ending}", default_name(facts)).into(),
    }
}

/// The file that a simulated device's state is read from, and saved to: `state=` and a path.
fn state_file(target: &str) -> Option<PathBuf> {
    let pairs = target.strip_prefix("sim:")?.split(',').skip(1).filter_map(|part| part.split_once('='));
    let mut states = pairs.filter(|(key, _)| key.trim() == "state").map(|(_, value)| value.trim());
    states.find(|value| value.contains(['/', '.'])).map(PathBuf::from)
}

fn save(target: &SimTarget, file: &Output) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    target.save(&mut bytes).map_err(|error| anyhow!("cannot save the device: {error}"))?;
    file.write(&bytes).map_err(target::failure)?;
    output::talk(&format!("State  {}", file.path().display()));
    Ok(())
}

fn taken(planned: &RefCell<Option<Planned>>) -> Result<Planned, Failure> {
    planned.take().ok_or_else(|| Failure::Cannot(anyhow!("the target was opened before it was looked at")))
}

/// The ladder of a device of this machine.
fn purge(target: &HostTarget) -> Box<dyn Purge> {
    let tools = Tools::in_path(std::env::var_os("PATH").unwrap_or_default());
    match HostPurge::of(&SysRoot::live(), target, tools) {
        Some(purge) => Box::new(purge),
        None => Box::new(NoPurge),
    }
}

/// Another part is refused; another command is a slip.
pub(crate) fn unfit(path: &Path, target: &str, error: JournalError) -> Failure {
    let what = format!("{}: {error}", path.display());
    let hint = "run the command that began it, name another file with -o, or remove it to begin anew";
    match error {
        JournalError::OtherPart { .. } => {
            let refusal = Refusal { kind: RefusalKind::Changed, what, release: Some(hint.to_owned()) };
            Failure::Refused { target: target.to_owned(), writing: true, refusals: vec![refusal] }
        }
        JournalError::Unreadable(_) | JournalError::OtherWish { .. } => {
            Failure::Cannot(anyhow!("{what}\nhint: {hint}"))
        }
    }
}
