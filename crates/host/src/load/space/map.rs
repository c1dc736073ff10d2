//! Loads and stores on a shared memory map of a file.
//!
//! Room is made in the file before it is mapped, since a store that finds no space kills the process. A device that fails
//! under a memory map kills it as well: that is what a memory map does.
#![allow(unsafe_code)]

use super::records::Record;
use super::work::END;
use crate::errno::{self, Verdict};
use flashscope_device::{FileError, Step};
use rustix::fd::OwnedFd;
use rustix::fs::{FallocateFlags, fallocate, fstat};
use rustix::io::{Errno, pwrite};
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, msync, munmap};
use std::ffi::c_void;

/// A mapped file.
#[derive(Debug)]
pub(super) struct Map {
    start: *mut c_void,
    length: usize,
    _file: OwnedFd,
}

// SAFETY: the map belongs to this value alone and is only reached through `&mut self`; it is not bound to a thread.
unsafe impl Send for Map {}

impl Map {
    pub(super) fn new(file: OwnedFd, name: &str, write: bool, length: u64) -> Result<Map, FileError> {
        let failed = |operation| {
            move |error: Errno| {
                let (name, said) = (name.to_owned(), errno::describe(error));
                match errno::judge(error) {
                    Verdict::Failed => FileError::Failed { operation, name, said },
                    _ => FileError::System { operation, name, said },
                }
            }
        };
        if write {
            make_room(&file, length).map_err(failed("make room in"))?;
        }
        let there = fstat(&file).map_err(failed("look at"))?.st_size as u64;
        if there < length {
            let said = format!("{END}, at {there} of {length} bytes");
            return Err(FileError::System { operation: "map", name: name.to_owned(), said });
        }
        let protection = if write { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        let length = length as usize;
        // SAFETY: a new map where the kernel likes, of a file that is held open; shared with other programs as files are,
        // which is why it is only ever reached by copies through raw pointers, never as a slice.
        let start = unsafe { mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, &file, 0) }
            .map_err(failed("map"))?;
        Ok(Map { start, length, _file: file })
    }

    #[inline]
    pub(super) fn work(&mut self, step: Step, record: &mut Record) -> Result<(), String> {
        let length = record.bytes().len();
        let offset = step.offset as usize;
        if offset.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(END.to_owned());
        }
        // SAFETY: within the map, as was just checked.
        let place = unsafe { self.start.cast::<u8>().add(offset) };
        if step.write {
            // SAFETY: both are `length` bytes long and do not overlap; the map is writable, since steps that write come to
            // a file that was opened with a grant only.
            unsafe { std::ptr::copy_nonoverlapping(record.bytes().as_ptr(), place, length) };
        } else {
            // SAFETY: both are `length` bytes long, and a buffer of ours does not lie within the map.
            unsafe { std::ptr::copy_nonoverlapping(place, record.bytes_mut().as_mut_ptr(), length) };
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<(), String> {
        // SAFETY: the map as it was made.
        unsafe { msync(self.start, self.length, MsyncFlags::SYNC) }.map_err(errno::describe)
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the map as it was made; nobody reaches it any more.
        let _ = unsafe { munmap(self.start, self.length) };
    }
}

/// By the file system's own means, else by writing zeros beyond what is there.
fn make_room(file: &OwnedFd, length: u64) -> Result<(), Errno> {
    match fallocate(file, FallocateFlags::empty(), 0, length) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
        done => return done,
    }
    let mut at = fstat(file)?.st_size as u64;
    let zeros = vec![0; 1 << 20];
    while at < length {
        let part = (length - at).min(zeros.len() as u64) as usize;
        at += pwrite(file, &zeros[..part], at)? as u64;
    }
    Ok(())
}
