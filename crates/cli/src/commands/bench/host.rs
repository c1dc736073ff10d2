//! Load on a block device or file of this machine: opening with consent, workers in threads, evidence around them.

use super::simulated::how_ended;
use super::trace::Writer;
use super::watch::{Watch, bar};
use super::{budget, dry_run, finish, resolve, run_all, split};
use crate::args::Bench;
use crate::error::{Failure, Outcome};
use crate::{interrupt, output, target};
use anyhow::anyhow;
use flashscope_device::{Consent, DeviceError, Target, WriteGrant};
use flashscope_host::load::evidence::Sample;
use flashscope_host::load::usage::CpuTime;
use flashscope_host::load::{AnyLane, LaneKind, LaneOptions, LoadFile, Opening, OwnFile, SlotFill};
use flashscope_host::{HostTarget, MonotonicClock, OpenOptions, SysRoot};
use flashscope_load::control::Control;
use flashscope_load::drive::drive;
use flashscope_load::evidence::{Counted, Instead, judge};
use flashscope_load::job::{Arrivals, EngineChoice, Job, JobSet, Mode, Payload};
use flashscope_load::outcome::{job_run, moved_in_all};
use flashscope_load::plan::{Limits, Resolved};
use flashscope_load::record::{Recorder, Trace};
use flashscope_load::steady::{Judge, Verdict};
use flashscope_load::worker::{Ending, Worker};
use flashscope_model::bench::{Counter, Evidence, JobEnded, JobRun, PhaseRun};
use flashscope_model::run::{HostFacts, PathTaken};
use flashscope_units::{Bytes, Nanos};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::time::Duration;

/// Size of a file that bench makes where nobody says how large.
const OWN_FILE: Bytes = Bytes::gib(1);

pub(super) fn run(args: &Bench, set: &JobSet) -> Result<Outcome, Failure> {
    interrupt::arm();
    let sys = SysRoot::live();
    let own = own_file(args, set)?;
    let path = own.as_ref().map_or_else(|| PathBuf::from(&args.target.target), |own| own.path().to_owned());
    let host = host_facts(&sys, &path);
    // Looked at like a device in use: this is only about its size.
    let look = OpenOptions { read_in_use: true, allow_buffered: true, hang_after: None };
    let looked = flashscope_host::open_for_reading(&sys, &path, &look).map_err(target::failure)?;
    let limits = Limits { capacity: looked.facts().capacity, granularity: looked.capabilities().granularity };
    drop(looked);
    let plans = resolve(set, limits)?;
    if args.dry_run {
        return dry_run(set, &plans, args);
    }
    let budget = budget(&plans, args)?;
    let (target, mut grant) = open(args, &sys, &path, budget, own.is_some())?;
    let rig = Rig { args, sys: &sys, target: &target, clock: MonotonicClock::start() };
    let pause = |time: Nanos| std::thread::sleep(Duration::from_nanos(time.get()));
    let done = run_all(set, &plans, args, pause, |plans, left| rig.phase(plans, grant.as_mut(), left))?;
    finish(args, Some(target.facts().clone()), Some(host), done)
}

/// In a directory, or where there is nothing yet, a file of our own.
fn own_file(args: &Bench, set: &JobSet) -> Result<Option<OwnFile>, Failure> {
    let target = Path::new(&args.target.target);
    let path = if target.is_dir() {
        target.join(format!("flashscope-bench.{}", std::process::id()))
    } else if target.symlink_metadata().is_err()
        && target.parent().is_some_and(|parent| parent.as_os_str().is_empty() || parent.is_dir())
    {
        target.to_owned()
    } else {
        return Ok(None);
    };
    let end = |job: &Job| job.span.length.map(|length| job.span.start + length);
    let size = set.phases.iter().flat_map(|phase| &phase.jobs).filter_map(end).max().unwrap_or(OWN_FILE);
    if args.dry_run {
        return Err(Failure::Cannot(anyhow!(
            "there is no file at {} yet, and --dry-run makes none\nhint: it would be made, {size} in size",
            path.display()
        )));
    }
    if args.target.read_only {
        return Err(Failure::Cannot(anyhow!("there is no file to read at {}", path.display())));
    }
    let bar = bar("making a file", args.json);
    let own = OwnFile::create(&path, size, args.keep, |done| {
        bar.set_message(format!("{done} of {size}"));
        !interrupt::asked()
    });
    bar.finish_and_clear();
    own.map(Some).map_err(target::failure)
}

