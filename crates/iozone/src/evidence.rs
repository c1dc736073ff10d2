//! Whose speed a pass shows: the device's or memory's, from what the kernel counted around it.

use flashscope_device::FileCounts;
use flashscope_load::evidence::{CACHE_UP_TO, Counted, DEVICE_FROM, Instead, judge};
use flashscope_model::bench::{CacheVerdict, Counter, Evidence};
use flashscope_units::Bytes;

/// What is known of a pass.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// Bytes read and written.
    pub asked: (Bytes, Bytes),
    /// Whether it went past the page cache.
    pub direct: bool,
    /// Before it.
    pub before: FileCounts,
    /// When the clock stopped.
    pub after: FileCounts,
}

/// Concludes. The device's counters also move for others, so that what was in memory before a read, and what was not written
/// back after a write, bound what the device can have done for this pass.
pub fn conclude(around: Around) -> Evidence {
    let Around { asked, direct, before, after } = around;
    let instead = before.in_memory.or(after.in_memory).map_or(Instead::Nothing, Instead::Memory);
    let moved = before.device.zip(after.device).map(|(first, last)| {
        let mut moved = (last.0.saturating_sub(first.0), last.1.saturating_sub(first.1));
        if !direct {
            moved.0 = bounded(moved.0, asked.0, before.cached);
            moved.1 = bounded(moved.1, asked.1, after.dirty);
        }
        moved
    });
    let mut evidence = match (moved, instead) {
        (None, Instead::Nothing) if !direct => by_residency(around),
        (device, instead) => judge(Counted { asked, device, instead }),
    };
    evidence.counters = counters(&before, &after);
    evidence
}

/// At most what was asked for and did not stay in, or come from, memory.
fn bounded(moved: Bytes, asked: Bytes, memory: Option<Bytes>) -> Bytes {
    memory.map_or(moved, |memory| moved.min(asked.saturating_sub(memory)))
}

/// Where nobody counts transfers, reads of what was in memory are memory's, and so are writes that are still there.
fn by_residency(around: Around) -> Evidence {
    let Around { asked, before, after, .. } = around;
    let share = |memory: Option<Bytes>, asked: Bytes| memory.map(|memory| memory.min(asked).as_f64() / asked.as_f64());
    let (verdict, why) = match asked {
        (Bytes::ZERO, Bytes::ZERO) => (CacheVerdict::Unknown, "nothing was moved".to_owned()),
        (read, Bytes::ZERO) => match share(before.cached, read) {
            Some(share) => {
                let verdict = match share {
                    share if share >= DEVICE_FROM => CacheVerdict::Cache,
                    share if share <= CACHE_UP_TO => CacheVerdict::Device,
                    _ => CacheVerdict::Mixed,
                };
                (verdict, format!("{:.1} % of {read} were in the page cache before", share * 100.0))
            }
            None => (CacheVerdict::Unknown, NOBODY.to_owned()),
        },
        (Bytes::ZERO, written) => match share(after.dirty, written) {
            Some(share) if share >= DEVICE_FROM => (
                CacheVerdict::Cache,
                format!("{:.1} % of {written} were still in memory when the clock stopped", share * 100.0),
            ),
            _ => (CacheVerdict::Unknown, NOBODY.to_owned()),
        },
        _ => (CacheVerdict::Unknown, NOBODY.to_owned()),
    };
    Evidence { verdict, device_share: None, why, counters: Vec::new() }
}

const NOBODY: &str = "the kernel counts no transfers for what the file lies on";

fn counters(before: &FileCounts, after: &FileCounts) -> Vec<Counter> {
    let mut found = Vec::new();
    let mut add = |name: &str, pick: fn(&FileCounts) -> Option<Bytes>| {
        if let (Some(before), Some(after)) = (pick(before), pick(after)) {
            found.push(Counter { name: name.to_owned(), before: before.get(), after: after.get() });
        }
    };
    add("device_read_bytes", |counts| counts.device.map(|(read, _)| read));
    add("device_written_bytes", |counts| counts.device.map(|(_, written)| written));
    add("file_cached_bytes", |counts| counts.cached);
    add("file_dirty_bytes", |counts| counts.dirty);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(device: Option<(u64, u64)>, cached: u64, dirty: u64) -> FileCounts {
        FileCounts {
            device: device.map(|(read, written)| (Bytes(read), Bytes(written))),
            cached: Some(Bytes(cached)),
            dirty: Some(Bytes(dirty)),
            in_memory: None,
        }
    }

    fn verdict(asked: (u64, u64), before: FileCounts, after: FileCounts, direct: bool) -> CacheVerdict {
        conclude(Around { asked: (Bytes(asked.0), Bytes(asked.1)), direct, before, after }).verdict
    }

    #[test]
    fn counters_decide_and_residency_bounds_them() {
        let none = counts(Some((0, 0)), 0, 0);
        // A read from the device, and one of what was in memory while somebody else read as much.
        assert_eq!(verdict((100, 0), none, counts(Some((100, 0)), 100, 0), false), CacheVerdict::Device);
        let resident = counts(Some((0, 0)), 100, 0);
        assert_eq!(verdict((100, 0), resident, counts(Some((100, 0)), 100, 0), false), CacheVerdict::Cache);
        // The same past the page cache.
        assert_eq!(verdict((100, 0), resident, counts(Some((100, 0)), 100, 0), true), CacheVerdict::Device);
        // A write that is still dirty while others write; one that is half there; one that is out.
        assert_eq!(verdict((0, 100), none, counts(Some((0, 300)), 100, 100), false), CacheVerdict::Cache);
        assert_eq!(verdict((0, 100), none, counts(Some((0, 50)), 100, 50), false), CacheVerdict::Mixed);
        assert_eq!(verdict((0, 100), none, counts(Some((0, 100)), 100, 0), false), CacheVerdict::Device);
    }

    #[test]
    fn without_counters_residency_tells_what_it_can() {
        let check = |asked, cached, dirty, expect| {
            assert_eq!(verdict(asked, counts(None, cached, 0), counts(None, 0, dirty), false), expect);
        };
        check((100, 0), 100, 0, CacheVerdict::Cache);
        check((100, 0), 0, 0, CacheVerdict::Device);
        check((0, 100), 0, 100, CacheVerdict::Cache);
        check((0, 100), 0, 0, CacheVerdict::Unknown);
        check((50, 50), 100, 0, CacheVerdict::Unknown);
        check((0, 0), 0, 0, CacheVerdict::Unknown);
        let memory = FileCounts { in_memory: Some("tmpfs"), ..FileCounts::default() };
        assert_eq!(verdict((0, 100), memory, memory, true), CacheVerdict::Cache);
    }
}
