//! Findings against the truth. The rules stand in docs/fleet.md.

mod area;
mod drive;
mod memory;

use flashscope_model::finding::Penalty;
use flashscope_model::{Estimate, Geometry};
use flashscope_sim::truth::{Fact, PenaltyTruth, Truth};
use flashscope_units::Bytes;
use std::fmt::Display;

/// What is scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Parameter {
    /// Allocation unit.
    AllocationUnit,
    /// Where the first unit begins.
    BoundaryOffset,
    /// Effective page.
    Page,
    /// Page level inside the page.
    PageInner,
    /// Open units in order.
    OpenInOrder,
    /// Open units at random.
    OpenRandom,
    /// Random-order penalty.
    Penalty,
    /// An area at the start that differs: presence, extent and kind.
    FastArea,
    /// The parts of such an area: extents, rates and mapping.
    AreaParts,
    /// Longest write on the small-write path.
    SmallWrite,
    /// How addresses are mapped.
    Mapping,
    /// Data of one row over all parallel units.
    Stripe,
    /// Units that read at the same time.
    ParallelUnits,
    /// Channels that lead to these units.
    Channels,
    /// A part of the flash that is written with one bit per cell first.
    SlcCache,
    /// Whether the size of that part depends on how full the device is.
    SlcKind,
    /// Physical over user capacity.
    PhysicalOverUser,
    /// How much of the device the map in memory stands for.
    MapReach,
    /// Bits per cell.
    BitsPerCell,
    /// Size of the write buffer, in bytes or entries.
    WriteBuffer,
    /// Whether a power cut loses the write buffer.
    BufferVolatile,
    /// Whether a read has the write buffer written out first.
    BufferFlushedByRead,
    /// Size of the read buffer.
    ReadBuffer,
    /// Reading ahead: window and trigger.
    ReadAhead,
    /// Stalls of long writes in order: their length and how far they lie apart.
    Stalls,
}

/// A finding held against the truth of its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The value or an alias of it, or a bound that holds and reaches as far as one need look.
    Exact,
    /// One step beside it: twice or half a size, one more or less of a count, one unit of an extent, the square of the
    /// tolerance of a ratio.
    OneStep,
    /// Neither.
    Wrong,
    /// No answer, or a bound that holds and says too little.
    Silent,
    /// There is no truth to hold it against.
    Unscored,
}

/// One finding, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Which one.
    pub parameter: Parameter,
    /// How it stands.
    pub verdict: Verdict,
    /// Whether it claims an area where there is none.
    pub false_alarm: bool,
    /// The confidence of whatever was claimed (a value or a bound), and whether the claim is true.
    pub claim: Option<(f64, bool)>,
    /// What was said, in words.
    pub said: String,
    /// What is true, in words.
    pub truth: String,
    /// The finding's evidence, or why it is none.
    pub because: String,
}

/// A ratio within this factor is right.
pub const RATIO_TOLERANCE: f64 = 1.25;

impl Parameter {
    /// All of them, in the order of the tables.
    pub const ALL: [Parameter; 25] = [
        Parameter::AllocationUnit,
        Parameter::BoundaryOffset,
        Parameter::Page,
        Parameter::PageInner,
        Parameter::OpenInOrder,
        Parameter::OpenRandom,
        Parameter::Penalty,
        Parameter::FastArea,
        Parameter::AreaParts,
        Parameter::SmallWrite,
        Parameter::Mapping,
        Parameter::Stripe,
        Parameter::ParallelUnits,
        Parameter::Channels,
        Parameter::SlcCache,
        Parameter::SlcKind,
        Parameter::PhysicalOverUser,
        Parameter::MapReach,
        Parameter::BitsPerCell,
        Parameter::WriteBuffer,
        Parameter::BufferVolatile,
        Parameter::BufferFlushedByRead,
        Parameter::ReadBuffer,
        Parameter::ReadAhead,
        Parameter::Stalls,
    ];

