//! What was written where: fills by range.

use flashscope_device::{Content, Fill};
use std::collections::BTreeMap;

/// Non-overlapping ranges, each with the fill last written to it; everything else is blank.
#[derive(Debug)]
pub(crate) struct Contents {
    ranges: BTreeMap<u64, (u64, Fill)>,
    blank: u8,
}

impl Contents {
    pub(crate) fn blank(byte: u8) -> Contents {
        Contents { ranges: BTreeMap::new(), blank: byte }
    }

    pub(crate) fn write(&mut self, start: u64, end: u64, fill: Fill) {
        self.erase(start, end);
        if start < end {
            self.ranges.insert(start, (end, fill));
        }
    }

    pub(crate) fn erase(&mut self, start: u64, end: u64) {
        let touched: Vec<(u64, u64, Fill)> =
            self.overlapping(start, end).map(|(from, until, fill)| (from, until, *fill)).collect();
        for (from, until, fill) in touched {
            self.ranges.remove(&from);
            if from < start {
                self.ranges.insert(from, (start, fill));
            }
            if until > end {
                self.ranges.insert(end, (until, fill));
            }
        }
    }

    /// Whether the whole range was last written with `fill`.
    pub(crate) fn holds(&self, start: u64, end: u64, fill: Fill) -> bool {
        let mut covered = start;
        for (from, until, found) in self.overlapping(start, end) {
            if from > covered || *found != fill {
                return false;
            }
            covered = until;
        }
        covered >= end
    }

    pub(crate) fn content(&self, start: u64, end: u64) -> Content {
        let mut byte = None;
        let mut covered = start;
        for (from, until, fill) in self.overlapping(start, end) {
            let blank = (from > covered).then_some(self.blank);
            let Fill::Byte(found) = *fill else { return Content::Varied };
            for candidate in blank.into_iter().chain([found]) {
                if *byte.get_or_insert(candidate) != candidate {
                    return Content::Varied;
                }
            }
            covered = until;
        }
        if covered < end && *byte.get_or_insert(self.blank) != self.blank {
            return Content::Varied;
        }
        byte.map_or(Content::Unknown, Content::Uniform)
    }

    /// Ranges that share at least one byte with `start..end`, in rising order.
    fn overlapping(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64, &Fill)> {
        let first = self.ranges.range(..=start).next_back().map_or(start, |(&from, _)| from);
        self.ranges
            .range(first..end.max(first))
            .map(|(&from, (until, fill))| (from, *until, fill))
            .filter(move |&(_, until, _)| until > start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_writes_win() {
        let mut contents = Contents::blank(0xff);
        assert_eq!(contents.content(0, 100), Content::Uniform(0xff));
        contents.write(10, 50, Fill::Byte(1));
        contents.write(20, 30, Fill::Tagged { generation: 7 });
        assert_eq!(contents.content(10, 20), Content::Uniform(1));
        assert_eq!(contents.content(0, 20), Content::Varied);
        assert_eq!(contents.content(15, 25), Content::Varied);
        assert!(contents.holds(20, 30, Fill::Tagged { generation: 7 }));
        assert!(!contents.holds(19, 30, Fill::Tagged { generation: 7 }));
        assert!(contents.holds(30, 50, Fill::Byte(1)));
        contents.erase(0, 100);
        assert_eq!(contents.content(0, 100), Content::Uniform(0xff));
    }
}
