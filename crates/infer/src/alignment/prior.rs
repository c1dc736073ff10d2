//! What is believed of sizes and contrasts before a device is measured.
//!
//! The weights are rounded from what is published of a dozen cards, sticks and eMMC parts (the allocation unit: nine times
//! 4 MiB, once 8 and once 24 MiB; the page: four times 16 KiB, twice 8 KiB, once 4 and once 48 KiB, once none that
//! shows) and from the sizes that the SD specification knows (to 64 MiB, 12 and 24 MiB among them); a neighbour of a size
//! that was seen gets a part of its weight. Every one of them may be wrong by a factor of two without changing what is
//! read from any published table, which a test holds them to: they decide only what the figures leave open, such as
//! whether a step of a power-of-two table is diluted by places that are no multiples of the true unit.

use super::noise::ln_add;
use flashscope_units::Bytes;

/// Odd factors of the sizes that are considered.
pub(super) const ODD: [u64; 7] = [1, 3, 5, 7, 9, 15, 25];

/// Smallest and largest unit that is considered.
pub(super) const UNIT_RANGE: (Bytes, Bytes) = (Bytes::kib(64), Bytes::mib(128));

/// Smallest and largest page that is considered.
pub(super) const PAGE_RANGE: (Bytes, Bytes) = (Bytes(512), Bytes::kib(256));

/// Prior probability that reads show no step at the allocation unit: none of eleven published ones, rounded up, since
/// a device that shows nothing is seldom published.
pub(super) const UNIT_UNSEEN: f64 = 0.15;

/// As [`UNIT_UNSEEN`], where a part of the unit shows: its edges are the unit's as well, which cost no less.
const UNIT_UNSEEN_BEHIND_A_PART: f64 = 0.03;

/// Prior probability that reads show no step at the page: one of nine published ones, rounded up as well.
pub(super) const PAGE_UNSEEN: f64 = 0.2;

/// A prior that is off by a factor, for tests of how much hangs on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(not(test), expect(dead_code, reason = "only tests ask what a wrong prior would change"))]
pub(super) enum Off {
    /// None is.
    #[default]
    None,
    /// The odds that no unit shows.
    UnitUnseen(f64),
    /// The odds that no page shows.
    PageUnseen(f64),
    /// The weight of this unit.
    Unit(Bytes, f64),
    /// The weight of this page.
    Page(Bytes, f64),
}

impl Off {
    /// [`UNIT_UNSEEN`].
    pub(super) fn unit_unseen(self) -> f64 {
        match self {
            Off::UnitUnseen(factor) => with_odds(UNIT_UNSEEN, factor),
            _ => UNIT_UNSEEN,
        }
    }

    /// [`PAGE_UNSEEN`].
    pub(super) fn page_unseen(self) -> f64 {
        match self {
            Off::PageUnseen(factor) => with_odds(PAGE_UNSEEN, factor),
            _ => PAGE_UNSEEN,
        }
    }

    /// [`unit_weight`].
    pub(super) fn unit_weight(self, size: Bytes) -> f64 {
        match self {
            Off::Unit(other, factor) if other == size => factor * unit_weight(size),
            _ => unit_weight(size),
        }
    }

    /// [`page_weight`].
    pub(super) fn page_weight(self, size: Bytes) -> f64 {
        match self {
            Off::Page(other, factor) if other == size => factor * page_weight(size),
            _ => page_weight(size),
        }
    }
}

fn with_odds(probability: f64, factor: f64) -> f64 {
    let odds = factor * probability / (1.0 - probability);
    odds / (1.0 + odds)
}

/// Weight of an allocation unit, not normalised.
pub(super) fn unit_weight(size: Bytes) -> f64 {
    let (odd, power) = split(size);
    match odd {
        // Two to the power of 22 is 4 MiB.
        1 => match power {
            22 => 0.55,
            23 => 0.05,
            21 | 24 => 0.045,
            20 | 25 => 0.02,
            19 | 26 => 0.015,
            18 => 0.006,
            17 | 27 => 0.003,
            _ => 0.000_1,
        },
        3 => match power {
            23 => 0.06,
            22 => 0.04,
            19..=21 => 0.03,
            24 => 0.02,
            _ => 0.003,
        },
        5 | 7 => 0.001,
        _ => 0.0005,
    }
}

