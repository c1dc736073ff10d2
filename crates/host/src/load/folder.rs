//! A directory that an app is played in: every name stays below it, and every call is one that a program would make.
//!
//! Names are opened with `openat2` and `RESOLVE_BENEATH`, so that neither `..` nor a link leads out. A file is opened at its
//! first use and kept until [`Folder::close`], as a program would within one operation.

use super::evidence::device_counters;
use super::mapped::{Mapped, Torn};
use super::opened::Opened;
use crate::errno;
use crate::mounts::mounted_at;
use crate::sysfs::{DeviceNumber, SysRoot};
use flashscope_model::app::DeviceWork;
use flashscope_units::Bytes;
use rustix::fd::OwnedFd;
use rustix::fs::{
    Advice, AtFlags, Dir, FallocateFlags, Mode, OFlags, RawMode, ResolveFlags, fadvise, fallocate, fdatasync, fstat,
    fstatvfs, fsync, ftruncate, mkdirat, openat2, renameat, statat, syncfs, unlinkat,
};
use rustix::io::{Errno, pread, pwrite};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A directory that an app is played in.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    root: OwnedFd,
    open: HashMap<String, OwnedFd>,
}

/// An act that failed: what was tried, and what the system said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderError {
    /// What was tried (`write`).
    pub operation: &'static str,
    /// On what, below the directory.
    pub name: String,
    /// What the system said (`ENOSPC: no space left`).
    pub said: String,
}

impl std::fmt::Display for FolderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot {} {}: {}", self.operation, self.name, self.said)
    }
}

impl std::error::Error for FolderError {}

/// What a directory lies on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderFacts {
    /// Its file system (`ext4`); `None` before Linux 5.8.
    pub file_system: Option<String>,
    /// Options of the mount.
    pub options: Vec<String>,
    /// Size of the file system.
    pub capacity: Bytes,
    /// Free of these for us.
    pub free: Bytes,
    /// The block device below (`/dev/loop0`); `None` where there is none.
    pub device: Option<String>,
}

