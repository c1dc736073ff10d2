//! Times against what the parameters of the small drive add up to.

use super::*;

/// Command and processing.
const FRONT: u64 = 6_000;
/// A unit over the bus, and over the link.
const BUS: u64 = 4_096;
const WIRE: u64 = 2_048;

const CAPACITY: Bytes = Bytes(112 << 20);

fn filled(params: &PageMapParams) -> PageMap {
    let mut drive = drive(params, CAPACITY);
    drive.fill();
    drive
}

/// How long one read takes on a drive that does nothing else.
fn read_time(drive: &PageMap, start: u64, length: u64) -> u64 {
    drive.clone().read(Instant::ORIGIN, Bytes(start), Bytes(length)).0
}

/// Writes `length` from `start` on in order, 128 KiB at a time, each when the one before is done.
fn write_through(drive: &mut PageMap, mut now: Instant, start: Bytes, length: Bytes) -> Instant {
    let block = Bytes::kib(128);
    for index in 0..length / block {
        now = drive.write(now, start + block * index, block, false);
    }
    now
}

#[test]
fn a_read_is_the_sum_of_its_parts() {
    let drive = filled(&small(20));
    assert_eq!(read_time(&drive, 0, 4096), FRONT + 50_000 + BUS + WIRE);
    assert_eq!(
        read_time(&drive, 1024, 512),
        FRONT + 50_000 + BUS + 256,
        "the flash moves whole units, the link what was asked for"
    );
    let row = FRONT + 60_000 + 8 * BUS + 8 * WIRE;
    assert_eq!(read_time(&drive, 0, 32 << 10), row, "two planes are read together");
    // Two rows on two channels: the second comes in while the first goes out, so only its link time is added.
    assert_eq!(read_time(&drive, 0, 64 << 10), row + 8 * WIRE);
}

#[test]
fn pages_show_and_superblocks_do_not() {
    let drive = filled(&small(20));
    let straddle = |edge: u64| read_time(&drive, edge - 4096, 8192);
    let within = read_time(&drive, 4096, 8192);
    assert_eq!(straddle(16 << 10), within + 10_000, "an edge between planes");
    let rows = straddle(32 << 10);
    for edge in [3 << 15, 1 << 20, 8 << 20, 24 << 20] {
        assert_eq!(straddle(edge), rows, "the edge at {edge} is like any between rows");
    }
}

#[test]
fn unwritten_and_discarded_places_do_not_touch_the_flash() {
    let mut blank = drive(&small(20), CAPACITY);
    blank.flash.trace = Some(Vec::new());
    assert_eq!(blank.read(Instant::ORIGIN, Bytes::ZERO, Bytes::kib(64)).0, FRONT + 16 * WIRE);
    assert_eq!(blank.flash.trace.as_deref(), Some([].as_slice()));
    let mut drive = filled(&small(20));
    let at = drive.discard(Instant::ORIGIN, Bytes(2048), Bytes::kib(64));
    assert_eq!(drive.mapped_bytes(Bytes::ZERO, Bytes::kib(64)), Bytes(4096), "units discarded in part stay");
    let done = drive.read(at, Bytes::kib(4), Bytes::kib(4));
    assert_eq!(done - at, Nanos(FRONT + WIRE));
    drive.check_all().unwrap();
}

#[test]
fn reads_of_a_queue_overlap_on_dies_and_take_turns_on_one() {
    let at_once = |stride: u64| {
        let mut drive = filled(&small(20));
        let times = (0..4).map(|i| drive.read(Instant::ORIGIN, Bytes(i * stride), Bytes::kib(4)).0);
        times.max().unwrap()
    };
    // Rows of 32 KiB go around four dies: all sense together, and the link carries one after the other.
    assert_eq!(at_once(32 << 10), FRONT + 50_000 + BUS + 4 * WIRE);
    assert_eq!(at_once(128 << 10), FRONT + 4 * (50_000 + BUS) + WIRE);
    // Two dies of one channel sense together, twice, and send one after the other.
    assert_eq!(at_once(64 << 10), FRONT + 2 * 50_000 + 3 * BUS + WIRE);
}

