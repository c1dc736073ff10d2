//! From the name of a knob to the files that it stands for.

use super::error::KnobError;
use super::file::KnobFile;
use super::mount::Mount;
use super::spot::Spot;
use super::table::{Place, Row, TABLE};
use crate::conditions::processors;
use crate::list::disk_under;
use crate::sysfs::{SysRoot, names};
use std::path::{Path, PathBuf};

/// What the tunables of a scheduler are called by: `iosched/NAME`.
const TUNABLE: &str = "iosched/";

/// The knobs of a machine, as far as they concern one target.
#[derive(Clone, Debug)]
pub struct Knobs {
    sys: SysRoot,
    /// The disk below the target (`mmcblk0`).
    disk: Option<String>,
    /// The file system that a target lies on which is no device; `None` of a device, and where the kernel does not tell.
    mount: Option<Mount>,
}

/// A knob that this machine has: one file, one per processor, or the options of a mount.
#[derive(Clone, Debug)]
pub struct Knob {
    name: String,
    pub(super) spots: Vec<Spot>,
    /// What the kernel changes along with it.
    pub(super) along: Vec<Spot>,
}

/// A knob as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedKnob {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Its value now; `None` where files disagree or it cannot be read.
    pub value: Option<String>,
    /// Values that the kernel names.
    pub choices: Vec<String>,
}

/// Whether the kernel has a knob of this name, on some machine: what it is named by in [`Knobs::find`].
pub fn is_known(name: &str) -> bool {
    name.starts_with('/') || name.starts_with(TUNABLE) || TABLE.iter().any(|row| row.name == name)
}

impl Knobs {
    /// For a block device, a file or a folder.
    pub fn of(sys: &SysRoot, target: &Path) -> Knobs {
        let there = target.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
        let disk = disk_under(sys, there).and_then(|disk| Some(disk.path.file_name()?.to_string_lossy().into_owned()));
        let is_file_level = there.is_dir() || there.is_file();
        let mount = if is_file_level { Mount::of(sys, there) } else { None };
        Knobs { sys: sys.clone(), disk, mount }
    }

    /// A knob by its name, `iosched/NAME`, or a path below `/sys` or `/proc/sys`.
    ///
    /// # Errors
    /// There is no such knob, or not here; it may not be read or written; the path leads elsewhere.
    pub fn find(&self, name: &str) -> Result<Knob, KnobError> {
        let (spots, along) = if name.starts_with('/') {
            (vec![self.file(name, PathBuf::from(name))?], Vec::new())
        } else if let Some(tunable) = name.strip_prefix(TUNABLE).filter(|tunable| !tunable.contains('/')) {
            let queue = self.queue().ok_or_else(|| no_disk(name))?;
            (vec![self.file(name, queue.join("iosched").join(tunable))?], Vec::new())
        } else {
            let row = TABLE.iter().find(|row| row.name == name).ok_or_else(|| unknown(name))?;
            self.of_row(row)?
        };
        let knob = Knob { name: name.to_owned(), spots, along };
        // What cannot be read cannot be put back.
        knob.value()?;
        Ok(knob)
    }

    /// The named knobs that this machine has for the target.
    pub fn here(&self) -> Vec<ListedKnob> {
        let listed = |row: &Row| {
            let knob = self.find(row.name).ok()?;
            let (value, choices) = (knob.value().ok().flatten(), knob.spots[0].choices());
            Some(ListedKnob { name: row.name, about: row.about, value, choices })
        };
        TABLE.iter().filter_map(listed).collect()
    }

