//! Hypotheses on where boundaries lie, weighed by the addresses of measured places.
//!
//! A hypothesis names up to four sizes: an inner page, a page, an intermediate unit (plane, stripe, half a unit) and the
//! allocation unit. A place has the level of the largest of them that divides its address. Every hypothesis gets its
//! evidence by integrating over its levels, so a size must pay for itself; sizes need not be powers of two, and the
//! addresses, not the labels under which places were chosen, decide.
//!
//! Page and unit are searched in turn, each with its companion, until neither moves.

use super::noise::{centre, level, ln_add, ln_normal};
use super::places::Group;
use super::prior::{self, Contrast};
use flashscope_units::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// Fewer places than this are no level.
const FEWEST_PLACES: usize = 2;

/// Prior probability of an intermediate unit, and of an inner page.
const COMPANION: f64 = 0.2;

/// An inner page reaches at most about this share of the page's level; above, it is the page.
const INNER_PAGE: f64 = 0.62;

/// Width of the soft edge at [`INNER_PAGE`].
const INNER_EDGE: f64 = 0.035;

/// An intermediate unit reaches at most about this share of the unit's level; above, it is the unit and the rest scatter.
const INNER_UNIT: f64 = 0.8;

/// Smaller intermediate units than this are inner pages.
const SMALLEST_MIDDLE: Bytes = Bytes::kib(16);

/// Multiples of this may well be multiples of a unit.
const LIKELY_UNIT: Bytes = Bytes::kib(256);

/// Prior probability that an intermediate unit is crossed for nothing, because both sides are read in parallel.
const PARALLEL: f64 = 0.15;

/// Prior standard deviation of the level where no boundary is, as a share of an access.
const BASE_SPREAD: f64 = 0.03;

/// Range of levels of which nothing is known.
const ANY_LEVEL: f64 = 1.0;

/// Scatter of the unit's level as a share of its contrast, with prior weights.
const TOP_SCATTER: [(f64, f64); 3] = [(0.0, 0.5), (0.06, 0.3), (0.16, 0.2)];

/// What the evidence of the places is raised to: places of one device are not quite independent.
const TEMPER: f64 = 0.7;

/// Sizes that are named together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Chain {
    /// Inner page.
    pub(super) inner: Option<Bytes>,
    /// Page.
    pub(super) page: Option<Bytes>,
    /// Intermediate unit.
    pub(super) middle: Option<Bytes>,
    /// Allocation unit.
    pub(super) unit: Option<Bytes>,
}

/// Posterior probabilities.
#[derive(Clone, Debug)]
pub(super) struct Posterior {
    /// Likeliest sizes.
    pub(super) best: Chain,
    /// Units with probabilities, likeliest first; `None` is no step.
    pub(super) units: Vec<(Option<Bytes>, f64)>,
    /// Pages with probabilities, likeliest first; `None` is no step.
    pub(super) pages: Vec<(Option<Bytes>, f64)>,
    /// Probability of the inner page of [`Posterior::best`], given its page.
    pub(super) inner: f64,
    /// Shift of the grid of boundaries.
    pub(super) phase: Bytes,
    /// Probability of the rises of [`Posterior::best`], whatever they are called.
    pub(super) rises: f64,
    /// Whether no place lies off the page's grid, so that the page may be smaller.
    pub(super) page_is_bound: bool,
    /// Log evidence of the best chain, for comparison between phases.
    ln_evidence: f64,
}

/// Weighs all hypotheses; `None` without places.
pub(super) fn weigh(groups: &[Group], phases: &[Bytes], capacity: Option<Bytes>) -> Option<Posterior> {
    phases
        .iter()
        .filter_map(|phase| search(groups, *phase, capacity))
        .max_by(|left, right| left.ln_evidence.total_cmp(&right.ln_evidence))
}

