//! Marks held against what was planted, and the figures of many histories.

use super::{Around, Outcome, Planting};
use crate::differences::Share;
use std::ops::AddAssign;

/// A mark this many points off a change still means it.
const TOLERANCE: usize = 10;

/// What a reader found in histories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Changes that have a mark.
    pub hits: u32,
    /// Changes that have none.
    pub missed: u32,
    /// Marks that mean no change.
    pub wrong: u32,
}

impl Found {
    /// Harmonic mean of the share of marks that are right and the share of changes that are found; `None` where there is neither.
    pub fn f1(self) -> Option<f64> {
        let all = f64::from(2 * self.hits + self.missed + self.wrong);
        (all > 0.0).then(|| f64::from(2 * self.hits) / all)
    }
}

impl AddAssign for Found {
    fn add_assign(&mut self, other: Found) {
        self.hits += other.hits;
        self.missed += other.missed;
        self.wrong += other.wrong;
    }
}

/// Marks held against the places of changes, both in the order of time: each mark means one change at most, at most ten points off.
pub fn found(marks: &[usize], changes: &[usize]) -> Found {
    let hits = matches(marks, changes).len();
    let rest = |all: usize| u32::try_from(all - hits).unwrap_or(u32::MAX);
    Found { hits: hits as u32, missed: rest(changes.len()), wrong: rest(marks.len()) }
}

/// Pairs of a mark and the change that it means, the nearest pairs first taken.
pub(super) fn matches(marks: &[usize], changes: &[usize]) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize, usize)> = marks
        .iter()
        .enumerate()
        .flat_map(|(mark, at)| {
            changes.iter().enumerate().map(move |(change, truth)| (at.abs_diff(*truth), mark, change))
        })
        .filter(|(off, _, _)| *off <= TOLERANCE)
        .collect();
    pairs.sort_unstable();
    let mut taken: Vec<(usize, usize)> = Vec::new();
    for (_, mark, change) in pairs {
        if taken.iter().all(|(other, truth)| *other != mark && *truth != change) {
            taken.push((mark, change));
        }
    }
    taken
}

/// Marks per 1000 points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerThousand {
    /// Marks.
    pub marks: u32,
    /// Points.
    pub points: u32,
}

impl PerThousand {
    /// The rate; 0 of nothing.
    pub fn value(self) -> f64 {
        1000.0 * f64::from(self.marks) / f64::from(self.points.max(1))
    }
}

/// What comes of many histories, for one kind of scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Marks of each reader (ours first) where nothing was planted.
    pub false_marks: [PerThousand; 3],
    /// Of changes of three standard deviations ten points before the end, those that each found.
    pub late: [Share; 3],
    /// Where several changes were planted.
    pub several: [Found; 3],
    /// Of our right marks, those whose interval of the place holds the truth, and those whose interval of the size does.
    pub holds: [Share; 2],
}

impl Figures {
    /// Of the histories that scatter like this.
    pub fn of(outcomes: &[Outcome], around: Around) -> Figures {
        let of = |planting: Planting| {
            outcomes.iter().filter(move |outcome| outcome.around == around && outcome.planting == planting)
        };
        let sum = |planting: Planting, reader: usize| {
            let mut sum = Found::default();
            of(planting).for_each(|outcome| sum += outcome.readers[reader]);
            sum
        };
        let points: u32 = of(Planting::Nothing).map(|outcome| outcome.points).sum();
        let right = || outcomes.iter().filter(|outcome| outcome.around == around).flat_map(|outcome| &outcome.holds);
        Figures {
            false_marks: [0, 1, 2].map(|reader| PerThousand { marks: sum(Planting::Nothing, reader).wrong, points }),
            late: [0, 1, 2].map(|reader| {
                let found = sum(Planting::Late, reader);
                Share { count: found.hits, all: found.hits + found.missed }
            }),
            several: [0, 1, 2].map(|reader| sum(Planting::Several, reader)),
            holds: [0, 1].map(|which| Share {
                count: right().filter(|holds| holds[which]).count() as u32,
                all: right().count() as u32,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_means_one_change_and_a_change_has_one_mark() {
        let check = |marks: &[usize], changes: &[usize], expect: [u32; 3]| {
            let found = found(marks, changes);
            assert_eq!([found.hits, found.missed, found.wrong], expect, "{marks:?} of {changes:?}");
        };
        check(&[], &[], [0, 0, 0]);
        check(&[50], &[40], [1, 0, 0]);
        check(&[51], &[40], [0, 1, 1]);
        check(&[39, 41, 90], &[40], [1, 0, 2]);
        check(&[45], &[40, 52], [1, 1, 0]);
        check(&[45, 46], &[40, 52], [2, 0, 0]);
        assert_eq!(found(&[40, 80], &[40]).f1(), Some(2.0 / 3.0));
        assert_eq!(found(&[], &[]).f1(), None);
    }
}
