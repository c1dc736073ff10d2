//! Threads that do one thing after the other, all at once.

use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Puts the calling thread on one processor; whether the kernel agreed.
pub(crate) fn pin(processor: u32) -> bool {
    let mut set = CpuSet::new();
    if processor as usize >= CpuSet::MAX_CPU {
        return false;
    }
    set.set(processor as usize);
    sched_setaffinity(None, &set).is_ok()
}

/// Times something, and tells whether the thread ran throughout: time that another program had the processor is no memory's.
pub(crate) struct Watch {
    begun: Instant,
    used: Timespec,
}

/// Share of the time that a thread may not run and still count as running: clocks are read one after the other.
const IDLE: f64 = 0.02;

impl Watch {
    pub(crate) fn start() -> Watch {
        let used = clock_gettime(ClockId::ThreadCPUTime);
        Watch { begun: Instant::now(), used }
    }

    /// How long it took, and whether the thread ran all of that.
    pub(crate) fn stop(self) -> (Duration, bool) {
        let took = self.begun.elapsed();
        let now = clock_gettime(ClockId::ThreadCPUTime);
        let ran = (now.tv_sec - self.used.tv_sec) as f64 + (now.tv_nsec - self.used.tv_nsec) as f64 * 1e-9;
        (took, ran >= took.as_secs_f64() * (1.0 - IDLE))
    }
}

/// Where threads meet before each thing that they do at once.
pub(crate) struct Start {
    gather: Barrier,
    arrived: AtomicUsize,
    threads: usize,
}

impl Start {
    pub(crate) fn new(threads: usize) -> Start {
        Start { gather: Barrier::new(threads), arrived: AtomicUsize::new(0), threads }
    }

    /// Waits for all others. The kernel wakes sleepers one after the other, so that the last steps are waited for awake.
    pub(crate) fn wait(&self) {
        self.gather.wait();
        let mine = self.arrived.fetch_add(1, Ordering::AcqRel) + 1;
        let all = mine.div_ceil(self.threads) * self.threads;
        let mut turns = 0u32;
        while self.arrived.load(Ordering::Acquire) < all {
            turns += 1;
            // Where there are fewer processors than threads, somebody else has to get one.
            if turns.is_multiple_of(1 << 14) { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
    }
}

/// When a thread began something and when it had it done.
pub(crate) type Span = (Instant, Instant);

/// From the first beginning to the last end.
pub(crate) fn whole(spans: &[Span]) -> Duration {
    let begun = spans.iter().map(|span| span.0).min();
    let ended = spans.iter().map(|span| span.1).max();
    begun.zip(ended).map_or(Duration::ZERO, |(begun, ended)| ended - begun)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn nobody_goes_on_alone() {
        let (start, done) = (Start::new(3), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 0..50u32 {
                        start.wait();
                        done.fetch_add(1, Ordering::SeqCst);
                        start.wait();
                        assert_eq!(done.load(Ordering::SeqCst), 3 * (round + 1));
                    }
                });
            }
        });
    }

    #[test]
    fn a_span_is_that_of_all_threads() {
        let now = Instant::now();
        let at = |ms| now + Duration::from_millis(ms);
        assert_eq!(whole(&[(at(5), at(9)), (at(3), at(7))]), Duration::from_millis(6));
        assert_eq!(whole(&[]), Duration::ZERO);
    }
}
