//! A trace given to a device again, as a state machine that knows no device, thread or clock: whoever drives it asks
//! [`Player::next`] for the next step and tells [`Player::complete`] what ended, as a load worker is driven.
//!
//! *Open*: each request is due when it was issued, however the device does. *Closed*: each is due as soon as fewer than so
//! many are outstanding, in the order of the trace. *Dependent*: each waits for all that had ended when it was issued, and then
//! as long as it did after the last of them; where none had ended since the request before, it follows that one as it did.

mod lane;
mod order;
mod virtual_time;

pub use lane::along;
pub use virtual_time::in_virtual_time;

use crate::figures::{Depths, Times, distance};
use crate::filter::{Addresses, placed};
use crate::{Figures, Flags, Op, TraceError, Traced};
use flashscope_device::{DeviceError, LaneCompletion, Request, Status, WriteGrant};
use flashscope_load::worker::Step;
use flashscope_model::trace::Replay;
use flashscope_units::{Bytes, Instant, Nanos};
use order::Order;
use std::collections::VecDeque;
use std::fmt;

/// In which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// At the times of the trace.
    Open,
    /// As fast as it can, in order.
    Closed {
        /// Requests outstanding at most.
        depth: u32,
    },
    /// Each waits for those that it waited for.
    Dependent,
}

impl Mode {
    fn words(self) -> String {
        match self {
            Mode::Open => "open".to_owned(),
            Mode::Closed { depth } => format!("closed, depth {depth}"),
            Mode::Dependent => "dependent".to_owned(),
        }
    }
}

/// What a replay is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// In which way.
    pub mode: Mode,
    /// What is done with addresses that the device does not have.
    pub addresses: Addresses,
    /// How large the device is.
    pub capacity: Bytes,
    /// Requests must be multiples of this.
    pub block: Bytes,
    /// Requests outstanding at most, whatever the mode.
    pub room: u32,
    /// Whether it takes discards; without, those of the trace are left out.
    pub discard: bool,
}

/// Why a replay cannot go on.
#[derive(Debug)]
pub enum ReplayError {
    /// The trace cannot be read on.
    Trace(TraceError),
    /// The device went away, or does not answer.
    Device(DeviceError),
    /// The device has no such place.
    NoPlace {
        /// Where.
        offset: Bytes,
        /// How much.
        length: Bytes,
        /// Where the device ends.
        capacity: Bytes,
    },
    /// It would write more than it may.
    Budget,
    /// A dependent replay needs ends that the trace does not tell.
    NoEnds,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::Trace(error) => write!(f, "{error}"),
            ReplayError::Device(error) => write!(f, "{error}"),
            ReplayError::NoPlace { offset, length, capacity } => write!(
                f,
                "a request of {length} at byte {} lies beyond the device, which has {capacity}\nhint: --scale brings all \
                 addresses onto it, --wrap begins anew at its end",
                offset.get()
            ),
            ReplayError::Budget => write!(f, "the trace writes more than may be written\nhint: raise --max-write"),
            ReplayError::NoEnds => write!(
                f,
                "the trace does not tell when requests ended, which a dependent replay waits for\nhint: --mode open, or \
                 closed --depth N"
            ),
        }
    }
}

impl std::error::Error for ReplayError {}

/// How far a replay has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Requests that ended.
    pub requests: u64,
    /// Since its begin.
    pub time: Nanos,
}

/// Requests that fail are told apart by at most so many reasons.
const REASONS: usize = 16;
/// Stands for all further ones.
const OTHER_REASONS: &str = "other reasons";

/// Replays the requests of a trace.
pub struct Player<I> {
    from: I,
    plan: Plan,
    grant: Option<WriteGrant>,
    began: Instant,
    /// When the first request of the trace was issued.
    first: Option<Instant>,
    /// What comes next, as the trace has it and as the device gets it, and when it is due.
    ahead: Option<Ahead>,
    order: Order,
    free: Vec<u32>,
    /// The number of the request in each slot, and when that was due; absent in a closed replay.
    slots: Vec<(u64, Option<Instant>)>,
    /// Requests that were issued and did not end yet, or that follow such a one; the first has number `base`.
    open: VecDeque<Traced>,
    base: u64,
    issued: u64,
    ended: u64,
    last_issue: Instant,
    lateness: Times,
    figures: Figures,
    original: Original,
    left_out: u64,
    failures: Vec<(String, u64)>,
    error: Option<ReplayError>,
    stopped: bool,
}

