//! The buffer of a record, and the marks by which its pages are known.

use crate::buffer::AlignedBuffer;
use crate::payload;
use flashscope_device::{Fill, Passed, Step};
use std::sync::atomic::{AtomicBool, Ordering};

/// Distance of two marks in a record, in bytes.
const PAGE: usize = 4096;
/// What records carry.
const FILL: Fill = Fill::Tagged { generation: 0 };

/// The buffer of one record.
#[derive(Debug)]
pub(super) struct Record {
    buffer: AlignedBuffer,
    length: usize,
}

impl Record {
    /// Of `length` incompressible bytes.
    pub(super) fn new(length: usize) -> Record {
        let room = length.next_multiple_of(8);
        let mut buffer = AlignedBuffer::new(room);
        payload::fill(FILL, 0, buffer.part_mut(0, room));
        Record { buffer, length }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.buffer.part(0, self.length)
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        self.buffer.part_mut(0, self.length)
    }

    /// Marks every page as that of its position: what programs would do at least, and as much as iozone does.
    #[inline]
    pub(super) fn mark(&mut self, offset: u64) {
        for (at, page) in self.buffer.part_mut(0, self.length).chunks_mut(PAGE).enumerate() {
            if let Some(word) = page.first_chunk_mut::<8>() {
                payload::fill(FILL, offset + (at * PAGE) as u64, word);
            }
        }
    }

    /// Whether every page bears the mark of its position.
    #[inline]
    pub(super) fn is_marked(&self, offset: u64) -> bool {
        let mut pages = self.bytes().chunks(PAGE).enumerate();
        pages.all(|(at, page)| {
            page.first_chunk::<8>().is_none_or(|word| payload::matches(FILL, offset + (at * PAGE) as u64, word))
        })
    }
}

/// Moves one record after another by `work`, which says in words why it could not.
pub(super) fn each(
    mut steps: impl Iterator<Item = Step>,
    stop: &AtomicBool,
    record: &mut Record,
    check: bool,
    mut work: impl FnMut(Step, &mut Record) -> Result<(), String>,
) -> Passed {
    let mut passed = Passed::default();
    while !stop.load(Ordering::Relaxed) {
        let Some(step) = steps.next() else { break };
        if step.write {
            record.mark(step.offset);
        }
        if let Err(said) = work(step, record) {
            passed.failed = Some((step, said));
            break;
        }
        passed.records += 1;
        if check && !step.write && !record.is_marked(step.offset) {
            passed.mismatched += 1;
        }
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_tell_positions_apart() {
        for length in [1024, 4096, 5 * 1024, 65536] {
            let mut record = Record::new(length);
            record.mark(1 << 20);
            assert!(record.is_marked(1 << 20) && !record.is_marked(2 << 20));
            let last = (length - 1) / PAGE * PAGE;
            record.bytes_mut()[last] ^= 1;
            assert!(!record.is_marked(1 << 20));
        }
    }
}
