//! What bytes that were read are: which tags, of which generation and place, and where something else begins.
//!
//! A tag follows from its place and generation, and both from it ([`crate::payload`]). Every word is first held against
//! the place where it was read, whatever its generation, and against the tags before it; only where a sector begins with
//! neither are the known generations tried for another place. A device in order is told by its pages: the first word says
//! which tags a page should hold, and one comparison whether it does.

use crate::payload::{are_tags, place_key, scramble, tag, uniform, unscramble};
use flashscope_device::{Holds, Known, Stretch, stretch};
use flashscope_units::Bytes;

/// Bytes that one tag takes.
const WORD: usize = 8;
/// Bytes of the smallest logical block: what lies elsewhere begins where one does.
const SECTOR: usize = 512;
/// Bytes that are compared at once.
const PAGE: usize = 4096;
/// No device has as many words: an address beyond it is a chance find.
const MOST_WORDS: u64 = 1 << 50;

/// A tag of one writing, at one place.
#[derive(Clone, Copy)]
struct Found {
    generation: u32,
    /// Place of the word, in words.
    index: u64,
}

/// What `bytes`, read at `offset`, hold, told by tags of the known generations; `offset` is a multiple of 8.
pub fn stretches(known: Known, offset: u64, bytes: &[u8]) -> Vec<Stretch> {
    let mut list = Vec::new();
    let mut before = None;
    for (page, at) in bytes.chunks(PAGE).zip((offset..).step_by(PAGE)) {
        if let Some(first) = begins(known, at, page, before).filter(|first| goes_on(*first, page)) {
            before = Some(Found { index: first.index + (page.len() / WORD) as u64 - 1, ..first });
            push(&mut list, page.len(), holds(first));
            continue;
        }
        before = sectors(known, at, page, before, &mut list);
    }
    list
}

/// Tells a page sector by sector. `before` is the tag in front of it; gives back the last one in it.
fn sectors(known: Known, at: u64, page: &[u8], before: Option<Found>, list: &mut Vec<Stretch>) -> Option<Found> {
    page.chunks(SECTOR).zip((at..).step_by(SECTOR)).fold(before, |before, (sector, at)| match uniform(sector) {
        Some(byte) => {
            push(list, sector.len(), Holds::Uniform(byte));
            None
        }
        None => mixed(known, at, sector, before, list),
    })
}

/// The tag that a page begins with, behind the one `before` it.
fn begins(known: Known, at: u64, page: &[u8], before: Option<Found>) -> Option<Found> {
    let word = u64::from_le_bytes(*page.first_chunk()?);
    let next = before.map(|found| Found { index: found.index + 1, ..found });
    next.filter(|next| is(word, *next)).or_else(|| here(known, at / 8, word))
}

/// Whether a page holds nothing but the tags from this one on.
fn goes_on(first: Found, page: &[u8]) -> bool {
    page.len().is_multiple_of(WORD) && are_tags(first.index, scramble(u64::from(first.generation)), page)
}

fn holds(Found { generation, index }: Found) -> Holds {
    Holds::Tagged { generation, addressed: Bytes(index * 8) }
}

/// Tells the words of a sector that is not uniform. `before` is the tag in front of it; gives back the last one in it.
fn mixed(known: Known, at: u64, sector: &[u8], before: Option<Found>, list: &mut Vec<Stretch>) -> Option<Found> {
    let mut last = before;
    let mut told: Vec<(usize, Holds)> = Vec::with_capacity(1);
    for (number, bytes) in sector.chunks(WORD).enumerate() {
        let index = at / 8 + number as u64;
        let next = last.map(|found| Found { index: found.index + 1, ..found });
        let found = bytes.first_chunk().and_then(|word| {
            let word = u64::from_le_bytes(*word);
            next.filter(|next| is(word, *next))
                .or_else(|| here(known, index, word))
                .or_else(|| if number == 0 { elsewhere(known, sector, word) } else { None })
        });
        let holds = match (found, uniform(bytes)) {
            (Some(found), _) => self::holds(found),
            (None, Some(byte)) => Holds::Uniform(byte),
            (None, None) => Holds::Foreign,
        };
        // A word that is none of ours leaves open where the tags go on.
        last = found.or(next);
        told.push((bytes.len(), holds));
    }
    // Equal bytes among foreign ones are part of those.
    let foreign = told.iter().any(|(_, holds)| *holds == Holds::Foreign);
    for (length, holds) in told {
        let holds = if foreign && matches!(holds, Holds::Uniform(_)) { Holds::Foreign } else { holds };
        push(list, length, holds);
    }
    last
}

