//! Sizes and positions in bytes.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};
use std::str::FromStr;

/// A size, or a position counted from the start of a device, in bytes.
///
/// ```
/// use flashscope_units::Bytes;
///
/// let unit: Bytes = "4MiB".parse().unwrap();
/// assert_eq!(unit, Bytes::mib(4));
/// assert_eq!("4k".parse(), Ok(Bytes(4096)));
/// assert_eq!("4kB".parse(), Ok(Bytes(4000)));
/// assert_eq!(unit.to_string(), "4 MiB");
/// // 4KB means 4000 to some and 4096 to others: what it says helps.
/// assert!("4KB".parse::<Bytes>().unwrap_err().to_string().contains("KiB"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Nothing.
    pub const ZERO: Bytes = Bytes(0);
    /// The largest size that is taken from a user: 8 PiB. Below it a float holds every whole number, and products with
    /// the counts that occur here fit 64 bits.
    pub const LARGEST: Bytes = Bytes(1 << 53);
    /// The sector of every classic interface: 512 bytes.
    pub const SECTOR: Bytes = Bytes(512);

    /// `n` × 1024 bytes.
    pub const fn kib(n: u64) -> Bytes {
        Bytes(n << 10)
    }

    /// `n` × 1024² bytes.
    pub const fn mib(n: u64) -> Bytes {
        Bytes(n << 20)
    }

    /// `n` × 1024³ bytes.
    pub const fn gib(n: u64) -> Bytes {
        Bytes(n << 30)
    }

    /// The bare number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number of bytes as a float, for arithmetic that ends in a rate.
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// `self − other`, or nothing where that would be negative.
    pub fn checked_sub(self, other: Bytes) -> Option<Bytes> {
        self.0.checked_sub(other.0).map(Bytes)
    }

    /// `self − other`, or zero.
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }

    /// Whether `self` is a whole multiple of a non-zero `unit`.
    pub const fn is_multiple_of(self, unit: Bytes) -> bool {
        unit.0 != 0 && self.0.is_multiple_of(unit.0)
    }

    /// The largest multiple of a non-zero `unit` that is not above `self`.
    pub const fn align_down(self, unit: Bytes) -> Bytes {
        Bytes(self.0 - self.0 % unit.0)
    }

    /// The smallest multiple of a non-zero `unit` that is not below `self`.
    pub const fn align_up(self, unit: Bytes) -> Bytes {
        Bytes(self.0.div_ceil(unit.0) * unit.0)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Bytes {
    type Output = Bytes;
    fn mul(self, n: u64) -> Bytes {
        Bytes(self.0 * n)
    }
}

impl Div<u64> for Bytes {
    type Output = Bytes;
    fn div(self, n: u64) -> Bytes {
        Bytes(self.0 / n)
    }
}

/// How many whole times `unit` fits.
impl Div<Bytes> for Bytes {
    type Output = u64;
    fn div(self, unit: Bytes) -> u64 {
        self.0 / unit.0
    }
}

impl Rem<Bytes> for Bytes {
    type Output = Bytes;
    fn rem(self, unit: Bytes) -> Bytes {
        Bytes(self.0 % unit.0)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(sizes: I) -> Bytes {
        Bytes(sizes.map(|size| size.0).sum())
    }
}

const BINARY: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];

/// Prints with binary units: exactly where a short form is exact (`4 MiB`, `1.5 MiB`, `512 B`),
/// else rounded to three digits or more (`7.40 GiB`).
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(&(unit, name)) = BINARY.iter().find(|(unit, _)| self.0 >= *unit) else {
            return f.pad(&format!("{} B", self.0));
        };
        let value = self.0 as f64 / unit as f64;
        let text = if self.0.is_multiple_of(unit) {
            format!("{} {name}", self.0 / unit)
        } else if self.0.is_multiple_of(unit / 4) {
            format!("{value} {name}")
        } else if value < 10.0 {
            format!("{value:.2} {name}")
        } else {
            format!("{value:.1} {name}")
        };
        f.pad(&text)
    }
}

/// Why a text is not a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseBytesError {
    /// No number stands at the start.
    NoNumber(String),
    /// The unit is not known.
    UnknownUnit(String),
    /// `KB`, `MB`, `GB`: 1000-based or 1024-based, nobody can tell.
    Ambiguous(String),
    /// The size is not a whole number of bytes.
    NotWhole(String),
    /// Larger than any device that can be meant.
    TooLarge(String),
}

