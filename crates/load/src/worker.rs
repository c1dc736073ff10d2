//! One worker as a state machine: asked for the next step, told what completion. It knows no device, thread or clock.
//!
//! Whoever drives it ([`crate::drive`] with a lane of its own, [`crate::simulate`] with others on one target) calls
//! [`Worker::begin`], then [`Worker::next`] until it says that there is nothing to do for now, then [`Worker::complete`]
//! for whatever completion.

use crate::generations::{Generations, Known};
use crate::job::{Arrivals, Payload, Spacing, Verify};
use crate::pattern::{Choice, Chooser};
use crate::plan::{PlanError, Resolved};
use crate::record::{Failure, Kind, Mismatch, Recorder, Trace, TraceEntry};
use flashscope_device::{FailureDetail, Fill, LaneCompletion, Request, Status, WriteGrant};
use flashscope_model::StopReason;
use flashscope_stats::rng::{Rng, stream};
use flashscope_units::{Bytes, Instant, Nanos};

/// What a worker wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// This is to be handed over; its id is a slot below the queue depth.
    Submit(Request),
    /// Nothing to hand over before this time, or until something ends.
    WaitUntil(Instant),
    /// Nothing to hand over until something ends.
    WaitForCompletion,
    /// All is done and nothing is outstanding.
    Done,
}

/// Requests that fail in a row before a worker gives up.
pub const FAILURES_IN_A_ROW: u32 = 100;

/// Of a request that is outstanding.
#[derive(Clone, Copy, Debug)]
struct Slot {
    intended: Instant,
    offset: u64,
    length: u32,
    kind: Kind,
    generation: u32,
    busy: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Load,
    /// Waits for what is outstanding, then goes on to the flush or the reading back.
    Drain,
    Flush,
    ReadBack,
    Done,
}

#[derive(Clone, Debug)]
enum Due {
    Now,
    Think { time: Nanos, every: u32, left: u32, rest_until: Instant },
    Rate { next: Instant, gap: f64, exact: f64, origin: Instant, poisson: Option<Box<Rng>> },
}

/// One worker of a job.
pub struct Worker {
    stage: Stage,
    free: Vec<u32>,
    slots: Vec<Slot>,
    due: Due,
    until: Instant,
    requests_left: u64,
    bytes_left: u64,
    writes_to_flush: u64,
    chooser: Chooser,
    grant: Option<WriteGrant>,
    recorder: Recorder,
    failed: Vec<(u32, LaneCompletion)>,
    failed_in_a_row: u32,
    stop_reason: StopReason,
    /// Not counted before this time and so many requests; `None` once it is.
    warm_up: Option<(Instant, u64)>,
    /// A choice that waits for another request to the same place.
    held: Option<Choice>,
    generations: Option<Generations>,
    read_back_next: usize,
    fill: Option<Fill>,
    expect: Option<Fill>,
    durable: bool,
    plan: Resolved,
}

impl Worker {
    /// The `index`-th worker of a resolved job. `grant` is its own part of the right to write; `told` says whether the
    /// target keeps contents rather than bytes, so that each write must say what it carries (a simulated device).
    ///
    /// # Errors
    /// Where more blocks are to be verified than can be kept track of.
    pub fn new(
        plan: &Resolved,
        index: usize,
        grant: Option<WriteGrant>,
        told: bool,
        trace: Trace,
    ) -> Result<Worker, PlanError> {
        let job = &plan.job;
        let (start, length) = plan.parts[index];
        let generations = match job.verify {
            Verify::Written => Some(Generations::new(start.get(), length.get(), job.largest().get() as u32)?),
            Verify::Nothing | Verify::Generation(_) => None,
        };
        let fill = match job.payload {
            Payload::Tagged { generation } => Some(Fill::Tagged { generation }),
            Payload::Byte(byte) if told => Some(Fill::Byte(byte)),
            _ if told => Some(Fill::Tagged { generation: 0 }),
            _ => None,
        };
        let expect = match job.verify {
            Verify::Generation(generation) => Some(Fill::Tagged { generation }),
            Verify::Nothing | Verify::Written => None,
        };
        let seed = stream(job.seed, index as u64);
        let depth = job.queue_depth;
        let idle =
            Slot { intended: Instant::ORIGIN, offset: 0, length: 0, kind: Kind::Read, generation: 0, busy: false };
        let open = matches!(job.arrivals, Arrivals::Rate { .. });
        Ok(Worker {
            stage: Stage::Load,
            free: (0..depth).rev().collect(),
            slots: vec![idle; depth as usize],
            due: Due::Now,
            until: Instant(u64::MAX),
            requests_left: job.stop.requests.unwrap_or(u64::MAX),
            bytes_left: job.stop.bytes.map_or(u64::MAX, Bytes::get),
            writes_to_flush: job.flush.every.unwrap_or(u64::MAX),
            chooser: Chooser::new(job, start.get(), length.get(), seed),
            grant,
            recorder: Recorder::new(open, trace),
            failed: Vec::with_capacity(depth as usize),
            failed_in_a_row: 0,
            stop_reason: StopReason::Complete,
            warm_up: None,
            held: None,
            generations,
            read_back_next: 0,
            fill,
            expect,
            durable: job.mode.is_durable(),
            plan: plan.clone(),
        })
    }