fn is(word: u64, found: Found) -> bool {
    word == tag(found.index, scramble(u64::from(found.generation)))
}

/// The tag of a known generation at its own place.
fn here(known: Known, index: u64, word: u64) -> Option<Found> {
    let generation = u32::try_from(unscramble(place_key(word, index))).ok()?;
    known.has(generation).then_some(Found { generation, index })
}

/// The tag of a known generation at another place: the word behind it must be the next one.
fn elsewhere(known: Known, sector: &[u8], word: u64) -> Option<Found> {
    let second = sector.get(WORD..).and_then(|rest| rest.first_chunk()).map(|word| u64::from_le_bytes(*word))?;
    known.all().find_map(|generation| {
        let index = place_key(word, scramble(u64::from(generation)));
        let found = Found { generation, index };
        let next = Found { index: index.wrapping_add(1), ..found };
        (index < MOST_WORDS && is(second, next)).then_some(found)
    })
}

fn push(list: &mut Vec<Stretch>, length: usize, holds: Holds) {
    stretch::append(list, Stretch { length: Bytes(length as u64), holds });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::fill;
    use flashscope_device::Fill;

    const KNOWN: Known = Known { first: 1000, last: 1009 };

    fn made(generation: u32, offset: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        fill(Fill::Tagged { generation }, offset, &mut bytes);
        bytes
    }

    fn tagged(length: u64, generation: u32, at: u64) -> Stretch {
        Stretch { length: Bytes(length), holds: Holds::Tagged { generation, addressed: Bytes(at) } }
    }

    fn other(length: u64, holds: Holds) -> Stretch {
        Stretch { length: Bytes(length), holds }
    }

    #[test]
    fn a_range_is_told_in_stretches() {
        let bytes = [
            made(1003, 4096, 1024),
            made(1004, 5120, 512),
            made(1003, 1 << 33, 1024),
            vec![0; 512],
            made(7, 7168, 512),
        ]
        .concat();
        let expect = [
            tagged(1024, 1003, 4096),
            tagged(512, 1004, 5120),
            tagged(1024, 1003, 1 << 33),
            other(512, Holds::Uniform(0)),
            // Of an earlier run.
            other(512, Holds::Foreign),
        ];
        assert_eq!(stretches(KNOWN, 4096, &bytes), expect);
        assert_eq!(stretches(Known::one(7), 4096, &bytes).last(), Some(&tagged(512, 7, 7168)));
    }

    #[test]
    fn whole_pages_are_told_as_their_sectors_are() {
        let page = |number: u64| {
            let at = 4096 * number;
            match number % 7 {
                0..=2 => made(1003, at, 4096),
                3 => made(1004, at + (1 << 30), 4096),
                4 => vec![0xff; 4096],
                5 => [made(1003, at, 2048), made(1004, at + 2048, 2040), vec![9; 8]].concat(),
                _ => [made(77, at, 512), made(1003, at + 512, 3584)].concat(),
            }
        };
        let bytes: Vec<u8> = (3..40).flat_map(page).chain(made(1003, 4096 * 40, 1000)).collect();
        let mut slow = Vec::new();
        sectors(KNOWN, 3 * 4096, &bytes, None, &mut slow);
        assert_eq!(stretches(KNOWN, 3 * 4096, &bytes), slow);
        assert!(slow.len() > 20);
    }

    #[test]
    fn a_torn_sector_and_a_flipped_bit_are_seen() {
        let mut torn = made(1001, 0, 512);
        torn[200..].copy_from_slice(&made(1000, 200, 312));
        assert_eq!(stretches(KNOWN, 0, &torn), [tagged(200, 1001, 0), tagged(312, 1000, 200)]);
        torn[200..].fill(0xff);
        assert_eq!(stretches(KNOWN, 0, &torn), [tagged(200, 1001, 0), other(312, Holds::Uniform(0xff))]);
        // Misdirected and flipped: the tags go on behind the flip.
        let mut flipped = made(1002, 1 << 20, 512);
        flipped[100] ^= 4;
        let expect = [tagged(96, 1002, 1 << 20), other(8, Holds::Foreign), tagged(408, 1002, (1 << 20) + 104)];
        assert_eq!(stretches(KNOWN, 0, &flipped), expect);
    }

    #[test]
    fn what_others_wrote_is_foreign() {
        let text = b"to whom it may concern: this is the only copy of my thesis. \0\0\0\0".repeat(16);
        let length = text.len() as u64;
        assert_eq!(stretches(KNOWN, 0, &text), [other(length, Holds::Foreign)]);
        assert_eq!(stretches(KNOWN, 0, &[]), []);
    }
}
