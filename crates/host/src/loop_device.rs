//! Loop devices: a file as a block device, bound and unbound.

use crate::error::HostError;
use crate::ioctl::{self, LoopConfig};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// `LO_FLAGS_DIRECT_IO` of `linux/loop.h`: past the page cache.
const DIRECT_IO: u32 = 16;
/// The device that hands out free loop devices.
const CONTROL: &str = "/dev/loop-control";
/// How often a device that was free is lost to someone who was faster, before that is an error.
const RACES: u32 = 16;

/// How a loop device is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopOptions {
    /// Logical block size in bytes: a power of two from 512 to the page size.
    pub block_size: u32,
    /// Largest request in bytes that the kernel may send (`max_sectors_kb`), where it should not be the kernel's choice.
    pub max_request: Option<u64>,
}

/// A bound loop device. It stays bound when this is dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopDevice {
    number: u32,
}

impl LoopDevice {
    /// Binds a free loop device to a file, past the page cache.
    ///
    /// # Errors
    /// No right, no loop devices in this kernel or none left, a file that does no direct I/O, a size that the kernel
    /// does not take.
    pub fn attach(backing: &Path, options: LoopOptions) -> Result<LoopDevice, HostError> {
        let control = open(Path::new(CONTROL), OFlags::empty(), "open for a free loop device")?;
        let file = open(backing, OFlags::DIRECT, "open as a loop device's backing file")?;
        let mut config = LoopConfig::new();
        config.fd = file.as_raw_fd() as u32;
        config.block_size = options.block_size;
        config.flags = DIRECT_IO;
        let name = backing.as_os_str().as_bytes();
        let kept = name.len().min(config.file_name.len() - 1);
        config.file_name[..kept].copy_from_slice(&name[..kept]);
        let device = bind(&control, config)?;
        device.limit(options.max_request).inspect_err(|_| {
            // Not bound without its limit: the caller gets an error and must not be left with a device.
            let _ = device.detach();
        })?;
        Ok(device)
    }

    /// The loop device at `/dev/loopN`, bound or not; `None` where the path is no such thing.
    pub fn at(path: &Path) -> Option<LoopDevice> {
        let number = path.to_str()?.strip_prefix("/dev/loop")?.parse().ok()?;
        Some(LoopDevice { number })
    }

    /// The loop devices that are bound to a file below `directory`, whether that can still be read or not.
    pub fn backed_below(directory: &Path) -> Vec<LoopDevice> {
        let Ok(entries) = fs::read_dir("/sys/block") else { return Vec::new() };
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let numbers = names.filter_map(|name| name.strip_prefix("loop")?.parse().ok());
        let mut devices: Vec<LoopDevice> = numbers.map(|number| LoopDevice { number }).collect();
        devices.retain(|device| device.backing().is_some_and(|backing| backing.starts_with(directory)));
        devices.sort_by_key(|device| device.number);
        devices
    }

    /// `/dev/loopN`.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/dev/loop{}", self.number))
    }

    /// The file that it is bound to, as the kernel names it; `None` where it is not bound.
    pub fn backing(&self) -> Option<PathBuf> {
        let text = fs::read_to_string(self.sysfs("loop/backing_file")).ok()?;
        Some(PathBuf::from(text.trim_end_matches('\n').trim_end_matches(" (deleted)")))
    }

    /// Whether it reads and writes past the page cache.
    pub fn is_direct(&self) -> bool {
        fs::read_to_string(self.sysfs("loop/dio")).is_ok_and(|text| text.trim() == "1")
    }

    /// Unbinds it. Says whether it is free now; it is not where someone has it mounted, or open (then it goes with the last
    /// one who closes it).
    ///
    /// # Errors
    /// No right to.
    pub fn detach(&self) -> Result<bool, HostError> {
        let path = self.path();
        // Exclusively, since a device that is mounted must not be told to go when it is unmounted.
        let device = match OpenOptions::new().read(true).custom_flags(OFlags::EXCL.bits() as i32).open(&path) {
            Ok(device) => device,
            Err(error) if Errno::from_io_error(&error) == Some(Errno::BUSY) => return Ok(false),
            Err(error) => return Err(HostError::from_io("open for unbinding", &path, &error)),
        };
        match ioctl::loop_clear(&device) {
            Ok(()) | Err(Errno::NXIO) => {}
            Err(errno) => return Err(HostError::from_errno("unbind", &path, errno)),
        }
        drop(device);
        // The kernel unbinds when the last one closes it; those who look at every new device (udev) may still do so.
        for _ in 0..50 {
            if self.backing().is_none() {
                return Ok(true);
            }
            sleep(Duration::from_millis(10));
        }
        Ok(false)
    }

    /// Opens it, and has it unbound as soon as this and every other opener have closed it: also where this program is killed.
    ///
    /// # Errors
    /// No right to.
    pub fn hold(&self) -> Result<File, HostError> {
        let path = self.path();
        let held = open(&path, OFlags::empty(), "open")?;
        // While another one has it open, the kernel keeps the wish to unbind it until the last one closes it.
        let device = open(&path, OFlags::empty(), "open for unbinding")?;
        ioctl::loop_clear(&device).map_err(|errno| HostError::from_errno("unbind", &path, errno))?;
        Ok(held)
    }

    /// Takes over the size of its file, which has changed.
    ///
    /// # Errors
    /// No right to.
    pub fn take_size(&self) -> Result<(), HostError> {
        let path = self.path();
        let device = open(&path, OFlags::empty(), "open for its size")?;
        ioctl::loop_set_capacity(&device).map_err(|errno| HostError::from_errno("take the size of", &path, errno))
    }

    fn limit(&self, max_request: Option<u64>) -> Result<(), HostError> {
        let Some(most) = max_request else { return Ok(()) };
        let (path, most_allowed) = (self.sysfs("queue/max_sectors_kb"), self.sysfs("queue/max_hw_sectors_kb"));
        let allowed = fs::read_to_string(most_allowed).ok().and_then(|text| text.trim().parse::<u64>().ok());
        let kib = allowed.map_or(most / 1024, |allowed| allowed.min(most / 1024)).max(4);
        fs::write(&path, kib.to_string()).map_err(|error| HostError::from_io("limit requests by", &path, &error))
    }

    fn sysfs(&self, attribute: &str) -> PathBuf {
        PathBuf::from(format!("/sys/block/loop{}/{attribute}", self.number))
    }
}

fn bind(control: &File, config: LoopConfig) -> Result<LoopDevice, HostError> {
    for _ in 0..RACES {
        let number = ioctl::loop_free(control)
            .map_err(|errno| HostError::from_errno("find a free loop device with", Path::new(CONTROL), errno))?;
        let device = LoopDevice { number };
        let path = device.path();
        let node = open(&path, OFlags::empty(), "open for binding")?;
        match ioctl::loop_configure(&node, config) {
            Ok(()) => return Ok(device),
            // Someone else was faster.
            Err(Errno::BUSY) => {}
            Err(errno) => return Err(HostError::from_errno("bind", &path, errno)),
        }
    }
    Err(HostError::from_errno("find a loop device that stays free with", Path::new(CONTROL), Errno::BUSY))
}

fn open(path: &Path, flags: OFlags, what_for: &'static str) -> Result<File, HostError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(flags.bits() as i32)
        .open(path)
        .map_err(|error| HostError::from_io(what_for, path, &error))
}
