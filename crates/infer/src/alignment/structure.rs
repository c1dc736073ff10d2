//! Hypotheses on where boundaries lie, weighed by the addresses of measured places.
//!
//! A hypothesis is a chain of sizes, each a multiple of the one before: up to two levels inside the page, the page, an
//! intermediate unit (plane, stripe, half a unit) and the allocation unit, each of which may be absent. A place has the
//! level of the largest of them that divides its address; sizes need not be powers of two, and the addresses, not the
//! labels under which places were chosen, decide. Every chain gets its evidence by integrating over its levels, so a size
//! must pay for itself.
//!
//! What a level says depends on the level before it and on the size after it alone, so that all chains are summed up at
//! once, size by size (forward and backward, as in a hidden Markov chain); the levels themselves are in [`super::classes`].

use super::classes::{Classes, Fit};
use super::families;
use super::noise::{Sample, ln_add, ln_sum};
use super::places::{Group, Place, Places};
use super::prior::{self, Role};
use flashscope_units::Bytes;
use std::collections::BTreeMap;

/// Fewer places than this are no level.
const FEWEST_PLACES: usize = 2;

/// What the evidence of the places is raised to: places of one device are not quite independent.
const TEMPER: f64 = 0.9;

/// Levels that differ by less, as a share of one, are the same.
const ALIKE: f64 = 0.05;

/// What a shifted grid must be better by, as a logarithm: few devices have one.
const SHIFT_COST: f64 = 3.0;

/// Sizes that are named together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Chain {
    /// A second level inside the page, smaller than the inner page.
    pub(super) chunk: Option<Bytes>,
    /// Inner page.
    pub(super) inner: Option<Bytes>,
    /// Page.
    pub(super) page: Option<Bytes>,
    /// Intermediate unit.
    pub(super) middle: Option<Bytes>,
    /// Allocation unit.
    pub(super) unit: Option<Bytes>,
}

impl Chain {
    /// The size of each class of places but the first, which lie on no boundary; the class is one more than the index.
    fn sizes(&self) -> [Option<Bytes>; 5] {
        [self.chunk, self.inner, self.page, self.middle, self.unit]
    }

    /// The size of a class of places; see [`class`].
    pub(super) fn size_of(&self, class: usize) -> Option<Bytes> {
        class.checked_sub(1).and_then(|index| self.sizes()[index])
    }

    fn set(&mut self, role: Role, size: Bytes) {
        match role {
            Role::Chunk => self.chunk = Some(size),
            Role::Inner => self.inner = Some(size),
            Role::Page => self.page = Some(size),
            Role::Middle => self.middle = Some(size),
            Role::Unit => self.unit = Some(size),
        }
    }
}

/// Classes of places under a chain, as indices of [`levels`].
pub(super) mod class {
    pub(in super::super) const BASE: usize = 0;
    pub(in super::super) const INNER: usize = 2;
    pub(in super::super) const PAGE: usize = 3;
    pub(in super::super) const MIDDLE: usize = 4;
    pub(in super::super) const UNIT: usize = 5;
    pub(in super::super) const COUNT: usize = 6;
}

/// Posterior probabilities.
#[derive(Clone, Debug)]
pub(crate) struct Posterior {
    /// Likeliest sizes.
    pub(super) best: Chain,
    /// Units with probabilities, likeliest first; `None` is no step.
    pub(super) units: Vec<(Option<Bytes>, f64)>,
    /// Pages with probabilities, likeliest first; `None` is no step.
    pub(super) pages: Vec<(Option<Bytes>, f64)>,
    /// Probability of the inner page of [`Posterior::best`] (or of its absence), given its page.
    pub(super) inner: f64,
    /// Shift of the grid of boundaries.
    pub(super) phase: Bytes,
    /// Whether no place lies off the page's grid, so that the page may be smaller.
    pub(super) page_is_bound: bool,
    /// Log evidence of all chains, for comparison between phases.
    ln_evidence: f64,
}

/// Weighs all hypotheses; `None` without places.
pub(super) fn weigh(places: &Places) -> Option<Posterior> {
    places
        .phases
        .iter()
        .filter_map(|phase| search(places, *phase))
        .max_by(|left, right| left.ln_evidence.total_cmp(&right.ln_evidence))
        .map(|found| without_a_level_twice(found, &places.groups))
}

