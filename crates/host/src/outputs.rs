//! The one door for files that are written beside a target: records, pages, tables, workbooks, models, traces, logs.
//!
//! Only regular files are written: never a device node, never what the run works on or stands on, never what it reads. A file
//! that is there already is replaced where flashscope wrote it, which its content tells, or where it is empty; any other only
//! where the operator said so (`--force`). Links are followed as [`Entry::through_own_links`] says. A file is replaced whole or not at
//! all and keeps its mode and owner; one that has several names is written in place, so that all of them show the same.
//!
//! [`Outputs::plan`] checks all this before a run, and [`Output::write`] and [`Output::begin`] once more when it is over.

use crate::blocks::{Blocks, FileId};
use crate::entry::{Entry, by_descriptor, inode, is_of_the_kernel, only_we_can_write};
use crate::errno;
use crate::error::HostError;
use crate::sysfs::SysRoot;
use flashscope_device::{Refusal, RefusalKind};
use flashscope_units::Bytes;
use rustix::fd::OwnedFd;
use rustix::fs::{
    Access, AtFlags, FileType, Mode, OFlags, RenameFlags, Stat, accessat, fchmod, fstat, renameat_with, unlinkat,
};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::fchown;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// What a command writes beside its target.
#[derive(Debug)]
pub struct Outputs {
    rules: Rules,
    taken: Vec<(PathBuf, Spot)>,
}

/// One file that is to be written, in its folder, which is held open.
#[derive(Debug)]
pub struct Output {
    entry: Entry,
    rules: Rules,
}

#[derive(Clone, Debug)]
struct Rules {
    force: bool,
    /// Whether flashscope wrote what is in a file.
    ours: fn(&mut File) -> bool,
    kept_out: Vec<KeptOut>,
}

/// A file that is not written to, and why.
#[derive(Clone, Debug)]
struct KeptOut {
    spot: Spot,
    why: String,
}

/// Where a path leads: the file, where there is one, and its name in its folder, where there is none yet.
#[derive(Clone, Debug)]
struct Spot {
    file: Option<FileId>,
    name: Option<(FileId, OsString)>,
}

/// What is there already.
struct Found {
    /// Open as a place only (`O_PATH`), so that looking at it has no effect.
    place: OwnedFd,
    stat: Stat,
}

impl Outputs {
    /// `ours` tells from a file, open for reading, whether flashscope wrote it; with `force` that does not matter.
    pub fn new(force: bool, ours: fn(&mut File) -> bool) -> Outputs {
        Outputs { rules: Rules { force, ours, kept_out: Vec::new() }, taken: Vec::new() }
    }

    /// From now on nothing is written to what is at this path, nor to the file that a loop device there stands on.
    pub fn keep_out(&mut self, sys: &SysRoot, path: &Path) {
        let shown = path.display();
        let name = Entry::of(path).ok().and_then(|entry| Spot::of_entry(&entry, None).name);
        let file = FileId::of(path);
        if let Some(device @ FileId::Block(_)) = file {
            let below = files_below(&Blocks::read(sys), device).into_iter().map(|file| KeptOut {
                spot: Spot { file: Some(file), name: None },
                why: format!("{shown} stands on it"),
            });
            self.rules.kept_out.extend(below);
        }
        self.rules.kept_out.push(KeptOut { spot: Spot { file, name }, why: format!("this command works on {shown}") });
    }

    /// Looks whether a file may be written there, and changes nothing.
    ///
    /// # Errors
    /// [`HostError::Refused`] where it must not be, [`HostError::System`] where it cannot be, or where this command is to write another
    /// file there.
    pub fn plan(&mut self, path: &Path) -> Result<Output, HostError> {
        let entry = Entry::through_own_links(path).map_err(|error| in_words(path, error))?;
        let output = Output { entry, rules: self.rules.clone() };
        let found = output.look()?;
        output.check_room(found.as_ref())?;
        let spot = Spot::of_entry(&output.entry, found.map(|found| inode(&found.stat)));
        if let Some((other, _)) = self.taken.iter().find(|(_, taken)| taken.is(&spot)) {
            let said = format!("{} leads there too, and this command writes both", other.display());
            return Err(system(path, format!("{said}\nhint: name two different files")));
        }
        self.taken.push((path.to_owned(), spot));
        Ok(output)
    }
}