fn host_facts(sys: &SysRoot, path: &Path) -> HostFacts {
    let devices = flashscope_host::list(sys);
    let listed =
        std::fs::canonicalize(path).ok().and_then(|path| devices.into_iter().find(|device| device.path == path));
    flashscope_host::host_facts(sys, listed.as_ref())
}

/// Opens the target through the same checks as everything else. What bench made itself needs no consent.
fn open(
    args: &Bench,
    sys: &SysRoot,
    path: &Path,
    budget: Bytes,
    own: bool,
) -> Result<(HostTarget, Option<WriteGrant>), Failure> {
    let options = OpenOptions { read_in_use: args.target.read_in_use, allow_buffered: true, hang_after: None };
    if budget == Bytes::ZERO {
        let target = flashscope_host::open_for_reading(sys, path, &options).map_err(target::failure)?;
        for user in &target.path().in_use {
            output::talk(&format!("warning: read while in use: {user}; others disturb the figures"));
        }
        return Ok((target, None));
    }
    if args.target.read_only {
        return Err(Failure::Cannot(anyhow!("the jobs write, but the target was opened with --read-only")));
    }
    let checked = flashscope_host::safety(sys, path, Bytes::ZERO).map_err(target::failure)?;
    let consent = Consent {
        identity: args.target.destroy_data.clone(),
        allow_file: args.target.allow_write || own,
        signatures: args.target.destroy_signatures,
    };
    let opened = flashscope_host::open_for_writing(sys, &checked, &consent, budget, &options);
    let (target, grant) = opened.map_err(target::failure)?;
    if !own {
        let much = if budget == super::UNBOUNDED { String::new() } else { format!(" {budget}") };
        output::talk(&format!("writes{much} to {}; what stands there now is destroyed", path.display()));
    }
    Ok((target, Some(grant)))
}

/// What every phase needs.
struct Rig<'a> {
    args: &'a Bench,
    sys: &'a SysRoot,
    target: &'a HostTarget,
    clock: MonotonicClock,
}

/// What comes back from a worker's thread.
struct Back {
    place: usize,
    recorder: Recorder,
    ending: Ending,
    path: PathTaken,
    cpu: CpuTime,
    error: Option<DeviceError>,
}

/// What a worker's thread takes along.
struct Errand {
    place: usize,
    worker: Worker,
    file: LoadFile,
    options: LaneOptions,
    barrier: Arc<Barrier>,
    control: Arc<Control>,
}

