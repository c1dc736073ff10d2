//! What a request costs on its way to the emulator and back, measured at start and taken off the device's times.
//!
//! Measured on a file of its own (`FLOOR_NAME`, which is not listed), so that neither the device's content nor its
//! state nor its clock take part. Twice: answered at once, which is the floor as such; and answered after a while, as a device
//! does. Then the processors have gone to sleep and the way is longer: that is what is taken off.
//!
//! A machine that is busy just now must not make the device answer too soon ever after: what waited for others does not
//! count, it is tried again while it is out of all proportion, and there is a limit.

use flashscope_units::Nanos;
use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Name of the file that is measured on.
pub(crate) const FLOOR_NAME: &str = ".floor";
/// Size of it.
pub(crate) const FLOOR_SIZE: u64 = 16 << 20;
/// A device's time that the paced floor is measured at.
const DELAY: Nanos = Nanos::micros(500);
/// Requests that are answered at once, per size.
const HOT: usize = 400;
/// Requests that are answered after [`DELAY`], per size.
const PACED: usize = 16;
/// Tries where the way takes longer than it can on an idle machine.
const TRIES: usize = 5;
/// Waking up two processors takes no longer, nor copying a byte four times.
const LONGEST_WAKE: Nanos = Nanos::micros(60);
/// Longest time of copying a byte four times, in nanoseconds.
const LONGEST_COPY_NS_PER_BYTE: f64 = 0.25;
/// A request that took this much longer than the quickest one has waited for someone else's turn on the processor, whose shortest
/// is several times this: it says nothing about the way, and a floor that contains it would make the device too fast.
const DISTURBED: Nanos = Nanos::micros(200);
/// Sizes of the requests, in bytes.
const SIZES: [usize; 5] = [4 << 10, 32 << 10, 128 << 10, 512 << 10, 1 << 20];

/// What the file that is measured on does: answers after this time.
#[derive(Debug, Default)]
pub(crate) struct FloorFile {
    delay_ns: AtomicU64,
}

impl FloorFile {
    /// How long it takes to answer.
    pub(crate) fn delay(&self) -> Nanos {
        Nanos(self.delay_ns.load(Relaxed))
    }
}

/// What requests cost on their way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Floors {
    /// A 4 KiB read that is answered at once.
    pub(crate) hot: Nanos,
    /// By size, in order.
    reads: Vec<(u64, Nanos)>,
    writes: Vec<(u64, Nanos)>,
}

impl Floors {
    /// Of a read.
    pub(crate) fn of_read(&self, length: u64) -> Nanos {
        between(&self.reads, length)
    }

    /// Of a write; of no bytes, where nothing is carried.
    pub(crate) fn of_write(&self, length: u64) -> Nanos {
        between(&self.writes, length)
    }
}

/// Measures on `path`: the file, or a loop device on it. Requests above `largest` are split on the way and not measured.
///
/// # Errors
/// Of the reads and writes.
pub(crate) fn measure(path: &Path, file: &FloorFile, largest: u64) -> io::Result<Floors> {
    let node = OpenOptions::new().read(true).write(true).custom_flags(OFlags::DIRECT.bits() as i32).open(path)?;
    let mut memory = vec![0u8; (1 << 20) + 4096];
    let start = memory.as_ptr().align_offset(4096);
    let buffer = &mut memory[start..start + (1 << 20)];
    let mut time = |length: usize, write: bool, count: usize, delay: Nanos| {
        file.delay_ns.store(delay.get(), Relaxed);
        let part = &mut buffer[..length];
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let begin = Instant::now();
            if write {
                node.write_all_at(part, 0)?
            } else {
                node.read_exact_at(part, 0)?
            }
            times.push(begin.elapsed().as_nanos() as u64);
        }
        io::Result::Ok(Nanos(undisturbed_median(times).saturating_sub(delay.get())))
    };
    let hot = time(SIZES[0], false, HOT, Nanos::ZERO)?;
    let sizes = || SIZES.into_iter().filter(|size| *size as u64 <= largest.max(SIZES[0] as u64));
    let mut table = |write| {
        let point = |size: usize| {
            let limit = hot + LONGEST_WAKE + Nanos((size as f64 * LONGEST_COPY_NS_PER_BYTE) as u64);
            let mut least = limit;
            for _ in 0..TRIES {
                let found = time(size, write, PACED, DELAY)?;
                least = least.min(found);
                if found < limit {
                    break;
                }
            }
            Ok((size as u64, least))
        };
        sizes().map(point).collect::<io::Result<Vec<_>>>()
    };
    Ok(Floors { hot, reads: table(false)?, writes: table(true)? })
}

/// The median of those times that nobody else has made longer.
fn undisturbed_median(mut times: Vec<u64>) -> u64 {
    times.sort_unstable();
    let Some(&quickest) = times.first() else { return 0 };
    let undisturbed = times.partition_point(|time| *time <= quickest + DISTURBED.get());
    times[undisturbed / 2]
}

/// On the lines between the measured points, and on the last of them beyond.
fn between(points: &[(u64, Nanos)], length: u64) -> Nanos {
    let Some(&(_, lowest)) = points.first() else { return Nanos::ZERO };
    let Some(pair) = points.windows(2).find(|pair| length <= pair[1].0).or(points.windows(2).last()) else {
        return lowest;
    };
    let [(from, low), (to, high)] = [pair[0], pair[1]];
    let share = (length as f64 - from as f64).max(0.0) / (to - from) as f64;
    Nanos((low.as_f64() + share * (high.as_f64() - low.as_f64())).max(0.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_of_a_busy_machine_is_that_of_a_quiet_one() {
        let check = |times: &[u64], expect| assert_eq!(undisturbed_median(times.to_vec()), expect, "{times:?}");
        check(&[527_000, 521_000, 530_000, 526_000, 553_000], 527_000);
        check(&[3_609_000, 549_000, 4_000_000, 544_000, 7_941_000, 556_000, 970_000], 549_000);
        check(&[5], 5);
        check(&[], 0);
    }

    #[test]
    fn a_line_between_the_points() {
        let points = [(4096, Nanos(10)), (8192, Nanos(20)), (16384, Nanos(60))];
        let check = |length, expect| assert_eq!(between(&points, length), Nanos(expect), "{length}");
        check(0, 10);
        check(4096, 10);
        check(6144, 15);
        check(8192, 20);
        check(12288, 40);
        check(32768, 140);
        assert_eq!(between(&[], 4096), Nanos::ZERO);
        assert_eq!(between(&points[..1], 1 << 20), Nanos(10));
    }
}