/// What the trace itself was, for the part that was replayed.
#[derive(Default)]
struct Original {
    depths: Depths,
    end: Instant,
}

#[derive(Clone, Copy)]
struct Ahead {
    request: Traced,
    /// When it is due; `None` while it waits for requests to end.
    due: Option<Instant>,
    /// Time that passes between what it waits for and its issue.
    think: Nanos,
}

impl<I: Iterator<Item = Result<Traced, TraceError>>> Player<I> {
    /// For the requests of a trace, in the order of issue.
    pub fn new(from: I, plan: Plan, grant: Option<WriteGrant>) -> Player<I> {
        let room = match plan.mode {
            Mode::Closed { depth } => depth.clamp(1, plan.room),
            Mode::Open | Mode::Dependent => plan.room,
        };
        Player {
            from,
            plan,
            grant,
            began: Instant::ORIGIN,
            first: None,
            ahead: None,
            order: Order::default(),
            free: (0..room).rev().collect(),
            slots: vec![(0, None); room as usize],
            open: VecDeque::new(),
            base: 0,
            issued: 0,
            ended: 0,
            last_issue: Instant::ORIGIN,
            lateness: Times::default(),
            figures: Figures::new(),
            original: Original::default(),
            left_out: 0,
            failures: Vec::new(),
            error: None,
            stopped: false,
        }
    }

    /// The clock starts.
    pub fn begin(&mut self, now: Instant) {
        self.began = now;
        self.last_issue = now;
    }

    /// What to do at `now`, which never runs backwards.
    pub fn next(&mut self, now: Instant) -> Step {
        if self.ahead.is_none() && !self.stopped {
            self.look_ahead();
        }
        let Some(mut ahead) = self.ahead else {
            return if self.outstanding() > 0 { Step::WaitForCompletion } else { Step::Done };
        };
        let due = match ahead.due {
            Some(due) => due,
            None if self.order.waits() => return Step::WaitForCompletion,
            None => {
                let due = self.order.ready().unwrap_or(self.last_issue) + ahead.think;
                ahead.due = Some(due);
                self.ahead = Some(ahead);
                due
            }
        };
        if due > now {
            return Step::WaitUntil(due);
        }
        let Some(&slot) = self.free.last() else { return Step::WaitForCompletion };
        let Some(request) = self.made(u64::from(slot), &ahead.request) else {
            self.error = Some(ReplayError::Budget);
            self.stop();
            return self.next(now);
        };
        self.free.pop();
        self.ahead = None;
        let is_timed = !matches!(self.plan.mode, Mode::Closed { .. });
        self.slots[slot as usize] = (self.issued, is_timed.then_some(due));
        self.order.issue(self.issued, &ahead.request);
        self.issued += 1;
        self.last_issue = now;
        let issued = Instant(now.since(self.began).get());
        self.open.push_back(Traced { issued, completed: None, ..ahead.request });
        Step::Submit(request)
    }

    /// Tells what came of a request.
    pub fn complete(&mut self, completion: LaneCompletion) {
        self.free.push(completion.slot);
        let (number, due) = self.slots[completion.slot as usize];
        if let Some(due) = due {
            self.lateness.add(completion.issued.since(due));
        }
        self.order.end(number, completion.completed);
        self.ended += 1;
        let since = |at: Instant| Instant(at.since(self.began).get());
        let request = &mut self.open[(number - self.base) as usize];
        // When it was really handed over, which the clock of who drives it knows best.
        request.issued = since(completion.issued);
        request.completed = Some(since(completion.completed).max(request.issued));
        if completion.status != Status::Success {
            request.flags = request.flags.with(Flags::FAILED);
        }
        while let Some(request) = self.open.front().filter(|request| request.completed.is_some()) {
            self.figures.add(request);
            self.open.pop_front();
            self.base += 1;
        }
    }