#[test]
fn the_buffer_takes_a_burst_and_then_the_dies_set_the_pace() {
    let mut drive = drive(&small(20), CAPACITY);
    assert_eq!(drive.write(Instant::ORIGIN, Bytes::ZERO, Bytes::kib(4), false).0, FRONT + WIRE);
    let start = Instant(1_000_000_000);
    let half = write_through(&mut drive, start, Bytes::ZERO, Bytes::kib(896));
    assert!(half - start < Nanos::micros(1000), "within the buffer: {}", half - start);
    let begin = write_through(&mut drive, half, Bytes::mib(1), Bytes::mib(4));
    let end = write_through(&mut drive, begin, Bytes::mib(8), Bytes::mib(32));
    let rate = Bytes::mib(32).as_f64() / (end - begin).as_secs_f64();
    let dies = 4.0 * 32.0 * 1024.0 / (1_000_000.0 + 8.0 * BUS as f64) * 1e9;
    assert!((rate / dies - 1.0).abs() < 0.02, "{:.1} MB/s, the dies make {:.1}", rate / 1e6, dies / 1e6);
    let back = drive.read(end, Bytes::mib(40) - Bytes::kib(4), Bytes::kib(4));
    assert_eq!(back - end, Nanos(FRONT + WIRE), "the last write is still in memory");
}

#[test]
fn a_read_waits_for_one_program_and_not_for_the_whole_buffer() {
    let mut drive = filled(&small(20));
    let now = write_through(&mut drive, Instant::ORIGIN, Bytes::ZERO, Bytes::kib(896));
    let done = drive.read(now, Bytes::mib(64), Bytes::kib(4));
    let program = 1_000_000 + 8 * BUS;
    let wait = (done - now).get() - (FRONT + 50_000 + BUS + WIRE);
    assert!(wait > program / 4 && wait <= program + 16 * BUS, "{wait} ns");
}

#[test]
fn durable_costs_a_program_on_a_volatile_buffer_only() {
    let mut params = small(20);
    let mut volatile = drive(&params, CAPACITY);
    // A page, half of a row: it is programmed alone.
    let page = FRONT + 4 * WIRE + 4 * BUS + 1_000_000;
    assert_eq!(volatile.write(Instant::ORIGIN, Bytes::ZERO, Bytes::kib(16), true).0, page + 20_000);
    assert_eq!(volatile.counters().padded_units, 0);
    let now = Instant(10_000_000);
    volatile.write(now, Bytes::ZERO, Bytes::kib(4), true);
    assert_eq!(volatile.counters().padded_units, 3, "the rest of the page stays empty");
    let now = Instant(20_000_000);
    let written = volatile.write(now, Bytes::kib(64), Bytes::kib(16), false);
    let flushed = volatile.flush(written) - written;
    assert_eq!(flushed, Nanos(FRONT + 4 * BUS + 1_000_000 + 100_000));
    assert_eq!(volatile.flush(Instant(30_000_000)) - Instant(30_000_000), Nanos(FRONT + 100_000), "nothing to do");
    params.buffer.volatile = false;
    let mut safe = drive(&params, CAPACITY);
    let written = safe.write(Instant::ORIGIN, Bytes::ZERO, Bytes::kib(16), true);
    assert_eq!(written.0, FRONT + 4 * WIRE + 20_000);
    assert_eq!(safe.flush(written) - written, Nanos(FRONT + 100_000));
}

#[test]
fn the_slc_cache_is_fast_until_it_is_full_and_comes_back_with_idleness() {
    for slc in [SlcCache::Static { superblocks: 3 }, SlcCache::Dynamic { max_superblocks: 3, keep_free: 4 }] {
        let mut params = small(24);
        params.slc = slc;
        params.collection.background_to = 8;
        let mut drive = drive(&params, CAPACITY);
        drive.fill();
        let room = drive.slc_room();
        assert_eq!(room, Bytes::mib(12), "three superblocks at half their capacity");
        let (mut now, mut slow_from) = (Instant::ORIGIN, None);
        for mib in 0..28 {
            let done = write_through(&mut drive, now, Bytes::mib(mib), Bytes::mib(1));
            let rate = Bytes::mib(1).as_f64() / (done - now).as_secs_f64() / 1e6;
            match (slow_from, mib) {
                (None, 2..) if rate < 300.0 => slow_from = Some(mib),
                (None, 2..) => assert!((rate / 563.0 - 1.0).abs() < 0.05, "{slc:?} at {mib} MiB: {rate:.0} MB/s"),
                (Some(from), _) if mib > from + 1 => assert!(rate < 130.0, "{slc:?} at {mib} MiB: {rate:.0} MB/s"),
                _ => {}
            }
            now = done;
        }
        // The buffer hides up to its own size.
        let slow_from = slow_from.expect("the cache ends");
        assert!((12..=14).contains(&slow_from), "{slc:?}: slow from {slow_from} MiB on");
        assert_eq!(drive.slc_room(), Bytes::ZERO);
        let copied = drive.counters().copied_units;
        drive.idle(now, now + Nanos::secs(20));
        assert!(drive.counters().copied_units > copied, "folded");
        assert_eq!(drive.slc_room(), room, "{slc:?}");
        drive.check_all().unwrap();
        now += Nanos::secs(20);
        let done = write_through(&mut drive, now, Bytes::mib(50), Bytes::mib(8));
        // 15 ms of programs and two erases; without the cache 66 ms.
        assert!((done - now) < Nanos::millis(22), "{slc:?}: fast again, {}", done - now);
    }
}

