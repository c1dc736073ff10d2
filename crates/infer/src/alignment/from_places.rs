//! What measured places answer: estimates in words from a [`Posterior`].

use super::AlignmentFindings;
use super::Weighing;
use super::changes::Changes;
use super::gathering::Gathering;
use super::kinds;
use super::offset;
use super::places::{Group, Places};
use super::prior;
use super::structure::{self, Chain, Posterior, class};
use crate::memo::{Memo, Question, Shared};
use flashscope_model::finding::{Doubt, Note, NoteKind};
use flashscope_model::{Estimate, ExperimentName, Observations, Reason};
use flashscope_units::{Bytes, Contrast};

/// A value is given from this probability on; below, a bound or nothing.
const ENOUGH: f64 = 0.7;

/// Sizes that together reach this probability make a bound.
const ENOUGH_FOR_BOUND: f64 = 0.95;

/// What shows with this probability needs no other grid.
const SHOWS: f64 = 0.9;

/// An area that was never written answers without the flash; above this share nothing can be told.
pub(super) const NOTHING_WRITTEN: f64 = 0.95;

/// Prior probability that a place at a large boundary stands out for a reason of its own, such as an extent of the file
/// system below an image: of a unit's level, this many must agree that this does not explain them.
const STRAY: f64 = 0.7;

/// Share of the range of all levels by which a level may lie below that of a smaller size.
const MAY_FALL: f64 = 0.1;

/// Edges that cost less than this share of what others do cost nothing.
const NOTHING: f64 = 0.2;

/// This many standard errors above the level of pages is more than chance.
const CLEARLY_ABOVE: f64 = 4.0;

/// The experiments' names.
const METHOD: &[ExperimentName] = &[ExperimentName::Boundaries];

/// What measured places answer, for a [`Memo`].
#[derive(Debug)]
struct Answering;

impl Question for Answering {
    type Given = Shared<Places>;
    type Answer = AlignmentFindings;
}

/// Concludes from measured places; `None` where there are none.
pub(super) fn estimate(observations: &Observations, memo: &Memo) -> Option<AlignmentFindings> {
    let places = memo.of::<Gathering>().places(observations);
    (!places.groups.is_empty()).then(|| memo.answer::<Answering>(&places, |places| conclude(places, memo)))
}

fn conclude(places: &Shared<Places>, memo: &Memo) -> AlignmentFindings {
    if places.never_written > NOTHING_WRITTEN {
        return nothing(
            Reason::NothingShows,
            "the device was never written: its answers do not touch the flash (fill a part of it and measure again)",
        );
    }
    let Some(posterior) = memo.answer::<Weighing>(places, |places| structure::weigh(places)) else {
        return nothing(Reason::TooFew, "no boundary could be read around: the device is too small");
    };
    let view = View::new(places, &posterior);
    let unit = view.unit();
    AlignmentFindings {
        boundary_offset: offset::estimate(&unit, posterior.phase),
        allocation_unit: unit,
        page: view.page(),
        page_inner: view.inner(),
        page_step: view.page_step(),
        kinds: kinds::of(places),
        notes: view.notes(places.never_written),
    }
}

/// Whether a unit shows at the grids that were tried, as a size or as a bound, well enough not to look for others.
pub(super) fn unit_shows(places: &Places, posterior: &Posterior) -> bool {
    View::new(places, posterior).unit().confidence().is_some_and(|sure| sure >= SHOWS)
}

/// Whether reads across the edges of the likeliest unit take clearly longer than those across what is smaller.
pub(super) fn edges_show(places: &Places, posterior: &Posterior) -> bool {
    !places.groups.is_empty() && View::new(places, posterior).stands_above()
}

/// The page, where it shows well enough to go by. A level below the others is that of an edge beside the places, which
/// only reads before or behind them cross.
pub(super) fn page_shows(groups: &[Group], posterior: &Posterior) -> Option<Bytes> {
    let (best, likely) = sized(&posterior.pages).first().copied()?;
    let levels = structure::levels(groups.first()?, &posterior.best, posterior.phase);
    let rises = levels[class::PAGE].is_none_or(|(page, _)| {
        [class::BASE, class::INNER].into_iter().filter_map(|class| levels[class]).all(|(inside, _)| page > inside)
    });
    (likely >= SHOWS && rises && posterior.best.page == Some(best)).then_some(best)
}

