//! Which read-only experiment would settle most about alignment.
//!
//! First a coarse survey of all likely sizes with few places each, and a look whether reads wait for what the device
//! does behind them; then, only where two sizes still compete, places that are multiples of the one and not of the
//! other; then all sizes inside the page; last a larger block where a small one shows nothing.

use super::from_places::{page_shows, trust, unit_shows};
use super::offset;
use super::places::{self, Group, Places};
use super::straddling::{plan, small_block, tidy};
use super::structure::{self, Posterior};
use crate::Choice;
use crate::memo::Memo;
use flashscope_model::plan::{Boundaries, Experiment, Span};
use flashscope_model::{Data, DeviceFacts, Observations};
use flashscope_units::{Bytes, Nanos};

/// More runs for unit and page than this are not worth their time: where no hypothesis holds what the device does, the
/// wrong one that is nearest only gets surer with the number of places.
const MOST_RUNS: usize = 12;

/// As [`MOST_RUNS`], with the sizes inside the page.
const MOST_RUNS_IN_ALL: usize = 18;

/// Rest before a read, in times of one that may have waited.
const REST: f64 = 1.5;

/// The same candidates are tried so often.
const MOST_TIMES: usize = 3;

/// As [`MOST_TIMES`], for the sizes inside a page that is known, where levels are low.
const MOST_TIMES_INSIDE: usize = 5;

/// Places of each candidate, and rounds of reads at each, where a question is to be settled.
const PLACES: u32 = 20;
/// See [`PLACES`].
const ROUNDS: u32 = 16;

/// A figure with this probability is settled.
const SETTLED: f64 = 0.995;

/// As [`SETTLED`], for a level inside the page, or for its absence.
const INNER_SETTLED: f64 = 0.97;

/// A page must be so likely before the sizes inside it are looked at.
const PAGE_TO_LOOK_INTO: f64 = 0.9;

/// Sizes with less probability than this do not compete.
const COMPETES: f64 = 0.001;

/// One run of the past: block size, candidates, shift, and whether the device was left alone before each read.
type Done = (Bytes, Vec<Bytes>, Bytes, bool);

/// The next experiment, or `None` when nothing is left that reading could settle.
pub(super) fn wanted(
    device: &DeviceFacts,
    observations: &Observations,
    memo: &Memo,
    within: Option<Span>,
) -> Option<Choice> {
    let done: Vec<Done> = observations.runs.iter().filter_map(|run| boundaries(&run.data)).collect();
    if done.is_empty() {
        return coarse(device);
    }
    let never_written = places::never_written(observations).unwrap_or(0.0);
    if never_written > 0.95 {
        return None;
    }
    let places = Places::of(observations);
    let Some(rest) = places.rest else { return waits(device, places.groups.first()?) };
    let done: Vec<Done> = done.into_iter().filter(|(_, _, _, rested)| *rested == (rest > Nanos::ZERO)).collect();
    let mut choice = settle((device, observations), &places, memo, &done, within)?;
    if let Experiment::Boundaries(plan) = &mut choice.experiment {
        plan.rest = rest;
    }
    Some(choice)
}

/// As [`wanted`], once the coarse survey is done and it is known whether reads wait.
fn settle(
    (device, observations): (&DeviceFacts, &Observations),
    places: &Places,
    memo: &Memo,
    done: &[Done],
    within: Option<Span>,
) -> Option<Choice> {
    let survey = coarse(device)?;
    if times_done(&survey, done) == 0 {
        return Some(survey);
    }
    let posterior = memo.alignment.answer(places, structure::weigh)?;
    let trust = trust(&places.groups, &posterior);
    // Places are random, so another time brings new ones; once it has brought no decision, it will not.
    let fresh = |choice: &Choice| done.len() < MOST_RUNS && times_done(choice, done) < MOST_TIMES;
    let unit = settle_unit(device, &posterior, trust).filter(fresh);
    let page = settle_page(device, &posterior).filter(fresh);
    let likely = |ranked: &[(Option<Bytes>, f64)]| ranked.first().map_or(0.0, |(_, probability)| *probability);
    let page_first = page.is_some() && likely(&posterior.pages) < likely(&posterior.units);
    let (first, second) = if page_first { (page, unit) } else { (unit, page) };
    let inside = |choice: &Choice| {
        let looked = times_done(choice, done);
        looked == 0 || (looked < MOST_TIMES_INSIDE && posterior.inner < INNER_SETTLED)
    };
    let inner = || look_inside(device, &posterior).filter(inside).filter(|_| done.len() < MOST_RUNS_IN_ALL);
    let larger = || second_block(device, &posterior).filter(|choice| fresh(choice) && times_done(choice, done) < 1);
    let known = offset::Known {
        unit: unit_shows(&places.groups, &posterior),
        likeliest: posterior.best.unit,
        page: page_shows(&places.groups, &posterior),
        phase: posterior.phase,
    };
    let first = first.or(second).or_else(inner).or_else(larger);
    first.or_else(|| offset::wanted(device, observations, places, &known, within))
}

