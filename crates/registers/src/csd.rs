//! Card-specific data: capacity, speed and erase of the classic interface.

use crate::bits::{Family, Register};
use crate::field::{MMC_TENTHS, TENTHS};
use flashscope_units::{ByteRate, Bytes};

/// A decoded CSD.
#[derive(Clone, Debug, PartialEq)]
pub struct Csd {
    /// The raw `CSD_STRUCTURE`: on SD 0 is standard, 1 high and 2 ultra capacity; on eMMC 3 says "see EXT_CSD".
    pub structure: u8,
    /// Capacity; `None` for parts that state it elsewhere (eMMC above 2 GiB).
    pub capacity: Option<Bytes>,
    /// Largest rate of one data line in default mode, in bits per second over eight.
    pub line_rate: Option<ByteRate>,
    /// Command classes, one bit each.
    pub command_classes: u16,
    /// Whether single blocks can be erased (SD).
    pub erase_single_blocks: Option<bool>,
    /// The unit of erase: `SECTOR_SIZE` in write blocks on SD, the erase group on MMC. High-capacity cards state
    /// a fixed 64 KiB that means nothing (their AU_SIZE is in the SD status).
    pub erase_group: EraseGroup,
    /// Write-protected for good.
    pub permanent_write_protect: bool,
    /// Write-protected until told otherwise.
    pub temporary_write_protect: bool,
}

/// What a CSD says of its erase unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EraseGroup {
    /// Its size.
    pub size: Bytes,
    /// Whether the specification fixes the value for this kind of card, so that it says nothing.
    pub fixed: bool,
}

impl Csd {
    /// Decodes the 32 hexadecimal digits of sysfs `csd`; `None` where they are not that.
    pub fn parse(family: Family, hex: &str) -> Option<Csd> {
        let register = Register::<16>::parse(hex)?;
        let structure = register.bits(127, 126) as u8;
        Some(Csd {
            structure,
            capacity: capacity(family, structure, &register),
            line_rate: line_rate(family, register.bits(103, 96) as u8),
            command_classes: register.bits(95, 84) as u16,
            erase_single_blocks: (family == Family::Sd).then(|| register.bit(46)),
            erase_group: erase_group(family, structure, &register),
            permanent_write_protect: register.bit(13),
            temporary_write_protect: register.bit(12),
        })
    }
}

/// SD Physical Layer 5.3.2, 5.3.3 and 5.3.4; JESD84-B51 7.3.
fn capacity(family: Family, structure: u8, register: &Register<16>) -> Option<Bytes> {
    match (family, structure) {
        (Family::Sd, 1) => Some(Bytes::kib(512) * (u64::from(register.bits(69, 48)) + 1)),
        (Family::Sd, 2) => Some(Bytes::kib(512) * (u64::from(register.bits(75, 48)) + 1)),
        // An eMMC part above 2 GiB sets all bits of C_SIZE and gives its size in EXT_CSD.
        (Family::Mmc, _) if register.bits(73, 62) == 0xfff => None,
        (Family::Sd, 0) | (Family::Mmc, _) => {
            let blocks = u64::from(register.bits(73, 62)) + 1;
            let shift = register.bits(49, 47) + 2 + register.bits(83, 80);
            Some(Bytes(blocks << shift))
        }
        _ => None,
    }
}

/// `TRAN_SPEED`: a unit and a factor in tenths, which differ a little between SD and MMC.
fn line_rate(family: Family, code: u8) -> Option<ByteRate> {
    let tenths = match family {
        Family::Sd => TENTHS,
        Family::Mmc => MMC_TENTHS,
    }[usize::from(code >> 3 & 0xf)];
    let unit = 10_u32.checked_pow(u32::from(code & 7)).filter(|_| code & 7 <= 3)?;
    let bits_per_s = 1e5 * f64::from(unit) * f64::from(tenths) / 10.0;
    (tenths != 0).then_some(ByteRate(bits_per_s / 8.0))
}

fn erase_group(family: Family, structure: u8, register: &Register<16>) -> EraseGroup {
    let write_block = 1_u64 << register.bits(25, 22);
    match family {
        Family::Sd => {
            let blocks = u64::from(register.bits(45, 39)) + 1;
            EraseGroup { size: Bytes(blocks * write_block), fixed: structure != 0 }
        }
        Family::Mmc => {
            let blocks = (u64::from(register.bits(46, 42)) + 1) * (u64::from(register.bits(41, 37)) + 1);
            EraseGroup { size: Bytes(blocks * write_block), fixed: false }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_high_capacity_card() {
        let csd = Csd::parse(Family::Sd, "400e00325b5900003bdd7f800a400000").unwrap();
        assert_eq!(csd.structure, 1);
        assert_eq!(csd.capacity, Some(Bytes(8_035_237_888)));
        assert_eq!(csd.line_rate, Some(ByteRate(25e6 / 8.0)));
        assert_eq!(csd.erase_group, EraseGroup { size: Bytes::kib(64), fixed: true });
        assert_eq!(csd.command_classes, 0x5b5);
        assert!(!csd.permanent_write_protect && !csd.temporary_write_protect);
    }

    /// A 2 GB card of the first structure: (3787 + 1) × 2^(7+2) × 2^10 bytes.
    #[test]
    fn a_standard_capacity_card() {
        let csd = Csd::parse(Family::Sd, "002600325f5a83b2edb7ff9f96400000").unwrap();
        assert_eq!(csd.structure, 0);
        assert_eq!(csd.capacity, Some(Bytes(3788 << 19)));
        assert_eq!(csd.erase_single_blocks, Some(true));
    }

    #[test]
    fn an_emmc_part_says_its_size_elsewhere() {
        let csd = Csd::parse(Family::Mmc, "d02701320f5903fff6dbffef8e40400d").unwrap();
        assert_eq!((csd.structure, csd.capacity), (3, None));
        assert_eq!(csd.line_rate, Some(ByteRate(26e6 / 8.0)));
    }
}
