//! The ceiling: the same system calls as an engine makes, in a bare loop that notes nothing.
//!
//! No stamps, no histogram, no payload, no schedule; what it reaches is what a load generator could reach at most on this
//! machine. Benchmarks print it beside the engines' figures; nothing else uses it.
#![allow(unsafe_code)]

use super::LaneError;
use super::looks::LOOKS;
use super::together::Together;
use super::usage::CpuTime;
use crate::buffer::AlignedBuffer;
use io_uring::types::Fixed;
use io_uring::{IoUring, opcode};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use std::path::Path;
use std::time::{Duration, Instant};

/// What is asked of a bare loop.
#[derive(Clone, Copy, Debug)]
pub struct Bare {
    /// Requests outstanding; 0: `pread` and `pwrite`, else `io_uring`.
    pub depth: u32,
    /// Requests handed over, and ends waited for, in one call.
    pub batch: u32,
    /// Whether it looks for ends before it sleeps.
    pub looks: bool,
    /// Whether it writes (zeros).
    pub write: bool,
    /// Whether places are drawn.
    pub random: bool,
    /// Bytes of a request.
    pub block: u32,
    /// Bytes of the span, from 0.
    pub span: u64,
    /// How long.
    pub time: Duration,
}

/// What it reached.
#[derive(Clone, Copy, Debug)]
pub struct Reached {
    /// Requests that ended.
    pub requests: u64,
    /// In this time.
    pub time: Duration,
    /// For this much processor time.
    pub cpu: CpuTime,
}

/// `IORING_ENTER_GETEVENTS`.
const GET_EVENTS: u32 = 1;
/// Requests between two looks at the clock.
const LOOK_EVERY: u64 = 64;

impl Bare {
    /// Runs it in the calling thread, past the page cache, on a file or device that the caller may write to.
    ///
    /// # Errors
    /// What the system said.
    pub fn run(&self, path: &Path) -> Result<Reached, LaneError> {
        let access = if self.write { OFlags::RDWR } else { OFlags::RDONLY };
        let file = rustix::fs::open(path, access | OFlags::DIRECT | OFlags::NOATIME | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| LaneError::system("open the file", &error.into()))?;
        let (cpu, start) = (CpuTime::of_this_thread(), Instant::now());
        let requests = if self.depth == 0 { self.calls(&file, start)? } else { self.ring(&file, start)? };
        Ok(Reached { requests, time: start.elapsed(), cpu: CpuTime::of_this_thread().since(cpu) })
    }

    fn calls(&self, file: &OwnedFd, start: Instant) -> Result<u64, LaneError> {
        let mut memory = AlignedBuffer::new(self.block as usize);
        let mut places = Places::new(self);
        for done in 0u64.. {
            if done % LOOK_EVERY == 0 && start.elapsed() >= self.time {
                return Ok(done);
            }
            let (at, length) = (places.next(), self.block as usize);
            let result = match self.write {
                true => rustix::io::pwrite(file, memory.part(0, length), at),
                false => rustix::io::pread(file, memory.part_mut(0, length), at),
            };
            result.map_err(|error| LaneError::system("read or write", &error.into()))?;
        }
        Ok(0)
    }

    fn ring(&self, file: &OwnedFd, start: Instant) -> Result<u64, LaneError> {
        let failed = |error: std::io::Error| LaneError::system("use io_uring", &error);
        let length = self.block as usize;
        let mut memory = AlignedBuffer::new(length * self.depth as usize);
        let mut builder = IoUring::<io_uring::squeue::Entry>::builder();
        builder.setup_single_issuer().setup_defer_taskrun();
        let mut ring = builder.build(self.depth.next_power_of_two()).map_err(failed)?;
        let in_memory = crate::open::memory_file_system(file).is_some();
        let _together = if in_memory && self.depth == 1 { Together::with(&ring) } else { None };
        let buffers: Vec<*mut u8> =
            (0..self.depth as usize).map(|slot| memory.part_mut(slot * length, length).as_mut_ptr()).collect();
        let vectors: Vec<libc::iovec> =
            buffers.iter().map(|start| libc::iovec { iov_base: start.cast(), iov_len: length }).collect();
        // SAFETY: the vectors describe parts of `memory`, which outlives the ring: all requests are reaped below.
        unsafe { ring.submitter().register_buffers(&vectors) }.map_err(failed)?;
        ring.submitter().register_files(&[file.as_raw_fd()]).map_err(failed)?;
        let mut places = Places::new(self);
        let mut free: Vec<u16> = (0..self.depth as u16).collect();
        let (mut done, mut look_at, mut over) = (0u64, 0u64, false);
        while !over || free.len() < self.depth as usize {
            if done >= look_at {
                (look_at, over) = (done + LOOK_EVERY, start.elapsed() >= self.time);
            }
            while let Some(slot) = if over { None } else { free.pop() } {
                let (at, start) = (places.next(), buffers[usize::from(slot)]);
                let entry = match self.write {
                    true => opcode::WriteFixed::new(Fixed(0), start, self.block, slot).offset(at).build(),
                    false => opcode::ReadFixed::new(Fixed(0), start, self.block, slot).offset(at).build(),
                };
                // SAFETY: the buffer belongs to its slot, which is not used again before its end was reaped.
                let pushed = unsafe { ring.submission().push(&entry.user_data(u64::from(slot))) };
                debug_assert!(pushed.is_ok(), "there are as many entries as slots");
            }
            let outstanding = self.depth as usize - free.len();
            if outstanding == 0 {
                break;
            }
            let want = (self.batch as usize).min(outstanding);
            if self.looks {
                for _ in 0..LOOKS {
                    let pushed = ring.submission().len() as u32;
                    // SAFETY: nothing is passed but numbers; what was pushed is as it must be, see there.
                    unsafe { ring.submitter().enter::<libc::sigset_t>(pushed, 0, GET_EVENTS, None) }.map_err(failed)?;
                    if ring.completion().len() >= want {
                        break;
                    }
                }
            }
            if ring.completion().len() < want || !self.looks {
                ring.submit_and_wait(want).map_err(failed)?;
            }
            for ended in ring.completion() {
                free.push(ended.user_data() as u16);
                done += 1;
            }
        }
        Ok(done)
    }
}

/// Where the next request goes.
struct Places {
    state: u64,
    count: u64,
    block: u64,
    random: bool,
}

impl Places {
    fn new(of: &Bare) -> Places {
        let block = u64::from(of.block.max(1));
        Places { state: 0x9e37_79b9_7f4a_7c15, count: (of.span / block).max(1), block, random: of.random }
    }

    #[inline]
    fn next(&mut self) -> u64 {
        if !self.random {
            self.state = (self.state + 1) % self.count;
            return self.state * self.block;
        }
        // Marsaglia's xorshift64.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        ((u128::from(self.state) * u128::from(self.count)) >> 64) as u64 * self.block
    }
}
