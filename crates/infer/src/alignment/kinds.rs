//! Kinds of pages: pages that share their cells, one for each bit, take different times to read, in turn.
//!
//! Where rows of such pages follow each other, the read before an edge and the one behind it are of different kinds. What
//! they differ by has a pattern that no page of one kind has: at every edge but the last of a turn the later read is
//! slower by one step, and there it is faster by all of them. A turn looks like a page of several rows to whoever looks
//! at the time across the edge alone.

use super::places::{Group, Places};
use flashscope_stats::location::{MAD_NORMAL_FACTOR, mad_raw, median};
use flashscope_units::{Bytes, Contrast};

/// Rows of pages whose kinds take turns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kinds {
    /// What is of one kind before the next comes.
    pub(crate) row: Bytes,
    /// How many kinds take turns.
    pub(crate) count: u32,
    /// What the slowest takes more than the fastest.
    pub(crate) apart: Contrast,
    /// What a read across the edge of a row takes more than the slower of the reads beside it: about nothing where another
    /// chip holds the next row, all of a read where the same does.
    pub(crate) across: Contrast,
    /// Probability.
    pub(crate) sure: f64,
    /// Edges that it rests on.
    pub(crate) edges: usize,
}

impl Kinds {
    /// Whether one chip holds rows that follow each other, so that a read across an edge reads it twice; `None` where
    /// that is not clear.
    pub(crate) fn in_one_chip(&self) -> Option<bool> {
        match self.across.get() / self.apart.get() {
            share if share > READ_TWICE => Some(true),
            share if share < READ_AT_ONCE => Some(false),
            _ => None,
        }
    }
}

/// The fastest read of a chip takes more than this share of what its kinds differ by …
const READ_TWICE: f64 = 0.4;

/// … and two chips at once take less than this.
const READ_AT_ONCE: f64 = 0.25;

/// A row is a page or several, and no more than these.
const ROWS: (Bytes, Bytes) = (Bytes::kib(2), Bytes::mib(1));

/// Cells of three bits and more come in pages of this size and larger; what takes turns in less is no page, but a part of one.
const LEAST_OF_MANY: Bytes = Bytes::kib(8);

/// Bits per cell, so kinds of pages.
const COUNTS: [u32; 3] = [2, 3, 4];

/// Fewer edges at the end of a turn, and within it, say nothing.
const FEWEST: usize = 8;

/// What speaks for kinds must be better than none by this much on the scale of −2 ln likelihood.
const SURELY_BETTER: f64 = 60.0;

/// Divides what speaks for one turn against another, as places of one device are not quite independent.
const TEMPER: f64 = 4.0;

/// Kinds closer than this share of a read are none.
const LEAST_APART: f64 = 0.02;

/// What the steps up of a turn come to, as a share of its step down.
const BALANCE: std::ops::Range<f64> = 0.4..2.5;

/// Squared distance, in standard deviations, beyond which a place says no more.
const FARTHEST_OFF: f64 = 9.0;

/// One way that kinds may take turns, and how well it explains what reads before and behind edges differ by.
struct Turn {
    phase: Bytes,
    row: Bytes,
    count: u32,
    /// As a share of a read.
    apart: f64,
    left_over: f64,
    edges: usize,
}