/// Random writes until collection runs all the time; the time of each of the last ones.
fn dirty(drive: &mut PageMap, mut now: Instant, count: u64, random: &mut Random) -> (Instant, Vec<Nanos>) {
    let units = u64::from(drive.geometry.units);
    let times = (0..count).map(|_| {
        let begin = now;
        now = drive.write(now, Bytes(random.below(units) * 4096), Bytes::kib(4), false);
        now - begin
    });
    let times = times.collect();
    (now, times)
}

#[test]
fn collection_stalls_the_host_and_idleness_makes_up_for_it() {
    let mut params = small(20);
    params.collection.background_to = 4;
    let mut drive = filled(&params);
    let mut random = Random::new(5);
    let sum = |times: &[Nanos]| times.iter().copied().sum::<Nanos>();
    let (now, clean) = dirty(&mut drive, Instant::ORIGIN, 4_000, &mut random);
    let (now, _) = dirty(&mut drive, now, 60_000, &mut random);
    let (now, steady) = dirty(&mut drive, now, 4_000, &mut random);
    assert!(sum(&steady) > sum(&clean) * 2, "clean {}, steady {}", sum(&clean), sum(&steady));
    let until = now + Nanos::secs(60);
    drive.idle(now, until);
    assert!(drive.superblocks.free() >= 4);
    drive.check_all().unwrap();
    let (_, rested) = dirty(&mut drive, until, 2_000, &mut random);
    assert!(sum(&rested) * 3 < sum(&steady), "rested {} for half of {}", sum(&rested), sum(&steady));
}

#[test]
fn discard_spares_copies() {
    let copies = |discard: bool| {
        let mut drive = filled(&small(20));
        let mut random = Random::new(6);
        let (now, _) = dirty(&mut drive, Instant::ORIGIN, 30_000, &mut random);
        if discard {
            drive.discard(now, Bytes::mib(56), Bytes::mib(56));
        }
        let before = drive.counters().copied_units;
        let mut now = now;
        for _ in 0..30_000 {
            now = drive.write(now, Bytes(random.below(56 << 8) * 4096), Bytes::kib(4), false);
        }
        drive.check_all().unwrap();
        drive.counters().copied_units - before
    };
    let (with, without) = (copies(true), copies(false));
    assert!(with * 3 < without, "{with} copies with discard, {without} without");
}

#[test]
fn writes_of_part_of_a_unit_read_the_rest() {
    let mut drive = filled(&small(20));
    drive.flash.trace = Some(Vec::new());
    drive.write(Instant::ORIGIN, Bytes(4096 - 512), Bytes(1024), false);
    let reads = drive.flash.trace.iter().flatten().filter(|taken| !taken.channel).count();
    assert_eq!(reads, 2);
    assert_eq!(drive.counters().host_units, 2);
}

#[test]
fn a_map_in_flash_shows_beyond_its_reach() {
    let mut params = small(20);
    params.map_cache = Some(MapCacheParams { reach: Bytes::mib(16), page: Bytes::kib(4) });
    let mean = |range: Bytes| {
        let mut drive = filled(&params);
        let mut random = Random::new(1);
        let mut now = Instant::ORIGIN;
        let mut read = |drive: &mut PageMap, count: u64| {
            let begin = now;
            for _ in 0..count {
                now = drive.read(now, Bytes(random.below(range / Bytes::kib(4)) * 4096), Bytes::kib(4));
            }
            (now - begin).get() / count
        };
        read(&mut drive, 500);
        read(&mut drive, 2000)
    };
    let within = mean(Bytes::mib(16));
    assert_eq!(within, FRONT + 50_000 + BUS + WIRE);
    // Six of seven lookups miss, and a miss reads a page of the map.
    let miss = (25_000 + BUS) * 6 / 7;
    let beyond = mean(CAPACITY) - within;
    assert!(beyond.abs_diff(miss) < miss / 20, "{beyond} ns, expected {miss}");
}
