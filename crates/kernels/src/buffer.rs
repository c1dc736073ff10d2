//! Memory straight from the kernel, in pages of the wanted kind.

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mlock, mmap_anonymous, munmap};
use std::fmt;
use std::ptr::NonNull;

/// Pages that memory is asked for in; what the kernel gives is its own decision, which `/proc/self/smaps` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// The smallest that the machine has.
    Small,
    /// Huge ones.
    Huge,
}

/// Why there is no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferError {
    /// No bytes were wanted, or more than there are addresses.
    Length,
    /// The kernel refused, with this number.
    Refused(i32),
}

impl fmt::Display for BufferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BufferError::Length => write!(f, "a buffer of this length cannot be"),
            BufferError::Refused(number) => {
                write!(f, "the kernel gives no memory: {}", std::io::Error::from_raw_os_error(*number))
            }
        }
    }
}

impl std::error::Error for BufferError {}

/// Where huge pages begin: the largest that programs get unasked on x86-64, arm64 and armv7 with pages of 4 KiB.
const HUGE: usize = 2 << 20;

/// Zeroed memory of this program alone, given back when it is dropped. No page of it is there before it is touched.
#[derive(Debug)]
pub struct Buffer {
    /// What was mapped: more than is used, so that the used part can begin where a huge page does.
    mapped: NonNull<u8>,
    mapped_len: usize,
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the memory belongs to this value alone, and is only reached through `&self` (reading) and `&mut self` (writing).
unsafe impl Send for Buffer {}
// SAFETY: as above: nothing is written through `&self`.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Memory of at least `len` bytes, rounded up to 4 KiB, that begins where a huge page does.
    ///
    /// # Errors
    /// [`BufferError`]; that the kernel has no huge page to give is none.
    pub fn new(len: usize, pages: Pages) -> Result<Buffer, BufferError> {
        let len = len.checked_next_multiple_of(4096).filter(|len| *len > 0).ok_or(BufferError::Length)?;
        let mapped_len =
            len.checked_add(HUGE).filter(|all| isize::try_from(*all).is_ok()).ok_or(BufferError::Length)?;
        let refused = |errno: Errno| BufferError::Refused(errno.raw_os_error());
        // SAFETY: a new anonymous mapping at an address that the kernel chooses touches no memory that is in use.
        let mapped = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                mapped_len,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        };
        let mapped = NonNull::new(mapped.map_err(refused)?.cast::<u8>()).ok_or(BufferError::Length)?;
        let ahead = mapped.as_ptr().align_offset(HUGE).min(HUGE);
        // SAFETY: `ahead` is at most HUGE, so that the place lies inside of the mapping with `len` bytes behind it.
        let start = unsafe { mapped.add(ahead) };
        let buffer = Buffer { mapped, mapped_len, start, len };
        let advice = match pages {
            Pages::Small => Advice::LinuxNoHugepage,
            Pages::Huge => Advice::LinuxHugepage,
        };
        // A kernel without huge pages knows neither advice; its pages are small then, as `smaps` tells.
        // SAFETY: this advice changes no content, and the range lies inside of the mapping that was just made.
        let _ = unsafe { madvise(buffer.start.as_ptr().cast(), len, advice) };
        Ok(buffer)
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bytes, which it never does.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where it begins; for finding it again among what the kernel tells of this program.
    pub fn address(&self) -> usize {
        self.start.as_ptr().addr()
    }

    /// Asks the kernel never to move it to swap space; whether it agreed. Touches all of it.
    pub fn lock(&self) -> bool {
        // SAFETY: locking changes no content, and the range lies inside of our own mapping.
        unsafe { mlock(self.start.as_ptr().cast(), self.len) }.is_ok()
    }

    /// Its content as numbers.
    pub fn numbers(&self) -> &[f64] {
        // SAFETY: the range is mapped, readable, aligned to a page and lives as long as `self`; every pattern of bits is an f64, and
        // nobody writes while `self` is borrowed.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.len / size_of::<f64>()) }
    }

    /// The same, to be written.
    pub fn numbers_mut(&mut self) -> &mut [f64] {
        // SAFETY: as in `numbers`; `self` is borrowed by nobody else.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.len / size_of::<f64>()) }
    }

    /// Its content as words.
    pub fn words(&self) -> &[u64] {
        // SAFETY: as in `numbers`; every pattern of bits is a u64.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.len / size_of::<u64>()) }
    }

    /// The same, to be written.
    pub fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: as in `numbers_mut`; every pattern of bits is a u64.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.len / size_of::<u64>()) }
    }

    /// Where it begins, with the right to all of it.
    pub(crate) fn start(&mut self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: this is the mapping of `new`, whole; no borrow of it outlives `self`.
        let _ = unsafe { munmap(self.mapped.as_ptr().cast(), self.mapped_len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_zeroed_aligned_and_as_long_as_asked() {
        for pages in [Pages::Small, Pages::Huge] {
            let mut buffer = Buffer::new(5000, pages).unwrap();
            assert_eq!((buffer.len(), buffer.address() % HUGE), (8192, 0));
            assert!(buffer.words().iter().all(|word| *word == 0));
            buffer.numbers_mut()[1023] = 1.5;
            assert_eq!(buffer.words()[1023], 1.5f64.to_bits());
            assert!(!buffer.is_empty());
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert_eq!(Buffer::new(0, Pages::Small).unwrap_err(), BufferError::Length);
        assert_eq!(Buffer::new(usize::MAX - 8192, Pages::Huge).unwrap_err(), BufferError::Length);
        // Half of all addresses, which 32 bits may have once.
        let most = isize::MAX as usize - (4 << 20);
        let both = [(); 2].map(|()| Buffer::new(most, Pages::Huge));
        assert!(both.iter().any(|one| matches!(one, Err(BufferError::Refused(_)))));
    }
}
