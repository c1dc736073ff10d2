//! Power cuts under a file system or a database: whether the device keeps its promise, and whether what stands on it keeps its own word.
//!
//! A [`Recorder`] stands between the two and sees every request, so that a loss above can be told: where the device broke its promise after
//! the same cut, it is the device's; where it kept it, what stands on it lost what it had acknowledged. [`run`] does the cuts; a
//! [`Stack`] makes, mounts and reads what stands on the device, and `tree` and `rows` know what it should hold.

mod contents;
mod recorder;
mod rows;
mod step;
mod tree;
mod verdict;

pub use recorder::Recorder;
pub use step::{Found, FoundRow, NoStep, Step, file_text};
pub use verdict::{blame, faults};

use crate::judge::{self, Judged};
use crate::run::{Ended, Plan, Report, Seen, Watcher, cut_record};
use crate::sequence::one_of;
use flashscope_device::{DeviceError, Holds, Known, PoweredBytes};
use flashscope_model::integrity::{FaultKind, Moment, UpperCut, UpperKind, UpperLoss, Violation};
use flashscope_stats::Rng;
use flashscope_stats::rng::stream;
use flashscope_units::{Bytes, Instant, Nanos};
use rows::Rows;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tree::Tree;

/// What stands on the device, and who works on it.
pub trait Stack {
    /// Makes it anew on the device: an empty file system, all of it flushed.
    ///
    /// # Errors
    /// It cannot be made.
    fn form(&mut self) -> Result<(), Trouble>;
    /// Mounts it, and opens what is on it; says how long that took on this machine's clock.
    ///
    /// # Errors
    /// It cannot be mounted.
    fn raise(&mut self) -> Result<Nanos, Trouble>;
    /// Does a step; when this returns it is acknowledged.
    ///
    /// # Errors
    /// It was not.
    fn step(&mut self, step: &Step) -> Result<(), Trouble>;
    /// What is there; data are told by these generations.
    ///
    /// # Errors
    /// It cannot be read.
    fn look(&mut self, known: Known) -> Result<Found, Trouble>;
    /// Unmounts it, all of it written.
    ///
    /// # Errors
    /// It cannot be unmounted.
    fn lower(&mut self) -> Result<(), Trouble>;
    /// Has it checked while it is not mounted: what the check complains of.
    ///
    /// # Errors
    /// It cannot be checked.
    fn check(&mut self) -> Result<Option<String>, Trouble>;
    /// Lets go of it, whatever state it is in: the power is gone.
    fn fall(&mut self);
    /// Lets time pass on this machine's clock, where the device lives by it.
    fn pause(&mut self, time: Nanos);
}

/// Why a stack did not do what it was to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The file system or the database says no.
    Above(String),
    /// It cannot be held against it: a program is missing, or a process is gone.
    Harness(String),
}

/// Keeps the steps outside the device.
pub trait Diary {
    /// A cut begins; on what was made anew, all that was kept before is of no use any more.
    ///
    /// # Errors
    /// It cannot be kept; the run ends.
    fn begin(&mut self, number: u32, is_new: bool) -> Result<(), String>;
    /// A line: a step before it is done, or that it was.
    ///
    /// # Errors
    /// As [`Diary::begin`].
    fn add(&mut self, line: &str) -> Result<(), String>;
    /// The power may go: all of it reaches its disk.
    ///
    /// # Errors
    /// As [`Diary::begin`].
    fn secure(&mut self) -> Result<(), String>;
}

/// Nothing is kept: the device is gone with this program.
impl Diary for () {
    fn begin(&mut self, _: u32, _: bool) -> Result<(), String> {
        Ok(())
    }

