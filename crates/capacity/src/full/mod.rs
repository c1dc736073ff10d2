//! The full test: every block is written with its tag, and all of it is read.
//!
//! A cache that answers by address from what was written last would hide a fake: a part is written once more before the rest is
//! read, and as much of the rest before that part is.
//!
//! [`FullPlan`] says in which order, [`Filling`] how far it is and what came back (`tally.rs`), which is kept so that a test that
//! was stopped goes on; [`full`] does it. Memory does not grow with the space.

mod journal;
mod plan;
mod tally;

pub use journal::{Filling, head};
pub use plan::FullPlan;

use crate::hands::told;
use crate::quick::Watch;
use flashscope_device::{Completion, DeviceError, ExecuteExt, Fill, Known, Outcome, Request, Target, WriteGrant};
use flashscope_model::StopReason;
use flashscope_model::capacity::{Found, Run};
use flashscope_units::{Bytes, Nanos};
use journal::Pass;
use tally::Way;

/// Requests that are handed over together, at most: little enough that a wish to stop is heard soon.
const BATCH: usize = 16;
/// Requests in a row of which no piece can be written or read, until the device is given up.
const HOPELESS: u32 = 64;
/// Pieces that cannot be written, in all, until the device is given up: those that are remembered.
const MOST_UNWRITTEN: usize = 100_000;
/// A request that fails is done again in pieces of these sizes, so that not more is taken for bad than is: in the smaller ones
/// where not all of the larger ones fail.
const PIECES: [Bytes; 2] = [Bytes::kib(64), Bytes::kib(4)];

/// Whoever watches a full test, and keeps how far it is.
pub trait Keep: Watch {
    /// Whether it is time to keep it. What was written is then brought to the medium first, so that what is kept is never ahead
    /// of the device.
    fn is_due(&mut self) -> bool;

    /// Keeps it.
    fn keep(&mut self, filling: &Filling);
}

/// Carries a full test on to its end, or as far as it gets. What it saw is in `filling`.
pub fn full(
    plan: &FullPlan,
    filling: &mut Filling,
    (target, grant): (&mut dyn Target, &mut WriteGrant),
    watch: &mut dyn Keep,
) -> StopReason {
    filling.sessions += 1;
    // What is tested may have been made for it, and who is killed over the first writes must find the way back there.
    if watch.is_due() {
        watch.keep(filling);
    }
    let again = grant.split(grant.left().saturating_sub(plan.writes()));
    let mut test = Test { plan, filling, target, grant, again, watch, failed: 0 };
    let stop = match test.all() {
        Ok(stop) => stop,
        Err(error @ (DeviceError::Invalid(_) | DeviceError::System(_))) => StopReason::InternalError(error.to_string()),
        Err(error) => StopReason::DeviceLost(error.to_string()),
    };
    let again = test.again.take();
    watch.keep(filling);
    if let Some(again) = again {
        grant.give_back(again);
    }
    stop
}

struct Test<'a> {
    plan: &'a FullPlan,
    filling: &'a mut Filling,
    target: &'a mut dyn Target,
    grant: &'a mut WriteGrant,
    /// For what is done again in pieces.
    again: Option<WriteGrant>,
    watch: &'a mut dyn Keep,
    /// Requests that have failed in a row.
    failed: u32,
}

/// Requests that are handed over together, and where each goes.
struct Batch {
    spans: Vec<(Bytes, Bytes)>,
    /// Number of the request behind the last one.
    next: u64,
}

