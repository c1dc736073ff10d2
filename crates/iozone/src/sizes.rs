//! Sizes as iozone takes them: a number of KiB, or one with `k`, `m` or `g`.

use flashscope_units::Bytes;

/// Reads a size. Units are binary whatever their case; iozone passes over what it does not understand, here it is an error.
///
/// # Errors
/// In words, what is wrong.
pub fn parse(text: &str) -> Result<Bytes, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "k" => Bytes::kib(1),
        "m" => Bytes::mib(1),
        "g" => Bytes::gib(1),
        _ => return Err("a size is a number of KiB, or one with k, m or g".to_owned()),
    };
    let number: u64 = match digits.parse() {
        Ok(0) => return Err("nothing can be measured on no bytes".to_owned()),
        Ok(number) => number,
        Err(_) => return Err("a size is a whole number of KiB, or one with k, m or g".to_owned()),
    };
    let bytes = number.checked_mul(unit.get()).filter(|bytes| *bytes <= LARGEST);
    bytes.map(Bytes).ok_or_else(|| "no file is so large".to_owned())
}

/// Beyond any file system.
const LARGEST: u64 = 1 << 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_iozone() {
        let check = |text, expect| assert_eq!(parse(text).ok(), expect, "{text}");
        check("1024", Some(Bytes::mib(1)));
        check("64k", Some(Bytes::kib(64)));
        check("4g", Some(Bytes::gib(4)));
        check("2M", Some(Bytes::mib(2)));
        for wrong in ["", "k", "0", "1x", "1mm", "1.5m", "-4", "99999999999g", "18446744073709551617"] {
            check(wrong, None);
        }
    }
}