    /// Its name in tables.
    pub const fn words(self) -> &'static str {
        match self {
            Parameter::AllocationUnit => "allocation unit",
            Parameter::BoundaryOffset => "where units begin",
            Parameter::Page => "page (effective)",
            Parameter::PageInner => "page inside",
            Parameter::OpenInOrder => "open units, in order",
            Parameter::OpenRandom => "open units, random",
            Parameter::Penalty => "random-order penalty",
            Parameter::FastArea => "fast area",
            Parameter::AreaParts => "… inside",
            Parameter::SmallWrite => "small-write path",
            Parameter::Mapping => "mapping",
            Parameter::Stripe => "stripe",
            Parameter::ParallelUnits => "parallel units",
            Parameter::Channels => "channels",
            Parameter::SlcCache => "SLC cache",
            Parameter::SlcKind => "… static or dynamic",
            Parameter::PhysicalOverUser => "physical over user",
            Parameter::MapReach => "map in memory",
            Parameter::BitsPerCell => "bits per cell",
            Parameter::WriteBuffer => "write buffer",
            Parameter::BufferVolatile => "… volatile",
            Parameter::BufferFlushedByRead => "… flushed by a read",
            Parameter::ReadBuffer => "read buffer",
            Parameter::ReadAhead => "read-ahead",
            Parameter::Stalls => "stalls",
        }
    }

    /// Its name in JSON, as in the record.
    pub const fn field(self) -> &'static str {
        match self {
            Parameter::AllocationUnit => "allocation_unit",
            Parameter::BoundaryOffset => "boundary_offset",
            Parameter::Page => "page",
            Parameter::PageInner => "page_inner",
            Parameter::OpenInOrder => "open_units_linear",
            Parameter::OpenRandom => "open_units_random",
            Parameter::Penalty => "random_order_penalty",
            Parameter::FastArea => "fast_area",
            Parameter::AreaParts => "fast_area_parts",
            Parameter::SmallWrite => "small_write_path",
            Parameter::Mapping => "mapping",
            Parameter::Stripe => "stripe",
            Parameter::ParallelUnits => "parallel_units",
            Parameter::Channels => "channels",
            Parameter::SlcCache => "slc_cache",
            Parameter::SlcKind => "slc_cache_kind",
            Parameter::PhysicalOverUser => "physical_over_user",
            Parameter::MapReach => "map_reach",
            Parameter::BitsPerCell => "bits_per_cell",
            Parameter::WriteBuffer => "write_buffer",
            Parameter::BufferVolatile => "write_buffer_volatile",
            Parameter::BufferFlushedByRead => "write_buffer_flushed_by_read",
            Parameter::ReadBuffer => "read_buffer",
            Parameter::ReadAhead => "read_ahead",
            Parameter::Stalls => "collection",
        }
    }
}

/// Every finding of a geometry, in the order of [`Parameter::ALL`].
pub fn judge(truth: &Truth, found: &Geometry) -> Vec<Judged> {
    use Parameter::{AllocationUnit, OpenInOrder, OpenRandom, Page, PageInner, SmallWrite};
    let memory = &found.memory;
    vec![
        plain(AllocationUnit, &truth.allocation_unit, &found.allocation_unit, twice),
        plain(Parameter::BoundaryOffset, &truth.boundary_offset, &found.boundary_offset, |_, _| false),
        plain(Page, &truth.page, &found.page, twice),
        plain(PageInner, &truth.page_inner, &found.page_inner, twice),
        plain(OpenInOrder, &truth.open_units_linear, &found.open_units_linear, next_to),
        plain(OpenRandom, &truth.open_units_random, &found.open_units_random, next_to),
        penalty(&truth.random_order_penalty, &found.random_order_penalty),
        area::presence(truth, &found.fast_area),
        area::parts(truth, &found.fast_area_parts),
        plain(SmallWrite, &truth.small_write_path, &found.small_write_path, twice),
        memory::write_buffer(&truth.memory.write_buffer, &found.memory.write_buffer),
        memory::of_write_buffer(
            Parameter::BufferVolatile,
            &truth.memory.volatile,
            memory,
            &memory.write_buffer_volatile,
        ),
        memory::of_write_buffer(
            Parameter::BufferFlushedByRead,
            &truth.memory.flushed_by_read,
            memory,
            &memory.write_buffer_flushed_by_read,
        ),
        memory::read_buffer(&truth.memory.read_buffer, &found.memory.read_buffer),
        memory::read_ahead(&truth.memory.read_ahead, &found.memory.read_ahead),
        memory::stalls(&truth.stalls, &found.memory.collection),
    ]
    .into_iter()
    .chain(drive::judge(truth, &found.drive))
    .collect()
}