/// The level of every class of places under a chain: base, inner page, page, intermediate, unit; and how many places.
pub(super) fn levels(group: &Group, chain: &Chain, phase: Bytes) -> [Option<(f64, usize)>; 5] {
    let classes = classes(group, chain, phase);
    std::array::from_fn(|class| {
        let values = members(group, &classes, class);
        (!values.is_empty()).then(|| (centre(&values), values.len()))
    })
}

/// For each class (see [`levels`]) the share of places that lie further from its level than noise explains.
pub(super) fn misfits(group: &Group, chain: &Chain, phase: Bytes) -> [f64; 5] {
    let found = levels(group, chain, phase);
    let plateau = found[2].or(found[0]).map_or(0.0, |(level, _)| level);
    let classes = classes(group, chain, phase);
    std::array::from_fn(|class| {
        let Some((level, count)) = found[class] else { return 0.0 };
        let own = if class == 4 { 0.16 * (level - plateau) } else { 0.0 };
        let limit = 5.0 * group.scatter.hypot(own).max(0.01);
        let places = members(group, &classes, class);
        places.iter().filter(|(share, _)| (share - level).abs() > limit).count() as f64 / count as f64
    })
}

fn search(groups: &[Group], phase: Bytes, capacity: Option<Bytes>) -> Option<Posterior> {
    if groups.iter().all(|group| group.places.is_empty()) {
        return None;
    }
    let sizes = Sizes::new(groups, phase);
    let mut best = named(groups, first_page(groups, &sizes, phase), phase);
    let mut result = None;
    for _ in 0..4 {
        let units = weigh_units(groups, &sizes, &best, phase, capacity);
        best = named(groups, Chain { unit: units.unit, middle: units.middle, ..best }, phase);
        let pages = weigh_pages(groups, &sizes, &best, phase);
        let settled = (best.page, best.inner) == (pages.page, pages.inner);
        (best.page, best.inner) = (pages.page, pages.inner);
        result = Some((units, pages));
        if settled {
            break;
        }
    }
    let (units, pages) = result?;
    let page_is_bound = best.page == sizes.pages.first().copied() && sizes.first_page_is_bound;
    let ln_evidence = evidence(groups, &best, phase) - if phase == Bytes::ZERO { 0.0 } else { 3.0 };
    Some(Posterior {
        best,
        units: units.ranked,
        pages: pages.ranked,
        inner: pages.companion,
        rises: pages.rises,
        phase,
        page_is_bound,
        ln_evidence,
    })
}

/// The same levels under their right names: a page with a small intermediate unit that rises much higher is an inner
/// page with its page.
fn named(groups: &[Group], chain: Chain, phase: Bytes) -> Chain {
    let (Some(page), Some(middle), None) = (chain.page, chain.middle, chain.inner) else { return chain };
    if middle > prior::PAGE_RANGE.1 || !fits_inside(page, middle) {
        return chain;
    }
    let renamed = Chain { inner: Some(page), page: Some(middle), middle: None, ..chain };
    let mut rises = groups.iter().filter_map(|group| match levels(group, &renamed, phase) {
        [_, Some((inner, _)), Some((page, _)), ..] => Some(page > inner),
        _ => None,
    });
    let is_inside = rises.all(|rises| rises) && inner_weight(groups, &renamed, phase) > 0.5;
    if is_inside { renamed } else { chain }
}

/// Whether one size can be an inner page of the other: planes or dies of it, of which there are a few.
fn fits_inside(inner: Bytes, page: Bytes) -> bool {
    const MOST_PARTS: u64 = 8;
    page.is_multiple_of(inner) && page / inner <= MOST_PARTS
}

