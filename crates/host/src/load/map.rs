//! Loads and stores on a memory map: a read is a copy out of it, a write a copy into it, a flush an `msync`.
//!
//! A device that fails under a memory map kills the process with `SIGBUS`: that is what a memory map does.
#![allow(unsafe_code)]

use super::buffers::SlotBuffers;
use super::lane::fate_of;
use super::opened::Opened;
use super::{LaneError, LaneOptions};
use crate::clock::MonotonicClock;
use flashscope_device::{DeviceError, Ended, Fate, Lane, Op, Request, Seal, Trouble, Wait};
use flashscope_units::{Bytes, Instant};
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, msync, munmap};
use std::ffi::c_void;
use std::sync::Arc;

/// A lane through a memory map of the whole target.
#[derive(Debug)]
pub struct MapLane {
    start: *mut c_void,
    length: usize,
    _files: Arc<Opened>,
    name: Arc<str>,
    clock: MonotonicClock,
    buffers: SlotBuffers,
    pending: Option<u32>,
}

// SAFETY: the map belongs to this lane alone and is only reached through `&mut self`; it is not bound to a thread.
unsafe impl Send for MapLane {}

impl MapLane {
    pub(super) fn new(
        files: Arc<Opened>,
        name: Arc<str>,
        capacity: Bytes,
        write: bool,
        seal: Option<Seal>,
        options: &LaneOptions,
    ) -> Result<MapLane, LaneError> {
        options.check()?;
        let Some(file) = files.only() else {
            let said = "several files make no one map\nhint: use --engine sync or uring".to_owned();
            return Err(LaneError::System { operation: "map the target", said });
        };
        let length = usize::try_from(capacity.get()).unwrap_or(usize::MAX);
        let protection = if write { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: a new map where the kernel likes, of a file that is held open; shared with other programs as files are,
        // which is why it is only ever reached by copies through raw pointers, never as a slice.
        let start = unsafe { mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, file, 0) }
            .map_err(|error| LaneError::System { operation: "map the target", said: crate::errno::describe(error) })?;
        let buffers = SlotBuffers::new(options.depth, options.largest.get() as usize, options.fill, seal);
        Ok(MapLane { start, length, _files: files, name, clock: options.clock, buffers, pending: None })
    }

    /// Where a range of the map begins; the range lies within it.
    fn at(&self, offset: u64, length: usize) -> *mut u8 {
        let offset = offset as usize;
        assert!(offset.checked_add(length).is_some_and(|end| end <= self.length), "within the map");
        // SAFETY: within the map, as was just checked.
        unsafe { self.start.cast::<u8>().add(offset) }
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

    fn turn(&mut self, _: Wait, mut ended: impl FnMut(Ended)) -> Result<Instant, DeviceError> {
        self.buffers.all_granted()?;
        let Some(slot) = self.pending.take() else { return Ok(self.clock.now()) };
        let request = *self.buffers.request(slot);
        let (offset, length) = (request.offset().get(), request.length().get() as usize);
        let issued = self.clock.now();
        let result = match request.op() {
            Op::Read => {
                let from = self.at(offset, length);
                let to = self.buffers.of_mut(slot, length).as_mut_ptr();
                // SAFETY: both are `length` bytes long, and a buffer of ours does not lie within the map.
                unsafe { std::ptr::copy_nonoverlapping(from, to, length) };
                Ok(length)
            }
            Op::Write { .. } => {
                let to = self.at(offset, length);
                let from = self.buffers.of(slot, length).as_ptr();
                // SAFETY: as above; the map is writable, since writes come with a grant only and `write` was asked for.
                unsafe { std::ptr::copy_nonoverlapping(from, to, length) };
                Ok(length)
            }
            // SAFETY: the map as it was made.
            Op::Flush | Op::Discard => unsafe { msync(self.start, self.length, MsyncFlags::SYNC) }.map(|()| 0),
        };
        let completed = self.clock.now();
        let fate = match result {
            Ok(moved) => self.buffers.judge(slot, moved),
            Err(error) => fate_of(error, &request, &self.name)?,
        };
        ended(Ended { slot, issued, completed, fate });
        Ok(completed)
    }

    fn sleep_until(&mut self, at: Instant) {
        self.clock.sleep_until(at);
    }

    fn explain(&self, slot: u32, fate: Fate) -> Trouble {
        self.buffers.explain(slot, fate)
    }
}

impl Drop for MapLane {
    fn drop(&mut self) {
        // SAFETY: the map as it was made; nobody reaches it any more.
        let _ = unsafe { munmap(self.start, self.length) };
    }
}
