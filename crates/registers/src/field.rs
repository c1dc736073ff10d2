//! A field of a register: where it stands, what it means, and what a value of it says. The tables of fields are data.

use std::fmt::Write;

/// A field of a register, as a row of one of the tables.
#[derive(Debug)]
pub(crate) struct Field {
    /// The name that the standard gives it.
    pub(crate) name: &'static str,
    /// The lowest bit; of EXT_CSD the lowest byte.
    pub(crate) at: u16,
    /// How many bits; of EXT_CSD how many bytes.
    pub(crate) length: u16,
    /// The revision of EXT_CSD that brought it (5: 4.41, 6: 4.5, 7: 5.0, 8: 5.1); 0 for what was always there.
    pub(crate) since: u8,
    /// Who may write it, and how often.
    pub(crate) access: Access,
    pub(crate) meaning: Meaning,
}

/// Who may write a field, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only.
    Read,
    /// Written as often as wanted; a reset, a command or a power cycle brings the old value back, or it is kept until it is written again.
    Many,
    /// At least a part of it is written once and for all.
    Once,
}

impl Access {
    /// In the words of the output.
    pub fn word(self) -> &'static str {
        match self {
            Access::Read => "read only",
            Access::Many => "writable",
            Access::Once => "written once",
        }
    }
}

/// What the number in a field means.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Meaning {
    /// A number that stands for itself, up to the largest that is allowed.
    Number(u32),
    /// The number times so many of a unit, up to the largest that is allowed; 0 says nothing where that is so.
    Times { factor: u64, unit: Unit, most: u32, zero: &'static str },
    /// So many of a unit times two to the power of the number, up to the largest that is allowed.
    Power { factor: u64, unit: Unit, most: u32, zero: &'static str },
    /// One of these; any other is reserved.
    Choice(&'static [(u32, &'static str)]),
    /// Each bit by itself; any other bit is reserved.
    Flags(&'static [(u8, &'static str)]),
    /// A few lowest bits that are a choice, and flags above them.
    Mixed { choice: &'static [(u32, &'static str)], mask: u32, flags: &'static [(u8, &'static str)] },
    /// Characters.
    Text,
    /// Binary coded digits with a point between them.
    Revision,
    /// A mantissa in tenths and a power of ten, of seconds in nanoseconds.
    Taac,
    /// A mantissa in tenths and a power of ten of the bit rate of a line.
    Rate(&'static [u32; 16]),
    /// Something of the maker's.
    Vendor,
    /// Nothing yet: any bit that is set belongs to a later revision, or to the maker.
    Reserved,
}

/// What a figure of a register is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Nanos,
    /// Bytes in a second.
    BytesPerSecond,
    /// Microamperes.
    Microamperes,
    /// Sectors of 512 bytes.
    Sectors,
    /// Bits in a second.
    BitsPerSecond,
}

impl Unit {
    /// The suffix of machine formats.
    pub fn suffix(self) -> &'static str {
        match self {
            Unit::Bytes => "bytes",
            Unit::Nanos => "ns",
            Unit::BytesPerSecond => "bytes_per_s",
            Unit::Microamperes => "ua",
            Unit::Sectors => "sectors",
            Unit::BitsPerSecond => "bits_per_s",
        }
    }

    /// A figure for people.
    pub fn words(self, value: u64) -> String {
        let scaled = |step: u64, names: &[&str]| {
            let mut value = value as f64;
            let mut at = 0;
            while value >= step as f64 && at + 1 < names.len() {
                value /= step as f64;
                at += 1;
            }
            let text = format!("{value:.3}");
            format!("{} {}", text.trim_end_matches('0').trim_end_matches('.'), names[at])
        };
        match self {
            Unit::Bytes => scaled(1024, &["B", "KiB", "MiB", "GiB", "TiB"]),
            Unit::Nanos => scaled(1000, &["ns", "µs", "ms", "s"]),
            Unit::BytesPerSecond => scaled(1000, &["B/s", "kB/s", "MB/s", "GB/s"]),
            Unit::Microamperes => scaled(1000, &["µA", "mA"]),
            Unit::Sectors => format!("{value} sectors"),
            Unit::BitsPerSecond => scaled(1000, &["bit/s", "kbit/s", "Mbit/s"]),
        }
    }
}

/// What a value says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) words: String,
    pub(crate) figure: Option<(u64, Unit)>,
    pub(crate) problem: Option<String>,
}