/// The page by the places that are no multiples of any likely unit, with or without an intermediate unit among them.
fn first_page(groups: &[Group], sizes: &Sizes, phase: Bytes) -> Chain {
    let small: Vec<Group> = groups.iter().map(|group| off_units(group, phase)).collect();
    let middles = sizes.pages.iter().chain(&sizes.units).copied();
    let middles: BTreeSet<Bytes> = middles.filter(|size| *size > SMALLEST_MIDDLE && *size < LIKELY_UNIT).collect();
    let each = (COMPANION / middles.len().max(1) as f64).ln();
    std::iter::once((None, (1.0 - COMPANION).ln()))
        .chain(middles.into_iter().map(|size| (Some(size), each)))
        .map(|(middle, ln_prior)| {
            let given = Chain { middle, ..Chain::default() };
            let found = weigh_pages(&small, sizes, &given, phase);
            let chain = Chain { page: found.page, inner: found.inner, ..given };
            (chain, ln_prior + TEMPER * evidence(&small, &chain, phase))
        })
        .max_by(|left, right| left.1.total_cmp(&right.1))
        .map(|(chain, _)| chain)
        .unwrap_or_default()
}

/// The sizes that the places can tell apart.
struct Sizes {
    pages: Vec<Bytes>,
    units: Vec<Bytes>,
    /// Whether the first page divides all places, and stands for all smaller ones.
    first_page_is_bound: bool,
}

impl Sizes {
    fn new(groups: &[Group], phase: Bytes) -> Sizes {
        let at: Vec<Bytes> = groups
            .iter()
            .flat_map(|group| &group.places)
            .map(|place| Bytes(place.at.get().abs_diff(phase.get())))
            .collect();
        let multiples = |size: Bytes| at.iter().filter(|at| at.is_multiple_of(size)).count();
        let tell = |size: &Bytes| (FEWEST_PLACES..at.len()).contains(&multiples(*size));
        let of = |odds: &[u64], low: Bytes, high: Bytes| -> Vec<Bytes> {
            let mut sizes: Vec<Bytes> = (9..30)
                .flat_map(|power| odds.iter().map(move |odd| Bytes(odd << power)))
                .filter(|size| (low..=high).contains(size))
                .collect();
            sizes.sort_unstable();
            sizes.dedup();
            sizes
        };
        let all_pages = of(&[1, 3, 5, 7, 25], prior::PAGE_RANGE.0, prior::PAGE_RANGE.1);
        let bound = all_pages.iter().copied().filter(|size| multiples(*size) == at.len()).max();
        let pages: Vec<Bytes> = bound.into_iter().chain(all_pages.into_iter().filter(tell)).collect();
        let units: Vec<Bytes> =
            of(&[1, 3, 5, 7, 9, 15, 25], prior::UNIT_RANGE.0, prior::UNIT_RANGE.1).into_iter().filter(tell).collect();
        Sizes { pages, units, first_page_is_bound: bound.is_some() }
    }
}

/// The places that are multiples of nothing that is likely a unit.
fn off_units(group: &Group, phase: Bytes) -> Group {
    let places = group
        .places
        .iter()
        .filter(|place| !Bytes(place.at.get().abs_diff(phase.get())).is_multiple_of(LIKELY_UNIT))
        .copied()
        .collect();
    Group { places, ..group.clone() }
}

/// Outcome of weighing units with intermediate ones.
struct Units {
    unit: Option<Bytes>,
    middle: Option<Bytes>,
    ranked: Vec<(Option<Bytes>, f64)>,
}

