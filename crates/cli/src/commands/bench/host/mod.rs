//! Load on block devices and files of this machine: workers in threads, evidence around them.

mod sites;
mod threads;

use super::keep::Kept;
use super::progress::Course;
use super::run::{Prepared, Setup, resolved, target_of};
use super::steady::foretell;
use super::trace::{TraceFile, Writer};
use super::watch::{Watch, bar};
use crate::envelope;
use crate::error::Failure;
use crate::output;
use crate::{interrupt, target};
use anyhow::anyhow;
use flashscope_device::WriteGrant;
use flashscope_host::load::evidence::{DeviceCounters, Sample};
use flashscope_host::load::{LaneKind, LaneOptions, LoadFile, Opening, SlotFill, WholeFiles};
use flashscope_host::{MonotonicClock, Surroundings, SysRoot};
use flashscope_load::budget::WriteBudget;
use flashscope_load::control::Control;
use flashscope_load::evidence::{Counted, Instead, judge};
use flashscope_load::job::{Arrivals, EngineChoice, Job, JobSet, Payload};
use flashscope_load::outcome::moved_in_all;
use flashscope_load::plan::{Limits, Resolved};
use flashscope_load::record::Trace;
use flashscope_load::steady::Judge;
use flashscope_load::worker::Worker;
use flashscope_model::Kind;
use flashscope_model::bench::{BenchRecord, CacheVerdict, Counter, Evidence, PhaseRun};
use flashscope_model::run::Cost;
use flashscope_units::{Bytes, Instant, Nanos};
use sites::Site;
use std::cell::Cell;
use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::time::Duration;
use threads::{Errand, Gathered, Mine, gather, start};

/// Checks the jobs against what they run on, as far as it is there yet. Also says what the files cost that are made for them.
pub(super) fn resolve(setup: &Setup, set: &JobSet) -> Result<(Vec<Vec<Resolved>>, Bytes), Failure> {
    let places = sites::find(&SysRoot::live(), setup, set)?;
    let limits = |job: &Job| places.iter().find(|place| place.is(job, setup)).map_or(NOWHERE, |place| place.limits);
    let plans = resolved(set, limits)?;
    let whole = |(index, plans): (usize, &Vec<Resolved>)| {
        let each = plans.iter().map(whole_files).fold(0, u64::saturating_add);
        each.saturating_mul(setup.times(index))
    };
    let laid_out = places.iter().map(|place| place.laid_out().get());
    let files = laid_out.chain(plans.iter().enumerate().map(whole)).fold(0, u64::saturating_add);
    Ok((plans, Bytes(files)))
}

/// What the files cost that are made for one run of a job whose requests are files, where it reads them: each whole pages.
fn whole_files(plan: &Resolved) -> u64 {
    match plan.job.engine == EngineChoice::Whole && plan.job.mix.has_reads() {
        true => plan.job.largest().align_up(flashscope_host::page_size()).get().saturating_mul(count_of(plan)),
        false => 0,
    }
}

fn count_of(plan: &Resolved) -> u64 {
    let (start, length) = span(plan);
    (start + length).get() / plan.job.largest().get().max(1)
}

/// The block of what the run is on, as far as it is there, and the allocation unit that it claims.
pub(super) fn ground(setup: &Setup) -> Result<(Bytes, Option<Bytes>), Failure> {
    sites::ground(&SysRoot::live(), Path::new(&setup.target.target))
}

/// Of a target that is not there; every job has one.
const NOWHERE: Limits = Limits { capacity: Bytes::ZERO, granularity: Bytes::SECTOR };

