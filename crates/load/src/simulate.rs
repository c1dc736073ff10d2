//! Steps all workers of a phase on one target by one event loop, in virtual-time order.
//!
//! Ties are settled completely: at the same time completions come first, in the order of submission, then workers in the
//! order of their numbers. The same seed therefore gives the same run. Requests beyond the device's queue depth wait
//! here in order of arrival, as they would in the kernel; a worker's stamps count from when it handed them over.

use crate::steady::Judge;
use crate::worker::{Step, Worker};
use flashscope_device::{
    Completion, DeviceError, FailureDetail, Foresight, LaneCompletion, Outcome, Request, Status, Target,
};
use flashscope_model::StopReason;
use flashscope_units::{Instant, Nanos};
use std::collections::VecDeque;

/// Runs all workers to their end. `judge` ends them when they are steady; `stop` is told now and then how much time has
/// passed and how many bytes were moved, and asked whether the operator wants to end it.
///
/// # Errors
/// Where the device went away or does not answer; what was measured until then is with the workers.
pub fn simulate<T: Target + Foresight>(
    workers: &mut [Worker],
    target: &mut T,
    mut judge: Option<&mut Judge>,
    mut stop: impl FnMut(Nanos, u64) -> bool,
) -> Result<(), DeviceError> {
    let start = target.now();
    workers.iter_mut().for_each(|worker| worker.begin(start));
    let mut queue = Queue::new(workers, target);
    let mut now = start;
    for round in 0u64.. {
        if round % 1024 == 0 && stop(now.since(start), workers.iter().map(|worker| worker.counted().1).sum()) {
            workers.iter_mut().for_each(|worker| worker.stop(StopReason::Stopped));
        }
        if let Some(judge) = judge.as_deref_mut()
            && judge.look(now.since(start), workers.iter().map(|worker| worker.counted().1).sum())
        {
            workers.iter_mut().for_each(|worker| worker.stop(StopReason::Complete));
        }
        let (wake, ends_all) = queue.collect(workers, now);
        if ends_all {
            workers.iter_mut().for_each(|worker| worker.stop(StopReason::Stopped));
        }
        queue.submit(target)?;
        match (target.next_completion(), wake) {
            (None, Wake::Never) if queue.is_idle() => return Ok(()),
            (None, Wake::Never) => return Err(DeviceError::Hung("requests were taken and never answered".to_owned())),
            (Some(ends), Wake::At(at)) if at < ends => target.wait_until(at),
            (Some(_), _) => target.reap(1, &mut queue.done)?,
            (None, Wake::At(at)) => target.wait_until(at),
        }
        if let Wake::At(at) = wake
            && queue.done.is_empty()
        {
            // A clock that is read with an error must not keep a worker waiting for ever.
            now = now.max(at);
        }
        now = now.max(target.now());
        queue.deliver(workers);
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wake {
    At(Instant),
    Never,
}

/// Requests between workers and target. A request's id tells its worker and slot.
struct Queue {
    waiting: VecDeque<Request>,
    issued: Vec<Vec<Instant>>,
    batch: Vec<Request>,
    done: Vec<Completion>,
    outstanding: usize,
    depth: usize,
    flying: Vec<Vec<Request>>,
}

impl Queue {
    fn new<T: Target>(workers: &[Worker], target: &T) -> Queue {
        let all: usize = workers.iter().map(|worker| worker.plan().job.queue_depth as usize).sum();
        let slots = |worker: &Worker| worker.plan().job.queue_depth as usize;
        Queue {
            waiting: VecDeque::with_capacity(all),
            issued: workers.iter().map(|worker| vec![Instant::ORIGIN; slots(worker)]).collect(),
            flying: workers.iter().map(|worker| vec![Request::flush(0); slots(worker)]).collect(),
            batch: Vec::with_capacity(all),
            done: Vec::with_capacity(all),
            outstanding: 0,
            depth: (target.capabilities().queue_depth as usize).max(1),
        }
    }

    /// Takes what workers want to hand over, and tells when the first of them wants to be asked again, and whether one is done with
    /// which all are.
    fn collect(&mut self, workers: &mut [Worker], now: Instant) -> (Wake, bool) {
        let (mut wake, mut ends_all) = (Wake::Never, false);
        for (index, worker) in workers.iter_mut().enumerate() {
            loop {
                match worker.next(now) {
                    Step::Submit(request) => {
                        let slot = request.id() as usize;
                        self.issued[index][slot] = now;
                        let request = request.with_id((index as u64) << 32 | request.id());
                        self.flying[index][slot] = request;
                        self.waiting.push_back(request);
                    }
                    Step::WaitUntil(at) => {
                        wake = match wake {
                            Wake::At(earlier) if earlier <= at => wake,
                            _ => Wake::At(at),
                        };
                        break;
                    }
                    Step::WaitForCompletion => break,
                    Step::Done => {
                        ends_all |= worker.plan().job.ends_all;
                        break;
                    }
                }
            }
        }
        (wake, ends_all)
    }

    fn submit<T: Target>(&mut self, target: &mut T) -> Result<(), DeviceError> {
        let room = (self.depth - self.outstanding).min(self.waiting.len());
        if room == 0 {
            return Ok(());
        }
        self.batch.clear();
        self.batch.extend(self.waiting.drain(..room));
        self.outstanding += room;
        target.submit(&self.batch)
    }

    fn deliver(&mut self, workers: &mut [Worker]) {
        for completion in self.done.drain(..) {
            self.outstanding -= 1;
            let (index, slot) = ((completion.id >> 32) as usize, completion.id as u32);
            let issued = self.issued[index][slot as usize];
            let status = match &completion.outcome {
                Outcome::Success => Status::Success,
                Outcome::Mismatch => Status::Mismatch,
                Outcome::Failed(_) => Status::Errno(0),
            };
            let worker = &mut workers[index];
            worker.complete(LaneCompletion { slot, issued, completed: completion.completed.max(issued), status });
            if worker.has_failed() {
                worker.explain(detail(&completion));
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.outstanding == 0 && self.waiting.is_empty()
    }
}

fn detail(completion: &Completion) -> FailureDetail {
    let reason = match &completion.outcome {
        Outcome::Failed(reason) => reason.clone(),
        Outcome::Success | Outcome::Mismatch => "a read found other bytes than were written".to_owned(),
    };
    let found = match completion.content {
        flashscope_device::Content::Uniform(byte) => Some(format!("0x{byte:02x} throughout")),
        flashscope_device::Content::Varied => Some("other bytes".to_owned()),
        flashscope_device::Content::Unknown => None,
    };
    FailureDetail { reason, at: None, found }
}