impl fmt::Display for ParseBytesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNumber(text) => {
                write!(f, "'{text}' is not a size\nhint: write a number and a unit, like 4MiB, 16k or 512")
            }
            Self::UnknownUnit(unit) => {
                write!(
                    f,
                    "unknown unit '{unit}'\nhint: 1024-based: k, KiB, M, MiB, G, GiB, T, TiB; 1000-based: kB, mB, gB"
                )
            }
            Self::Ambiguous(unit) => write!(
                f,
                "unit '{unit}' can mean 1000 or 1024\nhint: write {first}iB for 1024-based or {low}B for 1000-based",
                first = &unit[..1],
                low = unit[..1].to_lowercase()
            ),
            Self::NotWhole(text) => write!(f, "'{text}' is not a whole number of bytes"),
            Self::TooLarge(text) => write!(f, "'{text}' is more than {}, which no device holds", Bytes::LARGEST),
        }
    }
}

impl std::error::Error for ParseBytesError {}

/// `4KiB`, `4k`, `4K` and `4 KiB` are 1024-based, `4kB` is 1000-based, `4KB` is refused; a bare
/// number is bytes, and `1.5MiB` is allowed where it is a whole number of bytes.
impl FromStr for Bytes {
    type Err = ParseBytesError;

    fn from_str(text: &str) -> Result<Bytes, ParseBytesError> {
        let trimmed = text.trim();
        let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
        let (number, unit) = (&trimmed[..end], trimmed[end..].trim());
        let factor: u64 = match unit {
            "" | "B" => 1,
            "k" | "K" | "KiB" | "kiB" | "kib" => 1 << 10,
            "m" | "M" | "MiB" | "miB" | "mib" => 1 << 20,
            "g" | "G" | "GiB" | "giB" | "gib" => 1 << 30,
            "t" | "T" | "TiB" | "tiB" | "tib" => 1 << 40,
            "kB" => 1_000,
            "mB" => 1_000_000,
            "gB" => 1_000_000_000,
            "tB" => 1_000_000_000_000,
            "KB" | "MB" | "GB" | "TB" => return Err(ParseBytesError::Ambiguous(unit.to_owned())),
            _ if number.is_empty() => return Err(ParseBytesError::NoNumber(text.to_owned())),
            _ => return Err(ParseBytesError::UnknownUnit(unit.to_owned())),
        };
        if let Ok(whole) = number.parse::<u64>() {
            let bytes = whole.checked_mul(factor).map(Bytes).filter(|bytes| *bytes <= Bytes::LARGEST);
            return bytes.ok_or_else(|| ParseBytesError::TooLarge(text.to_owned()));
        }
        let value: f64 = number.parse().map_err(|_| ParseBytesError::NoNumber(text.to_owned()))?;
        let bytes = value * factor as f64;
        if bytes > Bytes::LARGEST.as_f64() {
            return Err(ParseBytesError::TooLarge(text.to_owned()));
        }
        if bytes.fract() != 0.0 {
            return Err(ParseBytesError::NotWhole(text.to_owned()));
        }
        Ok(Bytes(bytes as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_sizes() {
        let check = |text: &str, expect: Option<u64>| {
            assert_eq!(text.parse::<Bytes>().ok().map(Bytes::get), expect, "{text}");
        };
        check("512", Some(512));
        check("4k", Some(4096));
        check("4KiB", Some(4096));
        check("4 MiB", Some(4 << 20));
        check("4kB", Some(4000));
        check("1.5MiB", Some(3 << 19));
        check("4KB", None);
        check("0.3", None);
        check("", None);
        check("MiB", None);
        check("99999999999G", None);
        check("18446744073709551615", None);
        check("8192T", Some(1 << 53));
        check("-4k", None);
        check("4q", None);
    }

    #[test]
    fn ambiguous_units_are_explained() {
        let message = "4KB".parse::<Bytes>().unwrap_err().to_string();
        assert!(message.contains("hint: write KiB for 1024-based or kB for 1000-based"), "{message}");
    }

    #[test]
    fn prints_sizes() {
        let check = |bytes: u64, expect: &str| assert_eq!(Bytes(bytes).to_string(), expect);
        check(0, "0 B");
        check(512, "512 B");
        check(16384, "16 KiB");
        check(3 << 19, "1.5 MiB");
        check(24 << 20, "24 MiB");
        check(7_948_206_080, "7.40 GiB");
        check(640_000_000, "610.4 MiB");
    }

    #[test]
    fn aligns() {
        assert_eq!(Bytes(5).align_down(Bytes(4)), Bytes(4));
        assert_eq!(Bytes(5).align_up(Bytes(4)), Bytes(8));
        assert!(Bytes(8).is_multiple_of(Bytes(4)));
        assert!(!Bytes(8).is_multiple_of(Bytes(0)));
    }
}