pub(super) fn run(prepared: &Prepared, target: &str, kept: &Kept) -> Result<BenchRecord, Failure> {
    let Prepared { setup, set, .. } = prepared;
    let sys = SysRoot::live();
    let budget = prepared.budget()?;
    let places = sites::find(&sys, setup, set)?;
    let here = Surroundings::of(&sys, places.first().map_or(Path::new("."), |place| &place.path));
    let mut envelope = envelope::begin(Kind::Bench, "bench", target, &here);
    let open = |place: sites::Place| {
        let mine: Vec<_> = prepared.all_jobs().filter(|(plan, _)| place.is(&plan.job, setup)).collect();
        let (needed, most) = (budget.needed(mine.iter().copied()), budget.most_of(mine.into_iter()));
        place.open(&sys, setup, needed, most)
    };
    let mut sites: Vec<Site> = places.into_iter().map(open).collect::<Result<_, _>>()?;
    // Once more, now that every file is there.
    let plans = resolved(set, |job| sites.iter().find(|site| site.is(job, setup)).map_or(NOWHERE, |site| site.limits))?;
    let prepared = Prepared { setup: setup.clone(), set: set.clone(), plans, ..prepared.clone() };
    envelope.device = if let [site] = &sites[..] { Some(site.facts()) } else { None };
    let steps = prepared.steps();
    let mut rig = Rig {
        setup,
        budget,
        sys: &sys,
        here: &here,
        sites: &mut sites,
        clock: MonotonicClock::start(),
        phases: 0,
        trace: kept.trace(),
        steps,
        holes_said: Cell::new(false),
    };
    prepared.run_all(kept, (envelope, Some(&here)), rest, |plans, left| rig.phase(plans, left))
}

/// What every phase needs.
struct Rig<'a> {
    setup: &'a Setup,
    budget: WriteBudget,
    sys: &'a SysRoot,
    here: &'a Surroundings,
    sites: &'a mut [Site],
    clock: MonotonicClock,
    trace: Option<&'a TraceFile>,
    /// Phases that have run.
    phases: u64,
    /// Phases that are run in all, at most.
    steps: u64,
    /// Whether it was said that reads of holes come from nothing.
    holes_said: Cell<bool>,
}

/// Lets time pass, in slices, so that an interrupt is heard.
fn rest(time: Nanos) {
    let mut left = Duration::from_nanos(time.get());
    while left > Duration::ZERO && !interrupt::asked() {
        let slice = left.min(Duration::from_millis(100));
        std::thread::sleep(slice);
        left -= slice;
    }
}

