//! fio's units: what a number with a suffix means.

use flashscope_units::{Bytes, Nanos};

/// A size, or a share of something that is known later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Amount {
    Bytes(u64),
    Percent(f64),
}

/// Which of `k` and `ki` is 1024 (fio's `kb_base`): by default it is `k`, against the standards, as it always was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KbBase {
    Binary,
    Standard,
}

/// `4k`, `4kb`, `1m`, `0x1000`; with `kb_base=1024` `4kib` is 4000.
pub(super) fn bytes(text: &str, base: KbBase) -> Result<Bytes, String> {
    let text = text.trim();
    let (number, suffix) = split(text)?;
    let lower = suffix.to_ascii_lowercase();
    // Only the three letters `kib` are another unit than `k`; `kb` and `ki` are not.
    let marked = lower.ends_with("ib");
    let power = match lower.trim_end_matches(['i', 'b']) {
        "" if !lower.contains('i') => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return Err(format!("'{suffix}' is no unit of a size")),
    };
    let binary = (base == KbBase::Binary) != marked;
    let unit = if binary { 1024u64.pow(power) } else { 1000u64.pow(power) };
    let found = number.checked_mul(unit).filter(|bytes| *bytes <= Bytes::LARGEST.get());
    found.map(Bytes).ok_or_else(|| format!("'{text}' is too large"))
}

/// The same, or `10%`.
pub(super) fn amount(text: &str, base: KbBase) -> Result<Amount, String> {
    match text.trim().strip_suffix('%') {
        Some(percent) => {
            let percent: f64 = percent.trim().parse().map_err(|_| format!("'{text}' is no percentage"))?;
            if (0.0..=100.0).contains(&percent) {
                Ok(Amount::Percent(percent))
            } else {
                Err(format!("'{text}' is not between 0 and 100 %"))
            }
        }
        None => bytes(text, base).map(|bytes| Amount::Bytes(bytes.get())),
    }
}

/// A time; without a unit it is `bare`.
pub(super) fn time(text: &str, bare: Nanos) -> Result<Nanos, String> {
    let text = text.trim();
    let (number, suffix) = split(text)?;
    let unit = match suffix.to_ascii_lowercase().as_str() {
        "" => bare.get(),
        "d" => 86_400_000_000_000,
        "h" => 3_600_000_000_000,
        "m" => 60_000_000_000,
        "s" => 1_000_000_000,
        "ms" | "msec" => 1_000_000,
        "us" | "usec" => 1000,
        _ => return Err(format!("'{suffix}' is no unit of a time")),
    };
    number.checked_mul(unit).map(Nanos).ok_or_else(|| format!("'{text}' is too long"))
}

/// A plain whole number; fio takes unit letters here as well.
pub(super) fn number(text: &str, base: KbBase) -> Result<u64, String> {
    bytes(text, base).map(Bytes::get)
}

/// A number with a fraction.
pub(super) fn real(text: &str) -> Result<f64, String> {
    let value: f64 = text.trim().parse().map_err(|_| format!("'{text}' is no number"))?;
    if value.is_finite() { Ok(value) } else { Err(format!("'{text}' is no number")) }
}

/// `1` or `0`; a bare option is true.
pub(super) fn truth(text: Option<&str>) -> Result<bool, String> {
    match text.map(str::trim) {
        None | Some("1" | "") => Ok(true),
        Some("0") => Ok(false),
        Some(other) => match other.parse::<i64>() {
            Ok(number) => Ok(number != 0),
            Err(_) => Err(format!("'{other}' is neither 1 nor 0")),
        },
    }
}

/// Digits, decimal or after `0x`, and what follows them.
fn split(text: &str) -> Result<(u64, &str), String> {
    let said = || match text.starts_with('(') {
        true => format!("'{text}': arithmetic is not read here"),
        false => format!("'{text}' is no number"),
    };
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(rest) => (rest, 16),
        None => (text, 10),
    };
    let end = digits.find(|letter: char| !letter.is_digit(radix)).unwrap_or(digits.len());
    let number = u64::from_str_radix(&digits[..end], radix).map_err(|_| said())?;
    Ok((number, digits[end..].trim()))
}
