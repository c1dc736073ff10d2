//! Which read-only experiment would settle most about alignment.
//!
//! First a coarse survey of all likely sizes with few places each, and a look whether reads wait for what the device
//! does behind them; then, only where two sizes still compete, places that are multiples of the one and not of the
//! other; then all sizes inside the page; where no unit shows, a larger block, and sweeps over all likely units until a
//! step that counts would have shown. It goes on as long as reads gain and there are not too many of them, unless places
//! do not fit what explains them best: then more of them only make the nearest wrong answer surer.

use super::Weighing;
use super::changes;
use super::from_places::{NOTHING_WRITTEN, edges_show, page_shows, trust, unit_shows};
use super::gathering::Gathering;
use super::offset;
use super::places::{Group, Places};
use super::prior;
use super::straddling::{plan, small_block, tidy};
use super::structure::{self, Posterior, class};
use crate::Choice;
use crate::memo::{Memo, Shared};
use crate::numbers::median;
use flashscope_model::observation::Run;
use flashscope_model::plan::{Boundaries, Span};
use flashscope_model::{Data, DeviceFacts, Experiment, Observations};
use flashscope_units::{Bytes, Nanos};

/// More reads on one grid than this are not worth their time …
const MOST_READS: usize = 200_000;

/// … nor any more reads, after this long: reads that must wait for what a device does unasked are slow.
const MOST_TIME: Nanos = Nanos::secs(600);

/// As [`MOST_READS`], with the sizes inside the page.
const MOST_READS_IN_ALL: usize = 230_000;

/// Rest before a read, in times of one that may have waited.
const REST: f64 = 1.5;

/// The same candidates are tried so often: places are random, so another time brings new ones, or more reads of the same
/// where there are few; once that has brought no decision so often, it will not.
const MOST_TIMES: usize = 12;

/// As [`MOST_TIMES`], for the sizes inside a page that is known, where levels are low.
const MOST_TIMES_INSIDE: usize = 5;

/// This many reads are worth while even where places do not fit the best explanation.
const READS_IN_ANY_CASE: usize = 40_000;

/// Places that fit less than this do not get more of their kind.
const FITS: f64 = 0.9;

/// A step at a unit below this share of the page's is not looked for: on published cards it is a quarter at least.
const LEAST_STEP: f64 = 0.1;

/// As [`LEAST_STEP`], of an access, where no page shows.
const LEAST_STEP_ALONE: f64 = 0.01;

/// A step of this many standard errors would have shown.
const WOULD_SHOW: f64 = 4.5;

/// Places of each candidate, and rounds of reads at each, where a question is to be settled.
const PLACES: u32 = 20;
/// See [`PLACES`].
const ROUNDS: u32 = 16;

/// Odd factors of the units that are swept over go up to this …
const SWEPT_ODD: u64 = 9;
/// … with this many places each.
const SWEPT_PLACES: u32 = 6;

/// A figure with this probability is settled; so is a level inside the page, or its absence.
const SETTLED: f64 = 0.995;

/// As [`SETTLED`], of a page that was asked for again and again: each look doubles the odds against it that are put up with, as
/// what a few looks leave open the next ones hardly settle …
const SETTLED_IN_THE_END: f64 = 0.95;

/// … of so few sizes.
const FEW_SIZES: usize = 8;

/// A page must be so likely before the sizes inside it are looked at.
const PAGE_TO_LOOK_INTO: f64 = 0.9;

/// With this probability of no unit at all, none of those that are likeliest is worth a look of its own.
const NONE_SHOWS: f64 = 0.9;

/// Sizes with less probability than this do not compete.
const COMPETES: f64 = 0.001;

/// What was read around boundaries, as far as it counts.
struct Past(Vec<Done>);

/// One run of the past.
struct Done {
    block: Bytes,
    candidates: Vec<Bytes>,
    offset: Bytes,
    /// Whether the device was left alone before each read.
    rested: bool,
    reads: usize,
    time: Nanos,
}

