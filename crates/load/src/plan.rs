//! From what was asked for to what will be done: a job checked against a target, with nothing left open.

use crate::job::{Arrivals, EngineChoice, Job, JobSet, Mode, Pattern, Payload, Phase, Sharing, Sizes, Verify};
use flashscope_units::Bytes;
use std::fmt;

/// What a plan has to know of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Its size.
    pub capacity: Bytes,
    /// Offsets and sizes are multiples of this where the page cache is passed by.
    pub granularity: Bytes,
}

/// A job that can be run as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The job; its span has a length, its engine is chosen, and it ends.
    pub job: Job,
    /// Start and length of the part that each worker uses.
    pub parts: Vec<(Bytes, Bytes)>,
}

/// Largest queue of a worker.
pub const MOST_DEPTH: u32 = 4096;
/// Jobs of one file or command line.
pub const MOST_JOBS: usize = 1024;
/// Most workers of a job.
pub const MOST_WORKERS: u32 = 1024;
/// Most files of a job: what one process may have open by default, with some to spare.
pub const MOST_FILES: u32 = 1000;
/// Largest request: what Linux moves in one call (`MAX_RW_COUNT`).
pub const LARGEST_REQUEST: Bytes = Bytes(0x7fff_f000);

/// Why a job cannot be run. Prints as one line and a hint on its own line.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanError {
    /// A set without phases, or a phase without jobs.
    NothingToDo,
    /// Two jobs of one name.
    SameName(String),
    /// A field holds what makes no sense.
    Field {
        /// Which.
        field: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The span does not lie within the target.
    TooLarge {
        /// What was asked for.
        asked: Bytes,
        /// What there is from its start on.
        there: Bytes,
    },
    /// Larger requests than the span, or than a worker's part of it.
    NoRoom {
        /// The largest request.
        request: Bytes,
        /// The room for it.
        room: Bytes,
    },
    /// Not a multiple of the target's block.
    Unaligned {
        /// Which field.
        field: &'static str,
        /// Its value.
        value: Bytes,
        /// The block.
        block: Bytes,
    },
    /// The engine does one request at a time.
    EngineHasNoQueue {
        /// Which.
        engine: EngineChoice,
    },
    /// Too many blocks to keep track of.
    TooMuchToVerify {
        /// How many.
        blocks: u64,
        /// How many can be.
        most: u64,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingToDo => write!(f, "there is no job to run"),
            Self::SameName(name) => write!(f, "two jobs are called '{name}'\nhint: give each a name of its own"),
            Self::Field { field, why } => write!(f, "{field}: {why}"),
            Self::TooLarge { asked, there } => write!(
                f,
                "the job uses {asked}, but the target has {there} from there on\nhint: ask for less with --size, or \
                 leave it away to use all there is"
            ),
            Self::NoRoom { request, room } => write!(
                f,
                "requests of {request} do not fit {room}\nhint: smaller blocks, a larger span, or fewer jobs that have \
                 parts of it"
            ),
            Self::Unaligned { field, value, block } => write!(
                f,
                "{field} of {} bytes is not a multiple of the target's block of {block}\nhint: past the page cache only \
                 whole blocks can be moved; --mode cached takes any size",
                value.get()
            ),
            Self::EngineHasNoQueue { engine } => write!(
                f,
                "the engine {} does one request at a time\nhint: use --engine uring for a queue, or --jobs for several \
                 workers",
                engine.name()
            ),
            Self::TooMuchToVerify { blocks, most } => write!(
                f,
                "{blocks} blocks are more than can be kept track of ({most})\nhint: verify a smaller span, or larger blocks"
            ),
        }
    }
}

impl std::error::Error for PlanError {}

impl EngineChoice {
    /// Its name, as it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            EngineChoice::Auto => "auto",
            EngineChoice::Sync => "sync",
            EngineChoice::Uring => "uring",
            EngineChoice::Aio => "aio",
            EngineChoice::Mmap => "mmap",
            EngineChoice::Whole => "whole",
            EngineChoice::Null => "null",
        }
    }
}

