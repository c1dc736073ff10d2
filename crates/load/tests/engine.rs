//! The engine on scripted targets, whose every completion is known.

use flashscope_device::{Foresight, Op, Outcome, Target, WriteGrant};
use flashscope_load::job::{Arrivals, Job, Mix, Pattern, Payload, Sizes, Spacing, Steady, Stop, Verify};
use flashscope_load::outcome::job_run;
use flashscope_load::plan::{Limits, Resolved, resolve};
use flashscope_load::record::{Kind, Recorder, Trace};
use flashscope_load::simulate::simulate;
use flashscope_load::steady::{Judge, Verdict};
use flashscope_load::worker::Worker;
use flashscope_model::StopReason;
use flashscope_testkit::{Failing, ScriptedTarget};
use flashscope_units::{Bytes, Instant, Nanos};

const CAPACITY: Bytes = Bytes::mib(64);

fn plan(change: impl FnOnce(&mut Job)) -> Resolved {
    let mut job = Job::new("test");
    job.trace = 1 << 20;
    change(&mut job);
    resolve(&job, Limits { capacity: CAPACITY, granularity: Bytes::SECTOR }).expect("a sound job")
}

fn workers<T: Target>(plan: &Resolved, target: &T) -> Vec<Worker> {
    let mut grant = WriteGrant::simulated(target.facts(), Bytes::gib(64)).expect("simulated");
    (0..plan.parts.len())
        .map(|index| {
            let part = grant.split(Bytes::gib(1));
            Worker::new(plan, index, part, true, Trace::new(plan.job.trace, None)).expect("a worker")
        })
        .collect()
}

fn run<T: Target + Foresight>(plan: &Resolved, target: &mut T) -> Vec<Recorder> {
    let mut workers = workers(plan, target);
    simulate(&mut workers, target, None, |_, _| false).expect("it runs");
    workers.into_iter().map(Worker::into_recorder).collect()
}

#[test]
fn a_closed_loop_keeps_the_queue_full_and_counts_everything() {
    let plan = plan(|job| {
        (job.queue_depth, job.workers) = (4, 2);
        job.stop.requests = Some(1000);
    });
    let mut target = Depth::new(ScriptedTarget::steady(CAPACITY, Nanos::micros(10)), 64);
    let notes = run(&plan, &mut target);
    for note in &notes {
        assert_eq!((note.read.requests, note.read.bytes), (1000, 1000 * 4096));
        assert_eq!(note.trace.entries().len(), 1000);
    }
    let job = job_run(&plan, &notes, target.path(), None, StopReason::Complete, None);
    let read = job.read.expect("it reads");
    // One request every 10 µs, whoever it belongs to, and eight of them queued.
    assert_eq!(job.elapsed, Nanos::millis(20));
    assert!((read.requests_per_s - 100_000.0).abs() < 1.0, "{}", read.requests_per_s);
    assert_eq!(read.service.max, Nanos::micros(80));
    let median = read.service.percentiles.iter().find(|(of, _)| *of == 0.5).expect("2000 values").1;
    assert!((median.as_f64() / 80_000.0 - 1.0).abs() < 0.004, "{median}");
    assert_eq!(job.series.periods.iter().map(|period| period.reads).sum::<u64>(), 2000);
}

#[test]
fn the_devices_queue_bounds_what_it_is_given() {
    let plan = plan(|job| {
        job.queue_depth = 8;
        job.stop.requests = Some(100);
    });
    let mut target = Depth::new(ScriptedTarget::steady(CAPACITY, Nanos::micros(10)), 2);
    let notes = run(&plan, &mut target);
    assert_eq!(notes[0].read.requests, 100);
    assert_eq!(target.most, 2);
    // What waits before the device still waits for the one who handed it over.
    assert_eq!(notes[0].read.service_range.1, Nanos::micros(80));
}