impl Output {
    /// As it was asked for.
    pub fn path(&self) -> &Path {
        self.entry.path()
    }

    /// Writes the file whole, or leaves what was there.
    ///
    /// # Errors
    /// As [`Outputs::plan`], and where the bytes do not fit.
    pub fn write(&self, content: &[u8]) -> Result<(), HostError> {
        self.replace(content, true)
    }

    /// The same without waiting for the disk: for what has to outlive this program, and not the machine.
    ///
    /// # Errors
    /// As [`Output::write`].
    pub fn keep(&self, content: &[u8]) -> Result<(), HostError> {
        self.replace(content, false)
    }

    fn replace(&self, content: &[u8], durable: bool) -> Result<(), HostError> {
        let fresh = self.fresh()?;
        let written = (&fresh.file).write_all(content);
        match written.and_then(|()| if durable { fresh.file.sync_all() } else { Ok(()) }) {
            Ok(()) => fresh.put(self).map(drop),
            Err(error) => {
                fresh.discard(self);
                Err(in_words(self.path(), HostError::from_io("write", self.path(), &error)))
            }
        }
    }

    /// Makes the file empty and opens it, for what is written as it comes.
    ///
    /// # Errors
    /// As [`Outputs::plan`].
    pub fn begin(&self) -> Result<File, HostError> {
        self.fresh()?.put(self)
    }

    /// What is free on its disk, for this user; `None` where the system does not say.
    pub fn room(&self) -> Option<Bytes> {
        let free = rustix::fs::fstatvfs(self.entry.folder()).ok()?;
        Some(Bytes(free.f_bavail.saturating_mul(free.f_frsize)))
    }

    /// Removes the file again, where flashscope wrote it.
    pub fn remove(&self) {
        if let Ok(Some(found)) = self.look() {
            let _ = self.entry.remove_if(&found.place);
        }
    }

