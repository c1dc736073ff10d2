//! What stands where: ranges of what was written last.

use flashscope_device::{Content, Fill};
use std::collections::BTreeMap;

/// Ranges that were written, by their start; what lies between two was never written, or was discarded.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    /// Start to end (exclusive) and what was written; `None` for bytes that nobody will ask for.
    written: BTreeMap<u64, (u64, Option<Fill>)>,
    erased_byte: u8,
}

impl Contents {
    pub(crate) fn new(erased_byte: u8) -> Contents {
        Contents { written: BTreeMap::new(), erased_byte }
    }

    pub(crate) fn write(&mut self, start: u64, end: u64, fill: Option<Fill>) {
        self.erase(start, end);
        let joins = self.written.range(..start).next_back().map(|(&from, &(to, what))| (from, to, what));
        match joins {
            Some((from, to, what)) if to == start && what == fill => self.written.insert(from, (end, fill)),
            _ => self.written.insert(start, (end, fill)),
        };
    }

    pub(crate) fn erase(&mut self, start: u64, end: u64) {
        let first = self.written.range(..start).next_back().filter(|(_, (to, _))| *to > start).map(|(&from, _)| from);
        let inside: Vec<u64> = first.into_iter().chain(self.written.range(start..end).map(|(&from, _)| from)).collect();
        for from in inside {
            let Some((to, what)) = self.written.remove(&from) else { continue };
            if from < start {
                self.written.insert(from, (start, what));
            }
            if to > end {
                self.written.insert(end, (to, what));
            }
        }
    }

    /// The pieces of a range: `None` where it is erased, else what was written there.
    fn pieces(&self, start: u64, end: u64) -> Vec<Option<Option<Fill>>> {
        let before = self.written.range(..=start).next_back().filter(|(_, (to, _))| *to > start);
        let after = self.written.range(start + 1..end);
        let (mut at, mut pieces) = (start, Vec::new());
        for (&from, &(to, what)) in before.into_iter().chain(after) {
            if from > at {
                pieces.push(None);
            }
            pieces.push(Some(what));
            at = to.min(end);
        }
        if at < end {
            pieces.push(None);
        }
        pieces
    }

    /// Whether all of a range holds what was written with this fill.
    pub(crate) fn matches(&self, start: u64, end: u64, fill: Fill) -> bool {
        let erased = Fill::Byte(self.erased_byte);
        self.pieces(start, end).into_iter().all(|piece| match piece {
            None => fill == erased,
            Some(written) => written == Some(fill),
        })
    }

    /// What a read finds.
    pub(crate) fn look(&self, start: u64, end: u64) -> Content {
        let bytes = self.pieces(start, end).into_iter().map(|piece| match piece {
            None => Some(self.erased_byte),
            Some(Some(Fill::Byte(byte))) => Some(byte),
            Some(_) => None,
        });
        let mut all = bytes.collect::<Vec<_>>();
        all.dedup();
        match all.as_slice() {
            [Some(byte)] => Content::Uniform(*byte),
            _ => Content::Varied,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_last_is_there() {
        let tag = |generation| Fill::Tagged { generation };
        let mut contents = Contents::new(0xff);
        contents.write(0, 100, Some(tag(1)));
        contents.write(40, 60, Some(tag(2)));
        contents.erase(50, 55);
        assert!(
            contents.matches(0, 40, tag(1)) && contents.matches(40, 50, tag(2)) && contents.matches(60, 100, tag(1))
        );
        assert!(!contents.matches(30, 50, tag(1)) && !contents.matches(40, 60, tag(2)));
        assert_eq!(contents.look(50, 55), Content::Uniform(0xff));
        assert_eq!(contents.look(49, 55), Content::Varied);
        assert_eq!(contents.look(100, 200), Content::Uniform(0xff));
    }

    #[test]
    fn ranges_agree_with_a_plain_list_of_bytes() {
        let mut chance = crate::chance::Chance::new(3, 1);
        let (mut contents, mut plain) = (Contents::new(0), vec![None; 64]);
        for generation in 0..2000 {
            let (start, end) = (chance.below(64), 64);
            let end = start + 1 + chance.below(end - start);
            let fill = chance.happens(0.7).then_some(Fill::Tagged { generation: generation % 3 });
            match fill {
                Some(fill) => contents.write(start as u64, end as u64, Some(fill)),
                None => contents.erase(start as u64, end as u64),
            }
            plain[start..end].fill(fill);
            for at in 0..64u64 {
                let here = plain[at as usize];
                assert_eq!(contents.look(at, at + 1) == Content::Uniform(0), here.is_none(), "{at}");
                assert!(here.is_none_or(|fill| contents.matches(at, at + 1, fill)), "{at}");
            }
        }
    }
}
