//! What jobs run on: looked at, made where there is nothing yet, and opened with consent.

use super::super::run::{Setup, Shape, key_of};
use super::super::watch::bar;
use crate::error::Failure;
use crate::{interrupt, output, target};
use anyhow::anyhow;
use flashscope_device::{Target, WriteGrant};
use flashscope_host::load::{OwnFile, OwnFolder};
use flashscope_host::{HostError, HostTarget, ListedDevice, OpenOptions, SysRoot, join_grants};
use flashscope_load::job::{Job, JobSet, Sharing};
use flashscope_load::plan::Limits;
use flashscope_model::DeviceFacts;
use flashscope_units::Bytes;
use std::path::{Path, PathBuf};

/// Size of a file that bench makes where nobody says how large.
const OWN_FILE: Bytes = Bytes::gib(1);

/// What some of the jobs run on.
pub(super) struct Place {
    /// As the jobs name it, and as which files.
    pub(super) key: (String, Shape),
    /// Where it is.
    pub(super) path: PathBuf,
    /// How large a file has to be made there first; `None` where something is there.
    make: Option<Bytes>,
    /// Its size and block, as far as they can be known beforehand.
    pub(super) limits: Limits,
}

/// A place that is open.
pub(super) struct Site {
    pub(super) key: (String, Shape),
    /// One, or several files of the same size that are used as one; never empty.
    pub(super) targets: Vec<HostTarget>,
    pub(super) grant: Option<WriteGrant>,
    pub(super) limits: Limits,
    /// So much of each of several files is used; `None`: all.
    pub(super) each: Option<Bytes>,
    /// What bench made; gone when this is dropped, the files before their folder.
    _own: Vec<OwnFile>,
    pub(super) folder: Option<OwnFolder>,
}

impl Site {
    /// The device or file; several files together.
    pub(super) fn facts(&self) -> DeviceFacts {
        let facts = self.targets[0].facts().clone();
        match self.targets.len() {
            _ if self.key.1 == Shape::Whole => DeviceFacts { name: "a file per request".to_owned(), ..facts },
            1 => facts,
            count => DeviceFacts { name: format!("{count} files"), capacity: self.limits.capacity, ..facts },
        }
    }
}

/// Finds the places of all jobs; nothing is made or kept open.
pub(super) fn find(sys: &SysRoot, setup: &Setup, set: &JobSet) -> Result<Vec<Place>, Failure> {
    let mut places: Vec<Place> = Vec::new();
    for job in set.phases.iter().flat_map(|phase| &phase.jobs) {
        let (name, shape) = key_of(job, setup);
        if places.iter().any(|place| place.is(job, setup)) {
            continue;
        }
        let mine: Vec<&Job> = set
            .phases
            .iter()
            .flat_map(|phase| &phase.jobs)
            .filter(|other| key_of(other, setup) == (name, shape.clone()))
            .collect();
        if let Shape::Named(more) = &shape {
            places.push(named(sys, name, more, &mine)?);
            continue;
        }
        let (path, make) = where_it_is(name, places.len(), mine.into_iter(), &shape)?;
        let limits = match make {
            Some(size) => Limits { capacity: size, granularity: block_under(sys, &path) },
            None => limits(&look(sys, &path)?),
        };
        places.push(Place { key: (name.to_owned(), shape), path, make, limits });
    }
    Ok(places)
}

