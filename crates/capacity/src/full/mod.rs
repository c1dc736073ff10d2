//! The full test: every block is written with its tag, its beginning once more, and all of it is read.
//!
//! [`FullPlan`] says in which order, [`Filling`] how far it is and what came back (`tally.rs`), which is kept so that a test that
//! was stopped goes on; [`full`] does it. Memory does not grow with the space.

mod journal;
mod plan;
mod tally;

pub use journal::Filling;
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
/// Requests in a row that fail until the device is given up.
const HOPELESS: u32 = 100;
/// Pieces that cannot be written, in all, until the device is given up: those that are remembered.
const MOST_UNWRITTEN: usize = 100_000;
/// A request that fails is done again in pieces of this size, so that not more is taken for bad than is.
const PIECE: Bytes = Bytes::kib(64);

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
    let mut test = Test { plan, filling, target, grant, watch, failed: 0 };
    let stop = match test.all() {
        Ok(stop) => stop,
        Err(error @ (DeviceError::Invalid(_) | DeviceError::System(_))) => StopReason::InternalError(error.to_string()),
        Err(error) => StopReason::DeviceLost(error.to_string()),
    };
    watch.keep(filling);
    stop
}

struct Test<'a> {
    plan: &'a FullPlan,
    filling: &'a mut Filling,
    target: &'a mut dyn Target,
    grant: &'a mut WriteGrant,
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
        loop {
            let end = match self.filling.pass {
                Pass::Write | Pass::Read => self.plan.numbers(),
                Pass::Push => self.plan.push_numbers(),
                Pass::Over => return Ok(StopReason::Complete),
            };
            if self.filling.next >= end {
                self.end_of_pass()?;
                continue;
            }
            let batch = self.batch(end);
            let done = match self.filling.pass {
                Pass::Read => self.read(&batch),
                _ => self.write(&batch),
            };
            done?;
            self.filling.next = batch.next;
            if self.failed >= HOPELESS || self.filling.unwritten.len() > MOST_UNWRITTEN {
                return Ok(StopReason::Failing);
            }
            if !self.goes_on()? {
                return Ok(StopReason::Interrupted);
            }
        }
    }

    fn end_of_pass(&mut self) -> Result<(), DeviceError> {
        if self.filling.pass != Pass::Read {
            self.flush()?;
        }
        let next = match self.filling.pass {
            Pass::Write => Pass::Push,
            Pass::Push => Pass::Read,
            Pass::Read | Pass::Over => Pass::Over,
        };
        (self.filling.pass, self.filling.next) = (next, 0);
        Ok(())
    }

    /// Tells whoever watches how far it is, and lets it be kept; `false` to stop.
    fn goes_on(&mut self) -> Result<bool, DeviceError> {
        self.watch.progress(self.filling.moved(self.plan), self.plan.writes() + self.plan.claimed);
        let stop = self.watch.stop();
        if stop || self.watch.is_due() {
            if self.filling.pass != Pass::Read {
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
        self.count_hopeless(&done);
        let written = batch.spans.iter().map(|(_, length)| *length).sum();
        self.filling.spend(written, Bytes::ZERO, took);
        // What is written once more and fails stands there from before.
        if self.filling.pass != Pass::Write {
            return Ok(());
        }
        self.filling.tally.time(self.plan, Way::Written, &batch.spans, took);
        for completion in done.iter().filter(|completion| !completion.outcome.is_done()) {
            if let Some((at, length)) = batch.spans.get(completion.id as usize) {
                self.write_in_pieces(*at, *length)?;
            }
        }
        Ok(())
    }

    /// A write that failed, in pieces; those that fail are taken down.
    fn write_in_pieces(&mut self, at: Bytes, length: Bytes) -> Result<(), DeviceError> {
        let fill = self.fill();
        for (at, length) in pieces(at, length) {
            // Where no more may be written it stays unwritten.
            let request = Request::write(self.grant, 0, at, length, fill, false).ok();
            let written = match request {
                Some(request) => {
                    let (done, took) = self.run(&[request])?;
                    self.filling.spend(length, Bytes::ZERO, took);
                    done.iter().all(|completion| completion.outcome.is_done())
                }
                None => false,
            };
            if !written {
                self.filling.unwritten.insert(at.get());
            }
        }
        Ok(())
    }

    fn read(&mut self, batch: &Batch) -> Result<(), DeviceError> {
        let (patchy, spans): (Vec<_>, Vec<_>) =
            batch.spans.iter().copied().partition(|(at, length)| {
                self.filling.unwritten.range(at.get()..(*at + *length).get()).next().is_some()
            });
        let (done, took) = self.run(&self.examine(&spans))?;
        self.count_hopeless(&done);
        self.filling.spend(Bytes::ZERO, spans.iter().map(|(_, length)| *length).sum(), took);
        self.filling.tally.time(self.plan, Way::Read, &spans, took);
        for completion in done {
            let Some((at, length)) = spans.get(completion.id as usize) else { continue };
            match completion.outcome {
                Outcome::Failed(_) if *length > PIECE => self.read_in_pieces(*at, *length, false)?,
                _ => self.found(*at, *length, &completion),
            }
        }
        patchy.into_iter().try_for_each(|(at, length)| self.read_in_pieces(at, length, true))
    }

    /// What is read in pieces, as the whole of it failed, or as some could not be written; `first`: it was not read before.
    fn read_in_pieces(&mut self, at: Bytes, length: Bytes, first: bool) -> Result<(), DeviceError> {
        for (at, length) in pieces(at, length) {
            if self.filling.unwritten.contains(&at.get()) {
                self.filling.tally.add(self.plan, Run { at, length, found: Found::WriteFailed });
                continue;
            }
            let (done, took) = self.run(&self.examine(&[(at, length)]))?;
            self.filling.spend(Bytes::ZERO, length, took);
            if first {
                self.filling.tally.time(self.plan, Way::Read, &[(at, length)], took);
            }
            for completion in done {
                self.found(at, length, &completion);
            }
        }
        Ok(())
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

    fn count_hopeless(&mut self, done: &[Completion]) {
        for completion in done {
            self.failed = if completion.outcome.is_done() { 0 } else { self.failed + 1 };
        }
    }
}

/// A request in pieces.
fn pieces(at: Bytes, length: Bytes) -> impl Iterator<Item = (Bytes, Bytes)> {
    let starts = (0..length.get().div_ceil(PIECE.get())).map(|number| PIECE * number);
    starts.map(move |offset| (at + offset, PIECE.min(length - offset)))
}
