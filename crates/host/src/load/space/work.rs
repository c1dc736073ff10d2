//! One file opened in one way, and passes along it.

use super::map::Map;
use super::queue::Queue;
use super::records::{Record, each};
use super::stdio::Stream;
use crate::errno;
use flashscope_device::{FileError, FileOpening, FileWay, FileWork, Passed, Step};
use rustix::fd::OwnedFd;
use rustix::fs::{SeekFrom, fsync, seek};
use rustix::io::{Errno, pread, preadv, pwrite, pwritev, read, write};
use std::io::{IoSlice, IoSliceMut};
use std::sync::atomic::AtomicBool;

/// A file opened in one way.
#[derive(Debug)]
pub struct HostFile {
    way: Way,
    record: Record,
    check: bool,
}

#[derive(Debug)]
enum Way {
    /// And where the file stands.
    Plain(OwnedFd, u64),
    Positioned(OwnedFd),
    Vectored(OwnedFd),
    Stdio(Stream),
    Map(Map),
    Async(Queue),
}

impl HostFile {
    pub(super) fn new(file: OwnedFd, name: &str, opening: &FileOpening) -> Result<HostFile, FileError> {
        let length = opening.record.get() as usize;
        let write = opening.grant.is_some();
        let way = match opening.way {
            FileWay::Plain => Way::Plain(file, 0),
            FileWay::Positioned => Way::Positioned(file),
            FileWay::Vectored => Way::Vectored(file),
            FileWay::Stdio => Way::Stdio(Stream::new(file, name, write, length)?),
            FileWay::Map => Way::Map(Map::new(file, name, write, opening.length.get())?),
            FileWay::Async { depth, copy } => Way::Async(Queue::new(file, depth, copy, length)?),
        };
        Ok(HostFile { way, record: Record::new(length), check: opening.check })
    }
}

impl FileWork for HostFile {
    fn pass(&mut self, steps: impl Iterator<Item = Step>, stop: &AtomicBool) -> Passed {
        let (record, check) = (&mut self.record, self.check);
        match &mut self.way {
            Way::Plain(file, at) => each(steps, stop, record, check, |step, record| plain(file, at, step, record)),
            Way::Positioned(file) => each(steps, stop, record, check, |step, record| positioned(file, step, record, 0)),
            Way::Vectored(file) => each(steps, stop, record, check, |step, record| vectored(file, step, record)),
            Way::Stdio(stream) => each(steps, stop, record, check, |step, record| stream.work(step, record)),
            Way::Map(map) => each(steps, stop, record, check, |step, record| map.work(step, record)),
            Way::Async(queue) => queue.pass(steps, stop, record, check),
        }
    }

    fn flush(&mut self) -> Result<(), String> {
        match &mut self.way {
            Way::Plain(file, _) | Way::Positioned(file) | Way::Vectored(file) => fsync(&*file).map_err(errno::describe),
            Way::Stdio(stream) => stream.flush(),
            Way::Map(map) => map.flush(),
            Way::Async(queue) => fsync(queue.file()).map_err(errno::describe),
        }
    }

    fn close(self) -> Result<(), String> {
        match self.way {
            // The kernel has nothing to say on closing but to those whose file lies elsewhere, and then fsync says it, too.
            Way::Plain(file, _) | Way::Positioned(file) | Way::Vectored(file) => drop(file),
            Way::Stdio(stream) => return stream.close(),
            Way::Map(map) => drop(map),
            Way::Async(queue) => drop(queue),
        }
        Ok(())
    }
}

/// `read` or `write` where the file stands, after `lseek` where that is elsewhere.
#[inline]
fn plain(file: &OwnedFd, at: &mut u64, step: Step, record: &mut Record) -> Result<(), String> {
    if *at != step.offset {
        seek(file, SeekFrom::Start(step.offset)).map_err(errno::describe)?;
        *at = step.offset;
    }
    let mut done = 0;
    while done < record.bytes().len() {
        let moved = match step.write {
            true => write(file, &record.bytes()[done..]),
            false => read(file, &mut record.bytes_mut()[done..]),
        };
        done += more(moved)?;
    }
    *at += done as u64;
    Ok(())
}

/// `pread` or `pwrite`, from `done` bytes of the record on.
#[inline]
fn positioned(file: &OwnedFd, step: Step, record: &mut Record, mut done: usize) -> Result<(), String> {
    while done < record.bytes().len() {
        let offset = step.offset + done as u64;
        let moved = match step.write {
            true => pwrite(file, &record.bytes()[done..], offset),
            false => pread(file, &mut record.bytes_mut()[done..], offset),
        };
        done += more(moved)?;
    }
    Ok(())
}

/// Most pieces of a request.
const PIECES: usize = 16;

/// `preadv` or `pwritev`, the record in as many pieces of whole pages as it has, sixteen at most.
#[inline]
fn vectored(file: &OwnedFd, step: Step, record: &mut Record) -> Result<(), String> {
    let length = record.bytes().len();
    let piece = length.div_ceil(PIECES).next_multiple_of(4096);
    let moved = if step.write {
        let mut pieces = record.bytes().chunks(piece);
        let pieces: [IoSlice<'_>; PIECES] = std::array::from_fn(|_| IoSlice::new(pieces.next().unwrap_or_default()));
        pwritev(file, &pieces[..length.div_ceil(piece)], step.offset)
    } else {
        let mut pieces = record.bytes_mut().chunks_mut(piece);
        let mut pieces: [IoSliceMut<'_>; PIECES] =
            std::array::from_fn(|_| IoSliceMut::new(pieces.next().unwrap_or_default()));
        preadv(file, &mut pieces[..length.div_ceil(piece)], step.offset)
    };
    positioned(file, step, record, more(moved)?)
}

/// What one call moved; an interrupted one moved nothing.
#[inline]
pub(super) fn more(moved: Result<usize, Errno>) -> Result<usize, String> {
    match moved {
        Ok(0) => Err(END.to_owned()),
        Ok(moved) => Ok(moved),
        Err(Errno::INTR) => Ok(0),
        Err(error) => Err(errno::describe(error)),
    }
}

/// Why a request behind the end of a file fails.
pub(super) const END: &str = "the file ends here";