/// Weight of a page, not normalised.
pub(super) fn page_weight(size: Bytes) -> f64 {
    match split(size) {
        (1, 14) => 0.4,
        (1, 13) => 0.2,
        (1, 12 | 15) => 0.12,
        (1, 11 | 16) => 0.05,
        (1, 9 | 10 | 17) => 0.02,
        (1, _) => 0.006,
        (3, 14) => 0.03,
        (3, _) => 0.006,
        _ => 0.001,
    }
}

/// User capacity is often a whole number of units: the factor by which a capacity speaks for a unit, given that half
/// of all published cards have no such capacity.
pub(super) fn capacity_factor(capacity: Option<Bytes>, unit: Bytes) -> f64 {
    /// Capacities are multiples of this by themselves, so dividing it is no evidence.
    const GRAIN: f64 = 524_288.0;
    /// Share of the published cards whose capacity is a whole number of units.
    const WHOLE: f64 = 0.5;
    let Some(capacity) = capacity.filter(|capacity| capacity.get() > 0) else { return 1.0 };
    let chance = (GRAIN / unit.as_f64()).min(1.0);
    if capacity.is_multiple_of(unit) { WHOLE / chance + (1.0 - WHOLE) } else { 1.0 - WHOLE }
}

/// What a size is to a device, smallest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// A second level inside the page, such as what the error correction decodes at once.
    Chunk,
    /// A page of one plane.
    Inner,
    /// The effective page.
    Page,
    /// Between page and unit: a plane, a stripe, a part of a unit.
    Middle,
    /// The allocation unit.
    Unit,
}

impl Role {
    /// All of them.
    pub(super) const ALL: [Role; 5] = [Role::Chunk, Role::Inner, Role::Page, Role::Middle, Role::Unit];
}

/// Prior probability of one level inside the page, and of two.
const INSIDE: (f64, f64) = (0.3, 0.1);

/// Prior probability of an intermediate unit.
const MIDDLE: f64 = 0.2;

/// What is believed of chains of some sizes.
pub(super) struct Sizes {
    sizes: Vec<Bytes>,
    /// Log probability of each size as a page and as a unit, and of what each unit of weight of a smaller size is worth as a
    /// level inside it (chunk or inner page).
    page: Vec<f64>,
    unit: Vec<f64>,
    chunk_of: Vec<f64>,
    inner_of: Vec<f64>,
    /// For each unit the sum of the weights of its parts, as intermediate units.
    middles: Vec<f64>,
    /// Log probability of one intermediate unit where there is no unit.
    any_middle: f64,
}

impl Sizes {
    /// Of sizes in rising order, with what else is known of each as a unit: its log odds against none.
    pub(super) fn new(sizes: &[Bytes], capacity: Option<Bytes>, ln_odds: impl Fn(Bytes) -> f64) -> Sizes {
        let normalised = |weights: Vec<f64>| -> Vec<f64> {
            let total: f64 = weights.iter().sum();
            weights.into_iter().map(|weight| (weight / total).ln()).collect()
        };
        let weight = |role, size: Bytes, weight: f64| if in_range(role, size) { weight } else { 0.0 };
        let page = sizes.iter().map(|size| weight(Role::Page, *size, page_weight(*size))).collect();
        // Half as sure (in logarithms) as the published devices, which are mostly of one kind.
        let unit = sizes
            .iter()
            .map(|size| weight(Role::Unit, *size, unit_weight(*size).sqrt() * capacity_factor(capacity, *size)))
            .collect();
        let ways = |before: Role, role: Role| -> Vec<f64> {
            let fits = |size: &Bytes, of: Bytes| *size < of && in_range(before, *size) && fits(before, *size, role, of);
            let all = |of: &Bytes| {
                sizes.iter().filter(|size| fits(size, *of)).map(|size| inside_weight(*of / *size)).sum::<f64>()
            };
            sizes.iter().map(|of| -all(of).max(f64::MIN_POSITIVE).ln()).collect()
        };
        // Sums over the intermediate units that a unit may have, and over all of them where there is none.
        let middles = |of: &Bytes| -> f64 {
            let fit = sizes.iter().filter(|size| {
                in_range(Role::Middle, **size) && **size < *of && fits(Role::Middle, **size, Role::Unit, *of)
            });
            fit.map(|size| part_weight(*of / *size)).sum()
        };
        let any_middle: usize = sizes.iter().filter(|size| in_range(Role::Middle, **size)).count();
        Sizes {
            sizes: sizes.to_vec(),
            page: normalised(page),
            unit: normalised(unit).into_iter().zip(sizes).map(|(unit, size)| unit + ln_odds(*size)).collect(),
            chunk_of: ways(Role::Chunk, Role::Inner),
            inner_of: ways(Role::Inner, Role::Page),
            middles: sizes.iter().map(middles).collect(),
            any_middle: -(any_middle.max(1) as f64).ln(),
        }
    }

