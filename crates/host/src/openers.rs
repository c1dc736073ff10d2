//! Who may write to a device or file besides us, as far as `/proc` lets us see: through a descriptor, through a shared mapping
//! whose descriptor may be closed by now, or as the holder of a lock.
//!
//! Everything is compared by device and inode number, never by path: a hard link, a bind mount or a device node outside
//! `/dev` is the same file or device under another name.

use crate::blocks::FileId;
use crate::sysfs::{DeviceNumber, SysRoot, names};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// One way in which another process holds one of the files that were asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opener {
    /// `None` for a lock that belongs to an open file rather than to a process.
    pub(crate) pid: Option<u32>,
    pub(crate) command: String,
    pub(crate) file: FileId,
    pub(crate) by: Hold,
}

/// How it is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Hold {
    /// A descriptor that writes.
    Descriptor,
    /// A shared mapping of a file that was opened for writing.
    Mapping,
    /// A lock on all or part of it.
    Lock,
}

/// All holds on any of these files by processes other than our own; one per process, file and way. Other users' processes are only
/// visible to root.
pub(crate) fn openers(sys: &SysRoot, files: &[FileId]) -> Vec<Opener> {
    let mut proc = Processes { sys, files, far: Far::default() };
    let pids = names(&sys.path("/proc")).into_iter().filter_map(|name| name.parse().ok());
    let pids = pids.filter(|pid: &u32| !(sys.is_live() && *pid == std::process::id())).collect();
    let mut found = proc.holds(pids);
    for _ in 0..LOOKS {
        if found.is_empty() {
            break;
        }
        std::thread::sleep(BETWEEN_LOOKS);
        let pids: HashSet<u32> = found.iter().filter_map(|opener| opener.pid).collect();
        let still = proc.holds(pids.into_iter().collect());
        found.retain(|opener| still.contains(opener));
    }
    found
}

/// Whoever holds something is looked at again so often: a program that starts another one leaves its files open in that one until
/// the other program takes over, and a program that looks for new disks opens each for a moment.
const LOOKS: u32 = 10;
/// Time between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// `dd (process 123), qemu (process 456, by a shared mapping)`.
pub(crate) fn in_words<'a>(openers: impl IntoIterator<Item = &'a Opener>) -> String {
    let words = openers.into_iter().map(|opener| match (opener.pid, opener.by) {
        (Some(pid), Hold::Mapping) => format!("{} (process {pid}, by a shared mapping)", opener.command),
        (Some(pid), _) => format!("{} (process {pid})", opener.command),
        (None, _) => "a process that the kernel does not name".to_owned(),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// One look at all processes.
struct Processes<'a> {
    sys: &'a SysRoot,
    files: &'a [FileId],
    far: Far,
}

impl Processes<'_> {
    fn holds(&mut self, pids: Vec<u32>) -> Vec<Opener> {
        let mut found = Vec::new();
        for pid in pids {
            let far = self.far.of(self.sys, pid);
            let mut holds = self.descriptors(pid, &far);
            holds.extend(self.mappings(pid, &far));
            holds.sort_unstable();
            // Whoever has a descriptor needs no second line for the mapping that was made through it.
            holds.dedup_by_key(|(file, _)| *file);
            let command = || self.command(pid);
            found.extend(holds.into_iter().map(|(file, by)| Opener { pid: Some(pid), command: command(), file, by }));
        }
        found.extend(self.locks());
        found
    }

    fn descriptors(&self, pid: u32, far: &FarMounts) -> Vec<(FileId, Hold)> {
        let directory = self.sys.path(format!("/proc/{pid}/fd"));
        let file_of = |descriptor: &String| {
            let link = directory.join(descriptor);
            // Sockets, pipes and the like have no path.
            fs::read_link(&link).ok().filter(|target| target.is_absolute())?;
            let info = Info::parse(&self.sys.text(format!("/proc/{pid}/fdinfo/{descriptor}"))?);
            let hangs = info.mount.is_some_and(|mount| far.mounts.contains(&mount)) && !self.has_inode(info.inode);
            (info.writes && !hangs).then(|| FileId::of(&link)).flatten()
        };
        let found =
            names(&directory).iter().filter_map(file_of).filter(|file| self.files.contains(file)).collect::<Vec<_>>();
        found.into_iter().map(|file| (file, Hold::Descriptor)).collect()
    }

    fn mappings(&self, pid: u32, far: &FarMounts) -> Vec<(FileId, Hold)> {
        let table = self.sys.text(format!("/proc/{pid}/maps")).unwrap_or_default();
        let shared = table.lines().filter_map(Mapped::parse);
        let file_of = |mapped: Mapped<'_>| {
            let of_device = !far.devices.contains(&mapped.device) && self.files.iter().any(FileId::is_block);
            if !of_device && !self.has_inode(Some(mapped.inode)) {
                return None;
            }
            let link = self.sys.path(format!("/proc/{pid}/map_files")).join(mapped.range);
            // The link may be written to where the file was opened so: then a mapping that only reads can be made to write.
            let writes =
                fs::symlink_metadata(&link).map_or(mapped.writes, |found| found.permissions().mode() & 0o200 != 0);
            let by_name = || match FileId::of(Path::new(mapped.path)).filter(|_| self.sys.is_live()) {
                Some(file @ FileId::Block(_)) => file,
                _ => FileId::File(mapped.device, mapped.inode),
            };
            // Without privilege the link cannot be followed.
            let file = FileId::of(&link).unwrap_or_else(by_name);
            (writes && self.files.contains(&file)).then_some((file, Hold::Mapping))
        };
        shared.filter_map(file_of).collect()
    }

    /// All locks but our own.
    fn locks(&self) -> Vec<Opener> {
        let table = self.sys.text("/proc/locks").unwrap_or_default();
        let ours = |lock: &Lock| self.sys.is_live() && lock.pid == Some(std::process::id());
        let locks = table.lines().filter_map(Lock::parse).filter(|lock| !ours(lock));
        let found = locks.filter(|lock| self.files.contains(&lock.file)).map(|lock| {
            let command = lock.pid.map(|pid| self.command(pid)).unwrap_or_default();
            Opener { pid: lock.pid, command, file: lock.file, by: Hold::Lock }
        });
        found.fold(Vec::new(), |mut all, one| {
            if !all.contains(&one) {
                all.push(one);
            }
            all
        })
    }

    fn command(&self, pid: u32) -> String {
        self.sys.text(format!("/proc/{pid}/comm")).unwrap_or_default()
    }

    /// Whether a file that is asked about has this inode number, on whatever file system; also where the number is not known.
    fn has_inode(&self, inode: Option<u64>) -> bool {
        let same =
            |file: &FileId| matches!(file, FileId::File(_, theirs) if inode.is_none_or(|inode| inode == *theirs));
        self.files.iter().any(same)
    }
}

