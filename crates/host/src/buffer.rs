//! Memory that direct I/O accepts.

/// A buffer whose start is aligned to [`AlignedBuffer::ALIGNMENT`]. Its pages are touched when it is made or
/// grown, so that no page fault falls into a timed part.
#[derive(Debug)]
pub(crate) struct AlignedBuffer {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedBuffer {
    /// Covers every logical block size in use, and the page size on which the kernel maps buffers.
    pub(crate) const ALIGNMENT: usize = 4096;

    /// A buffer of `length` bytes.
    pub(crate) fn new(length: usize) -> AlignedBuffer {
        // A non-zero byte, since zeroed memory would be mapped lazily.
        let memory = vec![0xa5; length + Self::ALIGNMENT];
        let start = memory.as_ptr().align_offset(Self::ALIGNMENT);
        AlignedBuffer { memory, start, length }
    }

    /// Makes room for at least `length` bytes; what it held is lost where it had to grow.
    pub(crate) fn reserve(&mut self, length: usize) {
        if length > self.length {
            *self = AlignedBuffer::new(length);
        }
    }

    /// A part of it.
    pub(crate) fn part(&self, offset: usize, length: usize) -> &[u8] {
        &self.memory[self.start..self.start + self.length][offset..offset + length]
    }

    /// A part of it to change.
    pub(crate) fn part_mut(&mut self, offset: usize, length: usize) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length][offset..offset + length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_on_a_page_whatever_its_length() {
        let mut buffer = AlignedBuffer::new(512);
        for length in [512, 4096, 1 << 20] {
            buffer.reserve(length);
            assert_eq!(buffer.part(0, length).as_ptr() as usize % AlignedBuffer::ALIGNMENT, 0);
            buffer.part_mut(length - 1, 1)[0] = 7;
            assert_eq!(buffer.part(0, length)[length - 1], 7);
        }
        buffer.reserve(512);
        assert_eq!(buffer.length, 1 << 20);
    }
}
