//! What is known of the device before anything is measured.

use super::DeviceKind;
use crate::RecordError;
use crate::mirror::{Mirror, mirror};
use flashscope_model as model;

mirror! {
    /// What a device is, as far as it says itself.
    Device of model::DeviceFacts {
        /// What people call it.
        name: String = name,
        /// The class of device.
        kind: DeviceKind = kind,
        /// Whether it is a simulated device on virtual time.
        simulated: bool = simulated,
        /// The size that it reports.
        capacity_bytes: u64 = capacity,
        /// The smallest addressable unit.
        logical_block_bytes: u64 = logical_block,
        /// The unit that the device says it handles natively; null where it does not say.
        physical_block_bytes: Option<u64> = physical_block,
        /// The largest request that reaches the device in one piece; null where unknown.
        max_request_bytes: Option<u64> = max_request,
        /// Requests that may be outstanding on the way to it; null where unknown.
        queue_depth: Option<u32> = queue_depth,
        /// Figures that the device states about its own inside: claims, not measurements.
        claims: Claims = claims,
        /// What an operator must name to have this very device written to; null for a simulated one.
        identity: Option<String> = identity,
    }

    /// Figures from the device's own registers or sysfs.
    Claims of model::Claims {
        /// SD status AU_SIZE, or the eMMC erase group.
        allocation_unit_bytes: Option<u64> = allocation_unit,
        /// sysfs `preferred_erase_size`.
        preferred_erase_bytes: Option<u64> = preferred_erase,
        /// sysfs `erase_size`.
        erase_bytes: Option<u64> = erase,
        /// Speed class in words (`class 10`, `U3`, `V30`).
        speed_class: Option<String> = speed_class,
        /// Registers that tell of wear; null where the device has none.
        health: Option<Health> = health,
        /// Other claims, each a short phrase.
        other: Vec<String> = other,
    }

    /// What a device's registers say of its own wear; null each that it does not have.
    Health of model::Health {
        /// eMMC and UFS, type A: 1 in the first tenth of the rated life, 10 in the last, 11 past it.
        life_time_a: Option<u8> = life_time_a,
        /// The same of type B.
        life_time_b: Option<u8> = life_time_b,
        /// eMMC and UFS: 1 normal, 2 warning, 3 urgent.
        pre_end_of_life: Option<u8> = pre_end_of_life,
        /// Share of the rated life that is used up, in percent; above 100 past it.
        used_percent: Option<u8> = used_percent,
        /// What is left of the spare blocks, in percent.
        spare_percent: Option<u8> = spare_percent,
        /// Bytes that the host wrote in all the device's life.
        written_bytes: Option<u64> = written,
    }
}

impl Mirror<model::Identity> for String {
    fn from_model(identity: &model::Identity) -> Self {
        identity.0.clone()
    }

    fn into_model(self) -> Result<model::Identity, RecordError> {
        Ok(model::Identity(self))
    }
}
