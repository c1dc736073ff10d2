//! How much of a file lies in the page cache.
#![allow(unsafe_code)]

use flashscope_units::Bytes;
use rustix::fd::{AsFd, AsRawFd};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Pages of a range that are in memory, by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residency {
    /// In the page cache.
    pub cached: Bytes,
    /// Of these: not written back yet, under way included. `None` where the kernel cannot tell.
    pub dirty: Option<Bytes>,
}

/// `struct cachestat_range` of `linux/mman.h`.
#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

/// `struct cachestat` of the same.
#[repr(C)]
#[derive(Default)]
struct Stat {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// The same on every architecture, as all calls since 424.
const CACHESTAT: libc::c_long = 451;

/// What of a range of a file or block device is in the page cache: by `cachestat` (Linux 6.5 and later), else by
/// `mincore`, which cannot tell dirty pages. `None` where neither works.
pub(super) fn residency(file: impl AsFd, offset: u64, length: u64) -> Option<Residency> {
    by_cachestat(&file, offset, length).or_else(|| by_mincore(&file, offset, length))
}

fn by_cachestat(file: &impl AsFd, offset: u64, length: u64) -> Option<Residency> {
    let range = Range { offset, length };
    let mut stat = Stat::default();
    let file = file.as_fd().as_raw_fd();
    // SAFETY: the call reads one `Range` and writes one `Stat`, both of the kernel's layout and alive meanwhile.
    let answer = unsafe { libc::syscall(CACHESTAT, file, &raw const range, &raw mut stat, 0) };
    let page = rustix::param::page_size() as u64;
    (answer == 0).then(|| Residency {
        cached: Bytes(stat.cached * page),
        dirty: Some(Bytes((stat.dirty + stat.writeback) * page)),
    })
}

/// At a time, so that an hour-long scan of a terabyte needs little memory.
const WINDOW: u64 = 1 << 30;

fn by_mincore(file: &impl AsFd, offset: u64, length: u64) -> Option<Residency> {
    let page = rustix::param::page_size() as u64;
    let (mut at, end) = (offset / page * page, offset + length);
    let mut resident = 0;
    while at < end {
        let window = WINDOW.min(end - at) as usize;
        let mut pages = vec![0u8; window.div_ceil(page as usize)];
        // SAFETY: a new map without any access right, gone again below; `mincore` writes one byte per page of it.
        let answer = unsafe {
            let start = mmap(std::ptr::null_mut(), window, ProtFlags::empty(), MapFlags::SHARED, file, at).ok()?;
            let answer = libc::mincore(start.cast(), window, pages.as_mut_ptr());
            let _ = munmap(start, window);
            answer
        };
        if answer != 0 {
            return None;
        }
        resident += pages.iter().filter(|page| **page & 1 == 1).count() as u64;
        at += window as u64;
    }
    Some(Residency { cached: Bytes(resident * page), dirty: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Needs a file: the test's own binary, which must be in memory, as it runs.
    #[test]
    fn what_runs_is_in_memory_by_either_way() {
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        let length = file.metadata().unwrap().len();
        let ways = [by_cachestat(&file, 0, length), by_mincore(&file, 0, length)];
        let known: Vec<Residency> = ways.into_iter().flatten().collect();
        assert!(!known.is_empty());
        for found in known {
            assert!(found.cached > Bytes::ZERO && found.cached.get() <= length.next_multiple_of(1 << 16), "{found:?}");
        }
    }
}