    /// The clock starts.
    pub fn begin(&mut self, now: Instant) {
        let job = &self.plan.job;
        self.recorder.start(now);
        self.until = job.stop.time.map_or(Instant(u64::MAX), |time| now + time);
        if job.warm_up > Nanos::ZERO || job.warm_up_requests > 0 {
            self.warm_up = Some((now + job.warm_up, job.warm_up_requests));
            self.until = Instant(u64::MAX);
        }
        self.due = match job.arrivals {
            Arrivals::AsFastAsPossible => Due::Now,
            Arrivals::Think { time, every } => Due::Think { time, every, left: every, rest_until: now },
            Arrivals::Rate { per_second, spacing } => Due::Rate {
                next: now,
                gap: 1e9 / per_second,
                exact: 0.0,
                origin: now,
                poisson: (spacing == Spacing::Poisson).then(|| Box::new(Rng::new(job.seed ^ 0x006f_7065_6e00))),
            },
        };
    }

    /// What to do at `now`, which never runs backwards.
    #[inline]
    pub fn next(&mut self, now: Instant) -> Step {
        if self.stage != Stage::Load {
            return self.next_late();
        }
        if self.requests_left == 0 || self.bytes_left == 0 {
            return self.leave();
        }
        let intended = match &self.due {
            Due::Now if now >= self.until => return self.leave(),
            Due::Now => now,
            _ => match self.due_at(now) {
                Ok(intended) => intended,
                Err(step) => return step,
            },
        };
        if self.free.is_empty() {
            return Step::WaitForCompletion;
        }
        if self.writes_to_flush == 0 {
            self.writes_to_flush = self.plan.job.flush.every.unwrap_or(u64::MAX);
            return self.flush(intended);
        }
        let choice = if self.generations.is_some() {
            match self.choose_verified() {
                Some(choice) => choice,
                None => return Step::WaitForCompletion,
            }
        } else {
            self.chooser.draw_request()
        };
        self.submit(choice, intended)
    }

    /// Tells what came of a request.
    #[inline]
    pub fn complete(&mut self, completion: LaneCompletion) {
        let slot = &mut self.slots[completion.slot as usize];
        slot.busy = false;
        let entry = TraceEntry {
            intended: slot.intended,
            issued: completion.issued,
            completed: completion.completed,
            offset: slot.offset,
            length: slot.length,
            kind: slot.kind,
        };
        self.free.push(completion.slot);
        if completion.status != Status::Success {
            return self.complete_failed(completion);
        }
        self.failed_in_a_row = 0;
        if self.warm_up.is_some() {
            return self.complete_warm(entry);
        }
        match entry.kind {
            Kind::Read | Kind::Write => self.recorder.record(entry),
            Kind::Flush | Kind::ReadBack => self.recorder.record_aside(entry),
        }
    }

    /// Requests that went wrong since this was last empty, each to be explained with [`Worker::explain`].
    pub fn peek_failed(&mut self) -> Option<(u32, Status)> {
        self.failed.last().map(|(slot, completion)| (*slot, completion.status))
    }

    /// Says why the request that [`Worker::peek_failed`] gave went wrong.
    pub fn explain(&mut self, detail: FailureDetail) {
        let Some((slot, completion)) = self.failed.pop() else { return };
        let Slot { offset, length, kind, generation, .. } = self.slots[slot as usize];
        let expected = match self.expect {
            Some(Fill::Tagged { generation }) => generation,
            _ => generation,
        };
        let mismatch = (completion.status == Status::Mismatch).then(|| Mismatch {
            position: offset + detail.at.unwrap_or(0),
            expected: format!("generation {expected} of this place"),
            found: detail.found.unwrap_or_else(|| "something else".to_owned()),
        });
        self.recorder.fail(Failure { at: completion.completed, kind, offset, length, reason: detail.reason, mismatch });
    }