/// Arrivals at 70 % load on a device that takes 100 µs, and 100 ms once in 40 000 requests: what users see is worked out
/// independently, one request after another, and the engine's histogram must agree.
#[test]
fn an_open_loop_tells_what_users_see_when_the_device_stalls() {
    for spacing in [Spacing::Even, Spacing::Poisson] {
        let stall = |index: usize| index % 40_000 == 20_000;
        let plan = plan(|job| {
            job.arrivals = Arrivals::Rate { per_second: 7000.0, spacing };
            job.stop.requests = Some(400_000);
            job.trace = 400_000;
        });
        let mut target = ScriptedTarget::new(CAPACITY, move |_, history| {
            if stall(history.served.len()) { Nanos::millis(100) } else { Nanos::micros(100) }
        });
        let notes = run(&plan, &mut target);
        let trace = notes[0].trace.entries();
        assert_eq!(trace.len(), 400_000);
        let mut free = Instant::ORIGIN;
        let mut truth: Vec<u64> = trace
            .iter()
            .enumerate()
            .map(|(index, entry)| {
                let time = if stall(index) { Nanos::millis(100) } else { Nanos::micros(100) };
                free = free.max(entry.intended) + time;
                free.since(entry.intended).0
            })
            .collect();
        truth.sort_unstable();
        let open = notes[0].read.open.as_ref().expect("an open loop");
        for of in [0.5, 0.99, 0.999] {
            let expect = truth[(truth.len() as f64 * of).ceil() as usize - 1] as f64;
            let got = open.response.percentile(of).expect("400 000 values").as_f64();
            assert!((got / expect - 1.0).abs() < 0.005, "{spacing:?} p{of}: {got} instead of {expect}");
        }
        // The stall is seen by far more requests than the one that met it: the closed-loop view hides them.
        let service = notes[0].read.service.percentile(0.999).expect("400 000 values");
        let response = open.response.percentile(0.999).expect("400 000 values");
        assert!(service < Nanos::millis(1) && response > Nanos::millis(50), "{service} {response}");
        // Rates are what was asked for.
        let seconds = trace.last().expect("requests").intended.since(Instant::ORIGIN).as_secs_f64();
        assert!((400_000.0 / seconds / 7000.0 - 1.0).abs() < 0.01, "{spacing:?}: {seconds} s");
    }
}

#[test]
fn the_longest_stall_is_found_where_it_was() {
    let plan = plan(|job| job.stop.requests = Some(1000));
    let mut target =
        ScriptedTarget::new(
            CAPACITY,
            |_, history| {
                if history.served.len() == 500 { Nanos::millis(7) } else { Nanos::micros(10) }
            },
        );
    let notes = run(&plan, &mut target);
    assert_eq!((notes[0].stall.time, notes[0].stall.from), (Nanos::millis(7), Instant(5_000_000)));
    // An idle queue is no stall.
    let idle = self::plan(|job| {
        job.arrivals = Arrivals::Rate { per_second: 1.0, spacing: Spacing::Even };
        job.stop.requests = Some(5);
    });
    let notes = run(&idle, &mut ScriptedTarget::steady(CAPACITY, Nanos::micros(10)));
    assert_eq!(notes[0].stall.time, Nanos::micros(10));
}

#[test]
fn think_time_rests_after_requests() {
    let plan = plan(|job| {
        job.arrivals = Arrivals::Think { time: Nanos::millis(1), every: 10 };
        job.stop.requests = Some(100);
    });
    let notes = run(&plan, &mut ScriptedTarget::steady(CAPACITY, Nanos::micros(10)));
    let trace = notes[0].trace.entries();
    // The rest counts from the issue of the tenth.
    assert_eq!(trace[10].issued.since(trace[9].issued), Nanos::millis(1));
    assert_eq!(trace[9].issued.since(trace[8].issued), Nanos::micros(10));
}

