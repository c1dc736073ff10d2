//! Several workers at once (`-t`): threads that begin together, each on a file of its own. Unless told otherwise all stop as
//! soon as the first is done, so that all of what counts was done by all of them.

use crate::commands::bench::watch::bar;
use crate::{interrupt, output};
use flashscope_device::{FileCounts, FileError, FileSpace, WriteGrant};
use flashscope_host::load::HostFiles;
use flashscope_iozone::evidence::{Around, conclude};
use flashscope_iozone::measure::{Job, Timed, asked, elapsed, pass};
use flashscope_iozone::{Options, Plan};
use flashscope_model::iozone::{Child, Figure, Throughput};
use flashscope_units::Bytes;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What was measured until an error, and that.
type Measured = (Vec<Throughput>, Option<FileError>);

/// Every figure of every cell for every number of workers.
pub(super) fn throughput(
    files: &HostFiles,
    plan: &Plan,
    options: &Options,
    grant: &mut Option<WriteGrant>,
) -> Measured {
    let bar = bar("iozone", options.ours.json);
    let mut runs = Vec::new();
    for &workers in &plan.workers {
        for &(file, record) in &plan.cells {
            let team = Team { files, options, workers: workers as usize, file, record };
            let made = (!plan.figures.contains(&Figure::Write) && team.must_make()).then_some(Figure::Write);
            let figures: Vec<Figure> = made.into_iter().chain(plan.figures.iter().copied()).collect();
            let ours = figures.contains(&Figure::Write);
            for figure in figures {
                if interrupt::asked() {
                    return (runs, None);
                }
                bar.set_message(format!("{}, {workers} workers, {file} in records of {record}", figure.word()));
                bar.tick();
                match team.run(figure, ours, grant) {
                    // A file that only had to be there is not shown.
                    Ok(run) if plan.figures.contains(&figure) => runs.push(run),
                    Ok(_) => {}
                    Err(error) => return (runs, Some(error)),
                }
            }
            for number in 0..team.workers {
                if let (false, Err(error)) = (options.keep, files.remove(number)) {
                    return (runs, Some(error));
                }
            }
        }
    }
    bar.finish_and_clear();
    (runs, None)
}

struct Team<'a> {
    files: &'a HostFiles,
    options: &'a Options,
    workers: usize,
    file: Bytes,
    record: Bytes,
}

impl Team<'_> {
    fn must_make(&self) -> bool {
        (0..self.workers).any(|number| self.files.length(number).is_none_or(|there| there < self.file))
    }

    fn run(&self, figure: Figure, ours: bool, grant: &mut Option<WriteGrant>) -> Result<Throughput, FileError> {
        if self.options.ours.cold && figure != Figure::Write {
            (0..self.workers).try_for_each(|number| self.files.drop_cache(number))?;
        }
        let abort = interrupt::flag();
        let job =
            |number| Job { options: self.options, number, figure, file: self.file, record: self.record, ours, abort };
        let part = |_| grant.as_mut().filter(|_| figure.writes()).and_then(|grant| grant.split(self.file));
        let parts: Vec<Option<WriteGrant>> = (0..self.workers).map(part).collect();
        let (barrier, stop) = (Barrier::new(self.workers), AtomicBool::new(false));
        let before = self.counts();
        let timed: Vec<Result<Timed, FileError>> = std::thread::scope(|scope| {
            let workers: Vec<_> = parts
                .into_iter()
                .enumerate()
                .map(|(number, part)| {
                    let (job, barrier, stop) = (job(number), &barrier, &stop);
                    scope.spawn(move || self.worker(&job, part, barrier, stop))
                })
                .collect();
            while workers.iter().any(|worker| !worker.is_finished()) {
                if interrupt::asked() {
                    stop.store(true, Ordering::Relaxed);
                }
                std::thread::sleep(LOOK_EVERY);
            }
            workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).collect()
        });
        let after = self.counts();
        let timed: Vec<Timed> = timed.into_iter().collect::<Result<_, _>>()?;
        if figure.writes() {
            (0..self.workers).try_for_each(|number| self.files.settle(number))?;
        }
        Ok(self.conclude(&job(0), &timed, (before, after)))
    }

    fn worker(
        &self,
        job: &Job<'_>,
        mut part: Option<WriteGrant>,
        barrier: &Barrier,
        stop: &AtomicBool,
    ) -> Result<Timed, FileError> {
        if let Some(first) = self.options.processor {
            let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
            // Where that is not allowed the worker runs where the kernel likes, as iozone's do; but it is said.
            if let Err(why) = flashscope_host::pin_cpu((first + job.number) % count) {
                output::talk(&format!("warning: a worker of -P {first} runs where the kernel likes: {why}"));
            }
        }
        let mut began = false;
        let timed = pass(self.files, job, &mut part, stop, || {
            began = true;
            barrier.wait();
        });
        if !began {
            // The others wait for everyone.
            barrier.wait();
        }
        if !self.options.no_stonewall || timed.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        timed
    }

    /// Of all files together.
    fn counts(&self) -> FileCounts {
        let each: Vec<FileCounts> = (0..self.workers).map(|number| self.files.counts(number)).collect();
        let sum = |pick: fn(&FileCounts) -> Option<Bytes>| {
            let known: Vec<Bytes> = each.iter().filter_map(pick).collect();
            (!known.is_empty()).then(|| known.into_iter().sum())
        };
        FileCounts {
            device: each.first().and_then(|counts| counts.device),
            cached: sum(|counts| counts.cached),
            dirty: sum(|counts| counts.dirty),
            in_memory: each.first().and_then(|counts| counts.in_memory),
        }
    }

    fn conclude(&self, job: &Job<'_>, timed: &[Timed], (before, after): (FileCounts, FileCounts)) -> Throughput {
        let child = |timed: &Timed| Child {
            records: timed.records,
            moved: self.record * timed.records,
            elapsed: elapsed(timed),
            mismatched: timed.mismatched,
            failure: timed.failure.clone(),
        };
        let children: Vec<Child> = timed.iter().map(child).collect();
        let moved: Bytes = children.iter().map(|child| child.moved).sum();
        let first = timed.iter().map(|timed| timed.started).min();
        let last = timed.iter().map(|timed| timed.ended).max();
        let elapsed = first.zip(last).map(|(first, last)| last.since(first)).unwrap_or_default();
        let direct = self.options.direct;
        let evidence = conclude(Around { asked: asked(job, moved), direct, before, after });
        Throughput { figure: job.figure, file: self.file, record: self.record, children, elapsed, evidence }
    }
}

/// How often it is looked whether all are done.
const LOOK_EVERY: Duration = Duration::from_millis(2);
