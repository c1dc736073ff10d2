//! What a real device has of the purge ladder beyond discards: the eMMC sanitise, the kernel's secure discard, and other
//! people's tools for NVMe and ATA.
//!
//! All of it concerns a whole device, so that a partition is offered the secure discard alone. Where a tool does it, the
//! tool is looked for in the directories of `PATH`, and run with a list of arguments, never through a shell.

mod ata;
mod mmc;
mod nvme;
#[cfg(test)]
mod tests;
mod tool;

pub use tool::Tools;

use crate::ioctl;
use crate::sysfs::{DeviceNumber, SysRoot};
use crate::{HostTarget, errno, list};
use flashscope_device::{Availability, Purge, PurgeError, PurgeStep, Seal, Target, WriteGrant};
use flashscope_model::DeviceKind;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::path::PathBuf;

/// What one secure discard covers, so that it can be stopped in between.
const PART: u64 = 1 << 30;

/// The purge ladder of an open block device.
#[derive(Debug)]
pub struct HostPurge {
    device: OwnedFd,
    /// `None` where it was opened for reading: the ladder can be looked at, and no step taken.
    seal: Option<Seal>,
    path: PathBuf,
    capacity: u64,
    kind: DeviceKind,
    /// Namespaces of the same NVMe controller, this one included; all of them would go.
    namespaces: usize,
    is_whole: bool,
    tools: Tools,
}

impl HostPurge {
    /// That of a target; `None` for a file, and where requests to it may hang.
    pub fn of(sys: &SysRoot, target: &HostTarget, tools: Tools) -> Option<HostPurge> {
        let (files, seal) = target.opened()?;
        let number = rustix::fs::fstat(&files.plain).ok().map(|found| DeviceNumber::from_raw(found.st_rdev))?;
        let disk = files.block_device.then(|| list::disk_numbered(sys, number)).flatten()?;
        let controller = |path: &std::path::Path| nvme::controller(path);
        let namespaces = controller(&disk.path).map_or(0, |mine| {
            let disks = list::list(sys);
            disks.iter().filter(|other| controller(&other.path).as_ref() == Some(&mine)).count()
        });
        Some(HostPurge {
            device: files.plain.try_clone().ok()?,
            seal,
            is_whole: disk.number == number,
            path: disk.path,
            capacity: target.facts().capacity.get(),
            kind: disk.kind,
            namespaces,
            tools,
        })
    }

    fn secure_discard(&self, go_on: &mut dyn FnMut() -> bool) -> Result<String, PurgeError> {
        let mut at = 0;
        while at < self.capacity {
            if !go_on() {
                return Err(PurgeError::Stopped);
            }
            let length = PART.min(self.capacity - at);
            ioctl::secure_discard(&self.device, at, length).map_err(|error| match error {
                Errno::OPNOTSUPP | Errno::NOTTY => PurgeError::Absent("the device has no secure discard".to_owned()),
                error => PurgeError::Failed(errno::describe(error)),
            })?;
            at += length;
        }
        Ok("BLKSECDISCARD of the whole device".to_owned())
    }
}

impl Purge for HostPurge {
    fn offers(&mut self) -> Vec<(PurgeStep, Availability)> {
        let mut offers = Vec::new();
        let part = || Availability::Absent("this is a partition, and the whole device would be purged".to_owned());
        match self.kind {
            DeviceKind::Emmc if self.is_whole => {
                offers.push((PurgeStep::MmcSanitize, mmc::offer(ioctl::mmc_ext_csd(&self.device))));
            }
            DeviceKind::Emmc => offers.push((PurgeStep::MmcSanitize, part())),
            DeviceKind::Nvme if self.is_whole => offers.extend(nvme::offers(&self.tools, &self.path, self.namespaces)),
            DeviceKind::Nvme => offers.push((PurgeStep::NvmeSanitize, part())),
            DeviceKind::Scsi if self.is_whole => {
                offers.push((PurgeStep::AtaSanitize, ata::offer(&self.tools, &self.path)))
            }
            DeviceKind::Scsi => offers.push((PurgeStep::AtaSanitize, part())),
            _ => {}
        }
        let secure = "only trying tells: the kernel does not say which devices have it".to_owned();
        offers.push((PurgeStep::SecureDiscard, Availability::Unknown(secure)));
        offers
    }

    fn purge(
        &mut self,
        step: PurgeStep,
        grant: &WriteGrant,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<String, PurgeError> {
        if Some(grant.seal()) != self.seal {
            return Err(PurgeError::Absent("the right to write is for another device".to_owned()));
        }
        if step != PurgeStep::SecureDiscard && !self.is_whole {
            return Err(PurgeError::Absent("this is a partition".to_owned()));
        }
        match step {
            PurgeStep::MmcSanitize => mmc::sanitize(&self.device, self.capacity, grant, go_on),
            PurgeStep::NvmeSanitize => nvme::sanitize(&self.tools, &self.path, go_on),
            PurgeStep::NvmeFormat => nvme::format(&self.tools, &self.path, go_on),
            PurgeStep::AtaSanitize => ata::sanitize(&self.tools, &self.path, go_on),
            PurgeStep::SecureDiscard => self.secure_discard(go_on),
            PurgeStep::Discard | PurgeStep::Overwrite => {
                Err(PurgeError::Absent("requests do that, not the ladder's tools".to_owned()))
            }
        }
    }
}
