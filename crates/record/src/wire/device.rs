//! What is known of the device before anything is measured.

use super::DeviceKind;
use flashscope_model as model;
use flashscope_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a device is, as far as it says itself.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// What people call it.
    pub name: String,
    /// The class of device.
    pub kind: DeviceKind,
    /// Whether it is a simulated device on virtual time.
    pub simulated: bool,
    /// The size that it reports.
    pub capacity_bytes: u64,
    /// The smallest addressable unit.
    pub logical_block_bytes: u64,
    /// The unit that the device says it handles natively; null where it does not say.
    pub physical_block_bytes: Option<u64>,
    /// The largest request that reaches the device in one piece; null where unknown.
    pub max_request_bytes: Option<u64>,
    /// Requests that may be outstanding on the way to it; null where unknown.
    #[serde(default)]
    pub queue_depth: Option<u32>,
    /// Figures that the device states about its own inside: claims, not measurements.
    pub claims: Claims,
    /// What an operator must name to have this very device written to; null for a simulated one.
    pub identity: Option<String>,
}

/// Figures from the device's own registers or sysfs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Claims {
    /// SD status AU_SIZE, or the eMMC erase group.
    pub allocation_unit_bytes: Option<u64>,
    /// sysfs `preferred_erase_size`.
    pub preferred_erase_bytes: Option<u64>,
    /// sysfs `erase_size`.
    pub erase_bytes: Option<u64>,
    /// Speed class in words (`class 10`, `U3`, `V30`).
    pub speed_class: Option<String>,
    /// Other claims, each a short phrase.
    pub other: Vec<String>,
}

impl Device {
    pub(crate) fn from_model(facts: &model::DeviceFacts) -> Device {
        Device {
            name: facts.name.clone(),
            kind: facts.kind.into(),
            simulated: facts.simulated,
            capacity_bytes: facts.capacity.get(),
            logical_block_bytes: facts.logical_block.get(),
            physical_block_bytes: facts.physical_block.map(Bytes::get),
            max_request_bytes: facts.max_request.map(Bytes::get),
            queue_depth: facts.queue_depth,
            claims: Claims {
                allocation_unit_bytes: facts.claims.allocation_unit.map(Bytes::get),
                preferred_erase_bytes: facts.claims.preferred_erase.map(Bytes::get),
                erase_bytes: facts.claims.erase.map(Bytes::get),
                speed_class: facts.claims.speed_class.clone(),
                other: facts.claims.other.clone(),
            },
            identity: facts.identity.as_ref().map(|identity| identity.0.clone()),
        }
    }

    pub(crate) fn into_model(self) -> model::DeviceFacts {
        model::DeviceFacts {
            name: self.name,
            kind: self.kind.into(),
            simulated: self.simulated,
            capacity: Bytes(self.capacity_bytes),
            logical_block: Bytes(self.logical_block_bytes),
            physical_block: self.physical_block_bytes.map(Bytes),
            max_request: self.max_request_bytes.map(Bytes),
            queue_depth: self.queue_depth,
            claims: model::Claims {
                allocation_unit: self.claims.allocation_unit_bytes.map(Bytes),
                preferred_erase: self.claims.preferred_erase_bytes.map(Bytes),
                erase: self.claims.erase_bytes.map(Bytes),
                speed_class: self.claims.speed_class,
                other: self.claims.other,
            },
            identity: self.identity.map(model::Identity),
        }
    }
}