/// Checks every job of a set, and that their names tell them apart.
pub fn resolve_set(set: &JobSet, limits: impl Fn(&Job) -> Limits) -> Result<Vec<Vec<Resolved>>, PlanError> {
    let mut names: Vec<&str> = set.phases.iter().flat_map(|phase| &phase.jobs).map(|job| job.name.as_str()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(PlanError::SameName(pair[0].to_owned()));
    }
    if set.phases.is_empty() || set.phases.iter().any(|phase: &Phase| phase.jobs.is_empty()) {
        return Err(PlanError::NothingToDo);
    }
    let phase = |phase: &Phase| phase.jobs.iter().map(|job| resolve(job, limits(job))).collect();
    set.phases.iter().map(phase).collect()
}

/// Checks a job against a target and fills in what it left open: the length of the span, the engine, and that it ends
/// after one pass where nothing else ends it.
pub fn resolve(job: &Job, limits: Limits) -> Result<Resolved, PlanError> {
    let mut job = job.clone();
    check_numbers(&job)?;
    let there = limits.capacity.checked_sub(job.span.start).unwrap_or(Bytes::ZERO);
    let unit = if job.mode.is_direct() { limits.granularity } else { Bytes(1) };
    let shifts = match job.sharing {
        Sharing::Shifted(shift) => Bytes(shift.get().saturating_mul(u64::from(job.workers - 1))),
        Sharing::Whole | Sharing::Parts => Bytes::ZERO,
    };
    let length = job.span.length.unwrap_or(there.saturating_sub(shifts).align_down(unit));
    if length == Bytes::ZERO || length.get().checked_add(shifts.get()).is_none_or(|all| all > there.get()) {
        return Err(PlanError::TooLarge { asked: Bytes(length.get().saturating_add(shifts.get())), there });
    }
    job.span.length = Some(length);
    check_alignment(&job, unit)?;
    if let Some(files) = job.laid() {
        check_files(&job, limits.capacity, files)?;
    }
    prepare_verification(&mut job)?;
    job.flush.at_end |= job.mode == Mode::Fdatasync && job.mix.has_writes();
    choose_engine(&mut job)?;
    let parts = parts(&job, length)?;
    let largest = job.largest();
    let stop = &mut job.stop;
    if stop.bytes.is_none() && stop.requests.is_none() && stop.time.is_none() && stop.steady.is_none() {
        // Whole requests only: what is left over at the end of a part is too small for one.
        let part = parts.iter().map(|(_, length)| *length).min().unwrap_or(length);
        stop.bytes = Some(part.align_down(largest));
    }
    Ok(Resolved { job, parts })
}

impl Resolved {
    /// The most that it can write, counted in whole units (a power of two) of which every write touches some; `None` where only
    /// time or the device's behaviour ends it.
    pub fn most_written(&self, unit: Bytes) -> Option<Bytes> {
        if !self.job.mix.has_writes() {
            return Some(Bytes::ZERO);
        }
        let sizes = &self.job.write_sizes;
        let largest = sizes.largest();
        let by_count = self.job.stop.requests.and_then(|count| count.checked_mul(self.touched(largest, unit)));
        // The last request may go beyond the mark, by the more the more sizes differ.
        let smallest = self.job.smallest();
        let by_bytes = self.job.stop.bytes.map(|bytes| {
            let bytes = bytes.align_up(smallest) + (largest.saturating_sub(smallest));
            // The worst is all of the size that costs most for its bytes.
            let cost = |size: Bytes| match self.touched(size, unit) {
                touched if touched == size.get() => bytes.get(),
                touched => bytes.get().div_ceil(size.get()).saturating_mul(touched),
            };
            sizes.0.iter().filter(|(_, weight)| *weight > 0).map(|(size, _)| cost(*size)).max().unwrap_or(0)
        });
        let each = match (by_count, by_bytes) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, other) => one.or(other),
        };
        each.and_then(|each| each.checked_mul(u64::from(self.job.workers))).map(Bytes)
    }

    /// Bytes of the whole units that one write of this size touches where it lies worst.
    fn touched(&self, size: Bytes, unit: Bytes) -> u64 {
        let (size, unit) = (size.get(), unit.get().max(1));
        let worst = unit - self.step().min(unit);
        (worst + size).div_ceil(unit) * unit
    }

    /// All places of its requests are multiples of this: a power of two.
    fn step(&self) -> u64 {
        let Job { pattern, sharing, read_sizes, write_sizes, align, .. } = &self.job;
        let stride = match pattern {
            Pattern::Strided { stride } | Pattern::Skipping { stride } => Some(*stride),
            _ => None,
        };
        let shift = if let Sharing::Shifted(shift) = sharing { Some(*shift) } else { None };
        let sizes = read_sizes.0.iter().chain(&write_sizes.0).map(|(size, _)| *size);
        let starts = self.parts.iter().map(|(start, _)| *start);
        let all = sizes.chain(starts).chain(*align).chain(stride).chain(shift);
        // The lowest bit that any of them has.
        let bits = all.fold(0, |bits, value| bits | value.get());
        1_u64.checked_shl(bits.trailing_zeros()).unwrap_or(1 << 63)
    }
}

