//! What is believed of sizes and contrasts before a device is measured.
//!
//! The weights are rounded from what is published of a dozen cards, sticks and eMMC parts (the allocation unit: nine times
//! 4 MiB, once 8 and once 24 MiB; the page: four times 16 KiB, twice 8 KiB, once 4 and once 48 KiB, once none that
//! shows) and from the sizes that the SD specification knows (to 64 MiB, 12 and 24 MiB among them); a neighbour of a size
//! that was seen gets a part of its weight. Every one of them may be wrong by a factor of two without changing what is
//! read from any published table, which a test holds them to: they decide only what the figures leave open, such as
//! whether a step of a power-of-two table is diluted by places that are no multiples of the true unit.

use flashscope_units::Bytes;

/// Smallest and largest unit that is considered.
pub(super) const UNIT_RANGE: (Bytes, Bytes) = (Bytes::kib(64), Bytes::mib(128));

/// Smallest and largest page that is considered.
pub(super) const PAGE_RANGE: (Bytes, Bytes) = (Bytes(512), Bytes::kib(256));

/// Prior probability that reads show no step at the allocation unit: none of eleven published ones, rounded up, since
/// a device that shows nothing is seldom published.
pub(super) const UNIT_UNSEEN: f64 = 0.15;

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
            _ => 0.001,
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
    const WHOLE: f64 = 0.5;
    let Some(capacity) = capacity.filter(|capacity| capacity.get() > 0) else { return 1.0 };
    let chance = (GRAIN / unit.as_f64()).min(1.0);
    if capacity.is_multiple_of(unit) { WHOLE / chance + (1.0 - WHOLE) } else { 1.0 - WHOLE }
}

/// What a contrast is, as a share of the time of one access.
#[derive(Clone, Copy, Debug)]
pub(super) enum Contrast {
    /// A boundary of the allocation unit: median 16 %, a factor of three either way.
    Unit,
    /// An edge of a page: median 12 %, a factor of 2.7 either way.
    Page,
    /// A systematic effect of another origin, such as the handling of odd sectors: mostly below 1 %.
    Artefact,
}

impl Contrast {
    /// Log density of a positive contrast per unit of its logarithm.
    pub(super) fn ln_density(self, share: f64) -> f64 {
        if share <= 0.0 {
            return f64::NEG_INFINITY;
        }
        let log_normal = |median: f64, spread: f64| {
            let z = (share / median).ln() / spread;
            -0.5 * z * z - spread.ln() - 0.918_938_533_204_672_7
        };
        match self {
            Contrast::Unit => log_normal(0.16, 1.15),
            Contrast::Page => log_normal(0.12, 1.0),
            Contrast::Artefact => {
                let relative = share / 0.008;
                relative.ln() - relative
            }
        }
    }
}

/// Odd part and power of two of a size.
pub(super) fn split(size: Bytes) -> (u64, u32) {
    let power = if size.get() == 0 { 0 } else { size.get().trailing_zeros() };
    (size.get() >> power, power)
}
