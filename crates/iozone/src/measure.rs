//! The passes: one figure over one file, timed as iozone times it; and the matrix of them.

use crate::evidence::{Around, conclude};
use crate::options::Options;
use crate::plan::{Plan, way};
use crate::steps::Steps;
use flashscope_device::{FileError, FileOpening, FileSpace, FileWay, FileWork, Step, WriteGrant};
use flashscope_model::iozone::{Figure, Pass, PassFailure};
use flashscope_units::{Bytes, Instant, Nanos};
use std::sync::atomic::{AtomicBool, Ordering};

/// One pass that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// How.
    pub options: &'a Options,
    /// On which file.
    pub number: usize,
    /// What.
    pub figure: Figure,
    /// Size of the file.
    pub file: Bytes,
    /// Size of a record.
    pub record: Bytes,
    /// Whether the file was written here, so that what is read can be checked.
    pub ours: bool,
    /// Set when all is to end.
    pub abort: &'a AtomicBool,
}

/// What a pass did, by the clock.
#[derive(Clone, Debug)]
pub struct Timed {
    /// Records that went well in that time.
    pub records: u64,
    /// Records that came back with other bytes.
    pub mismatched: u64,
    /// When the first was asked for.
    pub started: Instant,
    /// When the last was done, with flush and close where that was asked for.
    pub ended: Instant,
    /// Why it ended early; being stopped is none.
    pub failure: Option<PassFailure>,
}

impl Job<'_> {
    /// Records in the file; what is left over at its end is not touched.
    pub fn count(&self) -> u64 {
        self.file / self.record
    }

    fn steps(&self) -> Steps {
        let (options, seed) = (self.options, self.options.ours.seed);
        Steps::new(self.figure, self.record.get(), self.count(), options.stride, options.reads, seed)
    }
}

/// Makes one pass. `begin` is called right before the clock starts; as soon as `stop` is set the pass ends, and what a first write
/// has not written by then is written outside the timing, so that there is a file to go on with.
///
/// # Errors
/// Where the file cannot be worked on at all. What the device fails to do is in [`Timed::failure`].
pub fn pass<S: FileSpace>(
    space: &S,
    job: &Job<'_>,
    grant: &mut Option<WriteGrant>,
    stop: &AtomicBool,
    begin: impl FnOnce(),
) -> Result<Timed, FileError> {
    let options = job.options;
    let mut file = match open(space, job, grant) {
        Ok(file) => file,
        Err(FileError::Failed { operation, name, said }) => {
            begin();
            let failure = PassFailure { offset: Bytes::ZERO, reason: format!("cannot {operation} {name}: {said}") };
            let now = space.now();
            return Ok(Timed { records: 0, mismatched: 0, started: now, ended: now, failure: Some(failure) });
        }
        Err(error) => return Err(error),
    };
    // As iozone does: the first record is in memory, and the way to it warm, when the clock starts.
    if matches!(job.figure, Figure::Read | Figure::Reread) && !options.ours.cold && !options.direct {
        file.pass(std::iter::once(Step { offset: 0, write: false }), stop);
    }
    if options.purge {
        purge(options.processor_cache);
    }
    let mut steps = job.steps();
    begin();
    let started = space.now();
    let passed = file.pass(steps.by_ref(), stop);
    let flushed = if options.flush { file.flush() } else { Ok(()) };
    let mut failure = passed
        .failed
        .map(|(step, reason)| PassFailure { offset: Bytes(step.offset), reason })
        .or_else(|| late(flushed));
    let ended = if options.close {
        failure = failure.or_else(|| late(file.close()));
        space.now()
    } else {
        let ended = space.now();
        if job.figure == Figure::Write && failure.is_none() {
            // A worker that was stopped because another was done leaves a whole file all the same.
            file.pass(steps, job.abort);
        }
        failure = failure.or_else(|| late(file.close()));
        ended
    };
    Ok(Timed { records: passed.records, mismatched: passed.mismatched, started, ended, failure })
}

fn late(result: Result<(), String>) -> Option<PassFailure> {
    result.err().map(|reason| PassFailure { offset: Bytes::ZERO, reason })
}

fn open<S: FileSpace>(space: &S, job: &Job<'_>, grant: &mut Option<WriteGrant>) -> Result<S::File, FileError> {
    let options = job.options;
    let part = match grant {
        Some(grant) if job.figure.writes() => {
            if job.figure == Figure::Write {
                space.make(job.number, grant)?;
            }
            Some(grant.split(job.file).ok_or_else(|| spent(job))?)
        }
        _ if job.figure.writes() => return Err(spent(job)),
        _ => None,
    };
    let way = way(job.figure, options);
    // A memory map has pages of its own and waits for the medium by msync only.
    let direct = options.direct && way != FileWay::Map;
    space.open(
        job.number,
        FileOpening {
            way,
            direct,
            durable: options.durable,
            record: job.record,
            length: job.file,
            check: job.ours,
            grant: part,
        },
    )
}

fn spent(job: &Job<'_>) -> FileError {
    let said = "the right to write is used up".to_owned();
    FileError::System { operation: "write to", name: format!("file {}", job.number), said }
}

