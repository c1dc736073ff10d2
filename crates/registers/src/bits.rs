//! A register as bits, numbered as the specifications number them.

/// Which of the two families a register belongs to: the layouts differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// SD and microSD.
    Sd,
    /// MMC and eMMC.
    Mmc,
}

/// A register of `N` bytes, most significant first, whose bits are numbered as in the specifications.
pub(crate) struct Register<const N: usize>(pub(crate) [u8; N]);

impl<const N: usize> Register<N> {
    /// From hexadecimal digits; `None` unless there are exactly two for each byte.
    pub(crate) fn parse(hex: &str) -> Option<Register<N>> {
        let digits: Vec<u32> = hex.trim().chars().map(|c| c.to_digit(16)).collect::<Option<_>>()?;
        if digits.len() != 2 * N {
            return None;
        }
        let mut bytes = [0; N];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = (pair[0] << 4 | pair[1]) as u8;
        }
        Some(Register(bytes))
    }

    /// Bits `high` down to `low` as a number, at most 32 of them.
    pub(crate) fn bits(&self, high: usize, low: usize) -> u32 {
        (low..=high).rev().fold(0, |number, bit| number << 1 | u32::from(self.0[N - 1 - bit / 8] >> (bit % 8) & 1))
    }

    pub(crate) fn bit(&self, bit: usize) -> bool {
        self.bits(bit, bit) == 1
    }

    /// Bits as characters; anything that does not print becomes `?`, and surrounding blanks go.
    pub(crate) fn text(&self, high: usize, low: usize) -> String {
        let characters = (low..=high).rev().step_by(8).map(|top| self.bits(top, top - 7) as u8);
        let text: String = characters
            .filter(|byte| *byte != 0)
            .map(|byte| if byte.is_ascii_graphic() || byte == b' ' { char::from(byte) } else { '?' })
            .collect();
        text.trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_numbered_from_the_right() {
        let register = Register::<2>::parse("8001").unwrap();
        assert_eq!(register.bits(15, 12), 8);
        assert_eq!(register.bits(3, 0), 1);
        assert!(register.bit(0) && register.bit(15) && !register.bit(7));
    }

    #[test]
    fn only_whole_registers_are_decoded() {
        let check = |hex: &str, expect: bool| assert_eq!(Register::<2>::parse(hex).is_some(), expect, "{hex:?}");
        check("8001\n", true);
        check("800", false);
        check("800g", false);
        check("80 1", false);
        check("800100", false);
        check("€1", false);
        check("", false);
    }
}