    /// Whether there is something to explain.
    #[inline]
    pub fn has_failed(&self) -> bool {
        !self.failed.is_empty()
    }

    /// Ends the load: nothing more is handed over but what finishes the job off (a flush that belongs to it).
    pub fn stop(&mut self, why: StopReason) {
        if matches!(self.stage, Stage::Load | Stage::ReadBack | Stage::Drain) {
            if self.stop_reason == StopReason::Complete {
                self.stop_reason = why;
            }
            self.stage = Stage::Done;
        }
    }

    /// Requests that are outstanding.
    #[inline]
    pub fn outstanding(&self) -> u32 {
        (self.slots.len() - self.free.len()) as u32
    }

    /// How many more requests there is room for.
    #[inline]
    pub fn room(&self) -> u32 {
        self.free.len() as u32
    }

    /// Whether there is no room for another request.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// What it wrote down.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// What it wrote down, to keep.
    pub fn into_recorder(mut self) -> Recorder {
        self.recorder.trace.finish();
        self.recorder
    }

    /// Why it stopped, once it has.
    pub fn stop_reason(&self) -> &StopReason {
        &self.stop_reason
    }

    /// The job that it does.
    pub fn plan(&self) -> &Resolved {
        &self.plan
    }

    /// Requests and bytes counted so far, for progress.
    #[inline]
    pub fn counted(&self) -> (u64, u64) {
        let Recorder { read, write, .. } = &self.recorder;
        (read.requests + write.requests, read.bytes + write.bytes)
    }

    #[inline(never)]
    fn due_at(&mut self, now: Instant) -> Result<Instant, Step> {
        let until = self.until;
        let full = self.free.is_empty();
        match &mut self.due {
            Due::Now => Ok(now),
            Due::Think { .. } if now >= until => Err(self.leave()),
            Due::Think { rest_until, .. } if *rest_until > now => Err(Step::WaitUntil(*rest_until)),
            Due::Think { .. } if full => Err(Step::WaitForCompletion),
            Due::Think { time, every, left, rest_until } => {
                *left -= 1;
                if *left == 0 {
                    (*left, *rest_until) = (*every, now + *time);
                }
                Ok(now)
            }
            // What was due before the end is handed over, however late: leaving it out would hide the stall.
            Due::Rate { next, .. } if *next >= until => Err(self.leave()),
            Due::Rate { next, .. } if *next > now => Err(Step::WaitUntil(*next)),
            Due::Rate { .. } if full => Err(Step::WaitForCompletion),
            Due::Rate { next, gap, exact, origin, poisson } => {
                let due = *next;
                let step = poisson.as_mut().map_or(1.0, |rng| -(1.0 - rng.unit()).ln());
                *exact += step * *gap;
                *next = *origin + Nanos(exact.round() as u64);
                Ok(due)
            }
        }
    }

    #[inline]
    fn submit(&mut self, choice: Choice, intended: Instant) -> Step {
        let Choice { read, offset, length } = choice;
        let (at, size) = (Bytes(offset), Bytes(u64::from(length)));
        let Some(&slot) = self.free.last() else { return Step::WaitForCompletion };
        let id = u64::from(slot);
        let mut generation = 0;
        let request = if read {
            match self.expectation(offset, &mut generation) {
                None => Request::read(id, at, size),
                Some(fill) => Request::verify(id, at, size, fill),
            }
        } else {
            let Some(grant) = &mut self.grant else { return self.spent() };
            if let Some(generations) = &mut self.generations {
                generation = generations.write(offset);
                self.fill = Some(Fill::Tagged { generation });
            }
            let made = match self.fill {
                None => Request::write_any(grant, id, at, size, self.durable),
                Some(fill) => Request::write(grant, id, at, size, fill, self.durable),
            };
            self.writes_to_flush -= 1;
            match made {
                Ok(request) => request,
                Err(_) => return self.spent(),
            }
        };
        let kind = if read { Kind::Read } else { Kind::Write };
        if self.outstanding() == 0 {
            self.recorder.busy_from(intended);
        }
        self.free.pop();
        self.slots[slot as usize] = Slot { intended, offset, length, kind, generation, busy: true };
        self.requests_left -= 1;
        self.bytes_left = self.bytes_left.saturating_sub(size.get());
        Step::Submit(request)
    }

