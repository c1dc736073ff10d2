//! Page-mapped drives: cheap sticks to SATA disks. NAND and link figures are those of docs/devices.md.

use super::chance::Chance;
use flashscope_units::{Bytes, Nanos};

/// A page-mapped drive.
pub(super) struct Drive {
    pub(super) kind: &'static str,
    pub(super) capacity: Bytes,
    pub(super) command: Nanos,
    pub(super) bytes_per_s: f64,
    pub(super) max_request: Bytes,
    pub(super) channels: u32,
    pub(super) dies_per_channel: u32,
    pub(super) planes: u32,
    pub(super) page: Bytes,
    pub(super) pages_per_block: u32,
    pub(super) blocks_per_plane: u32,
    pub(super) bad_blocks: u32,
    pub(super) bits_per_cell: u32,
    /// Speed of a channel.
    pub(super) bus_bytes_per_s: f64,
    /// tR of each kind of page, in the order in which they follow each other.
    pub(super) read: Vec<Nanos>,
    pub(super) multi_plane_read: Nanos,
    pub(super) program: Nanos,
    pub(super) erase: Nanos,
    pub(super) processing: Nanos,
    pub(super) issue: Nanos,
    pub(super) buffer: Bytes,
    pub(super) slc: Slc,
    pub(super) foreground_below: u32,
    pub(super) map_reach: Option<Bytes>,
    pub(super) blank: bool,
}

/// The cache of cells that hold one bit; counts are superblocks.
#[derive(Clone, Copy)]
pub(super) enum Slc {
    None,
    Static(u32),
    Dynamic(u32),
}

/// Fewer superblocks for the data than this make no sensible drive.
const LEAST_SUPERBLOCKS: u64 = 40;

pub(super) fn draw(chance: &mut Chance) -> Drive {
    draw_between(chance, Bytes::gib(8), Bytes::gib(256))
}

/// The same of a capacity between these.
pub(super) fn draw_between(chance: &mut Chance, least: Bytes, most: Bytes) -> Drive {
    let capacity = chance.size(least, most, Bytes::mib(1));
    // Kind, command, link.
    let (kind, command, bytes_per_s) = chance.weighted(&[
        (0.35, ("usb", 190.0, 38e6)),
        (0.2, ("usb", 90.0, 400e6)),
        (0.35, ("scsi", 25.0, 545e6)),
        (0.1, ("emmc", 80.0, 180e6)),
    ]);
    let bits_per_cell = chance.weighted(&[(0.1, 1), (0.25, 2), (0.55, 3), (0.1, 4)]);
    let (read, program) = match bits_per_cell {
        1 => (chance.micros(25.0, 40.0), chance.micros(200.0, 800.0)),
        2 => (chance.micros(45.0, 65.0), chance.micros(850.0, 2300.0)),
        3 => (chance.micros(55.0, 105.0), chance.micros(1200.0, 3000.0)),
        _ => (chance.micros(85.0, 140.0), chance.micros(2000.0, 3000.0)),
    };
    let page = chance.weighted(&[(0.15, Bytes::kib(4)), (0.25, Bytes::kib(8)), (0.6, Bytes::kib(16))]);
    let channels = chance.weighted(&[(0.4, 1), (0.3, 2), (0.2, 4), (0.1, 8)]);
    let dies_per_channel = chance.weighted(&[(0.5, 1), (0.35, 2), (0.15, 4)]);
    let planes = chance.weighted(&[(0.3, 1), (0.4, 2), (0.3, 4)]);
    let row = page * u64::from(channels * dies_per_channel * planes);
    // Blocks get smaller where a superblock would be too large a part of the drive; whole rows at every bit count.
    let most = (capacity / LEAST_SUPERBLOCKS / row).clamp(12, 2304) as u32;
    let pages_per_block = (chance.count(128, 1536).min(most) / 12).max(1) * 12;
    let superblock = row * u64::from(pages_per_block);
    let data = capacity.get().div_ceil(superblock.get()) as u32;
    let (foreground_below, bad_blocks) = (chance.whole(2, 4), chance.whole(0, 3));
    let slc = match chance.weighted(&[(0.3, 0), (0.3, 1), (0.4, 2)]) {
        0 => Slc::None,
        1 => Slc::Static(chance.whole(1, 4)),
        _ => Slc::Dynamic(chance.whole(2, 24)),
    };
    let spare = (f64::from(data) * chance.between(0.07, 0.28)) as u32;
    let mut drive = Drive {
        kind,
        capacity,
        command: super::chance::micros(command),
        bytes_per_s,
        max_request: chance.any(&[Bytes::kib(128), Bytes::kib(512)]),
        channels,
        dies_per_channel,
        planes,
        page,
        pages_per_block,
        blocks_per_plane: data + spare.max(foreground_below + bad_blocks + 8),
        bad_blocks,
        bits_per_cell,
        bus_bytes_per_s: FAST_BUS,
        read: vec![read],
        multi_plane_read: if chance.happens(0.8) { chance.micros(5.0, 20.0) } else { Nanos::ZERO },
        program,
        erase: chance.micros(3000.0, 15_000.0),
        processing: chance.micros(5.0, 40.0),
        issue: chance.micros(1.0, 5.0),
        buffer: Bytes::kib(chance.any(&[512, 1024, 4096, 16384])),
        slc,
        foreground_below,
        map_reach: None,
        blank: chance.happens(0.2),
    };
    if chance.happens(0.6) {
        drive.read = kinds_of_pages(chance, read, bits_per_cell);
    }
    if chance.happens(0.35) {
        drive.map_reach = Some(chance.size(Bytes::mib(128), Bytes::gib(32), MAP_PAGE_COVERS).min(capacity));
    }
    drive
}

/// A bus that hides behind everything else: that of a drive of 64 layers.
const FAST_BUS: f64 = 667e6;

/// Buses are from this slow (those of flash of two bits per cell) to this fast, in bytes per second.
const BUSES: (f64, f64) = (100e6, 800e6);

/// How fast the channels of a drive are, to a tenth of a megabyte per second.
pub(super) fn bus(chance: &mut Chance) -> f64 {
    (chance.ratio(BUSES.0, BUSES.1) / 1e5).round() * 1e5
}

/// What one page of the map stands for: 4 KiB of entries of four bytes, each for 4 KiB.
const MAP_PAGE_COVERS: Bytes = Bytes::mib(4);

/// Pages that share their cells: the first kind is read fastest, the last one takes up to twice as long.
fn kinds_of_pages(chance: &mut Chance, mean: Nanos, bits: u32) -> Vec<Nanos> {
    let spread = chance.between(0.25, 0.7);
    let times = (0..bits).map(|kind| {
        let place = if bits > 1 { f64::from(kind) / f64::from(bits - 1) - 0.5 } else { 0.0 };
        super::chance::micros(mean.as_f64() * (1.0 + spread * place) / 1e3)
    });
    times.collect()
}

impl Drive {
    pub(super) fn title(&self) -> String {
        format!("page-mapped {} of {}, page {}", self.kind, self.capacity, self.page)
    }
}
