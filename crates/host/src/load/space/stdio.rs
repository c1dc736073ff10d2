//! The C library's streams, with a buffer of one record.
#![allow(unsafe_code)]

use super::records::Record;
use super::work::END;
use crate::buffer::AlignedBuffer;
use crate::errno;
use flashscope_device::{FileError, Step};
use rustix::fd::{IntoRawFd, OwnedFd};
use rustix::io::Errno;
use std::ptr::NonNull;

/// An open stream.
#[derive(Debug)]
pub(super) struct Stream {
    stream: NonNull<libc::FILE>,
    /// What the stream buffers in: it must live as long, and is not touched meanwhile.
    _buffer: AlignedBuffer,
    at: u64,
}

// SAFETY: the stream belongs to this value alone; the C library's streams are not bound to a thread.
unsafe impl Send for Stream {}

impl Stream {
    pub(super) fn new(file: OwnedFd, name: &str, write: bool, record: usize) -> Result<Stream, FileError> {
        let failed = |operation| FileError::System { operation, name: name.to_owned(), said: last() };
        let mode = if write { c"r+" } else { c"r" };
        let file = file.into_raw_fd();
        // SAFETY: an open descriptor that nobody else owns any more, and a mode that ends in a zero byte.
        let stream = NonNull::new(unsafe { libc::fdopen(file, mode.as_ptr()) });
        let Some(stream) = stream else {
            let error = failed("open a stream of");
            // SAFETY: `fdopen` failed, so the descriptor is still ours alone.
            unsafe { libc::close(file) };
            return Err(error);
        };
        let mut buffer = AlignedBuffer::new(record);
        let room = buffer.part_mut(0, record).as_mut_ptr().cast();
        // SAFETY: a new stream that was not used yet, and `record` bytes that live as long as it does: `Stream` holds both,
        // and closes the stream before the memory goes.
        if unsafe { libc::setvbuf(stream.as_ptr(), room, libc::_IOFBF, record) } != 0 {
            let error = failed("buffer");
            // SAFETY: open, and not used again.
            unsafe { libc::fclose(stream.as_ptr()) };
            return Err(error);
        }
        Ok(Stream { stream, _buffer: buffer, at: 0 })
    }

    #[inline]
    pub(super) fn work(&mut self, step: Step, record: &mut Record) -> Result<(), String> {
        let stream = self.stream.as_ptr();
        if self.at != step.offset {
            // Where the C library counts in 32 bits, a place beyond that must not become another one.
            let offset = step.offset.try_into().map_err(|_| errno::describe(Errno::OVERFLOW))?;
            // SAFETY: an open stream.
            if unsafe { libc::fseeko(stream, offset, libc::SEEK_SET) } != 0 {
                return Err(last());
            }
        }
        let length = record.bytes().len();
        let moved = if step.write {
            // SAFETY: an open stream, and `length` bytes to read from.
            unsafe { libc::fwrite(record.bytes().as_ptr().cast(), 1, length, stream) }
        } else {
            // SAFETY: an open stream, and `length` bytes to write to.
            unsafe { libc::fread(record.bytes_mut().as_mut_ptr().cast(), 1, length, stream) }
        };
        self.at = step.offset + moved as u64;
        if moved == length {
            return Ok(());
        }
        // SAFETY: an open stream.
        Err(if unsafe { libc::feof(stream) } != 0 { END.to_owned() } else { last() })
    }

    pub(super) fn flush(&mut self) -> Result<(), String> {
        // SAFETY: an open stream, whose descriptor stays open meanwhile.
        let done =
            unsafe { libc::fflush(self.stream.as_ptr()) == 0 && libc::fsync(libc::fileno(self.stream.as_ptr())) == 0 };
        if done { Ok(()) } else { Err(last()) }
    }

    pub(super) fn close(self) -> Result<(), String> {
        let stream = self.stream.as_ptr();
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: open, and not used again, since its drop does not run; the buffer is taken out of what is not dropped,
        // once, and goes after the stream is closed.
        let (closed, buffer) = unsafe { (libc::fclose(stream), std::ptr::read(&raw const this._buffer)) };
        let result = if closed == 0 { Ok(()) } else { Err(last()) };
        drop(buffer);
        result
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: open, and not used again; the buffer goes after this.
        unsafe { libc::fclose(self.stream.as_ptr()) };
    }
}

/// The error of the last call of this thread.
fn last() -> String {
    let error = std::io::Error::last_os_error();
    Errno::from_io_error(&error).map_or_else(|| error.to_string(), errno::describe)
}
