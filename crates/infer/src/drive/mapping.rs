//! How addresses are mapped: what the findings on units and orders say, scored for each kind of mapping.
//!
//! Each finding is put in one of few classes, and each kind of mapping has a probability for each class: that is the table
//! below. A kind that is none of these is in the running as well, with even chances everywhere, so that findings that no
//! kind explains end there.

use crate::caution::COPIES;
use crate::open_units::words;
use crate::penalty;
use flashscope_model::finding::{Doubt, MappingKind, Penalty};
use flashscope_model::{Estimate, ExperimentName, Geometry, Observations, Order, Reason};
use flashscope_units::Bytes;

/// The kinds of mapping, in the order of the likelihoods of a [`Clue`].
const KINDS: [MappingKind; 4] = [MappingKind::Page, MappingKind::UnitLog, MappingKind::UnitInOrder, MappingKind::Other];

/// A finding in a class, and how likely that is for each of [`KINDS`].
#[derive(Clone)]
struct Clue {
    likelihood: [f64; 4],
    words: String,
    methods: Vec<ExperimentName>,
}

/// What is expected before anything is known: none of these is rare.
const PRIOR: [f64; 4] = [0.3, 0.33, 0.33, 0.04];

/// A finding that is less sure than this is no clue.
const GOOD_ENOUGH: f64 = 0.8;

/// What makes a limit, or that there is none, no clue. Whether there is one is surer than where it is, which depends on the
/// unit that was assumed.
const NO_CLUE: [Doubt; 4] = [Doubt::LimitElsewhere, Doubt::ComesBack, Doubt::CountsDiffer, Doubt::FewRequests];

/// Number of units without a limit from which on a limit is not to be expected.
const MANY: u32 = 16;

/// Largest ratio of sequential to random rate at which order makes no difference.
const SAME: f64 = 1.5;

/// Experiments that show what a write does.
const OF_WRITES: [ExperimentName; 5] = [
    ExperimentName::OpenUnits,
    ExperimentName::OpenAu,
    ExperimentName::Throughput,
    ExperimentName::Program,
    ExperimentName::WriteAlign,
];

/// The kind that explains the findings best.
pub(crate) fn estimate(geometry: &Geometry, observations: &Observations) -> Estimate<MappingKind> {
    let units: Vec<Clue> = unit(geometry).into_iter().collect();
    let mut found = weigh(&[clues_of_writes(geometry, observations), units, clues_of_reads(geometry)].concat());
    let counts = [&geometry.open_units_linear, &geometry.open_units_random];
    if found.method().contains(&ExperimentName::OpenAu) && counts.iter().any(|open| open.has_doubt(Doubt::UnitByEye)) {
        found.doubt(Doubt::UnitByEye);
    }
    found
}

fn clues_of_writes(geometry: &Geometry, observations: &Observations) -> Vec<Clue> {
    [open_units(geometry), penalty(geometry, observations)].into_iter().flatten().collect()
}

fn clues_of_reads(geometry: &Geometry) -> Vec<Clue> {
    [side_by_side(geometry), reach(geometry)].into_iter().flatten().collect()
}

fn weigh(clues: &[Clue]) -> Estimate<MappingKind> {
    if clues.is_empty() {
        return Estimate::not_measured();
    }
    // Reads alone tell that there are units, but not what a write does to them.
    let writes = clues.iter().any(|clue| clue.methods.iter().any(|method| OF_WRITES.contains(method)));
    if !writes {
        return Estimate::unknown(Reason::NeedsWrites, "");
    }
    let mut posterior = posterior(clues);
    let (kind, share) = posterior[0];
    let words: Vec<&str> = clues.iter().map(|clue| clue.words.as_str()).filter(|words| !words.is_empty()).collect();
    if share < LEAST_SHARE {
        return Estimate::unknown(
            Reason::Ambiguous,
            format!("the findings fit more than one kind: {}", words.join("; ")),
        );
    }
    let mut methods: Vec<ExperimentName> = clues.iter().flat_map(|clue| clue.methods.iter().copied()).collect();
    methods.dedup();
    Estimate::known(kind, share, words.join(", "), &methods).with_alternatives(posterior.split_off(1))
}

/// Kinds with their probabilities, likeliest first.
fn posterior(clues: &[Clue]) -> Vec<(MappingKind, f64)> {
    let weight = |index: usize| PRIOR[index] * clues.iter().map(|clue| clue.likelihood[index]).product::<f64>();
    let mut posterior: Vec<(MappingKind, f64)> =
        KINDS.iter().enumerate().map(|(index, kind)| (*kind, weight(index))).collect();
    let total: f64 = posterior.iter().map(|(_, weight)| weight).sum();
    posterior.iter_mut().for_each(|(_, weight)| *weight /= total);
    posterior.sort_by(|a, b| b.1.total_cmp(&a.1));
    posterior
}

