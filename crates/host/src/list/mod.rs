//! Every block device of a machine: what it is, what it claims, how it is driven and who uses it.
//!
//! Plain data out of sysfs, so it needs no privilege; what only root may read is absent then. No device is opened but
//! bound loop devices, which are asked what they stand on.

mod above;
mod bus;

use crate::blocks::{Blocks, Node};
use crate::sysfs::{DeviceNumber, SysRoot};
use crate::uses::{Snapshot, Use};
pub use above::{DeviceAbove, devices_above};
pub(crate) use bus::card_of;
pub use bus::{Bus, BusMode, LoopFacts, MmcFacts, NvmeFacts, ScsiFacts, UsbFacts};
use flashscope_model::{Claims, DeviceFacts, DeviceKind, Identity};
use flashscope_units::Bytes;
use rustix::fs::FileType;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// One block device: a whole disk, card, loop device or hardware partition of an eMMC part.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedDevice {
    /// Its node (`/dev/mmcblk0`).
    pub path: PathBuf,
    /// Its number.
    pub number: DeviceNumber,
    /// The kernel's count of disks and media, where it keeps one.
    pub disk_sequence: Option<u64>,
    /// The class of device.
    pub kind: DeviceKind,
    /// The size that it reports; zero for an empty card reader.
    pub capacity: Bytes,
    /// The smallest addressable unit.
    pub logical_block: Bytes,
    /// The unit that it says it handles natively.
    pub physical_block: Option<Bytes>,
    /// Model or product name.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// What an operator must name to have it written to.
    pub identity: Identity,
    /// Figures that it states about its own inside.
    pub claims: Claims,
    /// What its bus tells.
    pub bus: Bus,
    /// How the kernel drives it.
    pub queue: Queue,
    /// Whether its medium can be taken out.
    pub removable: bool,
    /// Whether it cannot be written to.
    pub read_only: bool,
    /// Whether the running system is on it.
    pub system: bool,
    /// The partitions that the kernel sees.
    pub partitions: Vec<Partition>,
    /// Who uses it, its partitions, or whatever is stacked on them.
    pub uses: Vec<Use>,
}

/// A partition as the kernel sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its node.
    pub path: PathBuf,
    /// Its number in the table.
    pub index: u32,
    /// Where it starts.
    pub start: Bytes,
    /// How long it is.
    pub length: Bytes,
    /// What an operator must name to have it written to.
    pub identity: Identity,
}

/// How the kernel drives a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// The scheduler in force (`mq-deadline`).
    pub scheduler: Option<String>,
    /// Read-ahead of buffered reads.
    pub read_ahead: Option<Bytes>,
    /// The largest request that the kernel sends in one piece.
    pub max_request: Option<Bytes>,
    /// Whether the kernel takes it for a disk that spins.
    pub rotational: Option<bool>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Whether forced unit access reaches the device.
    pub fua: Option<bool>,
    /// The largest discard; `None` where it takes none.
    pub discard_max: Option<Bytes>,
}

/// All block devices of a machine, in the order of their names. Loop, zram and like devices that nothing is behind
/// are left out; an empty card reader is not.
pub fn list(sys: &SysRoot) -> Vec<ListedDevice> {
    let snapshot = Snapshot::take(sys);
    let system = snapshot.system_devices(sys);
    let disks = snapshot.blocks.nodes.iter().filter(|node| node.whole.is_none());
    disks.map(|node| describe(sys, &snapshot, &system, node)).filter(|device| !is_idle(device)).collect()
}

/// The disk that a device node stands for, or that a file or directory lies on; `None` where there is none (a file system in
/// memory or over the network).
pub fn disk_under(sys: &SysRoot, path: &Path) -> Option<ListedDevice> {
    let found = rustix::fs::stat(path).ok()?;
    let number = match FileType::from_raw_mode(found.st_mode) {
        FileType::BlockDevice => found.st_rdev,
        _ => found.st_dev,
    };
    disk_numbered(sys, DeviceNumber::from_raw(number))
}

/// The disk of this number, or the one that the partition of this number is on.
pub(crate) fn disk_numbered(sys: &SysRoot, number: DeviceNumber) -> Option<ListedDevice> {
    let snapshot = Snapshot::take(sys);
    let node = snapshot.blocks.by_number(number)?;
    Some(describe(sys, &snapshot, &snapshot.system_devices(sys), node))
}