fn field(field: &'static str, why: impl Into<String>) -> PlanError {
    PlanError::Field { field, why: why.into() }
}

fn check_numbers(job: &Job) -> Result<(), PlanError> {
    let in_unit = |value: f64| (0.0..=1.0).contains(&value);
    let ensure = |holds: bool, name: &'static str, why: &str| if holds { Ok(()) } else { Err(field(name, why)) };
    ensure(in_unit(job.mix.reads), "read share", "must be from 0 to 1")?;
    for (name, sizes) in [("block size", &job.read_sizes), ("block size", &job.write_sizes)] {
        check_sizes(name, sizes)?;
    }
    ensure((1..=MOST_DEPTH).contains(&job.queue_depth), "queue depth", "must be from 1 to 4096")?;
    ensure((1..=MOST_WORKERS).contains(&job.workers), "jobs", "must be from 1 to 1024")?;
    ensure(job.laid().is_none_or(|files| (1..=MOST_FILES).contains(&files)), "files", "must be from 1 to 1000")?;
    ensure(job.files.is_none() || job.more.is_empty(), "files", "are either made in a directory or named")?;
    ensure(job.processors.as_ref().is_none_or(|list| !list.is_empty()), "processors", "there is none")?;
    for (name, batch) in [("batch", job.batch), ("reap", job.reap)] {
        let sound = batch.is_none_or(|batch| (1..=job.queue_depth).contains(&batch));
        ensure(sound, name, "must be from 1 to the queue depth")?;
    }
    ensure(job.flush.every != Some(0), "flush", "must be after at least 1 write")?;
    ensure(job.align != Some(Bytes::ZERO), "align", "must be at least 1 byte")?;
    match job.pattern {
        Pattern::Zipf { theta } => ensure(theta.is_finite() && theta > 0.0, "zipf", "theta must be above 0")?,
        Pattern::HotCold { span, requests } => {
            ensure(in_unit(span) && in_unit(requests) && span > 0.0, "hot", "shares must be above 0 and up to 1")?;
        }
        Pattern::Strided { stride } | Pattern::Skipping { stride } => {
            ensure(stride > Bytes::ZERO, "stride", "must be at least 1 byte")?
        }
        Pattern::RandomOnce => {
            let sizes =
                [job.mix.has_reads().then_some(&job.read_sizes), job.mix.has_writes().then_some(&job.write_sizes)];
            let same = sizes.iter().flatten().all(|sizes| sizes.0.len() == 1 && sizes.largest() == job.largest());
            ensure(same, "pattern", "every place once needs one block size")?;
        }
        Pattern::Pareto { h } => ensure(h > 0.0 && h < 1.0, "pareto", "must be above 0 and below 1")?,
        Pattern::Sequential | Pattern::Backward | Pattern::Random | Pattern::Zoned(_) => {}
    }
    match job.arrivals {
        Arrivals::Rate { per_second, .. } => {
            ensure(
                per_second.is_finite() && (1e-3..=1e9).contains(&per_second),
                "rate",
                "must be from 0.001 to 1e9 per second",
            )?;
        }
        Arrivals::Think { every, .. } => ensure(every > 0, "think time", "must be after at least 1 request")?,
        Arrivals::AsFastAsPossible => {}
    }
    if let Payload::Compressible(share) = job.payload {
        ensure(in_unit(share), "payload", "the compressible share must be from 0 to 1")?;
    }
    if let Some(steady) = job.stop.steady {
        ensure(
            steady.at_most >= 5 && steady.round.get() > 0,
            "steady",
            "needs rounds of some length, and at least 5 of them",
        )?;
    }
    let stop = &job.stop;
    ensure(stop.bytes != Some(Bytes::ZERO) && stop.requests != Some(0), "stop", "must be after at least 1 request")?;
    ensure(stop.time.is_none_or(|time| time.get() > 0), "run time", "must be longer than nothing")
}

