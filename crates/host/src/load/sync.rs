//! `pread` and `pwrite`, one at a time: what is between the stamps is the system call and nothing else.

use super::buffers::SlotBuffers;
use super::lane::status_of;
use super::opened::Opened;
use super::{LaneError, LaneOptions};
use crate::clock::MonotonicClock;
use flashscope_device::{DeviceError, FailureDetail, Lane, LaneCompletion, Op, Request, Seal, Status, Wait};
use flashscope_units::Instant;
use rustix::io::{Errno, pread, pwrite};
use std::sync::Arc;

/// A lane that does one request at a time in the caller's thread.
#[derive(Debug)]
pub struct SyncLane {
    files: Arc<Opened>,
    name: Arc<str>,
    clock: MonotonicClock,
    buffers: SlotBuffers,
    /// Slot of the request that was pushed.
    pending: Option<u32>,
}

impl SyncLane {
    pub(super) fn new(
        files: Arc<Opened>,
        name: Arc<str>,
        seal: Option<Seal>,
        options: &LaneOptions,
    ) -> Result<SyncLane, LaneError> {
        options.check()?;
        let buffers = SlotBuffers::new(options.depth, options.largest.get() as usize, options.fill, seal);
        Ok(SyncLane { files, name, clock: options.clock, buffers, pending: None })
    }
}

impl Lane for SyncLane {
    #[inline]
    fn now(&self) -> Instant {
        self.clock.now()
    }

    #[inline]
    fn push(&mut self, request: &Request) {
        debug_assert!(self.pending.is_none(), "one at a time");
        if self.buffers.take(request) {
            self.pending = Some(request.id() as u32);
        }
    }

    #[inline]
    fn turn(&mut self, _: Wait, mut complete: impl FnMut(LaneCompletion)) -> Result<Instant, DeviceError> {
        self.buffers.all_granted()?;
        let Some(slot) = self.pending.take() else { return Ok(self.clock.now()) };
        let request = *self.buffers.request(slot);
        let length = request.length().get() as usize;
        let (file, offset) = self.files.at(request.offset().get());
        let (issued, completed, result) = match request.op() {
            Op::Read => {
                let buffer = self.buffers.of_mut(slot, length);
                let issued = self.clock.now();
                let result = uninterrupted(|| pread(file, &mut *buffer, offset));
                (issued, self.clock.now(), result)
            }
            Op::Write { .. } => {
                let buffer = self.buffers.of(slot, length);
                let issued = self.clock.now();
                let result = uninterrupted(|| pwrite(file, buffer, offset));
                (issued, self.clock.now(), result)
            }
            Op::Flush | Op::Discard => {
                let issued = self.clock.now();
                let result = uninterrupted(|| self.files.flush().map(|()| 0));
                (issued, self.clock.now(), result)
            }
        };
        let status = match result {
            Ok(moved) => self.buffers.judge(slot, moved),
            Err(error) => status_of(error, &request, &self.name)?,
        };
        complete(LaneCompletion { slot, issued, completed, status });
        Ok(completed)
    }

    fn sleep_until(&mut self, at: Instant) {
        self.clock.sleep_until(at);
    }

    fn explain(&self, slot: u32, status: Status) -> FailureDetail {
        self.buffers.explain(slot, status)
    }
}

#[inline]
fn uninterrupted(mut call: impl FnMut() -> Result<usize, Errno>) -> Result<usize, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            done => return done,
        }
    }
}