/// Share of a posterior that is left when places do not fit the level of their class.
fn fit(groups: &[Group], posterior: &Posterior) -> f64 {
    let far =
        groups.iter().flat_map(|group| structure::misfits(group, &posterior.best, posterior.phase)).fold(0.0, f64::max);
    1.0 - 2.0 * (far - 0.1).clamp(0.0, 0.4)
}

/// As [`fit`], of what is said of the unit, whose level may rest on few places as well.
pub(super) fn trust(places: &Places, posterior: &Posterior) -> f64 {
    let groups = &places.groups;
    if changes(places, posterior).is_some() {
        return fit(groups, posterior);
    }
    let at_unit: usize = groups
        .iter()
        .filter_map(|group| structure::levels(group, &posterior.best, posterior.phase)[class::UNIT])
        .map(|(_, count)| count)
        .sum();
    let few = if posterior.best.unit.is_some() { STRAY.powi(at_unit as i32) } else { 0.0 };
    fit(groups, posterior) * (1.0 - few)
}

/// What the first read in a unit takes, where that says the same as the likeliest chain. Without a page it says that there are
/// units, and not at which of many edges they begin.
fn changes<'a>(places: &'a Places, posterior: &Posterior) -> Option<&'a Changes> {
    let unit = posterior.best.unit.filter(|_| page_shows(&places.groups, posterior).is_some())?;
    places.seen.changes().filter(|changes| changes.support(unit, posterior.phase))
}

fn nothing(reason: Reason, seen: &str) -> AlignmentFindings {
    AlignmentFindings {
        allocation_unit: Estimate::unknown(reason, seen),
        boundary_offset: Estimate::unknown(reason, seen),
        page: Estimate::unknown(reason, seen),
        page_inner: Estimate::unknown(reason, seen),
        page_step: None,
        kinds: None,
        notes: Vec::new(),
    }
}

/// A posterior with the figures that the sentences quote.
struct View<'a> {
    groups: &'a [Group],
    posterior: &'a Posterior,
    chain: Chain,
    /// See [`changes`].
    changes: Option<&'a Changes>,
    /// See [`fit`].
    fit: f64,
    /// See [`trust`].
    trust: f64,
    /// Levels of the finest block by class, and how many places; see [`structure::levels`].
    levels: [Option<(Contrast, usize)>; class::COUNT],
}

