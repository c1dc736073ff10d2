//! Who the manufacturer numbers belong to, as seen on real parts. Neither the SD Association nor JEDEC publishes
//! the list, and cards lie: a name here is a claim, and nothing is inferred from it.

use crate::bits::Family;

pub(super) fn name(family: Family, id: u8) -> Option<&'static str> {
    let table = match family {
        Family::Sd => SD,
        Family::Mmc => MMC,
    };
    table.iter().find(|(known, _)| *known == id).map(|(_, name)| *name)
}

/// Manufacturers of SD cards by their number.
const SD: &[(u8, &str)] = &[
    (0x01, "Panasonic"),
    (0x02, "Toshiba/Kioxia"),
    (0x03, "SanDisk"),
    (0x09, "ATP"),
    (0x13, "KingMax"),
    (0x1b, "Samsung"),
    (0x1d, "ADATA"),
    (0x27, "Phison"),
    (0x28, "Lexar"),
    (0x31, "Silicon Power"),
    (0x41, "Kingston"),
    (0x5d, "Swissbit"),
    (0x6f, "STMicroelectronics"),
    (0x74, "Transcend"),
    (0x76, "Patriot"),
    (0x82, "Sony"),
    (0x9c, "Angelbird/Hoodman"),
    (0x9f, "Kingston"),
    (0xad, "Longsys/Lexar"),
];

/// Manufacturers of eMMC and MMC by their number.
const MMC: &[(u8, &str)] = &[
    (0x02, "SanDisk"),
    (0x03, "Toshiba"),
    (0x11, "Toshiba/Kioxia"),
    (0x13, "Micron"),
    (0x15, "Samsung"),
    (0x32, "Phison"),
    (0x45, "SanDisk/Western Digital"),
    (0x70, "Kingston"),
    (0x88, "Longsys/Foresee"),
    (0x90, "SK hynix"),
    (0x9b, "YMTC"),
    (0xce, "Samsung"),
    (0xd6, "Longsys/Foresee"),
    (0xf4, "Biwin"),
    (0xfe, "Micron"),
];
