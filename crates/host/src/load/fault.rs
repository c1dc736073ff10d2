//! Loads and stores on a memory map that the kernel cannot serve: an outcome instead of the end of the program.
//!
//! Where a page cannot be read, or no room found for it, the kernel sends `SIGBUS` to the thread that touched it. The handler
//! here puts an empty page in its place, so that the copy goes on, and notes it; whoever copied then knows that what was
//! copied is worth nothing, and maps the file there again ([`super::mapped`]). A `SIGBUS` from anywhere else goes to
//! whoever was asked before, which ends the program as ever.
#![allow(unsafe_code)]

use rustix::io::Errno;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, compiler_fence};

/// What one thread copies to or from at the moment.
struct Watched {
    start: AtomicUsize,
    end: AtomicUsize,
    torn: AtomicBool,
}

thread_local! {
    // Made without running code, so that a handler may look at it.
    static WATCHED: Watched =
        const { Watched { start: AtomicUsize::new(0), end: AtomicUsize::new(0), torn: AtomicBool::new(false) } };
}

/// Size of a page of memory, in bytes.
static PAGE: AtomicUsize = AtomicUsize::new(4096);
/// The handler that was there before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Installs the handler, once per process. Without it [`copy`] must not be used.
pub(super) fn catch() -> Result<(), Errno> {
    /// What came of installing the handler.
    static INSTALLED: OnceLock<Result<(), Errno>> = OnceLock::new();
    *INSTALLED.get_or_init(|| {
        PAGE.store(rustix::param::page_size(), Ordering::Relaxed);
        // SAFETY: a description of zeros asks for nothing; all its fields are numbers and an optional pointer.
        let (mut ours, mut before): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
        ours.sa_sigaction = on_fault as *const () as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: both are descriptions of this function's own; the handler does only what a handler may.
        if unsafe { libc::sigaction(libc::SIGBUS, &ours, &mut before) } != 0 {
            return Err(last());
        }
        let _ = BEFORE.set(before);
        Ok(())
    })
}

/// Copies; false where a page of the map could not be had, and what was copied is worth nothing.
///
/// # Safety
/// As [`std::ptr::copy_nonoverlapping`]. `map` is the address of the side that is a memory map of the caller's own, which nobody
/// else uses, and whose pages it maps again after a failure.
#[inline]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, length: usize, map: usize) -> bool {
    WATCHED.with(|watched| {
        watched.end.store(map + length, Ordering::Relaxed);
        watched.start.store(map, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, to, length) };
        compiler_fence(Ordering::SeqCst);
        watched.end.store(0, Ordering::Relaxed);
        let torn = watched.torn.load(Ordering::Relaxed);
        if torn {
            watched.torn.store(false, Ordering::Relaxed);
        }
        !torn
    })
}

extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel hands a valid description of the signal over; of SIGBUS it has an address.
    let at = unsafe { (*info).si_addr() } as usize;
    let ours = WATCHED.with(|watched| {
        let watches = watched.start.load(Ordering::Relaxed) <= at && at < watched.end.load(Ordering::Relaxed);
        watches && empty_page(at) && {
            watched.torn.store(true, Ordering::Relaxed);
            true
        }
    });
    if !ours {
        pass_on(signal, info, context);
    }
}

/// Puts an empty page where `at` lies.
fn empty_page(at: usize) -> bool {
    let size = PAGE.load(Ordering::Relaxed);
    let page = (at & !(size - 1)) as *mut c_void;
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED);
    // SAFETY: the page belongs to a memory map that this very thread was copying from or to, by raw pointers; nothing else
    // refers to it. The call is one to the kernel and nothing more, and what it does to errno is undone.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let put = libc::mmap(page, size, access, kind, -1, 0);
        *errno = before;
        put == page
    }
}

/// To whoever was asked before; where that is nobody, the fault comes again and ends the program.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let before = BEFORE.get().filter(|before| !matches!(before.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN));
    match before {
        // SAFETY: it was installed as a handler of this form.
        Some(before) if before.sa_flags & libc::SA_SIGINFO != 0 => unsafe {
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                std::mem::transmute(before.sa_sigaction);
            handler(signal, info, context);
        },
        // SAFETY: as above, of the other form.
        Some(before) => unsafe {
            let handler: extern "C" fn(c_int) = std::mem::transmute(before.sa_sigaction);
            handler(signal);
        },
        // SAFETY: nothing but a number is passed.
        None => unsafe {
            libc::signal(signal, libc::SIG_DFL);
        },
    }
}

fn last() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)
}