    /// What is there, if it may be written over.
    fn look(&self) -> Result<Option<Found>, HostError> {
        let path = self.path();
        let place = match self.entry.open(OFlags::PATH, Mode::empty()) {
            Ok(place) => place,
            Err(Errno::NOENT) => {
                self.check_name(None)?;
                return Ok(None);
            }
            Err(error) => return Err(system(path, errno::describe(error))),
        };
        let stat = fstat(&place).map_err(|error| system(path, errno::describe(error)))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Err(system(path, "it is a directory".to_owned())),
            other => return Err(refused(path, format!("{} is {}", path.display(), kind_word(other)), NO_FILE)),
        }
        self.check_name(Some(inode(&stat)))?;
        let found = Found { place, stat };
        // Somebody else's file may have been linked into a folder of his: written in place it would be changed there, too.
        let ours = stat.st_uid == rustix::process::geteuid().as_raw();
        if stat.st_nlink > 1 && !ours && !only_we_can_write(self.entry.folder()) {
            let what = format!("{} is another user's file, which has other names as well", path.display());
            return Err(refused(path, what, "name another file"));
        }
        if self.rules.force
            || found.is_empty()
            || found.open(OFlags::RDONLY).is_ok_and(|mut file| (self.rules.ours)(&mut file))
        {
            return Ok(Some(found));
        }
        let what = format!("{} is there already, and flashscope did not write it", path.display());
        Err(refused(path, what, "name another file, or add --force: its content is then lost"))
    }

    /// What may not be written to whatever the operator says.
    fn check_name(&self, file: Option<FileId>) -> Result<(), HostError> {
        let path = self.path();
        let spot = Spot::of_entry(&self.entry, file);
        if let Some(kept_out) = self.rules.kept_out.iter().find(|kept_out| kept_out.spot.is(&spot)) {
            return Err(refused(path, format!("{}: {}", path.display(), kept_out.why), "name another file"));
        }
        let folder = std::fs::read_link(by_descriptor(self.entry.folder())).unwrap_or_default();
        if is_among_devices(&folder) || is_of_the_kernel(self.entry.folder()) {
            let what =
                format!("{} is no place for files: what is in there stands for devices and the like", folder.display());
            return Err(refused(path, what, NO_FILE));
        }
        Ok(())
    }

    /// Whether this user may write there, as far as that can be told beforehand.
    fn check_room(&self, found: Option<&Found>) -> Result<(), HostError> {
        let may = |name: &std::ffi::OsStr| accessat(self.entry.folder(), name, Access::WRITE_OK, AtFlags::empty());
        match (may(".".as_ref()), found) {
            (Ok(()), _) => Ok(()),
            (Err(_), Some(_)) if may(self.entry.name()).is_ok() => Ok(()),
            (Err(error), _) => Err(in_words(self.path(), HostError::from_errno("write", self.path(), error))),
        }
    }

    /// An empty file to write to, which [`Fresh::put`] puts in its place.
    fn fresh(&self) -> Result<Fresh, HostError> {
        let found = self.look()?;
        let in_place = |found: &Found| {
            let file = found.open(OFlags::WRONLY | OFlags::TRUNC);
            let file =
                file.map_err(|error| in_words(self.path(), HostError::from_errno("write", self.path(), error)))?;
            Ok(Fresh { file, temporary: None, replaces: true })
        };
        if let Some(found) = found.as_ref().filter(|found| found.stat.st_nlink > 1) {
            return in_place(found);
        }
        match (self.temporary(found.as_ref()), &found) {
            (Ok(fresh), _) => Ok(fresh),
            // A folder that takes no new file may hold one that can be written, or whose owner only root could give to another file.
            (Err(Errno::ACCESS | Errno::PERM), Some(found)) => in_place(found),
            (Err(error), _) => Err(in_words(self.path(), HostError::from_errno("write", self.path(), error))),
        }
    }

    /// A new file in the same folder, of the mode and owner of the one that it is to replace.
    fn temporary(&self, found: Option<&Found>) -> Result<Fresh, Errno> {
        /// Number of the next temporary file of this process.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mode = Mode::from_raw_mode(if found.is_some() { 0o600 } else { 0o666 });
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = OsString::from(format!(".flashscope-{}-{number}.partial", std::process::id()));
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = match rustix::fs::openat(self.entry.folder(), &name, flags, mode) {
                Err(Errno::EXIST) => continue,
                opened => File::from(opened?),
            };
            let fresh = Fresh { file, temporary: Some(name), replaces: found.is_some() };
            if let Some(found) = found
                && let Err(error) = found.lend_rights(&fresh.file)
            {
                fresh.discard(self);
                return Err(error);
            }
            return Ok(fresh);
        }
    }
}

/// A file that is still empty.
struct Fresh {
    file: File,
    /// Its name until it is put in its place; `None` where it is there.
    temporary: Option<OsString>,
    replaces: bool,
}

impl Fresh {
    fn put(self, output: &Output) -> Result<File, HostError> {
        let Some(temporary) = &self.temporary else { return Ok(self.file) };
        let folder = output.entry.folder();
        let rename = |flags| renameat_with(folder, temporary, folder, output.entry.name(), flags);
        // What came there meanwhile is not known, so it stays.
        let flags = if self.replaces { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
        let done = match rename(flags) {
            // Not every file system can refuse to replace.
            Err(Errno::INVAL | Errno::NOSYS) => {
                output.look()?.map_or_else(|| rename(RenameFlags::empty()), |_| Err(Errno::EXIST))
            }
            done => done,
        };
        match done {
            Ok(()) => Ok(self.file),
            Err(error) => {
                self.discard(output);
                Err(system(output.path(), errno::describe(error)))
            }
        }
    }

    fn discard(&self, output: &Output) {
        if let Some(temporary) = &self.temporary {
            let _ = unlinkat(output.entry.folder(), temporary, AtFlags::empty());
        }
    }
}

impl Found {
    fn open(&self, flags: OFlags) -> Result<File, Errno> {
        rustix::fs::open(by_descriptor(&self.place), flags | OFlags::CLOEXEC, Mode::empty()).map(File::from)
    }