impl Folder {
    /// A directory that is there.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path) -> Result<Folder, FolderError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(path, flags, Mode::empty()).map_err(failed("open", &path.display().to_string()))?;
        Ok(Folder { path: path.to_owned(), root, open: HashMap::new() })
    }

    /// Another view of the same directory, for another thread.
    ///
    /// # Errors
    /// What the system says.
    pub fn again(&self) -> Result<Folder, FolderError> {
        Folder::open(&self.path)
    }

    /// Closes what was opened.
    pub fn close(&mut self) {
        self.open.clear();
    }

    /// What it lies on.
    ///
    /// # Errors
    /// What the system says.
    pub fn facts(&self, sys: &SysRoot) -> Result<FolderFacts, FolderError> {
        let room = fstatvfs(&self.root).map_err(failed("look at", "."))?;
        let mounted = mounted_at(sys, &self.path);
        let told = self.counted(sys).and_then(|number| sys.text(format!("/sys/dev/block/{number}/uevent")));
        let name = |told: String| {
            told.lines().find_map(|line| line.strip_prefix("DEVNAME=").map(|name| format!("/dev/{name}")))
        };
        Ok(FolderFacts {
            file_system: mounted.as_ref().map(|mounted| mounted.file_system.clone()),
            options: mounted.map(|mounted| mounted.options).unwrap_or_default(),
            capacity: Bytes(room.f_blocks.saturating_mul(room.f_frsize)),
            free: Bytes(room.f_bavail.saturating_mul(room.f_frsize)),
            device: told.and_then(name),
        })
    }

    /// The device below that counts what it does: the one that the files lie on, or where the file system hides it (btrfs)
    /// the one that it is mounted from.
    fn counted(&self, sys: &SysRoot) -> Option<DeviceNumber> {
        let counts = |number: &DeviceNumber| sys.text(stat_file(*number)).is_some();
        let own = fstat(&self.root).ok().map(|found| DeviceNumber::from_raw(found.st_dev));
        let source = || {
            let source = mounted_at(sys, &self.path)?.source;
            let found = rustix::fs::stat(Path::new(&source)).ok()?;
            Some(DeviceNumber::from_raw(found.st_rdev))
        };
        own.filter(counts).or_else(|| source().filter(counts))
    }

    /// What the device below has done since it came; `None` where there is none.
    pub fn device_work(&self, sys: &SysRoot) -> Option<DeviceWork> {
        let counters = device_counters(&sys.text(stat_file(self.counted(sys)?))?)?;
        Some(DeviceWork {
            busy: counters.busy,
            reads: counters.reads,
            read: counters.read,
            writes: counters.writes,
            written: counters.written,
            flushes: counters.flushes,
            flushing: counters.flushing,
        })
    }

    /// Makes or empties a file and writes its first `size` bytes in pieces; `bytes(offset, length)` gives them.
    ///
    /// # Errors
    /// What the system says.
    pub fn write<'a>(
        &mut self,
        name: &str,
        size: Bytes,
        chunk: Bytes,
        bytes: impl FnMut(u64, u64) -> &'a [u8],
    ) -> Result<(), FolderError> {
        self.open.remove(name);
        let file = self.file(name, OFlags::CREATE | OFlags::TRUNC)?;
        write_from(file, 0, size.get(), chunk.get(), bytes).map_err(failed("write", name))
    }

    /// The same behind what a file holds.
    ///
    /// # Errors
    /// What the system says.
    pub fn append<'a>(
        &mut self,
        name: &str,
        size: Bytes,
        chunk: Bytes,
        bytes: impl FnMut(u64, u64) -> &'a [u8],
    ) -> Result<(), FolderError> {
        let file = self.file(name, OFlags::CREATE)?;
        let end = fstat(&*file).map_err(failed("look at", name))?.st_size as u64;
        write_from(file, end, size.get(), chunk.get(), bytes).map_err(failed("write", name))
    }

    /// Writes pieces over what a file holds, at the places that `place(pieces)` draws among so many.
    ///
    /// # Errors
    /// What the system says.
    pub fn overwrite<'a>(
        &mut self,
        name: &str,
        size: Bytes,
        chunk: Bytes,
        mut place: impl FnMut(u64) -> u64,
        mut bytes: impl FnMut(u64, u64) -> &'a [u8],
    ) -> Result<(), FolderError> {
        let file = self.file(name, OFlags::empty())?;
        let pieces = (fstat(&*file).map_err(failed("look at", name))?.st_size as u64 / chunk.get()).max(1);
        for at in (0..size.get()).step_by(chunk.get() as usize) {
            let offset = place(pieces) * chunk.get();
            let length = chunk.get().min(size.get() - at);
            write_all(file, bytes(offset, length), offset).map_err(failed("write", name))?;
        }
        Ok(())
    }

    /// Reads a file from its start in pieces, `size` of it or all, and hands each to `look(offset, bytes)`, which says
    /// whether it is as it should be. Gives how much was read, and where it was first not.
    ///
    /// # Errors
    /// What the system says.
    pub fn read(
        &mut self,
        name: &str,
        size: Option<Bytes>,
        chunk: Bytes,
        mut look: impl FnMut(u64, &[u8]) -> bool,
    ) -> Result<(Bytes, Option<u64>), FolderError> {
        let file = self.file(name, OFlags::empty())?;
        let mut buffer = vec![0; chunk.get() as usize];
        let (mut at, most, mut wrong) = (0, size.map_or(u64::MAX, Bytes::get), None);
        while at < most {
            let wanted = chunk.get().min(most - at) as usize;
            let got = pread(&*file, &mut buffer[..wanted], at).map_err(failed("read", name))?;
            if got == 0 {
                break;
            }
            if wrong.is_none() && !look(at, &buffer[..got]) {
                wrong = Some(at);
            }
            at += got as u64;
        }
        Ok((Bytes(at), wrong))
    }

    /// Reads so much of a file from a place on, its end followed by its start.
    ///
    /// # Errors
    /// What the system says.
    pub fn read_on(&mut self, name: &str, at: u64, size: Bytes, chunk: Bytes) -> Result<Bytes, FolderError> {
        let file = self.file(name, OFlags::empty())?;
        let length = fstat(&*file).map_err(failed("look at", name))?.st_size as u64;
        if length == 0 {
            return Ok(Bytes::ZERO);
        }
        let mut buffer = vec![0; chunk.get() as usize];
        let mut read = 0;
        while read < size.get() {
            let place = (at + read) % length;
            let most = chunk.get().min(size.get() - read).min(length - place) as usize;
            match pread(&*file, &mut buffer[..most], place).map_err(failed("read", name))? {
                0 => break,
                got => read += got as u64,
            }
        }
        Ok(Bytes(read))
    }

    /// Reads pieces of a file at the places that `place(pieces)` draws among so many.
    ///
    /// # Errors
    /// What the system says.
    pub fn read_random(
        &mut self,
        name: &str,
        size: Bytes,
        chunk: Bytes,
        mut place: impl FnMut(u64) -> u64,
    ) -> Result<Bytes, FolderError> {
        let file = self.file(name, OFlags::empty())?;
        let pieces = (fstat(&*file).map_err(failed("look at", name))?.st_size as u64 / chunk.get()).max(1);
        let mut buffer = vec![0; chunk.get() as usize];
        let mut read = 0;
        for at in (0..size.get()).step_by(chunk.get() as usize) {
            let length = chunk.get().min(size.get() - at) as usize;
            read +=
                pread(&*file, &mut buffer[..length], place(pieces) * chunk.get()).map_err(failed("read", name))? as u64;
        }
        Ok(Bytes(read))
    }

    /// Touches pages of a file through a memory map at the places that `place(pages)` draws; with `bytes` they are written,
    /// and the map is flushed. Gives how much was touched.
    ///
    /// # Errors
    /// What the system says.
    pub fn map(
        &mut self,
        name: &str,
        size: Bytes,
        mut place: impl FnMut(u64) -> u64,
        bytes: Option<&[u8]>,
    ) -> Result<Bytes, FolderError> {
        let page = crate::page_size().get();
        let file = self.file(name, OFlags::empty())?;
        let length = fstat(&*file).map_err(failed("look at", name))?.st_size as u64;
        let pages = length / page;
        if pages == 0 {
            return Ok(Bytes::ZERO);
        }
        let own = rustix::io::fcntl_dupfd_cloexec(&*file, 0).map_err(failed("map", name))?;
        let mut map =
            Mapped::new(Arc::new(Opened::new(vec![own], length)), bytes.is_some()).map_err(failed("map", name))?;
        let torn =
            |Torn| FolderError { operation: "use the map of", name: name.to_owned(), said: Torn::SAID.to_owned() };
        let mut buffer = vec![0; page as usize];
        let touched = size.get().div_ceil(page);
        for _ in 0..touched {
            let at = place(pages) * page;
            match bytes {
                Some(bytes) => map.write(at, &bytes[..page as usize]).map_err(torn)?,
                None => map.read(at, &mut buffer).map_err(torn)?,
            }
        }
        if bytes.is_some() {
            map.flush().map_err(failed("flush the map of", name))?;
        }
        Ok(Bytes(touched * page))
    }

    /// Waits until a file is on the medium; with `data_only` until its data are.
    ///
    /// # Errors
    /// What the system says.
    pub fn sync(&mut self, name: &str, data_only: bool) -> Result<(), FolderError> {
        let file = self.file(name, OFlags::empty())?;
        if data_only { fdatasync(&*file) } else { fsync(&*file) }.map_err(failed("flush", name))
    }

    /// Waits until the names in a directory are on the medium.
    ///
    /// # Errors
    /// What the system says.
    pub fn sync_dir(&self, name: &str) -> Result<(), FolderError> {
        self.directory(name).and_then(fsync).map_err(failed("flush", name))
    }

    /// Gives a file another name.
    ///
    /// # Errors
    /// What the system says.
    pub fn rename(&mut self, name: &str, to: &str) -> Result<(), FolderError> {
        let (from_folder, from) = self.parent(name).map_err(failed("rename", name))?;
        let (to_folder, to_name) = self.parent(to).map_err(failed("rename", name))?;
        renameat(&from_folder, from, &to_folder, to_name).map_err(failed("rename", name))?;
        self.open.remove(to);
        if let Some(file) = self.open.remove(name) {
            self.open.insert(to.to_owned(), file);
        }
        Ok(())
    }

    /// Removes a file, if it is there.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(&mut self, name: &str) -> Result<(), FolderError> {
        self.open.remove(name);
        let removed = self.parent(name).and_then(|(folder, last)| unlinkat(&folder, last, AtFlags::empty()));
        match removed {
            Err(Errno::NOENT) => Ok(()),
            done => done.map_err(failed("remove", name)),
        }
    }

    /// Makes a directory and those above it.
    ///
    /// # Errors
    /// What the system says.
    pub fn make_dir(&self, name: &str) -> Result<(), FolderError> {
        let ends = name.match_indices('/').map(|(at, _)| at).chain([name.len()]);
        for end in ends {
            let (folder, last) = self.parent(&name[..end]).map_err(failed("make", name))?;
            match mkdirat(&folder, last, Mode::from_raw_mode(0o700)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(failed("make", name)(error)),
            }
        }
        Ok(())
    }

    /// Reads the names in a directory, and gives their number.
    ///
    /// # Errors
    /// What the system says.
    pub fn list(&self, name: &str) -> Result<u64, FolderError> {
        let names = self.directory(name).and_then(Dir::new).map_err(failed("list", name))?;
        Ok(names.filter(Result::is_ok).count() as u64)
    }

    /// Asks for the size and times of a file.
    ///
    /// # Errors
    /// What the system says.
    pub fn stat(&self, name: &str) -> Result<Bytes, FolderError> {
        let (folder, last) = self.parent(name).map_err(failed("look at", name))?;
        let found = statat(&folder, last, AtFlags::SYMLINK_NOFOLLOW).map_err(failed("look at", name))?;
        Ok(Bytes(found.st_size as u64))
    }

    /// Cuts or lengthens a file.
    ///
    /// # Errors
    /// What the system says.
    pub fn truncate(&mut self, name: &str, size: Bytes) -> Result<(), FolderError> {
        ftruncate(self.file(name, OFlags::empty())?, size.get()).map_err(failed("cut", name))
    }

    /// Makes room for a file.
    ///
    /// # Errors
    /// What the system says.
    pub fn allocate(&mut self, name: &str, size: Bytes) -> Result<(), FolderError> {
        let file = self.file(name, OFlags::CREATE)?;
        fallocate(file, FallocateFlags::empty(), 0, size.get()).map_err(failed("make room for", name))
    }

    /// Puts everything in its file system on the medium.
    ///
    /// # Errors
    /// What the system says.
    pub fn settle(&self) -> Result<(), FolderError> {
        syncfs(&self.root).map_err(failed("flush", "the file system"))
    }

    /// Puts everything on the medium, and all files below the directory out of the page cache.
    ///
    /// # Errors
    /// What the system says.
    pub fn drop_caches(&self) -> Result<(), FolderError> {
        self.settle()?;
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            let names = self.directory(&folder).and_then(Dir::new).map_err(failed("list", &folder))?;
            for entry in names.filter_map(Result::ok) {
                let Ok(name) = entry.file_name().to_str() else { continue };
                if name == "." || name == ".." {
                    continue;
                }
                let name = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
                if entry.file_type().is_dir() {
                    folders.push(name);
                } else if let Ok(file) = self.opened(&name, OFlags::RDONLY) {
                    fadvise(&file, 0, None, Advice::DontNeed).map_err(failed("drop from the page cache", &name))?;
                }
            }
        }
        Ok(())
    }

    /// Where a file of this name lies, for programs that open it by its path.
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn file(&mut self, name: &str, more: OFlags) -> Result<&mut OwnedFd, FolderError> {
        if !self.open.contains_key(name) {
            let file = self.opened(name, OFlags::RDWR | more).map_err(failed("open", name))?;
            self.open.insert(name.to_owned(), file);
        }
        Ok(self.open.get_mut(name).expect("it was opened above"))
    }

    fn opened(&self, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let mode = if flags.contains(OFlags::CREATE) { 0o600 as RawMode } else { 0 };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        openat2(&self.root, name, flags | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::from_raw_mode(mode), resolve)
    }

    /// The folder of a name, and the name in it.
    fn parent<'n>(&self, name: &'n str) -> Result<(OwnedFd, &'n str), Errno> {
        let (folder, last) = name.rsplit_once('/').unwrap_or(("", name));
        Ok((self.directory(folder)?, last))
    }

    fn directory(&self, name: &str) -> Result<OwnedFd, Errno> {
        self.opened(if name.is_empty() { "." } else { name }, OFlags::RDONLY | OFlags::DIRECTORY)
    }
}

