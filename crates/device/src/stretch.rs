//! What a range of a device holds, told by the tags that this tool writes.

use flashscope_units::Bytes;
use std::ops::RangeInclusive;

/// The generations that a reader looks for: those that its own run may have written. What an earlier run left is
/// [`Holds::Foreign`] then, and never taken for a write of this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The first of them.
    pub first: u32,
    /// The last of them.
    pub last: u32,
}

impl Known {
    /// One generation only.
    pub const fn one(generation: u32) -> Known {
        Known { first: generation, last: generation }
    }

    /// All of them, in order.
    pub const fn all(self) -> RangeInclusive<u32> {
        self.first..=self.last
    }

    /// Whether it is one of them.
    pub const fn has(self, generation: u32) -> bool {
        self.first <= generation && generation <= self.last
    }
}

/// A run of bytes that hold the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// How long it is. Where a write was torn within a logical block, no whole number of blocks.
    pub length: Bytes,
    /// What it holds.
    pub holds: Holds,
}

/// What a stretch holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holds {
    /// The same byte throughout.
    Uniform(u8),
    /// What a write of this generation brought for this address. Over a stretch both go on as the place does, so that
    /// this is the address of its first byte.
    Tagged {
        /// Which writing it was, one of those that were looked for.
        generation: u32,
        /// Where the write was addressed to: the place itself, where all is well.
        addressed: Bytes,
    },
    /// Neither: what others wrote, an earlier run, or nobody.
    Foreign,
}

/// Appends a stretch to a list, to the last one where it goes on with the same.
pub fn append(list: &mut Vec<Stretch>, next: Stretch) {
    if next.length == Bytes::ZERO {
        return;
    }
    if let Some(last) = list.last_mut() {
        let goes_on = match (last.holds, next.holds) {
            (Holds::Tagged { generation, addressed }, Holds::Tagged { generation: newer, addressed: behind }) => {
                generation == newer && addressed.get().checked_add(last.length.get()) == Some(behind.get())
            }
            (one, other) => one == other,
        };
        if goes_on {
            last.length += next.length;
            return;
        }
    }
    list.push(next);
}

/// What a file held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// Its name.
    pub name: String,
    /// Bytes that it has.
    pub length: Bytes,
    /// What they are, up to where it could be read.
    pub stretches: Vec<Stretch>,
    /// What the kernel said where it could not be read further.
    pub unreadable: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_becomes_one_stretch() {
        let tagged = |generation, at| Holds::Tagged { generation, addressed: Bytes(at) };
        let stretch = |length, holds| Stretch { length: Bytes(length), holds };
        let mut list = Vec::new();
        for next in [
            stretch(512, tagged(1, 0)),
            stretch(512, tagged(1, 512)),
            stretch(512, tagged(2, 1024)),
            stretch(512, tagged(2, 0)),
            stretch(0, Holds::Foreign),
            stretch(512, Holds::Uniform(0)),
            stretch(8, Holds::Uniform(0)),
            stretch(8, Holds::Uniform(1)),
        ] {
            append(&mut list, next);
        }
        let expect = [
            stretch(1024, tagged(1, 0)),
            stretch(512, tagged(2, 1024)),
            stretch(512, tagged(2, 0)),
            stretch(520, Holds::Uniform(0)),
            stretch(8, Holds::Uniform(1)),
        ];
        assert_eq!(list, expect);
    }
}