/// Standard error of the level of the multiples of a size.
pub(super) fn error(group: &Group, size: Bytes, phase: Bytes) -> f64 {
    let at = |place: &&Place| place.from(phase).is_multiple_of(size.get());
    let information: f64 = group.places.iter().filter(at).map(|place| place.scale.powi(-2)).sum();
    information.sqrt().recip()
}

/// The level of every class of places under a chain, and how many places have it; see [`class`].
pub(super) fn levels(group: &Group, chain: &Chain, phase: Bytes) -> [Option<(f64, usize)>; class::COUNT] {
    let classes = classes(group, chain, phase);
    std::array::from_fn(|class| {
        let shares = members(group, &classes, class);
        (!shares.is_empty()).then(|| (Fit::of(&Sample::of(shares.iter().copied())).at, shares.len()))
    })
}

/// For each class the share of places that lie further from its level than noise explains.
pub(super) fn misfits(group: &Group, chain: &Chain, phase: Bytes) -> [f64; class::COUNT] {
    let found = levels(group, chain, phase);
    let plateau = found[class::PAGE].or(found[class::BASE]).map_or(0.0, |(level, _)| level);
    let classes = classes(group, chain, phase);
    std::array::from_fn(|class| {
        let Some((level, count)) = found[class] else { return 0.0 };
        let own = if class == class::UNIT { 0.16 * (level - plateau) } else { 0.0 };
        let far = |(share, scale): &&(f64, f64)| (share - level).abs() > 5.0 * scale.hypot(own).max(0.01);
        members(group, &classes, class).iter().filter(far).count() as f64 / count as f64
    })
}

/// For each place the class of its address.
fn classes(group: &Group, chain: &Chain, phase: Bytes) -> Vec<usize> {
    let sizes = chain.sizes().map(|size| size.filter(|size| group.shows(*size)));
    let class_of = |at: Bytes| {
        let divides = |size: &Option<Bytes>| size.is_some_and(|size| at.is_multiple_of(size));
        sizes.iter().rposition(divides).map_or(class::BASE, |index| index + 1)
    };
    group.places.iter().map(|place| class_of(Bytes(place.from(phase)))).collect()
}

fn members(group: &Group, classes: &[usize], class: usize) -> Vec<(f64, f64)> {
    let of_class = group.places.iter().zip(classes).filter(|(_, own)| **own == class);
    of_class.map(|(place, _)| (place.share, place.scale)).collect()
}

/// The sizes that the places can tell apart, in rising order, and whether the first divides all places and stands for
/// all smaller ones.
fn sizes(places: &Places, phase: Bytes) -> (Vec<Bytes>, bool) {
    let at: Vec<u64> = places.groups.iter().flat_map(|group| &group.places).map(|place| place.from(phase)).collect();
    let multiples = |size: Bytes| at.iter().filter(|at| at.is_multiple_of(size.get())).count();
    let families = families::worth_weighing(places, phase);
    let all = prior::sizes(prior::PAGE_RANGE.0, prior::UNIT_RANGE.1);
    let all = all.filter(|size| families.contains(&prior::split(*size).0));
    let mut all: Vec<(Bytes, usize)> = all.map(|size| (size, multiples(size))).collect();
    all.sort_unstable();
    let whole = |(_, count): &&(Bytes, usize)| *count == at.len();
    let bound = all.iter().rev().find(whole).map(|(size, _)| *size);
    let tell = all.iter().filter(|(_, count)| (FEWEST_PLACES..at.len()).contains(count)).map(|(size, _)| *size);
    (bound.into_iter().chain(tell.filter(|size| bound.is_none_or(|bound| *size > bound))).collect(), bound.is_some())
}

/// One size in one role.
type Node = (Role, usize);

/// A step of a chain: a size, or nothing below it, and the one after it, or nothing above it.
struct Step {
    from: Option<Node>,
    to: Option<Node>,
    /// Log weight of all that comes before, the level of `from` included.
    before: f64,
    /// Log weight of all that comes after.
    after: f64,
    /// As `before`, of the likeliest chain, and the step it comes by.
    best: (f64, Option<usize>),
}

/// All steps, ordered so that what leads to a step comes before it.
struct Trellis {
    sizes: Vec<Bytes>,
    steps: Vec<Step>,
}

