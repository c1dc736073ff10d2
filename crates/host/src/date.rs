//! The calendar date of a moment, as the C library has it.
#![allow(unsafe_code)]

/// The last second of the year 9999, the last that the form has room for.
const LAST_SECOND: u64 = 253_402_300_799;

/// In UTC, as RFC 3339 writes it.
pub(crate) fn rfc3339(unix_seconds: u64) -> String {
    let seconds = unix_seconds.min(LAST_SECOND) as libc::time_t;
    // SAFETY: all fields of a `tm` are numbers and a pointer, for which zero is a value.
    let mut at: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both places live through the call, which writes to `at` alone and keeps neither.
    unsafe { libc::gmtime_r(&seconds, &mut at) };
    let (year, month, day) = (at.tm_year + 1900, at.tm_mon + 1, at.tm_mday);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", at.tm_hour, at.tm_min, at.tm_sec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        let check = |seconds, expect: &str| assert_eq!(rfc3339(seconds), expect);
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_400, "2000-02-29T00:00:00Z");
        check(1_763_678_645, "2025-11-20T22:44:05Z");
        check(4_107_542_399, "2100-02-28T23:59:59Z");
        check(4_107_542_400, "2100-03-01T00:00:00Z");
        check(LAST_SECOND, "9999-12-31T23:59:59Z");
        check(u64::MAX, "9999-12-31T23:59:59Z");
    }
}
