//! The calendar date of a moment. Not the C library's: on 32 bits some of them end in 2038.

/// The last second of the year 9999, the last that the form has room for.
const LAST_SECOND: u64 = 253_402_300_799;
/// Seconds of a day; leap seconds are not counted.
const DAY: u64 = 86_400;
/// Days of 400 years, after which the calendar repeats.
const ERA: u64 = 146_097;
/// Days from 1 March of the year 0 to 1 January 1970.
const EPOCH: u64 = 719_468;

/// In UTC, as RFC 3339 writes it.
pub(crate) fn rfc3339(unix_seconds: u64) -> String {
    let seconds = unix_seconds.min(LAST_SECOND);
    let (year, month, day) = civil(seconds / DAY);
    let within = seconds % DAY;
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", within / 3600, within / 60 % 60, within % 60)
}

/// Year, month and day of the day that is so many after 1 January 1970: Howard Hinnant's `civil_from_days`, in which years begin
/// in March, so that the leap day is a year's last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + EPOCH;
    let (era, of_era) = (days / ERA, days % ERA);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    // March is 0; five months in a row have 153 days.
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (year + 400 * era + next, month, day)
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