    #[inline]
    fn expectation(&self, offset: u64, generation: &mut u32) -> Option<Fill> {
        match &self.generations {
            None => self.expect,
            Some(generations) => match generations.known(offset) {
                Known::Generation(known) => {
                    *generation = known;
                    Some(Fill::Tagged { generation: known })
                }
                Known::Untouched | Known::Nothing => None,
            },
        }
    }

    fn spent(&mut self) -> Step {
        self.stop_reason = StopReason::BudgetSpent;
        self.leave()
    }

    /// A choice that no outstanding request to the same block stands against.
    fn choose_verified(&mut self) -> Option<Choice> {
        let choice = match self.held.take() {
            Some(choice) => choice,
            None => self.chooser.draw_request(),
        };
        let meets =
            |slot: &Slot| slot.busy && slot.offset == choice.offset && !(choice.read && slot.kind == Kind::Read);
        if self.slots.iter().any(meets) {
            self.held = Some(choice);
            return None;
        }
        Some(choice)
    }

    fn flush(&mut self, intended: Instant) -> Step {
        let Some(slot) = self.free.pop() else { return Step::WaitForCompletion };
        if self.outstanding() == 1 {
            self.recorder.busy_from(intended);
        }
        self.slots[slot as usize] =
            Slot { intended, offset: 0, length: 0, kind: Kind::Flush, generation: 0, busy: true };
        Step::Submit(Request::flush(u64::from(slot)))
    }

    #[cold]
    fn leave(&mut self) -> Step {
        self.stage = Stage::Drain;
        self.next_late()
    }

    #[cold]
    fn next_late(&mut self) -> Step {
        loop {
            match self.stage {
                Stage::Drain | Stage::Flush | Stage::Done if self.outstanding() > 0 => return Step::WaitForCompletion,
                Stage::Load | Stage::Drain => {
                    // One that was stopped early still pays for what it left in the cache, or its figures would be the cache's.
                    self.stage = Stage::Flush;
                    if self.plan.job.flush.at_end && self.recorder.write.requests > 0 {
                        return self.flush(self.recorder.until);
                    }
                }
                Stage::Flush => self.stage = Stage::ReadBack,
                Stage::ReadBack => match self.read_back() {
                    Some(step) => return step,
                    None => self.stage = Stage::Done,
                },
                Stage::Done => return Step::Done,
            }
        }
    }

    fn read_back(&mut self) -> Option<Step> {
        let generations = self.generations.as_ref()?;
        let Some((index, offset, generation)) = generations.next_written(self.read_back_next) else {
            return (self.outstanding() > 0).then_some(Step::WaitForCompletion);
        };
        let length = generations.block();
        let Some(slot) = self.free.pop() else { return Some(Step::WaitForCompletion) };
        self.read_back_next = index + 1;
        let intended = self.recorder.until;
        self.slots[slot as usize] = Slot { intended, offset, length, kind: Kind::ReadBack, generation, busy: true };
        let fill = Fill::Tagged { generation };
        Some(Step::Submit(Request::verify(u64::from(slot), Bytes(offset), Bytes(u64::from(length)), fill)))
    }

    #[cold]
    fn complete_warm(&mut self, entry: TraceEntry) {
        self.recorder.record_warm_up(entry);
        let at = entry.completed;
        let Some((from, requests)) = &mut self.warm_up else { return };
        *requests = requests.saturating_sub(1);
        if at >= *from && *requests == 0 {
            self.warm_up = None;
            self.recorder.start(at);
            self.until = self.plan.job.stop.time.map_or(Instant(u64::MAX), |time| at + time);
        }
    }

    #[cold]
    fn complete_failed(&mut self, completion: LaneCompletion) {
        let slot = self.slots[completion.slot as usize];
        self.failed.push((completion.slot, completion));
        self.recorder.ended(completion.completed);
        if let (Kind::Write, Some(generations)) = (slot.kind, &mut self.generations) {
            generations.lose(slot.offset);
        }
        if completion.status == Status::Mismatch {
            return;
        }
        self.failed_in_a_row += 1;
        if self.failed_in_a_row >= FAILURES_IN_A_ROW {
            self.stop(StopReason::Failing);
        }
    }
}