    fn ln_inside(&self, part: usize, size: usize) -> f64 {
        inside_weight(self.sizes[size] / self.sizes[part]).ln()
    }

    /// Whether a larger size may come right after another, or first.
    pub(super) fn allows(&self, from: Option<(Role, usize)>, (role, size): (Role, usize)) -> bool {
        let size = self.sizes[size];
        in_range(role, size) && from.is_none_or(|(before, smaller)| fits(before, self.sizes[smaller], role, size))
    }

    /// Log probability of a step of a chain that is allowed; `None` as the first is its start, as the second its end.
    pub(super) fn ln_step(&self, from: Option<(Role, usize)>, to: Option<(Role, usize)>) -> f64 {
        let page = (1.0 - PAGE_UNSEEN).ln();
        let unit = |size: usize| (1.0 - UNIT_UNSEEN).ln() + self.unit[size];
        let above = |to: Option<(Role, usize)>| match to {
            Some((Role::Middle, _)) => MIDDLE.ln(),
            Some((Role::Unit, size)) => (1.0 - MIDDLE).ln() + unit(size),
            None => (1.0 - MIDDLE).ln() + UNIT_UNSEEN.ln(),
            _ => f64::NEG_INFINITY,
        };
        match (from, to) {
            (None, Some((Role::Chunk, _))) => page + INSIDE.1.ln(),
            (None, Some((Role::Inner, _))) => page + INSIDE.0.ln(),
            (None, Some((Role::Page, size))) => page + (1.0 - INSIDE.0 - INSIDE.1).ln() + self.page[size],
            (None, to) => PAGE_UNSEEN.ln() + above(to),
            (Some((Role::Chunk, part)), Some((Role::Inner, size))) => self.chunk_of[size] + self.ln_inside(part, size),
            (Some((Role::Inner, part)), Some((Role::Page, size))) => {
                self.page[size] + self.inner_of[size] + self.ln_inside(part, size)
            }
            (Some((Role::Page, _)), to) => above(to),
            (Some((Role::Middle, middle)), Some((Role::Unit, size))) => {
                let parts = self.sizes[size] / self.sizes[middle];
                unit(size) + (part_weight(parts) / self.middles[size]).ln()
            }
            (Some((Role::Middle, _)), None) => UNIT_UNSEEN_BEHIND_A_PART.ln() + self.any_middle,
            (Some((Role::Unit, _)), None) => 0.0,
            _ => f64::NEG_INFINITY,
        }
    }
}

/// Weight of one part among several as an intermediate unit: of half and quarter units much is known, of others little.
fn part_weight(parts: u64) -> f64 {
    (parts as f64).powi(-2)
}

/// Weight of one part among several as a level inside a page: halves and quarters are usual.
fn inside_weight(parts: u64) -> f64 {
    1.0 / parts as f64
}

/// Sizes that may have a role.
fn in_range(role: Role, size: Bytes) -> bool {
    let (odd, _) = split(size);
    match role {
        Role::Chunk | Role::Inner => size <= Bytes::kib(64) && odd <= 5,
        Role::Page => (PAGE_RANGE.0..=PAGE_RANGE.1).contains(&size),
        Role::Middle => (Bytes::kib(64)..UNIT_RANGE.1).contains(&size),
        Role::Unit => (UNIT_RANGE.0..=UNIT_RANGE.1).contains(&size),
    }
}

