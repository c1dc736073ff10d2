//! What is known of a device before anything is measured: what it is, and what it claims.

use flashscope_units::Bytes;

/// What a device is, as far as it says itself.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceFacts {
    /// What people call it: a product name (`SD08G`), else the path or the model's name.
    pub name: String,
    /// The class of device.
    pub kind: DeviceKind,
    /// Whether it is a simulated device on virtual time.
    pub simulated: bool,
    /// The size that it reports.
    pub capacity: Bytes,
    /// The smallest addressable unit (512 or 4096 bytes).
    pub logical_block: Bytes,
    /// The unit that the device says it handles natively, where it says so.
    pub physical_block: Option<Bytes>,
    /// The largest request that reaches the device in one piece, where known.
    pub max_request: Option<Bytes>,
    /// Requests that may be outstanding on the way to it; 1: one at a time. Absent where unknown.
    pub queue_depth: Option<u32>,
    /// Figures that the device states about its own inside: shown beside a measurement, never copied.
    pub claims: Claims,
    /// What an operator must name to have this very device written to; `None` for simulated ones.
    pub identity: Option<Identity>,
}

/// The class of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    /// SD or microSD card on a native host.
    SdCard,
    /// eMMC, alone or in an eMCP.
    Emmc,
    /// UFS.
    Ufs,
    /// Anything behind USB: sticks, card readers, bridges.
    Usb,
    /// NVMe drive.
    Nvme,
    /// SATA or SAS drive.
    Scsi,
    /// Paravirtual disk.
    Virtio,
    /// Loop device.
    Loop,
    /// A loop device on a file that a program answers for (FUSE): an emulated device, with an inside of its own.
    Emulated,
    /// A regular file.
    File,
    /// A block device of another class.
    Other,
}

/// Figures from the device's own registers or sysfs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    /// SD status AU_SIZE, or the eMMC erase group.
    pub allocation_unit: Option<Bytes>,
    /// sysfs `preferred_erase_size`.
    pub preferred_erase: Option<Bytes>,
    /// sysfs `erase_size`.
    pub erase: Option<Bytes>,
    /// Speed class in words (`class 10`, `U3`, `V30`).
    pub speed_class: Option<String>,
    /// Registers that tell of wear; absent where the device has none, as an SD card.
    pub health: Option<Health>,
    /// Other claims, each a short phrase.
    pub other: Vec<String>,
}

/// What a device's registers say of its own wear. A register that this device does not have is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// eMMC `DEVICE_LIFE_TIME_EST_TYP_A`, UFS `bDeviceLifeTimeEstA` (the part with one bit per cell, in most devices): 1
    /// while the first tenth of the rated life is being used, 10 for the last, 11 past it. 0 is "not defined", and absent
    /// here.
    pub life_time_a: Option<u8>,
    /// The same of type B, the part with all bits per cell.
    pub life_time_b: Option<u8>,
    /// eMMC `PRE_EOL_INFO`, UFS `bPreEOLInfo`: 1 normal, 2 warning (80 % of the reserved blocks are used up), 3 urgent
    /// (90 %).
    pub pre_end_of_life: Option<u8>,
    /// NVMe "percentage used", and its counterparts in SMART: 100 where the rated life is used up; it goes on to 255.
    pub used_percent: Option<u8>,
    /// NVMe "available spare": what is left of the spare blocks, 0…100.
    pub spare_percent: Option<u8>,
    /// Bytes that the host wrote in all the device's life.
    pub written: Option<Bytes>,
}

/// What names one very device: `SERIAL:BYTES`, `MODEL:BYTES` or `loop:BACKING_PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity(pub String);
