//! A name in a folder that is held open: between two looks at it nobody can make the folder another one.

use crate::blocks::FileId;
use crate::error::HostError;
use crate::sysfs::DeviceNumber;
use flashscope_device::{Refusal, RefusalKind};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, fstat, openat, readlinkat, statat, unlinkat};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// A name in a folder that is held open. There need be nothing of that name.
#[derive(Debug)]
pub(crate) struct Entry {
    folder: OwnedFd,
    name: OsString,
    /// As it was given, for people.
    path: PathBuf,
}

/// Links on the way to one file, as many as the kernel follows.
const MOST_LINKS: u32 = 40;

impl Entry {
    /// The last name of a path in the folder that the rest of it leads to, through links like everyone.
    pub(crate) fn of(path: &Path) -> Result<Entry, Errno> {
        let name = path.file_name().ok_or(Errno::ISDIR)?.to_owned();
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = openat(CWD, parent, FOLDER, Mode::empty())?;
        Ok(Entry { folder, name, path: path.to_owned() })
    }

    /// The same for files that are replaced: links are followed, the last name's too, but none that lies in a folder in which
    /// others can make links, since they could lead the caller to any file of this machine.
    ///
    /// # Errors
    /// [`HostError::Refused`] for such a link, and what the system says on the way.
    pub(crate) fn through_own_links(path: &Path) -> Result<Entry, HostError> {
        let mut rest: VecDeque<OsString> = VecDeque::new();
        let root = || openat(CWD, "/", FOLDER, Mode::empty()).map_err(failed("look at", path));
        let mut folder = openat(CWD, ".", FOLDER, Mode::empty()).map_err(failed("look at", path))?;
        let mut links = 0;
        let mut given = path.to_owned();
        loop {
            // What a link says goes before what is left of the path.
            for part in given.components().rev() {
                match part {
                    Component::RootDir => folder = root()?,
                    Component::Normal(_) | Component::ParentDir => rest.push_front(part.as_os_str().to_owned()),
                    Component::CurDir | Component::Prefix(_) => {}
                }
            }
            given = loop {
                let name = rest.pop_front().ok_or_else(|| no_name(path))?;
                if name == ".." {
                    folder = openat(&folder, name, FOLDER, Mode::empty()).map_err(failed("look at", path))?;
                    continue;
                }
                match readlinkat(&folder, &name, Vec::new()) {
                    Ok(to) => {
                        let to = PathBuf::from(OsString::from_vec(to.into_bytes()));
                        links += 1;
                        if links > MOST_LINKS {
                            return Err(HostError::from_errno("look at", path, Errno::LOOP));
                        }
                        if !only_we_can_write(&folder) {
                            return Err(foreign_link(path, &name, &to));
                        }
                        break to;
                    }
                    Err(_) if rest.is_empty() => return Ok(Entry { folder, name, path: path.to_owned() }),
                    Err(_) => {
                        let flags = FOLDER | OFlags::NOFOLLOW;
                        folder = openat(&folder, &name, flags, Mode::empty()).map_err(failed("look at", path))?;
                    }
                }
            };
        }
    }

    /// A name in a folder that is open already.
    pub(crate) fn within(folder: &OwnedFd, folder_path: &Path, name: &str) -> Result<Entry, HostError> {
        let path = folder_path.join(name);
        let folder = folder.try_clone().map_err(|error| HostError::from_io("look at", folder_path, &error))?;
        Ok(Entry { folder, name: name.into(), path })
    }

    /// As it was given, for people.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The name alone.
    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &OwnedFd {
        &self.folder
    }

    /// Opens what is there, if it is no link.
    pub(crate) fn open(&self, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        openat(&self.folder, &self.name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, mode)
    }

    /// Makes a file that was not there, which only its owner may read.
    pub(crate) fn make(&self) -> Result<OwnedFd, Errno> {
        self.open(OFlags::RDWR | OFlags::CREATE | OFlags::EXCL, Mode::RUSR | Mode::WUSR)
    }

    /// What is there, a link itself included.
    pub(crate) fn stat(&self) -> Result<Stat, Errno> {
        statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Removes the file if it is still this one; where somebody has put another one there, or taken ours away, nothing is done.
    pub(crate) fn remove_if(&self, file: impl AsFd) -> Result<(), Errno> {
        match (self.stat(), fstat(file)) {
            (Ok(there), Ok(ours)) if inode(&there) == inode(&ours) => {
                unlinkat(&self.folder, &self.name, AtFlags::empty())
            }
            (Err(error), _) | (_, Err(error)) if error != Errno::NOENT => Err(error),
            _ => Ok(()),
        }
    }
}

/// How a folder is opened only to look names up in it.
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Device and inode of what was looked at.
pub(crate) fn inode(found: &Stat) -> FileId {
    FileId::File(DeviceNumber::from_raw(found.st_dev), found.st_ino)
}

/// A path that leads to an open file whatever becomes of its name.
pub(crate) fn by_descriptor(file: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Whether nobody but this user and root can put anything into a folder.
pub(crate) fn only_we_can_write(folder: &OwnedFd) -> bool {
    let ours = [0, rustix::process::geteuid().as_raw()];
    // The kernel's own file systems are full of links that lead to whatever a process has open.
    fstat(folder).is_ok_and(|found| ours.contains(&found.st_uid) && found.st_mode & 0o022 == 0)
        && !is_of_the_kernel(folder)
}

/// Whether a folder shows what the kernel has in memory: a file there is a switch, not a place for bytes.
pub(crate) fn is_of_the_kernel(folder: &OwnedFd) -> bool {
    /// proc, sysfs, debugfs, tracefs, cgroup and cgroup2, from `linux/magic.h`.
    const KINDS: [u64; 6] = [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x0027_e0eb, 0x6367_7270];
    rustix::fs::fstatfs(folder).is_ok_and(|found| KINDS.contains(&(found.f_type as u64 & 0xffff_ffff)))
}

fn no_name(path: &Path) -> HostError {
    HostError::NotATarget { path: path.to_owned(), what: "a directory" }
}

fn foreign_link(path: &Path, name: &OsStr, to: &Path) -> HostError {
    let what = format!("{} is a link in a directory in which others can make links", Path::new(name).display());
    let release = Some(format!("name the place itself ({}), if that is where it is to go", to.display()));
    let refusals = vec![Refusal { kind: RefusalKind::Changed, what, release }];
    HostError::Refused { path: path.to_owned(), refusals, writing: true }
}

fn failed<'a>(operation: &'static str, path: &'a Path) -> impl Fn(Errno) -> HostError + 'a {
    move |error| HostError::from_errno(operation, path, error)
}
