//! How fast long arrays are read and written: every loop in turns, round after round, so that whatever slows the machine down
//! for a while slows all of them.

use crate::pages;
use crate::session::Session;
use crate::workers::{Span, Start, Watch, pin, whole};
use anyhow::anyhow;
use flashscope_kernels::stream::{Instructions, Store as How};
use flashscope_kernels::{Buffer, Pages};
use flashscope_mem::plan;
use flashscope_mem::wire::BandwidthTest;
use flashscope_model::memory::{Bandwidth, Kernel, Store};
use flashscope_units::Bytes;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// At least so many rounds, however long they take.
const LEAST_ROUNDS: u32 = 3;
/// The factor of STREAM's scale and triad.
const FACTOR: f64 = 3.0;

/// One loop, stored in one way.
type Case = (Kernel, Option<Store>);

pub(crate) fn measure(session: &mut Session, asked: &BandwidthTest) -> anyhow::Result<()> {
    let loops = asked.loops();
    let arrays = loops.iter().map(|kernel| kernel.arrays()).max().ok_or_else(|| anyhow!("no loop is asked for"))?;
    let all = session.threads();
    let length = plan::array(asked.array.map(Bytes), session.last_cache(), arrays, all, session.may_take())?;
    let counts = if all > 1 { vec![1, all] } else { vec![1] };
    let share = session.time() / counts.len() as u32;
    for (at, threads) in counts.iter().enumerate() {
        let run = Run { threads: *threads, length, arrays: arrays as usize, cases: cases(&loops), time: share };
        let begun = at as f64 / counts.len() as f64;
        if !run.measure(session, begun, 1.0 / counts.len() as f64)? {
            break;
        }
    }
    Ok(())
}

fn cases(loops: &[Kernel]) -> Vec<Case> {
    let stores = Instructions::best().stores();
    let of = |kernel: &Kernel| match kernel {
        Kernel::Read => vec![(Kernel::Read, None)],
        kernel => stores.iter().map(|how| (*kernel, Some(store(*how)))).collect(),
    };
    loops.iter().flat_map(of).collect()
}

fn store(how: How) -> Store {
    match how {
        How::Plain => Store::Plain,
        How::NonTemporal => Store::NonTemporal,
    }
}

/// All loops with one number of threads.
struct Run {
    threads: u32,
    length: Bytes,
    arrays: usize,
    cases: Vec<Case>,
    time: Duration,
}

/// What the threads of a run share.
struct Shared {
    pages: Pages,
    /// Whether there is swap space that arrays are to be kept out of.
    lock: bool,
    start: Start,
    over: AtomicBool,
    /// When each thread began the latest pass and had it done, and whether it ran throughout.
    spans: Vec<Mutex<(Span, bool)>>,
    /// Share of huge pages of each thread that has its arrays, and whether these are locked; or why one has none.
    ready: Mutex<Vec<Result<(f64, bool), String>>>,
}

