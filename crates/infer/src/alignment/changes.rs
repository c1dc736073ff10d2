//! Where reads go on into another unit: a controller that looks up the unit of a read takes longer for it than for one more
//! read in the same unit.
//!
//! A stretch is read from its end to its start ([`Slide`]), so that nothing is read ahead: only the first read in each unit
//! pays. Folded by every likely size, these reads stand out at one size and phase. What is slow by itself, or is a part of a
//! map that was not in memory, is as slow when the reads of two stretches take turns; a change of units is not, as every read
//! pays for one then. Later runs halve the interval in which units begin, until it holds the edge of one page.

mod fold;
mod wanted;

pub(super) use wanted::wanted;

use super::prior;
use flashscope_model::observation::SlideData;
use flashscope_model::plan::Slide;
use flashscope_stats::location::median;
use flashscope_units::Bytes;
use fold::{Fold, LEAST, Stretch, given_cost, mean, pieces, stretches};

/// What stands out by this many standard errors at the best of several thousand sizes and phases is no chance.
const CLEAR: f64 = 6.5;

/// … as long as it stands out by this many when the same is read again.
const AGAIN: f64 = 4.0;

/// Of what shows in one stretch, reads of two stretches in turn show no more than this share.
const IN_TURN: f64 = 0.4;

/// Fewer changes are none; where a unit has fewer places, those around a change do not tell what is usual.
const FEWEST_CHANGES: usize = 2;

/// Share of the reads behind changes that take a third at least of what they take on average.
const AGREE: f64 = 0.7;

/// Logarithm of the odds of a unit that shows this way against no unit.
const SUPPORT: f64 = 25.0;
/// Power that evidence against other sizes and phases is raised to: places are not quite independent.
const TEMPER: f64 = 0.5;

/// What the runs from last to first come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// What stands out, whether or not it is known to be units.
    found: Option<Changes>,
    /// By how many standard errors it stands out when the same is read again; `None` where that was not tried.
    again: Option<f64>,
    /// Whether it stands out as well where two stretches are read in turn; `None` where that was not tried.
    in_turn: Option<bool>,
    /// The runs in which it stands out, or the latest of those in which nothing does, as the first was planned.
    first: Option<First>,
    /// The runs, each by its step and the first places of its stretches.
    runs: Vec<(Bytes, Vec<Bytes>)>,
}

/// Where a run looks for what stands out.
#[derive(Clone, Debug, PartialEq)]
struct First {
    /// The first places of the stretches.
    starts: Vec<Bytes>,
    /// Distance of the places.
    step: Bytes,
    /// Number of places.
    places: u32,
}

/// Units that show by what their first read takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Changes {
    /// The likeliest unit.
    pub(super) size: Bytes,
    /// What the first read in a unit takes more, in nanoseconds.
    pub(super) cost: f64,
    /// As the cost, where what is far above all noise counts as no further.
    clipped: f64,
    /// How many changes that rests on.
    pub(super) count: usize,
    /// What speaks for each size, likeliest first.
    folds: Vec<Fold>,
    /// What later runs say of where units of the likeliest size begin.
    finer: Vec<Fold>,
}

/// What is known otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Whether a unit shows.
    pub(super) unit: bool,
    /// Whether its edges show as well, at multiples of its size: then no others need be looked for.
    pub(super) edges: bool,
    /// The page, where one shows.
    pub(super) page: Option<Bytes>,
    /// An edge of a page.
    pub(super) phase: Bytes,
}

impl Seen {
    /// Of all runs from last to first, in the order in which they were done.
    pub(super) fn of(slides: &[&SlideData]) -> Seen {
        let merged = merged(slides);
        let runs = slides.iter().map(|data| (data.step, starts(data))).collect();
        let mut seen = Seen { found: None, again: None, in_turn: None, first: None, runs };
        // As long as nothing stands out, each stretch is a new beginning.
        let shows = merged.iter().enumerate().find_map(|(at, runs)| {
            let (found, again) = first_found(runs);
            Some((at, found?, again))
        });
        let first = shows.as_ref().map_or(merged.last(), |(at, ..)| merged.get(*at));
        seen.first = first.and_then(|runs| runs.first()).map(|data| First::of(data));
        let Some((at, mut found, again)) = shows else { return seen };
        seen.again = again;
        for run in merged[at + 1..].iter().map(|run| stretches(&whole(run))) {
            match run.as_slice() {
                [one] => found.finer.extend(given_cost(one, found.size, found.clipped).filter(Fold::is_clear)),
                several => {
                    let reads: Vec<f64> = several.iter().flat_map(|stretch| found.behind_changes(stretch)).collect();
                    seen.in_turn = Some(mean(&reads) > IN_TURN * found.clipped);
                }
            }
        }
        seen.found = Some(found);
        seen
    }

