#![allow(unsafe_code)]
//! A file system that this process alone sees: mounted in a mount namespace of its own, so that it goes with the process, however that
//! ends. Files on it are written and made safe step by step.

use crate::errno;
use crate::error::HostError;
use crate::{payload, tags};
use flashscope_device::{Fill, FoundFile, Known, stretch};
use flashscope_units::Bytes;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, Mode, OFlags, fdatasync, fstat, fsync, openat, renameat, unlinkat};
use rustix::io::{Errno, pread, pwrite};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount, unmount,
};
use rustix::process::{Signal, set_parent_process_death_signal};
use std::fs;
use std::path::{Path, PathBuf};

/// Where it is mounted: the folder of the file hierarchy standard for what is mounted for a while. What lies there is hidden from this
/// process alone.
const POINT: &str = "/mnt";
/// Options that are the mount's and not the file system's.
const OF_MOUNTS: [(&str, MountAttrFlags); 3] = [
    ("noatime", MountAttrFlags::MOUNT_ATTR_NOATIME),
    ("nodiratime", MountAttrFlags::MOUNT_ATTR_NODIRATIME),
    ("strictatime", MountAttrFlags::MOUNT_ATTR_STRICTATIME),
];
/// What is written and read at once.
const PIECE: usize = 1 << 20;

/// A mounted file system.
#[derive(Debug)]
pub struct Volume {
    root: OwnedFd,
}

/// The file systems on devices that this kernel has loaded, as it calls them.
pub fn file_systems() -> Vec<String> {
    let table = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let of_devices = table.lines().filter(|line| !line.starts_with("nodev"));
    of_devices.map(|line| line.trim().to_owned()).collect()
}

/// Whether this kernel has a file system, in a module that is not loaded yet as well.
///
/// # Errors
/// No right to mount.
pub fn is_there(file_system: &str) -> Result<bool, HostError> {
    match fsopen(file_system, FsOpenFlags::FSOPEN_CLOEXEC) {
        Ok(_) => Ok(true),
        Err(Errno::NODEV) => Ok(false),
        Err(errno) => Err(HostError::from_errno("mount file systems", Path::new(file_system), errno)),
    }
}

/// Has this process see a file system alone from now on, and end with the one that started it. To be called while it has one thread.
///
/// # Errors
/// No right to.
pub fn live_alone() -> Result<(), HostError> {
    let failed = |errno| HostError::from_errno("mount in a namespace of its own", Path::new(POINT), errno);
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed)?;
    // SAFETY: file descriptors stay shared, which is all that `unshare` can do harm with.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNS) }.map_err(failed)?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).map_err(failed)
}

