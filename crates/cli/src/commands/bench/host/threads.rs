//! Workers in threads of their own: sent off, gathered again, and what each brought back.

use super::super::simulated::how_stopped;
use super::super::watch::Watch;
use crate::error::Failure;
use crate::interrupt;
use anyhow::anyhow;
use flashscope_device::{DeviceError, Target};
use flashscope_host::HostTarget;
use flashscope_host::load::usage::CpuTime;
use flashscope_host::load::{AnyLane, LaneOptions, LoadFile};
use flashscope_load::control::Control;
use flashscope_load::drive::drive;
use flashscope_load::outcome::{CpuTimes, job_run};
use flashscope_load::plan::Resolved;
use flashscope_load::record::Recorder;
use flashscope_load::steady::Verdict;
use flashscope_load::worker::Worker;
use flashscope_model::StopReason;
use flashscope_model::bench::JobRun;
use flashscope_model::run::PathTaken;
use flashscope_units::Nanos;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Barrier};

/// What a worker's thread tells.
pub(super) enum Told {
    /// It begins, in this place, and requests take this way.
    Begins(usize, PathTaken),
    /// It is done.
    Done(Box<Back>),
    /// It has no lane: why.
    Broken(String),
}

/// What comes back from a worker's thread.
pub(super) struct Back {
    place: usize,
    recorder: Recorder,
    stop: StopReason,
    cpu: CpuTime,
    error: Option<DeviceError>,
}

/// What a worker's thread takes along.
pub(super) struct Errand {
    pub(super) place: usize,
    pub(super) worker: Worker,
    pub(super) file: LoadFile,
    pub(super) options: LaneOptions,
    pub(super) barrier: Arc<Barrier>,
    pub(super) control: Arc<Control>,
}

/// One worker in a thread of its own. Not joined: one that hangs in the kernel cannot be.
pub(super) fn start(errand: Errand, to: Sender<Told>) {
    std::thread::spawn(move || {
        let Errand { place, mut worker, file, options, barrier, control } = errand;
        // What is due at a time of its own is handed over then, not up to 50 µs later.
        flashscope_host::exact_timers();
        let lane = keep_to(&worker).and_then(|()| file.lane(&options).map_err(|error| error.to_string()));
        if let Ok(lane) = &lane {
            let _ = to.send(Told::Begins(place, file.path(lane, options.depth)));
        }
        barrier.wait();
        let mut lane = match lane {
            Ok(lane) => lane,
            Err(error) => {
                let _ = to.send(Told::Broken(error));
                return;
            }
        };
        let began = CpuTime::of_this_thread();
        // Unwrapped here, so that nothing is looked up per request.
        let error = match &mut lane {
            AnyLane::Sync(lane) => drive(&mut worker, lane, &control, place),
            AnyLane::Uring(lane) => drive(&mut worker, lane.as_mut(), &control, place),
            AnyLane::Aio(lane) => drive(&mut worker, lane.as_mut(), &control, place),
            AnyLane::Map(lane) => drive(&mut worker, lane, &control, place),
            AnyLane::Whole(lane) => drive(&mut worker, lane.as_mut(), &control, place),
            AnyLane::Null(lane) => drive(&mut worker, lane, &control, place),
        };
        let cpu = CpuTime::of_this_thread().since(began);
        let (stop, recorder) = (worker.stop_reason().clone(), worker.into_recorder());
        let _ = to.send(Told::Done(Box::new(Back { place, recorder, stop, cpu, error: error.err() })));
    });
}

/// Keeps this thread to the processors that its job names.
fn keep_to(worker: &Worker) -> Result<(), String> {
    let Some(processors) = &worker.plan().job.processors else { return Ok(()) };
    let processors: Vec<usize> = processors.iter().map(|processor| *processor as usize).collect();
    flashscope_host::pin_cpus(&processors).map_err(|why| format!("{why}\nhint: `nproc` tells how many there are"))
}

/// What all threads brought back.
pub(super) struct Gathered {
    /// By place; `None` for one that never came.
    pub(super) back: Vec<Option<Back>>,
    /// The way that each one's requests took.
    pub(super) paths: Vec<Option<PathTaken>>,
    /// Of a steady state that was waited for.
    pub(super) verdict: Option<Verdict>,
    /// Whether a request took longer than it may.
    pub(super) has_hung: bool,
}

