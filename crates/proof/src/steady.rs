//! The course of random writes on a device that was written once in order, up to where SNIA's rule calls it steady.

use crate::jobs;
use flashscope_device::Target;
use flashscope_load::job::{Job, Mix, Pattern, Sizes, Stop};
use flashscope_sim::SimTarget;
use flashscope_stats::steady::{WINDOW, steady_state};
use flashscope_units::{Bytes, Nanos};

/// Rounds until steady.
#[derive(Clone, Debug)]
pub struct Course {
    /// Size of the device.
    pub capacity: Bytes,
    /// Bytes and seconds of each slice; eight of them are a round.
    pub slices: Vec<(f64, f64)>,
    /// The mean of the last five, in bytes a second, where they were steady after the device was written once by the rounds.
    pub steady: Option<f64>,
}

/// Rounds that a write of all of the device takes at the rate of its first megabytes.
const ROUNDS_PER_PASS: f64 = 16.0;
/// Slices of a round: a course is looked at more finely than rounds are judged.
const SLICES: usize = 8;
/// Beyond this it is not waited for.
const MOST_ROUNDS: usize = 400;
/// Spans that are written before anything counts as steady: before collection begins a device is even too (as in SNIA's write
/// saturation test).
const SPANS_BEFORE: f64 = 1.0;

/// Random writes of 4 KiB, 32 at once, after one pass in order.
///
/// # Errors
/// Where the device cannot be written.
pub fn course(target: &mut SimTarget) -> Result<Course, String> {
    let capacity = target.facts().capacity;
    let job = |pattern, size, bytes| {
        let mut job = Job::new("write");
        (job.mix, job.pattern, job.write_sizes, job.queue_depth) = (Mix::WRITE, pattern, Sizes::one(size), 32);
        job.stop = Stop { bytes, ..Stop::default() };
        job
    };
    jobs::run(target, &job(Pattern::Sequential, Bytes::mib(1), None), |_, _| false)?;
    let few = Bytes::mib(2);
    let first = jobs::run(target, &job(Pattern::Random, Bytes::kib(4), Some(few)), |_, _| false)?;
    let pass = first.elapsed.as_f64() * (capacity.as_f64() / few.as_f64());
    let slice = Nanos((pass / (ROUNDS_PER_PASS * SLICES as f64)) as u64).max(Nanos(1));
    let (mut slices, mut rounds, mut before, mut steady) = (Vec::new(), Vec::new(), 0u64, None);
    jobs::run(target, &job(Pattern::Random, Bytes::kib(4), Some(capacity * 12)), |since, bytes| {
        let passed = (since.get() / slice.get()).saturating_sub(slices.len() as u64);
        for _ in 0..passed {
            // Slices that passed unseen share what came of them.
            slices.push(((bytes - before) as f64 / passed as f64, slice.as_secs_f64()));
            if slices.len().is_multiple_of(SLICES) {
                rounds.push(slices[slices.len() - SLICES..].iter().map(|(bytes, _)| bytes).sum::<f64>());
                let seen = (rounds.len() >= WINDOW).then(|| steady_state(&rounds).ok()).flatten();
                let enough = bytes as f64 >= SPANS_BEFORE * capacity.as_f64();
                steady = seen.filter(|seen| seen.is_steady && enough).map(|seen| seen.mean);
            }
        }
        before = if passed > 0 { bytes } else { before };
        steady.is_some() || rounds.len() >= MOST_ROUNDS
    })?;
    let rate = |bytes: f64| bytes / (slice.as_secs_f64() * SLICES as f64);
    Ok(Course { capacity, slices, steady: steady.map(rate) })
}
