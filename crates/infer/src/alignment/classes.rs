//! Classes of places: the multiples of one size that are none of the next, their common level, and what it is worth.

use super::noise::{Sample, ln_add, ln_normal, ln_sum, spread};
use super::places::Group;
use super::prior::{Contrast, Role};
use flashscope_units::Bytes;

/// Prior standard deviation of the level where no boundary is, as a share of an access.
const BASE_SPREAD: f64 = 0.03;

/// Prior probability that every place, even of the smallest size tested, lies on an edge of something smaller.
const EDGES_EVERYWHERE: f64 = 0.25;

/// Prior probability that an edge is crossed for nothing, because both sides are read in parallel …
const PARALLEL: f64 = 0.15;

/// … or for less than the edges inside, without being for nothing.
const LOWER: f64 = 0.1;

/// Scatter of the unit's level as a share of its contrast, with prior weights.
const TOP_SCATTER: [(f64, f64); 4] = [(0.0, 0.5), (0.06, 0.25), (0.15, 0.15), (0.3, 0.1)];

/// Effects of another origin are bound to sectors and small blocks.
const LARGEST_ARTEFACT: Bytes = Bytes::kib(4);

/// Common level of some places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    /// The level; 0 without places.
    pub(super) at: f64,
    /// Standard error of the level.
    error: f64,
    /// Log evidence of the places under a flat prior of density one.
    ln_fit: f64,
    /// How many places there are.
    count: usize,
}

impl Fit {
    /// The level of shares in rising order, each with its scatter.
    pub(super) fn of(shares: &Sample) -> Fit {
        let level = shares.flat_level();
        Fit { at: level.at, error: level.information.sqrt().recip(), ln_fit: level.ln_fit, count: shares.len() }
    }

    /// How many standard errors the level lies from another.
    pub(super) fn errors_from(&self, other: &Fit) -> f64 {
        (self.at - other.at).abs() / self.error.hypot(other.error)
    }

    /// Log evidence under a prior density, given as its logarithm at the level.
    fn ln_under(&self, ln_prior: impl Fn(f64) -> f64) -> f64 {
        if self.count == 0 { 0.0 } else { self.ln_fit + ln_prior(self.at) }
    }

    /// As [`Fit::ln_under`], where the density goes by how far the level lies above another.
    fn ln_above(&self, below: f64, ln_prior: impl Fn(f64) -> f64) -> f64 {
        /// A contrast of this many standard errors is known well enough.
        const CLEAR: f64 = 4.0;
        if self.count == 0 || (self.at - below).abs() > CLEAR * self.error {
            return self.ln_under(ln_prior);
        }
        let around = AROUND.map(|(errors, share)| share + ln_prior(self.at + errors * self.error));
        self.ln_fit + ln_sum(around.into_iter())
    }
}

/// Where a prior of contrasts is taken around a level that is not known well enough to tell how far above the one below it
/// lies: in standard errors, each with the logarithm of its share of a normal distribution.
const AROUND: [(f64, f64); 7] = [
    (-2.25, -3.730_7),
    (-1.5, -2.324_4),
    (-0.75, -1.480_7),
    (0.0, -1.199_4),
    (0.75, -1.480_7),
    (1.5, -2.324_4),
    (2.25, -3.730_7),
];

/// All classes that two sizes can make, each worked out when first asked for.
pub(super) struct Classes<'a> {
    sizes: Vec<Bytes>,
    groups: Vec<Member<'a>>,
}