/// Several that are there, or are to be made, and used as one: of each an equal part.
fn named(sys: &SysRoot, first: &str, more: &[String], jobs: &[&Job]) -> Result<Place, Failure> {
    let names = || std::iter::once(first).chain(more.iter().map(String::as_str));
    let count = names().count() as u64;
    let (mut least, mut granularity) = (None::<Bytes>, Bytes::SECTOR);
    for name in names() {
        let path = Path::new(name);
        if path.is_dir() {
            return Err(Failure::Cannot(anyhow!(
                "{name} is a directory\nhint: name the files in it, or one directory alone"
            )));
        }
        if path.exists() {
            let found = limits(&look(sys, path)?);
            least = Some(least.map_or(found.capacity, |least| least.min(found.capacity)));
            granularity = granularity.max(found.granularity);
        } else {
            target::not_among_devices(path)?;
            granularity = granularity.max(block_under(sys, path));
        }
    }
    let block = jobs.iter().map(|job| job.largest()).max().unwrap_or(Bytes::SECTOR).max(Bytes(1));
    let wanted =
        jobs.iter().filter_map(|job| end(job)).max().map(|end| Bytes(end.get().div_ceil(count)).align_up(block));
    let each = match (wanted, least) {
        (Some(wanted), Some(least)) if wanted > least => {
            return Err(Failure::Cannot(anyhow!(
                "{wanted} of each of {count} targets are wanted, but the smallest has {least}\nhint: ask for less"
            )));
        }
        (Some(wanted), _) => wanted,
        (None, Some(least)) => least.align_down(block),
        (None, None) => OWN_FILE,
    };
    let key = (first.to_owned(), Shape::Named(more.to_vec()));
    let limits = Limits { capacity: each * count, granularity };
    Ok(Place { key, path: PathBuf::from(first), make: Some(each), limits })
}

/// The place itself; in a directory, or where there is nothing yet, a file or folder of files that is to be made, and how much
/// they are to hold.
fn where_it_is<'a>(
    name: &str,
    number: usize,
    jobs: impl Iterator<Item = &'a Job>,
    shape: &Shape,
) -> Result<(PathBuf, Option<Bytes>), Failure> {
    let path = Path::new(name);
    let jobs: Vec<&Job> = jobs.collect();
    let make = || {
        let size = jobs.iter().filter_map(|job| end(job)).max().unwrap_or(OWN_FILE);
        let block = jobs.iter().map(|job| job.largest()).max().unwrap_or(Bytes::SECTOR).max(Bytes(1));
        // Whole blocks in every file.
        let files = match shape {
            Shape::One | Shape::Named(_) => return size,
            Shape::Whole => return size.align_up(block),
            Shape::Laid(files) => *files,
        };
        let files = u64::from(files.max(1));
        Bytes(size.get().div_ceil(files)).align_up(block) * files
    };
    let mine = || match number {
        0 => format!("flashscope-bench.{}", std::process::id()),
        _ => format!("flashscope-bench.{}.{number}", std::process::id()),
    };
    if path.is_dir() {
        target::not_among_devices(&path.join("any"))?;
        Ok((path.join(mine()), Some(make())))
    } else if *shape != Shape::Whole
        && path.symlink_metadata().is_err()
        && path.parent().is_some_and(|parent| parent.as_os_str().is_empty() || parent.is_dir())
    {
        target::not_among_devices(path)?;
        target::meant_simulated(path)?;
        read_what_is_not_there(path, &jobs)?;
        Ok((path.to_owned(), Some(make())))
    } else if *shape != Shape::One {
        Err(Failure::Cannot(anyhow!(
            "{name} is no directory\nhint: files are made in a directory; leave --files and --engine whole away for this"
        )))
    } else {
        Ok((path.to_owned(), None))
    }
}