/// The next experiment, or `None` when nothing is left that reading could settle.
pub(super) fn wanted(
    device: &DeviceFacts,
    observations: &Observations,
    memo: &Memo,
    within: Option<Span>,
) -> Option<Choice> {
    let done: Vec<Done> = observations.runs.iter().filter_map(boundaries).collect();
    if done.is_empty() {
        return coarse(device);
    }
    let places = memo.of::<Gathering>().places(observations);
    if places.never_written > NOTHING_WRITTEN {
        return None;
    }
    let Some(rest) = places.rest else { return waits(device, places.groups.first()?) };
    let past = Past(done.into_iter().filter(|run| run.rested == (rest > Nanos::ZERO)).collect());
    let mut choice = settle(device, &places, memo, &past, within)?;
    if let Experiment::Boundaries(plan) = &mut choice.experiment {
        plan.rest = rest;
    }
    Some(choice)
}

/// As [`wanted`], once the coarse survey is done and it is known whether reads wait.
fn settle(
    device: &DeviceFacts,
    places: &Shared<Places>,
    memo: &Memo,
    past: &Past,
    within: Option<Span>,
) -> Option<Choice> {
    let room = within.map_or(device.capacity, |part| part.length);
    let survey = coarse(device)?;
    if past.times(&survey) == 0 {
        return Some(survey);
    }
    let posterior = memo.answer::<Weighing>(places, |places| structure::weigh(places))?;
    let trust = trust(places, &posterior);
    let most = if fits(&places.groups, &posterior) { MOST_READS } else { READS_IN_ANY_CASE };
    let reads = past.reads(posterior.phase);
    let in_time = past.time() < MOST_TIME;
    let worth_while = in_time && reads < most;
    let known = offset::Known {
        unit: unit_shows(places, &posterior),
        likeliest: posterior.best.unit,
        page: page_shows(&places.groups, &posterior),
        phase: posterior.phase,
    };
    if in_time {
        let rest = places.rest.unwrap_or(Nanos::ZERO);
        let edges = known.phase == Bytes::ZERO && edges_show(places, &posterior);
        let known = changes::Known { unit: known.unit, edges, page: known.page, phase: known.phase };
        let at_changes = || offset::at_changes((device, within), places.seen.changes()?, known);
        let choice = changes::wanted(device, &places.seen, rest, known, within)
            .or_else(|| at_changes().filter(|choice| past.times(choice) == 0));
        if choice.is_some() {
            return choice;
        }
    }
    let fresh = |choice: Choice| (worth_while && past.times(&choice) < MOST_TIMES).then(|| more_places(choice, past));
    let unit = settle_unit((device, room), &places.groups, &posterior, trust).and_then(fresh);
    let page = settle_page((device, room), &places.groups, &posterior, past.looks(posterior.phase)).and_then(fresh);
    let likely = |ranked: &[(Option<Bytes>, f64)]| ranked.first().map_or(0.0, |(_, probability)| *probability);
    let page_first = page.is_some() && likely(&posterior.pages) < likely(&posterior.units);
    let (first, second) = if page_first { (page, unit) } else { (unit, page) };
    let inside = |choice: &Choice| {
        let looked = past.times(choice);
        looked == 0 || (looked < MOST_TIMES_INSIDE && posterior.inner < SETTLED)
    };
    let inner =
        || look_inside((device, room), &posterior).filter(inside).filter(|_| in_time && reads < MOST_READS_IN_ALL);
    let larger = || second_block((device, room), &posterior).filter(|choice| worth_while && past.times(choice) == 0);
    let weak = || sweep((device, room), &places.groups, &posterior).filter(|_| worth_while);
    let first = first.or(second).or_else(inner).or_else(larger).or_else(weak);
    first.or_else(|| offset::wanted(device, places, &known, within))
}