impl<'a> Classes<'a> {
    /// Classes of all places under sizes in rising order.
    pub(super) fn new(groups: &'a [Group], sizes: &[Bytes], phase: Bytes) -> Classes<'a> {
        let places = |group: &&Group| !group.places.is_empty();
        let groups = groups.iter().filter(places).map(|group| Member::new(group, sizes, phase)).collect();
        Classes { sizes: sizes.to_vec(), groups }
    }

    /// Whether any place is a multiple of `size` and none of `next`. There need be none that is a multiple of nothing.
    pub(super) fn has_places(&self, size: Option<usize>, next: Option<usize>) -> bool {
        size.is_none_or(|_| self.groups.iter().any(|group| group.shows(size) && group.any(size, next)))
    }

    /// Log evidence of the places that are multiples of nothing.
    pub(super) fn ln_base(&mut self, next: Option<usize>) -> f64 {
        self.groups.iter_mut().map(|group| group.ln_base(None, next)).sum()
    }

    /// Log evidence of the places of `size` in a role, given the size before and the one after.
    pub(super) fn ln_level(&mut self, before: Option<usize>, role: Role, size: usize, next: Option<usize>) -> f64 {
        let artefacts = self.sizes[size] <= LARGEST_ARTEFACT;
        self.groups.iter_mut().map(|group| group.ln_level(before, role, size, next, artefacts)).sum()
    }
}

/// The places of one block size.
struct Member<'a> {
    group: &'a Group,
    /// What the scatter of each place is to a [`Sample`].
    spreads: Vec<f64>,
    /// For each size whether reads of this block can show it: one that is larger than a page covers as many pages when it
    /// straddles an edge as when it does not.
    visible: Vec<bool>,
    /// For each size the places that are multiples of it, one bit each.
    multiples: Vec<Vec<u64>>,
    /// For each size (the last stands for none) and each next one (likewise).
    fits: Vec<Option<Fit>>,
    /// Room for the places of one class, and for the same with more scatter.
    sample: Sample,
    wider: Sample,
    /// The class that is in [`Member::sample`].
    taken: Option<(Option<usize>, Option<usize>)>,
    /// What was weighed last, and its log evidence: chains that differ only in what this block does not show come one after
    /// another.
    last: Option<(Weighed, f64)>,
}

/// All that the log evidence of a level depends on.
#[derive(Clone, Copy, PartialEq)]
struct Weighed {
    role: Role,
    size: usize,
    next: Option<usize>,
    /// The level below, or none.
    below: f64,
    /// Whether it is a page, and a size comes before it.
    is_second: bool,
}