/// Below this share no kind is named.
const LEAST_SHARE: f64 = 0.6;
/// Whether a number of units open is too many, sequentially and randomly. The two are one finding: where nothing is too many
/// in order, nothing is at random, whatever the mapping; and where each random write is merged, that hides any limit.
/// The shares are those of fleets of cards and drives with a known inside, and no less than 0.005.
fn open_units(geometry: &Geometry) -> Option<Clue> {
    let in_order = limited(&geometry.open_units_linear, Order::InOrder);
    let at_random = limited(&geometry.open_units_random, Order::Random);
    let likelihood = match (in_order.as_ref().map(|found| found.0), at_random.as_ref().map(|found| found.0)) {
        (Some(true), Some(true)) => [0.005, 0.93, 0.42, 0.25],
        (Some(true), Some(false)) => [0.01, 0.01, 0.5, 0.25],
        (Some(false), Some(true)) => [0.01, 0.035, 0.005, 0.25],
        (Some(false), Some(false)) => [0.975, 0.025, 0.075, 0.25],
        (Some(true), None) => [0.015, 0.92, 0.93, 0.5],
        (Some(false), None) => [0.985, 0.08, 0.07, 0.5],
        (None, Some(true)) => [0.015, 0.95, 0.4, 0.5],
        (None, Some(false)) => [0.985, 0.05, 0.6, 0.5],
        (None, None) => return None,
    };
    let words: Vec<String> = [in_order, at_random].into_iter().flatten().map(|found| found.1).collect();
    let methods = [&geometry.open_units_linear, &geometry.open_units_random].map(Estimate::method).concat();
    Some(Clue { likelihood, words: words.join(", "), methods })
}

/// Whether some number of units is too many, in words as well.
fn limited(open: &Estimate<u32>, order: Order) -> Option<(bool, String)> {
    // Where a limit may lie elsewhere, or be hidden, it is no clue.
    let hidden = order == Order::Random && open.has_doubt(Doubt::Declines);
    if open.is_unknown() || hidden || NO_CLUE.iter().any(|doubt| open.has_doubt(*doubt)) {
        return None;
    }
    if let Some(count) = open.value() {
        return Some((true, format!("{count} open units ({})", words(order))));
    }
    // Of a printed table, whose regions may be units or not, twice as many tell as much.
    let many = if open.method().contains(&ExperimentName::OpenAu) { 2 * MANY } else { MANY };
    let least = open.least().filter(|least| *least >= many)?;
    Some((false, format!("{least} open units are not too many ({})", words(order))))
}

/// What random order costs within one unit: of whole pages where they are known, since a write that covers a page in part
/// may cost a log as much as a merge, or fill one of its own.
fn penalty(geometry: &Geometry, observations: &Observations) -> Option<Clue> {
    let sure = |confidence: Option<f64>| confidence.is_some_and(|sure| sure >= GOOD_ENOUGH);
    let page = geometry.page.value().filter(|_| sure(geometry.page.confidence()));
    let small = geometry.small_write_path.value().map_or(Bytes::ZERO, |path| path.size);
    let of_pages = page.and_then(|page| penalty::of_whole_pages(observations, page, small));
    let found = &geometry.random_order_penalty;
    // What a copy costs depends on how much there is to copy, and whether there are any does not.
    let cheap_copies = |penalty: &Penalty| penalty.ratio > 1.0 && found.has_doubt(Doubt::Blank);
    let methods = if of_pages.is_some() { vec![ExperimentName::Throughput] } else { found.method().to_vec() };
    let (penalty, whole) = match of_pages {
        Some(penalty) => (penalty, true),
        None => (found.value().filter(|penalty| sure(found.confidence()) && !cheap_copies(penalty))?, false),
    };
    let likelihood = match (penalty.ratio, whole) {
        (ratio, true) if ratio < SAME => [0.97, 0.93, 0.1, 0.33],
        (ratio, true) if ratio < COPIES => [0.02, 0.02, 0.02, 0.33],
        (_, true) => [0.01, 0.05, 0.88, 0.33],
        (ratio, false) if ratio < SAME => [0.93, 0.75, 0.12, 0.33],
        (ratio, false) if ratio < COPIES => [0.05, 0.15, 0.06, 0.33],
        (_, false) => [0.02, 0.3, 0.82, 0.33],
    };
    let words = format!("random order costs {:.1}× at {}", penalty.ratio, penalty.block);
    Some(Clue { likelihood, words, methods })
}