/// What was tried before without a decision is tried with more places: the step is low.
fn more_places(mut choice: Choice, past: &Past) -> Choice {
    /// So often, with as many.
    const TRIES: usize = 3;
    let times = past.times(&choice);
    if let Experiment::Boundaries(plan) = &mut choice.experiment {
        plan.places *= 1 + (times / TRIES) as u32;
    }
    choice
}

/// Whether nearly all places lie at the level of their class.
fn fits(groups: &[Group], posterior: &Posterior) -> bool {
    groups.iter().all(|group| {
        structure::misfits(group, &posterior.best, posterior.phase).into_iter().all(|far| far <= 1.0 - FITS)
    })
}

fn boundaries(run: &Run) -> Option<Done> {
    let Data::Boundaries(data) = &run.data else { return None };
    let candidates = data.candidates.iter().map(|candidate| candidate.size).collect();
    let places = data.candidates.iter().flat_map(|candidate| &candidate.places);
    let reads = places.map(|place| place.pre.len() + place.on.len() + place.post.len()).sum();
    let (block, offset, rested) = (data.block, data.offset, data.rest > Nanos::ZERO);
    Some(Done { block, candidates, offset, rested, reads, time: run.spent.time })
}

impl Past {
    /// How many reads were on a grid that begins here.
    fn reads(&self, phase: Bytes) -> usize {
        self.0.iter().filter(|run| run.offset == phase).map(|run| run.reads).sum()
    }

    /// How often few sizes were looked at on a grid that begins here.
    fn looks(&self, phase: Bytes) -> i32 {
        let few = self.0.iter().filter(|run| run.offset == phase && run.candidates.len() <= FEW_SIZES);
        i32::try_from(few.count()).unwrap_or(i32::MAX)
    }

    fn time(&self) -> Nanos {
        self.0.iter().map(|run| run.time).sum()
    }

    /// How often the same candidates were tried with the same block.
    fn times(&self, choice: &Choice) -> usize {
        let Experiment::Boundaries(plan) = &choice.experiment else { return 0 };
        let same =
            |run: &&Done| (run.block, &run.candidates, run.offset) == (plan.block, &plan.candidates, plan.offset);
        self.0.iter().filter(same).count()
    }
}

fn coarse(device: &DeviceFacts) -> Option<Choice> {
    let block = small_block(device);
    let claims = [device.claims.allocation_unit, device.claims.preferred_erase];
    let powers = (9..28).map(|power| Bytes(1 << power));
    let threes = (13..27).map(|power| Bytes(3 << power));
    let candidates = tidy(device, block, powers.chain(threes).chain(claims.into_iter().flatten()));
    (candidates.len() >= 3).then(|| Choice {
        experiment: Experiment::Boundaries(plan(device.capacity, block, candidates, &[], (7, 4), Bytes::ZERO)),
        why: "reads that straddle boundaries of every likely size show where pages and allocation units begin"
            .to_owned(),
    })
}

/// Some reads that each come when the device has had time for all that it does behind a read: where these are faster,
/// reads wait for it otherwise. The typical read waits for no longer than it takes, some for more.
fn waits(device: &DeviceFacts, group: &Group) -> Option<Choice> {
    let block = small_block(device);
    let candidates = tidy(device, block, (9..25).step_by(2).map(|power| Bytes(1 << power)));
    let rest = Nanos((REST * group.access) as u64).max(Nanos(1));
    (!candidates.is_empty()).then(|| Choice {
        experiment: Experiment::Boundaries(Boundaries {
            rest,
            ..plan(device.capacity, block, candidates, &[], (5, 4), Bytes::ZERO)
        }),
        why: "whether a read waits for what the device reads ahead of its own accord".to_owned(),
    })
}