    /// What shows, where it is known to be units.
    pub(super) fn changes(&self) -> Option<&Changes> {
        self.found.as_ref().filter(|_| self.holds() && self.in_turn == Some(false))
    }

    /// Whether what stood out, of thousands of sizes and phases, stood out again.
    fn holds(&self) -> bool {
        self.again.is_some_and(|errors| errors > AGAIN)
    }

    fn times(&self, plan: &Slide) -> usize {
        self.runs.iter().filter(|(step, starts)| (*step, starts) == (plan.step, &plan.starts)).count()
    }
}

impl First {
    fn of(data: &SlideData) -> First {
        let places = u32::try_from(data.places.len()).unwrap_or(u32::MAX);
        First { starts: starts(data), step: data.step, places }
    }
}

impl Changes {
    /// Log odds of a unit at this phase against none at all.
    pub(super) fn ln_odds(&self, unit: Bytes, phase: Bytes) -> f64 {
        let Some((best, fold)) = self.folds.first().zip(self.folds.iter().find(|fold| fold.size == unit)) else {
            return LEAST;
        };
        let finer = self.finer.iter().filter(|_| unit == self.size).map(|fold| fold.ln_at(phase) - fold.top);
        let ln = fold.ln_at(phase) + finer.sum::<f64>();
        // What says nothing at all is as likely as no unit, and what is best is likelier by that much.
        let share = (ln / best.top.max(1.0)).min(1.0);
        let behind = SUPPORT + TEMPER * (ln - best.top);
        if ln < 0.0 { TEMPER * ln } else { behind.min(SUPPORT * share) }.max(LEAST)
    }

    /// Whether units of this size may begin at this phase.
    pub(super) fn support(&self, unit: Bytes, phase: Bytes) -> bool {
        unit == self.size && self.ln_odds(unit, phase) > SUPPORT / 2.0
    }

    /// Where the first unit begins, once only one edge of a page is left, or the start of the device.
    pub(super) fn phase(&self, known: Known) -> Option<Bytes> {
        match *self.begins(known.page?, known.phase) {
            [Bytes::ZERO, ..] => Some(Bytes::ZERO),
            [begin] => Some(begin),
            _ => None,
        }
    }

    /// The edges of pages at which the first unit may begin, in rising order.
    fn begins(&self, page: Bytes, phase: Bytes) -> Vec<Bytes> {
        let first = Bytes(phase.get() % page.get());
        (0..self.size / page).map(|edge| first + page * edge).filter(|at| self.support(self.size, *at)).collect()
    }

    /// What the reads right behind a change take more than others, clipped.
    fn behind_changes(&self, stretch: &Stretch) -> Vec<f64> {
        self.changes(stretch).into_iter().map(|index| stretch.clipped[index]).collect()
    }

    /// The places right behind a change.
    fn changes(&self, stretch: &Stretch) -> Vec<usize> {
        let Some(fold) = self.folds.first() else { return Vec::new() };
        let best = fold.ln.iter().position(|ln| *ln == fold.top).unwrap_or(0) as u64;
        // Somewhere within the likeliest interval.
        let change = Bytes((fold.first + fold.step * best + fold.step / 2).get() % self.size.get());
        let interval = |index: usize| stretch.first + stretch.step * index as u64;
        let pays = |index: &usize| {
            let ahead = (change + self.size * 2).get() - interval(*index).get() % self.size.get();
            (1..=stretch.step.get()).contains(&(ahead % self.size.get()))
        };
        (0..stretch.above.len()).filter(pays).collect()
    }
}