/// What fdinfo tells of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Info {
    writes: bool,
    mount: Option<u64>,
    /// Since Linux 5.14.
    inode: Option<u64>,
}

impl Info {
    /// `flags:` is octal, and its lowest two bits are zero for a file that was opened for reading only.
    fn parse(text: &str) -> Info {
        let field = |name: &str| text.lines().find_map(|line| Some(line.strip_prefix(name)?.trim()));
        let flags = field("flags:").and_then(|flags| u32::from_str_radix(flags, 8).ok());
        Info {
            writes: flags.is_some_and(|flags| flags & 3 != 0),
            mount: field("mnt_id:").and_then(|id| id.parse().ok()),
            inode: field("ino:").and_then(|inode| inode.parse().ok()),
        }
    }
}

/// One shared mapping of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mapped<'a> {
    range: &'a str,
    writes: bool,
    device: DeviceNumber,
    inode: u64,
    path: &'a str,
}

impl Mapped<'_> {
    /// A line of maps (proc(5)): `7f0c-7f1c rw-s 00000000 fd:01 1234   /path`, the device in hexadecimal digits.
    fn parse(line: &str) -> Option<Mapped<'_>> {
        let mut words = line.splitn(6, ' ');
        let (range, rights, _) = (words.next()?, words.next()?, words.next()?);
        let device = hexadecimal(words.next()?)?;
        let inode = words.next()?.parse().ok().filter(|inode| *inode > 0)?;
        let path = words.next().unwrap_or_default().trim_start();
        rights.ends_with('s').then(|| Mapped { range, writes: rights.contains('w'), device, inode, path })
    }
}

/// One lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lock {
    pid: Option<u32>,
    file: FileId,
}

impl Lock {
    /// A line of locks (proc(5)): `1: FLOCK  ADVISORY  WRITE 1234 fd:01:5678 0 EOF`; who waits for one has `->` before the kind.
    /// A lock that belongs to an open file has the process -1.
    fn parse(line: &str) -> Option<Lock> {
        let mut words = line.split_whitespace().skip(1);
        let kind = words.next()?;
        if !["FLOCK", "POSIX", "OFDLCK"].contains(&kind) {
            return None;
        }
        let (pid, place) = (words.nth(2)?, words.next()?);
        let (device, inode) = place.rsplit_once(':')?;
        Some(Lock { pid: pid.parse().ok(), file: FileId::File(hexadecimal(device)?, inode.parse().ok()?) })
    }
}

