//! Bytes that nothing compresses, handed out as slices: what apps write costs no time to make.

use flashscope_stats::Rng;

/// Contents repeat after so many bytes. Odd, so that no two blocks of a file are alike where they are cut at multiples of
/// anything even; a device that stores like blocks once finds none.
const PERIOD: usize = (4 << 20) - 61;
/// The longest slice: the largest piece of a definition.
const LONGEST: usize = 4 << 20;
/// Bytes of letters and digits; texts are short.
const TEXT: usize = 1 << 20;

/// The bytes that files and databases are filled with.
pub(crate) struct Pool {
    bytes: Vec<u8>,
    text: String,
}

impl Pool {
    /// The same in every run: what differs is where slices are taken from.
    pub(crate) fn new() -> Pool {
        let mut rng = Rng::new(0x666c_6173_6873_636f);
        let mut bytes = Vec::with_capacity(PERIOD + LONGEST + 8);
        while bytes.len() < PERIOD {
            bytes.extend_from_slice(&rng.next_u64().to_le_bytes());
        }
        bytes.truncate(PERIOD);
        bytes.extend_from_within(..LONGEST.min(PERIOD));
        let rest = LONGEST - LONGEST.min(PERIOD);
        bytes.extend_from_within(..rest);
        const SIGNS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .";
        let text = bytes.iter().take(TEXT).map(|byte| char::from(SIGNS[usize::from(byte % 64)])).collect();
        Pool { bytes, text }
    }

    /// `length` bytes from `offset` on of the contents of this number.
    pub(crate) fn slice(&self, contents: u64, offset: u64, length: u64) -> &[u8] {
        let from = ((contents % PERIOD as u64 + offset % PERIOD as u64) % PERIOD as u64) as usize;
        &self.bytes[from..from + length as usize]
    }

    /// `length` letters and digits; at most 512 KiB of them.
    pub(crate) fn text(&self, from: u64, length: u64) -> &str {
        let length = (length as usize).min(TEXT / 2);
        let from = (from % (TEXT / 2) as u64) as usize;
        &self.text[from..from + length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_the_same_whatever_it_is_read_in() {
        let pool = Pool::new();
        let whole = pool.slice(12_345_678_901, 0, LONGEST as u64);
        for (at, length) in [(0, 10), (4096, 4096), (PERIOD as u64 - 5, 61), (3 << 20, 1 << 20)] {
            let part = pool.slice(12_345_678_901, at, length);
            assert_eq!(part, &whole[at as usize..(at + length) as usize], "{at}");
        }
        let far = pool.slice(7, 96 << 20, 4096);
        assert_eq!(&pool.slice(7, (96 << 20) - 100, 4196)[100..], far);
        assert_eq!(pool.text(u64::MAX, 1 << 40).len(), TEXT / 2);
    }
}
