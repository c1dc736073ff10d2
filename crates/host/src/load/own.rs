//! Files and folders that a run makes for itself. They are known by what was opened when they were made, never again by their
//! names: in a directory of another user those may lead elsewhere a moment later.

use crate::entry::{Entry, by_descriptor};
use crate::error::HostError;
use crate::payload;
use flashscope_device::Fill;
use flashscope_units::Bytes;
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, AtFlags, Mode, OFlags, fadvise, fdatasync, fstat, fstatvfs, ftruncate, mkdirat, unlinkat};
use rustix::io::{Errno, pwrite};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that a run has made for itself; gone when this is dropped, unless it is to be kept.
#[derive(Debug)]
pub struct OwnFile {
    entry: Entry,
    file: OwnedFd,
    keep: bool,
}

/// A folder that a run has made for its files; gone when this is dropped, unless it is to be kept.
#[derive(Debug)]
pub struct OwnFolder {
    entry: Entry,
    open: Arc<OpenFolder>,
    keep: bool,
    /// Whether all that lies in it was made here, too, and goes with it.
    whole: bool,
}

/// A folder that is held open.
#[derive(Debug)]
pub(super) struct OpenFolder {
    folder: OwnedFd,
    /// For people.
    path: PathBuf,
}

impl OwnFile {
    /// Makes a new file, still empty.
    ///
    /// # Errors
    /// Where something is there already, or the system says no.
    pub fn make(path: &Path, keep: bool) -> Result<OwnFile, HostError> {
        OwnFile::at(Entry::of(path).map_err(|error| HostError::from_errno("make", path, error))?, keep)
    }

    fn at(entry: Entry, keep: bool) -> Result<OwnFile, HostError> {
        let file = entry.make().map_err(|error| HostError::from_errno("make", entry.path(), error))?;
        Ok(OwnFile { entry, file, keep })
    }

    /// Writes `size` incompressible bytes to the medium and drops them from the page cache, so that there is something to read.
    /// `progress` hears how far it is, and ends it by `false`.
    ///
    /// # Errors
    /// Where there is not enough space, or the system says no; then no file is left.
    pub fn fill(mut self, size: Bytes, mut progress: impl FnMut(Bytes) -> bool) -> Result<OwnFile, HostError> {
        let filled = self.check_room(size).and_then(|()| self.write(size, &mut progress));
        self.keep &= filled.is_ok();
        filled.map(|()| self)
    }

    /// Gives it a size that takes no room, where there is room for that size.
    ///
    /// # Errors
    /// As [`OwnFile::fill`].
    pub fn hollow(self, size: Bytes) -> Result<OwnFile, HostError> {
        self.check_room(size)?;
        ftruncate(&self.file, size.get()).map_err(|error| HostError::from_errno("make", self.path(), error))?;
        Ok(self)
    }

    fn check_room(&self, size: Bytes) -> Result<(), HostError> {
        let there = fstatvfs(&self.file).map_err(|error| HostError::from_errno("look at", self.path(), error))?;
        let free = Bytes(there.f_bavail.saturating_mul(there.f_frsize));
        // A file system in memory without a limit says that it has no blocks at all.
        if there.f_blocks > 0 && free < size {
            let said = format!("{} are free, {size} are needed\nhint: ask for a smaller file with --size", free);
            return Err(HostError::System { operation: "make a file that fits", path: self.path().to_owned(), said });
        }
        Ok(())
    }

    fn write(&self, size: Bytes, progress: &mut impl FnMut(Bytes) -> bool) -> Result<(), HostError> {
        let failed = |error| HostError::from_errno("write", self.path(), error);
        let mut chunk = vec![0; 1 << 20];
        let mut at = 0;
        while at < size.get() {
            let length = (size.get() - at).min(chunk.len() as u64) as usize;
            payload::fill(Fill::Tagged { generation: 0 }, at, &mut chunk[..length.next_multiple_of(8).min(1 << 20)]);
            let mut written = 0;
            while written < length {
                match pwrite(&self.file, &chunk[written..length], at + written as u64) {
                    Ok(more) => written += more,
                    Err(Errno::INTR) => {}
                    Err(error) => return Err(failed(error)),
                }
            }
            at += length as u64;
            if !progress(Bytes(at)) {
                let said = "interrupted".to_owned();
                return Err(HostError::System { operation: "make", path: self.path().to_owned(), said });
            }
        }
        fdatasync(&self.file).map_err(failed)?;
        fadvise(&self.file, 0, None, Advice::DontNeed).map_err(failed)
    }

    /// Where it was made, for people.
    pub fn path(&self) -> &Path {
        self.entry.path()
    }

    /// What was made, whatever its name leads to by now.
    pub(crate) fn file(&self) -> &OwnedFd {
        &self.file
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        if !self.keep {
            let _ = self.entry.remove_if(&self.file);
        }
    }
}

