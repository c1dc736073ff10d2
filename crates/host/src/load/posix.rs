//! The C library's asynchronous I/O (`aio_read` and its like), which its own threads carry out. glibc works off the requests
//! of one open file one after another, however many there are.
#![allow(unsafe_code)]

use flashscope_units::Nanos;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// `aio_read`.
    Read,
    /// `aio_write`.
    Write,
    /// `aio_fsync`, of the data.
    Sync,
}

/// One request. Boxed, as the library keeps its address; leaked where it is dropped while the library still has it.
pub(super) struct Block {
    block: Option<Box<libc::aiocb>>,
    running: bool,
}

// SAFETY: the block is reached through `&mut` only; what it points to is its owner's to look after.
unsafe impl Send for Block {}

impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Block").field("running", &self.running).finish_non_exhaustive()
    }
}

impl Block {
    pub(super) fn new() -> Block {
        // SAFETY: a block of zeros asks for nothing; all its fields are plain numbers and pointers.
        Block { block: Some(Box::new(unsafe { std::mem::zeroed() })), running: false }
    }

    /// Whether it was handed over and its end was not yet seen.
    pub(super) fn is_running(&self) -> bool {
        self.running
    }

    /// Hands a request over.
    ///
    /// # Safety
    /// Until [`Block::ended`] has said so, the memory stays where it is and nobody touches it.
    pub(super) unsafe fn start(
        &mut self,
        call: Call,
        file: &OwnedFd,
        offset: u64,
        memory: &mut [u8],
    ) -> Result<(), Errno> {
        let Some(block) = self.block.as_deref_mut().filter(|_| !self.running) else { return Err(Errno::BUSY) };
        block.aio_fildes = file.as_raw_fd();
        // Where the C library counts in 32 bits, a place beyond that must not become another one.
        block.aio_offset = offset.try_into().map_err(|_| Errno::OVERFLOW)?;
        block.aio_nbytes = memory.len();
        block.aio_buf = memory.as_mut_ptr().cast();
        block.aio_sigevent.sigev_notify = libc::SIGEV_NONE;
        // SAFETY: the block is boxed, and neither changed nor freed while it is running; the rest is the caller's promise.
        let asked = unsafe {
            match call {
                Call::Read => libc::aio_read(&raw mut *block),
                Call::Write => libc::aio_write(&raw mut *block),
                Call::Sync => libc::aio_fsync(libc::O_DSYNC, &raw mut *block),
            }
        };
        if asked != 0 {
            return Err(last());
        }
        self.running = true;
        Ok(())
    }

    /// What came of the request, told once; `None` while it goes on, or where there is none.
    pub(super) fn ended(&mut self) -> Option<Result<usize, Errno>> {
        let block = self.block.as_deref_mut().filter(|_| self.running)?;
        // SAFETY: a block that was handed over before.
        let state = unsafe { libc::aio_error(block) };
        if state == libc::EINPROGRESS {
            return None;
        }
        self.running = false;
        // SAFETY: a block whose request is over, asked for the first and only time.
        let moved = unsafe { libc::aio_return(block) };
        Some(match state {
            0 => usize::try_from(moved).map_err(|_| Errno::IO),
            error => Err(Errno::from_raw_os_error(error)),
        })
    }

    /// What [`suspend`] is given of it: nothing where it is not running.
    pub(super) fn listed(&self) -> *const libc::aiocb {
        self.block.as_deref().filter(|_| self.running).map_or(std::ptr::null(), std::ptr::from_ref)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.running
            && let Some(block) = self.block.take()
        {
            Box::leak(block);
        }
    }
}

/// Sleeps until one of the blocks has ended, or for the given time; may return before. The list is what [`Block::listed`] gave, of blocks that are
/// still there; empty places in it are passed over.
pub(super) fn suspend(list: &[*const libc::aiocb], limit: Option<Nanos>) {
    let limit = limit.map(|limit| libc::timespec {
        tv_sec: (limit.get() / 1_000_000_000) as _,
        tv_nsec: (limit.get() % 1_000_000_000) as _,
    });
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: a list of blocks that were handed over, and a time or none. That it is interrupted does no harm, as the caller looks
    // again at what has ended.
    unsafe { libc::aio_suspend(list.as_ptr(), list.len() as i32, limit) };
}

/// The error of the last call of this thread.
fn last() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}
