//! CID, CSD, SCR, SSR and OCR of SD cards (SD Physical Layer Simplified Specification, 4.10.2 and 5.1 to 5.6).

use super::bits;
use super::mmc::{CLASSES, CURRENT_MAX, CURRENT_MIN, FACTORS, FORMATS, LENGTHS, YES};
use crate::field::Access::{Many, Once, Read};
use crate::field::Meaning::{Choice, Flags, Number, Rate, Reserved, Revision, Taac, Text, Times, Vendor};
use crate::field::{Field, TENTHS, Unit};

const ANY: u32 = u32::MAX;

pub(super) static CID: &[Field] = &[
    bits(127, 120, "MID", Read, Number(ANY)),
    bits(119, 104, "OID", Read, Text),
    bits(103, 64, "PNM", Read, Text),
    bits(63, 56, "PRV", Read, Revision),
    bits(55, 24, "PSN", Read, Number(ANY)),
    bits(23, 20, "reserved", Read, Reserved),
    bits(19, 12, "MDT_YEAR", Read, Number(255)),
    bits(11, 8, "MDT_MONTH", Read, Number(12)),
    bits(7, 1, "CRC", Read, Vendor),
    bits(0, 0, "always 1", Read, Number(1)),
];

const STRUCTURE: Field = bits(
    127,
    126,
    "CSD_STRUCTURE",
    Read,
    Choice(&[(0, "version 1.0 (SDSC)"), (1, "version 2.0 (SDHC, SDXC)"), (2, "version 3.0 (SDUC)")]),
);

/// What all versions have in common above the size, …
macro_rules! above {
    ($($size:expr),+ $(,)?) => {
        &[
            STRUCTURE,
            bits(125, 120, "reserved", Read, Reserved),
            bits(119, 112, "TAAC", Read, Taac),
            bits(111, 104, "NSAC", Read, Number(255)),
            bits(103, 96, "TRAN_SPEED", Read, Rate(&TENTHS)),
            bits(95, 84, "CCC", Read, Flags(CLASSES)),
            bits(83, 80, "READ_BL_LEN", Read, Choice(LENGTHS)),
            bits(79, 79, "READ_BL_PARTIAL", Read, Choice(YES)),
            bits(78, 78, "WRITE_BLK_MISALIGN", Read, Choice(YES)),
            bits(77, 77, "READ_BLK_MISALIGN", Read, Choice(YES)),
            bits(76, 76, "DSR_IMP", Read, Choice(YES)),
            $($size,)+
            bits(46, 46, "ERASE_BLK_EN", Read, Choice(YES)),
            bits(45, 39, "SECTOR_SIZE", Read, Number(127)),
            bits(38, 32, "WP_GRP_SIZE", Read, Number(127)),
            bits(31, 31, "WP_GRP_ENABLE", Read, Choice(YES)),
            bits(30, 29, "reserved", Read, Reserved),
            bits(28, 26, "R2W_FACTOR", Read, Choice(FACTORS)),
            bits(25, 22, "WRITE_BL_LEN", Read, Choice(LENGTHS)),
            bits(21, 21, "WRITE_BL_PARTIAL", Read, Choice(YES)),
            bits(20, 16, "reserved", Read, Reserved),
            bits(15, 15, "FILE_FORMAT_GRP", Once, Number(1)),
            bits(14, 14, "COPY", Once, Choice(YES)),
            bits(13, 13, "PERM_WRITE_PROTECT", Once, Choice(YES)),
            bits(12, 12, "TMP_WRITE_PROTECT", Many, Choice(YES)),
            bits(11, 10, "FILE_FORMAT", Once, Choice(FORMATS)),
            bits(9, 8, "reserved", Read, Reserved),
            bits(7, 1, "CRC", Many, Vendor),
            bits(0, 0, "always 1", Read, Number(1)),
        ]
    };
}

