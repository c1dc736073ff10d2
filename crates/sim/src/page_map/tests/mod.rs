//! The drive against what is known of it: formulas, a naive model, its own times, and bugs planted on purpose.

mod naive;
mod oracle;
mod state;
mod timing;
mod write_amplification;

pub(super) use oracle::{Fault, Oracle};

use super::*;

/// A small drive of round numbers: 4 dies on 2 channels, 2 planes, 16 KiB pages, 4 KiB map units, 64 pages per block
/// (superblocks of 2048 units, 8 MiB), one bus byte per ns.
fn small(superblocks: u32) -> PageMapParams {
    PageMapParams {
        unit: Bytes::kib(4),
        processing: Nanos::micros(1),
        issue: Nanos::ZERO,
        full_duplex: true,
        nand: Nand {
            channels: 2,
            dies_per_channel: 2,
            planes: 2,
            page: Bytes::kib(16),
            pages_per_block: 64,
            blocks_per_plane: superblocks,
            bad_blocks: 0,
            endurance: None,
            bits_per_cell: 2,
            bus_bytes_per_s: 1e9,
            read: vec![Nanos::micros(50)],
            multi_plane_read: Nanos::micros(10),
            program: vec![Nanos::micros(1000)],
            erase: Nanos::micros(3000),
            slc_read: Nanos::micros(25),
            slc_program: Nanos::micros(200),
        },
        collection: Collection {
            policy: Policy::Greedy,
            foreground_below: 2,
            background_to: 4,
            background_after: Nanos::millis(10),
            background_valid_ratio: 0.9,
        },
        slc: SlcCache::None,
        buffer: WriteBuffer { size: Bytes::mib(1), volatile: true, write_out_after: Nanos::millis(5) },
        map_cache: None,
    }
}

fn link() -> LinkTiming {
    LinkTiming {
        command: Nanos::micros(5),
        bytes_per_s: 2e9,
        flush: Nanos::micros(100),
        durable_write: Nanos::micros(20),
    }
}

fn drive(params: &PageMapParams, capacity: Bytes) -> PageMap {
    PageMap::new(params.clone(), link(), capacity, 1).unwrap()
}

/// Numbers that look random.
struct Random {
    seed: u64,
    drawn: u64,
}

impl Random {
    fn new(seed: u64) -> Random {
        Random { seed, drawn: 0 }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.drawn += 1;
        scatter(self.seed, self.drawn) % bound
    }
}