/// A file that is only to be read and is not there is a slip, unless somebody says how large one is to be made.
fn read_what_is_not_there(path: &Path, jobs: &[&Job]) -> Result<(), Failure> {
    if jobs.iter().any(|job| job.mix.has_writes() || end(job).is_some()) {
        return Ok(());
    }
    Err(Failure::Cannot(anyhow!(
        "there is no file {} to read\nhint: name one that is there, or a directory, in which bench makes a file of its own; \
         --size makes one of that size here, for this run",
        path.display()
    )))
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
fn look(sys: &SysRoot, path: &Path) -> Result<HostTarget, Failure> {
    let options = OpenOptions { read_in_use: true, allow_buffered: true, hang_after: None };
    flashscope_host::open_for_reading(sys, path, &options).map_err(target::failure)
}

/// The block of what a path names, or of what lies below the folder where it is to be made; and the allocation unit that the
/// device claims.
pub(super) fn ground(sys: &SysRoot, path: &Path) -> Result<(Bytes, Option<Bytes>), Failure> {
    if path.is_dir() || path.symlink_metadata().is_err() {
        return Ok((block_under(sys, path), disk_of(sys, path).and_then(|disk| disk.claims.allocation_unit)));
    }
    let claimed = disk_of(sys, path).and_then(|disk| disk.claims.allocation_unit);
    Ok((look(sys, path)?.capabilities().granularity, claimed))
}

/// The disk below a path, which may still have to be made: then it lies where its folder does.
fn disk_of(sys: &SysRoot, path: &Path) -> Option<ListedDevice> {
    let there = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    flashscope_host::disk_under(sys, there)
}

/// What a file in a folder has to be read and written in past the page cache, as far as the disk below tells.
fn block_under(sys: &SysRoot, path: &Path) -> Bytes {
    disk_of(sys, path).map_or(Bytes::SECTOR, |disk| disk.logical_block)
}

fn limits(target: &HostTarget) -> Limits {
    Limits { capacity: target.facts().capacity, granularity: target.capabilities().granularity }
}

impl Place {
    /// Whether this is what the job runs on.
    pub(super) fn is(&self, job: &Job, setup: &Setup) -> bool {
        key_of(job, setup) == (self.key.0.as_str(), self.key.1.clone())
    }

    /// What is written to lay out the files that have to be made, each in whole pages.
    pub(super) fn laid_out(&self) -> Bytes {
        let files = match &self.key.1 {
            Shape::One | Shape::Laid(_) => 1,
            Shape::Named(more) => {
                let all = std::iter::once(&*self.path).chain(more.iter().map(Path::new));
                all.filter(|path| !path.exists()).count() as u64
            }
            // The file that stands for them takes no room; the files themselves are made before each phase that reads them.
            Shape::Whole => 0,
        };
        let pages = if let Shape::Laid(files) = self.key.1 { u64::from(files) } else { files };
        let size = self.make.map_or(0, |size| size.get().saturating_mul(files));
        let more = flashscope_host::page_size().get() - 1;
        Bytes(if size.is_multiple_of(more + 1) { size } else { size.saturating_add(more.saturating_mul(pages)) })
    }

    /// Makes what has to be made, and opens it with the right to write what its jobs need: `most` in words, where there is an end.
    pub(super) fn open(
        self,
        sys: &SysRoot,
        setup: &Setup,
        budget: Bytes,
        most: Option<Bytes>,
    ) -> Result<Site, Failure> {
        let Place { key, path, make, limits } = self;
        let folder = |path: &Path, whole| OwnFolder::make(path, setup.keep, whole).map_err(target::failure);
        let (folder, paths) = match &key.1 {
            Shape::One => (None, vec![path]),
            Shape::Named(more) => (None, std::iter::once(path).chain(more.iter().map(PathBuf::from)).collect()),
            Shape::Laid(files) => {
                (Some(folder(&path, false)?), (0..*files).map(|file| PathBuf::from(format!("{file:04}"))).collect())
            }
            // Stands for all of them where the right to write, and what lies below, are asked for.
            Shape::Whole => (Some(folder(&path, true)?), vec![PathBuf::from("all")]),
        };
        // In a folder of ours by its name there, else by the whole path.
        let new = |path: &Path| match &folder {
            Some(folder) => folder.file(&path.to_string_lossy()),
            None => OwnFile::make(path, setup.keep),
        };
        let (mut own, mut targets, mut grants, mut destroyed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (index, path) in paths.iter().enumerate() {
            let made = match (&key.1, make) {
                (_, None) => None,
                (Shape::Named(_), Some(_)) if path.exists() => None,
                (Shape::Whole, Some(size)) => {
                    Some(new(path).and_then(|file| file.hollow(size)).map_err(target::failure)?)
                }
                (Shape::One | Shape::Named(_), Some(size)) => Some(make_file(path, new, size, setup)?),
                (Shape::Laid(_), Some(size)) => Some(make_file(path, new, size / paths.len() as u64, setup)?),
            };
            // One of several files holds the right to write to all; the others add nothing but themselves.
            let mine = if index == 0 { budget } else { Bytes::ZERO };
            let (target, grant) = open(sys, setup, path, (budget > Bytes::ZERO).then_some(mine), made.as_ref())?;
            targets.push(target);
            if grant.is_some() && made.is_none() {
                destroyed.push(path);
            }
            own.extend(made);
            grants.extend(grant);
        }
        // Said when all have passed the checks, so that nothing is said of a run that then writes nothing.
        for path in destroyed {
            let much = match most {
                None => String::new(),
                Some(most) if paths.len() > 1 => format!(" up to {most} in all"),
                Some(most) => format!(" {most}"),
            };
            output::talk(&format!("writes{much} to {}; what stands there now is destroyed", path.display()));
        }
        let grant = if targets.len() > 1 { join_grants(&mut targets, grants) } else { grants.pop() };
        let each = if let Shape::Named(_) = &key.1 { make } else { None };
        let limits = Limits {
            capacity: match each {
                Some(_) => limits.capacity,
                None => targets.iter().map(|target| target.facts().capacity).sum(),
            },
            granularity: targets.iter().map(|target| target.capabilities().granularity).max().unwrap_or(Bytes::SECTOR),
        };
        Ok(Site { key, targets, grant, limits, each, _own: own, folder })
    }
}

impl Site {
    /// Whether this is what the job runs on.
    pub(super) fn is(&self, job: &Job, setup: &Setup) -> bool {
        key_of(job, setup) == (self.key.0.as_str(), self.key.1.clone())
    }
}

fn make_file(
    path: &Path,
    new: impl Fn(&Path) -> Result<OwnFile, HostError>,
    size: Bytes,
    setup: &Setup,
) -> Result<OwnFile, Failure> {
    if setup.target.consent.read_only {
        return Err(Failure::Cannot(anyhow!("there is no file to read at {}", path.display())));
    }
    let after = if setup.keep { "" } else { ", which is removed after the run" };
    output::talk(&format!("makes a file of {size} at {}{after}", path.display()));
    let bar = bar("making a file", setup.quiet);
    let progress = |done| {
        bar.set_message(format!("{done} of {size}"));
        !interrupt::asked()
    };
    let own = new(path).and_then(|file| file.fill(size, progress));
    bar.finish_and_clear();
    own.map_err(target::failure)
}

/// Opens through the same checks as everything else; with a budget for writing. What bench made itself needs no consent.
fn open(
    sys: &SysRoot,
    setup: &Setup,
    path: &Path,
    budget: Option<Bytes>,
    own: Option<&OwnFile>,
) -> Result<(HostTarget, Option<WriteGrant>), Failure> {
    let args = &setup.target.consent;
    let options = OpenOptions { read_in_use: args.read_in_use, allow_buffered: true, hang_after: None };
    if args.read_only && budget.is_some() {
        return Err(Failure::Cannot(anyhow!("the jobs write, but the target was opened with --read-only")));
    }
    if let Some(own) = own {
        return flashscope_host::open_own(sys, own, budget, &options).map_err(target::failure);
    }
    let Some(budget) = budget else {
        let target = flashscope_host::open_for_reading(sys, path, &options).map_err(target::failure)?;
        for user in &target.path().in_use {
            output::talk(&format!("warning: read while in use: {user}; others disturb the figures"));
        }
        return Ok((target, None));
    };
    let checked = flashscope_host::safety(sys, path, Bytes::ZERO).map_err(target::failure)?;
    let consent = args.to(checked.report.identity.as_deref());
    let opened = flashscope_host::open_for_writing(sys, &checked, &consent, budget, &options);
    let (target, grant) = opened.map_err(target::failure)?;
    Ok((target, Some(grant)))
}