fn search(places: &Places, phase: Bytes) -> Option<Posterior> {
    let groups = &places.groups;
    if groups.iter().all(|group| group.places.is_empty()) {
        return None;
    }
    let (sizes, first_is_bound) = sizes(places, phase);
    let smallest = sizes.first().copied();
    let classes = Classes::new(groups, &sizes, phase);
    let changes = places.seen.changes();
    let priors =
        prior::Sizes::new(&sizes, places.capacity, |unit| changes.map_or(0.0, |changes| changes.ln_odds(unit, phase)));
    let trellis = Trellis::new(sizes, classes, &priors);
    let ln_evidence = trellis.total();
    let best = trellis.best();
    let pages = trellis.marginal(Role::Page, ln_evidence);
    Some(Posterior {
        best,
        units: trellis.marginal(Role::Unit, ln_evidence),
        inner: trellis.inner(&best),
        pages,
        phase,
        page_is_bound: first_is_bound && best.page.is_some() && best.page == smallest,
        ln_evidence: ln_evidence - if phase == Bytes::ZERO { 0.0 } else { SHIFT_COST },
    })
}

/// Where edges of pages cost what those inside them do, the latter are the pages: edges of a page cost more, or less where what is
/// inside is sensed but once for them.
fn without_a_level_twice(mut found: Posterior, groups: &[Group]) -> Posterior {
    let levels = groups.first().map(|group| levels(group, &found.best, found.phase));
    let [inner, page] = [class::INNER, class::PAGE].map(|class| levels.and_then(|levels| levels[class]));
    let alike = inner.zip(page).is_some_and(|((inner, _), (page, _))| (page - inner).abs() < ALIKE * inner);
    let Chain { chunk, inner: Some(size), page: Some(larger), .. } = found.best else { return found };
    if alike && found.pages.first().is_some_and(|(page, _)| *page == Some(larger)) {
        found.pages[0].0 = Some(size);
        found.best = Chain { chunk: None, inner: chunk, page: Some(size), ..found.best };
    }
    found
}

impl Trellis {
    fn new(sizes: Vec<Bytes>, mut classes: Classes<'_>, priors: &prior::Sizes) -> Trellis {
        let mut trellis = Trellis { sizes, steps: Vec::new() };
        // For each node the steps that lead to it.
        let mut into: BTreeMap<Node, Vec<usize>> = BTreeMap::new();
        let mut leads: Vec<(usize, Vec<(usize, f64)>)> = Vec::new();
        for from in trellis.nodes() {
            let steps = from.and_then(|node| into.remove(&node)).unwrap_or_default();
            if from.is_some() && steps.is_empty() {
                continue;
            }
            // What the level is worth goes by the size that comes next, whatever its role; sizes come in order.
            let mut levels: Option<(Option<usize>, Vec<f64>)> = None;
            for to in trellis.follow(from, priors) {
                let ln_prior = priors.ln_step(from, to);
                let next = to.map(|(_, size)| size);
                let at = from.map(|(_, size)| size);
                if ln_prior == f64::NEG_INFINITY || !classes.has_places(at, next) {
                    continue;
                }
                let known = levels.take().filter(|(of, _)| *of == next).map(|(_, known)| known);
                let known = known.unwrap_or_else(|| {
                    steps.iter().map(|step| trellis.ln_level(&mut classes, *step, from, next)).collect()
                });
                let mut step = Step {
                    from,
                    to,
                    before: f64::NEG_INFINITY,
                    after: f64::NEG_INFINITY,
                    best: (f64::NEG_INFINITY, None),
                };
                if from.is_none() {
                    step.before = ln_prior + TEMPER * classes.ln_base(next);
                    step.best.0 = step.before;
                }
                let ways: Vec<(usize, f64)> =
                    steps.iter().zip(&known).map(|(way, weight)| (*way, ln_prior + TEMPER * weight)).collect();
                levels = Some((next, known));
                if from.is_some() {
                    step.before = ln_sum(ways.iter().map(|(way, weight)| trellis.steps[*way].before + weight));
                }
                for (way, weight) in &ways {
                    let lead = &trellis.steps[*way];
                    if lead.best.0 + weight > step.best.0 {
                        step.best = (lead.best.0 + weight, Some(*way));
                    }
                }
                let index = trellis.steps.len();
                trellis.steps.push(step);
                leads.push((index, ways));
                if let Some(to) = to {
                    into.entry(to).or_default().push(index);
                }
            }
        }
        trellis.go_back(&leads);
        trellis
    }