/// One device, or the disk that a partition is on.
pub(crate) fn describe(
    sys: &SysRoot,
    snapshot: &Snapshot,
    system: &HashSet<DeviceNumber>,
    node: &Node,
) -> ListedDevice {
    let disk = snapshot.blocks.disk_of(node);
    let directory = &disk.directory;
    let bus = bus::read(sys, disk);
    let capacity = Bytes(disk.bytes());
    let (model, serial) = (bus.model(), bus.serial());
    ListedDevice {
        path: disk.path(),
        number: disk.number,
        disk_sequence: directory.number("diskseq"),
        kind: bus.kind(),
        capacity,
        logical_block: directory.number("queue/logical_block_size").map_or(Bytes::SECTOR, Bytes),
        physical_block: directory.number("queue/physical_block_size").map(Bytes),
        identity: identity(disk, &bus, capacity),
        model,
        serial,
        claims: bus.claims(),
        bus,
        queue: queue(disk),
        removable: directory.flag("removable").unwrap_or(false),
        read_only: directory.flag("ro").unwrap_or(false),
        system: system.contains(&disk.number),
        partitions: partitions(sys, &snapshot.blocks, disk),
        uses: snapshot.uses(disk),
    }
}

impl ListedDevice {
    /// The same as the facts that a run starts from.
    pub fn facts(&self) -> DeviceFacts {
        DeviceFacts {
            name: self.model.clone().unwrap_or_else(|| self.path.display().to_string()),
            kind: self.kind,
            simulated: false,
            capacity: self.capacity,
            logical_block: self.logical_block,
            physical_block: self.physical_block,
            max_request: self.queue.max_request,
            queue_depth: None,
            claims: self.claims.clone(),
            identity: Some(self.identity.clone()),
        }
    }
}

/// What names this very device: its serial number, else its model, else (a paravirtual disk without either) the
/// kernel's name, each with its size. A part of a device that shares the serial number is told apart by a suffix
/// (`boot0`, `lun1`, `n2`).
fn identity(disk: &Node, bus: &Bus, capacity: Bytes) -> Identity {
    if let Bus::Loop(facts) = bus {
        return Identity(format!("loop:{}", facts.backing.display()));
    }
    let name = bus.serial().or_else(|| bus.model()).unwrap_or_else(|| disk.name.clone());
    let words: Vec<&str> = name.split_whitespace().collect();
    let suffix = bus.part(disk).map(|part| format!("-{part}")).unwrap_or_default();
    Identity(format!("{}{suffix}:{}", words.join("_"), capacity.get()))
}

/// The identity of a node that may be a partition: that of its disk with the partition's number and size.
pub(crate) fn identity_of(sys: &SysRoot, blocks: &Blocks, node: &Node) -> Identity {
    let disk = blocks.disk_of(node);
    let bus = bus::read(sys, disk);
    let of_disk = identity(disk, &bus, Bytes(disk.bytes()));
    let Some(index) = node.directory.number("partition").filter(|_| node.whole.is_some()) else { return of_disk };
    match &bus {
        Bus::Loop(_) => Identity(format!("{}-part{index}", of_disk.0)),
        _ => {
            let name = of_disk.0.rsplit_once(':').map_or(of_disk.0.as_str(), |(name, _)| name);
            Identity(format!("{name}-part{index}:{}", node.bytes()))
        }
    }
}

/// The class of a device, or of the disk that a partition is on.
pub(crate) fn kind_of(sys: &SysRoot, blocks: &Blocks, node: &Node) -> DeviceKind {
    bus::read(sys, blocks.disk_of(node)).kind()
}

fn is_idle(device: &ListedDevice) -> bool {
    let unbound_loop =
        matches!(&device.bus, Bus::Other { .. }) && device.path.to_string_lossy().starts_with("/dev/loop");
    let nothing_behind = device.capacity == Bytes::ZERO && !device.removable && device.kind == DeviceKind::Other;
    unbound_loop || nothing_behind
}

fn queue(disk: &Node) -> Queue {
    let directory = &disk.directory;
    let kib = |name: &str| directory.number(name).map(Bytes::kib);
    Queue {
        scheduler: directory.text("queue/scheduler").map(|all| active(&all)),
        read_ahead: kib("queue/read_ahead_kb"),
        max_request: kib("queue/max_sectors_kb"),
        rotational: directory.flag("queue/rotational"),
        write_cache: directory.text("queue/write_cache"),
        fua: directory.flag("queue/fua"),
        discard_max: directory.number("queue/discard_max_bytes").filter(|bytes| *bytes > 0).map(Bytes),
    }
}

/// The word in brackets of `none [mq-deadline] kyber`, or the only one.
pub(crate) fn active(all: &str) -> String {
    let bracketed = all.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    bracketed.unwrap_or(all).to_owned()
}

fn partitions(sys: &SysRoot, blocks: &Blocks, disk: &Node) -> Vec<Partition> {
    let describe = |node: &Node| {
        Some(Partition {
            path: node.path(),
            index: node.directory.number("partition")?.try_into().ok()?,
            start: Bytes(node.directory.number("start")? * 512),
            length: Bytes(node.bytes()),
            identity: identity_of(sys, blocks, node),
        })
    };
    blocks.partitions(disk).filter_map(describe).collect()
}
