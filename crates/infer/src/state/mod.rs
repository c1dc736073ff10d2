//! Which state a device is in: how much of it holds data, in which order that was written, how much of its life is used,
//! and what sums this up.
//!
//! Content proves nothing: a purged place may still read as it was, and zeros may be data. What tells is time: a place that
//! the map knows to be empty is answered without the flash, and what was written randomly lies all over it. Each question is
//! reduced to a regime and a score ([`Raw`]), and a table of counts ([`crate::calibrated`]) makes probabilities of these.

mod holds;
mod order;
mod seen;
mod uneven;
mod wanted;

pub use wanted::next;

use crate::calibrated::{Table, shipped};
use flashscope_model::state::{DataOrder, DataShare};
use flashscope_model::{Data, DeviceFacts, DeviceState, Estimate, ExperimentName, Geometry, Observations, Reason};
use seen::Seen;

/// The questions, as the table of probabilities names them.
pub const HOLDS: &str = "holds_data";
/// See [`HOLDS`].
pub const ORDER: &str = "data_order";
/// See [`HOLDS`].
pub const STATE: &str = "state";

/// What is less likely is not claimed, only leaned to: what a diagnosis says decides what is done to a device.
const CLAIMED_FROM: f64 = 0.98;

/// What one question came to before it is a probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Raw {
    /// The question.
    pub question: &'static str,
    /// Which kind of signal there is.
    pub regime: String,
    /// How clear it is.
    pub score: f64,
}

/// What the questions of a diagnosis came to, for those who make the table: each with the share that is claimed where only a
/// part holds data.
pub fn raw(observations: &Observations, table: &Table) -> Vec<(Raw, Option<DataShare>)> {
    let Some(seen) = Seen::of(observations) else { return Vec::new() };
    let (holds, order) = (holds::look(&seen), order::look(&seen));
    let summed = sum_up(&seen, holds.as_ref(), order.as_ref(), table);
    let holds = holds.map(|holds| (holds.raw, holds.part));
    holds.into_iter().chain(order.map(|order| (order.raw, None))).chain(summed.map(|raw| (raw, None))).collect()
}

/// What this says of the state, put among the other findings.
pub(crate) fn estimate(geometry: &mut Geometry, device: Option<&DeviceFacts>, observations: &Observations) {
    geometry.life_used = life(device, observations);
    let Some(seen) = Seen::of(observations) else { return };
    let table = shipped();
    let (holds, order) = (holds::look(&seen), order::look(&seen));
    let raw = sum_up(&seen, holds.as_ref(), order.as_ref(), table);
    if let Some(holds) = &holds {
        let share = |answer: &str| match answer {
            holds::ALL => Some(DataShare { share: 1.0, low: holds.part.map_or(1.0, |part| part.low), high: 1.0 }),
            holds::NONE => Some(DataShare { share: 0.0, low: 0.0, high: holds.part.map_or(0.0, |part| part.high) }),
            holds::PART => holds.part,
            _ => None,
        };
        geometry.holds_data = answer(table, &holds.raw, &holds::ANSWERS, share, &holds.evidence);
    }
    if let Some(order) = &order {
        let named = DataOrder::from_word;
        geometry.data_order = answer(table, &order.raw, &order::ANSWERS, named, &order.evidence);
    }
    if let (Some(raw), Some(holds)) = (raw, holds) {
        let mut evidence = holds.evidence;
        if let Some(order) = order.filter(|_| raw.regime.contains(';')) {
            evidence = format!("{evidence}; {}", order.evidence);
        }
        if let Some(uneven) = uneven::share(&seen.writes) {
            evidence.push_str(&format!(
                "; {:.0} % of the writes took a third longer or shorter than those around",
                100.0 * uneven
            ));
        }
        geometry.state = answer(table, &raw, &STATES, DeviceState::from_word, &evidence);
    }
}

/// The states that can be told, and what is none of them.
const STATES: [&str; 5] = ["clean", "sequential", "full", "dirty", "other"];

