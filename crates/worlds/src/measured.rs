//! What no formula gives, measured on a copy without noise: the price of random order.

use crate::target::WorldTarget;
use crate::truth::Penalty;
use flashscope_device::{ExecuteExt, Request, Target, WriteGrant};
use flashscope_units::{Bytes, Instant};

/// A stretch that is written as one, and others like it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretches {
    /// Start of the first, seen by the host.
    pub(crate) first: u64,
    /// Length of each.
    pub(crate) length: u64,
    /// How many are written before the ones that count, so that what follows later follows meanwhile.
    pub(crate) before: u64,
}

/// Stretches that count in the long run.
const COUNTED: u64 = 2;

/// Sequential rate over random rate for blocks from 4 KiB to a quarter of a stretch: over the first writes to a single one,
/// and in the long run.
pub(crate) fn penalties(quiet: &WorldTarget, stretches: Stretches) -> Vec<Penalty> {
    let blocks = (12..).map(|k| 1u64 << k).take_while(|&block| block <= stretches.length / 4);
    blocks
        .filter(|block| stretches.length.is_multiple_of(*block))
        .map(|block| {
            let ratio = |range: std::ops::Range<u64>, most: u64| {
                time(quiet, stretches, block, range.clone(), most, true)
                    / time(quiet, stretches, block, range, most, false)
            };
            let count = stretches.length / block;
            Penalty {
                block: Bytes(block),
                at_first: ratio(0..1, (count / 8).max(2)),
                long: ratio(stretches.before..stretches.before + COUNTED, count),
            }
        })
        .collect()
}

/// Seconds that the stretches of `counted` take, of all that are written from the first on.
fn time(quiet: &WorldTarget, at: Stretches, block: u64, counted: std::ops::Range<u64>, most: u64, random: bool) -> f64 {
    let mut device = quiet.clone();
    let budget = Bytes(at.length * (counted.end + 1));
    let Some(mut grant) = WriteGrant::simulated(device.facts(), budget) else { return f64::NAN };
    let count = at.length / block;
    let mut begun = Instant::ORIGIN;
    for number in 0..counted.end {
        let first = at.first + number * at.length;
        let mut write = |index: u64| {
            let request = Request::write_any(&mut grant, 0, Bytes(first + index * block), Bytes(block), true);
            request.ok().and_then(|request| device.execute(request).ok()).map(|done| done.completed)
        };
        // The first block opens the stretch in both orders.
        let opened = write(0);
        if number == counted.start {
            begun = opened.unwrap_or(begun);
        }
        let step = step(count);
        for index in (1..count).take(most as usize) {
            write(if random { index * step % count } else { index });
        }
    }
    device.now().since(begun).as_secs_f64()
}

/// A step that visits every number below `count` and leaves no trend: near two fifths of it, and prime to it.
fn step(count: u64) -> u64 {
    let common = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (count * 2 / 5 + 1..).find(|&step| common(step, count) == 1).unwrap_or(1)
}