impl Run {
    /// Measures until the time is over; whether to go on.
    fn measure(&self, session: &mut Session, from: f64, share: f64) -> anyhow::Result<bool> {
        let threads = self.threads as usize;
        let pages = if session.limits.huge { Pages::Huge } else { Pages::Small };
        let now = Instant::now();
        let shared = Shared {
            start: Start::new(threads),
            over: AtomicBool::new(false),
            spans: (0..threads).map(|_| Mutex::new(((now, now), true))).collect(),
            ready: Mutex::new(Vec::new()),
            pages,
            lock: session.record.setup.swap > Bytes::ZERO,
        };
        let processors = session.record.setup.processors.clone();
        let what = format!("bandwidth, {threads} thread{}", if threads == 1 { "" } else { "s" });
        // Those of passes that a thread did not run throughout come second.
        let mut rates: Vec<[Vec<f64>; 2]> = vec![Default::default(); self.cases.len()];
        let (mut round, mut go_on) = (0u32, Ok(true));
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for at in 1..threads {
                let (shared, processor) = (&shared, processors.get(at).copied());
                scope.spawn(move || self.work(at, processor, shared, |_| {}));
            }
            self.work(0, processors.first().copied(), &shared, |case| {
                let passes: Vec<(Span, bool)> =
                    shared.spans.iter().map(|span| *span.lock().expect("no thread panics")).collect();
                let moved = self.length.as_f64() * f64::from(self.cases[case].0.arrays());
                let spans: Vec<Span> = passes.iter().map(|pass| pass.0).collect();
                let disturbed = passes.iter().any(|pass| !pass.1);
                // The first round brings pages and clocks up to speed.
                if round > 0 {
                    rates[case][usize::from(disturbed)].push(moved / whole(&spans).as_secs_f64().max(1e-9));
                }
                let passed = begun.elapsed().as_secs_f64() / self.time.as_secs_f64().max(1e-9);
                go_on = session.progress(&what, from + share * passed.min(1.0));
                round += u32::from(case + 1 == self.cases.len());
                let enough = passed >= 1.0 && round > LEAST_ROUNDS;
                shared.over.store(enough || !matches!(go_on, Ok(true)), Ordering::Release);
            });
        });
        let ready = shared.ready.into_inner().expect("no thread panics");
        let ready: Vec<(f64, bool)> = ready.into_iter().collect::<Result<_, _>>().map_err(|why| anyhow!(why))?;
        session.record.setup.locked = ready.iter().all(|thread| thread.1);
        let huge: Vec<f64> = ready.iter().map(|thread| thread.0).collect();
        let mut left_out = 0;
        for ((kernel, store), [whole, disturbed]) in self.cases.iter().zip(rates) {
            // Where none ran throughout, all are kept.
            left_out += if whole.is_empty() { 0 } else { disturbed.len() };
            let rates = if whole.is_empty() { disturbed } else { whole };
            if rates.is_empty() {
                continue;
            }
            session.record.bandwidth.push(Bandwidth {
                kernel: *kernel,
                store: *store,
                threads: self.threads,
                array: self.length,
                huge: huge.iter().sum::<f64>() / huge.len().max(1) as f64,
                rates,
            });
        }
        if left_out > 0 {
            session.note(format!("{what}: {left_out} passes were left out, as a thread did not run throughout"));
        }
        go_on
    }

    /// One thread: its arrays, and every pass together with the others. `after` is called behind each.
    fn work(&self, at: usize, processor: Option<u32>, shared: &Shared, mut after: impl FnMut(usize)) {
        let Shared { pages, lock, .. } = *shared;
        processor.map(pin);
        let arrays = Arrays::new(self.arrays, self.length.get() as usize / self.threads as usize, pages);
        let told = arrays.as_ref().map(|arrays| (arrays.huge(), lock && arrays.lock())).map_err(ToString::to_string);
        shared.ready.lock().expect("no thread panics").push(told);
        shared.start.wait();
        let all_ready = shared.ready.lock().expect("no thread panics").iter().all(Result::is_ok);
        let (Ok(mut arrays), true) = (arrays, all_ready) else { return };
        loop {
            for (number, case) in self.cases.iter().enumerate() {
                shared.start.wait();
                if shared.over.load(Ordering::Acquire) {
                    return;
                }
                let (begun, watch) = (Instant::now(), Watch::start());
                arrays.pass(*case);
                let (_, whole) = watch.stop();
                *shared.spans[at].lock().expect("no thread panics") = ((begun, Instant::now()), whole);
                shared.start.wait();
                after(number);
            }
        }
    }
}

/// The arrays of one thread.
struct Arrays {
    set: Instructions,
    all: Vec<Buffer>,
}

impl Arrays {
    fn new(arrays: usize, len: usize, pages: Pages) -> Result<Arrays, flashscope_kernels::BufferError> {
        let mut all = (0..arrays).map(|_| Buffer::new(len, pages)).collect::<Result<Vec<_>, _>>()?;
        // The thread that uses a page touches it first, so that it lies near that thread's processor.
        for (at, array) in all.iter_mut().enumerate() {
            array.numbers_mut().fill(1.0 + at as f64);
        }
        Ok(Arrays { set: Instructions::best(), all })
    }

    /// Share that lies in huge pages.
    fn huge(&self) -> f64 {
        let shares = self.all.iter().map(|array| pages::huge_share(array).unwrap_or(0.0));
        shares.sum::<f64>() / self.all.len().max(1) as f64
    }

    /// Keeps them out of swap space; whether the kernel agreed.
    fn lock(&self) -> bool {
        self.all.iter().all(Buffer::lock)
    }

    fn pass(&mut self, (kernel, store): Case) {
        let set = self.set;
        let how = match store {
            Some(Store::NonTemporal) => How::NonTemporal,
            Some(Store::Plain) | None => How::Plain,
        };
        match (kernel, &mut self.all[..]) {
            (Kernel::Read, [a, ..]) => drop(std::hint::black_box(set.read(a.numbers()))),
            (Kernel::Write, [a, ..]) => set.write(how, a.numbers_mut(), 1.0),
            (Kernel::Copy, [a, b, ..]) => set.copy(how, a.numbers_mut(), b.numbers()),
            (Kernel::Scale, [a, b, ..]) => set.scale(how, a.numbers_mut(), b.numbers(), FACTOR),
            (Kernel::Add, [a, b, c]) => set.add(how, a.numbers_mut(), b.numbers(), c.numbers()),
            (Kernel::Triad, [a, b, c]) => set.triad(how, a.numbers_mut(), b.numbers(), c.numbers(), FACTOR),
            _ => unreachable!("there are as many arrays as the loop with most of them has"),
        }
    }
}
