//! Which parts of a host lie between it and a device, from the devices above the disk in sysfs.
//!
//! Layout: the kernel's `Documentation/admin-guide/sysfs-rules.rst`: a disk's directory lies below those of the devices that it
//! hangs on, up to `/sys/devices`, and each of them has a link `subsystem`. What two disks have in common there, they share. The
//! host bridge (`pci0000:00`) and the bus of a chip (`platform/soc`) carry everything, and are no parts: how much devices on
//! different controllers disturb each other is measured ([`crate::neighbour`]), not assumed.

use std::collections::{BTreeMap, BTreeSet};

/// A directory above a disk that is a device to the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Above {
    /// Below `/sys`, as `/devices/pci0000:00/0000:00:14.0/usb1`.
    pub path: String,
    /// Where its link `subsystem` leads (`usb`).
    pub subsystem: Option<String>,
}

/// The parts between the host and a device, nearest first: controllers, hubs, readers, hosts of cards. `above` is nearest first.
pub fn parts(above: &[Above]) -> Vec<String> {
    let mut parts = Vec::new();
    let mut platform = false;
    for directory in above {
        let name = directory.path.rsplit('/').next().unwrap_or_default();
        let is_part = match directory.subsystem.as_deref() {
            // Bridges as well: what hangs on one switch shares its way up.
            Some("pci") => true,
            // Interfaces of USB (`1-2:1.0`), targets and units of SCSI (`6:0:0:0`), cards (`mmc0:0001`) are the device's own.
            Some("usb" | "scsi" | "mmc_host" | "nvme" | "virtio") => !name.contains(':') && !name.starts_with("target"),
            // The controller itself; what is above it is the bus of the chip.
            Some("platform") => !std::mem::replace(&mut platform, true),
            // What a loop device stands on.
            Some("block") => true,
            _ => false,
        };
        if is_part {
            parts.push(directory.path.clone());
        }
    }
    parts
}

/// The USB port that a device, or the reader that it is in, is plugged into (`1-2.3`).
pub fn port(above: &[Above]) -> Option<&str> {
    let is_usb = |directory: &&Above| directory.subsystem.as_deref() == Some("usb");
    let names = above.iter().filter(is_usb).filter_map(|directory| directory.path.rsplit('/').next());
    // Root hubs are called usb1.
    names.into_iter().find(|name| !name.contains(':') && name.starts_with(|c: char| c.is_ascii_digit()))
}

/// What people call a part: the last piece of its path, with its kind where the name says none.
pub fn part_name(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let pieces: Vec<&str> = path.rsplit('/').collect();
    match name {
        _ if name.starts_with("usb") => format!("USB bus {}", &name[3..]),
        _ if is_port(name) => format!("USB port {name}"),
        _ if name.starts_with("mmc") || name.starts_with("nvme") || name.starts_with("host") => name.to_owned(),
        _ if name.matches(':').count() == 2 => format!("PCI {name}"),
        _ if pieces.contains(&"block") => format!("disk {name}"),
        _ => name.to_owned(),
    }
}

fn is_port(name: &str) -> bool {
    name.split_once('-').is_some_and(|(bus, ports)| {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        digits(bus) && digits(ports)
    })
}

/// The parts that several of these devices share, each with the places of those devices. Where a part is shared by the same
/// devices as one that is nearer to them, only the nearer one is told.
pub fn shared(devices: &[Vec<String>]) -> Vec<(String, Vec<usize>)> {
    let mut below: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, parts) in devices.iter().enumerate() {
        for part in parts.iter().collect::<BTreeSet<_>>() {
            below.entry(part).or_default().push(place);
        }
    }
    let mut shared: Vec<(&str, Vec<usize>)> = below.into_iter().filter(|(_, places)| places.len() > 1).collect();
    // The longest path of the same devices is the nearest part.
    shared.sort_by_key(|(part, _)| std::cmp::Reverse(part.len()));
    let mut told: Vec<(String, Vec<usize>)> = Vec::new();
    for (part, places) in shared {
        if !told.iter().any(|(_, others)| *others == places) {
            told.push((part.to_owned(), places));
        }
    }
    told.sort();
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Directories from the top down, as `name subsystem`.
    fn above(directories: &[&str]) -> Vec<Above> {
        let mut path = "/devices".to_owned();
        let mut above: Vec<Above> = directories
            .iter()
            .map(|text| {
                let (name, subsystem) = text.split_once(' ').unwrap_or((text, ""));
                path = format!("{path}/{name}");
                Above { path: path.clone(), subsystem: (!subsystem.is_empty()).then(|| subsystem.to_owned()) }
            })
            .collect();
        above.reverse();
        above
    }

    fn reader(port: &str) -> Vec<Above> {
        let hub = ["pci0000:00", "0000:00:14.0 pci", "usb1 usb", "1-2 usb"];
        let own = [
            format!("{port} usb"),
            format!("{port}:1.0 usb"),
            "host6 scsi".to_owned(),
            "target6:0:0 scsi".to_owned(),
            "6:0:0:0 scsi".to_owned(),
            "block".to_owned(),
        ];
        above(&hub.into_iter().chain(own.iter().map(String::as_str)).collect::<Vec<_>>())
    }

    #[test]
    fn readers_behind_a_hub_share_it_and_what_is_above() {
        let (a, b) = (reader("1-2.1"), reader("1-2.3"));
        assert_eq!(port(&a), Some("1-2.1"));
        let names = |above: &[Above]| parts(above).iter().map(|part| part_name(part)).collect::<Vec<_>>();
        assert_eq!(names(&a), ["host6", "USB port 1-2.1", "USB port 1-2", "USB bus 1", "PCI 0000:00:14.0"]);
        let shared = shared(&[parts(&a), parts(&b)]);
        assert_eq!(shared, [("/devices/pci0000:00/0000:00:14.0/usb1/1-2".to_owned(), vec![0, 1])]);
    }

    #[test]
    fn the_bus_of_a_chip_is_no_part() {
        let card = |controller: &str, host: &str| {
            let (controller, host, card) =
                (format!("{controller} platform"), format!("{host} mmc_host"), format!("{host}:0001 mmc"));
            above(&["platform", "soc platform", &controller, "mmc_host", &host, &card, "block"])
        };
        let (sd, emmc) = (card("fe340000.mmc", "mmc0"), card("fe330000.mmc", "mmc1"));
        assert!(shared(&[parts(&sd), parts(&emmc)]).is_empty());
        assert_eq!(parts(&sd).len(), 2, "{:?}", parts(&sd));
        assert_eq!(port(&sd), None);
    }

    #[test]
    fn nothing_above_is_nothing_shared() {
        assert!(parts(&[]).is_empty() && shared(&[Vec::new(), Vec::new()]).is_empty());
    }
}
