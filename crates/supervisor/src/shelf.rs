//! The devices of a plan, found on this host.

use anyhow::{Result, anyhow};
use flashscope_host::{ListedDevice, SysRoot, devices_above, list};
use flashscope_lab::topology::{self, Above};
use flashscope_lab::{Address, Device, DevicePlan, Plan};
use flashscope_units::Bytes;
use std::path::PathBuf;

/// A device of the host with what is above it.
struct Seen {
    device: ListedDevice,
    above: Vec<Above>,
}

/// Finds all devices of a plan, in its order.
///
/// # Errors
/// One is not there, or cannot be told from another.
pub(crate) fn find(sys: &SysRoot, plan: &Plan) -> Result<Vec<Device>> {
    // Only simulated devices need no look at this machine.
    let real = plan.devices.iter().any(|device| !matches!(device.address, Address::Simulated(_)));
    let seen = if real { seen(sys) } else { Vec::new() };
    plan.devices.iter().map(|device| found(device, &seen)).collect()
}

/// Where the device of this identity is now.
///
/// # Errors
/// It is gone, or there are two.
pub(crate) fn path_of(sys: &SysRoot, identity: &str) -> Result<PathBuf, String> {
    let mut all = list(sys).into_iter().filter(|device| device.identity.0 == identity);
    match (all.next(), all.next()) {
        (Some(device), None) => Ok(device.path),
        (Some(one), Some(other)) => {
            Err(format!("{} and {} say the same of themselves", one.path.display(), other.path.display()))
        }
        (None, _) => Err("it is not attached".to_owned()),
    }
}

fn seen(sys: &SysRoot) -> Vec<Seen> {
    let above = |device: &ListedDevice| {
        let told = devices_above(sys, device).into_iter();
        told.map(|above| Above { path: above.path.to_string_lossy().into_owned(), subsystem: above.subsystem })
            .collect()
    };
    list(sys).into_iter().map(|device| Seen { above: above(&device), device }).collect()
}

fn found(asked: &DevicePlan, seen: &[Seen]) -> Result<Device> {
    let name = asked.name.clone();
    let matching: Vec<&Seen> = match &asked.address {
        Address::Simulated(target) => {
            return Ok(Device { name, identity: target.clone(), simulated: true, seed: asked.seed, parts: Vec::new() });
        }
        Address::Identity(identity) => seen.iter().filter(|seen| seen.device.identity.0 == *identity).collect(),
        Address::Slot { port, lun } => in_slot(seen, port, *lun),
    };
    match matching.as_slice() {
        [one] => Ok(Device {
            name,
            identity: one.device.identity.0.clone(),
            simulated: false,
            seed: asked.seed,
            parts: topology::parts(&one.above),
        }),
        [] => Err(anyhow!("device '{name}' is not attached\nhint: `flashscope list` shows what is")),
        several => {
            let paths: Vec<String> = several.iter().map(|seen| seen.device.path.display().to_string()).collect();
            let hint = match asked.address {
                Address::Slot { .. } => "lun = N says which slot of the reader",
                _ => "name each by its slot",
            };
            Err(anyhow!("device '{name}' could be any of {}\nhint: {hint}", paths.join(", ")))
        }
    }
}

/// What hangs on a USB port; of the slots of a reader those that hold a medium, where nobody says which.
fn in_slot<'a>(seen: &'a [Seen], port: &str, lun: Option<u64>) -> Vec<&'a Seen> {
    let at_port = seen.iter().filter(|seen| topology::port(&seen.above) == Some(port));
    at_port
        .filter(|seen| match (lun, &seen.device.bus) {
            (Some(lun), flashscope_host::Bus::Usb(usb)) => usb.scsi.lun == Some(lun),
            (Some(_), _) => false,
            (None, _) => seen.device.capacity > Bytes::ZERO,
        })
        .collect()
}