fn weigh_units(groups: &[Group], sizes: &Sizes, given: &Chain, phase: Bytes, capacity: Option<Bytes>) -> Units {
    let page = given.page.unwrap_or(Bytes::ZERO);
    let weights: Vec<f64> = sizes
        .units
        .iter()
        .map(|unit| prior::unit_weight(*unit).sqrt() * prior::capacity_factor(capacity, *unit))
        .collect();
    let total: f64 = weights.iter().sum();
    let mut alone: Vec<(Chain, f64)> = vec![(Chain { unit: None, middle: None, ..*given }, prior::UNIT_UNSEEN.ln())];
    for (unit, weight) in sizes.units.iter().zip(&weights).filter(|(unit, _)| **unit > page) {
        let chain = Chain { unit: Some(*unit), middle: None, ..*given };
        alone.push((chain, ((1.0 - prior::UNIT_UNSEEN) * weight / total).ln()));
    }
    let mut found = Vec::new();
    for (chain, ln_prior) in promising(groups, phase, alone) {
        // A level between page and unit: a divisor of the unit, or any size where no unit shows.
        let middles = sizes.units.iter().chain(&sizes.pages).copied().filter(|size| {
            *size > page
                && *size >= SMALLEST_MIDDLE
                && chain.unit.is_none_or(|unit| *size < unit && unit.is_multiple_of(*size))
        });
        let chains = middles.map(|middle| Chain { middle: Some(middle), ..chain }).collect();
        found.extend(with_companions(groups, phase, chain, chains, ln_prior));
    }
    let best = found.iter().max_by(|left, right| left.1.total_cmp(&right.1)).map(|(chain, _)| *chain).unwrap_or(*given);
    let ranked = ranked(found.iter().map(|(chain, weight)| (chain.unit, *weight)));
    Units { unit: best.unit, middle: best.middle, ranked }
}

/// Outcome of weighing pages with inner ones.
struct Pages {
    page: Option<Bytes>,
    inner: Option<Bytes>,
    ranked: Vec<(Option<Bytes>, f64)>,
    companion: f64,
    rises: f64,
}

fn weigh_pages(groups: &[Group], sizes: &Sizes, given: &Chain, phase: Bytes) -> Pages {
    let end = given.middle.or(given.unit).unwrap_or(Bytes(u64::MAX));
    let total: f64 = sizes.pages.iter().map(|page| prior::page_weight(*page)).sum();
    let none = Chain { page: None, inner: None, ..*given };
    let mut alone = vec![(none, prior::PAGE_UNSEEN.ln())];
    for page in sizes.pages.iter().copied().filter(|page| *page < end) {
        let weight = (1.0 - prior::PAGE_UNSEEN) * prior::page_weight(page) / total;
        alone.push((Chain { page: Some(page), ..none }, weight.ln()));
    }
    let mut found = Vec::new();
    for (chain, ln_prior) in promising(groups, phase, alone) {
        let inners = sizes
            .pages
            .iter()
            .copied()
            .filter(|size| chain.page.is_some_and(|page| *size < page && fits_inside(*size, page)));
        let chains = inners.map(|inner| Chain { inner: Some(inner), ..chain }).collect();
        found.extend(with_companions(groups, phase, chain, chains, ln_prior));
    }
    let best = found.iter().max_by(|left, right| left.1.total_cmp(&right.1)).map(|(chain, _)| *chain).unwrap_or(none);
    let same_page =
        found.iter().filter(|(chain, _)| chain.page == best.page).map(|(chain, weight)| (chain.inner, *weight));
    let companion = self::ranked(same_page)
        .into_iter()
        .find(|(inner, _)| *inner == best.inner)
        .map_or(0.0, |(_, probability)| probability);
    let rises = self::ranked(found.iter().map(|(chain, weight)| (chain.page, *weight)));
    let rises = rises.first().map_or(0.0, |(_, probability)| *probability);
    let labelled = found.iter().flat_map(|(chain, weight)| {
        let inside = if chain.inner.is_some() { inner_weight(groups, chain, phase) } else { 1.0 };
        [(chain.page, weight + inside.ln()), (chain.inner, weight + (1.0 - inside).ln())]
    });
    let ranked = ranked(labelled.filter(|(_, weight)| *weight > f64::NEG_INFINITY));
    Pages { page: best.page, inner: best.inner, ranked, companion, rises }
}

