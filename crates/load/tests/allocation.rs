//! No allocation between the first request and the last: counted by the allocator itself.

// What is unsafe stays with the host.
#[path = "../../host/tests/counting/mod.rs"]
mod counting;

use counting::allocated;
use flashscope_device::{DeviceError, FailureDetail, Lane, LaneCompletion, Request, Status, Wait, WriteGrant};
use flashscope_load::control::Control;
use flashscope_load::drive::drive;
use flashscope_load::job::{Arrivals, Job, Mix, Pattern, Sizes, Spacing, Verify};
use flashscope_load::plan::{Limits, resolve};
use flashscope_load::record::Trace;
use flashscope_load::worker::Worker;
use flashscope_model::{Claims, DeviceFacts, DeviceKind};
use flashscope_units::{Bytes, Instant, Nanos};

/// Every request takes the same time of a clock that only it moves.
struct Clockwork {
    now: u64,
    /// Time of a request.
    takes: u64,
    pending: Vec<u32>,
}

impl Lane for Clockwork {
    fn now(&self) -> Instant {
        Instant(self.now)
    }
    fn push(&mut self, request: &Request) {
        self.pending.push(request.id() as u32);
    }
    fn turn(&mut self, _: Wait, mut complete: impl FnMut(LaneCompletion)) -> Result<Instant, DeviceError> {
        let issued = Instant(self.now);
        for slot in self.pending.drain(..) {
            self.now += self.takes;
            complete(LaneCompletion { slot, issued, completed: Instant(self.now), status: Status::Success });
        }
        self.now += 1;
        Ok(Instant(self.now))
    }
    fn sleep_until(&mut self, at: Instant) {
        self.now = self.now.max(at.0);
    }
    fn explain(&self, _: u32, _: Status) -> FailureDetail {
        FailureDetail { reason: String::new(), at: None, found: None }
    }
}

fn allocations(takes: Nanos, change: impl FnOnce(&mut Job)) -> (u64, u64) {
    let mut job = Job::new("test");
    job.stop.requests = Some(300_000);
    change(&mut job);
    let plan = resolve(&job, Limits { capacity: Bytes::mib(64), granularity: Bytes::SECTOR }).expect("a sound job");
    let facts = DeviceFacts {
        name: "clockwork".into(),
        kind: DeviceKind::Other,
        simulated: true,
        capacity: Bytes::mib(64),
        logical_block: Bytes::SECTOR,
        physical_block: None,
        max_request: None,
        queue_depth: None,
        claims: Claims::default(),
        identity: None,
    };
    let grant = WriteGrant::simulated(&facts, Bytes::gib(1 << 20));
    let mut worker = Worker::new(&plan, 0, grant, false, Trace::new(job.trace, None)).expect("a worker");
    let open = matches!(job.arrivals, Arrivals::Rate { .. });
    let control = Control::new(&[open], Nanos::millis(100));
    let mut lane = Clockwork { now: 1, takes: takes.get(), pending: Vec::with_capacity(job.queue_depth as usize) };
    let before = allocated();
    drive(&mut worker, &mut lane, &control, 0).expect("it runs");
    let during = allocated() - before;
    let counted = worker.counted().0;
    (during, counted)
}

#[test]
fn the_measuring_path_allocates_nothing() {
    let check = |what: &str, most: u64, change: &dyn Fn(&mut Job)| {
        let (allocations, requests) = allocations(Nanos::micros(1), change);
        assert_eq!(requests, 300_000, "{what}");
        assert!(allocations <= most, "{what}: {allocations} allocations");
    };
    check("random reads", 0, &|_| {});
    check("a queue", 0, &|job| job.queue_depth = 32);
    check("everything drawn", 0, &|job| {
        job.mix = Mix { reads: 0.5 };
        job.pattern = Pattern::Zipf { theta: 0.99 };
        job.read_sizes = Sizes(vec![(Bytes(512), 1), (Bytes::kib(64), 2)]);
        (job.queue_depth, job.flush.every) = (8, Some(100));
    });
    // The state of the generator of arrivals is made once, at the start.
    check("an open loop", 1, &|job| job.arrivals = Arrivals::Rate { per_second: 1e5, spacing: Spacing::Poisson });
    check("verification", 0, &|job| (job.mix, job.verify, job.queue_depth) = (Mix { reads: 0.5 }, Verify::Written, 8));
    check("a trace", 0, &|job| job.trace = 1000);
}

/// An hour of reads and writes at a millisecond each, with its series, histograms and copies for the watcher, lives in the
/// memory that was there at its start.
#[test]
fn an_hour_takes_no_more_memory_than_its_start() {
    let (allocations, requests) = allocations(Nanos::millis(1), |job| {
        (job.mix, job.stop.requests, job.stop.time) = (Mix { reads: 0.5 }, None, Some(Nanos::secs(3600)));
    });
    assert!((3_590_000..=3_600_000).contains(&requests), "{requests}");
    assert_eq!(allocations, 0);
}

/// The counter counts: a test that cannot fail proves nothing.
#[test]
fn allocations_are_seen() {
    let before = allocated();
    drop(std::hint::black_box(vec![1u8; 100]));
    assert_eq!(allocated() - before, 1);
}
