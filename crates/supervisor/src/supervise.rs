//! The supervisor: starts workers as the schedule says, keeps what became of them, tries again, stops in good order.
//!
//! Nothing of it must outlive a `kill -9`: what is done is in the queue, what is measured in the folders of the runs. A run whose
//! record is there already is not begun again, whoever wrote it.

use crate::args;
use crate::prepare::Lab;
use crate::screen::{Screen, UnderWay};
use crate::{neighbours, qualify, result, shelf, stop};
use anyhow::{Result, anyhow};
use flashscope_lab::{AttemptEnd, Claim, Device, Engine, Entry, Phase, RunState, Schedule, Task};
use flashscope_model::lab::Neighbour;
use flashscope_supervisor::Queue;
use flashscope_supervisor::worker::{self, Handle};
use rustix::fs::{FlockOperation, flock};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long a lease holds, in milliseconds, and how often it is renewed: well inside.
const LEASE: u64 = 60_000;
const HEARTBEAT: Duration = Duration::from_secs(10);
/// How long the wait for news is at most, so that lines move and tries come in time.
const LOOK: Duration = Duration::from_millis(200);
/// How soon a run is looked at again that an earlier worker still holds.
const HELD_FOR: u64 = 300;
/// The longest rest between two tries, in milliseconds.
const MOST_REST: u64 = 3_600_000;

/// What happens while it waits.
enum News {
    /// A worker has ended.
    Ended(usize, io::Result<ExitStatus>),
    /// The operator wants something.
    Wish,
}

/// A worker that is under way.
struct Worker {
    claim: Claim,
    handle: Handle,
    seen: UnderWay,
}

/// The supervisor of one lab.
pub(crate) struct Supervisor<'a> {
    lab: &'a Lab,
    args: &'a args::Run,
    queue: Queue,
    owner: String,
    program: PathBuf,
    /// The runs of the plan as the queue has them, with their places in the plan.
    pub(crate) entries: Vec<Entry>,
    workers: BTreeMap<usize, Worker>,
    screen: Screen,
    tell: Sender<News>,
    news: Receiver<News>,
    heartbeat: Instant,
    /// How many wishes to stop the workers were told of.
    told: u32,
}

/// Milliseconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

impl<'a> Supervisor<'a> {
    /// Takes over a lab that is locked for this program: whoever held leases of it is dead.
    ///
    /// # Errors
    /// The queue cannot be used, or the program that measures is not there.
    pub(crate) fn take_over(lab: &'a Lab, args: &'a args::Run, mut queue: Queue, screen: Screen) -> Result<Self> {
        let program = worker::program()?;
        let (tell, news) = channel();
        let wake = tell.clone();
        stop::arm(move || drop(wake.send(News::Wish)))?;
        for owner in queue.owners()? {
            queue.bury(&owner, now())?;
        }
        queue.submit(&lab.entries)?;
        let mut supervisor = Supervisor {
            lab,
            args,
            queue,
            owner: format!("process {} at {}", std::process::id(), now()),
            program,
            entries: Vec::new(),
            workers: BTreeMap::new(),
            screen,
            tell,
            news,
            heartbeat: Instant::now(),
            told: 0,
        };
        supervisor.reload()?;
        if args.retry_failed {
            let failed = supervisor.entries.iter().filter(|entry| entry.state == RunState::Failed);
            let ids: Vec<String> = failed.map(|entry| entry.run.id.clone()).collect();
            for id in ids {
                supervisor.queue.retry(&id)?;
            }
            supervisor.reload()?;
        }
        for place in neighbours::broken(&supervisor.entries) {
            supervisor.queue.discard(&supervisor.entries[place].run.id, "the round was interrupted")?;
        }
        supervisor.reload()?;
        Ok(supervisor)
    }