/// The chains without companions that are worth trying with them: the right one explains its own level at least, and
/// so is among the best even where a companion is missing.
fn promising(groups: &[Group], phase: Bytes, alone: Vec<(Chain, f64)>) -> Vec<(Chain, f64)> {
    const KEPT: usize = 14;
    let weights: Vec<f64> =
        alone.iter().map(|(chain, ln_prior)| ln_prior + TEMPER * evidence(groups, chain, phase)).collect();
    let mut order: Vec<usize> = (0..alone.len()).collect();
    // The first is the one without a size, which always stays.
    order[1..].sort_by(|left, right| weights[*right].total_cmp(&weights[*left]));
    order.truncate(KEPT);
    order.into_iter().map(|index| alone[index]).collect()
}

/// A chain and those with a companion, with log weights.
fn with_companions(
    groups: &[Group],
    phase: Bytes,
    alone: Chain,
    companions: Vec<Chain>,
    ln_prior: f64,
) -> Vec<(Chain, f64)> {
    let each = (COMPANION / companions.len().max(1) as f64).ln();
    std::iter::once((alone, (1.0 - COMPANION).ln()))
        .chain(companions.into_iter().map(|chain| (chain, each)))
        .map(|(chain, weight)| (chain, ln_prior + weight + TEMPER * evidence(groups, &chain, phase)))
        .collect()
}

/// Adds up the weights of each key and ranks them.
fn ranked(weights: impl Iterator<Item = (Option<Bytes>, f64)>) -> Vec<(Option<Bytes>, f64)> {
    let mut sums: BTreeMap<Option<Bytes>, f64> = BTreeMap::new();
    for (key, weight) in weights {
        let sum = sums.entry(key).or_insert(f64::NEG_INFINITY);
        *sum = ln_add(*sum, weight);
    }
    let ln_weights: Vec<f64> = sums.values().copied().collect();
    let probabilities = flashscope_stats::posterior::normalise_log(&ln_weights).unwrap_or_default();
    let mut ranked: Vec<(Option<Bytes>, f64)> = sums.into_keys().zip(probabilities).collect();
    ranked.sort_by(|left, right| right.1.total_cmp(&left.1));
    ranked
}

/// Log evidence of a chain in all groups.
fn evidence(groups: &[Group], chain: &Chain, phase: Bytes) -> f64 {
    groups.iter().filter(|group| !group.places.is_empty()).map(|group| group_evidence(group, chain, phase)).sum()
}

fn group_evidence(group: &Group, chain: &Chain, phase: Bytes) -> f64 {
    let classes = classes(group, chain, phase);
    let [base, inner, page, middle, unit] = std::array::from_fn(|class| members(group, &classes, class));
    if chain.unit.is_some() && unit.is_empty() {
        return f64::NEG_INFINITY;
    }
    let (ln_base, at_base) = level(&base, |at| ln_normal(at, BASE_SPREAD));
    let mut sum = ln_base;
    // Without a page the places that are no multiples of a unit are the plateau; where there are none of those either,
    // the lowest level that has places is, and its height says nothing.
    let mut plateau = if base.is_empty() { None } else { Some(at_base) };
    if !page.is_empty() {
        let (ln_page, at_page) = level(&page, |at| density(Contrast::Page, at - at_base));
        sum += ln_page + ln_not_artefact(at_page - at_base);
        plateau = Some(at_page);
        sum += between(&inner, at_base, at_page, 1.0);
    } else if !inner.is_empty() {
        return f64::NEG_INFINITY;
    }
    let free = |values: &[(f64, f64)]| level(values, |_| -ANY_LEVEL.ln());
    let Some(plateau) = plateau else {
        let (ln_middle, at_middle) = free(&middle);
        let ln_unit = if middle.is_empty() { free(&unit).0 } else { top(&unit, at_middle).0 };
        return sum + ln_middle + ln_unit;
    };
    let parallel = |values: &[(f64, f64)]| PARALLEL.ln() + level(values, |at| ln_normal(at - at_base, BASE_SPREAD)).0;
    if unit.is_empty() {
        let above = level(&middle, |at| density(Contrast::Page, at - plateau)).0;
        return sum + ln_add((1.0 - PARALLEL).ln() + above, parallel(&middle));
    }
    let (ln_unit, at_unit) = top(&unit, plateau);
    let above = between(&middle, plateau, at_unit, INNER_UNIT);
    sum + ln_unit + ln_add((1.0 - PARALLEL).ln() + above, parallel(&middle))
}

