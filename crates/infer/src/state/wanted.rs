//! The experiments of a diagnosis, in their order: reads before writes, cheap before dear.

use super::seen::{LONG, SHORT};
use crate::Choice;
use crate::memo::Memo;
use crate::situation::Situation;
use flashscope_model::observation::ThroughputData;
use flashscope_model::plan::{Budget, Purpose, Span, Survey, Throughput};
use flashscope_model::{Data, DeviceFacts, Direction, Experiment, Observations, Order};
use flashscope_units::{Bytes, Nanos};

/// Places all over the device, which is to hold twice as many blocks.
const PLACES: u64 = 192;
/// Reads of each, of which the shortest counts.
const REPEATS: u32 = 20;
/// Length of the stretch that is written for comparison: long enough that a dirty device has to collect, …
const LONGEST: Bytes = Bytes::mib(64);
/// … but no larger a part of a device than this, …
const LEAST_STRETCHES: u64 = 16;
/// … and at least 64 long reads.
const SHORTEST: Bytes = Bytes::mib(4);
/// What is written randomly for comparison: as many pieces in one long read as make it plain that they lie apart, but not so
/// small that a card takes minutes for them.
const PIECE: Bytes = Bytes::kib(16);
/// What is not written by then is left: a dirty card takes a third of a second for 64 KiB.
const MOST_TIME: Nanos = Nanos::secs(60);

/// The next experiment of a diagnosis; `None` where nothing is left that the budget covers.
///
/// As [`crate::next`], for one question: which state a device is in.
pub fn next(
    device: &DeviceFacts,
    observations: &Observations,
    memo: &Memo,
    budget: Budget,
    seed: u64,
) -> Option<Choice> {
    if budget.time == Some(Nanos::ZERO) || device.capacity < LONG * 2 * PLACES {
        return None;
    }
    let now = Situation::new(device, observations, memo, budget.write, seed);
    let whole = [SHORT, LONG].map(|block| survey(&now, block, None));
    let compared = stretch(&now).into_iter().flat_map(|span| {
        let write = write(&now, span);
        let reads = [SHORT, LONG].map(|block| survey(&now, block, Some(span)));
        [write].into_iter().chain(reads)
    });
    let shuffled = stretch(&now).filter(|_| now.write_budget >= SHORTEST * 2).into_iter().flat_map(|span| {
        let span = Span { length: SHORTEST.min(span.length), ..span };
        [shuffle(&now, span), survey_of_shuffled(&now, span)]
    });
    whole.into_iter().chain(compared).chain(shuffled).flatten().next()
}

/// Where to write for comparison: somewhere within the device, at the same place all through a run; once it is done, as far
/// as it went.
fn stretch(now: &Situation) -> Option<Span> {
    let capacity = now.device.capacity;
    let start = (capacity / 16 * 5).align_down(SHORTEST);
    // What is written randomly afterwards is part of the budget.
    let left = now.write_budget.saturating_sub(SHORTEST).max(SHORTEST.min(now.write_budget));
    let length = (capacity / LEAST_STRETCHES).min(LONGEST).min(left).align_down(SHORTEST);
    let done = now.observations.runs.iter().find_map(|run| reference(&run.data)).map(ThroughputData::reach);
    let (length, least) = done.map_or((length, SHORTEST), |done| (done, LONG));
    (least <= length).then_some(Span { start, length })
}

fn reference(data: &Data) -> Option<&ThroughputData> {
    written(data).filter(|data| data.order == Order::InOrder)
}

fn written(data: &Data) -> Option<&ThroughputData> {
    match data {
        Data::Throughput(data) if data.purpose == Purpose::Reference => Some(data),
        _ => None,
    }
}

fn write(now: &Situation, span: Span) -> Option<Choice> {
    (!now.has(|data| reference(data).is_some())).then(|| Choice {
        experiment: Experiment::Throughput(writes(span, LONG, Order::InOrder)),
        why: "something to compare with: how sequential writes go, and how they read".into(),
    })
}

fn writes(span: Span, block: Bytes, order: Order) -> Throughput {
    Throughput {
        direction: Direction::Write,
        order,
        block,
        start: span.start,
        length: span.length,
        requests: (span.length / block) as u32,
        most_time: Some(MOST_TIME),
        purpose: Purpose::Reference,
    }
}

fn shuffle(now: &Situation, span: Span) -> Option<Choice> {
    let done = |data: &Data| written(data).is_some_and(|data| data.order == Order::Random);
    (!now.has(done)).then(|| Choice {
        experiment: Experiment::Throughput(writes(span, now.block(PIECE), Order::Random)),
        why: "something else to compare with: how random writes read".into(),
    })
}

/// Once what was written randomly was read, no read comes after it.
fn survey_of_shuffled(now: &Situation, span: Span) -> Option<Choice> {
    let is_last = now.observations.runs.last().is_some_and(|run| written(&run.data).is_some());
    let places = (span.length / LONG) as u32;
    let survey = Survey { block: now.block(LONG), places, repeats: REPEATS, within: Some(span) };
    is_last.then(|| Choice {
        experiment: Experiment::Survey(survey),
        why: "how what was just written randomly reads".into(),
    })
}

fn survey(now: &Situation, block: Bytes, within: Option<Span>) -> Option<Choice> {
    let block = now.block(block);
    let span = within.unwrap_or(Span { start: Bytes::ZERO, length: now.device.capacity });
    let places = (span.length / LONG).min(PLACES) as u32;
    let lies_within = |at: Bytes| span.start <= at && at < span.start + span.length;
    let done = |data: &Data| {
        matches!(data, Data::Survey(data) if data.block == block
            && data.places.len() == places as usize
            && data.places.iter().all(|place| lies_within(place.at)))
    };
    (!now.has(done)).then(|| Choice {
        experiment: Experiment::Survey(Survey { block, places, repeats: REPEATS, within }),
        why: match within {
            None => "what is empty is answered without the flash, and what lies apart takes longer".into(),
            Some(_) => "how what was just written reads".into(),
        },
    })
}
