//! A workload that touches most of what devices differ in: streams of larger writes side by side, small random writes, flushes,
//! reads of both kinds, and pauses.

use flashscope_explain::Workload;
use flashscope_stats::Rng;
use flashscope_trace::filter::Addresses;
use flashscope_trace::{Flags, Op, Traced};
use flashscope_units::{Bytes, Instant, Nanos};

/// Where it ends: all that is drawn is larger.
pub const SPAN: Bytes = Bytes::mib(448);
/// Each stream writes a part of its own.
const STREAM: Bytes = Bytes::mib(48);
/// Small writes and reads keep to this part.
const SMALL: (Bytes, Bytes) = (Bytes::mib(256), Bytes::mib(32));
/// What any request took when it was recorded. A dependent replay keeps what lies between the end of one and the next.
const TOOK: Nanos = Nanos::micros(400);

/// The workload of a seed.
pub fn workload(seed: u64) -> Workload {
    let mut rng = Rng::new(seed);
    let streams = 3 + rng.below(4) as u64;
    let mut at: Vec<Bytes> = (0..streams).map(|stream| STREAM * stream).collect();
    let mut now = Nanos::ZERO;
    let mut requests = Vec::new();
    let mut read_at = Bytes::mib(320);
    for round in 0..300 {
        let mut add = |op: Op, offset: Bytes, length: Bytes, think: u64| {
            let issued = Instant(now.get());
            now += TOOK + Nanos::micros(think);
            requests.push(Traced {
                issued,
                completed: Some(issued + TOOK),
                offset,
                length: length.get() as u32,
                process: None,
                op,
                flags: Flags::NONE,
            });
        };
        for place in &mut at {
            add(Op::Write, *place, Bytes::kib(64), 20);
            *place += Bytes::kib(64);
        }
        for _ in 0..2 {
            let block = rng.below((SMALL.1 / Bytes::kib(4)) as usize) as u64;
            add(Op::Write, SMALL.0 + Bytes::kib(4) * block, Bytes::kib(4), 50);
        }
        if round % 4 == 0 {
            add(Op::Flush, Bytes::ZERO, Bytes::ZERO, 100);
        }
        for _ in 0..4 {
            let block = rng.below((SMALL.1 / Bytes::kib(4)) as usize) as u64;
            add(Op::Read, SMALL.0 + Bytes::kib(4) * block, Bytes::kib(4), 10);
        }
        add(Op::Read, read_at, Bytes::kib(128), 10);
        read_at += Bytes::kib(128);
    }
    Workload { requests, addresses: Addresses::Refuse }
}
