//! One request at a time on a target: counts, keeps failures, knows when to end.

use crate::context::{Context, HOPELESS_FAILURES, KEPT_FAILURES, Progress};
use crate::error::ProbeError;
use crate::rng::Rng;
use flashscope_device::{Completion, Content, DeviceError, ExecuteExt, Fill, GrantError, Outcome, Request, Target};
use flashscope_model::Data;
use flashscope_model::observation::{AreaState, IoFailure, Run, Source, Spent};
use flashscope_model::plan::Enough;
use flashscope_model::{Direction, StopReason};
use flashscope_units::{Bytes, Instant, Nanos};

/// The observer is asked about this often, on the target's clock, so that a slow device can be stopped soon and a fast
/// one is not slowed down.
const OBSERVE_EVERY: Nanos = Nanos::millis(50);

/// An experiment's way to its target.
pub(crate) struct Rig<'a, 'c, T: ?Sized> {
    target: &'a mut T,
    context: &'a mut Context<'c>,
    total: u64,
    done: u64,
    observed: Instant,
    started: Instant,
    generation: u32,
    failed_in_a_row: u64,
    /// Of an experiment that ends once it has seen enough.
    pace: Option<Pace>,
    /// Noticed after a request, heeded before the next one, so that no sample is lost.
    stop: Option<StopReason>,
    failures: Vec<IoFailure>,
    spent: Spent,
}

/// Why an experiment does not go on.
#[derive(Clone, Debug)]
pub(crate) enum Halt {
    /// The device is there, but the run ends.
    Early(StopReason),
    /// The measurement cannot go on.
    Lost(DeviceError),
}

/// What came of one request: nothing where it failed.
pub(crate) type Sample = Option<Served>;

/// A request that went well.
pub(crate) struct Served {
    pub(crate) time: Nanos,
    pub(crate) content: Content,
}

/// Rounds that must be slow, one behind the other, before what is slow is taken to stay so.
const SLOW_ROUNDS: u32 = 3;

/// How slow the requests of an experiment of rounds were so far.
struct Pace {
    enough: Enough,
    round: u32,
    /// Requests of the rounds behind the first: all of them, and the slow ones.
    behind: (u64, u64),
    /// Slow requests of this round.
    slow: u64,
    slow_rounds: u32,
    fast_rounds: u32,
}

impl Pace {
    fn new(enough: Enough) -> Pace {
        Pace { enough, round: 0, behind: (0, 0), slow: 0, slow_rounds: 0, fast_rounds: 0 }
    }

    fn add(&mut self, time: Nanos) {
        let slow = u64::from(time >= self.enough.slow);
        self.slow += slow;
        // The first round pays for what was left open before, so that its requests tell nothing of those to come.
        if self.round > 0 {
            self.behind = (self.behind.0 + 1, self.behind.1 + slow);
        }
    }

    /// Whether the requests behind the first round were slow without an exception, and at least so many.
    fn is_plain(&self, least: u64) -> bool {
        let (behind, slow) = self.behind;
        behind == slow && behind >= least
    }

    /// At the end of a round that took so long for so many requests.
    fn is_over(&mut self, took: Nanos, requests: u64) -> bool {
        self.round += 1;
        self.slow_rounds = if took >= self.enough.slow * requests { self.slow_rounds + 1 } else { 0 };
        self.fast_rounds = if self.slow == 0 { self.fast_rounds + 1 } else { 0 };
        self.slow = 0;
        // Where units are closed that are needed no more, the first writes of a round may be slow and the others fast.
        self.is_plain(self.enough.requests)
            || (self.round >= self.enough.rounds && self.slow_rounds >= SLOW_ROUNDS)
            || self.enough.fast_rounds.is_some_and(|wanted| self.fast_rounds >= wanted)
    }
}