/// Whether a size in its role can come right before a multiple of it in its own: planes, dies or chunks of a page are
/// few, and pages of a unit many.
fn fits(before: Role, smaller: Bytes, role: Role, size: Bytes) -> bool {
    if !size.is_multiple_of(smaller) {
        return false;
    }
    let parts = size / smaller;
    match (before, role) {
        (Role::Chunk, Role::Inner) => parts <= 16,
        (Role::Inner, Role::Page) => parts <= 64,
        (Role::Page, Role::Middle) => parts >= 2,
        (Role::Page, Role::Unit) => parts >= 8,
        (Role::Middle, Role::Unit) => parts <= 64,
        _ => false,
    }
}

/// What a contrast is, as a share of the time of one access.
#[derive(Clone, Copy, Debug)]
pub(super) enum Contrast {
    /// A boundary of the allocation unit: median 16 %, a factor of three either way.
    Unit,
    /// An edge of a page: median 12 %, a factor of 2.7 either way.
    Page,
    /// An edge inside a page: median 6 %, a factor of 2.5 either way.
    Inner,
    /// What a page adds to the edges inside it, which cost `below`: median half of that, a factor of 2.5 either way.
    Added {
        /// As a share of an access as well.
        below: f64,
    },
    /// As [`Contrast::Unit`], where the edges below cost `below`: behind a slow link both are a small part of an access, so
    /// that it may as well be about as much as those, a factor of 3.3 either way.
    Beyond {
        /// As a share of an access as well.
        below: f64,
    },
    /// What an edge costs less than the edges inside it, which cost `below`: as an edge inside a page, or a fifth of that.
    Saved {
        /// As a share of an access as well.
        below: f64,
    },
    /// An edge between page and unit: as inside a page, or a quarter of what the edges below cost.
    Middle {
        /// As a share of an access as well.
        below: f64,
    },
    /// A systematic effect of another origin, such as the handling of odd sectors: mostly below 1 %.
    Artefact,
}

impl Contrast {
    /// Log density of a positive contrast per unit of its logarithm.
    pub(super) fn ln_density(self, share: f64) -> f64 {
        if share <= 0.0 { f64::NEG_INFINITY } else { self.ln_density_of(share, share.ln()) }
    }

    /// As [`Contrast::ln_density`], of a contrast above 0 whose logarithm is known.
    pub(super) fn ln_density_of(self, share: f64, ln_share: f64) -> f64 {
        let log_normal = |median: f64, spread: f64| ln_log_normal(ln_share, median, spread);
        // Half of the weight for a contrast that goes with those below, where there are any.
        let either = |alone: f64, median: f64| {
            if median > 0.0 { ln_add(alone, log_normal(median, 1.2)) - 2f64.ln() } else { alone }
        };
        match self {
            Contrast::Unit => log_normal(0.16, 1.15),
            Contrast::Page => log_normal(0.12, 1.0),
            Contrast::Inner => log_normal(0.06, 0.9),
            Contrast::Beyond { below } => either(log_normal(0.16, 1.15), 0.7 * below),
            Contrast::Saved { below } => either(log_normal(0.06, 0.9), 0.2 * below),
            Contrast::Middle { below } => either(log_normal(0.06, 0.9), 0.25 * below),
            Contrast::Added { below } => log_normal(0.5 * below, 0.9),
            Contrast::Artefact => {
                let relative = share / 0.008;
                relative.ln() - relative
            }
        }
    }
}

/// Log density of a log-normal distribution per unit of the logarithm. Tens of thousands of levels are weighed at a time, so
/// that the logarithms of what is constant are to be worked out beforehand.
#[inline(always)]
fn ln_log_normal(ln_share: f64, median: f64, spread: f64) -> f64 {
    let z = (ln_share - median.ln()) / spread;
    -0.5 * z * z - spread.ln() - 0.918_938_533_204_672_7
}

/// All sizes that are tried, from … to: powers of two and [`ODD`] multiples of them, power by power.
pub(super) fn sizes(least: Bytes, most: Bytes) -> impl Iterator<Item = Bytes> {
    let powers = PAGE_RANGE.0.get().ilog2()..=most.get().ilog2();
    powers.flat_map(|power| ODD.map(|odd| Bytes(odd << power))).filter(move |size| (least..=most).contains(size))
}

/// Odd part and power of two of a size.
pub(super) fn split(size: Bytes) -> (u64, u32) {
    let power = if size.get() == 0 { 0 } else { size.get().trailing_zeros() };
    (size.get() >> power, power)
}