/// The likeliest answer to how much holds data, and where that is all, what else is known: in which order it was written, and
/// where something was written, how that went (a dirty device collects). The score is that of what tells most.
fn sum_up(seen: &Seen, holds: Option<&holds::Holds>, order: Option<&order::SeenOrder>, table: &Table) -> Option<Raw> {
    let shares = |raw: &Raw, answers: &[&'static str]| table.shares(raw.question, &raw.regime, raw.score, answers);
    let in_words = |(answer, share): (&str, f64)| match share {
        share if share >= CLAIMED_FROM => answer.to_owned(),
        _ => format!("probably {answer}"),
    };
    let holds = shares(&holds?.raw, &holds::ANSWERS)?.first().copied()?;
    let raw = |regime: String, score: f64| Some(Raw { question: STATE, regime, score });
    if holds.0 != holds::ALL {
        return raw(in_words(holds), holds.1);
    }
    let order = order.and_then(|order| shares(&order.raw, &order::ANSWERS));
    let likeliest = order.as_ref().and_then(|shares| shares.first().copied()).unwrap_or(("in an unknown order", 1.0));
    let Some(uneven) = uneven::share(&seen.writes) else {
        return raw(format!("{}; {}", in_words(holds), in_words(likeliest)), likeliest.1);
    };
    let sequential = order.iter().flatten().find(|(answer, _)| *answer == order::SEQUENTIAL).map(|(_, share)| *share);
    match (uneven::word(uneven), sequential) {
        (word @ uneven::EVENLY, Some(share)) => {
            raw(format!("{}; {}; {word}", in_words(holds), in_words(likeliest)), share)
        }
        (word, Some(_)) => raw(format!("{}; {word}", in_words(holds)), uneven),
        (word, None) => raw(format!("{}; in an unknown order; {word}", in_words(holds)), uneven),
    }
}

/// An answer with its probability and the others beside it; "cannot tell" below [`CLAIMED_FROM`], and where nothing of the kind was seen.
fn answer<T>(
    table: &Table,
    raw: &Raw,
    answers: &[&str],
    figure: impl Fn(&str) -> Option<T>,
    evidence: &str,
) -> Estimate<T> {
    const METHOD: [ExperimentName; 2] = [ExperimentName::Survey, ExperimentName::Throughput];
    let Some(shares) = table.shares(raw.question, &raw.regime, raw.score, answers) else {
        return Estimate::unknown(Reason::NothingShows, evidence);
    };
    let mut named = shares.into_iter().filter_map(|(answer, share)| Some((figure(answer)?, share)));
    let Some((first, share)) = named.next() else { return Estimate::unknown(Reason::Ambiguous, evidence) };
    if share < CLAIMED_FROM {
        return Estimate::unknown(Reason::Ambiguous, evidence).leaning_to(first, share);
    }
    Estimate::known(first, share, evidence, &METHOD).with_alternatives(named.collect())
}

/// What the registers say, which nobody has held against what is so yet: no figure, but something to go by.
fn life(device: Option<&DeviceFacts>, observations: &Observations) -> Estimate<f64> {
    let asked = observations.runs.iter().any(|run| matches!(run.data, Data::Survey(_)));
    let Some(device) = device.filter(|_| asked) else { return Estimate::not_measured() };
    let Some(health) = device.claims.health else {
        return Estimate::unknown(Reason::NothingShows, "the device has no registers that tell of wear");
    };
    let tenths = |step: u8| match step {
        11.. => "all of the rated life is used".to_owned(),
        step => format!(
            "{} to {} % of the rated life are used",
            u32::from(step.saturating_sub(1)) * 10,
            u32::from(step) * 10
        ),
    };
    let parts = [("A", health.life_time_a), ("B", health.life_time_b)];
    let mut said: Vec<String> = parts
        .into_iter()
        .filter_map(|(part, step)| Some(format!("type {part}: {}", tenths(step?))))
        .chain(health.used_percent.map(|percent| format!("{percent} % of the rated life are used")))
        .collect();
    said.extend(health.written.map(|written| format!("{written} were written in all")));
    let said = if said.is_empty() { "nothing".to_owned() } else { said.join(", ") };
    Estimate::unknown(Reason::Ambiguous, format!("its registers say {said}; how true they are is not known"))
}
