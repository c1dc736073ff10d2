//! Lines of a text and the numbers in them.

use super::units::TimeUnit;
use crate::TraceError;
use std::io::{BufRead, Read};

/// A line is no longer in any of these formats.
const LONGEST: usize = 64 * 1024;

/// Hands each line to `take` with its number from 1, without blanks around it; empty ones are passed over. It goes on as long
/// as `take` says so.
pub(super) fn lines(
    mut from: &mut dyn BufRead,
    mut take: impl FnMut(u64, &[u8]) -> Result<bool, TraceError>,
) -> Result<(), TraceError> {
    let mut line = Vec::with_capacity(256);
    for number in 1u64.. {
        line.clear();
        let read = Read::take(&mut from, LONGEST as u64).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        if read == LONGEST {
            return Err(TraceError::line(number, "it is longer than any line of a trace"));
        }
        let text = line.trim_ascii();
        if !text.is_empty() && !take(number, text)? {
            break;
        }
    }
    Ok(())
}

/// The fields of a line that are separated by a byte, blanks around them left out.
pub(super) fn fields<const N: usize>(line: &[u8], by: u8) -> Option<[&[u8]; N]> {
    let mut found = [&line[..0]; N];
    let mut parts = line.split(|byte| *byte == by);
    for place in &mut found {
        *place = parts.next()?.trim_ascii();
    }
    Some(found)
}

/// A whole number.
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 20 {
        return None;
    }
    text.iter().try_fold(0u64, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

/// A time, with or without a decimal point, in nanoseconds.
pub(super) fn time(text: &[u8], unit: TimeUnit) -> Option<u64> {
    let (before, after) = match text.iter().position(|byte| *byte == b'.') {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => (text, &text[..0]),
    };
    let mut ns = whole(before)?.checked_mul(unit.nanos())?;
    let mut part = unit.nanos();
    for byte in after {
        part /= 10;
        ns = ns.checked_add(byte.is_ascii_digit().then(|| u64::from(byte - b'0'))? * part)?;
    }
    Some(ns)
}

/// What is said of a field that is none; of a time below zero that alone.
pub(super) fn no_number(line: u64, name: &str, text: &[u8]) -> TraceError {
    let shown = String::from_utf8_lossy(&text[..text.len().min(40)]);
    match text.first() {
        Some(b'-') => TraceError::line(line, format!("{name} is below zero: {shown}")),
        _ => TraceError::line(line, format!("{name} is no number that can be: '{shown}'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_in_every_unit() {
        let check = |text: &str, unit, ns| assert_eq!(time(text.as_bytes(), unit), ns, "{text}");
        check("0.011413", TimeUnit::S, Some(11_413_000));
        check("1.000000001", TimeUnit::S, Some(1_000_000_001));
        check("17", TimeUnit::Us, Some(17_000));
        check("1.5", TimeUnit::Ms, Some(1_500_000));
        check("128166372003061629", TimeUnit::Filetime, Some(12_816_637_200_306_162_900));
        check("228166372003061629", TimeUnit::Filetime, None);
        check("-1", TimeUnit::S, None);
        check("1e3", TimeUnit::S, None);
        check("", TimeUnit::S, None);
    }
}
