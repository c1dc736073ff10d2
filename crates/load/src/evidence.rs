//! Whether a result is the device's or the page cache's, from what was counted around it. Flags do not decide.

use flashscope_model::bench::{CacheVerdict, Evidence};
use flashscope_units::Bytes;

/// From this share on it is the device's result.
pub const DEVICE_FROM: f64 = 0.95;
/// Up to this share it is the cache's.
pub const CACHE_UP_TO: f64 = 0.05;

/// What was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Bytes that the jobs read and wrote.
    pub asked: (Bytes, Bytes),
    /// Bytes that the device read and wrote meanwhile, until the clock stopped; `None` where nobody counts.
    pub device: Option<(Bytes, Bytes)>,
    /// What there is instead of a device.
    pub instead: Instead,
}

/// So much more than was asked for is worth a word.
const ALL_BUT_OURS: f64 = 1.05;

/// What there is instead of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// There is a device.
    Nothing,
    /// A file system in memory of this name.
    Memory(&'static str),
    /// Nothing was moved at all.
    Null,
    /// A simulated device.
    Simulated,
}

/// Concludes.
pub fn judge(counted: Counted) -> Evidence {
    let conclude = |verdict, device_share, why: String| Evidence { verdict, device_share, why, counters: Vec::new() };
    match counted.instead {
        Instead::Memory(name) => {
            return conclude(
                CacheVerdict::Cache,
                Some(0.0),
                format!("the file is on {name}, in memory: there is no device"),
            );
        }
        Instead::Null => {
            return conclude(
                CacheVerdict::Cache,
                Some(0.0),
                "the null engine moves nothing: this is its own speed".to_owned(),
            );
        }
        Instead::Simulated => {
            return conclude(CacheVerdict::Device, Some(1.0), "a simulated device has no page cache".to_owned());
        }
        Instead::Nothing => {}
    }
    let Some((read, written)) = counted.device else {
        return conclude(
            CacheVerdict::Unknown,
            None,
            "the kernel counts no transfers for what the file lies on".to_owned(),
        );
    };
    let asked = counted.asked.0 + counted.asked.1;
    if asked == Bytes::ZERO {
        return conclude(CacheVerdict::Unknown, None, "nothing was moved".to_owned());
    }
    // Each direction by itself: what others read does not make up for writes that stayed in memory.
    let reached = read.min(counted.asked.0) + written.min(counted.asked.1);
    let share = reached.as_f64() / asked.as_f64();
    let verdict = match share {
        _ if share >= DEVICE_FROM => CacheVerdict::Device,
        _ if share <= CACHE_UP_TO => CacheVerdict::Cache,
        _ => CacheVerdict::Mixed,
    };
    let all = read + written;
    let more = match all.as_f64() > ALL_BUT_OURS * asked.as_f64() {
        true => format!("; it moved {all} in all, the rest for the file system or for others"),
        false => String::new(),
    };
    let percent = format!("{:.1}", share * 100.0);
    let why = format!("the device served {} % of {asked}{more}", percent.trim_end_matches(".0"));
    conclude(verdict, Some(all.as_f64() / asked.as_f64()), why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_decides() {
        let check = |asked, device: Option<(u64, u64)>, verdict, share| {
            let (read, written): (u64, u64) = asked;
            let device = device.map(|(read, written)| (Bytes(read), Bytes(written)));
            let evidence = judge(Counted { asked: (Bytes(read), Bytes(written)), device, instead: Instead::Nothing });
            assert_eq!((evidence.verdict, evidence.device_share), (verdict, share), "{}", evidence.why);
        };
        check((0, 100), Some((0, 100)), CacheVerdict::Device, Some(1.0));
        check((0, 100), Some((0, 3)), CacheVerdict::Cache, Some(0.03));
        check((0, 100), Some((0, 50)), CacheVerdict::Mixed, Some(0.5));
        // Reads by others are no writes of ours.
        check((0, 100), Some((500, 0)), CacheVerdict::Cache, Some(5.0));
        check((100, 100), Some((100, 0)), CacheVerdict::Mixed, Some(0.5));
        check((100, 0), None, CacheVerdict::Unknown, None);
        check((0, 0), Some((0, 0)), CacheVerdict::Unknown, None);
    }

    #[test]
    fn what_the_file_system_adds_is_said() {
        let of = |device| {
            judge(Counted {
                asked: (Bytes(0), Bytes(100)),
                device: Some((Bytes(0), Bytes(device))),
                instead: Instead::Nothing,
            })
            .why
        };
        assert!(of(791).contains("791 B in all"), "{}", of(791));
        assert!(!of(100).contains("in all"));
    }

    #[test]
    fn memory_is_no_device() {
        let counted = Counted { asked: (Bytes(1), Bytes(1)), device: None, instead: Instead::Memory("tmpfs") };
        assert_eq!(judge(counted).verdict, CacheVerdict::Cache);
    }
}
