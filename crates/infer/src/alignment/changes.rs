//! Where reads go on into another unit: a controller that looks up the unit of a read takes longer for it than for one more
//! read in the same unit.
//!
//! A stretch is read from its end to its start ([`Slide`]), so that nothing is read ahead: only the first read in each unit
//! pays. Folded by every likely size, these reads stand out at one size and phase. What is slow by itself, or is a part of a
//! map that was not in memory, is as slow when the reads of two stretches take turns; a change of units is not, as every read
//! pays for one then. Later runs halve the interval in which units begin, until it holds the edge of one page.

use super::prior;
use super::straddling::small_block;
use crate::Choice;
use flashscope_model::DeviceFacts;
use flashscope_model::Experiment;
use flashscope_model::observation::{ScatterPlace, SlideData};
use flashscope_model::plan::{Slide, Span};
use flashscope_stats::location::{MAD_NORMAL_FACTOR, mad_raw, median};
use flashscope_units::{Bytes, Nanos};

/// What stands out by so many standard errors at the best of several thousand sizes and phases is no chance.
const CLEAR: f64 = 6.5;

/// … as long as it stands out by so many when the same is read again.
const AGAIN: f64 = 4.0;

/// Of what shows in one stretch, reads of two stretches in turn show no more than this share.
const IN_TURN: f64 = 0.4;

/// Distance of the places of the first run, and how many there are at the most; fewer than the other show nothing.
const STEP: Bytes = Bytes::kib(128);
const MOST_PLACES: u64 = 2048;
const FEWEST_PLACES: u32 = 64;

/// As these, of a device that reads ahead behind every read, and so goes on into another unit before the host does: by no
/// more than half of such a step.
const BEYOND_AHEAD: (Bytes, u64) = (Bytes::mib(1), 1024);

/// So far behind multiples of the steps the places lie: units begin right before a place, and no read crosses an edge.
const OFF_MULTIPLES: Bytes = Bytes::kib(64);

/// Rounds of the first run, and of those that follow where no unit shows otherwise.
const ROUNDS: [u32; 4] = [4, 4, 8, 16];

/// Places of each unit in the runs that say where it begins, reads of each of them, all units together, and how often such
/// a run is done.
const PLACES_OF_UNIT: u64 = 8;
const READS: u64 = 192;
const MOST_TIMES: usize = 3;

/// Fewer changes are none; where a unit has fewer places, those around a change do not tell what is usual.
const FEWEST_CHANGES: usize = 2;
const FEWEST_OF_UNIT: u64 = 4;

/// Neighbours on each side that a place is compared with, and how far above them counts as no further, in standard
/// deviations.
const NEIGHBOURS: usize = 4;
const CLIPPED: f64 = 4.0;

/// Share of the reads behind changes that take a third at least of what they take on average.
const AGREE: f64 = 0.7;

/// Log odds of what shows this way against no unit, what evidence against other sizes and phases is raised to (places are not
/// quite independent), and the least that the odds of any come to.
const SUPPORT: f64 = 25.0;
const TEMPER: f64 = 0.5;
const LEAST: f64 = -60.0;

/// What the runs from last to first come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// What stands out, whether or not it is known to be units.
    found: Option<Changes>,
    /// By how many standard errors it stands out when the same is read again; `None` where that was not tried.
    again: Option<f64>,
    /// Whether it stands out as well where two stretches are read in turn; `None` where that was not tried.
    in_turn: Option<bool>,
    /// The stretches and the number of places of the first run.
    first: Option<(Vec<Bytes>, u32)>,
    /// The runs, each by its step and the first places of its stretches.
    runs: Vec<(Bytes, Vec<Bytes>)>,
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

/// What speaks for each interval in which units of one size may begin, as a log likelihood.
#[derive(Clone, Debug, PartialEq)]
struct Fold {
    size: Bytes,
    /// Before the first interval.
    first: Bytes,
    /// Length of the intervals.
    step: Bytes,
    ln: Vec<f64>,
    top: f64,
}

/// Reads of one stretch: how far each place but the last stands above its neighbours, in nanoseconds. The last of a stretch
/// is read first, behind one that is far away.
struct Stretch {
    first: Bytes,
    step: Bytes,
    above: Vec<f64>,
    deviation: f64,
}

/// What is known otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Whether a unit shows.
    pub(super) unit: bool,
    /// The page, where one shows.
    pub(super) page: Option<Bytes>,
    /// An edge of a page.
    pub(super) phase: Bytes,
}

