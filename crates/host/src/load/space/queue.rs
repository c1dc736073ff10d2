//! Records through POSIX asynchronous I/O.
#![allow(unsafe_code)]

use super::super::posix::{Block, Call, suspend};
use super::records::Record;
use super::work::END;
use crate::errno;
use flashscope_device::{FileError, Passed, Step};
use rustix::fd::OwnedFd;
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

/// One request.
#[derive(Debug)]
struct Slot {
    block: Block,
    record: Record,
    step: Step,
}

impl Queue {
    pub(super) fn new(file: OwnedFd, depth: u32, copy: bool, record: usize) -> Result<Queue, FileError> {
        let slot =
            |_| Slot { block: Block::new(), record: Record::new(record), step: Step { offset: 0, write: false } };
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
        let (copy, file) = (self.copy, &self.file);
        let slot = &mut self.slots[at];
        slot.step = step;
        if step.write && copy {
            record.mark(step.offset);
            slot.record.bytes_mut().copy_from_slice(record.bytes());
        } else if step.write {
            slot.record.mark(step.offset);
        }
        let call = if step.write { Call::Write } else { Call::Read };
        // SAFETY: the buffer stays where it is, and nobody touches it, until `take` has seen the end of the request: the slot
        // is outstanding, and dropping the queue waits for it.
        unsafe { slot.block.start(call, file, step.offset, slot.record.bytes_mut()) }.map_err(errno::describe)?;
        self.outstanding.push_back(at);
        Ok(())
    }

    /// Waits for the oldest request and looks at what came of it.
    fn take(&mut self, record: &mut Record, check: bool, passed: &mut Passed) {
        let Some(at) = self.outstanding.pop_front() else { return };
        let slot = &mut self.slots[at];
        let result = wait(&mut slot.block).map_err(errno::describe);
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
fn wait(block: &mut Block) -> Result<usize, Errno> {
    loop {
        if let Some(ended) = block.ended() {
            return ended;
        }
        suspend(&[block.listed()], None);
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        while let Some(at) = self.outstanding.pop_front() {
            let _ = wait(&mut self.slots[at].block);
        }
    }
}