    /// Every size in every role, small sizes first; first of all the start of a chain.
    fn nodes(&self) -> Vec<Option<Node>> {
        let nodes = (0..self.sizes.len()).flat_map(|size| Role::ALL.map(|role| Some((role, size))));
        std::iter::once(None).chain(nodes).collect()
    }

    /// What may come after a node.
    fn follow(&self, from: Option<Node>, priors: &prior::Sizes) -> Vec<Option<Node>> {
        let (after, start) = from.map_or((Bytes(1), 0), |(_, size)| (self.sizes[size], size + 1));
        let nested = (start..self.sizes.len()).filter(|next| self.sizes[*next].is_multiple_of(after));
        let nodes = nested.flat_map(|next| Role::ALL.map(|role| (role, next)));
        nodes.filter(|node| priors.allows(from, *node)).map(Some).chain([None]).collect()
    }

    /// Log evidence of the level of `from`, given the step that leads to it.
    fn ln_level(&self, classes: &mut Classes<'_>, lead: usize, from: Option<Node>, next: Option<usize>) -> f64 {
        let before = self.steps[lead].from.map(|(_, size)| size);
        from.map_or(0.0, |(role, size)| classes.ln_level(before, role, size, next))
    }

    fn go_back(&mut self, leads: &[(usize, Vec<(usize, f64)>)]) {
        for (index, ways) in leads.iter().rev() {
            if self.steps[*index].to.is_none() {
                self.steps[*index].after = 0.0;
            }
            let after = self.steps[*index].after;
            for (way, weight) in ways {
                let lead = &mut self.steps[*way];
                lead.after = ln_add(lead.after, after + weight);
            }
        }
    }

    fn total(&self) -> f64 {
        self.steps.iter().filter(|step| step.to.is_none()).fold(f64::NEG_INFINITY, |sum, step| ln_add(sum, step.before))
    }

    /// The likeliest chain.
    fn best(&self) -> Chain {
        let ends = self.steps.iter().enumerate().filter(|(_, step)| step.to.is_none());
        let mut at = ends.max_by(|left, right| left.1.best.0.total_cmp(&right.1.best.0)).map(|(index, _)| index);
        let mut chain = Chain::default();
        while let Some(step) = at.map(|index| &self.steps[index]) {
            if let Some((role, size)) = step.from {
                chain.set(role, self.sizes[size]);
            }
            at = step.best.1;
        }
        chain
    }

    /// Probabilities of the sizes in a role, likeliest first; `None` is that there is none.
    fn marginal(&self, role: Role, total: f64) -> Vec<(Option<Bytes>, f64)> {
        let mut sums: BTreeMap<Bytes, f64> = BTreeMap::new();
        for step in &self.steps {
            let Some((_, size)) = step.from.filter(|(own, _)| *own == role) else { continue };
            *sums.entry(self.sizes[size]).or_default() += (step.before + step.after - total).exp();
        }
        let none = (1.0 - sums.values().sum::<f64>()).max(0.0);
        let mut ranked: Vec<(Option<Bytes>, f64)> =
            sums.into_iter().map(|(size, share)| (Some(size), share)).chain([(None, none)]).collect();
        ranked.sort_by(|left, right| right.1.total_cmp(&left.1));
        ranked
    }

    /// Probability that the page of a chain has the inner page of the chain, or none as there.
    fn inner(&self, chain: &Chain) -> f64 {
        let (mut same, mut any) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for step in &self.steps {
            let is_page = |(role, size): &Node| *role == Role::Page && Some(self.sizes[*size]) == chain.page;
            if step.to.as_ref().is_none_or(|to| !is_page(to)) {
                continue;
            }
            let weight = step.before + step.after;
            any = ln_add(any, weight);
            if step.from.map(|(_, size)| self.sizes[size]) == chain.inner {
                same = ln_add(same, weight);
            }
        }
        if any == f64::NEG_INFINITY { 0.0 } else { (same - any).exp() }
    }
}