/// Places that are multiples of one competing unit and not of another.
fn settle_unit(
    (device, room): (&DeviceFacts, Bytes),
    groups: &[Group],
    posterior: &Posterior,
    trust: f64,
) -> Option<Choice> {
    let (best, probability) = posterior.units.first().copied()?;
    // Where most likely none shows, a few sizes that were lucky lead nowhere: see [`sweep`].
    if probability * trust.max(0.99) >= SETTLED || (best.is_none() && probability >= NONE_SHOWS) {
        return None;
    }
    let competing = competing(&posterior.units);
    if alone(best, &competing) && stands_out(groups, posterior, class::UNIT) {
        return None;
    }
    let smallest = competing.iter().copied().min()?;
    // Half the smallest shows the level below.
    let block = small_block(device);
    let candidates = tidy(device, block, competing.into_iter().chain([smallest / 2]));
    (candidates.len() >= 2).then(|| Choice {
        why: match best {
            Some(best) => format!("{best} is the likeliest allocation unit, but not the only one that fits"),
            None => "whether there is a step at the allocation unit is not yet clear".to_owned(),
        },
        experiment: Experiment::Boundaries(plan(room, block, candidates, &[], (PLACES, ROUNDS), posterior.phase)),
    })
}

/// Whether no other size competes. Then it is left open whether the step is that of a unit or of its part, or of a page or
/// of something larger, which more reads would not tell.
fn alone(best: Option<Bytes>, competing: &[Bytes]) -> bool {
    best.is_some() && competing.len() == 1 && best == competing.first().copied()
}

/// Whether a level of the likeliest chain is well above the ones below it, for all that noise may do.
fn stands_out(groups: &[Group], posterior: &Posterior, class: usize) -> bool {
    /// Standard errors of the mean of a level.
    const CLEAR: f64 = 7.0;
    groups.iter().any(|group| {
        let levels = structure::levels(group, &posterior.best, posterior.phase);
        let below = levels[..class].iter().rev().flatten().next();
        let step = levels[class].zip(below.copied()).map(|((level, _), (below, _))| level - below);
        let size = posterior.best.size_of(class);
        step.zip(size).is_some_and(|(step, size)| step >= CLEAR * structure::error(group, size, posterior.phase))
    })
}

/// The likeliest sizes, as far as they are worth telling apart.
fn competing(ranked: &[(Option<Bytes>, f64)]) -> Vec<Bytes> {
    ranked.iter().filter(|(_, probability)| *probability >= COMPETES).filter_map(|(size, _)| *size).take(4).collect()
}

/// Places that are multiples of one competing page and not of another.
fn settle_page(
    (device, room): (&DeviceFacts, Bytes),
    groups: &[Group],
    posterior: &Posterior,
    looks: i32,
) -> Option<Choice> {
    let (best, likely) = posterior.pages.first().copied()?;
    let settled = (1.0 - (1.0 - SETTLED) * 2_f64.powi(looks)).max(SETTLED_IN_THE_END);
    if likely >= settled || posterior.page_is_bound {
        return None;
    }
    let competing = competing(&posterior.pages);
    if alone(best, &competing) && stands_out(groups, posterior, class::PAGE) {
        return None;
    }
    let (smallest, largest) = (competing.iter().copied().min()?, competing.iter().copied().max()?);
    let block = small_block(device);
    let candidates = tidy(device, block, competing.into_iter().chain([smallest / 2, largest * 2, largest * 3]));
    (candidates.len() >= 2).then(|| Choice {
        why: match best {
            Some(best) => format!("{best} is the likeliest page, but not the only one that fits"),
            None => "whether there is a step at the page is not yet clear".to_owned(),
        },
        experiment: Experiment::Boundaries(plan(
            room,
            block,
            candidates,
            &above_page(posterior),
            (PLACES, ROUNDS),
            posterior.phase,
        )),
    })
}