impl<'a> View<'a> {
    fn new(places: &'a Places, posterior: &'a Posterior) -> View<'a> {
        let groups = &places.groups;
        let finest = &groups[0];
        let levels = structure::levels(finest, &posterior.best, posterior.phase)
            .map(|level| level.map(|(share, count)| (Contrast(share * finest.access), count)));
        let (fit, trust) = (fit(groups, posterior), trust(places, posterior));
        View { groups, posterior, chain: posterior.best, changes: changes(places, posterior), fit, trust, levels }
    }

    fn confidence_of_page(&self, probability: f64) -> f64 {
        probability * self.fit
    }

    fn confidence_of_unit(&self, probability: f64) -> f64 {
        probability * self.trust
    }

    /// Whether the unit's level lies clearly above the one right below.
    fn stands_above(&self) -> bool {
        let Some((size, (level, _))) = self.chain.unit.zip(self.levels[class::UNIT]) else { return false };
        let below = self.levels[..class::UNIT].iter().rev().flatten().next();
        let finest = &self.groups[0];
        let error = structure::error(finest, size, self.posterior.phase) * finest.access;
        below.is_some_and(|(below, _)| level.get() - below.get() > CLEARLY_ABOVE * error)
    }

    /// Twice the page, where only every other multiple of the page is an edge: those of twice the size are crossed for nothing.
    /// Chips that read side by side do that, and so do pages of twice the size that begin half way, unless units show that begin
    /// with the multiples.
    fn every_other_page(&self) -> Option<Bytes> {
        if self.stands_above() || self.changes.is_some() {
            return None;
        }
        let next = [class::MIDDLE, class::UNIT].into_iter().find(|next| self.levels[*next].is_some())?;
        let (page, larger) = self.chain.page.zip(self.chain.size_of(next))?;
        let base = self.levels[class::BASE].map_or(0.0, |(level, _)| level.get());
        let [step, next] =
            [class::PAGE, next].map(|class| self.levels[class].map_or(0.0, |(level, _)| level.get() - base));
        (larger == page * 2 && next.abs() < NOTHING * step.abs()).then_some(larger)
    }

    /// Where levels fall, in words. The edge of a large unit is one of all smaller ones as well, so that a read across it
    /// pays for all of them, unless its halves are served side by side: then sizes say how chips take turns. The edge of a
    /// page alone may cost less than those inside it, as the page is sensed but once for them, where the unit's costs most.
    fn falls(&self) -> Option<String> {
        let levels = || self.levels.iter().flatten().map(|(level, _)| level.get());
        let range = levels().fold(f64::MIN, f64::max) - levels().fold(f64::MAX, f64::min);
        let sizes = [None, self.chain.chunk, self.chain.inner, self.chain.page, self.chain.middle, self.chain.unit];
        let named: Vec<(Option<Bytes>, Contrast)> =
            sizes.iter().zip(&self.levels).filter_map(|(size, level)| Some((*size, (*level)?.0))).collect();
        let unit_costs_most =
            self.levels[class::UNIT].is_some_and(|(unit, _)| levels().all(|level| level <= unit.get()));
        let falls = |pair: &&[(Option<Bytes>, Contrast)]| {
            let of_page = pair[1].0.is_some() && pair[1].0 == self.chain.page;
            pair[1].1.get() < pair[0].1.get() - MAY_FALL * range && !(of_page && unit_costs_most)
        };
        let pair = named.windows(2).find(falls)?;
        let place = |size: Option<Bytes>| size.map_or("elsewhere".to_owned(), |size| format!("at {size}"));
        Some(format!(
            "straddling costs {} {} and less, {}, {}: what is larger does not cost more, so that these sizes say how chips \
             take turns and nothing of units",
            signed(pair[0].1),
            place(pair[0].0),
            signed(pair[1].1),
            place(pair[1].0)
        ))
    }

    /// A unit that shows by what the first read in each takes, and not by what a read across its edge does.
    fn by_changes(&self, found: Estimate<Bytes>) -> Estimate<Bytes> {
        if self.changes.is_some() && !self.stands_above() { found.but(Doubt::ByChangesAlone) } else { found }
    }

    fn unit(&self) -> Estimate<Bytes> {
        let sized = sized(&self.posterior.units);
        let Some((best, probability)) = sized.first().copied().filter(|_| self.chain.unit.is_some()) else {
            return self.no_unit();
        };
        if self.changes.is_none()
            && let Some(why) = self.falls().or_else(|| self.no_step())
        {
            return Estimate::unknown(Reason::Contradicted, why);
        }
        let evidence = self.unit_evidence();
        let rest: Vec<(Bytes, f64)> =
            sized.iter().skip(1).filter(|(_, share)| *share >= 0.001).take(4).copied().collect();
        let sure = self.confidence_of_unit(probability);
        if sure >= ENOUGH && best <= prior::PAGE_RANGE.1 {
            let evidence = format!("{evidence}; pages are as large, so that it may be one of them");
            return self.by_changes(Estimate::at_least(best, sure, evidence, METHOD));
        }
        if sure >= ENOUGH {
            return self.by_changes(Estimate::known(best, sure, evidence, METHOD)).with_alternatives(rest);
        }
        // Several sizes fit: the smallest of those that matter bounds the unit.
        let (mut sum, mut low) = (0.0, best);
        for (size, share) in &sized {
            if sum < ENOUGH_FOR_BOUND {
                sum += share;
                low = low.min(*size);
            }
        }
        if sum >= ENOUGH_FOR_BOUND && self.confidence_of_unit(sum) >= ENOUGH {
            let all = sized.iter().filter(|(_, share)| *share >= 0.001).take(5).copied().collect();
            let evidence = format!("{evidence}; {best} and other sizes from {low} up fit");
            return Estimate::at_least(low, self.confidence_of_unit(sum), evidence, METHOD).with_alternatives(all);
        }
        Estimate::unknown(Reason::Ambiguous, "no size explains the contrasts (more places or rounds may settle it)")
            .leaning_to(best, self.confidence_of_unit(probability))
    }

    /// Why the level at the likeliest unit is no step, though it lies above the one right below. An edge costs something, so
    /// that one that costs less than nothing is none; and where reads pay less at the sizes between page and unit than at the
    /// page, what the unit's costs more than the page's must be more than that.
    fn no_step(&self) -> Option<String> {
        let (size, (level, _)) = self.chain.unit.zip(self.levels[class::UNIT])?;
        if level.get() < 0.0 {
            return Some(format!(
                "reads that straddle multiples of {size} take no longer than others ({})",
                signed(level)
            ));
        }
        let (page, (of_page, _)) = self.chain.page.zip(self.levels[class::PAGE])?;
        if level.get() <= of_page.get() {
            return Some(format!(
                "reads that straddle multiples of {size} take no longer than those across other edges of {page} ({level} and \
                 {of_page})"
            ));
        }
        let (middle, (of_middle, _)) = self.chain.middle.zip(self.levels[class::MIDDLE])?;
        let finest = &self.groups[0];
        let error = structure::error(finest, size, self.posterior.phase) * finest.access;
        let (above, dip) = (level.get() - of_page.get(), of_page.get() - of_middle.get());
        (dip > 0.0 && above < dip.max(CLEARLY_ABOVE * error)).then(|| {
            format!(
                "straddling costs {level} at {size}, {of_middle} at {middle} and {of_page} at {page}: what is larger does not \
                 cost more than a page, so that it is no unit's edge"
            )
        })
    }

    fn unit_evidence(&self) -> String {
        let [base, _, _, page, middle, unit] = self.levels;
        let (Some(size), Some((level, count))) = (self.chain.unit, unit) else { return String::new() };
        let mut text = format!("reads that cross a {size} boundary take {level} longer");
        let mut places = count;
        if let (Some(size), Some((level, count))) = (self.chain.middle, middle) {
            text.push_str(&format!("; across other {size} boundaries {level}"));
            places += count;
        }
        if let Some((level, count)) = page.or(base) {
            let grid = self.chain.page.map_or(String::new(), |page| format!(" {page}"));
            text.push_str(&format!("; across other{grid} boundaries {level}"));
            places += count;
        }
        let text = format!("{text} ({places} places)");
        match self.changes {
            Some(changes) => format!(
                "{text}; the first read after a change of allocation unit takes {} longer ({} changes)",
                Contrast(changes.cost),
                changes.count
            ),
            None => text,
        }
    }

    fn no_unit(&self) -> Estimate<Bytes> {
        let finest = &self.groups[0];
        let Some((level, count)) = self.levels[class::PAGE].or(self.levels[class::BASE]) else {
            return Estimate::unknown(Reason::TooFew, "no boundary could be read around");
        };
        let largest = finest.places.iter().map(|place| 1 << place.at.get().trailing_zeros().min(63)).max().unwrap_or(0);
        let aside = match (self.chain.middle, self.levels[class::MIDDLE]) {
            (Some(size), Some((level, count))) => format!(", {level} at {count} multiples of {size}"),
            _ => String::new(),
        };
        let seen = format!(
            "no step that stands out above the page; straddling costs {level} ± {} at {count} places{aside}, up to multiples of \
             {}; either reads do not show the unit, or its boundaries are no multiples of its size",
            Contrast(finest.scatter * finest.access),
            Bytes(largest)
        );
        Estimate::unknown(Reason::NothingShows, seen)
    }

    fn page(&self) -> Estimate<Bytes> {
        let sized = sized(&self.posterior.pages);
        let Some((best, probability)) = sized.first().copied().filter(|_| self.chain.page.is_some()) else {
            let level = self.levels[class::BASE].map_or(Contrast(0.0), |(level, _)| level);
            return Estimate::unknown(
                Reason::NothingShows,
                format!(
                    "no rise stands out at small alignments: straddling costs {level} wherever no larger boundary lies"
                ),
            );
        };
        let confidence = self.confidence_of_page(probability);
        let Some((level, count)) = self.levels[class::PAGE] else {
            return Estimate::unknown(Reason::TooFew, "no place lies at a page edge alone");
        };
        if confidence < ENOUGH {
            return Estimate::unknown(Reason::Ambiguous, "no page size stands out").leaning_to(best, confidence);
        }
        if let Some(twice) = self.every_other_page() {
            let seen = format!(
                "reads that cross every other multiple of {best} take {level} longer, those at multiples of {twice} no longer \
                 than others: pages of {best} that are read side by side, or of {twice} that begin half way"
            );
            return Estimate::unknown(Reason::Ambiguous, seen).leaning_to(best, confidence);
        }
        if self.posterior.page_is_bound {
            let evidence =
                format!("{level} at every multiple of {best} ({count} places); smaller ones were not tested");
            return Estimate::at_most(best, confidence, evidence, METHOD);
        }
        let evidence = self.page_evidence(best, level, count);
        let larger = self.chain.unit.filter(|unit| *unit <= prior::PAGE_RANGE.1 && self.chain.inner.is_none());
        if let Some(larger) = larger {
            let evidence = format!(
                "{evidence}; those that cross a {larger} boundary are slower still, which may be that of the page"
            );
            return Estimate::unknown(Reason::Ambiguous, evidence).leaning_to(best, confidence);
        }
        let rest: Vec<(Bytes, f64)> =
            sized.iter().skip(1).filter(|(_, share)| *share >= 0.001).take(3).copied().collect();
        Estimate::known(best, confidence, evidence, METHOD).with_alternatives(rest)
    }

    fn page_step(&self) -> Option<Contrast> {
        let (page, _) = self.levels[class::PAGE]?;
        Some(Contrast(page.get() - self.levels[class::BASE].map_or(0.0, |(base, _)| base.get())))
    }

    fn page_evidence(&self, page: Bytes, level: Contrast, count: usize) -> String {
        let (base, others) = self.levels[class::BASE].unwrap_or((Contrast(0.0), 0));
        let inner = self.levels[class::INNER].zip(self.chain.inner);
        let places = count + others + inner.map_or(0, |((_, count), _)| count);
        let before = match inner {
            Some(((inner, _), size)) => format!("; across other {size} boundaries {inner}"),
            None => String::new(),
        };
        match self.largest_below(page) {
            Some(below) if below < page && inner.is_none() => {
                format!(
                    "first rise between {below} ({}) and {page} ({}) ({places} places)",
                    signed(base),
                    signed(level)
                )
            }
            _ => format!(
                "reads that cross a {page} boundary take {level} longer{before}; across none of them {} ({places} places)",
                signed(base)
            ),
        }
    }

    /// The largest power of two that divides a place without a boundary.
    fn largest_below(&self, page: Bytes) -> Option<Bytes> {
        let off = self.groups[0].places.iter().filter(|place| !place.at.is_multiple_of(page));
        off.map(|place| Bytes(1 << place.at.get().trailing_zeros().min(63))).max()
    }

    fn inner(&self) -> Estimate<Bytes> {
        let pages = sized(&self.posterior.pages);
        let known = self.chain.page.is_some() && self.every_other_page().is_none();
        let Some((page, likely)) = pages.first().copied().filter(|_| known) else {
            return Estimate::unknown(Reason::NeedsAnother, "the page itself is not known");
        };
        // An edge costs something, and more than none does: else the edges lie beside the places, and reads around those cross them.
        let none = self.levels[class::BASE].map_or(0.0, |(none, _)| none.get().max(0.0));
        let is_edge = |(size, (level, _)): &(Bytes, (Contrast, usize))| *size < page && level.get() > none;
        let found = self.chain.inner.zip(self.levels[class::INNER]).filter(is_edge);
        let Some((size, (level, count))) = found else {
            return Estimate::unknown(Reason::NothingShows, format!("no level shows inside the {page} page"));
        };
        let confidence = self.confidence_of_page(self.posterior.inner * likely);
        if confidence < ENOUGH {
            return Estimate::unknown(Reason::Ambiguous, format!("a level inside the {page} page is not clear"));
        }
        let evidence =
            format!("reads that cross a {size} boundary (not a {page} one) take {level} longer ({count} places)");
        Estimate::known(size, confidence, evidence, METHOD)
    }

    fn notes(&self, never_written: f64) -> Vec<Note> {
        let mut notes = Vec::new();
        let blank: usize = self.groups.iter().map(|group| group.blank).sum();
        if never_written >= 0.02 {
            let text = format!(
                "{:.0} % of the surveyed places were never written; {blank} boundaries were left out because they answer \
                 without touching the flash",
                100.0 * never_written
            );
            notes.push(Note::new(NoteKind::NeverWritten, text).with_hint("fill the device once to measure all of it"));
        }
        if self.posterior.phase > Bytes::ZERO {
            let phase = self.posterior.phase;
            let text = format!("boundaries lie at multiples plus {phase}: the start of the device is shifted");
            notes.push(Note::new(NoteKind::Shifted, text));
        }
        if self.fit < 0.9 {
            let text = "many boundaries fit no level: the device has structure that was not understood";
            notes.push(Note::new(NoteKind::NotUnderstood, text));
        }
        notes
    }
}

fn sized(ranked: &[(Option<Bytes>, f64)]) -> Vec<(Bytes, f64)> {
    ranked.iter().filter_map(|(size, probability)| size.map(|size| (size, *probability))).collect()
}

fn signed(contrast: Contrast) -> String {
    if contrast.get() < 0.0 { contrast.to_string() } else { format!("+{contrast}") }
}
