//! What a disk hangs on: the devices above it in sysfs, up to the root.

use super::bus::ancestors;
use super::{Bus, ListedDevice, disk_under};
use crate::blocks::Blocks;
use crate::sysfs::{Directory, SysRoot};
use std::path::PathBuf;

/// A directory above a disk in sysfs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceAbove {
    /// Below `/sys` (`/devices/pci0000:00/0000:00:14.0/usb1`).
    pub path: PathBuf,
    /// Where its link `subsystem` leads (`usb`); `None` where it has none.
    pub subsystem: Option<String>,
}

/// The directories above a disk, nearest first. A loop device hangs on the disk that its file lies on, which then comes first;
/// a disk of NVMe that several controllers may serve hangs on all of them. Empty where the disk is gone.
pub fn devices_above(sys: &SysRoot, device: &ListedDevice) -> Vec<DeviceAbove> {
    if let Bus::Loop(facts) = &device.bus {
        // What lies where in a recorded tree's file systems is not recorded.
        let below = if sys.is_live() { disk_under(sys, &facts.backing) } else { None };
        // Its own number would be its own backing again.
        let below = below.filter(|below| below.number != device.number);
        return below.map_or_else(Vec::new, |below| {
            let itself = disk_of(sys, &below).map(|disk| told(&disk)).into_iter();
            itself.chain(devices_above(sys, &below)).collect()
        });
    }
    let Some(disk) = disk_of(sys, device) else { return Vec::new() };
    let mut above = ancestors(&disk);
    if let Some(subsystem) = above.iter().find(|directory| directory.name().starts_with("nvme-subsys")).cloned() {
        let is_controller = |name: &String| {
            name.strip_prefix("nvme").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        for controller in subsystem.names().iter().filter(|name| is_controller(name)) {
            let Some(controller) = subsystem.below(controller) else { continue };
            let up = ancestors(&controller);
            above.extend(std::iter::once(controller).chain(up));
        }
    }
    above.iter().map(told).collect()
}

fn disk_of(sys: &SysRoot, device: &ListedDevice) -> Option<Directory> {
    let blocks = Blocks::read(sys);
    blocks.by_number(device.number).map(|node| blocks.disk_of(node).directory.clone())
}

fn told(directory: &Directory) -> DeviceAbove {
    let path = directory.path();
    let below = path.strip_prefix("/sys").map_or_else(|_| path.to_owned(), |below| PathBuf::from("/").join(below));
    DeviceAbove { path: below, subsystem: directory.link_name("subsystem") }
}
