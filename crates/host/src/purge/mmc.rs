//! The eMMC sanitise: trim of everything, and then the removal of what is not mapped (JESD84-B51, 6.6.13).

use crate::errno;
use crate::ioctl::{self, EXT_CSD};
use flashscope_device::{Availability, PurgeError, WriteGrant};
use flashscope_registers::{Command, EraseHow};
use flashscope_units::Bytes;
use rustix::fd::AsFd;
use rustix::io::Errno;

/// `SEC_FEATURE_SUPPORT` of the extended register, …
const SEC_FEATURE_SUPPORT: usize = 231;
/// … whose bit 4 says that blocks can be trimmed, …
const TRIMS: u8 = 1 << 4;
/// … and bit 6 that the part has the sanitise.
const SANITIZES: u8 = 1 << 6;

/// What one trim covers, so that it ends in its time and can be stopped in between.
const TRIM: u64 = 256 << 20;
/// A part of up to 2 GiB is addressed by bytes.
const LEAST_IN_SECTORS: u64 = 2 << 30;

/// Whether a part has it, by its extended register.
pub(super) fn offer(register: rustix::io::Result<[u8; EXT_CSD]>) -> Availability {
    match register {
        Ok(register) if register[SEC_FEATURE_SUPPORT] & SANITIZES == 0 => {
            Availability::Absent("the part says that it has no sanitise".to_owned())
        }
        Ok(register) if register[SEC_FEATURE_SUPPORT] & TRIMS == 0 => {
            Availability::Absent("the part says that it has no trim, which comes first".to_owned())
        }
        Ok(_) => Availability::There,
        Err(error) => Availability::Absent(format!("its extended register cannot be read: {}", errno::describe(error))),
    }
}

/// Trims everything, and sanitises.
pub(super) fn sanitize(
    device: impl AsFd,
    capacity: u64,
    grant: &WriteGrant,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<String, PurgeError> {
    if capacity <= LEAST_IN_SECTORS {
        return Err(PurgeError::Absent("a part of up to 2 GiB is addressed in another way".to_owned()));
    }
    let failed = |what: &str, error: Errno| PurgeError::Failed(format!("{what}: {}", errno::describe(error)));
    let granted = |error| PurgeError::Failed(format!("the right to write is for a part of the device: {error:?}"));
    for (from, length) in parts(capacity) {
        if !go_on() {
            return Err(PurgeError::Stopped);
        }
        let trim = Command::erase(grant, from, length, EraseHow::Trim).map_err(granted)?;
        ioctl::mmc_commands(&device, trim).map_err(|error| failed("trim", error))?;
    }
    let sanitize = Command::sanitize(grant, Bytes(capacity)).map_err(granted)?;
    ioctl::mmc_commands(&device, [sanitize]).map_err(|error| failed("sanitise", error))?;
    Ok("trim of the whole part, then SANITIZE_START".to_owned())
}

/// Where each trim begins, and its length.
fn parts(capacity: u64) -> impl Iterator<Item = (Bytes, Bytes)> {
    (0..capacity.div_ceil(TRIM)).map(move |part| (Bytes(part * TRIM), Bytes(TRIM.min(capacity - part * TRIM))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_taken_at_its_word() {
        let check = |bits: u8, there: bool| {
            let mut register = [0; EXT_CSD];
            register[SEC_FEATURE_SUPPORT] = bits;
            assert_eq!(offer(Ok(register)) == Availability::There, there, "{bits:#x}");
        };
        check(0x55, true);
        check(0x15, false);
        check(0x40, false);
        let Availability::Absent(why) = offer(Err(Errno::PERM)) else { panic!("it cannot be there") };
        assert!(why.contains("EPERM"), "{why}");
    }

    #[test]
    fn every_sector_is_trimmed_once() {
        let capacity = 3 * TRIM + 7 * 512;
        let all: Vec<(Bytes, Bytes)> = parts(capacity).collect();
        assert_eq!(all.first().unwrap().0, Bytes::ZERO);
        assert!(all.windows(2).all(|pair| pair[0].0 + pair[0].1 == pair[1].0), "{all:?}");
        let (from, length) = *all.last().unwrap();
        assert_eq!(from + length, Bytes(capacity));
    }
}
