//! How sure a finding is: how often findings of its class with a score like its own were right, counted on simulated memories
//! that no test and no proof sees (`cargo bench -p flashscope-mem --bench memories -- --count`).

use flashscope_model::memory::{MemoryFinding, Quantity};

/// Findings that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Class {
    Levels,
    SizeFirst,
    SizeSecond,
    SizeThird,
    Latency,
    Memory,
    MemoryBound,
    Line,
    TlbFirst,
    TlbSecond,
    TlbMiss,
}

impl Class {
    /// All of them, in the order of the table.
    pub const ALL: [Class; 11] = [
        Class::Levels,
        Class::SizeFirst,
        Class::SizeSecond,
        Class::SizeThird,
        Class::Latency,
        Class::Memory,
        Class::MemoryBound,
        Class::Line,
        Class::TlbFirst,
        Class::TlbSecond,
        Class::TlbMiss,
    ];

    /// The class of a finding.
    pub fn of(finding: &MemoryFinding) -> Class {
        let first = finding.level == Some(1);
        match finding.quantity {
            Quantity::CacheLevels => Class::Levels,
            Quantity::CacheSize => Class::size(finding.level.unwrap_or(1) as usize - 1),
            Quantity::CacheLatency => Class::Latency,
            Quantity::LineSize => Class::Line,
            Quantity::TlbReach => Class::tlb(usize::from(!first)),
            Quantity::TlbMiss => Class::TlbMiss,
            Quantity::MemoryLatency if finding.estimate.value().is_some() => Class::Memory,
            Quantity::MemoryLatency => Class::MemoryBound,
        }
    }

    pub(super) fn size(level: usize) -> Class {
        [Class::SizeFirst, Class::SizeSecond].get(level).copied().unwrap_or(Class::SizeThird)
    }

    pub(super) fn tlb(level: usize) -> Class {
        if level == 0 { Class::TlbFirst } else { Class::TlbSecond }
    }
}

/// Ends of the ranges of scores.
const ENDS: [f64; 4] = [0.5, 0.75, 0.9, 0.97];
/// Ranges of scores.
pub const RANGES: usize = ENDS.len() + 1;

/// Regimes: caches told from huge pages, and from small ones, in which they fill unevenly.
pub const REGIMES: usize = 2;

/// Right ones and all, by regime, class and range.
type Table = [[[(u32, u32); RANGES]; Class::ALL.len()]; REGIMES];

include!("table.rs");

/// The range of a score.
pub fn range(raw: f64) -> usize {
    ENDS.iter().filter(|end| raw >= **end).count()
}

/// The probability of a finding. One more of each kind is counted than there were, so that nothing is certain; where hardly any
/// was counted, the score's own range decides with the weight of two.
pub(super) fn of(small: bool, class: Class, raw: f64) -> f64 {
    let at = Class::ALL.iter().position(|other| *other == class).unwrap_or(0);
    let (right, all) = TABLE[usize::from(small)][at][range(raw)];
    (f64::from(right) + 2.0 * raw.clamp(0.05, 0.95)) / (f64::from(all) + 2.0)
}
