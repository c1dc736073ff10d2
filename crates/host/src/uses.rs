//! Who uses a block device: directly, through a partition, or through whatever is stacked on it.

use crate::blocks::{Blocks, FileId, Node};
use crate::mounts::{self, Mount, Swap};
use crate::sysfs::{DeviceNumber, SysRoot};
use flashscope_device::{Refusal, RefusalKind};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// One use of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The device that is used: the one asked about, one of its partitions, or one that is stacked on it.
    pub device: PathBuf,
    /// By what.
    pub by: UsedBy,
    /// The command that ends this use, where there is one.
    pub release: Option<String>,
}

/// What uses a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsedBy {
    /// Mounted there, in our own mount namespace.
    Mount(String),
    /// Mounted there, in the mount namespace of a process.
    MountElsewhere(String, u32),
    /// Swap.
    Swap,
    /// A device-mapper, md, LVM or similar device, in words (`LVM volume vg-root (dm-0)`).
    Holder(String),
    /// A loop device.
    Loop(PathBuf),
}

/// The state of a machine's block devices at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) blocks: Blocks,
    pub(crate) mounts: Vec<Mount>,
    pub(crate) swaps: Vec<Swap>,
}

impl Snapshot {
    pub(crate) fn take(sys: &SysRoot) -> Snapshot {
        let blocks = Blocks::read(sys);
        let mounts = mounts::mounts(sys, &blocks);
        let swaps = mounts::swaps(sys, &blocks);
        Snapshot { blocks, mounts, swaps }
    }

    /// Everything that uses a device. For a whole disk that includes its partitions; for a partition it includes
    /// whatever uses the whole disk as such, but not the other partitions.
    pub(crate) fn uses(&self, node: &Node) -> Vec<Use> {
        let mut walk = Walk { snapshot: self, seen: HashSet::new(), uses: Vec::new() };
        walk.visit(node, true);
        if node.whole.is_some() {
            walk.visit(self.blocks.disk_of(node), false);
        }
        walk.uses
    }

    /// Everything that uses a regular file as a block device or swap.
    pub(crate) fn uses_of_file(&self, file: FileId, path: &Path) -> Vec<Use> {
        let mut walk = Walk { snapshot: self, seen: HashSet::new(), uses: Vec::new() };
        walk.swapped_on(file, path);
        walk.loops_on(file, path);
        walk.uses
    }

    /// Everything that uses what a loop device stands on, the loop device itself apart.
    pub(crate) fn uses_below(&self, loop_node: &Node) -> Vec<Use> {
        let Some(backing) = &loop_node.backing else { return Vec::new() };
        let Some(file) = backing.file else { return Vec::new() };
        let mut walk = Walk { snapshot: self, seen: HashSet::from([loop_node.number]), uses: Vec::new() };
        match file {
            FileId::Block(number) => {
                let Some(below) = self.blocks.by_number(number) else { return Vec::new() };
                walk.visit(below, true);
                if below.whole.is_some() {
                    walk.visit(self.blocks.disk_of(below), false);
                }
                walk.uses.extend(self.uses_below(below));
            }
            FileId::File(..) => {
                walk.swapped_on(file, &backing.path);
                walk.loops_on(file, &backing.path);
            }
        }
        walk.uses
    }

    /// Every disk, partition and stacked device that the running system stands on.
    pub(crate) fn system_devices(&self, sys: &SysRoot) -> HashSet<DeviceNumber> {
        let mut found = HashSet::new();
        let ours_or_first = |mount: &&Mount| matches!(mount.elsewhere, None | Some(1));
        for mount in self.mounts.iter().filter(ours_or_first).filter(|mount| is_system(&mount.point)) {
            for number in mount.devices.iter().copied().chain(self.overlay_devices(sys, mount)) {
                self.add_below(number, &mut found);
            }
        }
        found
    }

    /// Adds a device and all that it stands on, whole disks included.
    fn add_below(&self, number: DeviceNumber, found: &mut HashSet<DeviceNumber>) {
        let Some(node) = self.blocks.by_number(number) else { return };
        if !found.insert(number) {
            return;
        }
        if node.whole.is_some() {
            self.add_below(self.blocks.disk_of(node).number, found);
        }
        self.blocks.slaves(node).for_each(|slave| self.add_below(slave.number, found));
        match node.backing.as_ref().and_then(|backing| backing.file) {
            Some(FileId::Block(below) | FileId::File(below, _)) => self.add_below(below, found),
            None => {}
        }
    }

    /// What the layers of an overlay stand on (a live system, a container).
    fn overlay_devices(&self, sys: &SysRoot, mount: &Mount) -> Vec<DeviceNumber> {
        if mount.file_system != "overlay" {
            return Vec::new();
        }
        let layers = mount
            .options
            .split(',')
            .filter_map(|option| option.strip_prefix("lowerdir=").or_else(|| option.strip_prefix("upperdir=")));
        let device = |layer: &str| match sys.is_live() {
            true => {
                let found = std::fs::metadata(layer).ok()?;
                Some(vec![DeviceNumber::from_raw(std::os::unix::fs::MetadataExt::dev(&found))])
            }
            // A recorded tree knows what was mounted where, and its directories lie on a disk of another machine.
            false => {
                let below = |other: &&Mount| other.elsewhere.is_none() && Path::new(layer).starts_with(&other.point);
                let nearest = self.mounts.iter().filter(below).max_by_key(|other| other.point.len())?;
                Some(nearest.devices.clone())
            }
        };
        layers.flat_map(|layers| layers.split(':')).filter_map(device).flatten().collect()
    }
}

