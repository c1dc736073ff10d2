//! SD configuration register: which version of the specification a card follows, and its bus widths.

use crate::bits::Register;

/// A decoded SCR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scr {
    /// Version of the Physical Layer specification in words (`2.00`, `3.0X`, `6.XX`); `None` for codes not given out.
    pub version: Option<&'static str>,
    /// Whether it takes one data line.
    pub one_bit: bool,
    /// Whether it takes four data lines.
    pub four_bit: bool,
    /// What an erased bit reads as: `true` is 1.
    pub erased_bits: bool,
    /// Whether the speed class control command (CMD20) is there.
    pub speed_class_control: bool,
    /// Whether the block count command (CMD23) is there.
    pub set_block_count: bool,
}

impl Scr {
    /// Decodes the 16 hexadecimal digits of sysfs `scr`; `None` where they are not that.
    pub fn parse(hex: &str) -> Option<Scr> {
        let register = Register::<8>::parse(hex)?;
        Some(Scr {
            version: version(&register),
            one_bit: register.bit(48),
            four_bit: register.bit(50),
            erased_bits: register.bit(55),
            speed_class_control: register.bit(32),
            set_block_count: register.bit(33),
        })
    }
}

/// SD Physical Layer, table 5-17: SD_SPEC, SD_SPEC3, SD_SPEC4, SD_SPECX.
fn version(register: &Register<8>) -> Option<&'static str> {
    match (register.bits(59, 56), register.bit(47), register.bit(42), register.bits(41, 38)) {
        (0, false, false, 0) => Some("1.0"),
        (1, false, false, 0) => Some("1.10"),
        (2, false, false, 0) => Some("2.00"),
        (2, true, false, 0) => Some("3.0X"),
        (2, true, true, 0) => Some("4.XX"),
        (2, true, _, 1) => Some("5.XX"),
        (2, true, _, 2) => Some("6.XX"),
        (2, true, _, 3) => Some("7.XX"),
        (2, true, _, 4) => Some("8.XX"),
        (2, true, _, 5) => Some("9.XX"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let check = |hex: &str, expect| assert_eq!(Scr::parse(hex).and_then(|scr| scr.version), expect, "{hex}");
        check("0235000000000000", Some("2.00"));
        check("0235800001000000", Some("3.0X"));
        check("0235840300000000", Some("4.XX"));
        check("0235804300000000", Some("5.XX"));
        check("0235808300000000", Some("6.XX"));
        check("0205848700000000", Some("6.XX"));
        check("0f35000000000000", None);
        check("0235", None);
    }

    #[test]
    fn widths_and_commands() {
        let scr = Scr::parse("02b5800300000000").unwrap();
        assert!(scr.one_bit && scr.four_bit && scr.erased_bits && scr.set_block_count && scr.speed_class_control);
        let scr = Scr::parse("0235800000000000").unwrap();
        assert!(!scr.erased_bits && !scr.set_block_count && !scr.speed_class_control);
    }
}