impl Meaning {
    /// What these bytes say, the least significant first.
    pub(crate) fn say(self, bytes: &[u8]) -> Said {
        let number = bytes.iter().take(8).rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let mut said = Said::default();
        let limit = |said: &mut Said, most: u32| {
            if number > u64::from(most) {
                said.problem = Some(format!("{number} is above {most}, the largest that is defined"));
            }
        };
        match self {
            Meaning::Number(most) => {
                said.words = number.to_string();
                limit(&mut said, most);
            }
            Meaning::Times { zero, .. } | Meaning::Power { zero, .. } if number == 0 && !zero.is_empty() => {
                zero.clone_into(&mut said.words);
            }
            Meaning::Times { factor, unit, most, .. } => {
                limit(&mut said, most);
                said.figure = number.checked_mul(factor).filter(|_| said.problem.is_none()).map(|value| (value, unit));
            }
            Meaning::Power { factor, unit, most, .. } => {
                limit(&mut said, most);
                let value = 1_u64.checked_shl(number as u32).and_then(|power| power.checked_mul(factor));
                said.figure = value.filter(|_| said.problem.is_none()).map(|value| (value, unit));
            }
            Meaning::Choice(choices) => match choices.iter().find(|(value, _)| u64::from(*value) == number) {
                Some((_, words)) => (*words).clone_into(&mut said.words),
                None => said.problem = Some(format!("{number:#x} is reserved")),
            },
            Meaning::Flags(flags) => flagged(&mut said, number, flags),
            Meaning::Mixed { choice, mask, flags } => {
                flagged(&mut said, number & !u64::from(mask), flags);
                let first = Meaning::Choice(choice).say(&((number as u32) & mask).to_le_bytes());
                said.problem = first.problem.or(said.problem.take());
                if number & !u64::from(mask) == 0 {
                    said.words = first.words;
                } else {
                    said.words = format!("{}, {}", first.words, said.words);
                }
            }
            Meaning::Text => {
                let printable = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
                let text: Vec<u8> = bytes.iter().rev().copied().filter(|byte| *byte != 0).collect();
                if !text.iter().all(printable) {
                    said.problem = Some("has characters that do not print".to_owned());
                }
                let text: String =
                    text.iter().map(|byte| if printable(byte) { char::from(*byte) } else { '?' }).collect();
                said.words = format!("\"{}\"", text.trim_end());
            }
            Meaning::Revision => said.words = format!("{}.{}", number >> 4, number & 0xf),
            Meaning::Taac => match TENTHS[(number as usize >> 3) & 0xf] {
                0 => said.problem = Some(format!("{number:#x} is reserved")),
                tenths => said.figure = Some((u64::from(tenths) * 10_u64.pow(number as u32 & 7) / 10, Unit::Nanos)),
            },
            Meaning::Rate(tenths) => match (tenths[(number as usize >> 3) & 0xf], number & 7) {
                (tenths, power @ 0..=3) if tenths > 0 => {
                    said.figure = Some((u64::from(tenths) * 10_000 * 10_u64.pow(power as u32), Unit::BitsPerSecond));
                }
                _ => said.problem = Some(format!("{number:#x} is reserved")),
            },
            Meaning::Vendor => {
                said.words = if bytes.iter().all(|byte| *byte == 0) { "nothing" } else { "of the maker's" }.to_owned();
            }
            Meaning::Reserved => {
                if bytes.iter().any(|byte| *byte != 0) {
                    said.problem = Some("reserved, and not 0".to_owned());
                }
            }
        }
        if let Some((value, unit)) = said.figure {
            said.words = unit.words(value);
        }
        said
    }
}

/// Mantissas of times and rates in tenths (SD Physical Layer and JESD84-B51, register CSD).
pub(crate) const TENTHS: [u32; 16] = [0, 10, 12, 13, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 70, 80];
/// The same of the rate of an eMMC part, which differ in two.
pub(crate) const MMC_TENTHS: [u32; 16] = [0, 10, 12, 13, 15, 20, 26, 30, 35, 40, 45, 52, 55, 60, 70, 80];

fn flagged(said: &mut Said, number: u64, flags: &[(u8, &str)]) {
    let mut rest = number;
    for (bit, words) in flags {
        if number >> bit & 1 == 1 {
            rest &= !(1 << bit);
            let comma = if said.words.is_empty() { "" } else { ", " };
            let _ = write!(said.words, "{comma}{words}");
        }
    }
    if said.words.is_empty() {
        said.words.push_str("none");
    }
    if rest != 0 {
        said.problem = Some(format!("reserved bits are set: {rest:#x}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(meaning: Meaning, bytes: &[u8], words: &str, problem: bool) {
        let said = meaning.say(bytes);
        assert_eq!((said.words.as_str(), said.problem.is_some()), (words, problem), "{meaning:?} {bytes:x?}");
    }

    #[test]
    fn values_in_words() {
        let times = Meaning::Times { factor: 10_000_000, unit: Unit::Nanos, most: 255, zero: "not said" };
        check(times, &[0x19], "250 ms", false);
        check(times, &[0], "not said", false);
        let power = Meaning::Power { factor: 100, unit: Unit::Nanos, most: 0x17, zero: "" };
        check(power, &[0x11], "13.107 ms", false);
        check(power, &[0x18], "", true);
        check(Meaning::Choice(&[(1, "one")]), &[1], "one", false);
        check(Meaning::Choice(&[(1, "one")]), &[2], "", true);
        check(Meaning::Flags(&[(0, "a"), (2, "c")]), &[5], "a, c", false);
        check(Meaning::Flags(&[(0, "a"), (2, "c")]), &[3], "a", true);
        check(
            Meaning::Mixed { choice: &[(1, "high")], mask: 0xf, flags: &[(7, "strobe")] },
            &[0x81],
            "high, strobe",
            false,
        );
        check(Meaning::Text, b"\0R4BNJB", "\"BJNB4R\"", false);
        check(Meaning::Taac, &[0x26], "1.5 ms", false);
        check(Meaning::Rate(&TENTHS), &[0x32], "25 Mbit/s", false);
        check(Meaning::Rate(&MMC_TENTHS), &[0x32], "26 Mbit/s", false);
        check(Meaning::Reserved, &[0, 1], "", true);
    }
}