    fn add(&mut self, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn secure(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// What works on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Files of a file system.
    Files,
    /// Rows of a database.
    Rows,
}

/// What was seen: of the device, and from above.
#[derive(Clone, Debug, Default)]
pub struct UnderReport {
    /// Of the device, as without anything on it.
    pub device: Report,
    /// From above, a row for each cut.
    pub cuts: Vec<UpperCut>,
}

/// Steps before a cut, at least and beyond.
const STEPS: (usize, usize) = (4, 12);
/// Most steps, and looks whether the power has gone, before it does.
const MOST_AFTER: usize = 65_536;
/// After so many steps the power goes, whether the device was asked anything or not: a database that never syncs asks for next to nothing.
const MOST_ARMED: usize = 24;
/// Writes and flushes of a step, about: the power goes within that many.
const REQUESTS: usize = 12;
/// From a new file system to the first cut: what was acknowledged then must be safe.
const SETTLING: Nanos = Nanos::secs(5);
/// Idle after a step, at most: longer than what is acknowledged may take to become safe.
const LONGEST_IDLE: Nanos = Nanos::secs(3);
/// Between two looks whether the power has gone.
const BETWEEN_LOOKS: Nanos = Nanos::millis(5);
/// Losses of a cut that are kept.
const KEPT: usize = 16;
/// How often each moment is chosen, of 20.
const MOMENTS: [(usize, Moment); 3] = [(12, Moment::Writing), (5, Moment::AfterFlush), (3, Moment::AfterWrites)];

/// Most that a run of so many cuts writes to a real device over a range of this length, each with a new file system where something broke: what `mkfs`
/// writes of it, and what the steps do.
pub fn most_written(length: Bytes, cuts: u32) -> Bytes {
    (length / 4 + Bytes::mib(64)) * (u64::from(cuts) + 1)
}

/// Does all cuts. What was seen until then comes back, however it ends.
pub fn run<D: PoweredBytes>(
    recorder: &Mutex<Recorder<D>>,
    stack: &mut dyn Stack,
    subject: Subject,
    plan: &Plan,
    diary: &mut dyn Diary,
    watcher: &mut dyn Watcher,
) -> UnderReport {
    let begun = locked(recorder).now();
    let capacity = locked(recorder).facts().capacity;
    let mut run = Run {
        recorder,
        stack,
        diary,
        plan: *plan,
        subject,
        kept: Kept::new(subject),
        is_new: true,
        generation: plan.generation,
        begun,
        capacity,
        report: UnderReport::default(),
    };
    run.all(watcher);
    run.stack.fall();
    let recorder = locked(recorder);
    run.report.device.written = recorder.written();
    run.report.device.flush_times = recorder.pace.flush_times();
    run.report
}

fn locked<D>(recorder: &Mutex<Recorder<D>>) -> MutexGuard<'_, Recorder<D>> {
    recorder.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was acknowledged.
enum Kept {
    Files(Tree),
    Rows(Rows),
}

impl Kept {
    fn new(subject: Subject) -> Kept {
        match subject {
            Subject::Files => Kept::Files(Tree::default()),
            Subject::Rows => Kept::Rows(Rows::default()),
        }
    }

    fn draw(&mut self, rng: &mut Rng, generation: u32) -> Step {
        match self {
            Kept::Files(tree) => tree.draw(rng, generation),
            Kept::Rows(rows) => rows.draw(rng, generation),
        }
    }

    /// A step that makes nothing safe.
    fn draw_loose(&mut self, rng: &mut Rng, generation: u32) -> Step {
        match self {
            Kept::Files(tree) => tree.draw_loose(rng, generation),
            Kept::Rows(rows) => rows.draw_open(rng, generation),
        }
    }

    fn begin(&mut self, step: &Step) {
        match self {
            Kept::Files(tree) => tree.begin(step),
            Kept::Rows(rows) => rows.begin(step),
        }
    }

    fn acknowledge(&mut self) {
        match self {
            Kept::Files(tree) => tree.acknowledge(),
            Kept::Rows(rows) => rows.acknowledge(),
        }
    }

    fn under_way(&self) -> Option<String> {
        let step = match self {
            Kept::Files(tree) => tree.under_way(),
            Kept::Rows(rows) => rows.under_way(),
        };
        step.map(ToString::to_string)
    }

    fn judge(&self, found: &Found) -> Vec<UpperLoss> {
        match self {
            Kept::Files(tree) => tree.judge(found),
            Kept::Rows(rows) => rows.judge(found),
        }
    }

    /// Goes on from what is there; says what to clear away first.
    fn settle(&mut self, found: &Found) -> Vec<Step> {
        match self {
            Kept::Files(tree) => tree.settle(found),
            Kept::Rows(rows) => {
                rows.settle(found);
                Vec::new()
            }
        }
    }
}

struct Run<'a, D> {
    recorder: &'a Mutex<Recorder<D>>,
    stack: &'a mut dyn Stack,
    diary: &'a mut dyn Diary,
    plan: Plan,
    subject: Subject,
    kept: Kept,
    /// Whether nothing was done on it since it was made.
    is_new: bool,
    /// What the last step carries.
    generation: u32,
    begun: Instant,
    capacity: Bytes,
    report: UnderReport,
}

/// Why a run goes no further.
type Stop = Ended;

impl<D: PoweredBytes> Run<'_, D> {
    fn all(&mut self, watcher: &mut dyn Watcher) {
        let mut went = self.form();
        let mut clear = Vec::new();
        for number in 1..=self.plan.cuts {
            if went.is_err() || self.report.device.ended.is_some() {
                break;
            }
            if watcher.stop() {
                went = Err(Ended::Stopped);
                break;
            }
            went = self.cut(number, std::mem::take(&mut clear), watcher).map(|next| clear = next);
            self.report
                .device
                .cuts
                .iter()
                .rev()
                .take(1)
                .filter(|cut| cut.number == number)
                .for_each(|cut| watcher.cut(cut));
        }
        if let Err(why) = went {
            self.report.device.ended.get_or_insert(why);
        }
    }

