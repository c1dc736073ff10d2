//! A block device whose requests this program serves one by one: what stands on it cannot tell, and every byte passes here.
//!
//! A FUSE file system that is mounted nowhere, with one file, and a loop device on that file. Nothing of it outlives this program: the
//! mount is a descriptor, and the loop device goes with whoever has it open last.

use crate::error::EmulateError;
use crate::fuse::{DISK, DISK_NAME, FOREVER, LARGEST, ROOT, attributes, limit, opened};
use flashscope_host::{LoopDevice, LoopOptions};
use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, Filesystem, Generation, INodeNo, KernelConfig, LockOwner,
    OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, Session, SessionACL,
    WriteFlags,
};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen,
};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What a relay serves its requests from, one after the other. An error of any kind reaches the kernel as `EIO`.
pub trait Medium: Send {
    /// Bytes that the device has.
    fn size(&self) -> u64;
    /// Reads; the range lies inside.
    ///
    /// # Errors
    /// It cannot be read.
    fn read(&mut self, at: u64, into: &mut [u8]) -> io::Result<()>;
    /// Writes; the range lies inside.
    ///
    /// # Errors
    /// It was not taken.
    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;
    /// Flushes.
    ///
    /// # Errors
    /// It was not done.
    fn flush(&mut self) -> io::Result<()>;
}

/// A block device over a medium. When it is dropped the device is gone, once nobody has it open.
#[derive(Debug)]
pub struct Relay {
    device: LoopDevice,
    /// While it is open the loop device stays bound.
    held: Option<File>,
    session: Option<BackgroundSession>,
}

impl Relay {
    /// Makes a block device over a medium, with logical blocks of this many bytes.
    ///
    /// # Errors
    /// Not root, no FUSE, no loop device.
    pub fn start<M: Medium + 'static>(medium: Arc<Mutex<M>>, block: u32) -> Result<Relay, EmulateError> {
        let (fuse, mount) = nowhere()?;
        let mut config = Config::default();
        // One reader: requests reach the medium in the order in which the kernel has them.
        config.n_threads = Some(1);
        let session = Session::from_fd(RelayFs { medium }, fuse, SessionACL::Owner, config).map_err(failed)?;
        let session = session.spawn().map_err(failed)?;
        let file = root_of(&mount).join(DISK_NAME);
        let device =
            LoopDevice::attach(&file, LoopOptions { block_size: block, max_request: Some(u64::from(LARGEST)) })
                .map_err(EmulateError::Loop)?;
        let held = device.hold().map_err(EmulateError::Loop)?;
        Ok(Relay { device, held: Some(held), session: Some(session) })
    }

    /// `/dev/loopN`.
    pub fn path(&self) -> PathBuf {
        self.device.path()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.held = None;
        // It ends when the loop device has let go of the file; one that somebody still has open keeps it until this program ends.
        if let Some(session) = self.session.take().filter(|_| gone(&self.device)) {
            let _ = session.guard.join();
        }
    }
}

/// A FUSE file system that is mounted nowhere, and goes with this program: its requests come from the first of these, the other one is its
/// mount.
///
/// # Errors
/// Not root, no FUSE.
pub(crate) fn nowhere() -> Result<(OwnedFd, OwnedFd), EmulateError> {
    if !rustix::process::geteuid().is_root() {
        return Err(EmulateError::NotRoot);
    }
    let fuse = File::options().read(true).write(true).open("/dev/fuse").map_err(EmulateError::NoFuse)?;
    let fuse = OwnedFd::from(fuse);
    let mount = mounted(&fuse).map_err(failed)?;
    Ok((fuse, mount))
}

/// Where this program finds what such a mount holds.
pub(crate) fn root_of(mount: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()))
}

fn failed(said: io::Error) -> EmulateError {
    EmulateError::Mount { at: PathBuf::from("/dev/fuse"), said }
}

/// Whether the device is unbound within the second that those may take who look at every new device.
pub(crate) fn gone(device: &LoopDevice) -> bool {
    (0..100).any(|_| {
        let is_gone = device.backing().is_none();
        if !is_gone {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        is_gone
    })
}

/// A FUSE file system that is mounted nowhere, served through this descriptor.
fn mounted(fuse: &OwnedFd) -> io::Result<OwnedFd> {
    let context = fsopen("fuse", FsOpenFlags::FSOPEN_CLOEXEC)?;
    let number = fuse.as_raw_fd().to_string();
    let words = [("source", "flashscope"), ("fd", &number), ("rootmode", "40000"), ("user_id", "0"), ("group_id", "0")];
    for (key, value) in words {
        fsconfig_set_string(&context, key, value)?;
    }
    // The workers of the kernel that serve loop devices are nobody's.
    fsconfig_set_flag(&context, "allow_other")?;
    fsconfig_create(&context)?;
    Ok(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?)
}

/// The file system: a folder with the device in it.
struct RelayFs<M> {
    medium: Arc<Mutex<M>>,
}

impl<M: Medium> RelayFs<M> {
    fn with<T>(&self, act: impl FnOnce(&mut M) -> T) -> T {
        act(&mut self.medium.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn attributes(&self, inode: INodeNo) -> Option<FileAttr> {
        (inode == ROOT || inode == DISK).then(|| attributes(inode, self.with(|medium| medium.size()), 0o600))
    }
}

impl<M: Medium + 'static> Filesystem for RelayFs<M> {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        limit(config);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attributes(DISK).filter(|_| parent == ROOT && name == OsStr::new(DISK_NAME)) {
            Some(attributes) => reply.entry(&FOREVER, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(inode) {
            Some(attributes) => reply.attr(&FOREVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        if inode == DISK { opened(inode, reply) } else { reply.error(Errno::EISDIR) }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let read = self.with(|medium| {
            let mut bytes = vec![0; u64::from(size).min(medium.size().saturating_sub(offset)) as usize];
            medium.read(offset, &mut bytes).map(|()| bytes)
        });
        match read {
            Ok(bytes) => reply.data(&bytes),
            Err(_) => reply.error(Errno::EIO),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.with(|medium| medium.write(offset, data)) {
            Ok(()) => reply.written(data.len() as u32),
            Err(_) => reply.error(Errno::EIO),
        }
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        match self.with(Medium::flush) {
            Ok(()) => reply.ok(),
            Err(_) => reply.error(Errno::EIO),
        }
    }
}