#[test]
fn it_stops_by_bytes_time_and_steadiness() {
    let check = |stop: Stop, expect: u64| {
        let plan = plan(|job| job.stop = stop);
        let notes = run(&plan, &mut ScriptedTarget::steady(CAPACITY, Nanos::micros(10)));
        assert_eq!(notes[0].read.requests, expect, "{stop:?}");
    };
    check(Stop { bytes: Some(Bytes::mib(1)), ..Stop::default() }, 256);
    check(Stop { bytes: Some(Bytes(4097)), ..Stop::default() }, 2);
    check(Stop { time: Some(Nanos::millis(5)), ..Stop::default() }, 500);
    check(Stop { time: Some(Nanos::millis(5)), requests: Some(7), ..Stop::default() }, 7);
    check(Stop::default(), CAPACITY.get() / 4096);

    let rule = Steady { round: Nanos::millis(10), at_most: 25 };
    let plan = plan(|job| job.stop.steady = Some(rule));
    // Slower and slower for the first 100 ms, then steady.
    let mut target =
        ScriptedTarget::new(CAPACITY, |_, history| Nanos(10_000 + 2 * (history.served.len() as u64).min(5_000)));
    let mut workers = workers(&plan, &target);
    let mut judge = Judge::new(rule);
    simulate(&mut workers, &mut target, Some(&mut judge), |_, _| false).expect("it runs");
    let Some(Verdict::Steady { rounds }) = judge.verdict() else { panic!("{:?}", judge.verdict()) };
    assert!((6..20).contains(&rounds), "{rounds}");
    assert_eq!(workers[0].stop_reason(), &StopReason::Complete);
}

#[test]
fn warm_up_is_not_counted() {
    let plan = plan(|job| {
        job.warm_up = Nanos::millis(1);
        job.warm_up_requests = 500;
        job.stop.time = Some(Nanos::millis(10));
    });
    let mut target =
        ScriptedTarget::new(
            CAPACITY,
            |_, history| {
                if history.served.len() < 500 { Nanos::micros(100) } else { Nanos::micros(10) }
            },
        );
    let notes = run(&plan, &mut target);
    assert_eq!(notes[0].warm_up, (500, 500 * 4096, 0));
    assert_eq!(notes[0].read.requests, 1000);
    assert_eq!(notes[0].read.service_range, (Nanos::micros(10), Nanos::micros(10)));
}

#[test]
fn flushes_come_after_every_n_writes_and_at_the_end() {
    let plan = plan(|job| {
        job.mix = Mix::WRITE;
        job.stop.requests = Some(100);
        (job.flush.every, job.flush.at_end) = (Some(8), true);
    });
    let mut target = ScriptedTarget::new(CAPACITY, |request, _| match request.op() {
        Op::Flush => Nanos::millis(1),
        _ => Nanos::micros(10),
    });
    let notes = run(&plan, &mut target);
    assert_eq!((notes[0].write.requests, notes[0].flush.requests), (100, 13));
    // The last flush is inside the timing.
    assert_eq!(notes[0].until.since(notes[0].from), Nanos::millis(13) + Nanos::micros(1000));
    let kinds: Vec<Kind> = notes[0].trace.entries().iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds.iter().position(|kind| *kind == Kind::Flush), Some(8));
    assert_eq!(kinds.last(), Some(&Kind::Flush));
}

#[test]
fn what_was_written_is_verified_and_reading_back_is_not_timed() {
    let plan = plan(|job| {
        job.mix = Mix { reads: 0.5 };
        job.pattern = Pattern::Zipf { theta: 0.9 };
        (job.verify, job.queue_depth) = (Verify::Written, 8);
        job.stop.requests = Some(20_000);
    });
    let notes = run(&plan, &mut ScriptedTarget::steady(CAPACITY, Nanos::micros(10)));
    let note = &notes[0];
    assert_eq!((note.failed, note.mismatched), (0, 0));
    assert!(note.read_back.requests > 1000, "{}", note.read_back.requests);
    assert_eq!(note.read.requests + note.write.requests, 20_000);
    assert_eq!(note.until.since(note.from), Nanos::micros(10) * 20_000);
}

