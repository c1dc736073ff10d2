//! What jobs run on: looked at, made where there is nothing yet, and opened with consent.

use super::super::run::{Setup, budget, key_of};
use super::super::watch::bar;
use crate::error::Failure;
use crate::{interrupt, output, target};
use anyhow::anyhow;
use flashscope_device::{Consent, Target, WriteGrant};
use flashscope_host::load::OwnFile;
use flashscope_host::{HostTarget, OpenOptions, SysRoot, join_grants};
use flashscope_load::job::{Job, JobSet, Sharing};
use flashscope_load::plan::{Limits, Resolved};
use flashscope_model::DeviceFacts;
use flashscope_model::run::HostFacts;
use flashscope_units::Bytes;
use std::path::{Path, PathBuf};

/// Size of a file that bench makes where nobody says how large.
const OWN_FILE: Bytes = Bytes::gib(1);

/// What some of the jobs run on.
pub(super) struct Place {
    /// As the jobs name it, and as how many files.
    pub(super) key: (String, Option<u32>),
    /// Where it is.
    pub(super) path: PathBuf,
    /// How large a file has to be made there first; `None` where something is there.
    make: Option<Bytes>,
    /// Its size and block, as far as they can be known beforehand.
    pub(super) limits: Limits,
}

/// A place that is open.
pub(super) struct Site {
    pub(super) key: (String, Option<u32>),
    /// One, or several files of the same size that are used as one; never empty.
    pub(super) targets: Vec<HostTarget>,
    pub(super) grant: Option<WriteGrant>,
    pub(super) limits: Limits,
    /// What bench made; gone when this is dropped, the files before their folder.
    _own: Vec<OwnFile>,
    _folder: Option<OwnFolder>,
}

impl Site {
    /// The device or file; several files together.
    pub(super) fn facts(&self) -> DeviceFacts {
        let facts = self.targets[0].facts().clone();
        match self.targets.len() {
            1 => facts,
            count => DeviceFacts { name: format!("{count} files"), capacity: self.limits.capacity, ..facts },
        }
    }
}

/// A folder that bench made for its files.
struct OwnFolder {
    path: PathBuf,
    keep: bool,
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        if !self.keep {
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

/// Finds the places of all jobs; nothing is made or kept open.
pub(super) fn find(sys: &SysRoot, setup: &Setup, set: &JobSet) -> Result<Vec<Place>, Failure> {
    let mut places: Vec<Place> = Vec::new();
    for job in set.phases.iter().flat_map(|phase| &phase.jobs) {
        let (name, files) = key_of(job, setup);
        if places.iter().any(|place| place.is(job, setup)) {
            continue;
        }
        let mine =
            set.phases.iter().flat_map(|phase| &phase.jobs).filter(|other| key_of(other, setup) == (name, files));
        let (path, make) = where_it_is(name, places.len(), mine, files)?;
        let limits = match make {
            Some(size) => Limits { capacity: size, granularity: Bytes::SECTOR },
            None => look(sys, &path)?,
        };
        places.push(Place { key: (name.to_owned(), files), path, make, limits });
    }
    Ok(places)
}

/// The place itself; in a directory, or where there is nothing yet, a file or folder of files that is to be made, and how much
/// they are to hold.
fn where_it_is<'a>(
    name: &str,
    number: usize,
    jobs: impl Iterator<Item = &'a Job>,
    files: Option<u32>,
) -> Result<(PathBuf, Option<Bytes>), Failure> {
    let path = Path::new(name);
    let make = || {
        let jobs: Vec<&Job> = jobs.collect();
        let size = jobs.iter().filter_map(|job| end(job)).max().unwrap_or(OWN_FILE);
        let Some(files) = files else { return size };
        // Whole blocks in every file.
        let block = jobs.iter().map(|job| job.largest()).max().unwrap_or(Bytes::SECTOR).max(Bytes(1));
        let files = u64::from(files.max(1));
        Bytes(size.get().div_ceil(files)).align_up(block) * files
    };
    let mine = || match number {
        0 => format!("flashscope-bench.{}", std::process::id()),
        _ => format!("flashscope-bench.{}.{number}", std::process::id()),
    };
    if path.is_dir() {
        Ok((path.join(mine()), Some(make())))
    } else if path.symlink_metadata().is_err()
        && path.parent().is_some_and(|parent| parent.as_os_str().is_empty() || parent.is_dir())
    {
        Ok((path.to_owned(), Some(make())))
    } else if files.is_some() {
        Err(Failure::Cannot(anyhow!(
            "{name} is no directory\nhint: files are made in a directory; leave --files away for this"
        )))
    } else {
        Ok((path.to_owned(), None))
    }
}

fn end(job: &Job) -> Option<Bytes> {
    let shifts = match job.sharing {
        Sharing::Shifted(shift) => shift.get().saturating_mul(u64::from(job.workers.saturating_sub(1))),
        Sharing::Whole | Sharing::Parts => 0,
    };
    let length = job.span.length?.get().saturating_add(shifts);
    Some(Bytes(length.saturating_add(job.span.start.get())))
}

/// Looked at like a device in use: this is only about its size.
fn look(sys: &SysRoot, path: &Path) -> Result<Limits, Failure> {
    let options = OpenOptions { read_in_use: true, allow_buffered: true, hang_after: None };
    let looked = flashscope_host::open_for_reading(sys, path, &options).map_err(target::failure)?;
    Ok(limits(&looked))
}

fn limits(target: &HostTarget) -> Limits {
    Limits { capacity: target.facts().capacity, granularity: target.capabilities().granularity }
}

impl Place {
    /// Whether this is what the job runs on.
    pub(super) fn is(&self, job: &Job, setup: &Setup) -> bool {
        key_of(job, setup) == (self.key.0.as_str(), self.key.1)
    }

