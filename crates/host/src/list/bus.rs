//! What a device's bus tells about it: registers of cards, descriptors of USB, identify data of drives.

use crate::blocks::Node;
use crate::sysfs::{Directory, SysRoot};
use flashscope_model::{Claims, DeviceKind, Health};
use flashscope_registers::{Cid, Csd, Family, Scr, Ssr, estimates};
use flashscope_units::Bytes;
use std::path::PathBuf;

/// What the bus tells, by kind of bus.
#[derive(Clone, Debug, PartialEq)]
pub enum Bus {
    /// SD and MMC.
    Mmc(Box<MmcFacts>),
    /// USB mass storage.
    Usb(UsbFacts),
    /// NVMe.
    Nvme(NvmeFacts),
    /// SCSI, SATA, SAS and UFS.
    Scsi(ScsiFacts),
    /// virtio, with the serial number that the hypervisor gave.
    Virtio {
        /// Serial number.
        serial: Option<String>,
    },
    /// A bound loop device.
    Loop(LoopFacts),
    /// Anything else, by the name of its subsystem where it has one.
    Other {
        /// Subsystem.
        subsystem: Option<String>,
    },
}

/// An SD card or eMMC part.
#[derive(Clone, Debug, PartialEq)]
pub struct MmcFacts {
    /// SD or MMC.
    pub family: Family,
    /// Product name as the kernel prints it.
    pub name: Option<String>,
    /// Serial number as the kernel prints it (`0xd5017cb4`).
    pub serial: Option<String>,
    /// Date of making as the kernel prints it (`10/2013`).
    pub date: Option<String>,
    /// Manufacturer as the kernel prints it (`0x000082`).
    pub manufacturer_id: Option<String>,
    /// OEM as the kernel prints it.
    pub oem_id: Option<String>,
    /// Hardware revision.
    pub hardware_revision: Option<String>,
    /// Firmware revision.
    pub firmware_revision: Option<String>,
    /// Decoded identification.
    pub cid: Option<Cid>,
    /// Decoded card-specific data.
    pub csd: Option<Csd>,
    /// Decoded configuration (SD).
    pub scr: Option<Scr>,
    /// Decoded status (SD).
    pub ssr: Option<Ssr>,
    /// sysfs `erase_size`.
    pub erase: Option<Bytes>,
    /// sysfs `preferred_erase_size`.
    pub preferred_erase: Option<Bytes>,
    /// eMMC life time used, types A and B, in steps of a tenth (`0x01 0x01`).
    pub life_time: Option<String>,
    /// eMMC state of its spare blocks (`0x01` is normal).
    pub pre_end_of_life: Option<String>,
    /// Whether command queueing is on (eMMC).
    pub command_queue: Option<bool>,
    /// Version of EXT_CSD (`0x8` is 5.1).
    pub revision: Option<String>,
    /// The hardware partition (`boot0`, `rpmb`, `gp0`); `None` for the user area.
    pub hardware_partition: Option<String>,
    /// Name of its host controller (`mmc0`).
    pub host: Option<String>,
    /// How the bus runs; only root can see it, and only where debugfs is mounted.
    pub mode: Option<BusMode>,
}

/// How an SD or MMC bus runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusMode {
    /// Clock in hertz.
    pub clock_hz: Option<u64>,
    /// Data lines.
    pub width: Option<u32>,
    /// Timing in the kernel's words (`sd uhs SDR104`).
    pub timing: Option<String>,
    /// Signal voltage in the kernel's words (`1.80 V`).
    pub voltage: Option<String>,
}

/// A device behind USB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsbFacts {
    /// Vendor and product number (`0951:1666`).
    pub id: Option<String>,
    /// Manufacturer string.
    pub manufacturer: Option<String>,
    /// Product string.
    pub product: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Link speed in Mbit/s (`480`, `5000`).
    pub speed_mbit_per_s: Option<String>,
    /// Version that it speaks (`2.10`).
    pub version: Option<String>,
    /// What it says as a SCSI device.
    pub scsi: ScsiFacts,
}

/// An NVMe namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NvmeFacts {
    /// Model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// `pcie`, `tcp` …
    pub transport: Option<String>,
}

/// A SCSI or ATA device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScsiFacts {
    /// Vendor (`ATA` for SATA drives).
    pub vendor: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Firmware revision.
    pub revision: Option<String>,
    /// Serial number from vital product data page 0x80.
    pub serial: Option<String>,
    /// Logical unit: which slot of a card reader.
    pub lun: Option<u64>,
    /// The low-level driver (`ahci`, `ufshcd`, `usb-storage`).
    pub driver: Option<String>,
    /// The health descriptor of UFS, where the kernel shows one that says anything.
    pub health: Option<Health>,
}