#[test]
fn a_device_that_loses_a_write_is_caught() {
    let plan = plan(|job| {
        (job.mix, job.pattern, job.verify) = (Mix::WRITE, Pattern::Sequential, Verify::Written);
        job.span.length = Some(Bytes::mib(1));
    });
    let mut target = Liar::new(ScriptedTarget::steady(CAPACITY, Nanos::micros(10)), 40);
    let notes = run(&plan, &mut target);
    assert_eq!((notes[0].mismatched, notes[0].failed), (1, 0));
    let failure = &notes[0].failures[0];
    assert_eq!((failure.offset, failure.kind), (40 * 4096, Kind::ReadBack));
    let mismatch = failure.mismatch.as_ref().expect("a mismatch");
    assert_eq!(mismatch.position, 40 * 4096);
    assert_eq!(
        (mismatch.expected.as_str(), mismatch.found.as_str()),
        ("generation 1 of this place", "0x00 throughout")
    );
}

#[test]
fn an_earlier_jobs_bytes_can_be_expected() {
    let mut target = ScriptedTarget::steady(CAPACITY, Nanos::micros(10));
    let write = plan(|job| {
        (job.mix, job.pattern, job.payload) = (Mix::WRITE, Pattern::Sequential, Payload::Tagged { generation: 3 });
        (job.write_sizes, job.span.length) = (Sizes::one(Bytes::kib(64)), Some(Bytes::mib(1)));
    });
    run(&write, &mut target);
    let check = |generation, target: &mut ScriptedTarget| {
        let read = plan(|job| {
            (job.verify, job.span.length) = (Verify::Generation(generation), Some(Bytes::mib(1)));
            job.stop.requests = Some(50);
        });
        run(&read, target)[0].mismatched
    };
    assert_eq!(check(3, &mut target), 0);
    assert_eq!(check(4, &mut target), 50);
}

#[test]
fn failures_are_data_until_there_is_nothing_else() {
    let sequential = || {
        plan(|job| {
            job.pattern = Pattern::Sequential;
            job.span.length = Some(Bytes::mib(4));
        })
    };
    let steady = || ScriptedTarget::steady(CAPACITY, Nanos::micros(10));
    let mut target = Failing::new(steady(), std::iter::once(40_960..49_152), "EIO: input/output error");
    let notes = run(&sequential(), &mut target);
    assert_eq!((notes[0].failed, notes[0].read.requests), (2, 1022));
    assert_eq!(notes[0].failures[0].reason, "EIO: input/output error");
    assert_eq!(notes[0].failures[0].offset, 40_960);

    // From the middle on nothing works any more: no use in going on.
    let mut target = Failing::new(steady(), std::iter::once(2 << 20..u64::MAX), "ENOSPC: no space left");
    let plan = sequential();
    let mut workers = workers(&plan, &target);
    simulate(&mut workers, &mut target, None, |_, _| false).expect("it runs");
    assert_eq!(workers[0].stop_reason(), &StopReason::Failing);
    assert_eq!((workers[0].recorder().read.requests, workers[0].recorder().failed), (512, 100));
}

#[test]
fn a_grant_is_never_overdrawn() {
    let plan = plan(|job| (job.mix, job.stop.time) = (Mix::WRITE, Some(Nanos::secs(1))));
    let mut target = ScriptedTarget::steady(CAPACITY, Nanos::micros(10));
    let grant = WriteGrant::simulated(target.facts(), Bytes::kib(42));
    let mut workers = vec![Worker::new(&plan, 0, grant, true, Trace::new(0, None)).expect("a worker")];
    simulate(&mut workers, &mut target, None, |_, _| false).expect("it runs");
    assert_eq!((workers[0].stop_reason(), workers[0].recorder().write.requests), (&StopReason::BudgetSpent, 10));
}