/// Probability that the inner page of a chain lies inside its page; else it is the page, and the next level another rise.
fn inner_weight(groups: &[Group], chain: &Chain, phase: Bytes) -> f64 {
    let shares: Vec<f64> = groups
        .iter()
        .filter_map(|group| match levels(group, chain, phase) {
            [base, Some((inner, _)), Some((page, _)), ..] => {
                let base = base.map_or(0.0, |(level, _)| level);
                Some((inner - base) / (page - base))
            }
            _ => None,
        })
        .collect();
    let share = shares.first().copied().unwrap_or(0.0);
    1.0 / (1.0 + ((share - INNER_PAGE) / INNER_EDGE).exp())
}

/// Evidence of the unit's level, whose scatter may grow with its contrast.
fn top(values: &[(f64, f64)], plateau: f64) -> (f64, f64) {
    if values.is_empty() {
        return (0.0, plateau);
    }
    let (_, about) = level(values, |_| 0.0);
    let mut sum = f64::NEG_INFINITY;
    for (scatter, weight) in TOP_SCATTER {
        let own = scatter * (about - plateau).max(0.0);
        let wider: Vec<(f64, f64)> = values.iter().map(|(value, scale)| (*value, scale.hypot(own))).collect();
        let (ln_level, _) = level(&wider, |at| density(Contrast::Unit, at - plateau));
        sum = ln_add(sum, weight.ln() + ln_level);
    }
    (sum, about)
}

/// Evidence of a level somewhere between two others, at most about `most` of the way up.
fn between(values: &[(f64, f64)], low: f64, high: f64, most: f64) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    level(values, |at| {
        let share = (at - low) / (high - low).max(1e-9);
        let inside = 1.0 / (1.0 + ((share - most) / 0.05).exp());
        if share <= 0.03 { f64::NEG_INFINITY } else { inside.ln() - (high - low).max(1e-9).ln() }
    })
    .0
}

/// How much less a small contrast is worth because effects of another origin are as large.
fn ln_not_artefact(contrast: f64) -> f64 {
    let (real, artefact) = (Contrast::Page.ln_density(contrast), Contrast::Artefact.ln_density(contrast));
    if real == f64::NEG_INFINITY { real } else { real - ln_add(real, artefact) }
}

/// Log density of a level that lies this contrast above another.
fn density(kind: Contrast, contrast: f64) -> f64 {
    kind.ln_density(contrast) - contrast.max(1e-9).ln()
}

/// For each place the class of its address: 4 unit, 3 intermediate, 2 page, 1 inner page, 0 none.
fn classes(group: &Group, chain: &Chain, phase: Bytes) -> Vec<u8> {
    // Reads that are larger than a page cover as many pages when they straddle an edge as when they do not.
    let visible = |size: Option<Bytes>| size.filter(|size| size.get() * 2 > group.block.get());
    let (inner, page) = (visible(chain.inner), visible(chain.page));
    let order = [chain.unit, chain.middle, page, inner];
    let class_of = |at: Bytes| {
        let divides = |size: &Option<Bytes>| size.is_some_and(|size| at.is_multiple_of(size));
        order.iter().position(divides).map_or(0, |index| 4 - index as u8)
    };
    group.places.iter().map(|place| class_of(Bytes(place.at.get().abs_diff(phase.get())))).collect()
}

fn members(group: &Group, classes: &[u8], class: usize) -> Vec<(f64, f64)> {
    let of_class = group.places.iter().zip(classes).filter(|(_, own)| usize::from(**own) == class);
    of_class.map(|(place, _)| (place.share, group.scatter)).collect()
}