impl Use {
    /// The same as something that speaks against writing.
    pub fn refusal(&self) -> Refusal {
        let device = self.device.display();
        let (kind, what) = match &self.by {
            UsedBy::Mount(point) => (RefusalKind::Mounted, format!("{device} is mounted at {point}")),
            UsedBy::MountElsewhere(point, pid) => (
                RefusalKind::MountedElsewhere,
                format!("{device} is mounted at {point} in another mount namespace (that of process {pid})"),
            ),
            UsedBy::Swap => (RefusalKind::Swap, format!("{device} is used as swap")),
            UsedBy::Holder(holder) => (RefusalKind::Holder, format!("{device} is part of the {holder}")),
            UsedBy::Loop(device_above) => {
                (RefusalKind::LoopBacked, format!("{device} backs the loop device {}", device_above.display()))
            }
        };
        Refusal { kind, what, release: self.release.clone() }
    }
}

/// One walk upwards.
struct Walk<'a> {
    snapshot: &'a Snapshot,
    seen: HashSet<DeviceNumber>,
    uses: Vec<Use>,
}

impl Walk<'_> {
    fn visit(&mut self, node: &Node, with_partitions: bool) {
        if !self.seen.insert(node.number) {
            return;
        }
        let snapshot = self.snapshot;
        for mount in snapshot.mounts.iter().filter(|mount| mount.devices.contains(&node.number)) {
            self.mounted(node, mount);
        }
        self.swapped_on(FileId::Block(node.number), &node.path());
        for holder in snapshot.blocks.holders(node) {
            let (words, release) = describe_holder(holder);
            self.push(node.path(), UsedBy::Holder(words), release);
            self.visit(holder, true);
        }
        self.loops_on(FileId::Block(node.number), &node.path());
        if with_partitions {
            snapshot.blocks.partitions(node).for_each(|partition| self.visit(partition, false));
        }
    }

    fn mounted(&mut self, node: &Node, mount: &Mount) {
        let point = quoted(&mount.point);
        let (by, release) = match mount.elsewhere {
            None => (UsedBy::Mount(mount.point.clone()), format!("umount {point}")),
            Some(pid) => (
                UsedBy::MountElsewhere(mount.point.clone(), pid),
                format!("nsenter --target {pid} --mount umount {point}"),
            ),
        };
        // Nobody can release the root of the running system.
        let release = (mount.point != "/" || mount.elsewhere.is_some()).then_some(release);
        self.push(node.path(), by, release);
    }

    fn swapped_on(&mut self, file: FileId, path: &Path) {
        if self.snapshot.swaps.iter().any(|swap| swap.file == Some(file)) {
            let release = format!("swapoff {}", quoted(&path.to_string_lossy()));
            self.push(path.to_owned(), UsedBy::Swap, Some(release));
        }
    }

    fn loops_on(&mut self, file: FileId, path: &Path) {
        let snapshot = self.snapshot;
        for above in
            snapshot.blocks.loops_on(file).filter(|above| !self.seen.contains(&above.number)).collect::<Vec<_>>()
        {
            let release = format!("losetup -d {}", above.path().display());
            self.push(path.to_owned(), UsedBy::Loop(above.path()), Some(release));
            self.visit(above, true);
        }
    }

    fn push(&mut self, device: PathBuf, by: UsedBy, release: Option<String>) {
        self.uses.push(Use { device, by, release });
    }
}

/// What a stacked device is, and how to take it down.
fn describe_holder(holder: &Node) -> (String, Option<String>) {
    let name = &holder.name;
    let Some(mapped) = holder.directory.text("dm/name") else {
        return match name.as_str() {
            _ if name.starts_with("md") => (format!("md array {name}"), Some(format!("mdadm --stop /dev/{name}"))),
            _ if name.starts_with("bcache") => {
                (format!("bcache device {name}"), Some(format!("echo 1 > /sys/block/{name}/bcache/stop")))
            }
            _ => (format!("stacked device {name}"), None),
        };
    };
    let kind = holder.directory.text("dm/uuid").unwrap_or_default();
    if kind.starts_with("LVM-") {
        let release = format!("vgchange -an {}", quoted(&volume_group(&mapped)));
        (format!("LVM volume {mapped} ({name})"), Some(release))
    } else if kind.starts_with("CRYPT-") {
        (format!("encrypted volume {mapped} ({name})"), Some(format!("cryptsetup close {}", quoted(&mapped))))
    } else {
        (format!("device-mapper device {mapped} ({name})"), Some(format!("dmsetup remove {}", quoted(&mapped))))
    }
}

/// The volume group in a mapped name: `vg-lv`, where a hyphen inside either is doubled.
fn volume_group(mapped: &str) -> String {
    let group = mapped.replace("--", "\0");
    group.split('-').next().unwrap_or(&group).replace('\0', "-")
}

/// Mount points that the running system cannot do without.
fn is_system(point: &str) -> bool {
    /// Those of which the folders below may be anybody's.
    const EXACTLY: &[&str] = &[
        "/",
        "/usr",
        "/var",
        "/etc",
        "/opt",
        "/home",
        "/efi",
        "/nix",
        "/nix/store",
        "/gnu/store",
        "/system",
        "/vendor",
        "/data",
    ];
    EXACTLY.contains(&point) || point == "/boot" || point.starts_with("/boot/")
}

/// A word for a shell, in quotes where it needs them.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volume_groups() {
        let check = |mapped: &str, expect: &str| assert_eq!(volume_group(mapped), expect);
        check("vg-root", "vg");
        check("my--vg-my--lv", "my-vg");
        check("vg", "vg");
    }

    #[test]
    fn words_for_a_shell() {
        let check = |word: &str, expect: &str| assert_eq!(quoted(word), expect);
        check("/mnt/card", "/mnt/card");
        check("/mnt/my card", "'/mnt/my card'");
        check("it's; rm -rf", "'it'\\''s; rm -rf'");
    }
}
