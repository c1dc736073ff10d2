//! How sure a finding is: how often findings of its class with a score like its own were right, counted on simulated memories
//! that no test and no proof sees (`cargo bench -p flashscope-mem --bench memories -- --count`).

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

    pub(super) fn size(level: usize) -> Class {
        [Class::SizeFirst, Class::SizeSecond].get(level).copied().unwrap_or(Class::SizeThird)
    }

    pub(super) fn tlb(level: usize) -> Class {
        if level == 0 { Class::TlbFirst } else { Class::TlbSecond }
    }
}

/// Ends of the ranges of scores.
pub const ENDS: [f64; 4] = [0.5, 0.75, 0.9, 0.97];
/// Ranges of scores.
pub const RANGES: usize = ENDS.len() + 1;

/// Right ones and all, by class and range.
type Table = [[(u32, u32); RANGES]; Class::ALL.len()];

include!("table.rs");

/// The range of a score.
pub fn range(raw: f64) -> usize {
    ENDS.iter().filter(|end| raw >= **end).count()
}

/// The probability of a finding. One more of each kind is counted than there were, so that nothing is certain; where hardly any
/// was counted, the score's own range decides with the weight of two.
pub(super) fn of(class: Class, raw: f64) -> f64 {
    let at = Class::ALL.iter().position(|other| *other == class).unwrap_or(0);
    let (right, all) = TABLE[at][range(raw)];
    (f64::from(right) + 2.0 * raw.clamp(0.05, 0.95)) / (f64::from(all) + 2.0)
}

/// The range of scores that a probability came from: for counting.
pub fn raw_of(class: Class, confidence: f64) -> Option<usize> {
    let at = Class::ALL.iter().position(|other| *other == class)?;
    (0..RANGES).min_by(|a, b| {
        let gap = |range: usize| {
            let (right, all) = TABLE[at][range];
            ((f64::from(right) + 1.0) / (f64::from(all) + 2.0) - confidence).abs()
        };
        gap(*a).total_cmp(&gap(*b))
    })
}