impl<'a> Member<'a> {
    fn new(group: &'a Group, sizes: &[Bytes], phase: Bytes) -> Member<'a> {
        let at: Vec<u64> = group.places.iter().map(|place| place.from(phase)).collect();
        let bits = |divides: &dyn Fn(u64) -> bool| -> Vec<u64> {
            at.chunks(64)
                .map(|word| word.iter().enumerate().fold(0, |bits, (bit, at)| bits | u64::from(divides(*at)) << bit))
                .collect()
        };
        let multiples = sizes.iter().map(|size| bits(&|at| at.is_multiple_of(size.get()))).collect();
        let visible = sizes.iter().map(|size| group.shows(*size)).collect();
        Member {
            group,
            spreads: group.places.iter().map(|place| spread(place.scale)).collect(),
            visible,
            multiples,
            fits: vec![None; (sizes.len() + 1) * (sizes.len() + 1)],
            sample: Sample::default(),
            wider: Sample::default(),
            taken: None,
            last: None,
        }
    }

    fn shows(&self, size: Option<usize>) -> bool {
        size.is_some_and(|size| self.visible[size])
    }

    /// The places of a class, one bit each.
    fn bits(&self, size: Option<usize>, next: Option<usize>) -> impl Iterator<Item = u64> {
        let words = self.group.places.len().div_ceil(64);
        let last = self.group.places.len() % 64;
        let of = move |size: Option<usize>, word: usize| size.map(|size| self.multiples[size][word]);
        (0..words).map(move |word| {
            let all = if word + 1 == words && last > 0 { (1 << last) - 1 } else { u64::MAX };
            of(size, word).unwrap_or(all) & !of(next, word).unwrap_or(0)
        })
    }

    fn any(&self, size: Option<usize>, next: Option<usize>) -> bool {
        self.bits(size, next).any(|bits| bits != 0)
    }

    /// Takes the places of a class into [`Member::sample`].
    fn take(&mut self, size: Option<usize>, next: Option<usize>) {
        if self.taken.replace((size, next)) == Some((size, next)) {
            return;
        }
        let mut sample = std::mem::take(&mut self.sample);
        sample.clear();
        for (word, mut bits) in self.bits(size, next).enumerate() {
            while bits != 0 {
                let index = word * 64 + bits.trailing_zeros() as usize;
                sample.push(self.group.places[index].share, self.spreads[index]);
                bits &= bits - 1;
            }
        }
        self.sample = sample;
    }

    /// The level of the multiples of `size` (of nothing, where it does not show) that are none of `next`.
    fn fit(&mut self, size: Option<usize>, next: Option<usize>) -> Fit {
        let none = self.visible.len();
        let size = size.filter(|_| self.shows(size));
        let index = size.unwrap_or(none) * (none + 1) + next.unwrap_or(none);
        if let Some(fit) = self.fits[index] {
            return fit;
        }
        self.take(size, next);
        let fit = Fit::of(&self.sample);
        self.fits[index] = Some(fit);
        fit
    }

    /// As [`Classes::ln_base`]; `size` does not show.
    fn ln_base(&mut self, size: Option<usize>, next: Option<usize>) -> f64 {
        if next.is_some() && !self.shows(next) {
            // What comes after is a multiple of nothing here as well.
            return 0.0;
        }
        let nothing = (1.0 - EDGES_EVERYWHERE).ln();
        self.fit(size, next).ln_under(|at| {
            ln_add(nothing + ln_normal(at, BASE_SPREAD), EDGES_EVERYWHERE.ln() + density(Contrast::Inner, at))
        })
    }

    fn ln_level(
        &mut self,
        before: Option<usize>,
        role: Role,
        size: usize,
        next: Option<usize>,
        artefacts: bool,
    ) -> f64 {
        if !self.visible[size] {
            return self.ln_base(Some(size), next);
        }
        let below = self.fit(before, Some(size)).at;
        // Where the reads beside a place cross edges that it does not, straddling saves time, and to save less is no step.
        let is_second = role == Role::Page && before.is_some();
        let from_nothing = !is_second && matches!(role, Role::Chunk | Role::Inner | Role::Page);
        let below = if from_nothing { below.max(0.0) } else { below };
        let weighed = Weighed { role, size, next, below, is_second };
        if let Some((_, known)) = self.last.filter(|(last, _)| *last == weighed) {
            return known;
        }
        let found = self.ln_role(weighed, artefacts);
        self.last = Some((weighed, found));
        found
    }

    /// Log evidence of a level that shows.
    fn ln_role(&mut self, Weighed { role, size, next, below, is_second }: Weighed, artefacts: bool) -> f64 {
        let fit = self.fit(Some(size), next);
        let step = |at: f64| at - below;
        match role {
            Role::Unit => self.ln_top(size, fit, below),
            Role::Middle => fit.ln_above(below, |at| {
                let higher = (1.0 - PARALLEL - LOWER).ln() + density(Contrast::Middle { below }, at - below);
                ln_add(higher, ln_no_higher(at, below))
            }),
            Role::Page if is_second => fit.ln_above(below, |at| {
                // A page adds about as much as the edges inside it cost.
                let added = if below > 0.0 { Contrast::Added { below } } else { Contrast::Inner };
                let higher = (1.0 - PARALLEL - LOWER).ln() + density(added, at - below);
                ln_add(higher + ln_not_artefact(at - below, artefacts), ln_no_higher(at, below))
            }),
            Role::Page => {
                fit.ln_above(below, |at| density(Contrast::Page, step(at)) + ln_not_artefact(step(at), artefacts))
            }
            Role::Inner | Role::Chunk => {
                fit.ln_above(below, |at| density(Contrast::Inner, step(at)) + ln_not_artefact(step(at), artefacts))
            }
        }
    }

    /// Evidence of the unit's level, whose scatter may grow with its contrast.
    fn ln_top(&mut self, unit: usize, about: Fit, below: f64) -> f64 {
        let contrast = |at: f64| density(Contrast::Beyond { below }, at - below);
        self.take(Some(unit), None);
        let mut sum = f64::NEG_INFINITY;
        for (scatter, weight) in TOP_SCATTER {
            let own = scatter * (about.at - below).max(0.0);
            let fit = if own == 0.0 {
                about
            } else {
                self.sample.widened(own, &mut self.wider);
                Fit::of(&self.wider)
            };
            sum = ln_add(sum, weight.ln() + fit.ln_above(below, contrast));
        }
        sum
    }
}

/// Log density of a level that is crossed for nothing, or for less than the one below, with its prior probability.
fn ln_no_higher(at: f64, below: f64) -> f64 {
    // Where the edges below cost no more than nothing does, there is nothing to be saved.
    let saves = below - at > BASE_SPREAD;
    let nothing = if saves { PARALLEL.ln() + ln_normal(at, BASE_SPREAD) } else { f64::NEG_INFINITY };
    ln_add(nothing, LOWER.ln() + density(Contrast::Saved { below }, below - at))
}

/// How much less a small contrast is worth because effects of another origin are as large.
fn ln_not_artefact(contrast: f64, possible: bool) -> f64 {
    if !possible || contrast <= 0.0 {
        return 0.0;
    }
    let (real, artefact) = (Contrast::Page.ln_density(contrast), Contrast::Artefact.ln_density(contrast));
    real - ln_add(real, artefact)
}

/// Log density of a level that lies this contrast above another.
fn density(kind: Contrast, contrast: f64) -> f64 {
    if contrast <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let ln_contrast = contrast.ln();
    kind.ln_density_of(contrast, ln_contrast) - ln_contrast
}