    /// Makes what has to be made, and opens it with the right to write what its jobs need.
    pub(super) fn open<'a>(
        self,
        sys: &SysRoot,
        setup: &Setup,
        plans: impl Iterator<Item = &'a Resolved>,
    ) -> Result<Site, Failure> {
        let budget = budget(plans.filter(|plan| self.is(&plan.job, setup)), setup)?;
        let Place { key, path, make, .. } = self;
        let (folder, paths) = match key.1 {
            None => (None, vec![path]),
            Some(files) => {
                std::fs::create_dir(&path).map_err(|error| anyhow!("cannot make {}: {error}", path.display()))?;
                let paths = (0..files).map(|file| path.join(format!("{file:04}"))).collect();
                (Some(OwnFolder { path, keep: setup.keep }), paths)
            }
        };
        let (mut own, mut targets, mut grants) = (Vec::new(), Vec::new(), Vec::new());
        for (index, path) in paths.iter().enumerate() {
            if let Some(size) = make {
                own.push(make_file(path, size / paths.len() as u64, setup)?);
            }
            // One of several files holds the right to write to all; the others add nothing but themselves.
            let (target, grant) = open(sys, setup, path, budget, index == 0, !own.is_empty())?;
            targets.push(target);
            grants.extend(grant);
        }
        let grant = if targets.len() > 1 { join_grants(&mut targets, grants) } else { grants.pop() };
        let limits = Limits {
            capacity: targets.iter().map(|target| target.facts().capacity).sum(),
            granularity: targets.iter().map(|target| target.capabilities().granularity).max().unwrap_or(Bytes::SECTOR),
        };
        Ok(Site { key, targets, grant, limits, _own: own, _folder: folder })
    }
}

impl Site {
    /// Whether this is what the job runs on.
    pub(super) fn is(&self, job: &Job, setup: &Setup) -> bool {
        key_of(job, setup) == (self.key.0.as_str(), self.key.1)
    }
}

fn make_file(path: &Path, size: Bytes, setup: &Setup) -> Result<OwnFile, Failure> {
    if setup.target.read_only {
        return Err(Failure::Cannot(anyhow!("there is no file to read at {}", path.display())));
    }
    let bar = bar("making a file", setup.quiet);
    let own = OwnFile::create(path, size, setup.keep, |done| {
        bar.set_message(format!("{done} of {size}"));
        !interrupt::asked()
    });
    bar.finish_and_clear();
    own.map_err(target::failure)
}

/// Opens through the same checks as everything else. What bench made itself needs no consent.
fn open(
    sys: &SysRoot,
    setup: &Setup,
    path: &Path,
    budget: Bytes,
    first: bool,
    own: bool,
) -> Result<(HostTarget, Option<WriteGrant>), Failure> {
    let args = &setup.target;
    let options = OpenOptions { read_in_use: args.read_in_use, allow_buffered: true, hang_after: None };
    if budget == Bytes::ZERO {
        let target = flashscope_host::open_for_reading(sys, path, &options).map_err(target::failure)?;
        for user in &target.path().in_use {
            output::talk(&format!("warning: read while in use: {user}; others disturb the figures"));
        }
        return Ok((target, None));
    }
    if args.read_only {
        return Err(Failure::Cannot(anyhow!("the jobs write, but the target was opened with --read-only")));
    }
    let checked = flashscope_host::safety(sys, path, Bytes::ZERO).map_err(target::failure)?;
    let consent = Consent {
        identity: args.destroy_data.clone(),
        allow_file: args.allow_write || own,
        signatures: args.destroy_signatures,
    };
    let mine = if first { budget } else { Bytes::ZERO };
    let opened = flashscope_host::open_for_writing(sys, &checked, &consent, mine, &options);
    let (target, grant) = opened.map_err(target::failure)?;
    if !own {
        let much = if budget == super::super::run::UNBOUNDED { String::new() } else { format!(" {budget}") };
        output::talk(&format!("writes{much} to {}; what stands there now is destroyed", path.display()));
    }
    Ok((target, Some(grant)))
}

/// Where the run takes place, and what about that place changes results: of the disk below the first target.
pub(super) fn host_facts(sys: &SysRoot, path: &Path) -> HostFacts {
    // A file that is still to be made lies where its directory does.
    let there = [Some(path), path.parent()].into_iter().flatten().find(|path| path.exists());
    let disk = there.and_then(|path| flashscope_host::disk_under(sys, path));
    flashscope_host::host_facts(sys, disk.as_ref())
}