    /// Whether nothing can be lost.
    fn is_empty(&self) -> bool {
        self.stat.st_size == 0
    }

    /// Gives another file the mode and owner of this one.
    fn lend_rights(&self, to: &File) -> Result<(), Errno> {
        let now = fstat(to)?;
        let Stat { st_uid, st_gid, .. } = self.stat;
        if (now.st_uid, now.st_gid) != (st_uid, st_gid) {
            fchown(to, Some(st_uid), Some(st_gid))
                .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::PERM))?;
        }
        let mode = Mode::from_raw_mode(self.stat.st_mode & 0o777);
        if Mode::from_raw_mode(now.st_mode & 0o777) == mode { Ok(()) } else { fchmod(to, mode) }
    }
}

impl Spot {
    fn of_entry(entry: &Entry, file: Option<FileId>) -> Spot {
        let folder = fstat(entry.folder()).ok();
        Spot { file, name: folder.map(|folder| (inode(&folder), entry.name().to_owned())) }
    }

    fn is(&self, other: &Spot) -> bool {
        let same_file = self.file.is_some() && self.file == other.file;
        same_file || (self.name.is_some() && self.name == other.name)
    }
}

/// The files that a block device stands on, through loop devices and whatever is stacked on them.
fn files_below(blocks: &Blocks, device: FileId) -> Vec<FileId> {
    let FileId::Block(number) = device else { return vec![device] };
    let Some(node) = blocks.by_number(number) else { return Vec::new() };
    let disk = blocks.disk_of(node);
    let stacked = blocks.slaves(node).chain(blocks.slaves(disk)).map(|slave| FileId::Block(slave.number));
    let backing = disk.backing.as_ref().and_then(|backing| backing.file);
    stacked.chain(backing).flat_map(|below| files_below(blocks, below)).collect()
}

/// Whether a folder holds the nodes of devices: a file there would lie in memory, in a device's place.
pub fn is_among_devices(folder: &Path) -> bool {
    let for_files = ["/dev/shm", "/dev/hugepages"];
    folder.starts_with("/dev") && !for_files.iter().any(|other| folder.starts_with(other))
}

fn kind_word(kind: FileType) -> &'static str {
    match kind {
        FileType::BlockDevice => "a block device",
        FileType::CharacterDevice => "a character device",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        _ => "not a regular file",
    }
}

/// What to do where the output is no regular file.
const NO_FILE: &str = "name a regular file, or print to stdout and redirect that";

fn refused(path: &Path, what: String, release: &str) -> HostError {
    let refusal = Refusal { kind: RefusalKind::NoConsent, what, release: Some(release.to_owned()) };
    HostError::Refused { path: path.to_owned(), refusals: vec![refusal], writing: true }
}

fn system(path: &Path, said: String) -> HostError {
    HostError::System { operation: "write", path: path.to_owned(), said }
}

/// Errors of targets have hints that are of no use for files beside them.
fn in_words(path: &Path, error: HostError) -> HostError {
    /// What to do where its folder cannot be used.
    const HINT: &str = "hint: name a directory that is there and can be written to";
    match error {
        HostError::NotFound { .. } => system(path, format!("there is no such directory\n{HINT}")),
        HostError::PermissionDenied { .. } => system(path, format!("permission denied\n{HINT}")),
        HostError::NotATarget { what, .. } => system(path, format!("it is {what}")),
        HostError::System { said, .. } => system(path, said),
        other => other,
    }
}