    /// Reads the queue anew; a queue may hold the runs of earlier plans as well.
    fn reload(&mut self) -> Result<()> {
        let mut kept: BTreeMap<String, Entry> =
            self.queue.list()?.into_iter().map(|entry| (entry.run.id.clone(), entry)).collect();
        let merged = self.lab.entries.iter().map(|asked| {
            let kept = kept.remove(&asked.run.id).ok_or_else(|| anyhow!("a run is not in the queue"))?;
            // Names and places are those of this plan.
            Ok(Entry { run: asked.run.clone(), device: asked.device.clone(), work: asked.work.clone(), ..kept })
        });
        self.entries = merged.collect::<Result<_>>()?;
        Ok(())
    }

    /// Does everything that is not done: the neighbour check first, then the rest as the check allows.
    ///
    /// # Errors
    /// The queue cannot be used any more.
    pub(crate) fn work(&mut self) -> Result<Vec<Neighbour>> {
        let (check, rest): (Vec<usize>, Vec<usize>) =
            (0..self.entries.len()).partition(|place| self.entries[*place].run.phase.is_check());
        self.pass(&check, &BTreeSet::new())?;
        let judged = neighbours::judged(self.lab, &self.entries);
        let is_disturbed = |name: &str| judged.iter().any(|one| one.device == name && !one.undisturbed);
        let limited: BTreeSet<usize> =
            (0..self.lab.devices.len()).filter(|place| is_disturbed(&self.lab.devices[*place].name)).collect();
        self.pass(&rest, &limited)?;
        self.screen.finish();
        Ok(judged)
    }

    /// Does the runs at these places, until all are over or the operator stops it.
    fn pass(&mut self, places: &[usize], limited: &BTreeSet<usize>) -> Result<()> {
        let task = |place: &usize| {
            let run = &self.entries[*place].run;
            let devices: Vec<&Device> = run.devices().map(|place| &self.lab.devices[place]).collect();
            Task::of(run, &devices, run.devices().any(|place| limited.contains(&place)))
        };
        let mut schedule = Schedule::new(self.lab.limits, places.iter().map(task).collect());
        for (at, place) in places.iter().enumerate() {
            if self.entries[*place].state.is_over() {
                schedule.over(at);
            }
        }
        loop {
            self.pass_on_wishes();
            let begun = if stop::wishes() == 0 { schedule.start(now()) } else { Vec::new() };
            let mut at_once = false;
            for at in begun {
                if !self.begin(places[at])? {
                    self.settle(&mut schedule, at, places[at]);
                    at_once = true;
                }
            }
            if at_once {
                continue;
            }
            self.draw();
            if self.workers.is_empty() && (schedule.is_over() || stop::wishes() > 0) {
                return Ok(());
            }
            match self.news.recv_timeout(LOOK) {
                Ok(News::Ended(place, status)) => {
                    self.ended(place, status)?;
                    let at = places.iter().position(|other| *other == place);
                    self.settle(&mut schedule, at.unwrap_or_default(), place);
                }
                Ok(News::Wish) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(anyhow!("no news can come any more")),
            }
            if self.heartbeat.elapsed() >= HEARTBEAT {
                self.queue.heartbeat(&self.owner, now(), LEASE)?;
                self.heartbeat = Instant::now();
            }
        }
    }

    /// Tells the schedule what became of a run.
    fn settle(&self, schedule: &mut Schedule, at: usize, place: usize) {
        let entry = &self.entries[place];
        if entry.state.is_over() {
            return schedule.over(at);
        }
        let rest = match &entry.why {
            Some(_) if entry.failures > 0 => rest(self.args.retry_after.get() / 1_000_000, entry.failures),
            _ => HELD_FOR,
        };
        schedule.put_back(at, now() + rest);
    }

