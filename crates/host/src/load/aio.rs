//! POSIX asynchronous I/O: the queue that the C library keeps, as iozone's `-H` and `-k` and fio's `posixaio` use it.
#![allow(unsafe_code)]

use super::buffers::SlotBuffers;
use super::lane::status_of;
use super::opened::Opened;
use super::posix::{Block, Call, suspend};
use super::{LaneError, LaneOptions};
use crate::clock::MonotonicClock;
use flashscope_device::{DeviceError, FailureDetail, Lane, LaneCompletion, Op, Request, Seal, Status, Wait};
use flashscope_units::{Instant, Nanos};
use rustix::io::Errno;
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// A lane along the C library's queue.
#[derive(Debug)]
pub struct AioLane {
    files: Arc<Opened>,
    name: Arc<str>,
    clock: MonotonicClock,
    /// Kept from being freed where the library may still read or write them.
    buffers: ManuallyDrop<SlotBuffers>,
    slots: Vec<Slot>,
    /// What is outstanding, by slot; empty places are null.
    list: Vec<*const libc::aiocb>,
    pushed: Vec<u32>,
    outstanding: u32,
    hang_after: Option<Nanos>,
}

#[derive(Debug)]
struct Slot {
    block: Block,
    issued: Instant,
    /// The library did not take it.
    refused: Option<Errno>,
}

/// How long a lane that is dropped waits for what is still outstanding.
const LAST_WAIT: Nanos = Nanos::secs(1);

impl AioLane {
    pub(super) fn new(
        files: Arc<Opened>,
        name: Arc<str>,
        seal: Option<Seal>,
        options: &LaneOptions,
    ) -> Result<AioLane, LaneError> {
        options.check()?;
        let depth = options.depth as usize;
        let slot = |_| Slot { block: Block::new(), issued: Instant::ORIGIN, refused: None };
        let buffers = SlotBuffers::new(options.depth, options.largest.get() as usize, options.fill, seal);
        Ok(AioLane {
            files,
            name,
            clock: options.clock,
            buffers: ManuallyDrop::new(buffers),
            slots: (0..depth).map(slot).collect(),
            list: vec![std::ptr::null(); depth],
            pushed: Vec::with_capacity(depth),
            outstanding: 0,
            hang_after: options.hang_after,
        })
    }

    fn start(&mut self, at: u32) {
        let request = *self.buffers.request(at);
        let length = request.length().get() as usize;
        let slot = &mut self.slots[at as usize];
        slot.issued = self.clock.now();
        let (call, (file, offset)) = match request.op() {
            Op::Read => (Call::Read, self.files.at(request.offset().get())),
            Op::Write { .. } => (Call::Write, self.files.at(request.offset().get())),
            Op::Flush | Op::Discard => {
                // All files but the last right here; the last one's flush waits its turn in the queue.
                let all = self.files.all();
                slot.refused = all[..all.len() - 1].iter().find_map(|file| rustix::fs::fdatasync(file).err());
                (Call::Sync, (&all[all.len() - 1], 0))
            }
        };
        if slot.refused.is_none() {
            // SAFETY: the buffer belongs to this slot, which is not in use twice; it outlives the request, as `Drop` waits for what
            // is outstanding, or gives the buffers up without freeing them.
            slot.refused = unsafe { slot.block.start(call, file, offset, self.buffers.of_mut(at, length)) }.err();
        }
        self.list[at as usize] = slot.block.listed();
        self.outstanding += 1;
    }

    /// Gives everything that has ended to `ended`; how many, and when that was.
    fn reap(&mut self, complete: &mut impl FnMut(LaneCompletion)) -> Result<(u32, Instant), DeviceError> {
        let (mut count, completed) = (0, self.clock.now());
        for (at, slot) in self.slots.iter_mut().enumerate() {
            let result = match slot.refused.take() {
                Some(error) => Err(error),
                None => match slot.block.ended() {
                    Some(result) => result,
                    None => continue,
                },
            };
            self.list[at] = std::ptr::null();
            self.outstanding -= 1;
            count += 1;
            let at = at as u32;
            let status = match result {
                Ok(moved) => self.buffers.judge(at, moved),
                Err(error) => status_of(error, self.buffers.request(at), &self.name)?,
            };
            complete(LaneCompletion { slot: at, issued: slot.issued, completed, status });
        }
        Ok((count, completed))
    }
}

impl Lane for AioLane {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn push(&mut self, request: &Request) {
        if self.buffers.take(request) {
            self.pushed.push(request.id() as u32);
        }
    }

    fn turn(&mut self, wait: Wait, mut complete: impl FnMut(LaneCompletion)) -> Result<Instant, DeviceError> {
        self.buffers.all_granted()?;
        for at in 0..self.pushed.len() {
            self.start(self.pushed[at]);
        }
        self.pushed.clear();
        let want = match wait {
            Wait::Not => 0,
            Wait::For(count) => count.min(self.outstanding),
            Wait::Until(_) => 1.min(self.outstanding),
        };
        let mut seen = 0;
        let mut since = None;
        loop {
            let (more, now) = self.reap(&mut complete)?;
            seen += more;
            if seen >= want {
                return Ok(now);
            }
            // Counted from the last end, as a device that goes on answering does not hang.
            let since = if more > 0 { *since.insert(now) } else { *since.get_or_insert(now) };
            let limit = match (wait, self.hang_after) {
                (Wait::Until(at), _) if now >= at => return Ok(now),
                (Wait::Until(at), _) => Some(at.since(now)),
                (_, Some(limit)) if now.since(since) >= limit => {
                    return Err(DeviceError::Hung(format!("no request got an answer within {limit}")));
                }
                (_, Some(limit)) => Some(limit.saturating_sub(now.since(since))),
                (_, None) => None,
            };
            suspend(&self.list, limit);
        }
    }

    fn sleep_until(&mut self, at: Instant) {
        self.clock.sleep_until(at);
    }

    fn explain(&self, slot: u32, status: Status) -> FailureDetail {
        self.buffers.explain(slot, status)
    }
}

impl Drop for AioLane {
    fn drop(&mut self) {
        let end = self.clock.now() + LAST_WAIT;
        let running = |lane: &AioLane| lane.slots.iter().any(|slot| slot.block.is_running());
        while running(self) && self.clock.now() < end {
            suspend(&self.list, Some(end.since(self.clock.now())));
            for (at, slot) in self.slots.iter_mut().enumerate() {
                if slot.block.ended().is_some() {
                    self.list[at] = std::ptr::null();
                }
            }
        }
        if !running(self) {
            // SAFETY: dropped once, here, and not used again; the library has nothing any more that points to the buffers.
            unsafe { ManuallyDrop::drop(&mut self.buffers) };
        }
    }
}