/// The size and phase that stand out, if any do.
fn find(stretch: &Stretch) -> Option<Changes> {
    let standing_out = |mean: f64, count: usize| {
        let errors = mean * (count as f64).sqrt() / stretch.deviation;
        if count < FEWEST_CHANGES { 0.0 } else { 0.5 * errors.max(0.0).powi(2) }
    };
    let sizes = prior::sizes(stretch.step, prior::UNIT_RANGE.1);
    let folds = sizes.filter_map(|size| Fold::of(stretch, size, standing_out));
    let best = folds.max_by(|a, b| a.top.total_cmp(&b.top)).filter(|best| best.top > 0.5 * CLEAR * CLEAR)?;
    let (size, folds) = (best.size, vec![best]);
    let mut found = Changes { size, cost: 0.0, clipped: 0.0, count: 0, folds, finer: Vec::new() };
    let reads = found.behind_changes(stretch);
    (found.clipped, found.count) = (mean(&reads), reads.len());
    found.cost = median(&found.changes(stretch).into_iter().map(|index| stretch.above[index]).collect::<Vec<_>>())?;
    let agree = reads.iter().filter(|read| **read > found.clipped / 3.0).count();
    let sizes = prior::sizes(stretch.step, prior::UNIT_RANGE.1);
    found.folds = sizes.filter_map(|size| given_cost(stretch, size, found.clipped)).collect();
    found.folds.sort_by(|a, b| b.top.total_cmp(&a.top));
    let same = found.folds.first().is_some_and(|best| best.size == found.size && best.stands_alone());
    (same && agree as f64 >= AGREE * reads.len() as f64).then_some(found)
}

/// The first places of the stretches of a run.
fn starts(data: &SlideData) -> Vec<Bytes> {
    pieces(data).into_iter().filter_map(|piece| Some(piece.first()?.at)).collect()
}

/// What stands out in the first runs (this number) over the same places, and by how many standard errors it does in
/// the others.
fn first_found(runs: &[&SlideData]) -> (Option<Changes>, Option<f64>) {
    let found = (1..=runs.len()).find_map(|count| {
        let (before, again) = runs.split_at(count);
        Some((stretches(&whole(before)).iter().find_map(find)?, again))
    });
    let Some((found, again)) = found else { return (None, None) };
    let errors = stretches(&whole(again)).first().map(|stretch| {
        let reads = found.behind_changes(stretch);
        mean(&reads) * (reads.len() as f64).sqrt() / stretch.deviation
    });
    // Once it is known to be no chance, all runs say what it is.
    let all = || stretches(&whole(runs)).iter().find_map(find).filter(|all| all.size == found.size);
    match errors {
        Some(errors) if errors > AGAIN => (Some(all().unwrap_or(found)), Some(errors)),
        _ => (Some(found), errors),
    }
}

/// The runs, those over the same places together.
fn merged<'a>(slides: &[&'a SlideData]) -> Vec<Vec<&'a SlideData>> {
    let mut runs: Vec<Vec<&SlideData>> = Vec::new();
    for data in slides {
        let same = |run: &&mut Vec<&SlideData>| {
            let places = |data: &SlideData| data.places.iter().map(|place| place.at).collect::<Vec<_>>();
            run[0].step == data.step && places(run[0]) == places(data)
        };
        match runs.iter_mut().find(same) {
            Some(run) => run.push(data),
            None => runs.push(vec![data]),
        }
    }
    runs
}

