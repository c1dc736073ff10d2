//! Sequential streams: requests that begin where one of the latest of their kind ended.

use crate::{Op, Traced};
use flashscope_model::trace::Streams;
use flashscope_units::Bytes;

/// Streams of a kind that are told apart. More are open at once on no device that this is to foretell.
const OPEN: usize = 64;

/// Follows streams, those of reads and of writes apart.
#[derive(Default)]
pub(super) struct Tracker {
    open: [Vec<Stream>; 2],
    sequential: [u64; 2],
    runs: u64,
    run_bytes: u128,
    longest: u64,
}

#[derive(Clone, Copy)]
struct Stream {
    end: u64,
    bytes: u64,
    requests: u64,
}

impl Tracker {
    #[inline]
    pub(super) fn add(&mut self, request: &Traced) {
        let way = usize::from(request.op == Op::Write);
        let (open, length) = (&mut self.open[way], u64::from(request.length));
        let one = Stream { end: request.end(), bytes: length, requests: 1 };
        // The latest stands at the end, where it is found first.
        let Some(at) = open.iter().rposition(|stream| stream.end == request.offset.get()) else {
            if open.len() == OPEN {
                open.remove(0);
            }
            open.push(one);
            return;
        };
        self.sequential[way] += 1;
        let stream = open.remove(at);
        let (bytes, requests) = (stream.bytes + length, stream.requests + 1);
        // A run is counted with its second request, so that those that are still open count as well.
        let before = if requests == 2 { 0 } else { stream.bytes };
        self.runs += u64::from(requests == 2);
        self.run_bytes += u128::from(bytes - before);
        self.longest = self.longest.max(bytes);
        open.push(Stream { bytes, requests, ..one });
    }

    pub(super) fn summary(&self, reads: u64, writes: u64) -> Streams {
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let some = self.runs > 0;
        Streams {
            sequential_reads: share(self.sequential[0], reads),
            sequential_writes: share(self.sequential[1], writes),
            runs: self.runs,
            mean_run: some.then(|| Bytes((self.run_bytes / u128::from(self.runs)) as u64)),
            longest_run: some.then_some(Bytes(self.longest)),
        }
    }
}