fn check_sizes(name: &'static str, sizes: &Sizes) -> Result<(), PlanError> {
    if sizes.0.is_empty() || sizes.0.iter().map(|(_, weight)| u64::from(*weight)).sum::<u64>() == 0 {
        return Err(field(name, "there is none"));
    }
    match sizes.0.iter().find(|(size, _)| *size == Bytes::ZERO || *size > LARGEST_REQUEST) {
        Some((size, _)) => Err(field(name, format!("{size} is not between 1 B and {LARGEST_REQUEST}"))),
        None => Ok(()),
    }
}

fn check_alignment(job: &Job, unit: Bytes) -> Result<(), PlanError> {
    let sizes = [(job.mix.has_reads(), &job.read_sizes), (job.mix.has_writes(), &job.write_sizes)];
    let sizes = sizes.into_iter().filter(|(used, _)| *used).flat_map(|(_, sizes)| &sizes.0);
    let stride = match job.pattern {
        Pattern::Strided { stride } | Pattern::Skipping { stride } => Some(("stride", stride)),
        _ => None,
    };
    let align = job.align.map(|align| ("align", align));
    let shift = if let Sharing::Shifted(shift) = job.sharing { Some(("shift", shift)) } else { None };
    let values = sizes.map(|(size, _)| ("block size", *size)).chain(stride).chain(align).chain(shift);
    for (field, value) in values.chain([("offset", job.span.start)]) {
        if !value.is_multiple_of(unit) {
            return Err(PlanError::Unaligned { field, value, block: unit });
        }
    }
    Ok(())
}

/// No request may lie in two files: all places and files are whole multiples of one size.
fn check_files(job: &Job, capacity: Bytes, files: u32) -> Result<(), PlanError> {
    let block = job.largest();
    let stride = match job.pattern {
        Pattern::Strided { stride } | Pattern::Skipping { stride } => stride,
        _ => block,
    };
    let shift = if let Sharing::Shifted(shift) = job.sharing { shift } else { block };
    let places = if job.smallest() == block { job.align.unwrap_or(block) } else { job.align.unwrap_or(Bytes(1)) };
    let one_size = job.smallest() == block || job.pattern.is_random();
    let whole = [stride, shift, places, capacity / u64::from(files.max(1))].iter().all(|of| of.is_multiple_of(block));
    match one_size && whole && job.span.start.is_multiple_of(block) {
        true => Ok(()),
        false => Err(field(
            "files",
            "a request would lie in two files\nhint: one block size, of which every file holds a whole number",
        )),
    }
}

