//! The parameters that flashbench starts from, so that its users find what they know.

use flashscope_model::plan::{Align, Fat, Interval, OpenAu, Program, Scatter};
use flashscope_model::{Direction, Order};
use flashscope_units::Bytes;

/// `--blocksize`.
pub const BLOCK: Bytes = Bytes::kib(16);
/// `--erasesize`.
pub const ERASE: Bytes = Bytes::mib(4);
/// `--count`: tries of which the minimum counts, and the places of [`interval`].
pub const COUNT: u32 = 8;
/// Positions per alignment.
pub const PLACES: u32 = 7;
/// Positions per alignment in the published write-align log.
pub const WRITE_PLACES: u32 = 8;
/// Size of an access in blocks in the published write-align log.
pub const WRITE_ACCESS: u32 = 2;
/// `--fat-nr`.
pub const FAT_UNITS: u32 = 6;
/// Where [`open_au`] and [`program`] start: clear of the file allocation table's area.
pub const WRITE_OFFSET: Bytes = Bytes::mib(16);
/// Positions of [`scatter`] as a power of two (flashbench takes 8 to 16).
pub const SCATTER_ORDER: u32 = 9;
/// Sizes of [`interval`]: 512 B to 2 MiB (flashbench measures nothing unless it is told how many).
pub const INTERVAL_ORDER: u32 = 13;

/// `-a`.
pub const fn align(block: Bytes) -> Align {
    Align {
        direction: Direction::Read,
        block,
        access: 1,
        tries: COUNT,
        places: PLACES,
        offset: Bytes::ZERO,
        largest: None,
    }
}

/// The private write variant of `-a`, as its author described the published log.
pub const fn write_align(block: Bytes) -> Align {
    Align { direction: Direction::Write, access: WRITE_ACCESS, places: WRITE_PLACES, ..align(block) }
}

/// `-O --open-au-nr=count`.
pub const fn open_au(count: u32, order: Order) -> OpenAu {
    OpenAu { count, order, erase: ERASE, block: BLOCK, offset: WRITE_OFFSET }
}

/// `-f`.
pub const fn fat(order: Order) -> Fat {
    Fat { count: FAT_UNITS, order, erase: ERASE, block: BLOCK, offset: Bytes::ZERO }
}

/// `-s`.
pub const fn scatter(block: Bytes) -> Scatter {
    Scatter { order: SCATTER_ORDER, span: 1, block, tries: COUNT, offset: Bytes::ZERO }
}

/// `-i`.
pub const fn interval() -> Interval {
    Interval { order: INTERVAL_ORDER, places: COUNT, offset: Bytes::ZERO }
}

/// `-p`.
pub const fn program() -> Program {
    Program { region: Bytes::mib(4), offset: WRITE_OFFSET, largest: Bytes::mib(2), smallest: Bytes::SECTOR }
}