/// A bound loop device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopFacts {
    /// What it stands on.
    pub backing: PathBuf,
    /// Whether it reads and writes that past the page cache.
    pub direct: bool,
    /// Where in it the loop device starts.
    pub offset: Bytes,
}

/// Reads what the bus of a whole disk tells.
pub(super) fn read(sys: &SysRoot, disk: &Node) -> Bus {
    if let Some(backing) = &disk.backing {
        let direct = disk.directory.flag("loop/dio").unwrap_or(false);
        let offset = Bytes(disk.directory.number("loop/offset").unwrap_or(0));
        return Bus::Loop(LoopFacts { backing: backing.path.clone(), direct, offset });
    }
    let above = ancestors(&disk.directory);
    let on = |subsystem: &str| above.iter().find(|directory| is_on(directory, subsystem));
    if let Some(card) = on("mmc") {
        return Bus::Mmc(Box::new(mmc(sys, disk, card, on("mmc_host"))));
    }
    if let Some(device) = on("scsi").filter(|device| device.has("vendor") || device.has("model")) {
        let scsi = scsi(device, &above);
        let usb_device = above.iter().find(|directory| is_on(directory, "usb") && directory.has("idVendor"));
        return usb_device.map_or(Bus::Scsi(scsi.clone()), |usb_device| Bus::Usb(usb(usb_device, scsi)));
    }
    match disk.directory.below("device") {
        Some(device) if disk.name.starts_with("nvme") => Bus::Nvme(nvme(&device)),
        Some(device) if is_on(&device, "virtio") => Bus::Virtio { serial: disk.directory.text("serial") },
        device => Bus::Other { subsystem: device.and_then(|device| device.link_name("subsystem")) },
    }
}

impl Bus {
    /// The class of device.
    pub(super) fn kind(&self) -> DeviceKind {
        match self {
            Bus::Mmc(facts) if facts.family == Family::Sd => DeviceKind::SdCard,
            Bus::Mmc(_) => DeviceKind::Emmc,
            Bus::Usb(_) => DeviceKind::Usb,
            Bus::Nvme(_) => DeviceKind::Nvme,
            Bus::Scsi(facts) if facts.driver.as_deref() == Some("ufshcd") => DeviceKind::Ufs,
            Bus::Scsi(_) => DeviceKind::Scsi,
            Bus::Virtio { .. } => DeviceKind::Virtio,
            Bus::Loop(_) => DeviceKind::Loop,
            Bus::Other { .. } => DeviceKind::Other,
        }
    }

    /// Model or product name.
    pub(super) fn model(&self) -> Option<String> {
        match self {
            Bus::Mmc(facts) => facts.name.clone().or_else(|| facts.cid.as_ref().map(|cid| cid.product.clone())),
            Bus::Usb(facts) => facts.product.clone().or_else(|| facts.scsi.name()),
            Bus::Nvme(facts) => facts.model.clone(),
            Bus::Scsi(facts) => facts.name(),
            Bus::Virtio { .. } | Bus::Loop(_) | Bus::Other { .. } => None,
        }
    }

    /// Serial number.
    pub(super) fn serial(&self) -> Option<String> {
        match self {
            Bus::Mmc(facts) => {
                facts.serial.clone().or_else(|| facts.cid.as_ref().map(|cid| format!("0x{:08x}", cid.serial)))
            }
            Bus::Usb(facts) => facts.serial.clone().or_else(|| facts.scsi.serial.clone()),
            Bus::Nvme(facts) => facts.serial.clone(),
            Bus::Scsi(facts) => facts.serial.clone(),
            Bus::Virtio { serial } => serial.clone(),
            Bus::Loop(_) | Bus::Other { .. } => None,
        }
    }

    /// Which part of a device that has several under one serial number; `None` for the only or main one.
    pub(super) fn part(&self, disk: &Node) -> Option<String> {
        match self {
            Bus::Mmc(facts) => facts.hardware_partition.clone(),
            Bus::Usb(UsbFacts { scsi, .. }) | Bus::Scsi(scsi) => {
                scsi.lun.filter(|lun| *lun != 0).map(|lun| format!("lun{lun}"))
            }
            Bus::Nvme(_) => {
                let namespace = disk.name.rsplit_once('n')?.1;
                (namespace != "1").then(|| format!("n{namespace}"))
            }
            Bus::Virtio { .. } | Bus::Loop(_) | Bus::Other { .. } => None,
        }
    }