fn twice(a: Bytes, b: Bytes) -> bool {
    a == b * 2 || b == a * 2
}

fn next_to(a: u32, b: u32) -> bool {
    a.abs_diff(b) == 1
}

/// A figure that is right when it is the value or an alias of it.
fn plain<T: PartialOrd + Copy + Display>(
    parameter: Parameter,
    fact: &Fact<T>,
    estimate: &Estimate<T>,
    near: impl Fn(T, T) -> bool,
) -> Judged {
    let right = |value: T| fact.value == Some(value) || fact.aliases.contains(&value);
    let verdict = match (estimate.value, estimate.at_least, estimate.at_most) {
        (Some(value), ..) if right(value) => Verdict::Exact,
        (Some(value), ..) if fact.value.is_some_and(|truth| near(truth, value)) => Verdict::OneStep,
        (Some(_), ..) => Verdict::Wrong,
        (None, None, None) => Verdict::Silent,
        (None, least, most) => bound(fact, least, most),
    };
    // A bound that holds is a true claim, however little it says.
    let holds = matches!(verdict, Verdict::Exact | Verdict::Silent);
    let said = match (estimate.value, estimate.at_least, estimate.at_most) {
        (Some(value), ..) => value.to_string(),
        (None, Some(least), Some(most)) => format!("{least} to {most}"),
        (None, Some(least), None) => format!("at least {least}"),
        (None, None, Some(most)) => format!("at most {most}"),
        (None, None, None) => "cannot tell".to_owned(),
    };
    judged(parameter, verdict, estimate, holds, said, in_words(fact))
}

fn bound<T: PartialOrd + Copy>(fact: &Fact<T>, least: Option<T>, most: Option<T>) -> Verdict {
    let Some(truth) = fact.value else {
        // Without a limit any lower bound is right, and no upper one is.
        return if most.is_none() { Verdict::Exact } else { Verdict::Wrong };
    };
    let holds = |value: T| least.is_none_or(|least| least <= value) && most.is_none_or(|most| value <= most);
    if !holds(truth) && !fact.aliases.iter().any(|alias| holds(*alias)) {
        return Verdict::Wrong;
    }
    let enough = least.is_some_and(|least| fact.at_least.is_some_and(|needed| least >= needed));
    if enough && most.is_none() { Verdict::Exact } else { Verdict::Silent }
}

fn penalty(truth: &[PenaltyTruth], estimate: &Estimate<Penalty>) -> Judged {
    let parameter = Parameter::Penalty;
    let all: Vec<String> = truth.iter().map(|at| format!("{:.1}× at {}", at.ratio, at.block)).collect();
    let words = all.join(", ");
    let Some(found) = estimate.value else {
        return judged(parameter, Verdict::Silent, estimate, true, "cannot tell".to_owned(), words);
    };
    let said = format!("{:.1}× at {}", found.ratio, found.block);
    let Some(right) = truth.iter().find(|right| right.block == found.block) else {
        return judged(parameter, Verdict::Unscored, estimate, true, said, words);
    };
    // A trial may stop before the unit is full: anything between the two truths is right as well.
    let (low, high) = (right.ratio.min(right.at_first), right.ratio.max(right.at_first));
    let off = (found.ratio / found.ratio.clamp(low, high)).ln().abs();
    let verdict = match off / RATIO_TOLERANCE.ln() {
        steps if steps <= 1.0 => Verdict::Exact,
        steps if steps <= 2.0 => Verdict::OneStep,
        _ => Verdict::Wrong,
    };
    let here = format!("{:.1}× at {}", right.ratio, right.block);
    judged(parameter, verdict, estimate, verdict == Verdict::Exact, said, here)
}

