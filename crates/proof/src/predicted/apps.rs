//! What the apps ask of a device: one that was recorded, and four that are drawn from a seed, each of one habit.

use crate::explain::workload;
use flashscope_explain::Workload;
use flashscope_stats::Rng;
use flashscope_trace::filter::Addresses;
use flashscope_trace::{Flags, Op, Traced};
use flashscope_units::{Bytes, Instant, Nanos};

/// Where the drawn ones end: a device must be this large.
pub(super) const SPAN: Bytes = Bytes::mib(448);
/// What any request took when it was recorded. A dependent replay keeps what lies between the end of one and the next.
const TOOK: Nanos = Nanos::micros(400);
/// The recorded one: `app ota` on an emulated phone of 1 GiB.
const OTA: &[u8] = include_bytes!("../../../../fixtures/traces/ota.trace");
/// The first requests of it: what follows repeats them, and a drive's inside is looked at request by request.
const OTA_REQUESTS: usize = 2500;

/// An app as a device sees it.
#[derive(Clone, Debug)]
pub struct App {
    /// Its name.
    pub name: &'static str,
    /// Its requests.
    pub workload: Workload,
}

/// All of them, drawn from a seed.
///
/// # Panics
/// Where the recorded one cannot be read: that is a broken fixture.
pub fn apps(seed: u64) -> Vec<App> {
    let mut rng = Rng::new(seed);
    vec![
        App { name: "ota (recorded)", workload: ota() },
        App { name: "mixed", workload: workload(seed) },
        App { name: "messenger", workload: messenger(&mut rng) },
        App { name: "camera", workload: camera(&mut rng) },
        App { name: "gallery", workload: gallery(&mut rng) },
    ]
}

fn ota() -> Workload {
    let reader = flashscope_trace::file::Reader::new(OTA).expect("the head of the recorded trace");
    let from = reader.head().capacity.unwrap_or(Bytes::gib(1));
    let requests = reader.take(OTA_REQUESTS).collect::<Result<_, _>>().expect("the recorded trace");
    Workload { requests, addresses: Addresses::Scale { from } }
}

/// A log in the making.
#[derive(Default)]
struct Log {
    now: Nanos,
    requests: Vec<Traced>,
}

impl Log {
    fn add(&mut self, op: Op, offset: Bytes, length: Bytes, think: Nanos) {
        let issued = Instant(self.now.get());
        self.now += TOOK + think;
        let completed = Some(issued + TOOK);
        let length = length.get() as u32;
        self.requests.push(Traced { issued, completed, offset, length, process: None, op, flags: Flags::NONE });
    }

    fn done(self) -> Workload {
        Workload { requests: self.requests, addresses: Addresses::Refuse }
    }
}

/// A database: each transaction appends to a journal, changes some pages at random and flushes twice.
fn messenger(rng: &mut Rng) -> Workload {
    let (journal, table) = (Bytes::mib(8), Bytes::mib(64));
    let mut log = Log::default();
    for transaction in 0..400 {
        let at = journal + Bytes::kib(12) * (transaction % 200);
        log.add(Op::Write, at, Bytes::kib(12), Nanos::micros(150));
        log.add(Op::Flush, Bytes::ZERO, Bytes::ZERO, Nanos::micros(20));
        for _ in 0..=rng.below(3) {
            let page = rng.below(4096) as u64;
            log.add(Op::Write, table + Bytes::kib(4) * page, Bytes::kib(4), Nanos::micros(10));
        }
        log.add(Op::Flush, Bytes::ZERO, Bytes::ZERO, Nanos::micros(20));
    }
    log.done()
}

/// Pictures and films: large sequential writes to one file after the other, with a little of a file system's own between.
fn camera(rng: &mut Rng) -> Workload {
    let mut log = Log::default();
    let mut at = Bytes::mib(128);
    for _ in 0..24 {
        let pieces = 8 + rng.below(12) as u64;
        for _ in 0..pieces {
            log.add(Op::Write, at, Bytes::kib(512), Nanos::micros(200));
            at += Bytes::kib(512);
        }
        log.add(Op::Write, Bytes::kib(4) * rng.below(64) as u64, Bytes::kib(4), Nanos::micros(50));
        log.add(Op::Flush, Bytes::ZERO, Bytes::ZERO, Nanos::micros(50));
    }
    log.done()
}

/// Thumbnails and pictures: reads of many sizes from everywhere.
fn gallery(rng: &mut Rng) -> Workload {
    let mut log = Log::default();
    for _ in 0..1500 {
        let length = Bytes::kib(4 << rng.below(6));
        let at = Bytes::kib(4) * rng.below(((SPAN - length) / Bytes::kib(4)) as usize) as u64;
        log.add(Op::Read, at, length, Nanos::micros(30));
    }
    log.done()
}
