//! Files as memory: one, or several that are laid end to end, mapped and reached by copies only.
#![allow(unsafe_code)]

use super::fault;
use super::opened::Opened;
use rustix::io::Errno;
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, mmap_anonymous, msync, munmap};
use std::ffi::c_void;
use std::sync::Arc;

/// A shared map of all bytes of the files.
#[derive(Debug)]
pub(super) struct Mapped {
    start: *mut c_void,
    length: usize,
    /// From where one file begins in memory to where the next one does.
    stride: usize,
    access: ProtFlags,
    files: Arc<Opened>,
    /// Empty pages stand where the file should, and could not be taken away: nothing in it is worth anything.
    spoilt: bool,
}

// SAFETY: the map belongs to this value alone and is only reached through `&mut self`; it is not bound to a thread.
unsafe impl Send for Mapped {}

/// A page could not be brought in, or no room be found for it. Which of both, the kernel does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Torn;

impl Torn {
    /// What to tell of it.
    pub(super) const SAID: &'static str =
        "SIGBUS: a page of the memory map could not be read, or no room be found for it";
}

impl Mapped {
    /// Maps them, for writing, too.
    pub(super) fn new(files: Arc<Opened>, write: bool) -> Result<Mapped, Errno> {
        fault::catch()?;
        let each = usize::try_from(files.each()).map_err(|_| Errno::NOMEM)?;
        let stride = each.checked_next_multiple_of(rustix::param::page_size()).ok_or(Errno::NOMEM)?;
        let length = stride.checked_mul(files.all().len()).ok_or(Errno::NOMEM)?;
        let access = if write { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: new room where the kernel likes, that nobody may touch yet.
        let start = unsafe {
            mmap_anonymous(std::ptr::null_mut(), length, ProtFlags::empty(), MapFlags::PRIVATE | MapFlags::NORESERVE)
        }?;
        let map = Mapped { start, length, stride, access, files, spoilt: false };
        for file in 0..map.files.all().len() {
            map.place(file, 0, each)?;
        }
        Ok(map)
    }

    /// Maps a part of a file, from a page on, where it belongs.
    fn place(&self, file: usize, from: usize, length: usize) -> Result<(), Errno> {
        // SAFETY: within the room that `new` has made, which is this value's own, and where nobody refers to anything.
        unsafe {
            let at = self.start.cast::<u8>().add(file * self.stride + from).cast();
            let flags = MapFlags::SHARED | MapFlags::FIXED;
            mmap(at, length, self.access, flags, &self.files.all()[file], from as u64).map(drop)
        }
    }

    /// Copies what stands at `offset`; the range lies in one file.
    #[inline]
    pub(super) fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), Torn> {
        let (from, length) = (self.at(offset, into.len()), into.len());
        // SAFETY: both are `length` bytes long, and a buffer of ours does not lie within the map, which nobody else uses and
        // which `mend` maps again.
        let done = unsafe { fault::copy(from, into.as_mut_ptr(), length, from as usize) };
        if done && !self.spoilt { Ok(()) } else { self.mend(offset, length) }
    }

    /// Copies to `offset`; the range lies in one file, and the map was made for writing.
    #[inline]
    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Torn> {
        assert!(self.access.contains(ProtFlags::WRITE), "mapped for writing");
        let to = self.at(offset, bytes.len());
        // SAFETY: as in `read`; the map may be written to.
        let done = unsafe { fault::copy(bytes.as_ptr(), to, bytes.len(), to as usize) };
        if done && !self.spoilt { Ok(()) } else { self.mend(offset, bytes.len()) }
    }

    /// Where a range begins in memory.
    #[inline]
    fn at(&self, offset: u64, length: usize) -> *mut u8 {
        let (file, offset) = self.files.place(offset);
        let offset = offset as usize;
        assert!(offset.checked_add(length).is_some_and(|end| end <= self.files.each() as usize), "within a file");
        // SAFETY: within the map, as was just checked.
        unsafe { self.start.cast::<u8>().add(file * self.stride + offset) }
    }

    /// Takes the empty pages away that stand where the file should.
    #[cold]
    fn mend(&mut self, offset: u64, length: usize) -> Result<(), Torn> {
        let (file, offset) = self.files.place(offset);
        let first = offset as usize & !(rustix::param::page_size() - 1);
        self.spoilt |= self.place(file, first, offset as usize + length - first).is_err();
        Err(Torn)
    }

    /// Brings all that was written to the medium.
    pub(super) fn flush(&mut self) -> Result<(), Errno> {
        let each = self.files.each() as usize;
        (0..self.files.all().len()).try_for_each(|file| {
            // SAFETY: a part of the map as it was made.
            unsafe { msync(self.start.cast::<u8>().add(file * self.stride).cast(), each, MsyncFlags::SYNC) }
        })
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the map as it was made; nobody reaches it any more.
        let _ = unsafe { munmap(self.start, self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fd::OwnedFd;
    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

    fn files(count: usize, each: u64) -> Arc<Opened> {
        let file = |_| {
            let file: OwnedFd = memfd_create("mapped", MemfdFlags::CLOEXEC).unwrap();
            ftruncate(&file, each).unwrap();
            file
        };
        Arc::new(Opened::new((0..count).map(file).collect(), each))
    }

    #[test]
    fn several_files_are_reached_as_one() {
        // Neither a whole number of pages nor a power of two.
        let files = files(3, 6000);
        let mut map = Mapped::new(Arc::clone(&files), true).unwrap();
        map.write(5000, &[7; 1000]).unwrap();
        map.write(6000, &[8; 1000]).unwrap();
        map.write(17_000, &[9; 1000]).unwrap();
        map.flush().unwrap();
        let read = |file: usize, at: u64| {
            let mut byte = [0];
            rustix::io::pread(&files.all()[file], &mut byte, at).unwrap();
            byte[0]
        };
        assert_eq!((read(0, 5999), read(1, 0), read(2, 5000), read(2, 4999)), (7, 8, 9, 0));
        let mut back = [0; 1000];
        map.read(6000, &mut back).unwrap();
        assert_eq!(back, [8; 1000]);
    }

    #[test]
    fn a_page_that_cannot_be_had_is_an_outcome() {
        let files = files(1, 16384);
        let mut map = Mapped::new(Arc::clone(&files), true).unwrap();
        map.write(0, &[1; 16384]).unwrap();
        // Behind its end a file has no pages.
        ftruncate(&files.all()[0], 4096).unwrap();
        let mut back = [0; 4096];
        assert_eq!(map.read(8192, &mut back), Err(Torn));
        assert_eq!(map.write(4096, &[2; 4096]), Err(Torn));
        assert_eq!((map.read(0, &mut back), back[0]), (Ok(()), 1));
        ftruncate(&files.all()[0], 16384).unwrap();
        assert_eq!((map.read(8192, &mut back), back[0]), (Ok(()), 0));
        map.write(8192, &[3; 4096]).unwrap();
        assert_eq!((map.read(8192, &mut back), back[0]), (Ok(()), 3));
    }
}