/// All sizes inside a page that is known. A level there may be as low as a tenth of the page's, and shows only against
/// places that lie on no edge at all, of which the coarse survey has few.
fn look_inside((device, room): (&DeviceFacts, Bytes), posterior: &Posterior) -> Option<Choice> {
    let (page, _) = posterior.pages.first().copied().filter(|(_, likely)| *likely >= PAGE_TO_LOOK_INTO)?;
    let page = page.filter(|_| !posterior.page_is_bound)?;
    let block = small_block(device);
    let parts =
        |whole: Bytes| std::iter::successors(Some(whole), |size| Some(*size / 2)).take_while(|size| size.get() > 0);
    let power = Bytes(1 << page.get().ilog2());
    // What was taken for the page may be a level inside it, whose edges cost as much.
    let above = [page * 2, page * 3];
    let candidates = tidy(device, block, parts(page).chain(parts(power)).filter(|size| *size <= page).chain(above));
    (candidates.len() >= 3).then(|| Choice {
        why: format!("whether there is a level inside the {page} page"),
        experiment: Experiment::Boundaries(plan(
            room,
            block,
            candidates,
            &above_page(posterior),
            (PLACES, ROUNDS),
            posterior.phase,
        )),
    })
}

/// Levels that places inside the page must keep off.
fn above_page(posterior: &Posterior) -> Vec<Bytes> {
    posterior.best.unit.into_iter().chain(posterior.best.middle).collect()
}

/// All likely units where none shows, until a step that counts would stand out of the noise.
fn sweep((device, room): (&DeviceFacts, Bytes), groups: &[Group], posterior: &Posterior) -> Option<Choice> {
    /// Smallest unit that is swept for: steps of smaller sizes are pages.
    const FROM: Bytes = Bytes::kib(256);
    if posterior.best.unit.is_some() {
        return None;
    }
    let block = small_block(device);
    let from = posterior.best.page.map_or(FROM, |page| FROM.max(page * 8));
    let sizes = prior::sizes(from, prior::UNIT_RANGE.1).filter(|size| prior::split(*size).0 <= SWEPT_ODD);
    let candidates = tidy(device, block, sizes);
    let group = groups.first().filter(|group| group.block == block)?;
    if candidates.len() < 3 || excluded(group, &candidates, posterior) {
        return None;
    }
    Some(Choice {
        why: "no allocation unit shows: would a low step at any likely one have shown?".to_owned(),
        experiment: Experiment::Boundaries(plan(room, block, candidates, &[], (SWEPT_PLACES, ROUNDS), posterior.phase)),
    })
}

/// Whether most of these units would have shown by a step that counts.
fn excluded(group: &Group, units: &[Bytes], posterior: &Posterior) -> bool {
    let levels = structure::levels(group, &posterior.best, posterior.phase);
    let level = |class: usize| levels[class].map(|(level, _)| level);
    let step = match (level(class::PAGE), level(class::BASE)) {
        (Some(page), base) => LEAST_STEP * (page - base.unwrap_or(0.0)).abs(),
        _ => LEAST_STEP_ALONE,
    };
    let errors: Vec<f64> = units.iter().map(|unit| structure::error(group, *unit, posterior.phase)).collect();
    median(&errors).is_some_and(|error| WOULD_SHOW * error <= step)
}

/// A larger block, once, where the small one shows no unit.
fn second_block((device, room): (&DeviceFacts, Bytes), posterior: &Posterior) -> Option<Choice> {
    let block = Bytes::kib(16);
    if posterior.best.unit.is_some() || small_block(device) >= block {
        return None;
    }
    let sizes = (16..28).flat_map(|power| [Bytes(1 << power), Bytes(3 << (power - 1))]);
    let candidates = tidy(device, block, sizes);
    (candidates.len() >= 3).then(|| Choice {
        experiment: Experiment::Boundaries(plan(room, block, candidates, &[], (9, 6), posterior.phase)),
        why: format!("reads of {} show no allocation unit; larger ones may", small_block(device)),
    })
}
