//! How much a run may write in all, and each worker's part of it: one budget for all jobs on all targets and for the files that the
//! run makes for itself.
//!
//! What goes through the page cache counts in whole pages, since the kernel writes back nothing smaller: 512 bytes may cost 4 KiB
//! on the medium, each time anew.

use crate::job::EngineChoice;
use crate::plan::Resolved;
use flashscope_device::WriteGrant;
use flashscope_units::Bytes;
use std::fmt;

/// More than any device takes in a lifetime: stands for "no limit" where a number is needed.
const UNBOUNDED: Bytes = Bytes(1 << 62);

/// The budget of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteBudget {
    page: Bytes,
    /// What the files cost that the run makes for itself.
    files: Bytes,
    /// What the jobs write that end by themselves, every time that they run.
    known: Bytes,
    /// Of each worker that only time ends, each time that it runs; `None` where there is no such worker.
    share: Option<Bytes>,
    limit: Option<Bytes>,
}

/// A run that would write more than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverBudget {
    /// What the files cost that the run makes for itself.
    pub files: Bytes,
    /// What the jobs write at most, as far as they end by themselves.
    pub jobs: Bytes,
    /// Whether other jobs end by time alone.
    pub open: bool,
    /// What may be written.
    pub limit: Bytes,
}

impl WriteBudget {
    /// Of jobs with the number of times that each runs. `page` is what a write through the page cache costs at least (1 B where there is
    /// no page cache), `files` what the run lays out for itself.
    ///
    /// # Errors
    /// Where that is more than the limit, or leaves nothing to jobs that only time ends.
    pub fn new<'a>(
        plans: impl Iterator<Item = (&'a Resolved, u64)>,
        page: Bytes,
        files: Bytes,
        limit: Option<Bytes>,
    ) -> Result<WriteBudget, OverBudget> {
        let (mut known, mut open) = (0_u64, 0_u64);
        for (plan, times) in plans {
            match plan.most_written(unit(plan, page)) {
                Some(bytes) => known = known.saturating_add(bytes.get().saturating_mul(times)),
                None => open = open.saturating_add(times.saturating_mul(u64::from(plan.job.workers))),
            }
        }
        let known = Bytes(known);
        let left = limit.unwrap_or(UNBOUNDED).get().checked_sub(files.get().saturating_add(known.get()));
        let share = left.map(|left| Bytes(left / open.max(1)));
        match (share, limit) {
            (Some(share), _) if open == 0 || share > Bytes::ZERO => {
                Ok(WriteBudget { page, files, known, share: (open > 0).then_some(share), limit })
            }
            (_, limit) => Err(OverBudget { files, jobs: known, open: open > 0, limit: limit.unwrap_or(UNBOUNDED) }),
        }
    }

    /// The most that the run writes; `None` where nothing but time ends it.
    pub fn most(&self) -> Option<Bytes> {
        match self.share {
            Some(_) => self.limit,
            None => Some(self.files + self.known),
        }
    }

    /// The most that these jobs write, each run so often; `None` where nothing but time ends one of them.
    pub fn most_of<'a>(&self, plans: impl Iterator<Item = (&'a Resolved, u64)>) -> Option<Bytes> {
        let bounded = self.limit.is_some();
        plans.map(|(plan, times)| (self.is_known(plan) || bounded).then(|| self.all_of(plan, times))).sum()
    }

    /// The right to write that these jobs need together, each run so often.
    pub fn needed<'a>(&self, plans: impl Iterator<Item = (&'a Resolved, u64)>) -> Bytes {
        plans.fold(Bytes::ZERO, |sum, (plan, times)| Bytes(sum.get().saturating_add(self.all_of(plan, times).get())))
    }

    /// Takes the parts of a job's workers for one run out of the right to write to their target; none for those that only read.
    pub fn parts(&self, plan: &Resolved, grant: &mut WriteGrant) -> Vec<Option<WriteGrant>> {
        let (part, unit) = (self.part(plan), unit(plan, self.page));
        let mut take = |_| Some(grant.split(part)?.counting_in(unit));
        (0..plan.job.workers).map(|worker| if part > Bytes::ZERO { take(worker) } else { None }).collect()
    }

    fn part(&self, plan: &Resolved) -> Bytes {
        match plan.most_written(unit(plan, self.page)) {
            Some(all) => all / u64::from(plan.job.workers.max(1)),
            None => self.share.unwrap_or(Bytes::ZERO),
        }
    }

    fn all_of(&self, plan: &Resolved, times: u64) -> Bytes {
        Bytes(self.part(plan).get().saturating_mul(u64::from(plan.job.workers)).saturating_mul(times))
    }

    fn is_known(&self, plan: &Resolved) -> bool {
        plan.most_written(unit(plan, self.page)).is_some()
    }
}