/// Goes through as much memory as the processor's cache holds.
fn purge(size: Bytes) {
    let mut memory = vec![1u8; size.get() as usize];
    for byte in memory.iter_mut().step_by(32) {
        *byte = byte.wrapping_add(1);
    }
    std::hint::black_box(&memory);
}

/// What the caller of [`matrix`] hears.
pub trait Watcher {
    /// A pass begins.
    fn begins(&mut self, figure: Figure, file: Bytes, record: Bytes);
    /// A pass is over.
    fn ended(&mut self, pass: &Pass);
}

/// Makes every pass of the plan on file 0, until `stop` is set. A file that is there already and large enough is read
/// where nothing is to be written to it; else one is made, outside the timing where test 0 is not asked for.
///
/// # Errors
/// With what was measured until then.
pub fn matrix<S: FileSpace>(
    space: &S,
    plan: &Plan,
    options: &Options,
    grant: &mut Option<WriteGrant>,
    stop: &AtomicBool,
    watcher: &mut impl Watcher,
) -> (Vec<Pass>, Option<FileError>) {
    let mut passes = Vec::new();
    for &(file, record) in &plan.cells {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let cell = Cell { space, plan, options, file, record };
        if let Err(error) = cell.run(grant, stop, watcher, &mut passes) {
            let _ = space.remove(0);
            return (passes, Some(error));
        }
        if !options.keep
            && let Err(error) = space.remove(0)
        {
            return (passes, Some(error));
        }
    }
    (passes, None)
}

struct Cell<'a, S> {
    space: &'a S,
    plan: &'a Plan,
    options: &'a Options,
    file: Bytes,
    record: Bytes,
}

impl<S: FileSpace> Cell<'_, S> {
    fn run(
        &self,
        grant: &mut Option<WriteGrant>,
        stop: &AtomicBool,
        watcher: &mut impl Watcher,
        passes: &mut Vec<Pass>,
    ) -> Result<(), FileError> {
        let job = |figure, ours| Job {
            options: self.options,
            number: 0,
            figure,
            file: self.file,
            record: self.record,
            ours,
            abort: stop,
        };
        let mut ours = false;
        if !self.plan.figures.contains(&Figure::Write) && self.space.length(0).is_none_or(|there| there < self.file) {
            let made = pass(self.space, &job(Figure::Write, false), grant, stop, || {})?;
            if let Some(failure) = made.failure {
                let said = failure.reason;
                return Err(FileError::Failed { operation: "fill", name: "the file".to_owned(), said });
            }
            self.space.settle(0)?;
            ours = true;
        }
        for &figure in &self.plan.figures {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            watcher.begins(figure, self.file, self.record);
            ours |= figure == Figure::Write;
            let pass = self.one(&job(figure, ours), grant, stop)?;
            watcher.ended(&pass);
            let failed = pass.failure.is_some();
            passes.push(pass);
            if failed && figure == Figure::Write {
                // Nothing is there that the others could work on.
                break;
            }
        }
        Ok(())
    }

    fn one(&self, job: &Job<'_>, grant: &mut Option<WriteGrant>, stop: &AtomicBool) -> Result<Pass, FileError> {
        if self.options.ours.cold && job.figure != Figure::Write {
            self.space.drop_cache(0)?;
        }
        let before = self.space.counts(0);
        let timed = pass(self.space, job, grant, stop, || {})?;
        let after = self.space.counts(0);
        let mut failure = timed.failure.clone();
        if failure.is_none() && timed.records < job.count() {
            let offset = self.record * timed.records;
            failure = Some(PassFailure { offset, reason: "stopped".to_owned() });
        }
        if let Err(error) = self.space.settle(0) {
            match error {
                // Written, acknowledged, and lost on the way: the pass did not do what its time says.
                FileError::Failed { said, .. } => {
                    failure = failure.or(Some(PassFailure { offset: Bytes::ZERO, reason: said }));
                }
                error => return Err(error),
            }
        }
        Ok(finished(job, &timed, failure, self.options, (before, after)))
    }
}

fn finished(
    job: &Job<'_>,
    timed: &Timed,
    failure: Option<PassFailure>,
    options: &Options,
    (before, after): (flashscope_device::FileCounts, flashscope_device::FileCounts),
) -> Pass {
    let moved = job.record * timed.records;
    let evidence = conclude(Around { asked: asked(job, moved), direct: options.direct, before, after });
    Pass {
        figure: job.figure,
        file: job.file,
        record: job.record,
        records: timed.records,
        moved,
        elapsed: elapsed(timed),
        mismatched: timed.mismatched,
        failure,
        evidence,
    }
}

/// How long it took.
pub fn elapsed(timed: &Timed) -> Nanos {
    timed.ended.since(timed.started)
}

/// What was read and what was written, of so much that was moved.
pub fn asked(job: &Job<'_>, moved: Bytes) -> (Bytes, Bytes) {
    match (job.figure.reads(), job.figure.writes()) {
        (true, true) => {
            let read = Bytes((moved.as_f64() * job.options.reads) as u64);
            (read, moved - read)
        }
        (true, false) => (moved, Bytes::ZERO),
        _ => (Bytes::ZERO, moved),
    }
}
