//! Printed numbers with their units, and what their printing lost.
//!
//! The original prints times with three significant digits without trailing zeros (`78us` is 78.0),
//! four from a second on, negative ones as whole nanoseconds, and cuts a field after seven bytes:
//! `1e+03µ`, `-13700n`, `-110845`. Rates from 1 GB/s on have four digits (`1.736G/`), those below
//! 1 kB/s none behind the point. Seen by running it.

use super::lexer::{Kind, Lexeme};
use flashscope_model::observation::{Printed, Statistic};
use flashscope_units::{ByteRate, Contrast};

/// A time as printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TimeFigure {
    /// Number as printed, in `unit`.
    pub(super) value: f64,
    /// Weight of the last digit that is printed, in `unit`.
    pub(super) last_digit: f64,
    pub(super) unit: TimeUnit,
}

/// Nobody waits longer for one access, even where the µ of its unit was lost: a hundred days.
const LONGEST_NS: f64 = 100.0 * 24.0 * 3600.0 * 1e9;
/// Bytes per second that no device reaches.
const HIGHEST_RATE: f64 = 1e15;

/// Unit of a printed time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Nano,
    Micro,
    Milli,
    /// Seconds, or microseconds whose µ was lost on the way.
    PlainSecond,
    /// A field of seven characters without a unit: digits exact, power of ten lost.
    CutOff,
}

impl TimeUnit {
    /// Nanoseconds in one, with seconds taken at their word.
    pub(super) fn nanos(self) -> f64 {
        match self {
            TimeUnit::Nano | TimeUnit::CutOff => 1.0,
            TimeUnit::Micro => 1e3,
            TimeUnit::Milli => 1e6,
            TimeUnit::PlainSecond => 1e9,
        }
    }
}

impl TimeFigure {
    /// Weight of the last significant digit in `unit`: trailing zeros are not printed.
    pub(super) fn quantum(self) -> f64 {
        match self.unit {
            TimeUnit::Nano | TimeUnit::CutOff => self.last_digit,
            TimeUnit::Micro | TimeUnit::Milli => significant(self.value, self.last_digit, 3),
            TimeUnit::PlainSecond => significant(self.value, self.last_digit, 4),
        }
    }

    /// The figure in nanoseconds as a printed statistic.
    pub(super) fn printed(self, statistic: Statistic, places: Option<u32>, tries: Option<u32>) -> Printed<Contrast> {
        let scale = self.unit.nanos();
        Printed {
            value: Contrast(self.value * scale),
            quantum: Contrast(self.quantum() * scale),
            statistic,
            places,
            tries,
        }
    }
}

