//! How long dependent loads take while other processors read at growing rates.

use crate::chaser::{Chaser, stretches};
use crate::session::Session;
use crate::workers::pin;
use flashscope_kernels::stream::{ALIGNMENT, Instructions, read_slowly};
use flashscope_kernels::{Buffer, Pages};
use flashscope_mem::plan;
use flashscope_mem::wire::SizeTest;
use flashscope_model::memory::{self, Loaded};
use flashscope_units::Bytes;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long readers read before the chase is timed.
const SETTLING: Duration = Duration::from_millis(20);
/// Loads of a stretch.
const LOADS: u64 = 4096;
/// Words between two looks of a reader at what it is to do.
const PIECE: usize = 1 << 15;
/// What stands for "read nothing".
const REST: i64 = -1;

/// What readers are told, and what they tell.
struct Orders {
    delay: AtomicI64,
    over: AtomicBool,
    read: AtomicU64,
}

pub(crate) fn measure(session: &mut Session, asked: SizeTest) -> anyhow::Result<()> {
    let processors = session.record.setup.processors.clone();
    let threads = session.threads().min(processors.len() as u32);
    if threads < 2 {
        session
            .note("latency under load needs two processors, one that loads memory and one that chases; there is one");
        return Ok(());
    }
    let readers = &processors[1..threads as usize];
    if readers.len() == 1 {
        session.note("one processor loads memory while the other chases: more of them would load it further");
    }
    // One stretch for the chase, and one for each reader.
    let each = Bytes(session.may_take().get() / u64::from(threads));
    let most = plan::largest(asked.most.map(Bytes), session.last_cache(), each)?;
    let cases = plan::DELAYS.len() + 1;
    let mut chaser = Chaser::new(session, most, cases);
    let pages = if session.limits.huge { memory::Pages::Huge } else { memory::Pages::Small };
    let ring = chaser.lay(pages)?;
    let orders = Orders { delay: AtomicI64::new(REST), over: AtomicBool::new(false), read: AtomicU64::new(0) };
    let time = session.time() / cases as u32;
    let outcome = std::thread::scope(|scope| {
        for processor in readers {
            let (orders, pages) = (&orders, kernel_pages(pages));
            scope.spawn(move || read(*processor, most, pages, orders));
        }
        let mut all = || {
            let delays = [None].into_iter().chain(plan::DELAYS.iter().rev().map(|delay| Some(*delay)));
            for (at, delay) in delays.enumerate() {
                if !session.progress("latency under load", at as f64 / cases as f64)? {
                    break;
                }
                orders.delay.store(delay.map_or(REST, i64::from), Ordering::Relaxed);
                std::thread::sleep(SETTLING);
                let (begun, before) = (Instant::now(), orders.read.load(Ordering::Relaxed));
                let (mut times_ns, mut loads) = (Vec::new(), 0);
                while begun.elapsed() + SETTLING < time || times_ns.is_empty() {
                    let (times, left_out) = stretches(ring, LOADS, Instant::now());
                    loads += LOADS * (times.len() as u64 + left_out);
                    times_ns.extend(times);
                }
                let bytes = orders.read.load(Ordering::Relaxed) - before + loads * ALIGNMENT as u64;
                let rate = bytes as f64 / begun.elapsed().as_secs_f64();
                session.record.loaded.push(Loaded { delay, threads: readers.len() as u32, rate, times_ns });
            }
            anyhow::Ok(())
        };
        let outcome = all();
        orders.over.store(true, Ordering::Relaxed);
        outcome
    });
    // From idle to full load, as reports have it.
    session.record.loaded.sort_by_key(|row| std::cmp::Reverse(row.delay.map_or(i64::MAX, i64::from)));
    outcome
}

fn kernel_pages(pages: memory::Pages) -> Pages {
    match pages {
        memory::Pages::Small => Pages::Small,
        memory::Pages::Huge => Pages::Huge,
    }
}

/// Reads its own stretch again and again, as fast as it is told.
fn read(processor: u32, size: Bytes, pages: Pages, orders: &Orders) {
    pin(processor);
    let Ok(mut buffer) = Buffer::new(size.get() as usize, pages) else { return };
    buffer.words_mut().fill(1);
    let set = Instructions::best();
    loop {
        for (words, numbers) in buffer.words().chunks(PIECE).zip(buffer.numbers().chunks(PIECE)) {
            let delay = orders.delay.load(Ordering::Relaxed);
            if orders.over.load(Ordering::Relaxed) {
                return;
            }
            match u32::try_from(delay) {
                Err(_) => {
                    std::thread::sleep(Duration::from_millis(1));
                    continue;
                }
                Ok(0) => drop(std::hint::black_box(set.read(numbers))),
                // Fewer lines between two looks the longer each of them takes.
                Ok(delay) => {
                    let lines = (PIECE / 8 / (1 + delay as usize / 16)).max(16);
                    for piece in words.chunks(lines * 8) {
                        read_slowly(piece, delay);
                        orders.read.fetch_add(size_of_val(piece) as u64, Ordering::Relaxed);
                        if orders.delay.load(Ordering::Relaxed) != i64::from(delay)
                            || orders.over.load(Ordering::Relaxed)
                        {
                            break;
                        }
                    }
                    continue;
                }
            }
            orders.read.fetch_add(size_of_val(words) as u64, Ordering::Relaxed);
        }
    }
}