impl Rig<'_> {
    fn phase(&mut self, plans: &[Resolved], left: u64) -> Result<PhaseRun, Failure> {
        let (began, conditions) = (self.clock.now(), self.here.moving());
        let files: Vec<LoadFile> = plans.iter().map(|plan| self.file(&plan.job)).collect::<Result<_, _>>()?;
        self.make_whole(plans, &files)?;
        let cold = self.cool(plans, &files)?;
        let writer = self.trace.and_then(|trace| trace.writer(self.phases));
        self.phases += 1;
        let mut workers = self.workers(plans, writer.as_ref())?;
        let count = workers.len();
        let ends_all: Vec<bool> = workers.iter().map(|(_, worker)| worker.plan().job.ends_all).collect();
        let open: Vec<bool> = workers.iter().map(|(_, worker)| is_open(worker)).collect();
        let control = Arc::new(Control::new(&open, Nanos::millis(100)));
        let barrier = Arc::new(Barrier::new(count + 1));
        let (to, from) = channel();
        // Kept in order: a thread that the last barrier lets go begins at once.
        for (place, (job, worker)) in workers.drain(..).enumerate() {
            let errand = Errand {
                place,
                options: self.lane_options(&plans[job].job),
                worker,
                file: files[job].clone(),
                barrier: Arc::clone(&barrier),
                control: Arc::clone(&control),
            };
            start(errand, to.clone());
        }
        drop(to);
        let before = self.sample(plans, &files);
        barrier.wait();
        let mut watch = Watch {
            control: &control,
            clock: self.clock,
            workers: count,
            timeout: self.setup.timeout,
            judge: plans.iter().find_map(|plan| plan.job.stop.steady).map(Judge::new),
            bar: bar(&self.step_name(plans, left), self.setup.quiet),
            course: Course::new(plans),
            has_hung: false,
        };
        let gathered = gather(&mut watch, &from, &ends_all)?;
        let after = self.sample(plans, &files);
        // A thread that hangs never hands its sink back, and the writer would wait for it.
        match (self.trace, writer) {
            (Some(trace), Some(writer)) if gathered.back.iter().all(Option::is_some) => trace.finish(writer),
            (Some(trace), Some(_)) => trace.failed("a worker never came back"),
            _ => {}
        }
        let (run, moved) = self.conclude(plans, gathered, &control, &open, (&before, &after), (&files, cold))?;
        let cost = Cost { read: moved.0, written: moved.1, time: self.clock.now().since(began), erases: None };
        Ok(PhaseRun { started: Some(began.since(Instant::ORIGIN)), conditions, cost: Some(cost), ..run })
    }

    /// Which of how many steps this is, and of which jobs.
    fn step_name(&self, plans: &[Resolved], left: u64) -> String {
        let names = plans.iter().map(|plan| plan.job.name.as_str()).collect::<Vec<_>>().join(", ");
        if self.steps > 1 { format!("{}/{} {names}", self.steps + 1 - left, self.steps) } else { names }
    }

    fn place(&self, job: &Job) -> Option<usize> {
        self.sites.iter().position(|site| site.is(job, self.setup))
    }

    fn site(&self, job: &Job) -> Result<&Site, Failure> {
        let found = self.place(job).map(|place| &self.sites[place]);
        found.ok_or_else(|| Failure::Cannot(anyhow!("the job '{}' has no target", job.name)))
    }

    /// Each worker's part of the right to write to its target.
    fn grants(&mut self, plans: &[Resolved]) -> Vec<Vec<Option<WriteGrant>>> {
        let none = |plan: &Resolved| (0..plan.job.workers).map(|_| None).collect();
        let parts = plans.iter().map(|plan| {
            let place = self.place(&plan.job);
            let grant = place.and_then(|place| self.sites[place].grant.as_mut());
            grant.map_or_else(|| none(plan), |grant| self.budget.parts(plan, grant))
        });
        parts.collect()
    }

    /// The target with the flags of this job.
    fn file(&self, job: &Job) -> Result<LoadFile, Failure> {
        let opening =
            Opening { direct: job.mode.is_direct(), durable: job.mode.is_durable(), write: job.mix.has_writes() };
        let site = self.site(job)?;
        let file = LoadFile::of(self.sys, &site.targets, site.each, opening).map_err(target::failure)?;
        let file = if let Some(folder) = &site.folder { file.within(folder) } else { file };
        let reads = job.mix.has_reads() && job.engine != EngineChoice::Whole;
        if let Some(taken) = file.sparse().filter(|_| reads && !self.holes_said.replace(true)) {
            output::talk(&format!(
                "warning: the file has holes ({taken} are really there); reads of these come from nothing"
            ));
        }
        Ok(file)
    }

    /// Files of their own are new to whoever writes them, and there for whoever reads them.
    fn make_whole(&self, plans: &[Resolved], files: &[LoadFile]) -> Result<(), Failure> {
        let both = || plans.iter().zip(files).filter_map(|(plan, file)| Some((plan, file, whole(plan, file)?)));
        for (_, file, _) in both().filter(|(plan, ..)| plan.job.mix.has_writes()) {
            file.clear_whole().map_err(target::failure)?;
        }
        for (plan, _, (whole, count)) in both() {
            let bar = bar("making files", self.setup.quiet);
            let progress = |done| {
                bar.set_message(format!("{done} of {count}"));
                !interrupt::asked()
            };
            whole.prepare(count, plan.job.mix.has_reads(), progress).map_err(target::failure)?;
            bar.finish_and_clear();
        }
        Ok(())
    }

    /// Reads through the page cache are cold only after it was dropped.
    fn cool(&self, plans: &[Resolved], files: &[LoadFile]) -> Result<bool, Failure> {
        let mut cold = false;
        for (plan, file) in plans.iter().zip(files) {
            if !plan.job.mode.is_direct() && plan.job.mix.has_reads() && !self.setup.warm {
                let (start, length) = span(plan);
                match whole(plan, file) {
                    Some((whole, count)) => whole.drop_cache(count),
                    None => file.drop_cache(start, length),
                }
                .map_err(target::failure)?;
                cold = true;
            }
        }
        Ok(cold)
    }

    fn workers(&mut self, plans: &[Resolved], writer: Option<&Writer>) -> Result<Vec<(usize, Worker)>, Failure> {
        let mut parts = self.grants(plans);
        let mut workers = Vec::new();
        for (job, (plan, parts)) in plans.iter().zip(&mut parts).enumerate() {
            for (index, part) in parts.drain(..).enumerate() {
                let sink = writer.filter(|_| plan.job.trace > 0).map(|writer| writer.sink(workers.len()));
                let trace = Trace::new(plan.job.trace, sink);
                let worker = Worker::new(plan, index, part, false, trace).map_err(|error| anyhow!("{error}"))?;
                workers.push((job, worker));
            }
        }
        Ok(workers)
    }

    fn lane_options(&self, job: &Job) -> LaneOptions {
        LaneOptions {
            kind: match job.engine {
                EngineChoice::Sync | EngineChoice::Auto => LaneKind::Sync,
                EngineChoice::Uring => LaneKind::Uring,
                EngineChoice::Aio => LaneKind::Aio,
                EngineChoice::Mmap => LaneKind::Map,
                EngineChoice::Whole => LaneKind::Whole,
                EngineChoice::Null => LaneKind::Null,
            },
            depth: job.queue_depth,
            largest: job.largest(),
            fill: match job.payload {
                Payload::Compressible(share) => SlotFill::Compressible(share),
                Payload::Byte(byte) => SlotFill::Byte(byte),
                Payload::Urandom => SlotFill::Urandom,
                Payload::Incompressible | Payload::Tagged { .. } => SlotFill::Incompressible,
            },
            polled: job.polled,
            hang_after: self.setup.timeout,
            clock: self.clock,
        }
    }

    /// Of all that the jobs touch: each device once. Residency only where the page cache is in the way, as asking costs time.
    fn sample(&self, plans: &[Resolved], files: &[LoadFile]) -> Sample {
        let (mut all, mut devices) = (None::<Sample>, Vec::new());
        let mut spans = Vec::new();
        for (plan, file) in plans.iter().zip(files) {
            let (start, length) = span(plan);
            let whole = plan.job.engine == EngineChoice::Whole;
            let cached = !whole
                && !plan.job.mode.is_direct()
                && !spans.contains(&(target_of(&plan.job, self.setup), start, length));
            let one = if cached { file.sample(start, length) } else { file.quick_sample() };
            spans.extend(cached.then(|| (target_of(&plan.job, self.setup), start, length)));
            let known = file.device().is_some_and(|device| devices.contains(&device));
            devices.extend(file.device());
            match &mut all {
                None => all = Some(one),
                Some(all) => {
                    all.device = if known { all.device } else { sum(all.device, one.device) };
                    all.residency = all.residency.or(one.residency);
                }
            }
        }
        all.unwrap_or_default()
    }

    fn conclude(
        &self,
        plans: &[Resolved],
        gathered: Gathered,
        control: &Control,
        open: &[bool],
        (before, after): (&Sample, &Sample),
        (files, cold): (&[LoadFile], bool),
    ) -> Result<(PhaseRun, (Bytes, Bytes)), Failure> {
        let Gathered { mut back, mut paths, verdict, has_hung } = gathered;
        let (mut jobs, mut moved, mut place) = (Vec::new(), (Bytes::ZERO, Bytes::ZERO), 0);
        if back.iter().any(Option::is_none) {
            output::talk("the kernel lets this program go only when the device answers, or it gives up on it itself");
        }
        for plan in plans {
            let places = place..place + plan.parts.len();
            let mut mine = Mine::along(places.clone().find_map(|place| paths[place].take()));
            for place in places.clone() {
                match back[place].take() {
                    Some(back) => mine.add(back)?,
                    None => mine.lost(control.last_copy(place, open[place]), self.setup.timeout),
                }
            }
            if let (true, Some(timeout)) = (has_hung, self.setup.timeout) {
                mine.hung(timeout);
            }
            place = places.end;
            let (read, written) = moved_in_all(&mine.notes);
            moved = (moved.0 + read, moved.1 + written);
            let verdict = verdict.filter(|_| plan.job.stop.steady.is_some());
            jobs.push(foretell(mine.job_run(plan, verdict, &self.site(&plan.job)?.targets[0], cold), plan));
        }
        let null = plans.iter().all(|plan| plan.job.engine == EngineChoice::Null);
        let in_memory = files.iter().map(LoadFile::in_memory).reduce(Option::and).flatten();
        let instead = match in_memory {
            _ if null => Instead::Null,
            Some(name) => Instead::Memory(name),
            None => Instead::Nothing,
        };
        let device = before.device.zip(after.device).map(|(before, after)| {
            (after.read.saturating_sub(before.read), after.written.saturating_sub(before.written))
        });
        let mut evidence =
            Evidence { counters: counters(before, after), ..judge(Counted { asked: moved, device, instead }) };
        // What the device did not read may not have come from the page cache either.
        let is_short = matches!(evidence.verdict, CacheVerdict::Mixed | CacheVerdict::Cache) && in_memory.is_none();
        if is_short && moved.0 > Bytes::ZERO && files.iter().any(|file| file.sparse().is_some()) {
            evidence.why.push_str("; the file has holes, which are read from nothing");
        }
        Ok((PhaseRun::new(jobs, evidence), moved))
    }
}