    /// Begins a run; whether a worker is under way.
    fn begin(&mut self, place: usize) -> Result<bool> {
        let entry = self.entries[place].clone();
        let folder = self.lab.folder.of_run(&entry.run.id);
        if is_held(&folder.join("lock")) {
            // An earlier worker is at its end, and may be about to leave its record.
            return Ok(false);
        }
        let Some(claim) = self.queue.claim(&entry.run.id, &self.owner, now(), LEASE)? else {
            self.reload()?;
            return Ok(false);
        };
        if let Ok(found) =
            result::look(&folder.join("record.json"), &entry, self.lab.devices[entry.run.device].simulated)
        {
            // Left by a worker whose supervisor did not live to see it.
            self.queue.complete(&claim.id, claim.attempt, &found.sha256, now())?;
            self.told_of(place)?;
            return Ok(false);
        }
        let started = self.nodes(&entry).and_then(|nodes| {
            let started = self.words(&entry, &nodes).and_then(|words| worker::start(&folder, &self.program, &words));
            started.map(|started| (started, nodes)).map_err(|error| format!("no worker could be started: {error}"))
        });
        match started {
            Ok(((mut child, handle), nodes)) => {
                let tell = self.tell.clone();
                std::thread::spawn(move || tell.send(News::Ended(place, child.wait())));
                let seen = UnderWay { place, began: Instant::now(), nodes };
                self.workers.insert(place, Worker { claim, handle, seen });
                self.entries[place].state = RunState::Leased;
                Ok(true)
            }
            Err(why) => {
                self.failed(place, &claim, why)?;
                Ok(false)
            }
        }
    }

    /// The nodes of the devices of a run, by their places; of simulated ones there are none.
    fn nodes(&self, entry: &Entry) -> Result<BTreeMap<usize, PathBuf>, String> {
        let real = entry.run.devices().filter(|place| !self.lab.devices[*place].simulated);
        real.map(|place| Ok((place, shelf::path_of(&self.lab.sys, &self.lab.devices[place].identity)?))).collect()
    }

    /// All words of a worker: those of the plan, and what the host adds. Each value is in one word with its option.
    fn words(&self, entry: &Entry, nodes: &BTreeMap<usize, PathBuf>) -> io::Result<Vec<OsString>> {
        let folder = self.lab.folder.of_run(&entry.run.id);
        let of = |option: &str, value: &std::ffi::OsStr| {
            let mut word = OsString::from(option);
            word.push(value);
            word
        };
        let mut words: Vec<OsString> = entry.run.words.iter().map(OsString::from).collect();
        let seed = self.lab.devices[entry.run.device].seed;
        words.extend(["--quiet".into(), format!("--seed={seed}").into()]);
        // What comes of a fleet is joined elsewhere, and so is no record yet; it draws its devices itself.
        let is_fleet = self.lab.plan.works[entry.run.work].command == flashscope_lab::Command::Fleet;
        words.push(of(if is_fleet { "--part=" } else { "--output=" }, folder.join("record.json").as_os_str()));
        if is_fleet {
            return Ok(words);
        }
        let devices = || entry.run.devices().map(|place| &self.lab.devices[place]);
        for device in devices().filter(|device| self.lab.consent.contains(&device.identity)) {
            words.push(format!("--destroy-data={}", device.identity).into());
        }
        if self.args.here.destroy_signatures && devices().any(|device| self.lab.consent.contains(&device.identity)) {
            words.push("--destroy-signatures".into());
        }
        if let Some(power) = entry.run.power.as_ref().and_then(|name| self.lab.host.power.get(name)) {
            words.extend([format!("--power-off={}", power.off).into(), format!("--power-on={}", power.on).into()]);
        }
        let target = |place: usize| match nodes.get(&place) {
            Some(node) => node.as_os_str().to_owned(),
            None => OsString::from(&self.lab.devices[place].identity),
        };
        match &self.lab.plan.works[entry.run.work].qualification {
            Some(qualification) => {
                words.extend(qualify::files(&folder, qualification, &self.lab.host)?);
                for (number, place) in entry.run.devices().enumerate() {
                    let is_candidate = number >= qualification.reference.len();
                    words.push(of(if is_candidate { "--candidate=" } else { "--reference=" }, &target(place)));
                }
            }
            None => words.push(target(entry.run.device)),
        }
        Ok(words)
    }