    /// Figures that the device states about its own inside.
    pub(super) fn claims(&self) -> Claims {
        let facts = match self {
            Bus::Mmc(facts) => facts,
            Bus::Scsi(facts) => return Claims { health: facts.health, ..Claims::default() },
            _ => return Claims::default(),
        };
        let status = facts.ssr.as_ref();
        // Without EXT_CSD's word for it, `erase_size` of an SD card is one sector and no unit of anything.
        let allocation_unit = match facts.family {
            Family::Sd => status.and_then(|status| status.allocation_unit),
            Family::Mmc => facts.erase,
        };
        Claims {
            allocation_unit,
            preferred_erase: facts.preferred_erase,
            erase: facts.erase,
            speed_class: status.and_then(Ssr::classes),
            health: facts.health(),
            other: other_claims(facts),
        }
    }
}

impl MmcFacts {
    /// The registers that tell of wear, where the kernel shows any that is defined.
    fn health(&self) -> Option<Health> {
        let value = |word: Option<&str>| word.and_then(register_byte);
        let mut life = self.life_time.as_deref().unwrap_or_default().split_whitespace();
        let (a, b, end) = (value(life.next()), value(life.next()), value(self.pre_end_of_life.as_deref()));
        estimates(a.unwrap_or(0), b.unwrap_or(0), end.unwrap_or(0))
    }
}

