//! A recipe carried out, from the first step or from wherever it was stopped, to the certificate.

use crate::journal::Journal;
use crate::ladder::{self, Climbed};
use crate::life::Life;
use crate::recipe::{Recipe, SEQUENTIAL, Step};
use crate::step::{End, Hands, Position};
use flashscope_device::{DeviceError, Purge, Target, WriteGrant};
use flashscope_model::certificate::{Certificate, MadeStep};
use flashscope_model::envelope::ConditionList;
use flashscope_model::{DeviceState, StopReason};
use flashscope_stats::location::median;
use flashscope_units::{ByteRate, Bytes, Nanos};

/// A device whose rate at the end of a step is below this share of that at its beginning is said to have slowed, …
const SLOWED: f64 = 0.5;
/// … by the medians of so many parts of the step at either end, …
const ENDS: usize = 3;
/// … where the step took so long: what is over sooner shows the host's moods, not a device that slows.
const LONG: Nanos = Nanos::secs(10);

/// Whoever watches a state being made.
pub trait Watch<T> {
    /// How far it is.
    fn progress(&mut self, progress: &Progress<'_>);

    /// To keep what was done so far, where it is time to; for certain where it `must` be, before the next request.
    fn keep(&mut self, target: &T, journal: &Journal, must: bool);

    /// Whether to stop.
    fn stop(&mut self) -> bool;

    /// Registers and counters of the device, now.
    fn registers(&mut self, target: &T) -> ConditionList;
}

/// How far a state is made.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// Number of the step, from 1.
    pub step: usize,
    /// Steps in all.
    pub steps: usize,
    /// What the step is.
    pub what: &'a Step,
    /// Bytes moved by all steps until now.
    pub moved: Bytes,
    /// Bytes that all steps move, at most.
    pub most: Bytes,
    /// Time of the device until now.
    pub time: Nanos,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// How it was done, and whether the state was reached.
    pub certificate: Certificate,
    /// How it ended.
    pub stop: StopReason,
}

/// Carries a recipe out. The journal says where to begin, and at the end how far it came.
pub fn make<T: Target>(
    recipe: &Recipe,
    journal: &mut Journal,
    life: Life,
    (target, grant): (&mut T, &mut WriteGrant),
    purge: &mut dyn Purge,
    watch: &mut dyn Watch<T>,
) -> Made {
    if journal.is_new() {
        journal.registers = watch.registers(target);
    }
    journal.sessions += 1;
    watch.keep(target, journal, true);
    let mut work = Work { recipe, journal, target, grant, watch };
    let end = work.all(purge);
    let stop = match &end {
        Ok(End::Cut(stop)) => stop.clone(),
        Ok(_) => StopReason::Complete,
        Err(error @ (DeviceError::Invalid(_) | DeviceError::System(_))) => StopReason::InternalError(error.to_string()),
        Err(error) => StopReason::DeviceLost(error.to_string()),
    };
    let certificate = work.certificate(&end, life);
    if stop != StopReason::Complete {
        watch.keep(target, journal, true);
    }
    Made { certificate, stop }
}

struct Work<'a, T> {
    recipe: &'a Recipe,
    journal: &'a mut Journal,
    target: &'a mut T,
    grant: &'a mut WriteGrant,
    watch: &'a mut dyn Watch<T>,
}