/// Until all threads are back, or are given up. `ends_all` tells of every place whether its end is that of all.
pub(super) fn gather(watch: &mut Watch<'_>, from: &Receiver<Told>, ends_all: &[bool]) -> Result<Gathered, Failure> {
    let count = ends_all.len();
    let mut back: Vec<Option<Back>> = (0..count).map(|_| None).collect();
    let mut paths = vec![None; count];
    let (mut missing, mut broken) = (count, None);
    let control = watch.control;
    let verdict = watch.run(|| {
        while let Ok(came) = from.try_recv() {
            match came {
                Told::Begins(place, path) => paths[place] = Some(path),
                Told::Done(came) => {
                    missing -= 1;
                    // What one worker cannot go on with ends the phase, and so does one whose end is to be that of all.
                    if came.error.is_some() || ends_all[came.place] {
                        control.stop();
                    }
                    let place = came.place;
                    back[place] = Some(*came);
                }
                Told::Broken(said) => {
                    missing -= 1;
                    control.stop();
                    broken = Some(said);
                }
            }
        }
        missing == 0
    });
    match broken {
        Some(said) => Err(Failure::Cannot(anyhow!("{said}"))),
        None => Ok(Gathered { back, paths, verdict, has_hung: watch.has_hung }),
    }
}

/// What the workers of one job brought back.
#[derive(Default)]
pub(super) struct Mine {
    pub(super) notes: Vec<Recorder>,
    stops: Vec<StopReason>,
    path: Option<PathTaken>,
    cpu: CpuTimes,
    error: Option<DeviceError>,
}

impl Mine {
    /// Of workers whose requests took this way.
    pub(super) fn along(path: Option<PathTaken>) -> Mine {
        Mine { path, ..Mine::default() }
    }

    pub(super) fn add(&mut self, back: Back) -> Result<(), Failure> {
        if let Some(error @ (DeviceError::Invalid(_) | DeviceError::System(_))) = &back.error
            && back.recorder.read.requests + back.recorder.write.requests == 0
        {
            // Nothing was measured: it is our doing or the system's, and the run says nothing.
            return Err(Failure::Cannot(anyhow!("{error}{}", hint(error))));
        }
        self.notes.push(back.recorder);
        self.stops.push(back.stop);
        self.cpu.total += back.cpu.total;
        self.cpu.user += back.cpu.user;
        self.cpu.system += back.cpu.system;
        self.error = self.error.take().or(back.error);
        Ok(())
    }

    /// A request took longer than it may; those who were stopped for that say so, even though it came back at last.
    pub(super) fn hung(&mut self, timeout: Nanos) {
        if !self.stops.contains(&StopReason::Stopped) {
            return;
        }
        self.error.get_or_insert_with(|| DeviceError::Hung(format!("a request got no answer within {timeout}")));
    }

    /// A worker that never came back.
    pub(super) fn lost(&mut self, copy: Recorder, timeout: Option<Nanos>) {
        self.notes.push(copy);
        self.stops.push(StopReason::Stopped);
        let limit = match timeout {
            _ if interrupt::asked() => " before the run was stopped".to_owned(),
            Some(timeout) => format!(" within {timeout}"),
            None => String::new(),
        };
        self.error = Some(DeviceError::Hung(format!(
            "a request got no answer{limit}; figures up to a second before it are kept"
        )));
    }

    pub(super) fn job_run(self, plan: &Resolved, verdict: Option<Verdict>, target: &HostTarget, cold: bool) -> JobRun {
        let mut path = self.path.unwrap_or_else(|| target.path());
        path.in_use = target.path().in_use;
        if !plan.job.mode.is_direct() && plan.job.mix.has_reads() {
            path.flags.push(if cold { "page cache dropped before" } else { "page cache as it was" }.to_owned());
        }
        let stop = how_stopped(&self.stops, self.error.as_ref());
        job_run(plan, &self.notes, path, Some(self.cpu), stop, verdict)
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