impl Volume {
    /// Mounts a block device; options as in `mount -o`. To be called after [`live_alone`].
    ///
    /// # Errors
    /// What the kernel says: no such file system, an option that it does not know, damage.
    pub fn mount(device: &Path, file_system: &str, options: &str) -> Result<Volume, HostError> {
        let failed = |errno| HostError::from_errno("mount", device, errno);
        let context = fsopen(file_system, FsOpenFlags::FSOPEN_CLOEXEC).map_err(failed)?;
        let told = |errno| HostError::System {
            operation: "mount",
            path: device.to_owned(),
            said: said_by(&context).unwrap_or_else(|| errno::describe(errno)),
        };
        fsconfig_set_string(&context, "source", device).map_err(told)?;
        let mut attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        for word in options.split(',').filter(|word| !word.is_empty()) {
            if let Some((_, attribute)) = OF_MOUNTS.iter().find(|(name, _)| *name == word) {
                attributes |= *attribute;
                continue;
            }
            match word.split_once('=') {
                Some((key, value)) => fsconfig_set_string(&context, key, value).map_err(told)?,
                None => fsconfig_set_flag(&context, word).map_err(told)?,
            }
        }
        fsconfig_create(&context).map_err(told)?;
        let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes).map_err(told)?;
        // At a place, since programs name files by paths.
        move_mount(&mount, "", rustix::fs::CWD, POINT, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).map_err(failed)?;
        // The mount's own descriptor is a place only, which cannot be synced.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(&mount, ".", flags, Mode::empty()).map_err(failed)?;
        Ok(Volume { root })
    }

    /// Where a program that is started by this process finds a file of it.
    pub fn path(&self, name: &str) -> PathBuf {
        Path::new(POINT).join(name)
    }

    /// Unmounts it: all that was written is on the device then.
    ///
    /// # Errors
    /// A program still uses it, or the device did not take what was written.
    pub fn unmount(self) -> Result<(), HostError> {
        let Volume { root } = self;
        let synced = rustix::fs::syncfs(&root);
        drop(root);
        let gone = unmount(POINT, UnmountFlags::empty());
        synced.and(gone).map_err(|errno| HostError::from_errno("unmount", Path::new(POINT), errno))
    }

    /// Makes a file that is not there; safe with its name when this returns, unless `safe` is not asked for.
    ///
    /// # Errors
    /// Of the file system.
    pub fn create(&self, name: &str, length: Bytes, generation: u32, safe: bool) -> Result<(), HostError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        self.with(name, flags, |file| {
            put(file, Bytes::ZERO, length, generation)?;
            if safe { fsync(file).and_then(|()| fsync(&self.root)) } else { Ok(()) }
        })
    }

    /// Writes to a file, at its end or over what it holds, and makes that safe.
    ///
    /// # Errors
    /// Of the file system.
    pub fn write(&self, name: &str, at: Bytes, length: Bytes, generation: u32) -> Result<(), HostError> {
        self.with(name, OFlags::WRONLY | OFlags::CLOEXEC, |file| {
            put(file, at, length, generation)?;
            fdatasync(file)
        })
    }

    /// Puts a new file in the place of one, as editors do: written beside it, made safe, and renamed over it.
    ///
    /// # Errors
    /// Of the file system.
    pub fn replace(&self, name: &str, beside: &str, length: Bytes, generation: u32) -> Result<(), HostError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        self.with(beside, flags, |file| {
            put(file, Bytes::ZERO, length, generation)?;
            fsync(file)
        })?;
        self.rename(beside, name)
    }

    /// Gives a file another name, safely.
    ///
    /// # Errors
    /// Of the file system.
    pub fn rename(&self, name: &str, to: &str) -> Result<(), HostError> {
        let done = renameat(&self.root, name, &self.root, to).and_then(|()| fsync(&self.root));
        done.map_err(|errno| failed("rename", name, errno))
    }

    /// Removes a file, safely.
    ///
    /// # Errors
    /// Of the file system.
    pub fn remove(&self, name: &str) -> Result<(), HostError> {
        let done = unlinkat(&self.root, name, AtFlags::empty()).and_then(|()| fsync(&self.root));
        done.map_err(|errno| failed("remove", name, errno))
    }

    /// Every file in its root, with what it holds, told by tags of the known generations. Folders are passed over: the file system's own.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn look(&self, known: Known) -> Result<Vec<FoundFile>, HostError> {
        let unreadable = |errno| failed("read", ".", errno);
        let mut found = Vec::new();
        for entry in Dir::read_from(&self.root).map_err(unreadable)? {
            let name = entry.map_err(unreadable)?.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                found.extend(self.look_at(name, known));
            }
        }
        found.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }

    fn look_at(&self, name: String, known: Known) -> Option<FoundFile> {
        let file = match openat(&self.root, &name, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(file) => file,
            Err(errno) => return Some(unreadable(name, errno)),
        };
        let length = match fstat(&file) {
            Ok(stat) if stat.st_mode & libc::S_IFMT != libc::S_IFREG => return None,
            Ok(stat) => Bytes(stat.st_size as u64),
            Err(errno) => return Some(unreadable(name, errno)),
        };
        let mut found = FoundFile { name, length, stretches: Vec::new(), unreadable: None };
        let (mut at, mut bytes) = (0, vec![0; PIECE]);
        while at < length.get() {
            let most = (length.get() - at).min(PIECE as u64) as usize;
            match pread(&file, &mut bytes[..most], at) {
                Ok(0) => break,
                Ok(moved) => {
                    let told = tags::stretches(known, at, &bytes[..moved]);
                    told.into_iter().for_each(|one| stretch::append(&mut found.stretches, one));
                    at += moved as u64;
                }
                Err(errno) => {
                    found.unreadable = Some(errno::describe(errno));
                    break;
                }
            }
        }
        Some(found)
    }

    fn with(
        &self,
        name: &str,
        flags: OFlags,
        act: impl FnOnce(&OwnedFd) -> Result<(), Errno>,
    ) -> Result<(), HostError> {
        let opened = openat(&self.root, name, flags, Mode::from_raw_mode(0o600));
        opened.and_then(|file| act(&file)).map_err(|errno| failed("write", name, errno))
    }
}

fn unreadable(name: String, errno: Errno) -> FoundFile {
    FoundFile { name, length: Bytes::ZERO, stretches: Vec::new(), unreadable: Some(errno::describe(errno)) }
}

/// Writes what a generation means at these places of a file, through the page cache as programs do.
fn put(file: &OwnedFd, at: Bytes, length: Bytes, generation: u32) -> Result<(), Errno> {
    let mut bytes = vec![0; length.get() as usize];
    payload::fill(Fill::Tagged { generation }, at.get(), &mut bytes);
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let moved = pwrite(file, rest, at.get() + (bytes.len() - rest.len()) as u64)?;
        rest = &rest[moved..];
    }
    Ok(())
}

/// What the kernel wrote into the context of a mount; each message is a letter, a blank, and words.
fn said_by(context: &OwnedFd) -> Option<String> {
    let mut said = Vec::new();
    let mut buffer = [0; 512];
    while let Ok(length @ 1..) = rustix::io::read(context, &mut buffer) {
        let words = String::from_utf8_lossy(&buffer[..length]).trim().to_owned();
        said.push(words.strip_prefix("e ").or(words.strip_prefix("w ")).unwrap_or(&words).to_owned());
    }
    (!said.is_empty()).then(|| said.join("; "))
}

fn failed(operation: &'static str, name: &str, errno: Errno) -> HostError {
    HostError::from_errno(operation, Path::new(name), errno)
}