impl<T: Target> Work<'_, T> {
    fn all(&mut self, purge: &mut dyn Purge) -> Result<End, DeviceError> {
        let mut end = End::Done;
        while let Some(step) = self.recipe.steps.get(self.journal.over.len()) {
            end = match step {
                Step::Purge { needed } => self.purge(purge, *needed)?,
                _ => self.step(step)?,
            };
            let said = match &end {
                End::Done => "done".to_owned(),
                End::Shown(why) | End::Missed(why) => why.clone(),
                End::Cut(_) => return Ok(end),
            };
            let position = std::mem::take(&mut self.journal.position);
            self.journal.over.push((position, said));
            // Before the next step writes over what this one has written: a journal that told of an earlier step would have
            // that one gone on with, over blocks that a later one has changed.
            self.watch.keep(self.target, self.journal, true);
        }
        Ok(end)
    }

    fn step(&mut self, step: &Step) -> Result<End, DeviceError> {
        let Work { recipe, journal, target, grant, watch } = self;
        let recipe: &Recipe = recipe;
        let (number, most) = (journal.over.len() + 1, recipe.most_written() + recipe.most_read());
        let before = |of: fn(&Position) -> u64| journal.over.iter().map(|(position, _)| of(position)).sum::<u64>();
        let (moved, time) = (before(|over| over.written + over.read), before(|over| over.time_ns));
        let mut position = std::mem::take(&mut journal.position);
        let mut look = |at: &Position, target: &mut T| {
            watch.progress(&Progress {
                step: number,
                steps: recipe.steps.len(),
                what: step,
                moved: Bytes(moved + at.written + at.read),
                most,
                time: Nanos(time + at.time_ns),
            });
            journal.position.clone_from(at);
            watch.keep(target, journal, false);
            watch.stop()
        };
        let end = Hands { recipe, target: &mut **target, grant }.carry_out(step, &mut position, &mut look);
        journal.position = position;
        end
    }

    /// Down the ladder; where that is needed and leads nowhere, everything is written over if that was asked for.
    fn purge(&mut self, purge: &mut dyn Purge, needed: bool) -> Result<End, DeviceError> {
        if self.journal.position == Position::default() {
            let (from, spent) = (self.target.now(), self.grant.spent());
            let mut rungs = Vec::new();
            let watch = &mut self.watch;
            let climbed =
                ladder::climb(self.target, self.grant, purge, self.recipe.seed, &mut rungs, &mut || !watch.stop());
            self.journal.ladder = rungs.into_iter().map(|rung| (rung.step, rung.reached, rung.outcome)).collect();
            let climbed = climbed?;
            if let Climbed::Stopped = climbed {
                return Ok(End::Cut(StopReason::Interrupted));
            }
            self.journal.position.written = (self.grant.spent() - spent).get();
            self.journal.position.time_ns = self.target.now().since(from).get();
            if let Climbed::Reached(step) = climbed {
                self.journal.purged = Some(step.word().to_owned());
                return Ok(End::Done);
            }
        }
        if !(needed && self.recipe.overwrite) {
            return Ok(End::Missed("no step of the purge ladder is to be had".to_owned()));
        }
        let over = Step::Sequential { length: self.recipe.capacity, generation: 1 };
        Ok(match self.step(&over)? {
            End::Done => End::Missed("everything was written over, which is not clean: all of it is mapped".to_owned()),
            end => end,
        })
    }

    fn certificate(&mut self, end: &Result<End, DeviceError>, life: Life) -> Certificate {
        let mut steps: Vec<MadeStep> = Vec::new();
        let journal = &self.journal;
        let under_way = (journal.position.clone(), "cut short".to_owned());
        let begun = journal.position != Position::default();
        let all = journal.over.iter().chain(begun.then_some(&under_way));
        for ((position, said), step) in all.zip(&self.recipe.steps) {
            steps.push(made(step, position, said));
        }
        let (reached, why) = self.judge(end);
        let mut notes = self.notes();
        if self.recipe.steps.contains(&Step::Purge { needed: false }) && journal.purged.is_none() {
            notes.push("not purged before: no step of the purge ladder is to be had".to_owned());
        }
        let written: Bytes = steps.iter().map(|step| step.written).sum();
        Certificate {
            reached,
            why,
            purge: journal.purged.clone(),
            ladder: journal.rungs(),
            steps,
            seed: self.recipe.seed,
            sessions: journal.sessions,
            life_share: life.share(written),
            life_source: life.source().to_owned(),
            registers_before: journal.registers.clone(),
            registers_after: self.watch.registers(self.target),
            notes,
        }
    }

    fn judge(&self, end: &Result<End, DeviceError>) -> (bool, String) {
        let last = || self.recipe.steps.iter().rev().find(|step| !matches!(step, Step::Check { .. }));
        match end {
            Err(error) => (false, error.to_string()),
            Ok(End::Cut(StopReason::Failing)) => {
                let why = self.journal.position.first_failure.as_deref().unwrap_or("no reason was given");
                (
                    false,
                    format!("the device fails request after request (the first: {why}); it may have turned read-only"),
                )
            }
            Ok(End::Cut(StopReason::BudgetSpent)) => (false, "what may be written was used up first".to_owned()),
            Ok(End::Cut(_)) => (false, "stopped before its end".to_owned()),
            Ok(End::Missed(why)) => (false, why.clone()),
            Ok(End::Shown(why)) => (true, why.clone()),
            Ok(End::Done) if self.recipe.state == DeviceState::Aged => {
                let passes = self.recipe.steps.iter().filter(|step| !matches!(step, Step::Check { .. })).count();
                (
                    true,
                    format!("the whole capacity was written {passes} times, sequentially and in random order in turn"),
                )
            }
            Ok(End::Done) => match (last(), &self.journal.purged) {
                (Some(Step::Purge { .. }), Some(step)) => (true, format!("purged by {step}")),
                (Some(step), _) => (true, step.done()),
                (None, _) => (true, "nothing was to be done".to_owned()),
            },
        }
    }

    /// What was seen on the way.
    fn notes(&self) -> Vec<String> {
        let over = self.journal.over.iter().map(|(position, _)| position);
        let mut notes = Vec::new();
        for (at, step) in over.chain([&self.journal.position]).zip(&self.recipe.steps) {
            if at.failed > 0 {
                let first = at.first_failure.as_deref().unwrap_or("without a reason");
                notes.push(format!("{}: {} requests failed (the first: {first})", step.describe(), at.failed));
            }
            if at.mismatched > 0 {
                notes.push(format!("{}: {} blocks were not as they had been written", step.describe(), at.mismatched));
            }
            let evenly = matches!(step, Step::Sequential { .. } | Step::Shuffled { .. });
            let ends = (at.rates.first_chunk::<ENDS>(), at.rates.last_chunk::<ENDS>());
            if let (Some(first), Some(last)) = ends
                && let (Some(first), Some(last)) = (median(first), median(last))
                && evenly
                && Nanos(at.time_ns) >= LONG
                && last < SLOWED * first
            {
                notes.push(format!("{}: slowed from {} to {}", step.describe(), ByteRate(first), ByteRate(last)));
            }
        }
        notes
    }
}

impl Step {
    /// What it has done, where it was the last.
    fn done(&self) -> String {
        match self {
            Step::Sequential { length, .. } => {
                format!("{length} were written sequentially, in requests of {SEQUENTIAL}")
            }
            Step::Shuffled { .. } => "every place was written in random order".to_owned(),
            Step::Spread { bytes, .. } => format!("{bytes} were written randomly over all that was written before"),
            Step::Purge { .. } | Step::Check { .. } | Step::Rounds { .. } => "done".to_owned(),
        }
    }
}

fn made(step: &Step, at: &Position, said: &str) -> MadeStep {
    MadeStep {
        what: step.describe(),
        written: Bytes(at.written),
        read: Bytes(at.read),
        time: Nanos(at.time_ns),
        failed: at.failed,
        mismatched: at.mismatched,
        end: said.to_owned(),
        rates: at.rates.clone(),
    }
}