    /// A worker has ended.
    fn ended(&mut self, place: usize, status: io::Result<ExitStatus>) -> Result<()> {
        let Some(worker) = self.workers.remove(&place) else { return Ok(()) };
        let entry = &self.entries[place];
        let folder = self.lab.folder.of_run(&entry.run.id);
        let code = status.as_ref().ok().and_then(ExitStatus::code);
        match result::look(&folder.join("record.json"), entry, self.lab.devices[entry.run.device].simulated) {
            Ok(found) => {
                self.queue.complete(&worker.claim.id, worker.claim.attempt, &found.sha256, now())?;
                self.told_of(place)
            }
            Err(_) if code == Some(worker::HELD) => {
                self.give_back(place, &worker.claim, AttemptEnd::Stopped("an earlier worker is at its end".to_owned()))
            }
            Err(_) if stop::wishes() > 0 => {
                self.give_back(place, &worker.claim, AttemptEnd::Stopped("stopped by the operator".to_owned()))
            }
            Err(why) => {
                let words = result::last_words(&folder);
                let said = match &status {
                    Ok(status) if status.signal().is_some() => {
                        format!("killed by signal {}", status.signal().unwrap_or_default())
                    }
                    Ok(_) if !words.is_empty() => words,
                    Ok(_) => why,
                    Err(error) => format!("nobody can tell how it ended: {error}"),
                };
                match code {
                    Some(3) => self.give_back(place, &worker.claim, AttemptEnd::GivenUp(said)),
                    _ => self.failed(place, &worker.claim, said),
                }
            }
        }
    }

    /// A failure: to be tried again, or one too many. A round of the neighbour check is not whole any more, whatever comes.
    fn failed(&mut self, place: usize, claim: &Claim, why: String) -> Result<()> {
        let entry = &self.entries[place];
        let is_last = entry.failures + 1 >= self.args.tries || matches!(entry.run.phase, Phase::Beside(_));
        self.give_back(place, claim, if is_last { AttemptEnd::GivenUp(why) } else { AttemptEnd::Failed(why) })
    }

    fn give_back(&mut self, place: usize, claim: &Claim, end: AttemptEnd) -> Result<()> {
        self.queue.give_back(claim, &end, now())?;
        self.told_of(place)
    }

    /// The queue knows what became of a run, and so is the operator to.
    fn told_of(&mut self, place: usize) -> Result<()> {
        self.reload()?;
        self.screen.ended(&self.entries[place], &self.entries);
        Ok(())
    }

    fn draw(&mut self) {
        let seen: Vec<UnderWay> = self.workers.values().map(|worker| worker.seen.clone()).collect();
        self.screen.draw(&self.entries, &seen);
    }

    /// Has workers stop in good order at the first wish, and ends them at the second.
    fn pass_on_wishes(&mut self) {
        let wishes = stop::wishes();
        if wishes == self.told {
            return;
        }
        self.told = wishes;
        match wishes {
            1 => self.screen.say("stopping; every worker keeps what it has (again to end them at once)"),
            _ => self.screen.say("ending the workers"),
        }
        for worker in self.workers.values() {
            if wishes == 1 { worker.handle.interrupt() } else { worker.handle.kill() }
        }
    }
}

/// How long a run rests after its failures, in milliseconds: `first`, then four times as long after each further one.
fn rest(first: u64, failures: u32) -> u64 {
    first.saturating_mul(4u64.saturating_pow(failures.saturating_sub(1))).min(MOST_REST)
}

/// Whether a worker holds a run's lock.
fn is_held(lock: &std::path::Path) -> bool {
    File::open(lock).is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared).is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_grow_and_end() {
        assert_eq!([rest(1000, 1), rest(1000, 2), rest(1000, 3)], [1000, 4000, 16_000]);
        assert_eq!((rest(1000, 60), rest(0, 5)), (MOST_REST, 0));
    }
}