/// The files that every request has of its own, and how many; `None` for jobs that have none.
fn whole(plan: &Resolved, file: &LoadFile) -> Option<(WholeFiles, u64)> {
    Some((file.whole(plan.job.largest())?, count_of(plan))).filter(|_| plan.job.engine == EngineChoice::Whole)
}

fn is_open(worker: &Worker) -> bool {
    matches!(worker.plan().job.arrivals, Arrivals::Rate { .. })
}

fn span(plan: &Resolved) -> (Bytes, Bytes) {
    let span = plan.job.span;
    (span.start, span.length.unwrap_or(Bytes::ZERO))
}

/// Counters of two devices together; `None` where one of them has none.
fn sum(one: Option<DeviceCounters>, other: Option<DeviceCounters>) -> Option<DeviceCounters> {
    let (one, other) = one.zip(other)?;
    Some(DeviceCounters {
        reads: one.reads + other.reads,
        read: one.read + other.read,
        writes: one.writes + other.writes,
        written: one.written + other.written,
        flushes: one.flushes.zip(other.flushes).map(|(one, other)| one + other),
        flushing: one.flushing.zip(other.flushing).map(|(one, other)| one + other),
        busy: one.busy + other.busy,
    })
}

/// Both samples as plain counters.
fn counters(before: &Sample, after: &Sample) -> Vec<Counter> {
    let mut found = Vec::new();
    let mut add = |name: &str, pick: &dyn Fn(&Sample) -> Option<u64>| {
        if let (Some(before), Some(after)) = (pick(before), pick(after)) {
            found.push(Counter { name: name.to_owned(), before, after });
        }
    };
    let bytes = |bytes: Option<Bytes>| bytes.map(Bytes::get);
    add("device_read_bytes", &|sample| sample.device.map(|device| device.read.get()));
    add("device_written_bytes", &|sample| sample.device.map(|device| device.written.get()));
    add("device_read_count", &|sample| sample.device.map(|device| device.reads));
    add("device_write_count", &|sample| sample.device.map(|device| device.writes));
    add("device_flush_count", &|sample| sample.device.and_then(|device| device.flushes));
    add("device_busy_ns", &|sample| sample.device.map(|device| device.busy.get()));
    add("span_cached_bytes", &|sample| sample.residency.map(|found| found.cached.get()));
    add("span_dirty_bytes", &|sample| bytes(sample.residency.and_then(|found| found.dirty)));
    add("memory_cached_bytes", &|sample| bytes(sample.memory.cached));
    add("memory_buffers_bytes", &|sample| bytes(sample.memory.buffers));
    add("memory_dirty_bytes", &|sample| bytes(sample.memory.dirty));
    add("memory_writeback_bytes", &|sample| bytes(sample.memory.writeback));
    add("memory_reclaimable_bytes", &|sample| bytes(sample.memory.reclaimable));
    add("paged_in_bytes", &|sample| bytes(sample.paged.map(|(read, _)| read)));
    add("paged_out_bytes", &|sample| bytes(sample.paged.map(|(_, written)| written)));
    found
}