#[test]
fn an_operator_can_stop_it_and_keeps_what_there_is() {
    let plan = plan(|job| job.stop.time = Some(Nanos::secs(1_000_000)));
    let mut target = ScriptedTarget::steady(CAPACITY, Nanos::micros(10));
    let mut workers = workers(&plan, &target);
    let mut asked = 0;
    simulate(&mut workers, &mut target, None, |_, _| {
        asked += 1;
        asked > 3
    })
    .expect("it runs");
    assert_eq!(workers[0].stop_reason(), &StopReason::Stopped);
    assert!(workers[0].recorder().read.requests > 1000);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let once = || {
        let plan = plan(|job| {
            (job.mix, job.queue_depth, job.workers) = (Mix { reads: 0.3 }, 3, 3);
            job.stop.requests = Some(500);
        });
        let mut target = ScriptedTarget::new(CAPACITY, |request, _| Nanos(1000 + request.offset().get() % 977));
        run(&plan, &mut target).iter().map(|note| note.trace.entries().to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(once(), once());
}

/// A device with a queue of its own, which notes how much of it was used.
struct Depth {
    inner: ScriptedTarget,
    depth: u32,
    outstanding: usize,
    most: usize,
}

impl Depth {
    fn new(inner: ScriptedTarget, depth: u32) -> Depth {
        Depth { inner, depth, outstanding: 0, most: 0 }
    }
}

impl Foresight for Depth {
    fn next_completion(&self) -> Option<Instant> {
        self.inner.next_completion()
    }
}

impl Target for Depth {
    fn facts(&self) -> &flashscope_model::DeviceFacts {
        self.inner.facts()
    }
    fn capabilities(&self) -> flashscope_device::Capabilities {
        flashscope_device::Capabilities { queue_depth: self.depth, ..self.inner.capabilities() }
    }
    fn path(&self) -> flashscope_model::run::PathTaken {
        self.inner.path()
    }
    fn now(&self) -> Instant {
        self.inner.now()
    }
    fn submit(&mut self, batch: &[flashscope_device::Request]) -> Result<(), flashscope_device::DeviceError> {
        self.outstanding += batch.len();
        self.most = self.most.max(self.outstanding);
        self.inner.submit(batch)
    }
    fn reap(
        &mut self,
        min: usize,
        into: &mut Vec<flashscope_device::Completion>,
    ) -> Result<(), flashscope_device::DeviceError> {
        let before = into.len();
        self.inner.reap(min, into)?;
        self.outstanding -= into.len() - before;
        Ok(())
    }
    fn wait_until(&mut self, at: Instant) {
        self.inner.wait_until(at);
    }
    fn wear(&self) -> Option<flashscope_device::Wear> {
        self.inner.wear()
    }
}

/// Says that it has written what it has not: one block of the first pass.
struct Liar {
    inner: Depth,
    block: u64,
}

impl Liar {
    fn new(inner: ScriptedTarget, block: u64) -> Liar {
        Liar { inner: Depth::new(inner, 1), block }
    }
}

impl Foresight for Liar {
    fn next_completion(&self) -> Option<Instant> {
        self.inner.next_completion()
    }
}

impl Target for Liar {
    fn facts(&self) -> &flashscope_model::DeviceFacts {
        self.inner.facts()
    }
    fn capabilities(&self) -> flashscope_device::Capabilities {
        self.inner.capabilities()
    }
    fn path(&self) -> flashscope_model::run::PathTaken {
        self.inner.path()
    }
    fn now(&self) -> Instant {
        self.inner.now()
    }
    fn submit(&mut self, batch: &[flashscope_device::Request]) -> Result<(), flashscope_device::DeviceError> {
        let lost = |request: &flashscope_device::Request| {
            matches!(request.op(), Op::Write { .. }) && request.offset().get() == self.block * 4096
        };
        let instead: Vec<_> = batch
            .iter()
            .map(|request| if lost(request) { flashscope_device::Request::flush(request.id()) } else { *request })
            .collect();
        self.inner.submit(&instead)
    }
    fn reap(
        &mut self,
        min: usize,
        into: &mut Vec<flashscope_device::Completion>,
    ) -> Result<(), flashscope_device::DeviceError> {
        self.inner.reap(min, into)?;
        assert!(into.iter().all(|done| !matches!(done.outcome, Outcome::Failed(_))));
        Ok(())
    }
    fn wait_until(&mut self, at: Instant) {
        self.inner.wait_until(at);
    }
    fn wear(&self) -> Option<flashscope_device::Wear> {
        self.inner.wear()
    }
}