/// Whether reads show units at all.
fn unit(geometry: &Geometry) -> Option<Clue> {
    let found = &geometry.allocation_unit;
    found.value().filter(|_| found.confidence().is_some_and(|sure| sure >= GOOD_ENOUGH))?;
    // The line of the allocation unit says it already.
    let words = String::new();
    Some(Clue { likelihood: [0.03, 0.9, 0.9, 0.5], words, methods: found.method().to_vec() })
}

/// Whether several chips read side by side: controllers that take several requests at a time map by page, as a rule.
fn side_by_side(geometry: &Geometry) -> Option<Clue> {
    let found = &geometry.parallel_units;
    let units = found.value().filter(|units| *units > 1 && stripes(geometry))?;
    let words = format!("{units} chips read side by side");
    Some(Clue { likelihood: [0.6, 0.04, 0.04, 0.3], words, methods: vec![ExperimentName::Parallel] })
}

fn stripes(geometry: &Geometry) -> bool {
    geometry.stripe.confidence().is_some_and(|sure| sure >= GOOD_ENOUGH)
}

/// Whether the map is so long that only a part of it is in memory, as that of units never is.
fn reach(geometry: &Geometry) -> Option<Clue> {
    let reach = geometry.map_reach.value()?;
    let words = format!("the map in memory stands for {reach}");
    Some(Clue { likelihood: [0.3, 0.06, 0.06, 0.3], words, methods: vec![ExperimentName::MapReach] })
}

/// From this probability of a mapping by page on, and only where reads show it as well, steps of reads are none of units.
const NO_UNITS: f64 = 0.93;

/// Fewer pages than this are no unit, but rows of chips or kinds of pages.
const FEW_PAGES: u64 = 16;

/// Where addresses are mapped by page there are no units whose edges reads could show. What looks like them are the edges of
/// parts of the map, or rows of chips.
pub(super) fn disown_units(geometry: &mut Geometry, observations: &Observations) {
    let Some(step) = geometry.allocation_unit.value().or(geometry.allocation_unit.least()) else { return };
    let mapping = weigh(&[clues_of_writes(geometry, observations), clues_of_reads(geometry)].concat());
    let by_page =
        mapping.value() == Some(MappingKind::Page) && mapping.confidence().is_some_and(|sure| sure >= NO_UNITS);
    let few_pages = geometry.page.value().is_some_and(|page| step < page * FEW_PAGES);
    let reads_agree = geometry.map_reach.value().is_some() || stripes(geometry) || few_pages;
    if by_page && reads_agree {
        let why = format!(
            "{}, but the device is page-mapped ({}): such a step is that of a part of the map, or of rows of chips",
            geometry.allocation_unit.evidence(),
            mapping.evidence()
        );
        geometry.allocation_unit = Estimate::unknown(Reason::Contradicted, why.clone());
        geometry.boundary_offset = Estimate::unknown(Reason::Contradicted, why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of units of 4 MiB that reads show, where so many of them can be open at once (`None`: any number), and
    /// so much of the map is in memory.
    fn unit_after(limit: Option<u32>, reach: Option<Bytes>) -> Estimate<Bytes> {
        let mut geometry = crate::infer(&Observations::default()).geometry;
        geometry.allocation_unit = Estimate::known(Bytes::mib(4), 0.998, "a step", &[ExperimentName::Boundaries]);
        let open = || match limit {
            Some(limit) => Estimate::known(limit, 0.98, "a fall", &[ExperimentName::OpenUnits]),
            None => Estimate::at_least(64, 0.98, "no fall", &[ExperimentName::OpenUnits]),
        };
        (geometry.open_units_linear, geometry.open_units_random) = (open(), open());
        if let Some(reach) = reach {
            geometry.map_reach = Estimate::known(reach, 0.5, "misses", &[ExperimentName::MapReach]);
        }
        disown_units(&mut geometry, &Observations::default());
        geometry.allocation_unit
    }

    #[test]
    fn a_step_is_no_unit_where_addresses_are_mapped_by_page() {
        assert!(unit_after(Some(6), None).value().is_some());
        assert!(unit_after(Some(6), Some(Bytes::gib(1))).value().is_some());
        // Many units open at once, or none: what reads show may be either.
        assert!(unit_after(None, None).value().is_some());
        assert!(unit_after(None, Some(Bytes::gib(1))).is_unknown());
    }
}