pub(super) static CSD_1: &[Field] = above![
    bits(75, 74, "reserved", Read, Reserved),
    bits(73, 62, "C_SIZE", Read, Number(0xfff)),
    bits(61, 59, "VDD_R_CURR_MIN", Read, Choice(CURRENT_MIN)),
    bits(58, 56, "VDD_R_CURR_MAX", Read, Choice(CURRENT_MAX)),
    bits(55, 53, "VDD_W_CURR_MIN", Read, Choice(CURRENT_MIN)),
    bits(52, 50, "VDD_W_CURR_MAX", Read, Choice(CURRENT_MAX)),
    bits(49, 47, "C_SIZE_MULT", Read, Number(7)),
];

pub(super) static CSD_2: &[Field] = above![
    bits(75, 70, "reserved", Read, Reserved),
    bits(69, 48, "C_SIZE", Read, Number(0x3f_ffff)),
    bits(47, 47, "reserved", Read, Reserved),
];

pub(super) static CSD_3: &[Field] =
    above![bits(75, 48, "C_SIZE", Read, Number(0xfff_ffff)), bits(47, 47, "reserved", Read, Reserved),];

pub(super) static SCR: &[Field] = &[
    bits(63, 60, "SCR_STRUCTURE", Read, Choice(&[(0, "version 1.0")])),
    bits(59, 56, "SD_SPEC", Read, Choice(&[(0, "1.0 or 1.01"), (1, "1.10"), (2, "2.00 or later")])),
    bits(55, 55, "DATA_STAT_AFTER_ERASE", Read, Choice(&[(0, "erased bits read 0"), (1, "erased bits read 1")])),
    bits(
        54,
        52,
        "SD_SECURITY",
        Read,
        Choice(&[
            (0, "none"),
            (1, "not used"),
            (2, "version 1.01 (SDSC)"),
            (3, "version 2.00 (SDHC)"),
            (4, "version 3.xx (SDXC)"),
        ]),
    ),
    bits(51, 48, "SD_BUS_WIDTHS", Read, Flags(&[(0, "1 line"), (2, "4 lines")])),
    bits(47, 47, "SD_SPEC3", Read, Choice(YES)),
    bits(46, 43, "EX_SECURITY", Read, Number(15)),
    bits(42, 42, "SD_SPEC4", Read, Choice(YES)),
    bits(
        41,
        38,
        "SD_SPECX",
        Read,
        Choice(&[(0, "none"), (1, "5.xx"), (2, "6.xx"), (3, "7.xx"), (4, "8.xx"), (5, "9.xx")]),
    ),
    bits(37, 36, "reserved", Read, Reserved),
    bits(
        35,
        32,
        "CMD_SUPPORT",
        Read,
        Flags(&[
            (0, "speed class control (CMD20)"),
            (1, "block count (CMD23)"),
            (2, "extension registers, one (CMD48/49)"),
            (3, "extension registers, several (CMD58/59)"),
        ]),
    ),
    bits(31, 0, "maker's", Read, Vendor),
];

const AU: &[(u32, &str)] = &[
    (0, "not said"),
    (1, "16 KiB"),
    (2, "32 KiB"),
    (3, "64 KiB"),
    (4, "128 KiB"),
    (5, "256 KiB"),
    (6, "512 KiB"),
    (7, "1 MiB"),
    (8, "2 MiB"),
    (9, "4 MiB"),
    (10, "8 MiB"),
    (11, "12 MiB"),
    (12, "16 MiB"),
    (13, "24 MiB"),
    (14, "32 MiB"),
    (15, "64 MiB"),
];

