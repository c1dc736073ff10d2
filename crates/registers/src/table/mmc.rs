//! CID, CSD and OCR of MMC and eMMC (JESD84-B51, 7.1 to 7.3).

use super::bits;
use crate::field::Access::{Many, Once, Read};
use crate::field::Meaning::{Choice, Flags, Number, Rate, Reserved, Revision, Taac, Text, Vendor};
use crate::field::{Field, MMC_TENTHS};

const ANY: u32 = u32::MAX;

pub(super) static CID: &[Field] = &[
    bits(127, 120, "MID", Read, Number(ANY)),
    bits(119, 114, "reserved", Read, Reserved),
    bits(113, 112, "CBX", Read, Choice(&[(0, "card"), (1, "BGA"), (2, "package on package")])),
    bits(111, 104, "OID", Read, Number(ANY)),
    bits(103, 56, "PNM", Read, Text),
    bits(55, 48, "PRV", Read, Revision),
    bits(47, 16, "PSN", Read, Number(ANY)),
    bits(15, 12, "MDT_MONTH", Read, Number(12)),
    bits(11, 8, "MDT_YEAR", Read, Number(15)),
    bits(7, 1, "CRC", Read, Vendor),
    bits(0, 0, "always 1", Read, Number(1)),
];

/// Currents at the lowest voltage, in words of the standard.
pub(super) const CURRENT_MIN: &[(u32, &str)] =
    &[(0, "0.5 mA"), (1, "1 mA"), (2, "5 mA"), (3, "10 mA"), (4, "25 mA"), (5, "35 mA"), (6, "60 mA"), (7, "100 mA")];
/// Currents at the highest voltage.
pub(super) const CURRENT_MAX: &[(u32, &str)] =
    &[(0, "1 mA"), (1, "5 mA"), (2, "10 mA"), (3, "25 mA"), (4, "35 mA"), (5, "45 mA"), (6, "80 mA"), (7, "200 mA")];
/// Classes of commands, one bit each.
pub(super) const CLASSES: &[(u8, &str)] = &[
    (0, "basic"),
    (1, "stream read"),
    (2, "block read"),
    (3, "stream write"),
    (4, "block write"),
    (5, "erase"),
    (6, "write protection"),
    (7, "lock"),
    (8, "application specific"),
    (9, "I/O mode"),
    (10, "switch"),
    (11, "extension"),
];
pub(super) const LENGTHS: &[(u32, &str)] = &[
    (0, "1 B"),
    (1, "2 B"),
    (2, "4 B"),
    (3, "8 B"),
    (4, "16 B"),
    (5, "32 B"),
    (6, "64 B"),
    (7, "128 B"),
    (8, "256 B"),
    (9, "512 B"),
    (10, "1 KiB"),
    (11, "2 KiB"),
    (12, "4 KiB"),
    (15, "as EXT_CSD says"),
];
pub(super) const FACTORS: &[(u32, &str)] =
    &[(0, "1 ×"), (1, "2 ×"), (2, "4 ×"), (3, "8 ×"), (4, "16 ×"), (5, "32 ×"), (6, "64 ×"), (7, "128 ×")];
pub(super) const YES: &[(u32, &str)] = &[(0, "no"), (1, "yes")];
pub(super) const FORMATS: &[(u32, &str)] =
    &[(0, "partition table"), (1, "floppy-like, with boot sector only"), (2, "universal file format"), (3, "other")];

pub(super) static CSD: &[Field] = &[
    bits(
        127,
        126,
        "CSD_STRUCTURE",
        Read,
        Choice(&[(0, "version 1.0"), (1, "version 1.1"), (2, "version 1.2"), (3, "as EXT_CSD says")]),
    ),
    bits(
        125,
        122,
        "SPEC_VERS",
        Read,
        Choice(&[(0, "1.0 to 1.2"), (1, "1.4"), (2, "2.0 to 2.2"), (3, "3.1 to 3.31"), (4, "4.0 or later")]),
    ),
    bits(121, 120, "reserved", Read, Reserved),
    bits(119, 112, "TAAC", Read, Taac),
    bits(111, 104, "NSAC", Read, Number(255)),
    bits(103, 96, "TRAN_SPEED", Read, Rate(&MMC_TENTHS)),
    bits(95, 84, "CCC", Read, Flags(CLASSES)),
    bits(83, 80, "READ_BL_LEN", Read, Choice(LENGTHS)),
    bits(79, 79, "READ_BL_PARTIAL", Read, Choice(YES)),
    bits(78, 78, "WRITE_BLK_MISALIGN", Read, Choice(YES)),
    bits(77, 77, "READ_BLK_MISALIGN", Read, Choice(YES)),
    bits(76, 76, "DSR_IMP", Read, Choice(YES)),
    bits(75, 74, "reserved", Read, Reserved),
    bits(73, 62, "C_SIZE", Read, Number(0xfff)),
    bits(61, 59, "VDD_R_CURR_MIN", Read, Choice(CURRENT_MIN)),
    bits(58, 56, "VDD_R_CURR_MAX", Read, Choice(CURRENT_MAX)),
    bits(55, 53, "VDD_W_CURR_MIN", Read, Choice(CURRENT_MIN)),
    bits(52, 50, "VDD_W_CURR_MAX", Read, Choice(CURRENT_MAX)),
    bits(49, 47, "C_SIZE_MULT", Read, Number(7)),
    bits(46, 42, "ERASE_GRP_SIZE", Read, Number(31)),
    bits(41, 37, "ERASE_GRP_MULT", Read, Number(31)),
    bits(36, 32, "WP_GRP_SIZE", Read, Number(31)),
    bits(31, 31, "WP_GRP_ENABLE", Read, Choice(YES)),
    bits(30, 29, "DEFAULT_ECC", Read, Number(3)),
    bits(28, 26, "R2W_FACTOR", Read, Choice(FACTORS)),
    bits(25, 22, "WRITE_BL_LEN", Read, Choice(LENGTHS)),
    bits(21, 21, "WRITE_BL_PARTIAL", Read, Choice(YES)),
    bits(20, 17, "reserved", Read, Reserved),
    bits(16, 16, "CONTENT_PROT_APP", Read, Choice(YES)),
    bits(15, 15, "FILE_FORMAT_GRP", Once, Number(1)),
    bits(14, 14, "COPY", Once, Choice(YES)),
    bits(13, 13, "PERM_WRITE_PROTECT", Once, Choice(YES)),
    bits(12, 12, "TMP_WRITE_PROTECT", Many, Choice(YES)),
    bits(11, 10, "FILE_FORMAT", Once, Choice(FORMATS)),
    bits(9, 8, "ECC", Many, Choice(&[(0, "none"), (1, "BCH (542, 512)")])),
    bits(7, 1, "CRC", Many, Vendor),
    bits(0, 0, "always 1", Read, Number(1)),
];

pub(super) static OCR: &[Field] = &[
    bits(31, 31, "power-up done", Read, Choice(YES)),
    bits(30, 29, "access mode", Read, Choice(&[(0, "by bytes"), (2, "by sectors")])),
    bits(28, 24, "reserved", Read, Reserved),
    bits(23, 15, "2.7 to 3.6 V", Read, Flags(&super::sd::VOLTS)),
    bits(
        14,
        8,
        "2.0 to 2.6 V",
        Read,
        Flags(&[(0, "2.0"), (1, "2.1"), (2, "2.2"), (3, "2.3"), (4, "2.4"), (5, "2.5"), (6, "2.6")]),
    ),
    bits(7, 7, "1.70 to 1.95 V", Read, Choice(YES)),
    bits(6, 0, "reserved", Read, Reserved),
];