/// Runs over the same places as one.
fn whole(runs: &[&SlideData]) -> SlideData {
    let Some((first, others)) = runs.split_first() else {
        return SlideData { block: Bytes::ZERO, step: Bytes(1), descending: true, places: Vec::new() };
    };
    let mut all = (*first).clone();
    for other in others {
        all.places.iter_mut().zip(&other.places).for_each(|(place, more)| place.times.extend(&more.times));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::of_size;
    use flashscope_model::Experiment;
    use flashscope_model::observation::ScatterPlace;
    use flashscope_stats::Rng;
    use flashscope_units::Nanos;

    const KNOWN: Known = Known { unit: false, edges: false, page: Some(Bytes::kib(16)), phase: Bytes::ZERO };

    /// Units, what the first read in one takes more, and what is slow of itself.
    struct Device {
        unit: Bytes,
        begins: Bytes,
        change: f64,
        slow: f64,
    }

    impl Device {
        fn slide(&self, plan: &Slide, rng: &mut Rng) -> SlideData {
            let count = plan.places as usize;
            let all = plan.starts.iter().flat_map(|start| (0..count).map(|index| *start + plan.step * index as u64));
            let mut places: Vec<ScatterPlace> = all.map(|at| ScatterPlace { at, times: Vec::new() }).collect();
            let unit_of = |at: Bytes| (at + self.unit - self.begins) / self.unit;
            let mut last = u64::MAX;
            for _ in 0..plan.rounds {
                for index in (0..count).rev() {
                    for stretch in 0..plan.starts.len() {
                        let place = &mut places[stretch * count + index];
                        let unit = unit_of(place.at);
                        let change = if unit == last { 0.0 } else { self.change };
                        // Right above the start of a unit.
                        let slow = if unit_of(place.at - plan.step) == unit { 0.0 } else { self.slow };
                        last = unit;
                        place.times.push(Nanos((500e3 + change + slow - 70e3 * (1.0 - rng.unit()).ln()) as u64));
                    }
                }
            }
            SlideData { block: plan.block, step: plan.step, descending: true, places }
        }

        /// All runs that are wanted.
        fn seen(&self, rest: Nanos) -> Seen {
            self.seen_by(KNOWN, rest)
        }

        fn seen_by(&self, known: Known, rest: Nanos) -> Seen {
            let device = of_size(Bytes::gib(4));
            let (mut slides, mut rng) = (Vec::new(), Rng::new(3));
            loop {
                let seen = Seen::of(&slides.iter().collect::<Vec<_>>());
                let Some(choice) = wanted(&device, &seen, rest, known, None) else { return seen };
                let Experiment::Slide(plan) = &choice.experiment else { panic!("{choice:?}") };
                slides.push(self.slide(plan, &mut rng));
                assert!(slides.len() < 24);
            }
        }
    }

    #[test]
    fn units_show_by_their_first_read_wherever_they_begin() {
        let cases =
            [(4, 0, 60e3), (4, 1040, 90e3), (12, 11_872, 60e3), (9, 0, 60e3), (64, 0, 120e3), (64, 8192, 120e3)];
        for (unit_mib, begins_kib, change) in cases {
            let (unit, begins) = (Bytes::mib(unit_mib), Bytes::kib(begins_kib));
            let seen = Device { unit, begins, change, slow: 0.0 }.seen(Nanos::ZERO);
            let changes = seen.changes().unwrap();
            assert_eq!((changes.size, changes.phase(KNOWN)), (unit, Some(begins)));
            assert!((changes.cost / change - 1.0).abs() < 0.4, "{} for {change}", changes.cost);
            assert!(changes.support(unit, begins) && !changes.support(unit / 2, begins));
            assert!(!changes.support(unit, begins + Bytes::mib(1)));
        }
    }

    #[test]
    fn nothing_shows_where_changes_cost_nothing() {
        let unit = Bytes::mib(4);
        assert!(Device { unit, begins: Bytes::ZERO, change: 0.0, slow: 0.0 }.seen(Nanos::ZERO).changes().is_none());
    }

    #[test]
    fn units_that_begin_right_before_their_multiples_are_told_from_those_that_begin_there() {
        let begins = Bytes::mib(4) - Bytes::kib(32);
        let device = Device { unit: Bytes::mib(4), begins, change: 90e3, slow: 0.0 };
        let phase = |known: Known| device.seen_by(known, Nanos::ZERO).changes().and_then(|found| found.phase(known));
        assert_eq!(phase(KNOWN), Some(begins));
        // Unless reads across the multiples say that edges lie there.
        assert_eq!(phase(Known { edges: true, ..KNOWN }), Some(Bytes::ZERO));
    }

    #[test]
    fn what_is_slow_of_itself_is_no_change_of_units() {
        let seen = Device { unit: Bytes::mib(4), begins: Bytes::ZERO, change: 0.0, slow: 90e3 }.seen(Nanos::ZERO);
        assert!(seen.found.is_some() && seen.changes().is_none());
    }

    #[test]
    fn units_that_are_no_multiples_of_the_steps_are_not_taken_for_larger_ones() {
        let device = Device { unit: Bytes::kib(4608), begins: Bytes::ZERO, change: 90e3, slow: 0.0 };
        assert!(device.seen(Nanos::micros(600)).changes().is_none());
        let unit = Bytes::kib(384);
        assert!(Device { unit, ..device }.seen(Nanos::ZERO).changes().is_none());
    }

    #[test]
    fn where_devices_read_ahead_places_are_further_apart() {
        let unit = Bytes::mib(8);
        let seen = Device { unit, begins: Bytes::ZERO, change: 90e3, slow: 0.0 }.seen(Nanos::micros(600));
        assert_eq!(seen.changes().map(|changes| (changes.size, changes.phase(KNOWN))), Some((unit, Some(Bytes::ZERO))));
    }
}
