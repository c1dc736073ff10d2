//! How long dependent loads take while other processors read at growing rates.

use crate::chaser::{Chaser, stretches};
use crate::session::Session;
use crate::workers::{Watch, pin};
use flashscope_kernels::stream::{ALIGNMENT, Instructions, read_slowly};
use flashscope_kernels::{Buffer, Pages};
use flashscope_mem::plan;
use flashscope_mem::wire::SizeTest;
use flashscope_model::memory::{self, Loaded};
use flashscope_units::Bytes;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

/// How long readers read before the chase is timed.
const SETTLING: Duration = Duration::from_millis(20);
/// Loads of a stretch.
const LOADS: u64 = 4096;
/// Words between two looks of a reader at what it is to do.
const PIECE: usize = 1 << 15;
/// What stands for "read nothing".
const REST: i64 = -1;
/// A slice of a reader's time: many reads of the clock apart, and short against how long others take a processor away.
const SLICE: Duration = Duration::from_millis(1);

/// What readers are told, and what they tell.
struct Orders {
    delay: AtomicI64,
    over: AtomicBool,
    /// Of each reader since the load was last changed.
    read: Vec<Mutex<Read>>,
}

/// Bytes that a reader read, and in how long.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Amount {
    bytes: u64,
    time: Duration,
}

impl Amount {
    fn rate(&self) -> f64 {
        if self.time.is_zero() { 0.0 } else { self.bytes as f64 / self.time.as_secs_f64() }
    }
}

/// What a reader read, by slices of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Read {
    /// In those that it ran throughout.
    whole: Amount,
    /// In the others, and how many these are.
    disturbed: Amount,
    slices: u64,
}

impl Read {
    fn add(&mut self, bytes: u64, (time, whole): (Duration, bool)) {
        let amount = if whole { &mut self.whole } else { &mut self.disturbed };
        amount.bytes += bytes;
        amount.time += time;
        self.slices += u64::from(!whole);
    }

    /// Bytes per second while it ran, and how many slices were left out. Where it ran throughout none, all are kept.
    fn rate(&self) -> (f64, u64) {
        match self.whole.time.is_zero() {
            true => (self.disturbed.rate(), 0),
            false => (self.whole.rate(), self.slices),
        }
    }
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
    let tallies = readers.iter().map(|_| Mutex::default()).collect();
    let orders = Orders { delay: AtomicI64::new(REST), over: AtomicBool::new(false), read: tallies };
    let time = session.time() / cases as u32;
    let outcome = std::thread::scope(|scope| {
        for (processor, tally) in readers.iter().zip(&orders.read) {
            let (orders, pages) = (&orders, kernel_pages(pages));
            scope.spawn(move || read(*processor, most, pages, orders, tally));
        }
        let (mut slices, mut stretches_left) = (0, 0);
        let mut all = || {
            let delays = [None].into_iter().chain(plan::DELAYS.iter().rev().map(|delay| Some(*delay)));
            for (at, delay) in delays.enumerate() {
                if !session.progress("latency under load", at as f64 / cases as f64)? {
                    break;
                }
                orders.delay.store(delay.map_or(REST, i64::from), Ordering::Relaxed);
                std::thread::sleep(SETTLING);
                orders.read.iter().for_each(|read| *read.lock().expect("no thread panics") = Read::default());
                let (begun, mut times_ns) = (Instant::now(), Vec::new());
                while begun.elapsed() + SETTLING < time || times_ns.is_empty() {
                    let (times, left_out) = stretches(ring, LOADS, Instant::now());
                    stretches_left += left_out;
                    times_ns.extend(times);
                }
                // The chase reads as well: a line in each of these times.
                let mean_ns = times_ns.iter().sum::<f64>() / times_ns.len() as f64;
                let mut rate = ALIGNMENT as f64 / (mean_ns * 1e-9);
                for read in &orders.read {
                    let (read, left_out) = read.lock().expect("no thread panics").rate();
                    rate += read;
                    slices += left_out;
                }
                session.record.loaded.push(Loaded { delay, threads: readers.len() as u32, rate, times_ns });
            }
            anyhow::Ok(())
        };
        let outcome = all();
        orders.over.store(true, Ordering::Relaxed);
        if slices + stretches_left > 0 {
            session.note(format!(
                "latency under load: {slices} slices of {} ms of readers and {stretches_left} stretches of the chase were left out, \
                 as a thread did not run throughout",
                SLICE.as_millis()
            ));
        }
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
fn read(processor: u32, size: Bytes, pages: Pages, orders: &Orders, tally: &Mutex<Read>) {
    pin(processor);
    let Ok(mut buffer) = Buffer::new(size.get() as usize, pages) else { return };
    buffer.words_mut().fill(1);
    let set = Instructions::best();
    let told = || orders.delay.load(Ordering::Relaxed);
    let is_over = || orders.over.load(Ordering::Relaxed);
    let mut at = 0;
    while !is_over() {
        let delay = told();
        let Ok(steps) = u32::try_from(delay) else {
            std::thread::sleep(SLICE);
            continue;
        };
        // Fewer lines between two looks the longer each of them takes.
        let words = if steps == 0 { PIECE } else { (PIECE / 8 / (1 + steps as usize / 16)).max(16) * 8 };
        let (watch, begun, mut bytes) = (Watch::start(), Instant::now(), 0);
        while begun.elapsed() < SLICE && told() == delay && !is_over() {
            let end = (at + words).min(buffer.words().len());
            match steps {
                0 => drop(std::hint::black_box(set.read(&buffer.numbers()[at..end]))),
                steps => drop(std::hint::black_box(read_slowly(&buffer.words()[at..end], steps))),
            }
            bytes += ((end - at) * size_of::<u64>()) as u64;
            at = if end == buffer.words().len() { 0 } else { end };
        }
        let took = watch.stop();
        // A slice in which the load was changed is of neither.
        if told() == delay {
            tally.lock().expect("no thread panics").add(bytes, took);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_that_were_disturbed_count_for_nothing_where_others_were_whole() {
        let (ms, mut read) = (Duration::from_millis, Read::default());
        assert_eq!(read.rate(), (0.0, 0));
        read.add(1000, (ms(4), false));
        assert_eq!(read.rate(), (250_000.0, 0), "there is nothing else");
        read.add(1000, (ms(1), true));
        read.add(3000, (ms(1), true));
        read.add(10, (ms(9), false));
        assert_eq!(read.rate(), (2_000_000.0, 2));
    }
}
