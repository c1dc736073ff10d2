//! The eMMC sanitise: trim of everything, and then the removal of what is not mapped (JESD84-B51, 6.6.13).

use crate::errno;
use crate::ioctl::{self, EXT_CSD, MmcCommand};
use flashscope_device::{Availability, PurgeError};
use rustix::fd::AsFd;
use rustix::io::Errno;

/// `SEC_FEATURE_SUPPORT` of the extended register, …
const SEC_FEATURE_SUPPORT: usize = 231;
/// … whose bit 4 says that blocks can be trimmed, …
const TRIMS: u8 = 1 << 4;
/// … and bit 6 that the part has the sanitise.
const SANITIZES: u8 = 1 << 6;
/// `SANITIZE_START`: writing anything to it begins.
const SANITIZE_START: u32 = 165;

/// Kinds of a command's response (`linux/mmc/core.h`): R1, …
const R1: u32 = 0x15;
/// … and R1b, after which the part is busy.
const R1B: u32 = 0x1d;

/// Sectors of 512 bytes that one trim covers: 256 MiB, so that it ends in its time and can be stopped in between.
const TRIM: u64 = 512 << 10;
/// How long one trim may take: no part states more than seconds for as much.
const TRIM_MS: u32 = 60_000;
/// How long the sanitise may take: half an hour. The standard sets no limit, and the kernel's own is four minutes.
const SANITIZE_MS: u32 = 30 * 60_000;

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
    go_on: &mut dyn FnMut() -> bool,
) -> Result<String, PurgeError> {
    if capacity <= LEAST_IN_SECTORS {
        return Err(PurgeError::Absent("a part of up to 2 GiB is addressed in another way".to_owned()));
    }
    let failed = |what: &str, error: Errno| PurgeError::Failed(format!("{what}: {}", errno::describe(error)));
    for (first, last) in parts(capacity / 512) {
        if !go_on() {
            return Err(PurgeError::Stopped);
        }
        ioctl::mmc_commands(&device, trim(first, last)).map_err(|error| failed("trim", error))?;
    }
    ioctl::mmc_commands(&device, [START]).map_err(|error| failed("sanitise", error))?;
    Ok("trim of the whole part, then SANITIZE_START".to_owned())
}

/// The first and the last sector of each trim.
fn parts(sectors: u64) -> impl Iterator<Item = (u32, u32)> {
    (0..sectors.div_ceil(TRIM)).map(move |part| {
        let last = ((part + 1) * TRIM).min(sectors) - 1;
        // A part holds at most 2^32 sectors, as its registers count them.
        ((part * TRIM) as u32, last as u32)
    })
}

/// `ERASE_GROUP_START`, `ERASE_GROUP_END`, and `ERASE` with the argument of a trim.
fn trim(first: u32, last: u32) -> [MmcCommand; 3] {
    [MmcCommand::new(35, first, R1, 0), MmcCommand::new(36, last, R1, 0), MmcCommand::new(38, 1, R1B, TRIM_MS)]
}

/// `SWITCH`: write byte, the register's index, the value 1, command set 1.
const START: MmcCommand = MmcCommand::new(6, 3 << 24 | SANITIZE_START << 16 | 1 << 8 | 1, R1B, SANITIZE_MS);

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
        let sectors = 3 * TRIM + 7;
        let all: Vec<(u32, u32)> = parts(sectors).collect();
        assert_eq!((all.first().unwrap().0, all.last().unwrap().1), (0, sectors as u32 - 1));
        assert!(all.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0), "{all:?}");
    }

    #[test]
    fn commands_are_those_of_the_standard() {
        let [start, end, erase] = trim(0, 9);
        assert_eq!([start.opcode, end.opcode, erase.opcode], [35, 36, 38]);
        assert_eq!([start.argument, end.argument, erase.argument], [0, 9, 1]);
        assert_eq!((START.opcode, START.argument), (6, 0x03a5_0101));
    }
}