/// The turn that explains the reads beside edges, if there are kinds at all.
pub(super) fn of(places: &Places) -> Option<Kinds> {
    let group = places.groups.first()?;
    let tilts: Vec<f64> = group.places.iter().map(|place| place.tilt).collect();
    let (middle, scatter) = (median(&tilts)?, mad_raw(&within(group))? * MAD_NORMAL_FACTOR);
    let none = left_over(tilts.iter().map(|tilt| tilt - middle), scatter);
    let mut turns: Vec<Turn> = places
        .phases
        .iter()
        .flat_map(|phase| rows().flat_map(move |row| COUNTS.map(|count| (*phase, row, count))))
        .filter_map(|(phase, row, count)| turn(group, phase, (row, count), scatter))
        .collect();
    turns.sort_by(|a, b| a.left_over.total_cmp(&b.left_over));
    let best = turns.first()?;
    let too_small = best.count > 2 && best.row < LEAST_OF_MANY;
    if too_small || none - best.left_over < SURELY_BETTER || best.apart < LEAST_APART {
        return None;
    }
    let weight = |turn: &Turn| (-(turn.left_over - best.left_over) / 2.0 / TEMPER).exp();
    let total: f64 = turns.iter().map(weight).sum();
    // At the end of a turn, where the slower of two reads takes half of what all kinds differ by more than their mean.
    let level = |of: &dyn Fn(Bytes) -> bool| {
        let shares = group.places.iter().filter(|place| of(place.at)).map(|place| place.share);
        median(&shares.collect::<Vec<_>>())
    };
    let last = level(&|at| is_multiple(at, best.phase, best.row * u64::from(best.count)))?;
    let off = level(&|at| !is_multiple(at, best.phase, best.row)).unwrap_or(0.0);
    let across = last - off - 0.5 * best.apart;
    Some(Kinds {
        row: best.row,
        count: best.count,
        apart: Contrast(best.apart * group.access),
        across: Contrast(across * group.access),
        sure: 1.0 / total,
        edges: best.edges,
    })
}

/// Powers of two and three times powers of two.
fn rows() -> impl Iterator<Item = Bytes> {
    let powers = std::iter::successors(Some(ROWS.0), |size| Some(*size * 2));
    powers.take_while(|size| *size <= ROWS.1).flat_map(|size| [size, size * 3])
}

fn is_multiple(at: Bytes, phase: Bytes, size: Bytes) -> bool {
    at.get().abs_diff(phase.get()).is_multiple_of(size.get())
}

/// What places of the same small factors differ by from their middle: scatter, whatever kinds there are.
fn within(group: &Group) -> Vec<f64> {
    let mut kinds: std::collections::BTreeMap<(u32, bool), Vec<f64>> = std::collections::BTreeMap::new();
    for place in &group.places {
        let at = place.at.get();
        kinds.entry((at.trailing_zeros().min(20), at.is_multiple_of(3))).or_default().push(place.tilt);
    }
    let off = |tilts: Vec<f64>| {
        let middle = median(&tilts).unwrap_or(0.0);
        tilts.into_iter().map(move |tilt| tilt - middle)
    };
    kinds.into_values().filter(|tilts| tilts.len() >= 3).flat_map(off).collect()
}

/// How well one turn explains all places.
fn turn(group: &Group, phase: Bytes, (row, count): (Bytes, u32), scatter: f64) -> Option<Turn> {
    let (mut off, mut last, mut inside) = (Vec::new(), Vec::new(), Vec::new());
    for place in &group.places {
        let class = match (is_multiple(place.at, phase, row * u64::from(count)), is_multiple(place.at, phase, row)) {
            (true, _) => &mut last,
            (false, true) => &mut inside,
            (false, false) => &mut off,
        };
        class.push(place.tilt);
    }
    if last.len() < FEWEST || inside.len() < FEWEST {
        return None;
    }
    let base = median(&off).unwrap_or(0.0);
    let (fall, rise) = (median(&last)? - base, median(&inside)? - base);
    // All steps up of a turn together are its step down. An edge off the grid, which only reads on one side of a place
    // cross, has the one without the other.
    let steps = f64::from(count - 1);
    if fall <= 0.0 || !BALANCE.contains(&(-rise * steps / fall)) {
        return None;
    }
    let (many, few) = (last.len() as f64, inside.len() as f64);
    let apart = (many * fall - few * rise / steps) / (many + few / (steps * steps));
    let tilts = [(&off, 0.0), (&last, apart), (&inside, -apart / steps)];
    let distances = tilts.into_iter().flat_map(|(tilts, at)| tilts.iter().map(move |tilt| tilt - base - at));
    let left_over = left_over(distances, scatter);
    Some(Turn { phase, row, count, apart, left_over, edges: last.len() + inside.len() })
}

