//! A message: words as JSON, and bytes beside them, compressed.
//!
//! Length of the words (4 bytes, little end first), the words, the bytes as a deflate stream; none where there are none.

use crate::error::{HostsError, Kind};
use flate2::Compression;
use flate2::read::{DeflateDecoder, DeflateEncoder};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Read;

/// The most bytes that a message may unfold to: a record of the longest run is a tenth of it.
const MOST: u64 = 48 << 20;

/// Packs a message.
pub(crate) fn pack(words: &impl Serialize, bytes: &[u8]) -> Vec<u8> {
    // Plain data: there is nothing in it that JSON cannot say.
    let words = serde_json::to_vec(words).unwrap_or_default();
    let mut packed = Vec::with_capacity(4 + words.len() + bytes.len() / 8);
    packed.extend((words.len() as u32).to_le_bytes());
    packed.extend(words);
    packed.extend(fold(bytes));
    packed
}

/// Unpacks one.
///
/// # Errors
/// It is none, or of another version.
pub(crate) fn unpack<T: DeserializeOwned>(packed: &[u8]) -> Result<(T, Vec<u8>), HostsError> {
    let odd = |what: &str| {
        let hint = "the programs on both sides have to be of the same version";
        HostsError::new(Kind::Answer, format!("a message cannot be read: {what}"), hint)
    };
    let (length, rest) = packed.split_first_chunk::<4>().ok_or_else(|| odd("it is too short"))?;
    let (words, bytes) =
        rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(|| odd("it is cut off"))?;
    let words = serde_json::from_slice(words).map_err(|error| odd(&error.to_string()))?;
    Ok((words, unfold(bytes).ok_or_else(|| odd("its bytes are not whole, or too many"))?))
}

/// Compresses bytes; nothing stays nothing.
pub(crate) fn fold(bytes: &[u8]) -> Vec<u8> {
    let mut folded = Vec::new();
    if !bytes.is_empty() {
        // Reading from memory into memory cannot fail.
        let _ = DeflateEncoder::new(bytes, Compression::new(4)).read_to_end(&mut folded);
    }
    folded
}

/// What was compressed; `None` where it is not whole, or larger than any record.
pub(crate) fn unfold(folded: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    if folded.is_empty() {
        return Some(bytes);
    }
    DeflateDecoder::new(folded).take(MOST + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MOST).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_out_as_it_went_in_and_half_of_one_is_none() {
        let (words, bytes) = (vec!["a".to_owned(), "µ\n".to_owned()], vec![7; 100_000]);
        let packed = pack(&words, &bytes);
        assert!(packed.len() < 1000);
        assert_eq!(unpack::<Vec<String>>(&packed).unwrap(), (words.clone(), bytes));
        for end in 0..packed.len() {
            assert!(
                unpack::<Vec<String>>(&packed[..end]).is_err() || end == packed.len() - 1 || end < 4 || {
                    // Without any of its bytes it is a message without bytes.
                    unpack::<Vec<String>>(&packed[..end]).unwrap().1.is_empty()
                }
            );
        }
        assert!(unpack::<u32>(&packed).is_err(), "other words");
        assert_eq!(unpack::<Vec<String>>(&pack(&words, &[])).unwrap().1, b"");
    }

    #[test]
    fn what_unfolds_without_end_is_refused() {
        let bomb = fold(&vec![0; MOST as usize + 10]);
        assert!(bomb.len() < 1 << 20 && unfold(&bomb).is_none());
    }
}