/// What the writes of a job are counted in: a file of its own takes whole blocks of its file system, however it is written.
fn unit(plan: &Resolved, page: Bytes) -> Bytes {
    match plan.job.mode.is_direct() && plan.job.engine != EngineChoice::Whole {
        true => Bytes(1),
        false => page,
    }
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OverBudget { files, jobs, open, limit } = *self;
        if jobs > Bytes::ZERO || files == Bytes::ZERO {
            write!(f, "the jobs write {jobs}")?;
        }
        match (files > Bytes::ZERO, jobs > Bytes::ZERO) {
            (true, true) => write!(f, ", and the files made for them take {files}")?,
            (true, false) => write!(f, "the files made for the jobs take {files}")?,
            (false, _) => {}
        }
        match open && Bytes(files.get().saturating_add(jobs.get())) <= limit {
            true => write!(f, "; of --max-write ({limit}) nothing is left for the jobs that only time ends")?,
            false => write!(f, ", which is more than --max-write allows ({limit})")?,
        }
        write!(
            f,
            "\nhint: allow more, ask for less with --size, or end the jobs earlier; through the page cache every write counts as whole pages"
        )
    }
}

impl std::error::Error for OverBudget {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Job, Mix, Mode, Sizes};
    use crate::plan::{Limits, resolve};
    use flashscope_units::Nanos;

    const PAGE: Bytes = Bytes(4096);

    fn plan(change: impl FnOnce(&mut Job)) -> Resolved {
        let mut job = Job::new("test");
        job.mix = Mix::WRITE;
        change(&mut job);
        resolve(&job, Limits { capacity: Bytes::mib(4), granularity: Bytes(512) }).unwrap()
    }

    fn budget(plans: &[(Resolved, u64)], files: Bytes, limit: Bytes) -> Result<WriteBudget, OverBudget> {
        WriteBudget::new(plans.iter().map(|(plan, times)| (plan, *times)), PAGE, files, Some(limit))
    }

    fn timed(job: &mut Job) {
        job.stop.time = Some(Nanos::secs(1));
    }

    #[test]
    fn all_that_is_written_counts_once() {
        let jobs = [(plan(|_| {}), 2), (plan(|_| {}), 1)];
        assert!(budget(&jobs, Bytes::mib(1), Bytes::mib(13)).is_ok());
        let over = budget(&jobs, Bytes::mib(1), Bytes::mib(13) - Bytes(1)).unwrap_err();
        assert_eq!((over.jobs, over.files), (Bytes::mib(12), Bytes::mib(1)));
        assert!(over.to_string().contains("--max-write") && over.to_string().contains("\nhint: "), "{over}");
        let only_files = budget(&[(plan(|job| job.mix = Mix::READ), 1)], Bytes::mib(4), Bytes::mib(1)).unwrap_err();
        assert!(
            only_files.to_string().starts_with("the files made for the jobs take 4 MiB, which is more"),
            "{only_files}"
        );
    }

    #[test]
    fn workers_that_only_time_ends_share_what_is_left() {
        let jobs = [(plan(timed), 2), (plan(|job| (timed(job), job.workers = 3).0), 1), (plan(|_| {}), 1)];
        let budget = budget(&jobs, Bytes::mib(1), Bytes::mib(10)).unwrap();
        assert_eq!(budget.part(&jobs[0].0), Bytes::mib(1), "five shares of 10 − 4 − 1 MiB");
        let all = jobs.iter().map(|(plan, times)| (plan, *times));
        assert_eq!(budget.needed(all.clone()), Bytes::mib(9));
        assert_eq!((budget.most(), budget.most_of(all)), (Some(Bytes::mib(10)), Some(Bytes::mib(9))));
        let nothing_left = super::tests::budget(&jobs, Bytes::mib(6), Bytes::mib(10)).unwrap_err();
        assert!(nothing_left.to_string().contains("nothing is left"), "{nothing_left}");
    }

    #[test]
    fn without_a_limit_only_time_ends_it() {
        let jobs = [(plan(timed), 1)];
        let free = WriteBudget::new(jobs.iter().map(|(plan, times)| (plan, *times)), PAGE, Bytes::ZERO, None).unwrap();
        assert_eq!((free.most(), free.most_of([(&jobs[0].0, 1)].into_iter())), (None, None));
        assert_eq!(free.part(&jobs[0].0), UNBOUNDED);
    }

    #[test]
    fn the_page_cache_writes_whole_pages() {
        let small = |mode: Mode| {
            plan(|job| {
                (job.mode, job.write_sizes) = (mode, Sizes::one(Bytes(512)));
                job.stop.bytes = Some(Bytes::kib(64));
            })
        };
        let most = |mode: Mode| budget(&[(small(mode), 1)], Bytes::ZERO, Bytes::mib(8)).unwrap().most();
        assert_eq!(most(Mode::Direct), Some(Bytes::kib(64)));
        assert_eq!(most(Mode::Cached), Some(Bytes::kib(512)));
        assert_eq!(most(Mode::WriteThrough), Some(Bytes::kib(512)));
    }
}