impl ScsiFacts {
    /// Vendor and model in one, without the `ATA` that the kernel puts before SATA drives.
    fn name(&self) -> Option<String> {
        let vendor = self.vendor.as_deref().filter(|vendor| *vendor != "ATA");
        let words: Vec<&str> = [vendor, self.model.as_deref()].into_iter().flatten().collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

fn other_claims(facts: &MmcFacts) -> Vec<String> {
    let maker = facts.cid.as_ref().and_then(|cid| cid.manufacturer_name).map(|name| format!("made by {name}"));
    let made = facts.date.as_ref().map(|date| format!("made {date}"));
    let version = facts.scr.as_ref().and_then(|scr| scr.version).map(|version| format!("SD specification {version}"));
    let uhs = facts.ssr.as_ref().and_then(|ssr| ssr.uhs_allocation_unit).map(|unit| format!("AU {unit} under UHS"));
    let video = facts.ssr.as_ref().and_then(|ssr| ssr.video_allocation_unit).map(|unit| format!("AU {unit} for video"));
    let life = facts.life_time.as_ref().map(|life| format!("life time used {life}"));
    let spare = facts.pre_end_of_life.as_ref().map(|state| format!("pre-end-of-life {state}"));
    let queue = facts.command_queue.filter(|on| *on).map(|_| "command queue on".to_owned());
    [maker, made, version, uhs, video, life, spare, queue].into_iter().flatten().collect()
}

/// The directory of the SD card or eMMC part that a disk is; `None` for another kind of disk.
pub(crate) fn card_of(disk: &Node) -> Option<Directory> {
    ancestors(&disk.directory).into_iter().find(|directory| is_on(directory, "mmc"))
}

/// The directories from a disk up to `/sys/devices`.
pub(super) fn ancestors(disk: &Directory) -> Vec<Directory> {
    let mut found = Vec::new();
    let mut at = disk.above();
    while let Some(directory) = at.filter(|directory| directory.name() != "devices") {
        at = directory.above();
        found.push(directory);
    }
    found
}

fn is_on(directory: &Directory, subsystem: &str) -> bool {
    directory.link_name("subsystem").as_deref() == Some(subsystem)
}

fn mmc(sys: &SysRoot, disk: &Node, card: &Directory, host: Option<&Directory>) -> MmcFacts {
    let family = if card.text("type").as_deref() == Some("SD") { Family::Sd } else { Family::Mmc };
    let size = |name: &str| card.number(name).filter(|bytes| *bytes > 0).map(Bytes);
    let host = host.map(Directory::name);
    MmcFacts {
        family,
        name: card.text("name"),
        serial: card.text("serial"),
        date: card.text("date"),
        manufacturer_id: card.text("manfid"),
        oem_id: card.text("oemid"),
        hardware_revision: card.text("hwrev"),
        firmware_revision: card.text("fwrev"),
        cid: card.text("cid").and_then(|hex| Cid::parse(family, &hex)),
        csd: card.text("csd").and_then(|hex| Csd::parse(family, &hex)),
        scr: card.text("scr").and_then(|hex| Scr::parse(&hex)),
        ssr: card.text("ssr").and_then(|hex| Ssr::parse(&hex)),
        erase: size("erase_size"),
        preferred_erase: size("preferred_erase_size"),
        life_time: card.text("life_time"),
        pre_end_of_life: card.text("pre_eol_info"),
        command_queue: card.flag("cmdq_en"),
        revision: card.text("rev"),
        hardware_partition: hardware_partition(&disk.name),
        mode: host
            .as_ref()
            .and_then(|host| sys.text(format!("/sys/kernel/debug/{host}/ios")))
            .map(|ios| bus_mode(&ios)),
        host,
    }
}

/// The `boot0` of `mmcblk0boot0`.
fn hardware_partition(name: &str) -> Option<String> {
    let after = name.strip_prefix("mmcblk")?.trim_start_matches(|c: char| c.is_ascii_digit());
    (!after.is_empty()).then(|| after.to_owned())
}

/// The lines of debugfs `ios`: `clock: 50000000 Hz`, `bus width: 2 (4 bits)`, `timing spec: 6 (sd uhs SDR104)`.
fn bus_mode(ios: &str) -> BusMode {
    let value = |name: &str| {
        let mut lines = ios.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
    };
    let in_brackets = |text: String| Some(text.split_once('(')?.1.trim_end_matches(')').to_owned());
    let first_number = |text: String| text.split_whitespace().next()?.parse().ok();
    BusMode {
        clock_hz: value("actual clock").or_else(|| value("clock")).and_then(first_number),
        width: value("bus width").and_then(in_brackets).and_then(first_number).map(|width| width as u32),
        timing: value("timing spec").and_then(in_brackets),
        voltage: value("signal voltage").and_then(in_brackets),
    }
}

fn scsi(device: &Directory, above: &[Directory]) -> ScsiFacts {
    // `host0` up the tree has its driver's name in `scsi_host/host0/proc_name`.
    let driver = above.iter().find_map(|directory| {
        let name = directory.name();
        directory.text(&format!("scsi_host/{name}/proc_name"))
    });
    ScsiFacts {
        vendor: device.text("vendor"),
        model: device.text("model"),
        revision: device.text("rev"),
        serial: serial_page(device),
        lun: device.name().rsplit(':').next().and_then(|lun| lun.parse().ok()),
        driver,
        health: above.iter().find_map(|directory| ufs_health(&directory.below("health_descriptor")?)),
    }
}

/// `bDeviceLifeTimeEstA`, `bDeviceLifeTimeEstB` and `bPreEOLInfo`, which have the values of eMMC (kernel: `sysfs-driver-ufs`).
fn ufs_health(descriptor: &Directory) -> Option<Health> {
    let value = |name: &str| descriptor.text(name).and_then(|text| register_byte(&text)).unwrap_or(0);
    estimates(value("life_time_estimation_a"), value("life_time_estimation_b"), value("eol_info"))
}

/// A byte as the kernel prints it, `0x01`.
fn register_byte(text: &str) -> Option<u8> {
    u8::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}

/// Vital product data page 0x80: four bytes of header, the last two of them the length, then characters.
fn serial_page(device: &Directory) -> Option<String> {
    let page = device.bytes("vpd_pg80")?;
    let [_, 0x80, high, low, rest @ ..] = page.as_slice() else { return None };
    let length = usize::from(u16::from_be_bytes([*high, *low])).min(rest.len());
    let text =
        String::from_utf8_lossy(&rest[..length]).trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned();
    (!text.is_empty()).then_some(text)
}

fn usb(device: &Directory, scsi: ScsiFacts) -> UsbFacts {
    let id =
        device.text("idVendor").zip(device.text("idProduct")).map(|(vendor, product)| format!("{vendor}:{product}"));
    UsbFacts {
        id,
        manufacturer: device.text("manufacturer"),
        product: device.text("product"),
        serial: device.text("serial"),
        speed_mbit_per_s: device.text("speed"),
        version: device.text("version"),
        scsi,
    }
}

fn nvme(device: &Directory) -> NvmeFacts {
    NvmeFacts {
        model: device.text("model"),
        serial: device.text("serial"),
        firmware: device.text("firmware_rev"),
        transport: device.text("transport"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bus_mode_of_a_card() {
        let ios = "clock:\t\t208000000 Hz\nactual clock:\t200000000 Hz\nvdd:\t\t21 (3.3 ~ 3.4 V)\nbus mode:\t2 (push-pull)\n\
                   chip select:\t0 (don't care)\npower mode:\t2 (on)\nbus width:\t2 (4 bits)\ntiming spec:\t6 (sd uhs SDR104)\n\
                   signal voltage:\t1 (1.80 V)\ndriver type:\t0 (driver type B)\n";
        let mode = bus_mode(ios);
        assert_eq!(mode.clock_hz, Some(200_000_000));
        assert_eq!(mode.width, Some(4));
        assert_eq!(mode.timing.as_deref(), Some("sd uhs SDR104"));
        assert_eq!(mode.voltage.as_deref(), Some("1.80 V"));
        assert_eq!(bus_mode(""), BusMode { clock_hz: None, width: None, timing: None, voltage: None });
    }

    #[test]
    fn hardware_partitions() {
        let check = |name: &str, expect: Option<&str>| assert_eq!(hardware_partition(name).as_deref(), expect);
        check("mmcblk0", None);
        check("mmcblk12boot1", Some("boot1"));
        check("mmcblk0gp0", Some("gp0"));
    }
}