impl Rig<'_> {
    fn phase(&self, plans: &[Resolved], grant: Option<&mut WriteGrant>, left: u64) -> Result<PhaseRun, Failure> {
        let files: Vec<LoadFile> = plans.iter().map(|plan| self.file(&plan.job)).collect::<Result<_, _>>()?;
        let cold = self.cool(plans, &files)?;
        let writer = self.args.trace_to.as_deref().map(Writer::create).transpose()?;
        let mut workers = self.workers(plans, grant, left, writer.as_ref())?;
        let count = workers.len();
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
            timeout: self.args.timeout,
            judge: plans.iter().find_map(|plan| plan.job.stop.steady).map(Judge::new),
            bar: bar(&plans.iter().map(|plan| plan.job.name.as_str()).collect::<Vec<_>>().join(", "), self.args.json),
        };
        let (back, verdict) = gather(&mut watch, &from, count)?;
        let after = self.sample(plans, &files);
        if let Some(writer) = writer {
            // A thread that hangs never hands its sink back, and the writer would wait for it.
            if back.iter().all(Option::is_some) {
                writer.finish()?;
            }
        }
        self.conclude(plans, back, &control, &open, verdict, (&before, &after), (&files, cold))
    }

    /// The target with the flags of this job.
    fn file(&self, job: &Job) -> Result<LoadFile, Failure> {
        let opening =
            Opening { direct: job.mode.is_direct(), durable: job.mode == Mode::Dsync, write: job.mix.has_writes() };
        let file = LoadFile::of(self.sys, self.target, opening).map_err(target::failure)?;
        if let (Some(taken), true) = (file.sparse(), job.mix.has_reads()) {
            output::talk(&format!(
                "warning: the file has holes ({taken} are really there); reads of these come from nothing"
            ));
        }
        Ok(file)
    }

    /// Reads through the page cache are cold only after it was dropped.
    fn cool(&self, plans: &[Resolved], files: &[LoadFile]) -> Result<bool, Failure> {
        let mut cold = false;
        for (plan, file) in plans.iter().zip(files) {
            if !plan.job.mode.is_direct() && plan.job.mix.has_reads() && !self.args.warm {
                let (start, length) = span(plan);
                file.drop_cache(start, length).map_err(target::failure)?;
                cold = true;
            }
        }
        Ok(cold)
    }

    fn workers(
        &self,
        plans: &[Resolved],
        grant: Option<&mut WriteGrant>,
        left: u64,
        writer: Option<&Writer>,
    ) -> Result<Vec<(usize, Worker)>, Failure> {
        let mut parts = match grant {
            Some(grant) => split(grant, plans, left),
            None => plans.iter().map(|plan| plan.parts.iter().map(|_| None).collect()).collect(),
        };
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
                EngineChoice::Mmap => LaneKind::Map,
                EngineChoice::Null => LaneKind::Null,
            },
            depth: job.queue_depth,
            largest: job.largest(),
            fill: match job.payload {
                Payload::Compressible(share) => SlotFill::Compressible(share),
                Payload::Byte(byte) => SlotFill::Byte(byte),
                Payload::Incompressible | Payload::Tagged { .. } => SlotFill::Incompressible,
            },
            polled: job.polled,
            hang_after: self.args.timeout,
            clock: self.clock,
        }
    }

    /// Of all that the jobs touch. Residency only where the page cache is in the way, as asking costs time.
    fn sample(&self, plans: &[Resolved], files: &[LoadFile]) -> Sample {
        let cached = plans.iter().zip(files).find(|(plan, _)| !plan.job.mode.is_direct());
        match (cached, files.first()) {
            (Some((plan, file)), _) => {
                let (start, length) = span(plan);
                file.sample(start, length)
            }
            (None, Some(file)) => file.quick_sample(),
            (None, None) => Sample::default(),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn conclude(
        &self,
        plans: &[Resolved],
        mut back: Vec<Option<Back>>,
        control: &Control,
        open: &[bool],
        verdict: Option<Verdict>,
        (before, after): (&Sample, &Sample),
        (files, cold): (&[LoadFile], bool),
    ) -> Result<PhaseRun, Failure> {
        let (mut jobs, mut moved, mut place) = (Vec::new(), (Bytes::ZERO, Bytes::ZERO), 0);
        for plan in plans {
            let places = place..place + plan.parts.len();
            let mut mine = Mine::default();
            for place in places.clone() {
                match back[place].take() {
                    Some(back) => mine.add(back)?,
                    None => mine.lost(control.last_copy(place, open[place]), self.args.timeout),
                }
            }
            place = places.end;
            let (read, written) = moved_in_all(&mine.notes);
            moved = (moved.0 + read, moved.1 + written);
            let verdict = verdict.filter(|_| plan.job.stop.steady.is_some());
            jobs.push(mine.job_run(plan, verdict, self.target, cold));
        }
        let null = plans.iter().all(|plan| plan.job.engine == EngineChoice::Null);
        let instead = match files.first().and_then(LoadFile::in_memory) {
            _ if null => Instead::Null,
            Some(name) => Instead::Memory(name),
            None => Instead::Nothing,
        };
        let device = before.device.zip(after.device).map(|(before, after)| {
            (after.read.saturating_sub(before.read), after.written.saturating_sub(before.written))
        });
        let evidence =
            Evidence { counters: counters(before, after), ..judge(Counted { asked: moved, device, instead }) };
        Ok(PhaseRun { jobs, evidence })
    }
}

fn is_open(worker: &Worker) -> bool {
    matches!(worker.plan().job.arrivals, Arrivals::Rate { .. })
}

fn span(plan: &Resolved) -> (Bytes, Bytes) {
    let span = plan.job.span;
    (span.start, span.length.unwrap_or(Bytes::ZERO))
}

/// One worker in a thread of its own. Not joined: one that hangs in the kernel cannot be.
fn start(errand: Errand, to: Sender<Result<Back, (usize, String)>>) {
    std::thread::spawn(move || {
        let Errand { place, mut worker, file, options, barrier, control } = errand;
        let lane = file.lane(&options);
        barrier.wait();
        let mut lane = match lane {
            Ok(lane) => lane,
            Err(error) => {
                let _ = to.send(Err((place, error.to_string())));
                return;
            }
        };
        let path = file.path(&lane, options.depth);
        let began = CpuTime::of_this_thread();
        // Unwrapped here, so that nothing is looked up per request.
        let error = match &mut lane {
            AnyLane::Sync(lane) => drive(&mut worker, lane, &control, place),
            AnyLane::Uring(lane) => drive(&mut worker, lane.as_mut(), &control, place),
            AnyLane::Map(lane) => drive(&mut worker, lane, &control, place),
            AnyLane::Null(lane) => drive(&mut worker, lane, &control, place),
        };
        let cpu = CpuTime::of_this_thread().since(began);
        let (ending, recorder) = (worker.ending(), worker.into_recorder());
        let _ = to.send(Ok(Back { place, recorder, ending, path, cpu, error: error.err() }));
    });
}

type Gathered = (Vec<Option<Back>>, Option<Verdict>);

/// What all threads bring back; `None` for one that never came.
fn gather(
    watch: &mut Watch<'_>,
    from: &Receiver<Result<Back, (usize, String)>>,
    count: usize,
) -> Result<Gathered, Failure> {
    let mut back: Vec<Option<Back>> = (0..count).map(|_| None).collect();
    let (mut missing, mut broken) = (count, None);
    let control = watch.control;
    let verdict = watch.run(|| {
        while let Ok(came) = from.try_recv() {
            missing -= 1;
            match came {
                Ok(came) => {
                    // What one worker cannot go on with ends the phase.
                    if came.error.is_some() {
                        control.stop();
                    }
                    let place = came.place;
                    back[place] = Some(came);
                }
                Err((_, said)) => {
                    control.stop();
                    broken = Some(said);
                }
            }
        }
        missing == 0
    });
    match broken {
        Some(said) => Err(Failure::Cannot(anyhow!("{said}"))),
        None => Ok((back, verdict)),
    }
}

/// What the workers of one job brought back.
#[derive(Default)]
struct Mine {
    notes: Vec<Recorder>,
    endings: Vec<Ending>,
    path: Option<PathTaken>,
    cpu: (Nanos, Nanos),
    error: Option<DeviceError>,
}

impl Mine {
    fn add(&mut self, back: Back) -> Result<(), Failure> {
        if let Some(error @ (DeviceError::Invalid(_) | DeviceError::System(_))) = &back.error
            && back.recorder.read.requests + back.recorder.write.requests == 0
        {
            // Nothing was measured: it is our doing or the system's, and the run says nothing.
            return Err(Failure::Cannot(anyhow!("{error}{}", hint(error))));
        }
        self.notes.push(back.recorder);
        self.endings.push(back.ending);
        self.path.get_or_insert(back.path);
        self.cpu = (self.cpu.0 + back.cpu.user, self.cpu.1 + back.cpu.system);
        self.error = self.error.take().or(back.error);
        Ok(())
    }

    /// A worker that never came back.
    fn lost(&mut self, copy: Recorder, timeout: Option<Nanos>) {
        self.notes.push(copy);
        self.endings.push(Ending::Stopped);
        let limit = timeout.map_or_else(String::new, |timeout| format!(" within {timeout}"));
        self.error = Some(DeviceError::Hung(format!(
            "a request got no answer{limit}; figures up to a second before it are kept"
        )));
    }

    fn job_run(self, plan: &Resolved, verdict: Option<Verdict>, target: &HostTarget, cold: bool) -> JobRun {
        let mut path = self.path.unwrap_or_else(|| target.path());
        path.in_use = target.path().in_use;
        if !plan.job.mode.is_direct() && plan.job.mix.has_reads() {
            path.flags.push(if cold { "page cache dropped before" } else { "page cache as it was" }.to_owned());
        }
        let ended: JobEnded = how_ended(&self.endings, self.error.as_ref());
        job_run(plan, &self.notes, path, Some(self.cpu), ended, verdict)
    }
}

fn hint(error: &DeviceError) -> &'static str {
    match error {
        DeviceError::System(said) if said.contains("EOPNOTSUPP") => {
            "\nhint: the device has no polled queues; leave --polled away"
        }
        DeviceError::System(said) if said.contains("EINVAL") => {
            "\nhint: direct I/O wants other sizes or alignment here; try a larger --bs, or --mode cached"
        }
        _ => "",
    }
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