impl OwnFolder {
    /// Makes a new folder that nobody else may look into; `whole` where nothing but the files of requests will lie in it.
    ///
    /// # Errors
    /// Where something is there already, or the system says no.
    pub fn make(path: &Path, keep: bool, whole: bool) -> Result<OwnFolder, HostError> {
        let failed = |error| HostError::from_errno("make", path, error);
        let entry = Entry::of(path).map_err(failed)?;
        mkdirat(entry.folder(), entry.name(), Mode::RWXU).map_err(failed)?;
        let folder = entry.open(OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).map_err(failed)?;
        // Another one may have been put in its place by now; one of ours that is empty does no harm.
        let ours = fstat(&folder).is_ok_and(|found| found.st_uid == rustix::process::geteuid().as_raw());
        let empty = std::fs::read_dir(by_descriptor(&folder)).is_ok_and(|mut entries| entries.next().is_none());
        if !ours || !empty {
            let said = "somebody has put another directory in its place".to_owned();
            return Err(HostError::System { operation: "make", path: path.to_owned(), said });
        }
        Ok(OwnFolder { open: Arc::new(OpenFolder { folder, path: path.to_owned() }), entry, keep, whole })
    }

    /// Makes a new file in it, still empty.
    ///
    /// # Errors
    /// As [`OwnFile::make`].
    pub fn file(&self, name: &str) -> Result<OwnFile, HostError> {
        OwnFile::at(Entry::within(&self.open.folder, &self.open.path, name)?, self.keep)
    }

    pub(super) fn open(&self) -> &Arc<OpenFolder> {
        &self.open
    }
}

impl OpenFolder {
    /// A path to it that does not go by its name.
    pub(super) fn place(&self) -> PathBuf {
        by_descriptor(&self.folder)
    }

    /// Its name, for people.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        for entry in std::fs::read_dir(self.open.place()).into_iter().flatten().flatten().filter(|_| self.whole) {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let _ = if is_folder { std::fs::remove_dir_all(entry.path()) } else { std::fs::remove_file(entry.path()) };
        }
        // Only an empty folder goes, so another one of this name loses nothing.
        let _ = unlinkat(self.entry.folder(), self.entry.name(), AtFlags::REMOVEDIR);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::{OpenOptions, open_own};
    use crate::sysfs::SysRoot;
    use flashscope_device::{ExecuteExt, Outcome, Request};
    use std::fs;
    use std::os::unix::fs::symlink;

    const OPTIONS: OpenOptions = OpenOptions { read_in_use: false, allow_buffered: true, hang_after: None };

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("flashscope-own-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_link_put_in_the_place_of_a_file_leads_nobody_astray() {
        let folder = scratch("file");
        let (name, victim) = (folder.join("bench"), folder.join("victim"));
        fs::write(&victim, vec![7; 8192]).unwrap();
        let own = OwnFile::make(&name, false).unwrap().fill(Bytes(8192), |_| true).unwrap();
        fs::rename(&name, folder.join("elsewhere")).unwrap();
        symlink(&victim, &name).unwrap();
        let (mut target, grant) = open_own(&SysRoot::live(), &own, Some(Bytes(8192)), &OPTIONS).unwrap();
        let mut grant = grant.unwrap();
        let request = Request::write(&mut grant, 0, Bytes(0), Bytes(8192), Fill::Byte(1), false).unwrap();
        assert_eq!(target.execute(request).unwrap().outcome, Outcome::Success);
        drop((target, own));
        assert!(fs::read(&victim).unwrap().iter().all(|byte| *byte == 7), "another file was written to");
        assert!(fs::read(folder.join("elsewhere")).unwrap().iter().all(|byte| *byte == 1), "the file itself was not");
        assert!(name.is_symlink(), "what others put there is not ours to remove");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_link_put_in_the_place_of_a_folder_leads_nobody_astray() {
        let folder = scratch("folder");
        let (name, victim) = (folder.join("bench"), folder.join("victim"));
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("kept"), "mine").unwrap();
        let own = OwnFolder::make(&name, false, true).unwrap();
        fs::rename(&name, folder.join("elsewhere")).unwrap();
        symlink(&victim, &name).unwrap();
        let file = own.file("all").unwrap().hollow(Bytes(4096)).unwrap();
        assert!(folder.join("elsewhere/all").exists());
        let whole = crate::load::WholeFiles::new(own.open(), Bytes(512));
        whole.prepare(3, true, |_| true).unwrap();
        crate::load::WholeFiles::clear(own.open()).unwrap();
        drop((file, own));
        let left: Vec<_> = fs::read_dir(&victim).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["kept"], "nothing is made or removed there");
        assert_eq!(fs::read_dir(folder.join("elsewhere")).unwrap().count(), 0);
        fs::remove_dir_all(&folder).unwrap();
    }
}