/// The time at `lexemes[at]`, and how many lexemes it takes.
pub(super) fn time(line: &str, lexemes: &[Lexeme<'_>], at: usize) -> Option<(TimeFigure, usize)> {
    let number = lexemes.get(at).filter(|lexeme| lexeme.kind == Kind::Number)?;
    let value = decimal(number.text)?;
    let (unit, unit_end) = time_unit(line, number)?;
    if value.abs() * unit.nanos() > LONGEST_NS {
        return None;
    }
    let used = 1 + lexemes[at + 1..].iter().take_while(|lexeme| lexeme.start < unit_end).count();
    Some((TimeFigure { value, last_digit: last_digit(number.text), unit }, used))
}

/// The rate at `lexemes[at]`, how many lexemes it takes, and whether it is spelt as the original does.
pub(super) fn rate(line: &str, lexemes: &[Lexeme<'_>], at: usize) -> Option<(Printed<ByteRate>, usize, bool)> {
    let number = lexemes.get(at).filter(|lexeme| lexeme.kind == Kind::Number)?;
    let value = decimal(number.text).filter(|value| *value >= 0.0)?;
    let rest = &line[number.end()..];
    let spaces = rest.len() - rest.trim_start().len();
    let unit: String = rest.trim_start().chars().take_while(|c| c.is_ascii_alphabetic() || *c == '/').collect();
    let (scale, digits) = rate_unit(&unit, spaces > 0).filter(|(scale, _)| value * scale <= HIGHEST_RATE)?;
    let end = number.end() + spaces + unit.len();
    let used = 1 + lexemes[at + 1..].iter().take_while(|lexeme| lexeme.start < end).count();
    let printed = Printed {
        value: ByteRate(value * scale),
        quantum: ByteRate(significant(value, last_digit(number.text), digits) * scale),
        statistic: Statistic::Throughput,
        places: None,
        tries: None,
    };
    let original = spaces == 0 && matches!(&unit[1..], "/s" | "/S" | "/" | "");
    Some((printed, used, original))
}

/// A number in the original's spelling, or with a decimal comma.
pub(super) fn decimal(text: &str) -> Option<f64> {
    let value: f64 = match text.matches(',').count() {
        0 => text.parse().ok()?,
        1 if !text.contains('.') => text.replace(',', ".").parse().ok()?,
        _ => return None,
    };
    value.is_finite().then_some(value)
}

/// The weight of the last digit that is printed.
pub(super) fn last_digit(text: &str) -> f64 {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let decimals = mantissa.find(['.', ',']).map_or(0, |point| mantissa.len() - point - 1);
    let exponent: i32 = exponent.parse().unwrap_or(0);
    10f64.powi(exponent.saturating_sub(decimals as i32).clamp(-300, 300))
}

/// The weight of the last of `digits` significant digits, where trailing zeros are not printed.
fn significant(value: f64, printed: f64, digits: i32) -> f64 {
    if value == 0.0 {
        return printed;
    }
    let magnitude = value.abs().log10().floor() as i32;
    // From 999.5 on the original prints 1e+03 of the same unit: half a unit was rounded away, not five.
    let magnitude = if value.abs() == 1000.0 && digits == 3 { 2 } else { magnitude };
    printed.min(10f64.powi(magnitude - digits + 1))
}

/// The unit right behind a number, or after one space, and where it ends.
fn time_unit(line: &str, number: &Lexeme<'_>) -> Option<(TimeUnit, usize)> {
    let rest = &line[number.end()..];
    let spaces = rest.len() - rest.trim_start().len();
    let text = rest.trim_start();
    let length = text.find(|c: char| c.is_whitespace() || (c.is_ascii() && !c.is_ascii_alphabetic() && c != '?'));
    let text = &text[..length.unwrap_or(text.len())];
    let found = if spaces == 0 { attached_unit(text) } else { detached_unit(text) };
    match found {
        Some((unit, length)) => Some((unit, number.end() + spaces + length)),
        None if text.is_empty() || spaces > 0 => {
            // Seven characters of sign and digits are a field that lost its unit.
            let cut = number.text.len() == 7 && number.text.starts_with('-') && !number.text.contains(['.', ',', 'e']);
            cut.then(|| (TimeUnit::CutOff, number.end()))
        }
        None => None,
    }
}

fn detached_unit(text: &str) -> Option<(TimeUnit, usize)> {
    let whole = attached_unit(text).filter(|(_, length)| *length == text.len());
    // One letter after a space is a unit only if it cannot be a word cut off by chance.
    whole.filter(|_| text.chars().count() >= 2 || text == "s")
}

/// A unit, also cut off (`n`, `µ`), damaged (`Âµs`, `?s`) or with noise behind it (`usroot@…`).
fn attached_unit(text: &str) -> Option<(TimeUnit, usize)> {
    let lower = text.to_ascii_lowercase();
    let exact = match lower.as_str() {
        "ns" | "n" | "nsec" | "нс" => Some(TimeUnit::Nano),
        "us" | "u" | "usec" | "µsec" | "μsec" | "мкс" => Some(TimeUnit::Micro),
        "ms" | "m" | "msec" | "мс" => Some(TimeUnit::Milli),
        "s" | "sec" => Some(TimeUnit::PlainSecond),
        _ => None,
    };
    if let Some(unit) = exact {
        return Some((unit, text.len()));
    }
    // However an encoding mangles µ, it leaves something that is not ASCII, or a question mark.
    let damaged = text.find(|c: char| c.is_ascii() && c != '?').unwrap_or(text.len());
    if damaged > 0 && text[..damaged].chars().count() <= 8 {
        let tail = &text[damaged..];
        let s = usize::from(tail.starts_with(['s', 'S']));
        return (s == 1 || (tail.is_empty() && !text.starts_with('?'))).then_some((TimeUnit::Micro, damaged + s));
    }
    let units = [("ns", TimeUnit::Nano), ("us", TimeUnit::Micro), ("ms", TimeUnit::Milli)];
    units.into_iter().find(|(name, _)| lower.starts_with(name)).map(|(_, unit)| (unit, 2))
}

/// Bytes per second in one unit, and significant digits that the original prints with it.
fn rate_unit(unit: &str, detached: bool) -> Option<(f64, i32)> {
    let (scale, digits, rest) = match unit.as_bytes().first()? {
        b'K' | b'k' => (1e3, 3, &unit[1..]),
        b'M' => (1e6, 3, &unit[1..]),
        b'G' => (1e9, 4, &unit[1..]),
        b'B' => (1.0, 1, unit),
        _ => return None,
    };
    match rest {
        "/s" | "B/s" | "/sec" | "B/sec" | "/S" | "B/S" => Some((scale, digits)),
        "iB/s" | "iB/sec" => Some((1024f64.powf(scale.log10() / 3.0), digits)),
        // Cut off, which only an attached unit can be.
        "/" | "" | "B/" if !detached => Some((scale, digits)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lex;
    use super::*;

    fn time_of(text: &str) -> Option<(TimeUnit, f64, f64)> {
        time(text, &lex(text), 0).map(|(figure, _)| (figure.unit, figure.value, figure.quantum()))
    }

    #[test]
    fn what_no_device_takes_is_no_figure() {
        assert_eq!(time_of("1e300ms"), None);
        assert_eq!(time_of("99999999999s"), None);
        assert!(time_of("694000s").is_some(), "microseconds whose µ was lost");
        assert!(rate("1e300M/s", &lex("1e300M/s"), 0).is_none());
        assert!(rate("1.736G/", &lex("1.736G/"), 0).is_some());
    }

    #[test]
    fn times() {
        let check = |text: &str, expect: (TimeUnit, f64, f64)| {
            let (unit, value, quantum) = time_of(text).unwrap_or_else(|| panic!("no time in {text}"));
            assert_eq!((unit, value), (expect.0, expect.1), "{text}");
            assert!((quantum / expect.2 - 1.0).abs() < 1e-9, "{text}: quantum {quantum}");
        };
        check("678us", (TimeUnit::Micro, 678.0, 1.0));
        check("78us", (TimeUnit::Micro, 78.0, 0.1));
        check("10µs", (TimeUnit::Micro, 10.0, 0.1));
        check("4.59μs", (TimeUnit::Micro, 4.59, 0.01));
        check("1.1ms", (TimeUnit::Milli, 1.1, 0.01));
        check("1,07ms", (TimeUnit::Milli, 1.07, 0.01));
        check("1e+03µ", (TimeUnit::Micro, 1000.0, 1.0));
        check("535n", (TimeUnit::Nano, 535.0, 1.0));
        check("35ns", (TimeUnit::Nano, 35.0, 1.0));
        check("-90026n", (TimeUnit::Nano, -90026.0, 1.0));
        check("-110845", (TimeUnit::CutOff, -110845.0, 1.0));
        check("694Âµs", (TimeUnit::Micro, 694.0, 1.0));
        check("694Ã‚Âµs", (TimeUnit::Micro, 694.0, 1.0));
        check("694┬╡s", (TimeUnit::Micro, 694.0, 1.0));
        check("694?s", (TimeUnit::Micro, 694.0, 1.0));
        check("694\u{FFFD}s", (TimeUnit::Micro, 694.0, 1.0));
        check("694\u{FFFD}\u{FFFD}s", (TimeUnit::Micro, 694.0, 1.0));
        check("694s", (TimeUnit::PlainSecond, 694.0, 0.1));
        check("694 us", (TimeUnit::Micro, 694.0, 1.0));
        check("694usroot@box", (TimeUnit::Micro, 694.0, 1.0));
        check("2s", (TimeUnit::PlainSecond, 2.0, 0.001));
    }

    #[test]
    fn no_times() {
        for text in ["694", "1234567", "-1234", "694x", "694 m", "69.", "us", "694?", "1,2,3us", "nan", "694 on"] {
            assert_eq!(time_of(text), None, "{text}");
        }
    }

    #[test]
    fn rates() {
        let check = |text: &str, expect: Option<(f64, f64)>| {
            let got = rate(text, &lex(text), 0).map(|(printed, ..)| (printed.value.0, printed.quantum.0));
            match (got, expect) {
                (Some(got), Some(expect)) => {
                    assert!((got.0 / expect.0 - 1.0).abs() < 1e-9, "{text}: {got:?}");
                    assert!((got.1 / expect.1 - 1.0).abs() < 1e-9, "{text}: {got:?}");
                }
                (got, expect) => assert_eq!(got, expect, "{text}"),
            }
        };
        check("8.87M/s", Some((8.87e6, 1e4)));
        check("16M/s", Some((16e6, 1e5)));
        check("2M/s", Some((2e6, 1e4)));
        check("85.4K/s", Some((85.4e3, 1e2)));
        check("1e+03K/", Some((1e6, 1e3)));
        check("1.736G/", Some((1.736e9, 1e6)));
        check("1.64G/s", Some((1.64e9, 1e6)));
        check("8,87M/s", Some((8.87e6, 1e4)));
        check("8.87MB/s", Some((8.87e6, 1e4)));
        check("8 MiB/s", Some((8.0 * 1048576.0, 0.01 * 1048576.0)));
        check("8.87M", Some((8.87e6, 1e4)));
        check("8.87 M", None);
        check("8.87", None);
        check("8.87ms", None);
        check("-8.87M/s", None);
    }
}
