//! Loads and stores on a memory map: a read is a copy out of it, a write a copy into it, a flush an `msync`.

use super::buffers::SlotBuffers;
use super::lane::status_of;
use super::mapped::{Mapped, Torn};
use super::opened::Opened;
use super::{LaneError, LaneOptions};
use crate::clock::MonotonicClock;
use flashscope_device::{DeviceError, FailureDetail, Lane, LaneCompletion, Op, Request, Seal, Status, Wait};
use flashscope_units::Instant;
use rustix::io::Errno;
use std::sync::Arc;

/// A lane through a memory map of the whole target.
#[derive(Debug)]
pub struct MapLane {
    map: Mapped,
    name: Arc<str>,
    clock: MonotonicClock,
    buffers: SlotBuffers,
    pending: Option<u32>,
}

/// Stands for [`Torn`] among the numbers of errors: a bad address is none that the kernel would give here.
const TORN: Status = Status::Errno(Errno::FAULT.raw_os_error());

impl MapLane {
    pub(super) fn new(
        files: Arc<Opened>,
        name: Arc<str>,
        write: bool,
        seal: Option<Seal>,
        options: &LaneOptions,
    ) -> Result<MapLane, LaneError> {
        options.check()?;
        let map = Mapped::new(files, write)
            .map_err(|error| LaneError::System { operation: "map the target", said: crate::errno::describe(error) })?;
        let buffers = SlotBuffers::new(options.depth, options.largest.get() as usize, options.fill, seal);
        Ok(MapLane { map, name, clock: options.clock, buffers, pending: None })
    }
}

impl Lane for MapLane {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn push(&mut self, request: &Request) {
        if self.buffers.take(request) {
            self.pending = Some(request.id() as u32);
        }
    }

    fn turn(&mut self, _: Wait, mut complete: impl FnMut(LaneCompletion)) -> Result<Instant, DeviceError> {
        self.buffers.all_granted()?;
        let Some(slot) = self.pending.take() else { return Ok(self.clock.now()) };
        let request = *self.buffers.request(slot);
        let (offset, length) = (request.offset().get(), request.length().get() as usize);
        let issued = self.clock.now();
        let copied = match request.op() {
            Op::Read => self.map.read(offset, self.buffers.of_mut(slot, length)),
            Op::Write { .. } => self.map.write(offset, self.buffers.of(slot, length)),
            Op::Flush | Op::Discard => {
                let result = self.map.flush();
                let completed = self.clock.now();
                let status =
                    result.map_or_else(|error| status_of(error, &request, &self.name), |()| Ok(Status::Success))?;
                complete(LaneCompletion { slot, issued, completed, status });
                return Ok(completed);
            }
        };
        let completed = self.clock.now();
        let status = copied.map_or(TORN, |()| self.buffers.judge(slot, length));
        complete(LaneCompletion { slot, issued, completed, status });
        Ok(completed)
    }

    fn sleep_until(&mut self, at: Instant) {
        self.clock.sleep_until(at);
    }

    fn explain(&self, slot: u32, status: Status) -> FailureDetail {
        match status {
            TORN => FailureDetail { reason: Torn::SAID.to_owned(), at: None, found: None },
            status => self.buffers.explain(slot, status),
        }
    }
}
