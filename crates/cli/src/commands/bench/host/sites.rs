//! What jobs run on: looked at, made where there is nothing yet, and opened with consent.

use super::super::run::{Setup, budget, target_of, targets};
use super::super::watch::bar;
use crate::error::Failure;
use crate::{interrupt, output, target};
use anyhow::anyhow;
use flashscope_device::{Consent, Target, WriteGrant};
use flashscope_host::load::OwnFile;
use flashscope_host::{HostTarget, OpenOptions, SysRoot};
use flashscope_load::job::{Job, JobSet, Sharing};
use flashscope_load::plan::{Limits, Resolved};
use flashscope_model::run::HostFacts;
use flashscope_units::Bytes;
use std::path::{Path, PathBuf};

/// Size of a file that bench makes where nobody says how large.
const OWN_FILE: Bytes = Bytes::gib(1);

/// What some of the jobs run on.
pub(super) struct Place {
    /// As the jobs name it.
    pub(super) name: String,
    /// Where it is.
    pub(super) path: PathBuf,
    /// How large a file has to be made there first; `None` where something is there.
    make: Option<Bytes>,
    /// Its size and block, as far as they can be known beforehand.
    pub(super) limits: Limits,
}

/// A place that is open.
pub(super) struct Site {
    pub(super) name: String,
    pub(super) target: HostTarget,
    pub(super) grant: Option<WriteGrant>,
    pub(super) limits: Limits,
    /// A file that bench made; gone when this is dropped.
    _own: Option<OwnFile>,
}

/// Finds the places of all jobs; nothing is made or kept open.
pub(super) fn find(sys: &SysRoot, setup: &Setup, set: &JobSet) -> Result<Vec<Place>, Failure> {
    let place = |name: String| {
        let (path, make) = where_it_is(&name, setup, set);
        let limits = match make {
            Some(size) => Limits { capacity: size, granularity: Bytes::SECTOR },
            None => look(sys, &path)?,
        };
        Ok(Place { name, path, make, limits })
    };
    targets(set, setup).into_iter().map(place).collect()
}

/// The place itself; in a directory, or where there is nothing yet, a file that is to be made.
fn where_it_is(name: &str, setup: &Setup, set: &JobSet) -> (PathBuf, Option<Bytes>) {
    let path = Path::new(name);
    let make = || {
        let mine = set.phases.iter().flat_map(|phase| &phase.jobs).filter(|job| target_of(job, setup) == name);
        mine.filter_map(end).max().unwrap_or(OWN_FILE)
    };
    if path.is_dir() {
        (path.join(format!("flashscope-bench.{}", std::process::id())), Some(make()))
    } else if path.symlink_metadata().is_err()
        && path.parent().is_some_and(|parent| parent.as_os_str().is_empty() || parent.is_dir())
    {
        (path.to_owned(), Some(make()))
    } else {
        (path.to_owned(), None)
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
    /// Makes what has to be made, and opens it with the right to write what its jobs need.
    pub(super) fn open<'a>(
        self,
        sys: &SysRoot,
        setup: &Setup,
        plans: impl Iterator<Item = &'a Resolved>,
    ) -> Result<Site, Failure> {
        let Place { name, path, make, .. } = self;
        let own = make.map(|size| make_file(&path, size, setup)).transpose()?;
        let budget = budget(plans.filter(|plan| target_of(&plan.job, setup) == name), setup)?;
        let (target, grant) = open(sys, setup, &path, budget, own.is_some())?;
        Ok(Site { name, limits: limits(&target), target, grant, _own: own })
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
    let opened = flashscope_host::open_for_writing(sys, &checked, &consent, budget, &options);
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
