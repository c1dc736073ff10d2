//! Drives one worker along its own lane, in the caller's thread: the measuring loop.

use crate::control::Control;
use crate::worker::{Ending, Step, Worker};
use flashscope_device::{DeviceError, Lane, Wait};

/// Runs the worker to its end, or until `control` says stop. `place` is its place in `control`, where its progress shows.
///
/// # Errors
/// Where the device went away, does not answer or the system does not let us go on; what was measured until then is
/// with the worker.
pub fn drive<L: Lane>(worker: &mut Worker, lane: &mut L, control: &Control, place: usize) -> Result<(), DeviceError> {
    let batch = worker.plan().job.batch.unwrap_or(u32::MAX);
    let mut now = lane.now();
    worker.begin(now);
    loop {
        if control.is_stopped() {
            worker.stop(Ending::Stopped);
        }
        let mut pushed = 0;
        let wait = loop {
            match worker.next(now) {
                Step::Submit(request) => {
                    lane.push(&request);
                    pushed += 1;
                    if worker.is_full() || pushed == batch {
                        break Wait::One;
                    }
                }
                Step::WaitForCompletion => break Wait::One,
                Step::WaitUntil(at) if worker.outstanding() > 0 => break Wait::Until(at),
                Step::WaitUntil(at) => {
                    // In slices, so that a stop is heard.
                    lane.sleep_until(at.min(now + control.patience()));
                    now = lane.now();
                    control.tick(place, worker, now);
                    if control.is_stopped() {
                        worker.stop(Ending::Stopped);
                    }
                }
                Step::Done => {
                    control.publish(place, worker);
                    return Ok(());
                }
            }
        };
        now = lane.turn(wait, |ended| worker.complete(ended))?;
        if worker.is_troubled() {
            explain(worker, lane);
        }
        control.tick(place, worker, now);
    }
}

#[cold]
fn explain<L: Lane>(worker: &mut Worker, lane: &L) {
    while let Some((slot, fate)) = worker.take_troubled() {
        worker.explain(lane.explain(slot, fate));
    }
}
