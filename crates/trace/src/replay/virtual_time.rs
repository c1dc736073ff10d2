//! A replay on a simulated device, whose clock goes on by itself.

use super::{Player, Progress, ReplayError};
use crate::{TraceError, Traced};
use flashscope_device::{Completion, Foresight, LaneCompletion, Outcome, Request, Status, Target};
use flashscope_load::worker::Step;
use flashscope_units::Instant;
use std::collections::VecDeque;

/// How often `stop` is asked, in turns.
const LOOK_EVERY: u64 = 4096;

/// Replays to the end. What the device's queue has no room for waits in order, as in the kernel; times count from when it was
/// handed over. `stop` is told now and then how far it is, and asked whether the operator wants to end it.
///
/// # Errors
/// Where the device went away; what was replayed until then is with the player.
pub fn in_virtual_time<T: Target + Foresight, I: Iterator<Item = Result<Traced, TraceError>>>(
    player: &mut Player<I>,
    target: &mut T,
    mut stop: impl FnMut(Progress) -> bool,
) -> Result<(), ReplayError> {
    let mut now = target.now();
    player.begin(now);
    let depth = (target.capabilities().queue_depth as usize).max(1);
    let mut waiting: VecDeque<Request> = VecDeque::new();
    let mut issued = vec![Instant::ORIGIN; player.room() as usize];
    let mut done: Vec<Completion> = Vec::new();
    let mut outstanding = 0usize;
    for turn in 0u64.. {
        if turn.is_multiple_of(LOOK_EVERY) && stop(player.progress(now)) {
            player.stop();
        }
        let wake = loop {
            match player.next(now) {
                Step::Submit(request) => {
                    issued[request.id() as usize] = now;
                    waiting.push_back(request);
                }
                Step::WaitUntil(at) => break Some(at),
                Step::WaitForCompletion => break None,
                Step::Done => return Ok(()),
            }
        };
        while outstanding < depth
            && let Some(request) = waiting.pop_front()
        {
            target.submit(&[request]).map_err(ReplayError::Device)?;
            outstanding += 1;
        }
        match (target.next_completion(), wake) {
            (Some(ends), Some(at)) if at < ends => target.wait_until(at),
            (Some(_), _) => target.reap(1, &mut done).map_err(ReplayError::Device)?,
            (None, Some(at)) => target.wait_until(at),
            (None, None) => {
                let what = "requests were taken and never answered".to_owned();
                return Err(ReplayError::Device(flashscope_device::DeviceError::Hung(what)));
            }
        }
        if let Some(at) = wake
            && done.is_empty()
        {
            // A clock that is read with an error must not keep the next request waiting for ever.
            now = now.max(at);
        }
        now = now.max(target.now());
        for completion in done.drain(..) {
            outstanding -= 1;
            let slot = completion.id as u32;
            let status = match &completion.outcome {
                Outcome::Success => Status::Success,
                Outcome::Mismatch => Status::Mismatch,
                Outcome::Failed(reason) => {
                    player.explain(reason);
                    Status::Errno(0)
                }
            };
            let issued = issued[slot as usize];
            let completed = completion.completed.max(issued);
            player.complete(LaneCompletion { slot, issued, completed, status });
        }
    }
    Ok(())
}