impl Test<'_> {
    fn all(&mut self) -> Result<StopReason, DeviceError> {
        while self.filling.pass != Pass::Over {
            let numbers = self.filling.pass.numbers(self.plan);
            self.filling.next = self.filling.next.max(numbers.start);
            if self.filling.next >= numbers.end {
                self.end_of_pass()?;
                continue;
            }
            let batch = self.batch(numbers.end);
            match self.filling.pass.writes() {
                true => self.write(&batch)?,
                false => self.read(&batch)?,
            }
            self.filling.next = batch.next;
            if self.failed >= HOPELESS || self.filling.unwritten.len() > MOST_UNWRITTEN {
                return Ok(StopReason::Failing);
            }
            if !self.goes_on()? {
                return Ok(StopReason::Interrupted);
            }
        }
        Ok(StopReason::Complete)
    }

    fn end_of_pass(&mut self) -> Result<(), DeviceError> {
        if self.filling.pass.writes() {
            self.flush()?;
        }
        (self.filling.pass, self.filling.next) = (self.filling.pass.next(), 0);
        Ok(())
    }

    /// Tells whoever watches how far it is, and lets it be kept; `false` to stop.
    fn goes_on(&mut self) -> Result<bool, DeviceError> {
        let (moved, most) = self.filling.moved(self.plan);
        self.watch.progress(moved, most);
        let stop = self.watch.stop();
        if stop || self.watch.is_due() {
            if self.filling.pass.writes() {
                self.flush()?;
            }
            self.watch.keep(self.filling);
        }
        Ok(!stop)
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        if !self.target.capabilities().flush {
            return Ok(());
        }
        let from = self.target.now();
        // A device without a cache may refuse it, which changes nothing of what is read.
        self.target.execute(Request::flush(0))?;
        self.filling.spend(Bytes::ZERO, Bytes::ZERO, self.target.now().since(from));
        Ok(())
    }

    fn batch(&self, end: u64) -> Batch {
        let most = (self.target.capabilities().queue_depth.max(1) as usize).min(BATCH);
        let mut batch = Batch { spans: Vec::with_capacity(most), next: self.filling.next };
        while batch.next < end && batch.spans.len() < most {
            batch.spans.extend(self.plan.span(batch.next));
            batch.next += 1;
        }
        batch
    }

    fn write(&mut self, batch: &Batch) -> Result<(), DeviceError> {
        let fill = self.fill();
        let request =
            |((at, length), id): (&(Bytes, Bytes), u64)| Request::write(self.grant, id, *at, *length, fill, false);
        let requests: Result<Vec<Request>, _> = batch.spans.iter().zip(0..).map(request).collect();
        let requests = requests.map_err(|error| DeviceError::Invalid(error.to_string()))?;
        let (done, took) = self.run(&requests)?;
        let written = batch.spans.iter().map(|(_, length)| *length).sum();
        self.filling.spend(written, Bytes::ZERO, took);
        // What is written once more and fails stands there from before.
        if self.filling.pass.pushes() {
            return Ok(());
        }
        self.filling.tally.time(self.plan, Way::Written, &batch.spans, took);
        for completion in &done {
            let Some((at, length)) = batch.spans.get(completion.id as usize) else { continue };
            let reached = completion.outcome.is_done() || self.in_pieces(*at, *length, Way::Written)?;
            self.count_hopeless(reached);
        }
        Ok(())
    }

    fn read(&mut self, batch: &Batch) -> Result<(), DeviceError> {
        let (patchy, spans): (Vec<_>, Vec<_>) =
            batch.spans.iter().copied().partition(|(at, length)| {
                self.filling.unwritten.range(at.get()..(*at + *length).get()).next().is_some()
            });
        let (done, took) = self.run(&self.examine(&spans))?;
        self.filling.spend(Bytes::ZERO, spans.iter().map(|(_, length)| *length).sum(), took);
        self.filling.tally.time(self.plan, Way::Read, &spans, took);
        for completion in done {
            let Some((at, length)) = spans.get(completion.id as usize) else { continue };
            let reached = match completion.outcome {
                Outcome::Failed(_) => self.in_pieces(*at, *length, Way::Read)?,
                _ => {
                    self.found(*at, *length, &completion);
                    true
                }
            };
            self.count_hopeless(reached);
        }
        for (at, length) in patchy {
            self.in_pieces(at, length, Way::Read)?;
            let missing = self.filling.unwritten.range(at.get()..(at + length).get()).count() as u64;
            let read = length.saturating_sub(PIECES[1].max(self.plan.block) * missing);
            self.filling.tally.time(self.plan, Way::Read, &[(at, read)], Nanos::ZERO);
        }
        Ok(())
    }

    /// Does a request again in pieces, as the whole of it failed, or as some of it could not be written. Whether any piece went
    /// well.
    fn in_pieces(&mut self, at: Bytes, length: Bytes, way: Way) -> Result<bool, DeviceError> {
        let [large, small] = PIECES.map(|size| size.max(self.plan.block));
        let mut failed = Vec::new();
        for piece in pieces(at, length, large) {
            if !self.piece(piece, way, false)? {
                failed.push(piece);
            }
        }
        let some = (failed.len() as u64) < length.get().div_ceil(large.get());
        for (at, length) in failed {
            let size = if some { small } else { large };
            for piece in pieces(at, length, size) {
                self.piece(piece, way, true)?;
            }
        }
        Ok(some)
    }

    fn piece(&mut self, piece: (Bytes, Bytes), way: Way, last: bool) -> Result<bool, DeviceError> {
        match way {
            Way::Written => self.write_piece(piece, last),
            Way::Read => self.read_piece(piece, last),
        }
    }

    /// Writes a piece; the last try takes down that it failed.
    fn write_piece(&mut self, (at, length): (Bytes, Bytes), last: bool) -> Result<bool, DeviceError> {
        let fill = self.fill();
        let request = self.again.as_mut().and_then(|grant| Request::write(grant, 0, at, length, fill, false).ok());
        // Where no more may be written it stays unwritten.
        let written = match request {
            Some(request) => {
                let (done, took) = self.run(&[request])?;
                self.filling.spend(length, Bytes::ZERO, took);
                done.iter().all(|completion| completion.outcome.is_done())
            }
            None => false,
        };
        if last && !written {
            self.filling.unwritten.extend(pieces(at, length, PIECES[1].max(self.plan.block)).map(|(at, _)| at.get()));
        }
        Ok(written)
    }

    /// Reads a piece; the last try takes down what failed.
    fn read_piece(&mut self, (at, length): (Bytes, Bytes), last: bool) -> Result<bool, DeviceError> {
        let unwritten = self.filling.unwritten.range(at.get()..(at + length).get()).next().is_some();
        if unwritten && !last {
            return Ok(false);
        }
        if unwritten {
            self.filling.tally.add(self.plan, Run { at, length, found: Found::WriteFailed });
            return Ok(false);
        }
        let (done, took) = self.run(&self.examine(&[(at, length)]))?;
        self.filling.spend(Bytes::ZERO, length, took);
        for completion in &done {
            if last || completion.outcome.is_done() {
                self.found(at, length, completion);
            }
        }
        Ok(done.iter().all(|completion| completion.outcome.is_done()))
    }

    fn fill(&self) -> Fill {
        Fill::Tagged { generation: self.filling.generation() }
    }

    fn examine(&self, spans: &[(Bytes, Bytes)]) -> Vec<Request> {
        let known = Known::one(self.filling.generation());
        spans.iter().zip(0..).map(|((at, length), id)| Request::examine(id, *at, *length, known)).collect()
    }

    /// Takes down what a read found.
    fn found(&mut self, at: Bytes, length: Bytes, completion: &Completion) {
        let (plan, generation) = (self.plan, self.filling.generation());
        let tally = &mut self.filling.tally;
        match completion.outcome {
            Outcome::Failed(_) => tally.add(plan, Run { at, length, found: Found::ReadFailed }),
            _ => told(at, &completion.stretches, generation, |run| tally.add(plan, run)),
        }
    }

    /// Carries requests out, in the order in which they ended, and says how long all of them took.
    fn run(&mut self, requests: &[Request]) -> Result<(Vec<Completion>, Nanos), DeviceError> {
        let from = self.target.now();
        let mut done = Vec::with_capacity(requests.len());
        self.target.submit(requests)?;
        while done.len() < requests.len() {
            let before = done.len();
            self.target.reap(requests.len() - before, &mut done)?;
            if done.len() == before {
                return Err(DeviceError::Hung("requests were lost".to_owned()));
            }
        }
        Ok((done, self.target.now().since(from)))
    }

    fn count_hopeless(&mut self, reached: bool) {
        self.failed = if reached { 0 } else { self.failed + 1 };
    }
}

/// A stretch in pieces.
fn pieces(at: Bytes, length: Bytes, size: Bytes) -> impl Iterator<Item = (Bytes, Bytes)> {
    let starts = (0..length.get().div_ceil(size.get())).map(move |number| size * number);
    starts.map(move |offset| (at + offset, size.min(length - offset)))
}