/// Sum of the squared distances in standard deviations, each with a limited voice.
fn left_over(distances: impl Iterator<Item = f64>, scatter: f64) -> f64 {
    let scatter = scatter.max(LEAST_APART / 4.0);
    distances.map(|distance| (distance / scatter).powi(2).min(FARTHEST_OFF)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run;
    use flashscope_model::Data;
    use flashscope_model::Observations;
    use flashscope_model::observation::{BoundariesData, CandidateData, Straddle};
    use flashscope_stats::Rng;
    use flashscope_units::Nanos;

    const BLOCK: Bytes = Bytes::kib(1);

    /// Rows of this many KiB, whose kinds take this long in turn, in microseconds, in one chip or in several side by side.
    struct Device {
        row_kib: u64,
        kinds: &'static [f64],
        one_chip: bool,
    }

    impl Device {
        fn read(&self, at: Bytes, rng: &mut Rng) -> Nanos {
            let row = |at: u64| at / Bytes::kib(self.row_kib).get();
            let kind = |row: u64| self.kinds[(row % self.kinds.len() as u64) as usize];
            let (first, last) = (row(at.get()), row(at.get() + BLOCK.get() - 1));
            let flash = match (first == last, self.one_chip) {
                (true, _) => kind(first),
                (false, true) => kind(first) + kind(last),
                (false, false) => kind(first).max(kind(last)),
            };
            Nanos(((100.0 + flash + 4.0 * rng.unit()) * 1e3) as u64)
        }

        fn kinds(&self) -> Option<Kinds> {
            let mut rng = Rng::new(7);
            let candidates = rows().map(|size| {
                let places = (0..20).map(|_| {
                    let at = size * (1 + rng.below(4000) as u64);
                    let mut read = |at: Bytes| (0..4).map(|_| self.read(at, &mut rng)).collect();
                    Straddle { at, pre: read(at - BLOCK), on: read(at - BLOCK / 2), post: read(at) }
                });
                CandidateData { size, excluded: Vec::new(), places: places.collect() }
            });
            let candidates = candidates.collect();
            let data = BoundariesData { block: BLOCK, offset: Bytes::ZERO, rest: Nanos::ZERO, candidates };
            of(&Places::of(&Observations { runs: vec![run(Data::Boundaries(data.into()))], ..Observations::default() }))
        }
    }

    #[test]
    fn kinds_show_whether_or_not_their_edges_do() {
        for kinds in [&[50.0, 70.0][..], &[50.0, 65.0, 80.0], &[60.0, 75.0, 90.0, 105.0]] {
            for (row_kib, one_chip) in [(8, true), (16, true), (16, false), (64, false)] {
                let found = Device { row_kib, kinds, one_chip }.kinds().unwrap();
                assert_eq!((found.row, found.count), (Bytes::kib(row_kib), kinds.len() as u32));
                assert_eq!(found.in_one_chip(), Some(one_chip), "{found:?}");
                let apart = (kinds[kinds.len() - 1] - kinds[0]) * 1e3;
                assert!((found.apart.get() / apart - 1.0).abs() < 0.1, "{found:?} for {apart}");
            }
        }
    }

    #[test]
    fn parts_of_pages_are_no_pages_of_many_bits() {
        let of = |kinds: &'static [f64]| Device { row_kib: 4, kinds, one_chip: true }.kinds().map(|found| found.count);
        assert_eq!([of(&[50.0, 70.0]), of(&[50.0, 65.0, 80.0])], [Some(2), None]);
    }

    #[test]
    fn pages_of_one_kind_show_none() {
        assert_eq!(Device { row_kib: 16, kinds: &[60.0], one_chip: true }.kinds(), None);
        // What they differ by is lost in the noise.
        assert_eq!(Device { row_kib: 16, kinds: &[60.0, 60.5], one_chip: true }.kinds(), None);
    }
}
