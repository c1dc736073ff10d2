//! The clock that leases know.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970 as they were when this was asked first, and as many more as have gone by since: that somebody sets the
/// clock ends no lease and prolongs none.
pub fn now() -> u64 {
    static BEGAN: OnceLock<(Instant, u64)> = OnceLock::new();
    let (began, at) = BEGAN.get_or_init(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        (Instant::now(), since.map_or(0, |since| since.as_millis() as u64))
    });
    at + began.elapsed().as_millis() as u64
}
