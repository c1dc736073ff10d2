//! Nothing at all: what is measured is the engine itself.

use super::LaneOptions;
use crate::clock::MonotonicClock;
use flashscope_device::{DeviceError, FailureDetail, Lane, LaneCompletion, Request, Status, Wait};
use flashscope_units::Instant;

/// A lane on which every request ends at once.
#[derive(Debug)]
pub struct NullLane {
    clock: MonotonicClock,
    pending: Vec<u32>,
}

impl NullLane {
    pub(super) fn new(options: &LaneOptions) -> NullLane {
        NullLane { clock: options.clock, pending: Vec::with_capacity(options.depth as usize) }
    }
}

impl Lane for NullLane {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    #[inline]
    fn push(&mut self, request: &Request) {
        self.pending.push(request.id() as u32);
    }

    #[inline]
    fn turn(&mut self, _: Wait, mut complete: impl FnMut(LaneCompletion)) -> Result<Instant, DeviceError> {
        let issued = self.clock.now();
        let completed = self.clock.now();
        self.pending
            .drain(..)
            .for_each(|slot| complete(LaneCompletion { slot, issued, completed, status: Status::Success }));
        Ok(completed)
    }

    fn sleep_until(&mut self, at: Instant) {
        self.clock.sleep_until(at);
    }

    fn explain(&self, _: u32, _: Status) -> FailureDetail {
        FailureDetail { reason: "nothing can go wrong here".to_owned(), at: None, found: None }
    }
}
