//! Numbers as the original prints them.

use flashscope_units::Bytes;

/// Bytes that fit a field; the rest is cut off, be it digits or the unit.
const FIELD: usize = 7;

/// A time: whole nanoseconds below a microsecond and for all that is negative, three significant
/// digits above, four from one second on.
pub(super) fn time(nanos: i64) -> String {
    let value = nanos as f64;
    field(match nanos {
        ..1_000 => format!("{nanos}ns"),
        1_000..1_000_000 => general(value / 1e3, 3) + "µs",
        1_000_000..1_000_000_000 => general(value / 1e6, 3) + "ms",
        1_000_000_000.. => general(value / 1e9, 4) + "s",
    })
}

/// A rate: whole bytes below 1 kB/s, three significant digits above, four from 1 GB/s on.
pub(super) fn rate(bytes_per_second: u64) -> String {
    let value = bytes_per_second as f64;
    field(match bytes_per_second {
        0..1_000 => format!("{bytes_per_second}B/s"),
        1_000..1_000_000 => general(value / 1e3, 3) + "K/s",
        1_000_000..1_000_000_000 => general(value / 1e6, 3) + "M/s",
        1_000_000_000.. => general(value / 1e9, 4) + "G/s",
    })
}

/// A block size that labels a row, three significant digits.
pub(super) fn size(bytes: Bytes) -> String {
    let value = bytes.as_f64();
    field(match bytes.0 {
        0..1_024 => format!("{}B", bytes.0),
        1_024..1_048_576 => general(value / 1024.0, 3) + "KiB",
        1_048_576..1_073_741_824 => general(value / 1_048_576.0, 3) + "MiB",
        1_073_741_824.. => general(value / 1_073_741_824.0, 4) + "GiB",
    })
}

/// C's `%g` with this number of significant digits.
pub(super) fn general(value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return format!("{value}").to_lowercase();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{value:.*e}", (digits - 1).max(0) as usize);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..digits).contains(&exponent) {
        return trimmed(&format!("{value:.*}", (digits - 1 - exponent) as usize)).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
}

fn trimmed(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

fn field(mut text: String) -> String {
    let mut end = text.len().min(FIELD);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let check = |nanos: i64, expect: &str| assert_eq!(time(nanos), expect);
        check(0, "0ns");
        check(535, "535ns");
        check(-2_926, "-2926ns");
        check(-13_700, "-13700n");
        check(-110_845_123, "-110845");
        check(-412_475, "-412475");
        check(694_234, "694µs");
        check(78_040, "78µs");
        check(999_600, "1e+03µ");
        check(1_070_000, "1.07ms");
        check(999_600_000, "1e+03ms");
        check(1_042_430_000, "1.042s");
        check(1_178_000_000_000, "1178s");
    }

    #[test]
    fn rates() {
        let check = |speed: u64, expect: &str| assert_eq!(rate(speed), expect);
        check(231, "231B/s");
        check(42_400, "42.4K/s");
        check(999_600, "1e+03K/");
        check(16_000_000, "16M/s");
        check(1_640_000_000, "1.64G/s");
        check(2_654_845_422, "2.655G/");
    }

    #[test]
    fn sizes() {
        let check = |bytes: u64, expect: &str| assert_eq!(size(Bytes(bytes)), expect);
        check(512, "512B");
        check(1536, "1.5KiB");
        check(4 << 20, "4MiB");
        check(25 << 17, "3.12MiB");
        check(25 << 16, "1.56MiB");
        check(2 << 30, "2GiB");
    }

    #[test]
    fn percent_g() {
        let check = |value: f64, digits: i32, expect: &str| assert_eq!(general(value, digits), expect);
        check(0.0, 6, "0");
        check(1.254139, 6, "1.25414");
        check(37.871, 6, "37.871");
        check(332_735.6, 6, "332736");
        check(-1_922_680.4, 6, "-1.92268e+06");
        check(0.00001, 3, "1e-05");
        check(999.6, 3, "1e+03");
        check(999.4, 3, "999");
    }
}
