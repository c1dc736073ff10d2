//! The loop that measures on a host, at 70 % load, on a lane that stalls for 100 ms now and then in a time of its own: response
//! times are those that users see, whatever the queue, and a loop that leaves out what was due meanwhile is told apart.

use flashscope_device::{DeviceError, FailureDetail, Lane, LaneCompletion, Request, Status, Wait};
use flashscope_load::control::Control;
use flashscope_load::drive::drive;
use flashscope_load::job::{Arrivals, Job, Spacing};
use flashscope_load::plan::{Limits, resolve};
use flashscope_load::record::{Recorder, Trace};
use flashscope_load::worker::Worker;
use flashscope_units::{Bytes, Instant, Nanos};
use std::collections::VecDeque;

const REQUESTS: u64 = 200_000;

/// What the `index`-th request takes.
fn takes(index: u64) -> Nanos {
    if index % 20_000 == 10_000 { Nanos::millis(100) } else { Nanos::micros(100) }
}

/// Serves one request after another, in a time that only it moves.
#[derive(Default)]
struct Stalling {
    now: u64,
    free: u64,
    served: u64,
    pushed: Vec<u32>,
    /// Slot, when it was handed over, when it ends.
    queue: VecDeque<(u32, u64, u64)>,
}

impl Lane for Stalling {
    fn now(&self) -> Instant {
        Instant(self.now)
    }
    fn push(&mut self, request: &Request) {
        self.pushed.push(request.id() as u32);
    }
    fn turn(&mut self, wait: Wait, mut complete: impl FnMut(LaneCompletion)) -> Result<Instant, DeviceError> {
        for slot in self.pushed.drain(..) {
            self.free = self.free.max(self.now) + takes(self.served).0;
            self.served += 1;
            self.queue.push_back((slot, self.now, self.free));
        }
        let end = |nth: usize| self.queue.get(nth.min(self.queue.len()).saturating_sub(1)).map(|(.., end)| *end);
        self.now = match wait {
            Wait::Not => self.now,
            Wait::For(count) => self.now.max(end(count as usize).unwrap_or(0)),
            Wait::Until(at) => self.now.max(end(1).map_or(at.0, |end| end.min(at.0))),
        };
        while let Some(&(slot, issued, end)) = self.queue.front().filter(|(.., end)| *end <= self.now) {
            self.queue.pop_front();
            complete(LaneCompletion {
                slot,
                issued: Instant(issued),
                completed: Instant(end),
                status: Status::Success,
            });
        }
        Ok(Instant(self.now))
    }
    fn sleep_until(&mut self, at: Instant) {
        self.now = self.now.max(at.0);
    }
    fn explain(&self, _: u32, _: Status) -> FailureDetail {
        FailureDetail { reason: String::new(), at: None, found: None }
    }
}

fn measured(arrivals: Arrivals, depth: u32) -> Recorder {
    let mut job = Job::new("test");
    (job.arrivals, job.queue_depth, job.trace) = (arrivals, depth, REQUESTS);
    job.stop.requests = Some(REQUESTS);
    let plan = resolve(&job, Limits { capacity: Bytes::mib(64), granularity: Bytes::SECTOR }).expect("a sound job");
    let open = matches!(arrivals, Arrivals::Rate { .. });
    let mut worker = Worker::new(&plan, 0, None, false, Trace::new(REQUESTS, None)).expect("a worker");
    let control = Control::new(&[open], Nanos::millis(100));
    drive(&mut worker, &mut Stalling::default(), &control, 0).expect("it runs");
    worker.into_recorder()
}

/// By the times at which requests were due, one after another.
fn truth(notes: &Recorder) -> Vec<u64> {
    let mut free = Instant::ORIGIN;
    let response = |(index, due): (u64, Instant)| {
        free = free.max(due) + takes(index);
        free.since(due).0
    };
    let mut times: Vec<u64> =
        (0..).zip(notes.trace.entries().iter().map(|entry| entry.intended)).map(response).collect();
    times.sort_unstable();
    times
}

fn rank(times: &[u64], of: f64) -> f64 {
    times[(times.len() as f64 * of).ceil() as usize - 1] as f64
}

#[test]
fn response_times_are_those_of_users_at_any_depth() {
    for (spacing, depth) in [(Spacing::Even, 1), (Spacing::Poisson, 1), (Spacing::Even, 32), (Spacing::Poisson, 32)] {
        let notes = measured(Arrivals::Rate { per_second: 7000.0, spacing }, depth);
        let truth = truth(&notes);
        assert_eq!(truth.len() as u64, REQUESTS);
        let open = notes.read.open.as_ref().expect("an open loop");
        for of in [0.5, 0.99, 0.999] {
            let (expect, got) = (rank(&truth, of), open.response.percentile(of).expect("enough values").as_f64());
            assert!((got / expect - 1.0).abs() < 0.02, "{spacing:?}, depth {depth}, p{of}: {got} instead of {expect}");
        }
    }
}

/// The check above can fail: a closed loop on the same device leaves the stalls' victims out, and is far off.
#[test]
fn a_closed_loop_is_told_apart() {
    let open = measured(Arrivals::Rate { per_second: 7000.0, spacing: Spacing::Even }, 1);
    let closed = measured(Arrivals::AsFastAsPossible, 1);
    let (expect, got) = (rank(&truth(&open), 0.999), closed.read.service.percentile(0.999).expect("enough values"));
    assert!(got.as_f64() < expect / 100.0, "{got} beside {expect} ns");
}
