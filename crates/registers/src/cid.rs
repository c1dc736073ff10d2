//! Card identification: who made it, what it is called, its serial number and its date.

use crate::bits::{Family, Register};
use crate::makers;

/// A decoded CID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cid {
    /// Manufacturer's number, given out by the SD Association or JEDEC.
    pub manufacturer: u8,
    /// Who that is, where known. Cards copy each other's numbers: a claim.
    pub manufacturer_name: Option<&'static str>,
    /// OEM or application number: two characters on SD cards (`0x5344` is `SD`), one byte on eMMC.
    pub oem: u16,
    /// The same as characters, where they print.
    pub oem_text: Option<String>,
    /// Product name, five characters on SD cards and six on eMMC, without trailing blanks.
    pub product: String,
    /// Product revision, `major.minor`.
    pub revision: (u8, u8),
    /// Serial number.
    pub serial: u32,
    /// When it was made; `None` where the month is not one.
    pub made: Option<Month>,
}

/// A month of a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month {
    /// Year.
    pub year: u16,
    /// Month, 1 to 12.
    pub month: u8,
}

impl Cid {
    /// Decodes the 32 hexadecimal digits of sysfs `cid`; `None` where they are not that. The checksum is not
    /// looked at, since many host controllers leave it out.
    pub fn parse(family: Family, hex: &str) -> Option<Cid> {
        let register = Register::<16>::parse(hex)?;
        Some(match family {
            Family::Sd => sd(&register),
            Family::Mmc => mmc(&register),
        })
    }
}

/// SD Physical Layer, 5.2.
fn sd(register: &Register<16>) -> Cid {
    let manufacturer = register.bits(127, 120) as u8;
    Cid {
        manufacturer,
        manufacturer_name: makers::name(Family::Sd, manufacturer),
        oem: register.bits(119, 104) as u16,
        oem_text: printable(&register.text(119, 104)),
        product: register.text(103, 64),
        revision: (register.bits(63, 60) as u8, register.bits(59, 56) as u8),
        serial: register.bits(55, 24),
        made: month(2000 + register.bits(19, 12) as u16, register.bits(11, 8) as u8),
    }
}

/// JESD84-B51, 7.2. The year wraps after sixteen: counted from 1997, or from 2013 by parts of version 4.41 and
/// later. No eMMC part is older than 2007, so earlier years are taken as the later round.
fn mmc(register: &Register<16>) -> Cid {
    let manufacturer = register.bits(127, 120) as u8;
    let first_round = 1997 + register.bits(11, 8) as u16;
    let year = if first_round < 2007 { first_round + 16 } else { first_round };
    Cid {
        manufacturer,
        manufacturer_name: makers::name(Family::Mmc, manufacturer),
        oem: register.bits(111, 104) as u16,
        oem_text: None,
        product: register.text(103, 56),
        revision: (register.bits(55, 52) as u8, register.bits(51, 48) as u8),
        serial: register.bits(47, 16),
        made: month(year, register.bits(15, 12) as u8),
    }
}

fn printable(text: &str) -> Option<String> {
    (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())).then(|| text.to_owned())
}

fn month(year: u16, month: u8) -> Option<Month> {
    (1..=12).contains(&month).then_some(Month { year, month })
}

impl std::fmt::Display for Month {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02}/{}", self.month, self.year)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emmc_part() {
        let cid = Cid::parse(Family::Mmc, "150100424a4e42345207a1b2c3d45a00").unwrap();
        assert_eq!(cid.manufacturer_name, Some("Samsung"));
        assert_eq!((cid.product.as_str(), cid.oem), ("BJNB4R", 0));
        assert_eq!((cid.revision, cid.serial), ((0, 7), 0xa1b2_c3d4));
        // 5 is May; 10 would be 2007 in the first round.
        assert_eq!(cid.made, Some(Month { year: 2007, month: 5 }));
    }

    #[test]
    fn an_emmc_year_of_the_second_round() {
        let cid = Cid::parse(Family::Mmc, "150100424a4e42345207a1b2c3d4a600").unwrap();
        assert_eq!(cid.made, Some(Month { year: 2019, month: 10 }));
    }

    #[test]
    fn nonsense_is_not_decoded() {
        assert_eq!(Cid::parse(Family::Sd, "0353"), None);
        assert_eq!(Cid::parse(Family::Sd, "zz534453553034478022ed3d8100db00"), None);
        let blank = Cid::parse(Family::Sd, &"0".repeat(32)).unwrap();
        assert_eq!((blank.made, blank.oem_text, blank.product.as_str()), (None, None, ""));
    }
}
