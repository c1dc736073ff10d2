//! The kernel's tracing of a block device: an instance of its own in tracefs, so that nobody else's tracing is disturbed
//! or in the way, and the raw pages of its ring buffers.
//!
//! tracefs and not the ioctls of `blktrace`: their relay files need debugfs, which a locked-down kernel (the default with
//! Secure Boot) refuses to everybody. The file system is mounted without a place in any directory, and is gone with this
//! process; the instance is not, which is why its name says whose it is.

use crate::HostError;
use crate::sysfs::{DeviceNumber, SysRoot};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What the name of an instance of ours begins with; process and start of the process follow.
const PREFIX: &str = "flashscope-";
/// Bytes of a text of the kernel's that are read at once.
const LONGEST_TEXT: usize = 1 << 16;
/// Bytes of a page of events, at most: with the largest sub-buffers that can be set.
const LONGEST_PAGE: usize = 1 << 16;
/// What errors name: nothing is at this path, but people look for it there.
const NAMED: &str = "/sys/kernel/tracing";

/// The kernel's tracing, without a place among directories.
struct TraceFs {
    /// Held, as the mount lives as long as this.
    _mount: OwnedFd,
    root: PathBuf,
}

impl TraceFs {
    fn open() -> Result<TraceFs, HostError> {
        let said = |errno: Errno| match errno {
            Errno::NODEV | Errno::NOSYS => HostError::System {
                operation: "trace",
                path: NAMED.into(),
                said: "this kernel was built without tracing (CONFIG_BLK_DEV_IO_TRACE), or is older than 5.2"
                    .to_owned(),
            },
            other => HostError::from_errno("trace (it needs root)", Path::new(NAMED), other),
        };
        let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC).map_err(said)?;
        fsconfig_create(&context).map_err(said)?;
        let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty()).map_err(said)?;
        let root = PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()));
        Ok(TraceFs { _mount: mount, root })
    }

    /// Instances whose process is gone.
    fn left_over(&self) -> Vec<String> {
        let names = crate::sysfs::names(&self.root.join("instances"));
        let is_left = |name: &String| name.strip_prefix(PREFIX).is_some_and(|whose| !lives(whose));
        names.into_iter().filter(is_left).collect()
    }

    fn remove(&self, name: &str) -> Result<(), HostError> {
        let path = self.root.join("instances").join(name);
        // What it still holds is of nobody's interest, and events that go on coming would keep it.
        let _ = fs::write(path.join("tracing_on"), "0");
        fs::remove_dir(&path).map_err(|error| HostError::from_io("remove the tracing", &shown(name), &error))
    }
}

/// The place of an instance as people see it.
fn shown(name: &str) -> PathBuf {
    Path::new(NAMED).join("instances").join(name)
}

/// Whether the process of `PID-START` still is the one that began then.
fn lives(whose: &str) -> bool {
    whose.split_once('-').is_some_and(|(pid, start)| start_of(pid).as_deref() == Some(start))
}

/// When a process began, in ticks since the machine did: its 22nd figure, of which the second may hold anything.
fn start_of(pid: &str) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(19).map(str::to_owned)
}

/// Removes what killed recordings left switched on, and says which.
///
/// # Errors
/// No right to, or no tracing in this kernel.
pub fn clean_block_traces() -> Result<Vec<PathBuf>, HostError> {
    let tracing = TraceFs::open()?;
    let left = tracing.left_over();
    left.iter().try_for_each(|name| tracing.remove(name))?;
    Ok(left.iter().map(|name| shown(name)).collect())
}

/// A device that is being traced. Dropping it switches the tracing off.
pub struct BlockTrace {
    tracing: TraceFs,
    name: String,
    pipes: Vec<File>,
    page: Vec<u8>,
}

