//! POSIX asynchronous I/O: the C library's queue, served by its own threads.
#![allow(unsafe_code)]

use super::records::Record;
use super::work::END;
use crate::errno;
use flashscope_device::{FileError, Passed, Step};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

/// A file and the requests that may be outstanding on it.
#[derive(Debug)]
pub(super) struct Queue {
    slots: Vec<Slot>,
    /// Slots in which something is outstanding, oldest first.
    outstanding: VecDeque<usize>,
    /// Whether records are copied between the program's buffer and that of the slot.
    copy: bool,
    file: OwnedFd,
}

/// One request. The control block is boxed, as the library keeps its address.
struct Slot {
    block: Box<libc::aiocb>,
    record: Record,
    step: Step,
}

// SAFETY: what the control block points to is the slot's own buffer, which moves with it and is not bound to a thread.
unsafe impl Send for Slot {}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot").field("step", &self.step).finish_non_exhaustive()
    }
}

impl Queue {
    pub(super) fn new(file: OwnedFd, depth: u32, copy: bool, record: usize) -> Result<Queue, FileError> {
        let slot = |_| Slot {
            // SAFETY: a control block of zeros is one that asks for nothing; all its fields are plain numbers and pointers.
            block: Box::new(unsafe { std::mem::zeroed() }),
            record: Record::new(record),
            step: Step { offset: 0, write: false },
        };
        let slots: Vec<Slot> = (0..depth).map(slot).collect();
        Ok(Queue { outstanding: VecDeque::with_capacity(slots.len()), slots, copy, file })
    }

    pub(super) fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// Records in order, as many at once as there are slots. Nothing is outstanding when it returns.
    pub(super) fn pass(
        &mut self,
        mut steps: impl Iterator<Item = Step>,
        stop: &AtomicBool,
        record: &mut Record,
        check: bool,
    ) -> Passed {
        let mut passed = Passed::default();
        let mut next = 0;
        while passed.failed.is_none() && !stop.load(Ordering::Relaxed) {
            let Some(step) = steps.next() else { break };
            if self.outstanding.len() == self.slots.len() {
                self.take(record, check, &mut passed);
            }
            // Slots come back in the order in which they went.
            match self.start(next, step, record) {
                Ok(()) => next = (next + 1) % self.slots.len(),
                Err(said) => passed.failed = passed.failed.or(Some((step, said))),
            }
        }
        while !self.outstanding.is_empty() {
            self.take(record, check, &mut passed);
        }
        passed
    }

    fn start(&mut self, at: usize, step: Step, record: &mut Record) -> Result<(), String> {
        let (copy, file) = (self.copy, self.file.as_raw_fd());
        let slot = &mut self.slots[at];
        slot.step = step;
        if step.write && copy {
            record.mark(step.offset);
            slot.record.bytes_mut().copy_from_slice(record.bytes());
        } else if step.write {
            slot.record.mark(step.offset);
        }
        slot.block.aio_fildes = file;
        slot.block.aio_offset = step.offset as libc::off_t;
        slot.block.aio_nbytes = slot.record.bytes().len();
        slot.block.aio_buf = slot.record.bytes_mut().as_mut_ptr().cast();
        slot.block.aio_sigevent.sigev_notify = libc::SIGEV_NONE;
        // SAFETY: the block and its buffer stay where they are, and nobody touches them, until `take` has seen the end of
        // the request: the slot is outstanding, and dropping the queue waits for it.
        let asked = unsafe {
            match step.write {
                true => libc::aio_write(&raw mut *slot.block),
                false => libc::aio_read(&raw mut *slot.block),
            }
        };
        if asked != 0 {
            return Err(last());
        }
        self.outstanding.push_back(at);
        Ok(())
    }

    /// Waits for the oldest request and looks at what came of it.
    fn take(&mut self, record: &mut Record, check: bool, passed: &mut Passed) {
        let Some(at) = self.outstanding.pop_front() else { return };
        let slot = &mut self.slots[at];
        let result = wait(&mut slot.block);
        match result {
            Ok(moved) if moved == slot.record.bytes().len() => {
                passed.records += 1;
                if slot.step.write {
                    return;
                }
                if self.copy {
                    record.bytes_mut().copy_from_slice(slot.record.bytes());
                }
                if check && !slot.record.is_marked(slot.step.offset) {
                    passed.mismatched += 1;
                }
            }
            Ok(_) if passed.failed.is_none() => {
                let said = if slot.step.write { errno::describe(Errno::NOSPC) } else { END.to_owned() };
                passed.failed = Some((slot.step, said));
            }
            Err(said) if passed.failed.is_none() => passed.failed = Some((slot.step, said)),
            _ => {}
        }
    }
}

/// Until the request is over; what it moved.
fn wait(block: &mut libc::aiocb) -> Result<usize, String> {
    let list: [*const libc::aiocb; 1] = [&raw const *block];
    loop {
        // SAFETY: a block that was handed over to `aio_read` or `aio_write` before.
        match unsafe { libc::aio_error(block) } {
            libc::EINPROGRESS => {
                // SAFETY: a list of one block that is in progress. That it is interrupted does no harm, as it is looked at again.
                unsafe { libc::aio_suspend(list.as_ptr(), 1, std::ptr::null()) };
            }
            // SAFETY: a block whose request is over, asked for the first and only time.
            0 => return usize::try_from(unsafe { libc::aio_return(block) }).map_err(|_| last()),
            error => {
                // SAFETY: as above: the library lets the block go.
                unsafe { libc::aio_return(block) };
                return Err(errno::describe(Errno::from_raw_os_error(error)));
            }
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        while let Some(at) = self.outstanding.pop_front() {
            let _ = wait(&mut self.slots[at].block);
        }
    }
}

/// The error of the last call of this thread.
fn last() -> String {
    let error = std::io::Error::last_os_error();
    Errno::from_io_error(&error).map_or_else(|| error.to_string(), errno::describe)
}