    fn of_row(&self, row: &Row) -> Result<(Vec<Spot>, Vec<Spot>), KnobError> {
        if row.place == Place::Mount {
            let missing = || KnobError::Absent {
                name: row.name.to_owned(),
                missing: "mounted file system that it lies on".to_owned(),
            };
            return Ok((vec![Spot::Mount(self.mount.clone().ok_or_else(missing)?)], Vec::new()));
        }
        let paths = self.paths(row.place).ok_or_else(|| no_disk(row.name))?;
        let files = paths.into_iter().map(|path| self.file(row.name, path)).collect::<Result<Vec<_>, _>>()?;
        if files.is_empty() {
            let missing = "processor with a frequency".to_owned();
            return Err(KnobError::Absent { name: row.name.to_owned(), missing });
        }
        let along = row.along.iter().filter_map(|place| self.paths(*place)).flatten();
        // What is not there, or is only shown, is not changed by the kernel either.
        let along = along.filter_map(|path| KnobFile::at(&self.sys, &path).ok().flatten()).map(Spot::File).collect();
        Ok((files, along))
    }

    fn file(&self, name: &str, path: PathBuf) -> Result<Spot, KnobError> {
        let absent = || KnobError::Absent { name: name.to_owned(), missing: path.display().to_string() };
        KnobFile::at(&self.sys, &path)?.map(Spot::File).ok_or_else(absent)
    }

    /// `None` where it takes a disk, and there is none below the target.
    fn paths(&self, place: Place) -> Option<Vec<PathBuf>> {
        Some(match place {
            Place::Queue(attribute) => vec![self.queue()?.join(attribute)],
            Place::QueueFolder(folder) => {
                let folder = self.queue()?.join(folder);
                names(&self.sys.path(&folder)).into_iter().map(|name| folder.join(name)).collect()
            }
            Place::Device(attribute) => vec![self.block()?.join("device").join(attribute)],
            Place::EachProcessor(attribute) => {
                let each = |cpu: String| PathBuf::from("/sys/devices/system/cpu").join(cpu).join(attribute);
                let mut paths: Vec<PathBuf> = processors(&self.sys).into_iter().map(each).collect();
                // A processor that is switched off has no frequency; where none has one, the first is named as missing.
                match paths.iter().any(|path| self.sys.path(path).exists()) {
                    true => paths.retain(|path| self.sys.path(path).exists()),
                    false => paths.truncate(1),
                }
                paths
            }
            Place::MmcHost(attribute) => {
                // A card is `…/mmc_host/mmc0/mmc0:0001`.
                let card = self.sys.canonical(&self.block()?.join("device"))?;
                let host = card.parent()?.file_name()?.to_owned();
                vec![Path::new("/sys/kernel/debug").join(host).join(attribute)]
            }
            Place::Vm(name) => vec![Path::new("/proc/sys/vm").join(name)],
            Place::Mount => return None,
        })
    }

    fn block(&self) -> Option<PathBuf> {
        Some(Path::new("/sys/block").join(self.disk.as_ref()?))
    }

    fn queue(&self) -> Option<PathBuf> {
        Some(self.block()?.join("queue"))
    }
}

impl Knob {
    /// As it was asked for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The files that it stands for.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.spots.iter().map(Spot::path)
    }

    /// Whether this is its value now, however it is written.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn is(&self, value: &str) -> Result<bool, KnobError> {
        self.spots.iter().map(|spot| spot.is(value)).try_fold(true, |all, is| Ok(all && is?))
    }

    /// Its value now; `None` where the files of several processors disagree.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn value(&self) -> Result<Option<String>, KnobError> {
        let mut values = self.spots.iter().map(Spot::read).collect::<Result<Vec<_>, _>>()?;
        values.dedup();
        Ok(if values.len() == 1 { values.pop() } else { None })
    }
}

fn unknown(name: &str) -> KnobError {
    let known = TABLE.iter().map(|row| row.name.to_owned());
    KnobError::Unknown { name: name.to_owned(), known: known.chain([format!("{TUNABLE}NAME")]).collect() }
}

fn no_disk(name: &str) -> KnobError {
    KnobError::Absent { name: name.to_owned(), missing: "disk below it that the kernel shows".to_owned() }
}