impl BlockTrace {
    /// Switches tracing on: events of these names, of this device alone, with room for `buffer` bytes per processor.
    ///
    /// # Errors
    /// No right, no such events in this kernel, no memory for the buffers; nothing is left switched on.
    pub fn start(device: DeviceNumber, events: &[&str], buffer: u64) -> Result<BlockTrace, HostError> {
        let tracing = TraceFs::open()?;
        let pid = std::process::id().to_string();
        let name = format!("{PREFIX}{pid}-{}", start_of(&pid).unwrap_or_default());
        fs::create_dir(tracing.root.join("instances").join(&name))
            .map_err(|error| HostError::from_io("make a tracing of its own", &shown(&name), &error))?;
        let mut trace = BlockTrace { tracing, name, pipes: Vec::new(), page: Vec::new() };
        trace.set("trace_clock", "mono")?;
        // What has no room is dropped and counted, rather than something older overwritten.
        trace.set("options/overwrite", "0")?;
        trace.set("buffer_size_kb", &(buffer / 1024).max(64).to_string())?;
        let number = u64::from(device.major) << 20 | u64::from(device.minor);
        for event in events {
            trace.set(&format!("events/block/{event}/filter"), &format!("dev == {number}"))?;
        }
        let processors = crate::sysfs::names(&trace.path("per_cpu"));
        trace.page = vec![0; LONGEST_PAGE];
        for processor in processors {
            let path = trace.path(&format!("per_cpu/{processor}/trace_pipe_raw"));
            let mut options = OpenOptions::new();
            let pipe = options.read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path);
            trace.pipes.push(pipe.map_err(|error| trace.said("read the events", &error))?);
        }
        for event in events {
            trace.set(&format!("events/block/{event}/enable"), "1")?;
        }
        Ok(trace)
    }

    /// A text of the kernel's that describes events, by its path below tracefs.
    ///
    /// # Errors
    /// Where there is none.
    pub fn text(&self, path: &str) -> Result<String, HostError> {
        let all = || {
            let (mut file, mut text) = (File::open(self.path(path))?, Vec::new());
            // The kernel gives some of these texts to the first read alone, however short that is.
            let mut part = vec![0; LONGEST_TEXT];
            loop {
                match file.read(&mut part)? {
                    0 => return Ok(String::from_utf8_lossy(&text).into_owned()),
                    length => text.extend(&part[..length]),
                }
            }
        };
        all().map_err(|error| self.said("read how the kernel describes its events", &error))
    }

    /// Hands every page of events that waits to `take`; how many there were.
    ///
    /// # Errors
    /// Of the kernel, which gives none otherwise.
    pub fn read<E: From<HostError>>(&mut self, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<u64, E> {
        let mut pages = 0;
        for at in 0..self.pipes.len() {
            loop {
                match self.pipes[at].read(&mut self.page) {
                    Ok(0) => break,
                    Ok(length) => take(&self.page[..length])?,
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err(self.said("read the events", &error).into()),
                }
                pages += 1;
            }
        }
        Ok(pages)
    }

    /// No further events come; those that wait can still be read.
    ///
    /// # Errors
    /// Of the kernel.
    pub fn pause(&mut self) -> Result<(), HostError> {
        self.set("tracing_on", "0")
    }

    /// Events that had no room.
    ///
    /// # Errors
    /// Of the kernel.
    pub fn dropped(&self) -> Result<u64, HostError> {
        let mut all = 0;
        for processor in crate::sysfs::names(&self.path("per_cpu")) {
            let text = self.text(&format!("per_cpu/{processor}/stats"))?;
            let counts = text.lines().filter_map(|line| {
                let (name, count) = line.split_once(':')?;
                ["overrun", "dropped events"].contains(&name).then(|| count.trim().parse::<u64>().ok())?
            });
            all += counts.sum::<u64>();
        }
        Ok(all)
    }

    /// What removes the tracing from another thread, before this program is ended at once.
    pub fn remover(&self) -> impl FnOnce() + Send + 'static {
        let name = self.name.clone();
        move || {
            if let Ok(tracing) = TraceFs::open() {
                let _ = tracing.remove(&name);
            }
        }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.tracing.root.join("instances").join(&self.name).join(below)
    }

    fn set(&self, below: &str, value: &str) -> Result<(), HostError> {
        fs::write(self.path(below), value).map_err(|error| {
            let operation = if error.kind() == std::io::ErrorKind::NotFound {
                "find the events of block devices in this kernel (CONFIG_EVENT_TRACING)"
            } else {
                "set up the tracing"
            };
            HostError::System { operation, path: shown(&self.name).join(below), said: error.to_string() }
        })
    }

    fn said(&self, operation: &'static str, error: &std::io::Error) -> HostError {
        HostError::from_io(operation, &shown(&self.name), error)
    }
}

impl Drop for BlockTrace {
    fn drop(&mut self) {
        // Open files keep an instance.
        self.pipes.clear();
        let _ = self.tracing.remove(&self.name);
    }
}

/// The number of a block device, how large it is, and whether it has a queue of the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traceable {
    /// Its number.
    pub number: DeviceNumber,
    /// How large it is.
    pub capacity: flashscope_units::Bytes,
    /// Whether its requests go through a queue of the kernel's; a device without one has no events of requests.
    pub queued: bool,
}

impl Traceable {
    /// Looks a block device up.
    ///
    /// # Errors
    /// No such device; a file; a partition, whose requests are those of its disk.
    pub fn at(sys: &SysRoot, path: &Path) -> Result<Traceable, HostError> {
        let found = fs::metadata(path).map_err(|error| HostError::from_io("look at", path, &error))?;
        let number = DeviceNumber::from_raw(found.rdev());
        let folder = format!("/sys/dev/block/{}:{}", number.major, number.minor);
        if !std::os::unix::fs::FileTypeExt::is_block_device(&found.file_type()) {
            return Err(HostError::NotATarget { path: path.to_owned(), what: "no block device" });
        }
        let read = |name: &str| sys.text(format!("{folder}/{name}"));
        if read("partition").is_some() {
            let what = "a partition: trace its disk, and cut the trace by --offset and --end";
            return Err(HostError::NotATarget { path: path.to_owned(), what });
        }
        let sectors: u64 = read("size").and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        let queued = sys.path(format!("{folder}/mq")).is_dir();
        Ok(Traceable { number, capacity: flashscope_units::Bytes::SECTOR * sectors, queued })
    }
}
