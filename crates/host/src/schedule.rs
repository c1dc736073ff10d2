//! Going before others when a timer fires.
#![allow(unsafe_code)]

use crate::errno;
use rustix::io::Errno;
use std::num::NonZeroU64;

/// The lowest priority of `SCHED_FIFO`: before all that is not real-time, behind all that is.
const LOWEST: libc::c_int = 1;

/// From now on this thread, and those that it starts, run as soon as they can, before every thread of the usual kind
/// (`SCHED_FIFO`). For threads that mostly sleep: one that works without end takes a processor for itself.
///
/// # Errors
/// What the kernel said; it needs root or `CAP_SYS_NICE`.
pub fn run_before_others() -> Result<(), String> {
    // By number, since musl's function of the name does nothing.
    let priority = LOWEST;
    // SAFETY: the kernel reads one `struct sched_param`, which is one `int`, through the pointer and keeps nothing; 0 is
    // the calling thread.
    let result = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_FIFO, &raw const priority) };
    if result == 0 {
        return Ok(());
    }
    let said = std::io::Error::last_os_error();
    Err(Errno::from_io_error(&said).map_or_else(|| said.to_string(), errno::describe))
}

/// Timers of the calling thread, and of those that it starts, fire when they are due; by default the kernel lets them be up to
/// 50 µs late, to join others. Where the kernel refuses, it stays as it was.
pub fn exact_timers() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_inherit_it() {
        let policy =
            |thread: &str| std::fs::read_to_string(format!("/proc/{thread}/stat")).map(|stat| policy_of(&stat));
        let asked = std::thread::spawn(move || {
            let asked = run_before_others();
            let child = std::thread::spawn(move || policy("thread-self").unwrap());
            (asked, policy("thread-self").unwrap(), child.join().unwrap())
        });
        match asked.join().unwrap() {
            (Ok(()), own, child) => assert_eq!((own, child), (1, 1)),
            (Err(why), own, child) => {
                assert_eq!((own, child), (0, 0));
                assert!(why.starts_with("EPERM"), "{why}");
            }
        }
        assert_eq!(policy("thread-self").unwrap(), 0);
    }

    /// Field 41 of proc_pid_stat(5); the name in field 2 may hold blanks.
    fn policy_of(stat: &str) -> u32 {
        let behind_name = &stat[stat.rfind(')').unwrap() + 2..];
        behind_name.split(' ').nth(41 - 3).unwrap().parse().unwrap()
    }
}