fn prepare_verification(job: &mut Job) -> Result<(), PlanError> {
    match job.verify {
        Verify::Nothing => Ok(()),
        Verify::Generation(_) if job.mix.has_writes() => Err(field(
            "verify",
            "a job that writes too would find its own writes\nhint: use --verify without a generation",
        )),
        Verify::Generation(_) => whole_words(job),
        Verify::Written => {
            let size = job.largest();
            let sizes = [&job.read_sizes, &job.write_sizes];
            let used = [job.mix.has_reads(), job.mix.has_writes()];
            let one =
                sizes.iter().zip(used).all(|(sizes, used)| !used || sizes.0.iter().all(|(other, _)| *other == size));
            if !one || job.align.is_some_and(|align| !align.is_multiple_of(size)) {
                return Err(field("verify", "needs one block size, and requests that do not overlap in part"));
            }
            if let Pattern::Strided { stride } | Pattern::Skipping { stride } = job.pattern
                && !stride.is_multiple_of(size)
            {
                return Err(field("verify", "needs a stride of whole blocks"));
            }
            if !job.mix.has_writes() {
                return Err(field(
                    "verify",
                    "this job writes nothing\nhint: --verify-generation checks what an earlier job wrote",
                ));
            }
            if matches!(job.payload, Payload::Compressible(_) | Payload::Byte(_) | Payload::Urandom) {
                return Err(field("payload", "verification makes its own, which tells its position and generation"));
            }
            job.payload = Payload::Tagged { generation: 1 };
            match job.sharing {
                Sharing::Shifted(shift) if job.span.length.is_some_and(|length| shift < length) => {
                    return Err(field(
                        "verify",
                        "workers would write over each other's blocks: shift them by a whole span",
                    ));
                }
                Sharing::Shifted(_) => {}
                Sharing::Whole | Sharing::Parts => job.sharing = Sharing::Parts,
            }
            whole_words(job)
        }
    }
}

/// Tags are words of 8 bytes.
fn whole_words(job: &Job) -> Result<(), PlanError> {
    check_alignment(job, Bytes(8))
}

fn choose_engine(job: &mut Job) -> Result<(), PlanError> {
    match job.engine {
        EngineChoice::Auto => {
            job.engine = if job.queue_depth > 1 { EngineChoice::Uring } else { EngineChoice::Sync };
            Ok(())
        }
        engine @ (EngineChoice::Sync | EngineChoice::Mmap | EngineChoice::Whole) if job.queue_depth > 1 => {
            Err(PlanError::EngineHasNoQueue { engine })
        }
        EngineChoice::Whole => {
            let block = job.largest();
            let places = job.align.unwrap_or(block);
            let parted = if let Sharing::Shifted(shift) = job.sharing { shift } else { block };
            let strided = match job.pattern {
                Pattern::Strided { stride } | Pattern::Skipping { stride } => stride,
                _ => block,
            };
            let one =
                [job.smallest(), places, parted, strided, job.span.start].iter().all(|of| of.is_multiple_of(block));
            match one && job.laid().is_none() {
                true => Ok(()),
                false => Err(field(
                    "engine",
                    "with whole files every request is one of them\nhint: one block size, and places that are multiples of it",
                )),
            }
        }
        EngineChoice::Mmap if job.mode.is_direct() => {
            Err(field("engine", "mmap goes through the page cache\nhint: add --mode cached or --mode fdatasync"))
        }
        _ => Ok(()),
    }
}