/// One round behind the other, all of them or as many as are enough.
pub(crate) fn rounds<T: Target + ?Sized>(
    all: u32,
    enough: Option<Enough>,
    rig: &mut Rig<'_, '_, T>,
    mut one: impl FnMut(u32, &mut Rig<'_, '_, T>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    rig.pace = enough.map(Pace::new);
    for round in 0..all {
        let (begun, done) = (rig.elapsed(), rig.done);
        one(round, rig)?;
        let (took, requests) = (rig.elapsed().saturating_sub(begun), rig.done - done);
        if rig.pace.as_mut().is_some_and(|pace| pace.is_over(took, requests)) {
            break;
        }
    }
    Ok(())
}

impl<'a, 'c, T: Target + ?Sized> Rig<'a, 'c, T> {
    pub(crate) fn new(target: &'a mut T, context: &'a mut Context<'c>, total: u64) -> Rig<'a, 'c, T> {
        let started = target.now();
        // Successive runs start their generations apart, so that no two writings of a place carry the same bytes.
        let generation = Rng::new(context.seed, "generation").next() as u32;
        Rig {
            target,
            context,
            total,
            done: 0,
            observed: started,
            started,
            generation,
            failed_in_a_row: 0,
            pace: None,
            stop: None,
            failures: Vec::new(),
            spent: Spent::default(),
        }
    }

    /// The run, from its figures and how it came to an end.
    pub(crate) fn finish(mut self, data: Data, state: AreaState, end: Result<(), Halt>) -> Result<Run, ProbeError> {
        let more = self.context.report.failed - self.failures.len() as u64;
        if let Some(last) = self.failures.last_mut().filter(|_| more > 0) {
            last.reason.push_str(&format!(" (and {more} more requests failed)"));
        }
        let run = Run {
            source: Source::Probe { started: self.started },
            state: if end.is_ok() { state } else { AreaState::Unknown },
            complete: end.is_ok(),
            spent: Spent { time: self.target.now().since(self.started), ..self.spent },
            failures: self.failures,
            data,
        };
        match end {
            Ok(()) => Ok(run),
            Err(Halt::Early(why)) => {
                self.context.report.stop = Some(why);
                Ok(run)
            }
            Err(Halt::Lost(error)) => Err(ProbeError::Device { error, partial: Box::new(run) }),
        }
    }

    /// Whether requests of an experiment of rounds were slow without an exception for so long that more are not asked for.
    pub(crate) fn is_plain(&self, least: u64) -> bool {
        self.pace.as_ref().is_some_and(|pace| pace.is_plain(least.max(pace.enough.requests)))
    }

    /// Time since the experiment began, on the target's clock.
    pub(crate) fn elapsed(&self) -> Nanos {
        self.target.now().since(self.started)
    }

    /// Reads or durably writes one block at each position, and keeps the times of those that go well.
    pub(crate) fn visit(
        &mut self,
        times: &mut Vec<Nanos>,
        direction: Direction,
        block: Bytes,
        positions: impl IntoIterator<Item = Bytes>,
    ) -> Result<(), Halt> {
        positions.into_iter().try_for_each(|at| self.time_into(times, direction, at, block))
    }

    /// Reads or durably writes a range and keeps its time, if it went well.
    pub(crate) fn time_into(
        &mut self,
        times: &mut Vec<Nanos>,
        direction: Direction,
        at: Bytes,
        length: Bytes,
    ) -> Result<(), Halt> {
        let sample = match direction {
            Direction::Read => self.read(at, length)?,
            Direction::Write => self.write(at, length)?,
        };
        times.extend(sample.map(|served| served.time));
        Ok(())
    }

    pub(crate) fn read(&mut self, at: Bytes, length: Bytes) -> Result<Sample, Halt> {
        self.go_on()?;
        let completion = self.execute(Request::read(self.done, at, length))?;
        if completion.outcome.is_done() {
            self.spent.read += length;
        }
        Ok(self.settle(completion, Direction::Read, at, length))
    }

    /// Reads blocks that are handed over at once; says how long it took from the first issue to the last completion, if
    /// all went well.
    pub(crate) fn read_together(
        &mut self,
        places: impl IntoIterator<Item = Bytes>,
        length: Bytes,
    ) -> Result<Option<Nanos>, Halt> {
        self.go_on()?;
        let places: Vec<Bytes> = places.into_iter().collect();
        let first = self.done;
        let numbered = places.iter().zip(first..);
        let batch: Vec<Request> = numbered.map(|(&at, number)| Request::read(number, at, length)).collect();
        self.target.submit(&batch).map_err(Halt::Lost)?;
        let mut completions = Vec::with_capacity(batch.len());
        while completions.len() < batch.len() {
            let before = completions.len();
            self.target.reap(1, &mut completions).map_err(Halt::Lost)?;
            if completions.len() == before {
                return Err(Halt::Lost(DeviceError::Hung("a read was lost".to_owned())));
            }
        }
        let issued = completions.iter().map(|completion| completion.issued).min();
        let completed = completions.iter().map(|completion| completion.completed).max();
        let mut good = true;
        for completion in completions {
            let at = places[(completion.id - first) as usize];
            if completion.outcome.is_done() {
                self.spent.read += length;
            }
            good &= self.settle(completion, Direction::Read, at, length).is_some();
        }
        Ok(issued.zip(completed).filter(|_| good).map(|(issued, completed)| completed.since(issued)))
    }

    /// Asks nothing of the target for so long.
    pub(crate) fn rest(&mut self, time: Nanos) {
        if time > Nanos::ZERO {
            let until = self.target.now() + time;
            self.target.wait_until(until);
        }
    }

    /// A durable write of tagged bytes, different from those of every other write of the run.
    pub(crate) fn write(&mut self, at: Bytes, length: Bytes) -> Result<Sample, Halt> {
        self.generation = self.generation.wrapping_add(1);
        self.write_fill(at, length, Fill::Tagged { generation: self.generation })
    }

    /// A durable write of the given bytes.
    pub(crate) fn write_fill(&mut self, at: Bytes, length: Bytes, fill: Fill) -> Result<Sample, Halt> {
        self.write_as(at, length, fill, true)
    }

    /// A write of tagged bytes that is done when the device has taken them, wherever it keeps them.
    pub(crate) fn write_into_memory(&mut self, at: Bytes, length: Bytes) -> Result<Sample, Halt> {
        self.generation = self.generation.wrapping_add(1);
        self.write_as(at, length, Fill::Tagged { generation: self.generation }, false)
    }

    /// Makes all that was written durable; nothing where the device has no flush.
    pub(crate) fn flush(&mut self) -> Result<Sample, Halt> {
        self.go_on()?;
        if !self.target.capabilities().flush {
            return Ok(None);
        }
        let completion = self.execute(Request::flush(self.done))?;
        Ok(self.settle(completion, Direction::Write, Bytes::ZERO, Bytes::ZERO))
    }

    /// Whether the device has discard.
    pub(crate) fn can_discard(&self) -> bool {
        self.target.capabilities().discard
    }

    /// Discards a range; it destroys data, and costs nothing of what may be written.
    pub(crate) fn discard(&mut self, at: Bytes, length: Bytes) -> Result<Sample, Halt> {
        self.go_on()?;
        let Some(grant) = self.context.grant.as_deref_mut() else {
            return Err(Halt::Early(StopReason::BudgetSpent));
        };
        let refused = |refused: GrantError| Halt::Lost(DeviceError::Invalid(refused.to_string()));
        let request = Request::discard(grant, self.done, at, length).map_err(refused)?;
        let completion = self.execute(request)?;
        Ok(self.settle(completion, Direction::Write, at, length))
    }

    /// Leaves the device alone for so long.
    pub(crate) fn pause(&mut self, time: Nanos) {
        if time > Nanos::ZERO {
            let until = self.target.now() + time;
            self.target.wait_until(until);
        }
    }

    fn write_as(&mut self, at: Bytes, length: Bytes, fill: Fill, durable: bool) -> Result<Sample, Halt> {
        self.go_on()?;
        let Some(grant) = self.context.grant.as_deref_mut() else {
            return Err(Halt::Early(StopReason::BudgetSpent));
        };
        let request = Request::write(grant, self.done, at, length, fill, durable).map_err(|refused| match refused {
            GrantError::BudgetSpent { .. } => Halt::Early(StopReason::BudgetSpent),
            GrantError::OutOfRange => Halt::Lost(DeviceError::Invalid(refused.to_string())),
        })?;
        // A write that fails may have worn the flash all the same, so it counts from here on.
        self.spent.written += length;
        let completion = self.execute(request)?;
        Ok(self.settle(completion, Direction::Write, at, length))
    }

    /// Ends the run where that was decided after the last request.
    fn go_on(&self) -> Result<(), Halt> {
        self.stop.clone().map_or(Ok(()), |why| Err(Halt::Early(why)))
    }

    fn execute(&mut self, request: Request) -> Result<Completion, Halt> {
        self.target.execute(request).map_err(Halt::Lost)
    }

    /// Keeps a failure, and asks the observer where it is time to.
    fn settle(&mut self, completion: Completion, direction: Direction, offset: Bytes, length: Bytes) -> Sample {
        self.done += 1;
        self.observe(completion.completed);
        let reason = match completion.outcome {
            Outcome::Success => {
                self.failed_in_a_row = 0;
                let time = completion.service_time();
                if let Some(pace) = &mut self.pace {
                    pace.add(time);
                }
                return Some(Served { time, content: completion.content });
            }
            Outcome::Mismatch => "other bytes were read than expected".to_owned(),
            Outcome::Failed(reason) => reason,
        };
        self.fail(IoFailure { direction, offset, length, reason });
        None
    }

    fn fail(&mut self, failure: IoFailure) {
        self.context.report.failed += 1;
        if self.failures.len() < KEPT_FAILURES {
            self.failures.push(failure);
        }
        self.failed_in_a_row += 1;
        if self.failed_in_a_row >= HOPELESS_FAILURES {
            self.stop = Some(StopReason::Failing);
        }
    }

    fn observe(&mut self, now: Instant) {
        if now.since(self.observed) < OBSERVE_EVERY && self.done < self.total {
            return;
        }
        self.observed = now;
        let progress = Progress { done: self.done, total: self.total, elapsed: now.since(self.started) };
        if self.context.observer.progress(progress).is_break() {
            self.stop = Some(StopReason::Interrupted);
        }
    }
}
