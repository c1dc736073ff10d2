//! Speed and size of the page-mapped drive: pages per second of random writes with collection running, bytes of state per
//! page, and the time of a fill in order. Prints figures; the gates are in the tests.
#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use flashscope_sim::page_map::{Collection, LinkTiming, Nand, PageMap, PageMapParams, Policy, SlcCache, WriteBuffer};
use flashscope_stats::rng::{mix, stream};
use flashscope_units::{Bytes, Instant, Nanos};
use std::time::Instant as Wall;

/// TLC as in `ssd-consumer`, with as many blocks as the capacity needs for `physical_over_user`.
fn drive(capacity: Bytes, physical_over_user: f64, policy: Policy) -> PageMap {
    let nand = Nand {
        channels: 4,
        dies_per_channel: 2,
        planes: 4,
        page: Bytes::kib(16),
        pages_per_block: 288,
        blocks_per_plane: 0,
        bad_blocks: 0,
        endurance: None,
        bits_per_cell: 3,
        bus_bytes_per_s: 667e6,
        read: vec![Nanos::micros(74)],
        multi_plane_read: Nanos::micros(14),
        program: vec![Nanos::micros(1900)],
        erase: Nanos::millis(15),
        slc_read: Nanos::micros(40),
        slc_program: Nanos::micros(250),
    };
    let superblock = nand.page.as_f64() * f64::from(nand.planes * 8 * nand.pages_per_block);
    let superblocks = (capacity.as_f64() * physical_over_user / superblock).round() as u32;
    let params = PageMapParams {
        unit: Bytes::kib(4),
        processing: Nanos::micros(8),
        issue: Nanos::micros(2),
        full_duplex: false,
        nand: Nand { blocks_per_plane: superblocks, ..nand },
        collection: Collection {
            policy,
            foreground_below: 2,
            background_to: 8,
            background_after: Nanos::millis(500),
            background_valid_ratio: 0.9,
        },
        slc: SlcCache::None,
        buffer: WriteBuffer { size: Bytes::mib(8), volatile: true, write_out_after: Nanos::millis(20) },
        map_cache: None,
    };
    let link = LinkTiming {
        command: Nanos::micros(25),
        bytes_per_s: 545e6,
        flush: Nanos::micros(20),
        durable_write: Nanos::micros(20),
    };
    match PageMap::new(params, link, capacity, 1) {
        Ok(drive) => drive,
        Err(why) => panic!("{why}"),
    }
}

/// A step of SplitMix64.
fn random(state: &mut u64) -> u64 {
    let word = mix(*state);
    *state = stream(*state, 1);
    word
}

fn random_writes(capacity: Bytes, over: f64, policy: Policy) {
    let mut drive = drive(capacity, over, policy);
    drive.fill();
    let units = capacity / Bytes::kib(4);
    let (mut state, mut now) = (1, Instant::ORIGIN);
    let mut write = |drive: &mut PageMap, count: u64| {
        for _ in 0..count {
            now = drive.write(now, Bytes(random(&mut state) % units * 4096), Bytes::kib(4), false);
        }
        now
    };
    let steady_from = write(&mut drive, 2 * units);
    let (before, wall) = (drive.counters(), Wall::now());
    let count = units.min(4_000_000);
    let end = write(&mut drive, count);
    let (after, seconds) = (drive.counters(), wall.elapsed().as_secs_f64());
    let copied = (after.copied_units - before.copied_units) as f64;
    let host = count as f64;
    println!(
        "random 4 KiB on {capacity} ({policy:?}, α {:.2}): {:.2} M host pages/s, {:.2} M with copies; WA {:.2}; \
         {:.2} B per physical page, {:.2} per logical; virtual {:.1} k IOPS",
        drive.physical_over_user(),
        host / seconds / 1e6,
        (host + copied) / seconds / 1e6,
        (host + copied) / host,
        drive.state_bytes() as f64 / drive.physical_units() as f64,
        drive.state_bytes() as f64 / units as f64,
        host / (end - steady_from).as_secs_f64() / 1e3,
    );
    let wall = Wall::now();
    let mut now = end + Nanos::secs(1);
    let begin = now;
    for _ in 0..1_000_000 {
        now = drive.read(now, Bytes(random(&mut state) % units * 4096), Bytes::kib(4));
    }
    println!(
        "random reads of the same: {:.2} M pages/s, virtual {:.1} us each",
        1.0 / wall.elapsed().as_secs_f64(),
        (now - begin).as_f64() / 1e9
    );
}

fn fill(capacity: Bytes) {
    let wall = Wall::now();
    let mut filled = drive(capacity, 1.12, Policy::Greedy);
    filled.fill();
    println!(
        "start state filled, {capacity}: {:.2} ms, {} B",
        wall.elapsed().as_secs_f64() * 1e3,
        filled.state_bytes()
    );
    let mut drive = drive(capacity, 1.12, Policy::Greedy);
    let block = Bytes::kib(512);
    let (wall, mut now) = (Wall::now(), Instant::ORIGIN);
    for index in 0..capacity / block {
        now = drive.write(now, block * index, block, false);
    }
    println!(
        "filled by the host, {capacity}: {:.1} ms, {} B, virtual {:.0} MB/s",
        wall.elapsed().as_secs_f64() * 1e3,
        drive.state_bytes(),
        capacity.as_f64() / now.since(Instant::ORIGIN).as_secs_f64() / 1e6
    );
}

fn main() {
    fill(Bytes::gib(64));
    fill(Bytes::gib(64));
    for policy in [Policy::Greedy, Policy::Fifo, Policy::CostBenefit] {
        random_writes(Bytes::gib(16), 1.3, policy);
    }
    random_writes(Bytes::gib(64), 1.15, Policy::Greedy);
}
