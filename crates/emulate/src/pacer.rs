//! Sends answers when they are due: sleeps until shortly before, then spins.
//!
//! One thread for all answers of a device, so that however deep the queue is, only one core spins. A read's bytes are put
//! together before the wait.

use crate::clock::PacedClock;
use crate::disk::{Disk, Origin, RequestError};
use crate::gate::Promised;
use crate::log::Served;
use crate::meter::Meter;
use flashscope_units::{Instant, Nanos};
use fuser::{Errno, ReplyData, ReplyEmpty, ReplyWrite};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How late sleeps end on a quiet machine whose processors do not halt; the spin covers it. Where sleeps end later, it
/// grows: eight cards at once were 5 to 6 % late with spins of 60 µs, since each of them takes a processor from the others.
const SHORTEST_SPIN: Nanos = Nanos::micros(8);
/// Longest spin: beyond it a card takes too much of a processor.
const LONGEST_SPIN: Nanos = Nanos::micros(120);

/// What is to be said to the kernel.
#[derive(Debug)]
pub(crate) enum Answer {
    Read { reply: ReplyData, length: usize, found: Vec<(u64, Origin)> },
    Write { reply: ReplyWrite, length: u32 },
    Done { reply: ReplyEmpty },
}

/// An answer, or why there is none, with its time.
#[derive(Debug)]
pub(crate) struct Due {
    pub(crate) at: Instant,
    pub(crate) result: Result<(), RequestError>,
    /// What a power cut may take back; absent where it is not the device's.
    pub(crate) promised: Option<Promised>,
    pub(crate) answer: Answer,
    /// What the device was asked; absent where it is not the device's.
    pub(crate) served: Option<Served>,
}

impl Due {
    /// Puts a read's bytes together.
    pub(crate) fn prepare(&self, disk: &Disk, into: &mut Vec<u8>) -> Result<(), RequestError> {
        self.result?;
        let Answer::Read { length, found, .. } = &self.answer else { return Ok(()) };
        into.resize(*length, 0);
        disk.bytes(found, into).map_err(|_| RequestError::Failed)
    }

    /// What may be said of it now: as it was prepared, unless the power went meanwhile.
    pub(crate) fn admit(&mut self, disk: &Disk, prepared: Result<(), RequestError>) -> Result<(), RequestError> {
        let Some(promised) = self.promised else { return prepared };
        let admitted = disk.gate.pass(promised, prepared);
        self.result = admitted;
        admitted
    }

    /// Says it.
    pub(crate) fn send(self, prepared: Result<(), RequestError>, bytes: &[u8]) {
        match (self.answer, prepared.map_err(errno)) {
            (Answer::Read { reply, length, .. }, Ok(())) => reply.data(&bytes[..length]),
            (Answer::Write { reply, length }, Ok(())) => reply.written(length),
            (Answer::Done { reply }, Ok(())) => reply.ok(),
            (Answer::Read { reply, .. }, Err(errno)) => reply.error(errno),
            (Answer::Write { reply, .. }, Err(errno)) => reply.error(errno),
            (Answer::Done { reply }, Err(errno)) => reply.error(errno),
        }
    }
}

fn errno(error: RequestError) -> Errno {
    match error {
        RequestError::Failed => Errno::EIO,
        RequestError::Gone => Errno::ENODEV,
        RequestError::Invalid => Errno::EINVAL,
        RequestError::NoRoom => Errno::ENOSPC,
    }
}

/// The answers that wait.
#[derive(Debug)]
pub(crate) struct Pacer {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    /// Counts changes of the first one, so that a spinning thread notices.
    first: AtomicU64,
}

#[derive(Debug, Default)]
struct Waiting {
    heap: BinaryHeap<Entry>,
    number: u64,
    ended: bool,
}

impl Pacer {
    /// Nothing waits.
    pub(crate) fn new() -> Pacer {
        Pacer { waiting: Mutex::new(Waiting::default()), changed: Condvar::new(), first: AtomicU64::new(0) }
    }

    /// Adds an answer.
    pub(crate) fn push(&self, due: Due) {
        let mut waiting = self.waiting();
        waiting.number += 1;
        let number = waiting.number;
        waiting.heap.push(Entry { number, due });
        if waiting.heap.peek().is_some_and(|entry| entry.number == number) {
            self.first.fetch_add(1, Relaxed);
            drop(waiting);
            self.changed.notify_one();
        }
    }

    /// What waits is sent at once, and [`run`](Pacer::run) returns.
    pub(crate) fn end(&self) {
        self.waiting().ended = true;
        self.changed.notify_one();
    }

    /// Sends what becomes due, until the end.
    pub(crate) fn run(&self, disk: &Disk, clock: PacedClock, meter: &Meter) {
        let mut bytes = Vec::new();
        let mut prepared: Option<(u64, Result<(), RequestError>)> = None;
        let mut spin = SHORTEST_SPIN;
        let mut waiting = self.waiting();
        loop {
            let Some(entry) = waiting.heap.peek() else {
                if waiting.ended {
                    return;
                }
                waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let (at, number) = (entry.due.at, entry.number);
            let ready = match prepared {
                Some((ready, result)) if ready == number => result,
                _ => {
                    let result = entry.due.prepare(disk, &mut bytes);
                    prepared = Some((number, result));
                    result
                }
            };
            let left = Nanos(at.0.saturating_sub(clock.now().0));
            if left == Nanos::ZERO || waiting.ended {
                let Some(mut entry) = waiting.heap.pop() else { continue };
                drop(waiting);
                let ready = entry.due.admit(disk, ready);
                meter.sent(&entry.due, clock.now());
                entry.due.send(ready, &bytes);
                waiting = self.waiting();
            } else if left > spin {
                let asleep = left - spin;
                let until = clock.now() + asleep;
                let (guard, slept) = self
                    .changed
                    .wait_timeout(waiting, Duration::from_nanos(asleep.get()))
                    .unwrap_or_else(PoisonError::into_inner);
                waiting = guard;
                if slept.timed_out() {
                    spin = adapted(spin, Nanos(clock.now().0.saturating_sub(until.0)));
                }
            } else {
                let first = self.first.load(Relaxed);
                drop(waiting);
                while clock.now() < at && self.first.load(Relaxed) == first {
                    spin_loop();
                }
                waiting = self.waiting();
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Twice what a sleep was late, at once upwards, slowly downwards.
fn adapted(spin: Nanos, late: Nanos) -> Nanos {
    let wanted = late * 2;
    let next = if wanted > spin { wanted } else { spin - (spin - wanted) / 64 };
    next.clamp(SHORTEST_SPIN, LONGEST_SPIN)
}

#[derive(Debug)]
struct Entry {
    number: u64,
    due: Due,
}

impl Ord for Entry {
    /// The one that is due first is the greatest, then the one that came first.
    fn cmp(&self, other: &Entry) -> Ordering {
        (other.due.at, other.number).cmp(&(self.due.at, self.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spin_grows_at_once_and_shrinks_slowly() {
        let check = |spin, late, expect| {
            assert_eq!(adapted(Nanos::micros(spin), Nanos::micros(late)), Nanos::micros(expect), "{spin} {late}");
        };
        check(8, 3, 8);
        check(60, 30, 60);
        check(60, 45, 90);
        check(60, 500, 120);
        assert!(adapted(Nanos::micros(120), Nanos::ZERO) > Nanos::micros(110));
    }
}
