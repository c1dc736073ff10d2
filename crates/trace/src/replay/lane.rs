//! A replay along a lane to a real device, in the thread of the caller.

use super::{Player, Progress, ReplayError};
use crate::{TraceError, Traced};
use flashscope_device::{Lane, Wait};
use flashscope_load::worker::Step;
use flashscope_units::{Instant, Nanos};

/// How long before a request is due the thread no longer sleeps: to be woken takes 20 to 50 µs in a virtual machine.
const AWAKE: Nanos = Nanos::micros(60);
/// How long it sleeps at most, so that a stop is heard.
const PATIENCE: Nanos = Nanos::millis(50);

/// Replays to the end. Each request is handed over by itself, so that the kernel merges none and each has a stamp of its own.
/// `stop` is told now and then how far it is, and asked whether the operator wants to end it.
///
/// # Errors
/// Where the device went away or does not answer; what was replayed until then is with the player.
pub fn along<L: Lane, I: Iterator<Item = Result<Traced, TraceError>>>(
    player: &mut Player<I>,
    lane: &mut L,
    mut stop: impl FnMut(Progress) -> bool,
) -> Result<(), ReplayError> {
    let mut now = lane.now();
    player.begin(now);
    let mut look_at = now;
    loop {
        if now >= look_at {
            look_at = now + PATIENCE;
            if stop(player.progress(now)) {
                player.stop();
            }
        }
        let wait = match player.next(now) {
            Step::Submit(request) => {
                lane.push(&request);
                Wait::Not
            }
            Step::WaitUntil(at) => {
                let until = Instant(at.0.saturating_sub(AWAKE.get())).min(now + PATIENCE);
                match (until > now, player.outstanding()) {
                    (true, 0) => {
                        lane.sleep_until(until);
                        now = lane.now();
                        continue;
                    }
                    (true, _) => Wait::Until(until),
                    (false, 0) => {
                        now = lane.now();
                        continue;
                    }
                    (false, _) => Wait::Not,
                }
            }
            Step::WaitForCompletion => Wait::For(1),
            Step::Done => return Ok(()),
        };
        let mut failed = Vec::new();
        now = lane
            .turn(wait, |completion| {
                if completion.status != flashscope_device::Status::Success {
                    failed.push((completion.slot, completion.status));
                }
                player.complete(completion);
            })
            .map_err(ReplayError::Device)?;
        for (slot, status) in failed {
            player.explain(&lane.explain(slot, status).reason);
        }
    }
}
