//! What a thread has cost.
#![allow(unsafe_code)]

use flashscope_units::Nanos;

/// Processor time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// All of it, exactly.
    pub total: Nanos,
    /// In the program.
    pub user: Nanos,
    /// In the kernel on its behalf.
    pub system: Nanos,
    /// Times that it gave the processor up, and that it was taken away.
    pub switches: (u64, u64),
}

impl CpuTime {
    /// Of the calling thread, since it began.
    pub fn of_this_thread() -> CpuTime {
        // SAFETY: all-zero is a valid `rusage`, which the call fills; it keeps no pointer.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
            usage
        };
        let time = |value: libc::timeval| Nanos(value.tv_sec as u64 * 1_000_000_000 + value.tv_usec as u64 * 1_000);
        // The times of `getrusage` are as old as the last tick, and divided by where the ticks found the thread.
        let total = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        CpuTime {
            total: Nanos(total.tv_sec as u64 * 1_000_000_000 + total.tv_nsec as u64),
            user: time(usage.ru_utime),
            system: time(usage.ru_stime),
            switches: (usage.ru_nvcsw as u64, usage.ru_nivcsw as u64),
        }
    }

    /// From `earlier` to `self`.
    pub fn since(self, earlier: CpuTime) -> CpuTime {
        CpuTime {
            total: self.total.saturating_sub(earlier.total),
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
            switches: (self.switches.0 - earlier.switches.0, self.switches.1 - earlier.switches.1),
        }
    }
}