    fn device(&self) -> MutexGuard<'_, Recorder<D>> {
        locked(self.recorder)
    }

    /// Lets time pass. The device is not held meanwhile: whoever stands on it may have something to write.
    fn idle(&mut self, time: Nanos) {
        self.device().wait(time);
        self.stack.pause(time);
    }

    /// An empty file system, on a device that keeps it with the power on.
    fn form(&mut self) -> Result<(), Stop> {
        (self.kept, self.is_new) = (Kept::new(self.subject), true);
        let formed = self.stack.form();
        formed.map_err(|trouble| self.stopped("make", trouble))?;
        self.device().flush().map_err(|error| Ended::Harness(error.to_string()))?;
        self.idle(SETTLING);
        let mut device = self.device();
        let now = device.now();
        let cut = device.judge(now).map_err(|error| Ended::Harness(error.to_string()))?;
        match cut.judged.violations.first().map(|one| (one.at, one.length)).or(cut.wrong.first().copied()) {
            None => Ok(()),
            Some((at, length)) => Err(Ended::Harness(format!(
                "{length} at {at} does not read back as it was written, with the power on\nhint: `flashscope capacity` says whether it is a fake or damaged"
            ))),
        }
    }

    /// Why it cannot go on while the power is on.
    fn stopped(&self, verb: &str, trouble: Trouble) -> Stop {
        match (trouble, self.device().trouble()) {
            (Trouble::Harness(why), _) => Ended::Harness(why),
            (Trouble::Above(why), None) => {
                Ended::Harness(format!("cannot {verb} what is to stand on the device: {why}"))
            }
            (Trouble::Above(_), Some(why)) => why,
        }
    }

    /// One cut; what is to be cleared away before the next.
    fn cut(&mut self, number: u32, clear: Vec<Step>, watcher: &mut dyn Watcher) -> Result<Vec<Step>, Stop> {
        let mut rng = Rng::new(stream(self.plan.seed, u64::from(number)));
        self.diary.begin(number, std::mem::take(&mut self.is_new)).map_err(Ended::Harness)?;
        let raised = self.stack.raise();
        raised.map_err(|trouble| self.stopped("mount", trouble))?;
        let before = self.generation;
        let acknowledged = self.work(&mut rng, clear)?;
        let moment = self.until_off(&mut rng, watcher)?;
        let acknowledged = acknowledged + moment.1;
        self.stack.fall();
        let cut_at = self.device().cut_at();
        let under_way = self.kept.under_way();
        let mut upper = UpperCut {
            number,
            acknowledged,
            under_way,
            mounted_after: None,
            device_broke: false,
            losses: Vec::new(),
            found: 0,
        };
        self.judge_device((number, moment.0), cut_at, &mut upper)?;
        let next = if self.report.device.ended.is_some() { Vec::new() } else { self.judge_above(before, &mut upper)? };
        self.report.cuts.push(upper);
        Ok(next)
    }

    /// What comes before a cut; how many steps were acknowledged.
    fn work(&mut self, rng: &mut Rng, clear: Vec<Step>) -> Result<u32, Stop> {
        let count = STEPS.0 + rng.below(STEPS.1);
        let mut acknowledged = 0;
        for step in clear {
            acknowledged += u32::from(self.step(&step)?.is_ok());
        }
        for _ in 0..count {
            let step = self.draw(rng);
            let done = self.step(&step)?;
            done.map_err(|trouble| self.stopped("write to", trouble))?;
            acknowledged += 1;
        }
        Ok(acknowledged)
    }

    fn draw(&mut self, rng: &mut Rng) -> Step {
        self.generation += 1;
        self.kept.draw(rng, self.generation)
    }

    fn step(&mut self, step: &Step) -> Result<Result<(), Trouble>, Stop> {
        self.kept.begin(step);
        self.diary.add(&step.to_string()).map_err(Ended::Harness)?;
        let done = self.stack.step(step);
        if done.is_ok() {
            self.kept.acknowledge();
            self.diary.add("done").map_err(Ended::Harness)?;
        }
        Ok(done)
    }

    /// Has the power go at a moment; the moment, and the steps that were acknowledged meanwhile.
    fn until_off(&mut self, rng: &mut Rng, watcher: &mut dyn Watcher) -> Result<(Moment, u32), Stop> {
        let moment = one_of(rng, &MOMENTS);
        let part = rng.unit();
        self.diary.secure().map_err(Ended::Harness)?;
        if moment == Moment::Writing {
            self.device().arm(rng.below(REQUESTS) as u32, part);
        } else {
            let mut longest = LONGEST_IDLE;
            if moment == Moment::AfterWrites {
                self.generation += 1;
                let step = self.kept.draw_loose(rng, self.generation);
                self.step(&step)?.map_err(|trouble| self.stopped("write to", trouble))?;
                longest = Nanos::secs(1);
            }
            let idle = Nanos((longest.as_f64() * rng.unit()) as u64);
            self.idle(idle);
            self.device().begin_cut(moment, part).map_err(|error| Ended::Harness(error.to_string()))?;
        }
        let (mut acknowledged, mut failed) = (0, false);
        for turn in 0..MOST_AFTER {
            if turn == MOST_ARMED && self.device().going().is_none() {
                self.device().begin_cut(moment, part).map_err(|error| Ended::Harness(error.to_string()))?;
            }
            // Until the power begins to go, and at moments that are not idle until it has gone, work goes on.
            if moment == Moment::Writing && !failed {
                let step = self.draw(rng);
                failed = match self.step(&step)? {
                    Ok(()) => {
                        acknowledged += 1;
                        false
                    }
                    Err(trouble) if self.device().going().is_none() => return Err(self.stopped("write to", trouble)),
                    Err(_) => true,
                };
            }
            let going = self.device().going();
            if let Some(going) = going
                && self.device().has_lost_power().map_err(|error| Ended::Harness(error.to_string()))?
            {
                return Ok((going, acknowledged));
            }
            if failed || moment != Moment::Writing {
                self.idle(BETWEEN_LOOKS);
            }
            // Without a cut nothing is lost by stopping here.
            if going.is_none() && watcher.stop() {
                return Err(Ended::Stopped);
            }
        }
        Err(Ended::Harness("the power did not go".to_owned()))
    }

    /// Brings the device back and holds it against its promise.
    fn judge_device(
        &mut self,
        (number, moment): (u32, Moment),
        cut_at: Instant,
        upper: &mut UpperCut,
    ) -> Result<(), Stop> {
        let newest = self.device().journal().covered().iter().flatten().map(|done| done.at).max();
        let mut seen = Seen { since_covered: newest.map(|at| cut_at.since(at)), ..Seen::default() };
        let (mut recovery, mut whole) = (None, None);
        match self.come_back(&mut recovery) {
            Ok(kind) => seen.whole = kind,
            Err(Ended::Device(why)) => {
                seen.whole = Some(FaultKind::Dead);
                self.report.device.ended = Some(Ended::Device(why));
            }
            Err(other) => return Err(other),
        }
        if let Some(kind) = seen.whole {
            let what = match &self.report.device.ended {
                Some(Ended::Device(why)) => why.clone(),
                _ => recovery.map_or(kind.label().to_owned(), |took| format!("it came back after {took}")),
            };
            whole = Some(Violation { kind, at: Bytes::ZERO, length: Bytes::ZERO, what });
        }
        let is_readable = matches!(seen.whole, None | Some(FaultKind::SlowRecovery | FaultKind::ReadOnly));
        let (judged, journal, wrong) = match is_readable.then(|| self.device().judge(cut_at)) {
            Some(Ok(cut)) => (cut.judged, cut.journal, cut.wrong),
            Some(Err(error)) => {
                self.report.device.ended.get_or_insert(Ended::Device(error.to_string()));
                (Judged::default(), self.device().journal().clone(), Vec::new())
            }
            None => (Judged::default(), self.device().journal().clone(), Vec::new()),
        };
        let known = Known { first: contents::BEFORE + 1, last: contents::BEFORE + journal.writes.len() as u32 };
        let mut cut = cut_record((number, moment), &journal, &judged, known, cut_at);
        (cut.at, cut.recovery) = (cut_at.since(self.begun), recovery);
        let with_power_on = wrong.iter().map(|(at, length)| Violation {
            kind: FaultKind::Corrupted,
            at: *at,
            length: *length,
            what: "read other than it had been written, with the power on".to_owned(),
        });
        let more: Vec<Violation> = whole.into_iter().chain(with_power_on).collect();
        cut.found += more.len() as u32;
        cut.violations.splice(0..0, more);
        upper.device_broke = cut.found > 0;
        seen.judged = judged;
        seen.judged.violations.extend(wrong.iter().map(|(at, length)| {
            let (kind, holds) = (FaultKind::Corrupted, Holds::Foreign);
            judge::Violation { kind, at: *at, length: *length, covered: None, holds }
        }));
        self.report.device.cuts.push(cut);
        self.report.device.seen.push(seen);
        Ok(())
    }

    fn come_back(&mut self, recovery: &mut Option<Nanos>) -> Result<Option<FaultKind>, Stop> {
        let restored = self.device().restore_power();
        let took = restored.map_err(|error| match error {
            DeviceError::Vanished(_) | DeviceError::Hung(_) => Ended::Device(error.to_string()),
            other => Ended::Harness(other.to_string()),
        })?;
        *recovery = Some(took);
        let device = self.device();
        let (capacity, can_write) = (device.facts().capacity, device.can_write());
        drop(device);
        if capacity != self.capacity {
            self.report.device.ended =
                Some(Ended::Device(format!("it came back with {capacity} of {}", self.capacity)));
            return Ok(Some(FaultKind::Shrunk));
        }
        if !can_write {
            self.report.device.ended = Some(Ended::Device("it came back read-only".to_owned()));
            return Ok(Some(FaultKind::ReadOnly));
        }
        Ok((took > self.plan.slow_after).then_some(FaultKind::SlowRecovery))
    }

    /// Mounts what stands on the device again, and holds it against what it had acknowledged. Where anything broke it is made anew.
    fn judge_above(&mut self, first: u32, upper: &mut UpperCut) -> Result<Vec<Step>, Stop> {
        let known = Known { first: self.plan.generation.min(first), last: self.generation };
        let mut found = None;
        let mut losses = match self.stack.raise().and_then(|took| self.stack.look(known).map(|found| (took, found))) {
            Ok((took, there)) => {
                upper.mounted_after = Some(took);
                let losses = self.kept.judge(&there);
                found = Some(there);
                losses
            }
            Err(Trouble::Above(why)) => {
                vec![UpperLoss { kind: UpperKind::NotMountable, name: String::new(), what: why }]
            }
            Err(Trouble::Harness(why)) => return Err(Ended::Harness(why)),
        };
        if let Some(what) = found.as_ref().and_then(|found| found.damaged.clone()) {
            losses.push(UpperLoss { kind: UpperKind::Damaged, name: String::new(), what });
        }
        if found.is_some() {
            let checked = self.stack.lower().and_then(|()| self.stack.check());
            match checked {
                Ok(None) => {}
                Ok(Some(what)) | Err(Trouble::Above(what)) => {
                    losses.push(UpperLoss { kind: UpperKind::Damaged, name: String::new(), what });
                }
                Err(Trouble::Harness(why)) => return Err(Ended::Harness(why)),
            }
        }
        upper.found = losses.len() as u32;
        losses.truncate(KEPT);
        upper.losses = losses;
        if upper.found > 0 || upper.device_broke {
            self.stack.fall();
            self.form()?;
            return Ok(Vec::new());
        }
        Ok(found.map_or(Vec::new(), |found| self.kept.settle(&found)))
    }
}
