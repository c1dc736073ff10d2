//! The twins that there are, and what each is not held to.

use super::{Cell, Excluded, Test, Twin};
use flashscope_units::Bytes;

/// The SD card of the demo.
pub const SD_4MIB: Twin = Twin {
    model: "sd-4mib",
    log: "sd-card-4mib.txt",
    path: "fixtures/transcripts/sd-card-4mib.txt",
    excluded: &[
        Excluded {
            what: "program, random writes of 16 KiB and more",
            why: "three times faster than open-au -r at the same place, in the same order and block size, and still so in \
                  the third pass, after two random passes: what makes the difference is not in the published log",
            covers: |cell| cell.test == Test::Program && (4..7).contains(&cell.index) && cell.row >= Bytes::kib(16),
        },
        Excluded {
            what: "open-au -r, 1 unit at 4, 2 and 1 MiB, and 2 units at 4 MiB",
            why: "the first rows after the run with nine units: 1 unit takes 913, 990 and 410 ms too long in three rows, 2 \
                  units 1136 ms in one, which adds up to nine merges, perhaps left over from the run before; the model \
                  does its merges when they fall due. And 18.4 MB/s at 4 MiB is more than the ordinary units of this \
                  card write anywhere else",
            covers: |cell| {
                cell.test == Test::OpenAu
                    && cell.random
                    && ((cell.units == 1 && cell.row >= Bytes::mib(1))
                        || (cell.units == 2 && cell.row == Bytes::mib(4)))
            },
        },
    ],
};

/// The eMMC of the write-align log.
pub const EMMC_WRITE_ALIGN: Twin = Twin {
    model: "emmc-write-align",
    log: "emmc-write-align.txt",
    path: "fixtures/transcripts/emmc-write-align.txt",
    excluded: &[
        Excluded {
            what: "write-align once, at 16 and 8 KiB",
            why: "these four runs came before the log sets the kernel's page_size to 0, and where a write straddles an edge \
                  inside a stripe they scatter from 5 to 132 ms, while the later tables keep to 96 to 115 ms, which the \
                  model gives; that the kernel cut such writes differently until then is our guess",
            covers: |cell: &Cell| {
                cell.test == Test::WriteAlignOnce && (Bytes::kib(8)..=Bytes::kib(16)).contains(&cell.row)
            },
        },
        Excluded {
            what: "write-align once, on at 2 MiB in run 2 and at 256 KiB in runs 2 and 3 (1.9, 3.0 and 2.4 ms)",
            why: "two pages in less time than one page takes anywhere else in the log",
            covers: |cell: &Cell| cell.test == Test::WriteAlignOnce && cell.column == "on" && cell.measured < 3.2e6,
        },
    ],
};