fn hexadecimal(device: &str) -> Option<DeviceNumber> {
    let (major, minor) = device.split_once(':')?;
    let number = |digits| u32::from_str_radix(digits, 16).ok();
    Some(DeviceNumber { major: number(major)?, minor: number(minor)? })
}

/// Mounts whose server may be dead, by mount namespace: looking at a file there would hang, so that only one with the right inode
/// number is looked at.
#[derive(Default)]
struct Far {
    known: HashMap<String, Rc<FarMounts>>,
}

#[derive(Debug, Default)]
struct FarMounts {
    mounts: HashSet<u64>,
    devices: HashSet<DeviceNumber>,
}

impl Far {
    fn of(&mut self, sys: &SysRoot, pid: u32) -> Rc<FarMounts> {
        let namespace =
            fs::read_link(sys.path(format!("/proc/{pid}/ns")).join("mnt")).map(|link| link.display().to_string());
        let read = || {
            let table = sys.text(format!("/proc/{pid}/mountinfo")).unwrap_or_default();
            Rc::new(FarMounts::parse(&table))
        };
        match namespace {
            Ok(namespace) => Rc::clone(self.known.entry(namespace).or_insert_with(read)),
            Err(_) => read(),
        }
    }
}

impl FarMounts {
    fn parse(table: &str) -> FarMounts {
        /// How the types of file systems begin whose answers come from elsewhere and may take long.
        const FAR: &[&str] = &["nfs", "cifs", "smb", "9p", "afs", "ceph", "fuse", "lustre", "ncp", "coda"];
        let mut found = FarMounts::default();
        for line in table.lines() {
            let Some((mount, super_block)) = line.split_once(" - ") else { continue };
            let kind = super_block.split(' ').next().unwrap_or_default();
            let mut words = mount.split(' ');
            let (id, device) = (words.next(), words.nth(1));
            if FAR.iter().any(|far| kind.starts_with(far)) {
                found.mounts.extend(id.and_then(|id| id.parse::<u64>().ok()));
                found.devices.extend(device.and_then(DeviceNumber::parse));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors() {
        let info = |text: &str| Info::parse(text);
        let read = info("pos:\t0\nflags:\t0100000\nmnt_id:\t29\nino:\t17\n");
        assert_eq!(read, Info { writes: false, mount: Some(29), inode: Some(17) });
        assert_eq!(info("flags:\t02100002\n"), Info { writes: true, mount: None, inode: None });
        assert!(info("flags:\t0100001\n").writes && !info("").writes);
    }

    #[test]
    fn mappings() {
        let file = Mapped::parse("7f0c-7f1c rw-s 00000000 fd:01 1234                 /tmp/a file").unwrap();
        let device = DeviceNumber { major: 253, minor: 1 };
        assert_eq!(file, Mapped { range: "7f0c-7f1c", writes: true, device, inode: 1234, path: "/tmp/a file" });
        assert!(!Mapped::parse("7f0c-7f1c r--s 00000000 fd:01 1234 /tmp/a").unwrap().writes);
        assert_eq!(Mapped::parse("7f0c-7f1c rw-p 00000000 fd:01 1234 /tmp/a"), None, "what is private reaches no file");
        assert_eq!(Mapped::parse("7f0c-7f1c rw-s 00000000 00:00 0"), None);
    }

    #[test]
    fn locks() {
        let check = |line: &str, pid: Option<u32>| {
            let file = FileId::File(DeviceNumber { major: 253, minor: 17 }, 5678);
            assert_eq!(Lock::parse(line), Some(Lock { pid, file }), "{line}");
        };
        check("1: FLOCK  ADVISORY  WRITE 1234 fd:11:5678 0 EOF", Some(1234));
        check("2: POSIX  ADVISORY  READ  1234 fd:11:5678 100 103", Some(1234));
        check("3: OFDLCK ADVISORY  READ  -1 fd:11:5678 100 103", None);
        assert_eq!(Lock::parse("4: LEASE  ACTIVE    READ  1234 fd:11:5678 0 EOF"), None);
        assert_eq!(Lock::parse("5: -> FLOCK  ADVISORY  WRITE 1234 fd:11:5678 0 EOF"), None);
    }

    #[test]
    fn mounts_that_may_hang() {
        let far = FarMounts::parse(
            "36 35 98:0 / / rw - ext4 /dev/sda1 rw\n40 36 0:45 / /home rw - nfs4 server:/home rw\n\
             41 36 0:46 / /mnt rw - fuse.sshfs server: rw\n",
        );
        assert_eq!((far.mounts.len(), far.mounts.contains(&36)), (2, false));
        assert!(far.devices.contains(&DeviceNumber { major: 0, minor: 45 }));
    }
}