fn stat_file(number: DeviceNumber) -> String {
    format!("/sys/dev/block/{number}/stat")
}

fn failed(operation: &'static str, name: &str) -> impl Fn(Errno) -> FolderError {
    let name = name.to_owned();
    move |error| FolderError { operation, name: name.clone(), said: errno::describe(error) }
}

fn write_from<'a>(
    file: &OwnedFd,
    from: u64,
    size: u64,
    chunk: u64,
    mut bytes: impl FnMut(u64, u64) -> &'a [u8],
) -> Result<(), Errno> {
    let end = from + size;
    let mut at = from;
    while at < end {
        let length = chunk.min(end - at);
        write_all(file, bytes(at, length), at)?;
        at += length;
    }
    Ok(())
}

fn write_all(file: &OwnedFd, mut bytes: &[u8], mut at: u64) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match pwrite(file, bytes, at)? {
            0 => return Err(Errno::IO),
            done => (bytes, at) = (&bytes[done..], at + done as u64),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str) -> Temporary {
            let path = std::env::temp_dir().join(format!("flashscope-folder-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).expect("a directory");
            Temporary(path)
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const SOME: &[u8] = &[7; 1 << 16];

    #[test]
    fn files_are_written_read_renamed_and_removed() {
        let place = Temporary::new("all");
        let mut folder = Folder::open(&place.0).expect("it is there");
        folder.make_dir("a/b").expect("made");
        folder.make_dir("a/b").expect("again");
        folder.write("a/b/x", Bytes(100_000), Bytes::kib(16), |_, length| &SOME[..length as usize]).expect("written");
        folder.append("a/b/x", Bytes(24), Bytes(10), |_, length| &SOME[..length as usize]).expect("longer");
        assert_eq!(folder.stat("a/b/x"), Ok(Bytes(100_024)));
        folder.rename("a/b/x", "a/y").expect("renamed");
        folder.close();
        let mut seen = 0;
        let (read, wrong) = folder
            .read("a/y", None, Bytes::kib(8), |at, bytes| {
                seen += 1;
                at < 8192 && bytes.iter().all(|byte| *byte == 7)
            })
            .expect("read");
        assert_eq!((read, wrong), (Bytes(100_024), Some(8192)), "what the reader does not like is told by its place");
        assert_eq!(folder.read_on("a/y", 3 * 100_024 - 10, Bytes(30), Bytes(16)), Ok(Bytes(30)));
        assert_eq!(folder.read_random("a/y", Bytes::kib(64), Bytes::kib(4), |pieces| pieces - 1), Ok(Bytes::kib(64)));
        assert_eq!(folder.map("a/y", Bytes::kib(8), |_| 1, None), Ok(Bytes::kib(8)));
        assert_eq!(folder.map("a/y", Bytes::kib(4), |_| 1, Some(SOME)), Ok(Bytes::kib(4)));
        folder.sync("a/y", false).and_then(|()| folder.sync_dir("a")).expect("flushed");
        folder.drop_caches().expect("dropped");
        assert_eq!(folder.list("a"), Ok(4), ". .. b y");
        folder.remove("a/y").and_then(|()| folder.remove("a/y")).expect("removed, and nothing there is nothing wrong");
        let gone = folder.read("a/y", None, Bytes::kib(4), |_, _| true).expect_err("gone");
        assert_eq!(gone.to_string(), "cannot open a/y: ENOENT: no such file or directory");
        assert_eq!(seen, 2);
    }

    #[test]
    fn nothing_leads_out_of_the_directory() {
        let place = Temporary::new("out");
        std::os::unix::fs::symlink("/etc", place.0.join("link")).expect("a link");
        let mut folder = Folder::open(&place.0).expect("it is there");
        for name in ["link/passwd", "../x", "/etc/passwd", "link"] {
            assert!(folder.read(name, None, Bytes::kib(4), |_, _| true).is_err(), "{name}");
            assert!(folder.write(name, Bytes(1), Bytes(1), |_, _| &SOME[..1]).is_err(), "{name}");
            assert!(folder.rename(name, "in").is_err() || name == "link", "{name}");
        }
    }

    #[test]
    fn what_it_lies_on_is_known() {
        let place = Temporary::new("facts");
        let facts = Folder::open(&place.0).and_then(|folder| folder.facts(&SysRoot::live())).expect("facts");
        assert!(facts.capacity >= facts.free && facts.file_system.is_some(), "{facts:?}");
    }
}
