//! One buffer per slot, filled once and aligned for direct I/O.

use super::lane::SlotFill;
use crate::buffer::AlignedBuffer;
use crate::payload::{self, NOBODYS};
use flashscope_device::{DeviceError, FailureDetail, Fill, Op, Request, Seal, Status};
use rustix::rand::{GetRandomFlags, getrandom};

/// The buffers of one lane, and what is in flight in each.
#[derive(Debug)]
pub(super) struct SlotBuffers {
    memory: AlignedBuffer,
    stride: usize,
    /// The request that was last in each slot.
    requests: Vec<Request>,
    /// Writes must be made under this grant.
    seal: Option<Seal>,
    /// Whether one was pushed that was not.
    ungranted: bool,
    /// Whether every write draws its bytes from the kernel.
    draws: bool,
}

impl SlotBuffers {
    pub(super) fn new(depth: u32, largest: usize, fill: SlotFill, seal: Option<Seal>) -> SlotBuffers {
        let stride = largest.next_multiple_of(AlignedBuffer::ALIGNMENT);
        let mut memory = AlignedBuffer::new(stride * depth as usize);
        let all = memory.part_mut(0, stride * depth as usize);
        match fill {
            SlotFill::Incompressible | SlotFill::Urandom => payload::fill(Fill::Tagged { generation: NOBODYS }, 0, all),
            SlotFill::Byte(byte) => all.fill(byte),
            SlotFill::Compressible(share) => {
                payload::fill(Fill::Tagged { generation: NOBODYS }, 0, all);
                // In every page, so that every block compresses as much, whatever its size.
                let zeros = (AlignedBuffer::ALIGNMENT as f64 * share.clamp(0.0, 1.0)) as usize;
                all.chunks_mut(AlignedBuffer::ALIGNMENT).for_each(|page| page[..zeros].fill(0));
            }
        }
        let requests = vec![Request::flush(0); depth as usize];
        SlotBuffers { memory, stride, requests, seal, ungranted: false, draws: fill == SlotFill::Urandom }
    }

    /// Notes the request, and makes its payload where it has one of its own. False where it must not be carried out, as it
    /// changes what no grant of this target covers.
    #[inline]
    pub(super) fn take(&mut self, request: &Request) -> bool {
        let slot = request.id() as usize;
        let changes = matches!(request.op(), Op::Write { .. } | Op::Discard);
        if changes && (request.seal() != self.seal || self.seal.is_none() || request.op() == Op::Discard) {
            self.ungranted = true;
            return false;
        }
        self.requests[slot] = *request;
        if let (Some(fill), true) = (request.fill(), changes) {
            let length = request.length().get() as usize;
            payload::fill(fill, request.offset().get(), self.memory.part_mut(slot * self.stride, length));
        }
        if self.draws && changes {
            self.draw(slot, request.length().get() as usize);
        }
        true
    }

    #[inline(never)]
    fn draw(&mut self, slot: usize, length: usize) {
        let mut rest = self.memory.part_mut(slot * self.stride, length);
        // The kernel may give less than was asked for, and never fails once it is seeded; should it, old bytes stay.
        while let Ok(more @ 1..) = getrandom(&mut *rest, GetRandomFlags::empty()) {
            rest = &mut rest[more..];
        }
    }

    /// An error where a request was pushed that must not be carried out.
    #[inline]
    pub(super) fn all_granted(&self) -> Result<(), DeviceError> {
        if self.ungranted {
            return Err(DeviceError::Invalid("this write was not granted for this target".to_owned()));
        }
        Ok(())
    }

    #[inline]
    pub(super) fn request(&self, slot: u32) -> &Request {
        &self.requests[slot as usize]
    }

    #[inline]
    pub(super) fn of(&self, slot: u32, length: usize) -> &[u8] {
        self.memory.part(slot as usize * self.stride, length)
    }

    #[inline]
    pub(super) fn of_mut(&mut self, slot: u32, length: usize) -> &mut [u8] {
        self.memory.part_mut(slot as usize * self.stride, length)
    }

    /// The whole buffer of a slot, for those who register it with the kernel.
    pub(super) fn whole(&mut self, slot: u32) -> &mut [u8] {
        self.of_mut(slot, self.stride)
    }

    /// What became of a request that moved `moved` bytes.
    #[inline]
    pub(super) fn judge(&self, slot: u32, moved: usize) -> Status {
        let request = self.request(slot);
        if moved != request.length().get() as usize && request.op() != Op::Flush {
            return Status::Short(moved as u32);
        }
        match request.fill() {
            Some(fill) if request.op() == Op::Read => self.compare(slot, fill),
            _ => Status::Success,
        }
    }

    fn compare(&self, slot: u32, fill: Fill) -> Status {
        let request = self.request(slot);
        let bytes = self.of(slot, request.length().get() as usize);
        if payload::matches(fill, request.offset().get(), bytes) { Status::Success } else { Status::Mismatch }
    }

    /// Puts a failure into words.
    pub(super) fn explain(&self, slot: u32, status: Status) -> FailureDetail {
        let request = self.request(slot);
        let plain = |reason: String| FailureDetail { reason, at: None, found: None };
        match status {
            Status::Success => plain("nothing went wrong".to_owned()),
            Status::Short(moved) => plain(format!("short transfer: {moved} of {} bytes", request.length().get())),
            Status::Errno(number) => plain(crate::errno::describe(rustix::io::Errno::from_raw_os_error(number))),
            Status::Mismatch => {
                let bytes = self.of(slot, request.length().get() as usize);
                let Some(fill) = request.fill() else { return plain("a mismatch without an expectation".to_owned()) };
                let (at, found) = payload::difference(fill, request.offset().get(), bytes);
                FailureDetail {
                    reason: "a read found other bytes than were written".to_owned(),
                    at: Some(at),
                    found: Some(found),
                }
            }
        }
    }
}