    /// Notes why a request failed.
    pub fn explain(&mut self, reason: &str) {
        let known = self.failures.len() < REASONS || self.failures.iter().any(|(other, _)| other == reason);
        let reason = if known { reason } else { OTHER_REASONS };
        match self.failures.iter_mut().find(|(other, _)| other == reason) {
            Some((_, count)) => *count += 1,
            None => self.failures.push((reason.to_owned(), 1)),
        }
    }

    /// Nothing more is handed over.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.ahead = None;
    }

    /// Requests that are outstanding.
    pub fn outstanding(&self) -> u32 {
        (self.slots.len() - self.free.len()) as u32
    }

    /// Requests that it may have outstanding.
    pub fn room(&self) -> u32 {
        self.slots.len() as u32
    }

    /// How far it has come.
    pub fn progress(&self, now: Instant) -> Progress {
        Progress { requests: self.ended, time: now.since(self.began) }
    }

    /// What came of it, once it is done, and why it went no further, if it did not.
    pub fn finish(mut self, changes: Vec<String>) -> (Replay, Option<ReplayError>) {
        let figures = self.figures.finish(0);
        let original = self.original.depths.summary();
        let distance = original.as_ref().zip(figures.depth.as_ref()).map(|(one, other)| distance(one, other));
        let mut changes = changes;
        if self.left_out > 0 {
            changes.push(format!("{} discards left out, as the device takes none", self.left_out));
        }
        let replay = Replay {
            mode: self.plan.mode.words(),
            changes,
            total: figures.span,
            original: self.original.end.since(self.first.unwrap_or_default()),
            lateness: self.lateness.summary(),
            depth_distance: distance,
            order_violations: original.is_some().then_some(self.order.violations()),
            figures,
            failures: std::mem::take(&mut self.failures),
        };
        (replay, self.error)
    }

    /// Takes the next request out of the trace.
    fn look_ahead(&mut self) {
        loop {
            let traced = match self.from.next() {
                None => return,
                Some(Err(error)) => return self.fail(ReplayError::Trace(error)),
                Some(Ok(traced)) => traced,
            };
            if (traced.op == Op::Discard && !self.plan.discard) || (traced.op != Op::Flush && traced.length == 0) {
                self.left_out += u64::from(traced.op == Op::Discard);
                continue;
            }
            if self.plan.mode == Mode::Dependent && traced.completed.is_none() {
                return self.fail(ReplayError::NoEnds);
            }
            let Plan { addresses, capacity, block, .. } = self.plan;
            let Some(request) = placed(traced, addresses, capacity, block) else {
                let (offset, length) = (traced.offset, Bytes(u64::from(traced.length)));
                return self.fail(ReplayError::NoPlace { offset, length, capacity });
            };
            let first = *self.first.get_or_insert(traced.issued);
            self.original.end = self.original.end.max(traced.completed.unwrap_or(traced.issued));
            self.original.depths.add(&traced);
            let think = self.order.look_ahead(&traced);
            let due = match self.plan.mode {
                Mode::Open => Some(self.began + traced.issued.since(first)),
                Mode::Closed { .. } => Some(self.began),
                Mode::Dependent => None,
            };
            self.ahead = Some(Ahead { request, due, think });
            return;
        }
    }

    fn fail(&mut self, error: ReplayError) {
        self.error = Some(error);
        self.stop();
    }

    fn made(&mut self, slot: u64, request: &Traced) -> Option<Request> {
        let (offset, length) = (request.offset, Bytes(u64::from(request.length)));
        match request.op {
            Op::Read => Some(Request::read(slot, offset, length)),
            Op::Flush => Some(Request::flush(slot)),
            Op::Write => {
                Request::write_any(self.grant.as_mut()?, slot, offset, length, request.flags.has(Flags::FUA)).ok()
            }
            Op::Discard => Request::discard(self.grant.as_mut()?, slot, offset, length).ok(),
        }
    }
}

#[cfg(test)]
mod tests;