fn judged<T>(
    parameter: Parameter,
    verdict: Verdict,
    estimate: &Estimate<T>,
    holds: bool,
    said: String,
    truth: String,
) -> Judged {
    let claim = estimate.confidence.filter(|_| verdict != Verdict::Unscored).map(|share| (share, holds));
    let because = estimate.reason_unknown.clone().unwrap_or_else(|| estimate.evidence.clone());
    Judged { parameter, verdict, false_alarm: false, claim, said, truth, because }
}

fn in_words<T: Display>(fact: &Fact<T>) -> String {
    let mut words = fact.value.as_ref().map_or("none".to_owned(), ToString::to_string);
    for alias in &fact.aliases {
        words.push_str(&format!(", or {alias}"));
    }
    if !fact.can_be_told {
        words.push_str(" (hidden)");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact<T>(value: Option<T>, aliases: Vec<T>, at_least: Option<T>) -> Fact<T> {
        Fact { value, aliases, at_least, can_be_told: true, note: String::new() }
    }

    #[test]
    fn sizes_are_right_by_value_or_alias_and_near_by_a_factor_of_two() {
        let check = |value: Option<u64>, expect: Verdict| {
            let estimate = match value {
                Some(value) => Estimate::known(Bytes::mib(value), 0.9, "", &[]),
                None => Estimate::unknown("nothing shows"),
            };
            let truth = fact(Some(Bytes::mib(4)), vec![Bytes::mib(12)], None);
            assert_eq!(plain(Parameter::AllocationUnit, &truth, &estimate, twice).verdict, expect, "{value:?}");
        };
        check(Some(4), Verdict::Exact);
        check(Some(12), Verdict::Exact);
        check(Some(2), Verdict::OneStep);
        check(Some(8), Verdict::OneStep);
        check(Some(3), Verdict::Wrong);
        check(None, Verdict::Silent);
    }

    #[test]
    fn bounds_must_hold_and_reach_far_enough() {
        let check = |truth: Option<u32>, enough: Option<u32>, least: u32, expect: Verdict, holds: bool| {
            let estimate = Estimate::at_least(least, 0.9, "", &[]);
            let judged = plain(Parameter::OpenInOrder, &fact(truth, vec![], enough), &estimate, next_to);
            assert_eq!((judged.verdict, judged.claim), (expect, Some((0.9, holds))), "{truth:?} {least}");
        };
        check(Some(8), Some(8), 8, Verdict::Exact, true);
        check(Some(8), Some(8), 5, Verdict::Silent, true);
        check(Some(8), Some(8), 9, Verdict::Wrong, false);
        check(None, None, 3, Verdict::Exact, true);
    }

    #[test]
    fn a_penalty_is_right_within_a_quarter_at_its_own_block() {
        let check = |ratio: f64, block: u64, expect: Verdict| {
            let rate = flashscope_units::ByteRate(1.0);
            let found = Penalty { ratio, block: Bytes::kib(block), in_order: rate, random: rate };
            let truth = [PenaltyTruth { ratio: 100.0, at_first: 100.0, block: Bytes::kib(16) }];
            assert_eq!(penalty(&truth, &Estimate::known(found, 0.9, "", &[])).verdict, expect, "{ratio}");
        };
        check(81.0, 16, Verdict::Exact);
        check(124.0, 16, Verdict::Exact);
        check(150.0, 16, Verdict::OneStep);
        check(40.0, 16, Verdict::Wrong);
        check(100.0, 8, Verdict::Unscored);
    }
}