pub(super) static SSR: &[Field] = &[
    bits(511, 510, "DAT_BUS_WIDTH", Read, Choice(&[(0, "1 line"), (2, "4 lines")])),
    bits(509, 509, "SECURED_MODE", Read, Choice(YES)),
    bits(508, 496, "reserved", Read, Reserved),
    bits(495, 480, "SD_CARD_TYPE", Read, Choice(&[(0, "regular"), (1, "ROM"), (2, "OTP")])),
    bits(479, 448, "SIZE_OF_PROTECTED_AREA", Read, Number(ANY)),
    bits(
        447,
        440,
        "SPEED_CLASS",
        Read,
        Choice(&[(0, "class 0"), (1, "class 2"), (2, "class 4"), (3, "class 6"), (4, "class 10")]),
    ),
    bits(
        439,
        432,
        "PERFORMANCE_MOVE",
        Read,
        Times { factor: 1_000_000, unit: Unit::BytesPerSecond, most: 254, zero: "sequential only" },
    ),
    bits(431, 428, "AU_SIZE", Read, Choice(AU)),
    bits(427, 424, "reserved", Read, Reserved),
    bits(423, 408, "ERASE_SIZE", Read, Number(0xffff)),
    bits(
        407,
        402,
        "ERASE_TIMEOUT",
        Read,
        Times { factor: 1_000_000_000, unit: Unit::Nanos, most: 63, zero: "not said" },
    ),
    bits(401, 400, "ERASE_OFFSET", Read, Times { factor: 1_000_000_000, unit: Unit::Nanos, most: 3, zero: "0 s" }),
    bits(
        399,
        396,
        "UHS_SPEED_GRADE",
        Read,
        Choice(&[(0, "below 10 MB/s"), (1, "10 MB/s and above (U1)"), (3, "30 MB/s and above (U3)")]),
    ),
    bits(395, 392, "UHS_AU_SIZE", Read, Choice(AU)),
    bits(
        391,
        384,
        "VIDEO_SPEED_CLASS",
        Read,
        Choice(&[(0, "none"), (6, "V6"), (10, "V10"), (30, "V30"), (60, "V60"), (90, "V90")]),
    ),
    bits(383, 378, "reserved", Read, Reserved),
    bits(377, 368, "VSC_AU_SIZE", Read, Times { factor: 1 << 20, unit: Unit::Bytes, most: 1023, zero: "not said" }),
    bits(367, 346, "SUS_ADDR", Read, Number(ANY)),
    bits(345, 340, "reserved", Read, Reserved),
    bits(339, 336, "APP_PERF_CLASS", Read, Choice(&[(0, "none"), (1, "A1"), (2, "A2")])),
    bits(
        335,
        328,
        "PERFORMANCE_ENHANCE",
        Read,
        Flags(&[
            (0, "maintenance by the card"),
            (1, "maintenance by the host"),
            (2, "cache"),
            (3, "command queue of 2"),
            (4, "command queue of 4"),
            (5, "8"),
            (6, "16"),
            (7, "32"),
        ]),
    ),
    bits(327, 314, "reserved", Read, Reserved),
    bits(313, 313, "DISCARD_SUPPORT", Read, Choice(YES)),
    bits(312, 312, "FULE_SUPPORT", Read, Choice(YES)),
    bits(311, 0, "maker's", Read, Vendor),
];

/// Voltages from 2.7 V on, in tenths.
pub(super) const VOLTS: [(u8, &str); 9] =
    [(0, "2.7"), (1, "2.8"), (2, "2.9"), (3, "3.0"), (4, "3.1"), (5, "3.2"), (6, "3.3"), (7, "3.4"), (8, "3.5")];

pub(super) static OCR: &[Field] = &[
    bits(31, 31, "power-up done", Read, Choice(YES)),
    bits(30, 30, "CCS", Read, Choice(&[(0, "by bytes (SDSC)"), (1, "by sectors (SDHC, SDXC)")])),
    bits(29, 29, "UHS-II", Read, Choice(YES)),
    bits(28, 28, "reserved", Read, Reserved),
    bits(27, 27, "CO2T (over 2 TB)", Read, Choice(YES)),
    bits(26, 25, "reserved", Read, Reserved),
    bits(24, 24, "S18A (1.8 V)", Read, Choice(YES)),
    bits(23, 15, "2.7 to 3.6 V", Read, Flags(&VOLTS)),
    bits(14, 8, "reserved", Read, Reserved),
    bits(7, 7, "low voltage", Read, Choice(YES)),
    bits(6, 0, "reserved", Read, Reserved),
];
