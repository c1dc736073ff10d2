//! Loads and stores on a shared memory map of a file.
//!
//! Room is made in the file before it is mapped, so that a store does not have to look for it.

use super::super::mapped::{Mapped, Torn};
use super::super::opened::Opened;
use super::records::Record;
use super::work::END;
use crate::errno::{self, Verdict};
use flashscope_device::{FileError, Step};
use rustix::fd::OwnedFd;
use rustix::fs::{FallocateFlags, fallocate, fstat};
use rustix::io::{Errno, pwrite};
use std::sync::Arc;

/// A mapped file.
#[derive(Debug)]
pub(super) struct Map {
    map: Mapped,
    length: u64,
}

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
        let map = Mapped::new(Arc::new(Opened::new(vec![file], length)), write).map_err(failed("map"))?;
        Ok(Map { map, length })
    }

    #[inline]
    pub(super) fn work(&mut self, step: Step, record: &mut Record) -> Result<(), String> {
        if step.offset.checked_add(record.bytes().len() as u64).is_none_or(|end| end > self.length) {
            return Err(END.to_owned());
        }
        let copied = match step.write {
            true => self.map.write(step.offset, record.bytes()),
            false => self.map.read(step.offset, record.bytes_mut()),
        };
        copied.map_err(|Torn| Torn::SAID.to_owned())
    }

    pub(super) fn flush(&mut self) -> Result<(), String> {
        self.map.flush().map_err(errno::describe)
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