impl Seen {
    /// Of all runs from last to first, in the order in which they were done.
    pub(super) fn of(slides: &[SlideData]) -> Seen {
        let merged = merged(slides);
        let runs = slides.iter().map(|data| (data.step, starts(data))).collect();
        let first = slides.first().map(|data| (starts(data), u32::try_from(data.places.len()).unwrap_or(u32::MAX)));
        let mut seen = Seen { found: None, again: None, in_turn: None, first, runs };
        let Some((first, later)) = merged.split_first() else { return seen };
        let (Some(mut found), again) = first_found(first) else { return seen };
        seen.again = again;
        for run in later.iter().map(|run| stretches(&whole(run))) {
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

impl Changes {
    /// Log odds of a unit at this phase against none at all.
    pub(super) fn ln_odds(&self, unit: Bytes, phase: Bytes) -> f64 {
        let Some((best, fold)) = self.folds.first().zip(self.folds.iter().find(|fold| fold.size == unit)) else {
            return LEAST;
        };
        let finer = self.finer.iter().filter(|_| unit == self.size).map(|fold| fold.ln_at(phase) - fold.top);
        let ln = fold.ln_at(phase) + finer.sum::<f64>();
        // What says nothing at all is as likely as no unit, and what is best is likelier by so much.
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
        self.changes(stretch).into_iter().map(|index| stretch.clipped(index)).collect()
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

impl Stretch {
    /// How far a place stands out, where a host that was away for once counts as little.
    fn clipped(&self, index: usize) -> f64 {
        let most = CLIPPED * self.deviation;
        self.above[index].clamp(-most, most)
    }
}

impl Fold {
    /// Of a stretch, given what speaks for `count` reads of this mean.
    fn of(stretch: &Stretch, size: Bytes, ln: impl Fn(f64, usize) -> f64) -> Option<Fold> {
        if !size.is_multiple_of(stretch.step) || size < stretch.step * FEWEST_OF_UNIT {
            return None;
        }
        let intervals = (size / stretch.step) as usize;
        let mut sums = vec![(0.0, 0usize); intervals];
        for index in 0..stretch.above.len() {
            let sum = &mut sums[index % intervals];
            *sum = (sum.0 + stretch.clipped(index), sum.1 + 1);
        }
        let ln: Vec<f64> = sums.into_iter().map(|(sum, count)| ln(sum / count.max(1) as f64, count)).collect();
        let top = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(Fold { size, first: Bytes(stretch.first.get() % size.get()), step: stretch.step, ln, top })
    }

    /// Whether one interval stands out. Where units begin right at the places, the reads there are in two units, and two
    /// intervals do.
    fn is_clear(&self) -> bool {
        self.ln.iter().filter(|ln| **ln > 0.5 * self.top).count() == 1
    }

    /// Whether no interval stands out but the best one and those right beside it: units that are no multiples of the steps
    /// show at several of a multiple of theirs.
    fn stands_alone(&self) -> bool {
        let best = self.ln.iter().position(|ln| *ln == self.top).unwrap_or(0);
        let apart = |index: usize| index.abs_diff(best).min(self.ln.len() - index.abs_diff(best));
        self.ln.iter().enumerate().all(|(index, ln)| apart(index) <= 1 || *ln <= 0.5 * self.top)
    }

    /// What speaks for units that begin at this phase.
    fn ln_at(&self, phase: Bytes) -> f64 {
        let size = self.size.get();
        let behind = (phase.get() % size + 2 * size - self.first.get() - 1) % size;
        self.ln.get((behind / self.step.get()) as usize).copied().unwrap_or(LEAST)
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

/// What speaks for units of a size, where it is known what the first read in one takes more.
fn given_cost(stretch: &Stretch, size: Bytes, cost: f64) -> Option<Fold> {
    let variance = stretch.deviation.powi(2);
    Fold::of(stretch, size, |mean, count| count as f64 * cost * (mean - 0.5 * cost) / variance)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The first places of the stretches of a run.
fn starts(data: &SlideData) -> Vec<Bytes> {
    pieces(data).into_iter().filter_map(|piece| Some(piece.first()?.at)).collect()
}

fn pieces(data: &SlideData) -> Vec<&[ScatterPlace]> {
    data.places.chunk_by(|place, next| next.at <= place.at + data.step).collect()
}

/// What stands out in the first so many runs over the same places that it does, and by how many standard errors it does in
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
fn merged(slides: &[SlideData]) -> Vec<Vec<&SlideData>> {
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

fn stretches(run: &SlideData) -> Vec<Stretch> {
    pieces(run).into_iter().filter_map(|piece| stretch(piece, run.step)).collect()
}

/// Mean of the shorter half. The single shortest time, though it scatters less, is now and then far above the others, and
/// chance would look like a change.
fn typical(place: &ScatterPlace) -> Option<f64> {
    let mut times = place.times.clone();
    times.sort_unstable();
    times.truncate(times.len().div_ceil(2));
    (!times.is_empty()).then(|| mean(&times.iter().map(|time| time.as_f64()).collect::<Vec<_>>()))
}

/// Compares each place with its neighbours, so that neither a drifting host nor a slower part of the device counts.
fn stretch(places: &[ScatterPlace], step: Bytes) -> Option<Stretch> {
    let times: Vec<f64> = places.iter().map(typical).collect::<Option<_>>()?;
    let others = |index: usize| {
        let around = index.saturating_sub(NEIGHBOURS)..(index + NEIGHBOURS + 1).min(times.len());
        median(&around.filter(|other| *other != index).map(|other| times[other]).collect::<Vec<_>>())
    };
    let last = times.len().checked_sub(1)?;
    let above: Vec<f64> = (0..last).map(|index| Some(times[index] - others(index)?)).collect::<Option<_>>()?;
    let deviation = mad_raw(&above)? * MAD_NORMAL_FACTOR;
    (deviation > 0.0).then(|| Stretch { first: places[0].at, step, above, deviation })
}

/// The next run, or `None` where none is worth its reads.
pub(super) fn wanted(
    device: &DeviceFacts,
    seen: &Seen,
    rest: Nanos,
    known: Known,
    within: Option<Span>,
) -> Option<Choice> {
    let part = within.unwrap_or(Span { start: Bytes::ZERO, length: device.capacity });
    let (step, most) = if rest > Nanos::ZERO { BEYOND_AHEAD } else { (STEP, MOST_PLACES) };
    let first = descending(device, part, (step, most), OFF_MULTIPLES + small_block(device));
    // What is known to hold data may grow meanwhile; the places stay.
    let first = seen.first.as_ref().map_or(first.clone(), |(starts, places)| Slide {
        starts: starts.clone(),
        places: *places,
        ..first
    });
    let times = seen.times(&first);
    let rounds = |runs: usize| ROUNDS.iter().take(runs.max(1)).sum();
    let (plan, why) = match (&seen.found, seen.in_turn) {
        (None, _) if times == 0 || !known.unit => (
            Slide { rounds: *ROUNDS.get(times)?, ..first },
            "whether the first read in a unit takes longer than others",
        ),
        (Some(_), None) if seen.again.is_none() => {
            (Slide { rounds: rounds(times), ..first }, "whether the first read in a unit takes longer each time")
        }
        (Some(found), None) if seen.holds() => {
            let plan = in_turn(&first, found.size)?;
            (Slide { rounds: rounds(times.saturating_sub(1)), ..plan }, "whether what stands out is a change of units")
        }
        (Some(found), Some(false)) if rest == Nanos::ZERO => (halve(device, found, known, part)?, "where units begin"),
        _ => return None,
    };
    let enough = if seen.found.is_some() && seen.again.is_some() { MOST_TIMES } else { ROUNDS.len() + 1 };
    (plan.places >= FEWEST_PLACES && seen.times(&plan) < enough)
        .then(|| Choice { experiment: Experiment::Slide(plan), why: why.to_owned() })
}

/// Places that lie in the middle of the interval in which units begin, and at eighths of a unit from there.
fn halve(device: &DeviceFacts, found: &Changes, known: Known, part: Span) -> Option<Slide> {
    let page = known.page?;
    let mut begins = found.begins(page, known.phase);
    if begins.len() < 2 || begins[0] == Bytes::ZERO {
        return None;
    }
    // An interval may go on from the end of a unit to its start: the widest gap lies outside.
    let after = |index: usize| begins.get(index + 1).copied().unwrap_or(begins[0] + found.size);
    let gap = (0..begins.len()).max_by_key(|index| after(*index) - begins[*index]).unwrap_or(0);
    let count = begins.len();
    begins.rotate_left((gap + 1) % count);
    // Off the edge of a page, so that no read is in two units.
    let at = (begins[begins.len() / 2] + found.size).saturating_sub(page / 2).align_down(device.logical_block);
    let step = found.size / PLACES_OF_UNIT;
    let plan = descending(device, part, (step, MOST_PLACES), at);
    let units = (step * u64::from(plan.places) / found.size).max(1);
    step.is_multiple_of(device.logical_block).then(|| Slide { rounds: (READS / units).clamp(4, 48) as u32, ..plan })
}

/// The same places as two stretches whose reads take turns, each longer than a unit.
fn in_turn(plan: &Slide, unit: Bytes) -> Option<Slide> {
    /// Places left out between the stretches, which tells them apart.
    const GAP: u32 = 2;
    let places = plan.places.saturating_sub(GAP) / 2;
    let first = *plan.starts.first()?;
    let starts = vec![first, first + plan.step * u64::from(places + GAP)];
    (plan.step * u64::from(places) > unit).then(|| Slide { starts, places, ..plan.clone() })
}

/// Places this far apart, in the first half of a part of the device; `at` is one of them, or some steps away.
fn descending(device: &DeviceFacts, part: Span, (step, most): (Bytes, u64), at: Bytes) -> Slide {
    let places = (part.length.saturating_sub(step * 2) / step).min(most);
    // Behind an area at the start, and before the place where the flash of most fakes ends.
    let before = part.length.saturating_sub(step * (places + 2)) / 8;
    let first = (part.start + before).align_down(step) + step + Bytes(at.get() % step.get());
    Slide {
        block: small_block(device),
        step,
        starts: vec![first],
        places: u32::try_from(places).unwrap_or(u32::MAX),
        rounds: ROUNDS[0],
        descending: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::tests::of_size;
    use flashscope_stats::Rng;

    const KNOWN: Known = Known { unit: false, page: Some(Bytes::kib(16)), phase: Bytes::ZERO };

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
            let device = of_size(Bytes::gib(4));
            let (mut slides, mut rng) = (Vec::new(), Rng::new(3));
            loop {
                let seen = Seen::of(&slides);
                let Some(choice) = wanted(&device, &seen, rest, KNOWN, None) else { return seen };
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