fn parts(job: &Job, length: Bytes) -> Result<Vec<(Bytes, Bytes)>, PlanError> {
    let (start, workers) = (job.span.start, u64::from(job.workers));
    let parts: Vec<_> = match job.sharing {
        Sharing::Whole => vec![(start, length); job.workers as usize],
        Sharing::Shifted(shift) => (0..workers).map(|worker| (start + shift * worker, length)).collect(),
        Sharing::Parts => {
            let unit = job.align.unwrap_or(Bytes(1)).max(job.largest());
            let each = (length / workers).align_down(unit);
            (0..workers).map(|worker| (start + each * worker, each)).collect()
        }
    };
    match parts.first() {
        Some((_, room)) if *room < job.largest() => Err(PlanError::NoRoom { request: job.largest(), room: *room }),
        _ => Ok(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Mix, Stop};

    const LIMITS: Limits = Limits { capacity: Bytes::mib(64), granularity: Bytes(512) };

    fn resolved(change: impl FnOnce(&mut Job)) -> Result<Resolved, PlanError> {
        let mut job = Job::new("test");
        change(&mut job);
        resolve(&job, LIMITS)
    }

    #[test]
    fn what_is_left_open_is_filled_in() {
        let plan = resolved(|job| job.span.start = Bytes::mib(16)).unwrap();
        assert_eq!(plan.parts, [(Bytes::mib(16), Bytes::mib(48))]);
        assert_eq!(plan.job.stop.bytes, Some(Bytes::mib(48)));
        assert_eq!(plan.job.engine, EngineChoice::Sync);
        assert_eq!(resolved(|job| job.queue_depth = 2).unwrap().job.engine, EngineChoice::Uring);
        let parts = resolved(|job| (job.workers, job.sharing) = (3, Sharing::Parts)).unwrap().parts;
        assert!(parts.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{parts:?}");
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        let check = |change: &dyn Fn(&mut Job), words: &str| {
            let error = resolved(change).expect_err(words).to_string();
            assert!(error.contains(words), "{error}");
        };
        check(&|job| job.span.length = Some(Bytes::gib(1)), "the target has 64 MiB");
        check(&|job| job.span.start = Bytes::mib(64), "the target has 0 B");
        check(&|job| job.read_sizes = Sizes::one(Bytes(1000)), "not a multiple of the target's block of 512 B");
        check(&|job| job.span.start = Bytes(100), "offset of 100 bytes");
        check(&|job| job.read_sizes = Sizes::one(Bytes::mib(128)), "requests of 128 MiB do not fit");
        check(&|job| job.read_sizes = Sizes(vec![]), "block size: there is none");
        check(&|job| (job.engine, job.queue_depth) = (EngineChoice::Sync, 8), "one request at a time");
        check(&|job| job.queue_depth = 0, "queue depth");
        check(&|job| job.pattern = Pattern::Zipf { theta: -1.0 }, "theta");
        check(&|job| job.engine = EngineChoice::Mmap, "mmap goes through the page cache");
        check(&|job| job.verify = Verify::Written, "writes nothing");
        check(&|job| job.stop = Stop { requests: Some(0), ..Stop::default() }, "at least 1 request");
        check(
            &|job| {
                (job.mix, job.verify) = (Mix::WRITE, Verify::Written);
                job.write_sizes = Sizes(vec![(Bytes(512), 1), (Bytes(4096), 1)]);
            },
            "one block size",
        );
    }

    #[test]
    fn what_it_writes_is_bounded_where_it_can_be() {
        let most = |change: &dyn Fn(&mut Job)| resolved(change).unwrap().most_written(Bytes(1));
        assert_eq!(most(&|_| {}), Some(Bytes::ZERO));
        assert_eq!(most(&|job| job.mix = Mix::WRITE), Some(Bytes::mib(64)));
        let timed = |job: &mut Job| {
            job.mix = Mix::WRITE;
            job.stop.time = Some(flashscope_units::Nanos::secs(1));
        };
        assert_eq!(most(&timed), None);
        let counted = |job: &mut Job| {
            (job.mix, job.workers) = (Mix::WRITE, 2);
            job.stop.requests = Some(10);
        };
        assert_eq!(most(&counted), Some(Bytes::kib(80)));
        let mixed = |job: &mut Job| {
            (job.mix, job.stop.bytes) = (Mix::WRITE, Some(Bytes::kib(100)));
            job.write_sizes = Sizes(vec![(Bytes::kib(4), 1), (Bytes::kib(64), 1)]);
        };
        assert_eq!(most(&mixed), Some(Bytes::kib(160)), "64 KiB may begin right before the mark");
    }

    #[test]
    fn names_must_differ() {
        let jobs = vec![Job::new("a"), Job::new("a")];
        let set = JobSet { phases: vec![Phase { jobs, pause: flashscope_units::Nanos::ZERO }] };
        assert_eq!(resolve_set(&set, |_| LIMITS), Err(PlanError::SameName("a".into())));
    }
}
