//! Drives one worker along its own lane, in the caller's thread: the measuring loop.

use crate::control::Control;
use crate::job::Arrivals;
use crate::worker::{Step, Worker};
use flashscope_device::{DeviceError, Lane, Wait};
use flashscope_model::StopReason;
use flashscope_units::{Instant, Nanos};

/// How often a worker says how far it is and looks whether it is to stop: with every turn on a slow device.
const LOOK_EVERY: Nanos = Nanos::millis(1);

/// Requests handed over at a time: few, so that each has nearly a stamp of its own and the device begins with the first while
/// the next is being made. Of three and more the kernel merges neighbours, and the device would see, and fail, other
/// requests than were asked for. On a loop device at a depth of 32 one did 371 000 reads per second, two 444 000, four 457 000.
const AT_A_TIME: u32 = 2;

/// Runs the worker to its end, or until `control` says stop. `place` is its place in `control`, where its progress shows.
///
/// # Errors
/// Where the device went away, does not answer or the system does not let us go on; what was measured until then is
/// with the worker.
pub fn drive<L: Lane>(worker: &mut Worker, lane: &mut L, control: &Control, place: usize) -> Result<(), DeviceError> {
    let job = &worker.plan().job;
    // What is due at a time of its own is not held back for a batch.
    let closed = matches!(job.arrivals, Arrivals::AsFastAsPossible);
    let batch = if closed { job.batch } else { None };
    let reap = job.reap.unwrap_or(1);
    let mut now = lane.now();
    worker.begin(now);
    let mut look_at = Instant::ORIGIN;
    loop {
        if now >= look_at {
            look_at = now + LOOK_EVERY;
            look(worker, control, place, now);
        }
        let Some(wait) = push(worker, lane, control, place, &mut now, batch, reap) else {
            control.done(place, worker);
            return Ok(());
        };
        now = lane.turn(wait, |completion| worker.complete(completion))?;
        if worker.has_failed() {
            explain(worker, lane);
        }
    }
}

/// Pushes what is due and tells how to wait; `None` where all is done.
#[inline]
fn push<L: Lane>(
    worker: &mut Worker,
    lane: &mut L,
    control: &Control,
    place: usize,
    now: &mut Instant,
    batch: Option<u32>,
    reap: u32,
) -> Option<Wait> {
    let outstanding = worker.outstanding();
    if batch.is_some_and(|batch| outstanding > 0 && worker.room() < batch) {
        return Some(Wait::For(reap));
    }
    let mut left = batch.unwrap_or(AT_A_TIME);
    loop {
        match worker.next(*now) {
            Step::Submit(request) => {
                lane.push(&request);
                left -= 1;
                if worker.is_full() {
                    return Some(Wait::For(reap));
                }
                if left == 0 {
                    return Some(if batch.is_none() { Wait::Not } else { Wait::For(reap) });
                }
            }
            Step::WaitForCompletion => return Some(Wait::For(reap)),
            Step::WaitUntil(at) if worker.outstanding() > 0 => return Some(Wait::Until(at)),
            Step::WaitUntil(at) => {
                // In slices, so that a stop is heard.
                lane.sleep_until(at.min(*now + control.patience()));
                *now = lane.now();
                look(worker, control, place, *now);
            }
            Step::Done => return None,
        }
    }
}

fn look(worker: &mut Worker, control: &Control, place: usize, now: Instant) {
    control.tick(place, worker, now);
    if control.is_stopped() {
        worker.stop(StopReason::Stopped);
    }
}

#[cold]
fn explain<L: Lane>(worker: &mut Worker, lane: &L) {
    while let Some((slot, status)) = worker.peek_failed() {
        worker.explain(lane.explain(slot, status));
    }
}
