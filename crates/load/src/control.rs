//! What workers and whoever watches them share: a flag to stop, and how far each has come.

use crate::record::{Recorder, Trace};
use crate::worker::Worker;
use flashscope_units::{Instant, Nanos};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How often a worker lays a copy of its notes where others can read it, should it never come back: at first often, so that
/// little is lost where it hangs early, and then less and less, as a copy takes time.
const PUBLISH_EVERY: [Nanos; 2] = [Nanos::millis(50), Nanos::secs(1)];

/// Shared by the workers of one phase and their watcher.
pub struct Control {
    stop: AtomicBool,
    places: Vec<Place>,
    patience: Nanos,
}

/// On a cache line of its own, so that workers do not slow each other down.
#[repr(align(128))]
struct Place {
    requests: AtomicU64,
    bytes: AtomicU64,
    /// Time of the last completion plus one, 0 before it began and after it was done.
    alive: AtomicU64,
    publish_next: AtomicU64,
    copy: Mutex<Recorder>,
}

/// How far a worker has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Requests counted.
    pub requests: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// When it was last heard of; `None` before its first turn and after its last.
    pub alive: Option<Instant>,
}

impl Control {
    /// For so many workers; `open` as in [`Recorder::new`]. Workers that sleep look up at least every `patience`.
    pub fn new(open: &[bool], patience: Nanos) -> Control {
        let place = |open: &bool| Place {
            requests: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            alive: AtomicU64::new(0),
            publish_next: AtomicU64::new(0),
            copy: Mutex::new(Recorder::new(*open, Trace::new(0, None))),
        };
        Control { stop: AtomicBool::new(false), places: open.iter().map(place).collect(), patience }
    }

    /// Asks all workers to stop.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether they were asked to.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// How long a worker may sleep without looking up.
    pub fn patience(&self) -> Nanos {
        self.patience
    }

    /// How far the worker at `place` has come.
    pub fn progress(&self, place: usize) -> Progress {
        let place = &self.places[place];
        let alive = place.alive.load(Ordering::Relaxed);
        Progress {
            requests: place.requests.load(Ordering::Relaxed),
            bytes: place.bytes.load(Ordering::Relaxed),
            alive: alive.checked_sub(1).map(Instant),
        }
    }

    /// The last copy of a worker's notes: what is left of one that hangs.
    pub fn last_copy(&self, place: usize, open: bool) -> Recorder {
        let mut kept = Recorder::new(open, Trace::new(0, None));
        let copy = self.places[place].copy.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        kept.copy_from(&copy);
        kept
    }

    #[inline]
    pub(crate) fn tick(&self, place: usize, worker: &Worker, now: Instant) {
        let mine = &self.places[place];
        let (requests, bytes) = worker.counted();
        mine.requests.store(requests, Ordering::Relaxed);
        mine.bytes.store(bytes, Ordering::Relaxed);
        mine.alive.store(now.0 + 1, Ordering::Relaxed);
        if now.0 >= mine.publish_next.load(Ordering::Relaxed) {
            let [often, seldom] = PUBLISH_EVERY;
            let every = now.since(worker.recorder().from).clamp(often, seldom);
            mine.publish_next.store(now.0 + every.get(), Ordering::Relaxed);
            if requests > 0 {
                self.publish(place, worker);
            }
        }
    }

    /// The worker is done: what it counted is all there will be, and nobody waits for it any more.
    #[cold]
    pub(crate) fn done(&self, place: usize, worker: &Worker) {
        let (requests, bytes) = worker.counted();
        let mine = &self.places[place];
        mine.requests.store(requests, Ordering::Relaxed);
        mine.bytes.store(bytes, Ordering::Relaxed);
        mine.alive.store(0, Ordering::Relaxed);
        self.publish(place, worker);
    }

    #[cold]
    pub(crate) fn publish(&self, place: usize, worker: &Worker) {
        if let Ok(mut copy) = self.places[place].copy.try_lock() {
            copy.copy_from(worker.recorder());
        }
    }
}