fn boundaries(data: &Data) -> Option<Done> {
    let Data::Boundaries(data) = data else { return None };
    let candidates = data.candidates.iter().map(|candidate| candidate.size).collect();
    Some((data.block, candidates, data.offset, data.rest > Nanos::ZERO))
}

/// How often the same candidates were tried with the same block.
fn times_done(choice: &Choice, done: &[Done]) -> usize {
    let Experiment::Boundaries(plan) = &choice.experiment else { return 0 };
    let same = |(block, candidates, offset, _): &&Done| {
        (*block, candidates, *offset) == (plan.block, &plan.candidates, plan.offset)
    };
    done.iter().filter(same).count()
}

fn coarse(device: &DeviceFacts) -> Option<Choice> {
    let block = small_block(device);
    let claims = [device.claims.allocation_unit, device.claims.preferred_erase];
    let powers = (9..28).map(|power| Bytes(1 << power));
    let threes = (13..27).map(|power| Bytes(3 << power));
    let candidates = tidy(device, block, powers.chain(threes).chain(claims.into_iter().flatten()));
    (candidates.len() >= 3).then(|| Choice {
        experiment: Experiment::Boundaries(plan(block, candidates, &[], (7, 4), Bytes::ZERO)),
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
        experiment: Experiment::Boundaries(Boundaries { rest, ..plan(block, candidates, &[], (5, 4), Bytes::ZERO) }),
        why: "whether a read waits for what the device reads ahead of its own accord".to_owned(),
    })
}

/// Places that are multiples of one competing unit and not of another.
fn settle_unit(device: &DeviceFacts, posterior: &Posterior, trust: f64) -> Option<Choice> {
    let (best, probability) = posterior.units.first().copied()?;
    if probability * trust.max(0.99) >= SETTLED {
        return None;
    }
    let competing = competing(&posterior.units);
    let smallest = competing.iter().copied().min()?;
    // Half the smallest shows the level below.
    let block = small_block(device);
    let candidates = tidy(device, block, competing.into_iter().chain([smallest / 2]));
    (candidates.len() >= 2).then(|| Choice {
        why: match best {
            Some(best) => format!("{best} is the likeliest allocation unit, but not the only one that fits"),
            None => "whether there is a step at the allocation unit is not yet clear".to_owned(),
        },
        experiment: Experiment::Boundaries(plan(block, candidates, &[], (PLACES, ROUNDS), posterior.phase)),
    })
}

/// The likeliest sizes, as far as they are worth telling apart.
fn competing(ranked: &[(Option<Bytes>, f64)]) -> Vec<Bytes> {
    ranked.iter().filter(|(_, probability)| *probability >= COMPETES).filter_map(|(size, _)| *size).take(4).collect()
}

/// Places that are multiples of one competing page and not of another.
fn settle_page(device: &DeviceFacts, posterior: &Posterior) -> Option<Choice> {
    let (best, likely) = posterior.pages.first().copied()?;
    if likely >= SETTLED || posterior.page_is_bound {
        return None;
    }
    let competing = competing(&posterior.pages);
    let (smallest, largest) = (competing.iter().copied().min()?, competing.iter().copied().max()?);
    let block = small_block(device);
    let candidates = tidy(device, block, competing.into_iter().chain([smallest / 2, largest * 2, largest * 3]));
    (candidates.len() >= 2).then(|| Choice {
        why: match best {
            Some(best) => format!("{best} is the likeliest page, but not the only one that fits"),
            None => "whether there is a step at the page is not yet clear".to_owned(),
        },
        experiment: Experiment::Boundaries(plan(
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
fn look_inside(device: &DeviceFacts, posterior: &Posterior) -> Option<Choice> {
    let (page, _) = posterior.pages.first().copied().filter(|(_, likely)| *likely >= PAGE_TO_LOOK_INTO)?;
    let page = page.filter(|_| !posterior.page_is_bound)?;
    let block = small_block(device);
    let parts =
        |whole: Bytes| std::iter::successors(Some(whole), |size| Some(*size / 2)).take_while(|size| size.get() > 0);
    let power = Bytes(1 << page.get().ilog2());
    let candidates = tidy(device, block, parts(page).chain(parts(power)).filter(|size| *size <= page));
    (candidates.len() >= 3).then(|| Choice {
        why: format!("whether there is a level inside the {page} page"),
        experiment: Experiment::Boundaries(plan(
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

/// A larger block, once, where the small one shows no unit.
fn second_block(device: &DeviceFacts, posterior: &Posterior) -> Option<Choice> {
    let block = Bytes::kib(16);
    if posterior.best.unit.is_some() || small_block(device) >= block {
        return None;
    }
    let sizes = (16..28).flat_map(|power| [Bytes(1 << power), Bytes(3 << (power - 1))]);
    let candidates = tidy(device, block, sizes);
    (candidates.len() >= 3).then(|| Choice {
        experiment: Experiment::Boundaries(plan(block, candidates, &[], (9, 6), posterior.phase)),
        why: format!("reads of {} show no allocation unit; larger ones may", small_block(device)),
    })
}
