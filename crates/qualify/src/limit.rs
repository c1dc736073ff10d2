//! Limits as people write them.

use flashscope_model::qualification::{Bound, FigureUnit, Limit};

/// Units that a limit may have: how it is written, the unit of records, and how many of these it is.
const UNITS: [(&str, FigureUnit, f64); 32] = [
    ("B/s", FigureUnit::BytesPerSecond, 1.0),
    ("kB/s", FigureUnit::BytesPerSecond, 1e3),
    ("MB/s", FigureUnit::BytesPerSecond, 1e6),
    ("GB/s", FigureUnit::BytesPerSecond, 1e9),
    ("KiB/s", FigureUnit::BytesPerSecond, 1024.0),
    ("MiB/s", FigureUnit::BytesPerSecond, 1_048_576.0),
    ("GiB/s", FigureUnit::BytesPerSecond, 1_073_741_824.0),
    ("IOPS", FigureUnit::RequestsPerSecond, 1.0),
    ("kIOPS", FigureUnit::RequestsPerSecond, 1e3),
    ("k IOPS", FigureUnit::RequestsPerSecond, 1e3),
    ("TPS", FigureUnit::TransactionsPerSecond, 1.0),
    ("ns", FigureUnit::Nanoseconds, 1.0),
    ("us", FigureUnit::Nanoseconds, 1e3),
    ("µs", FigureUnit::Nanoseconds, 1e3),
    ("ms", FigureUnit::Nanoseconds, 1e6),
    ("s", FigureUnit::Nanoseconds, 1e9),
    ("min", FigureUnit::Nanoseconds, 6e10),
    ("h", FigureUnit::Nanoseconds, 3.6e12),
    ("B", FigureUnit::Bytes, 1.0),
    ("kB", FigureUnit::Bytes, 1e3),
    ("MB", FigureUnit::Bytes, 1e6),
    ("GB", FigureUnit::Bytes, 1e9),
    ("TB", FigureUnit::Bytes, 1e12),
    ("KiB", FigureUnit::Bytes, 1024.0),
    ("MiB", FigureUnit::Bytes, 1_048_576.0),
    ("GiB", FigureUnit::Bytes, 1_073_741_824.0),
    ("TiB", FigureUnit::Bytes, 1_099_511_627_776.0),
    ("bytes", FigureUnit::Bytes, 1.0),
    ("count", FigureUnit::Count, 1.0),
    ("°C", FigureUnit::Count, 1.0),
    ("mA", FigureUnit::Count, 1.0),
    ("mW", FigureUnit::Count, 1.0),
];

const FORMS: &str = "hint: a limit is \">= 20 MB/s\", \"<= 200 ms\", \">= 0.95 x reference\" or \"holds\"";

/// A unit by its word (`MB/s`, `ms`), and how many of the records' one of it is; `None` where no figure has it.
pub fn unit(word: &str) -> Option<(FigureUnit, f64)> {
    UNITS.iter().find(|(name, ..)| *name == word).map(|(_, unit, factor)| (*unit, *factor))
}

/// `>= 20 MB/s`, `<= 200 ms`, `>= 0.95 x reference`, `holds`.
///
/// # Errors
/// In words, with a hint.
pub(crate) fn parse(text: &str) -> Result<Limit, String> {
    let text = text.trim();
    if text == "holds" {
        return Ok(Limit::Holds);
    }
    let (bound, rest) = match (text.strip_prefix(">="), text.strip_prefix("<=")) {
        (Some(rest), _) => (Bound::AtLeast, rest.trim()),
        (_, Some(rest)) => (Bound::AtMost, rest.trim()),
        _ => return Err(format!("'{text}' does not begin with >= or <=\n{FORMS}")),
    };
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
    let (number, unit_word) = (&rest[..end], rest[end..].trim());
    let value: f64 = number.parse().map_err(|_| format!("'{rest}' does not begin with a number\n{FORMS}"))?;
    if !(value.is_finite() && value > 0.0) {
        return Err(format!("'{number}' is not above zero, and no figure can be held against that\n{FORMS}"));
    }
    if unit_word.is_empty() {
        return Err(format!("'{text}' has no unit\n{FORMS}"));
    }
    let times = ["x", "×", "*"].iter().find_map(|sign| unit_word.strip_prefix(sign));
    if let Some(of) = times {
        return match of.trim() {
            "reference" => Ok(Limit::Reference { bound, ratio: value }),
            other => Err(format!("'{other}' is nothing to be compared with\n{FORMS}")),
        };
    }
    if unit_word == "%" {
        return Err(format!("'{text}': a share of the reference is written as a factor\n{FORMS}"));
    }
    let (unit, factor) = unit(unit_word).ok_or_else(|| {
        let words: Vec<&str> = UNITS.iter().map(|(name, ..)| *name).collect();
        format!("'{unit_word}' is no unit of a figure\nhint: units are {}", words.join(", "))
    })?;
    Ok(Limit::Value { bound, value: value * factor, unit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_as_people_write_them() {
        let value = |bound, value, unit| Ok(Limit::Value { bound, value, unit });
        assert_eq!(parse(">= 20 MB/s"), value(Bound::AtLeast, 20e6, FigureUnit::BytesPerSecond));
        assert_eq!(parse("<=200ms"), value(Bound::AtMost, 200e6, FigureUnit::Nanoseconds));
        assert_eq!(parse(">= 1.5 kIOPS"), value(Bound::AtLeast, 1500.0, FigureUnit::RequestsPerSecond));
        assert_eq!(parse(">= 14.5 GiB"), value(Bound::AtLeast, 14.5 * 1_073_741_824.0, FigureUnit::Bytes));
        assert_eq!(parse(">= 0.95 x reference"), Ok(Limit::Reference { bound: Bound::AtLeast, ratio: 0.95 }));
        assert_eq!(parse("<= 1.1×reference"), Ok(Limit::Reference { bound: Bound::AtMost, ratio: 1.1 }));
        assert_eq!(parse("holds"), Ok(Limit::Holds));
    }

    #[test]
    fn what_is_no_limit_says_why() {
        for (text, why) in [
            ("20 MB/s", "does not begin with >= or <="),
            (">= 20", "has no unit"),
            (">= fast", "does not begin with a number"),
            (">= 0 MB/s", "is not above zero"),
            (">= 20 KB/s", "is no unit of a figure"),
            (">= 95 %", "is written as a factor"),
            (">= 0.95 x candidate", "is nothing to be compared with"),
            (">= 1.2.3 ms", "does not begin with a number"),
        ] {
            let said = parse(text).expect_err(text);
            assert!(said.contains(why) && said.contains("hint: "), "{text}: {said}");
        }
    }
}
