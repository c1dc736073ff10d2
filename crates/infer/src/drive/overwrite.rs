//! Spare space and write amplification, from sequential and then random writes over the same part of a device.
//!
//! When all of a part was just written sequentially, all that is spare holds nothing that anybody needs. Random writes use
//! it up first, and cost no more than those in order; the first write behind it has to wait until valid data are copied.
//! So what is written randomly before the rate falls is the spare space that collection makes use of. How much slower
//! the writes are then is *not* the write amplification: with several chips copies keep fewer of them busy, and a
//! slow link hides a part. But the amplification follows from the spare space for every way of choosing what to collect:
//! that of the oldest first is the upper end, that of the emptiest first the lower.

use crate::numbers::{digits, median};
use crate::situation::Situation;
use crate::{Choice, open_units};
use flashscope_model::finding::MappingKind;
use flashscope_model::observation::OverwriteData;
use flashscope_model::plan::{Overwrite, Span};
use flashscope_model::{Data, DeviceFacts, Estimate, Experiment, ExperimentName, Observations, Order, Reason};
use flashscope_units::Bytes;

/// Windows that a span's worth of writes is cut into.
const WINDOWS: u64 = 256;

/// Size of a write in an adaptive run: whole rows of every chip, and small beside what is erased as one.
const BLOCK: Bytes = Bytes::kib(128);

/// Nobody is asked to wear a device like this, or to fill it, who did not allow this many times its capacity to be
/// written.
pub(super) const ASKED: u64 = 2;

/// Part of the device (an eighth) by which the random writes go on while they show no end of the spare space.
const PIECE_SHARE: u64 = 8;
/// Most pieces of that size.
const MOST_PIECES: u64 = 5;

/// Writes have become slower where they take longer by this factor …
const SLOWER: f64 = 1.5;

/// … in most of this many windows in a row, …
const OF: usize = 8;
/// Fewest slow windows among them.
const MOST_OF: usize = 6;

/// … behind this many that were as fast as those in order, since no drive has less than a hundredth to spare, …
const LEAST_BEFORE: usize = 2;

/// … and this many windows are behind that.
const LEAST_BEHIND: usize = 12;

/// A span written once in order, then `times` as much of it at random.
pub fn plan(block: Bytes, span: Span, times: u32) -> Overwrite {
    let blocks = if block > Bytes::ZERO { span.length / block } else { 0 };
    let window = u32::try_from((blocks / WINDOWS).max(1)).unwrap_or(u32::MAX);
    Overwrite { block, span, in_order: blocks, random: blocks * u64::from(times), window }
}

/// All writes over one span, one run behind the other.
struct Series {
    block: Bytes,
    span: Span,
    window: u32,
    in_order: Vec<f64>,
    random: Vec<f64>,
}

/// Where the spare space ended.
struct End {
    /// Windows before it.
    before: usize,
    /// Seconds of a window in order, and at random behind it.
    fresh: f64,
    behind: f64,
    /// Share of the windows before and behind that are on their side of the threshold.
    clean: f64,
}

/// All of the device sequentially and then randomly in pieces, where the write budget allows that.
pub(crate) fn choice(now: &Situation) -> Option<Choice> {
    let capacity = now.device.capacity;
    let block = now.block(BLOCK);
    if now.write_budget < capacity * ASKED || capacity < block * WINDOWS {
        return None;
    }
    // With units that are copied as wholes there is nothing to learn, and each write would take as long as a copy.
    let by_unit = |order| open_units::estimate(now.observations, order).value().is_some();
    if by_unit(Order::InOrder) || by_unit(Order::Random) {
        return None;
    }
    let span = Span { start: Bytes::ZERO, length: capacity.align_down(block) };
    let whole = plan(block, span, 1);
    let piece = whole.random / PIECE_SHARE;
    let (plan, why) = match series(now.observations) {
        None => {
            (Overwrite { random: piece, ..whole }, "all of it sequentially, then at random: how much space is spare?")
        }
        Some(series) if series.span != span => return None,
        Some(series) if end(&series).is_some() => return None,
        Some(series) if series.random.len() as u64 * u64::from(series.window) >= piece * MOST_PIECES => return None,
        Some(series) => {
            let plan = Overwrite { block: series.block, window: series.window, in_order: 0, random: piece, span };
            (plan, "random writes have not become slower yet: go on")
        }
    };
    Some(Choice { experiment: Experiment::Overwrite(plan), why: why.to_owned() })
}

/// What a run can write for this at the worst.
pub(crate) fn most_written(now: &Situation) -> Bytes {
    most_on(now.device)
}

/// The same before anything is known of the device.
fn most_on(device: &DeviceFacts) -> Bytes {
    device.capacity + device.capacity / PIECE_SHARE * MOST_PIECES
}

/// What it takes where the write budget is large enough for it.
pub(crate) fn most_within(device: &DeviceFacts, write: Bytes) -> Option<Bytes> {
    (write >= device.capacity * ASKED).then(|| most_on(device))
}

/// Write amplification of all of the device, and physical over user capacity.
pub(super) fn estimate(observations: &Observations, mapping: Option<MappingKind>) -> (Estimate<f64>, Estimate<f64>) {
    let Some(series) = series(observations) else {
        let how = match (mapping, observations.capacity) {
            (Some(MappingKind::Page), Some(capacity)) => format!(
                "it wears the device: `probe gc` measures it, or a full run that may write twice its size \
                 (--max-write {}M)",
                (capacity * ASKED).align_up(Bytes::mib(1)) / Bytes::mib(1)
            ),
            _ => String::new(),
        };
        return nothing(Reason::NotMeasured, how);
    };
    if matches!(mapping, Some(MappingKind::UnitLog | MappingKind::UnitInOrder)) {
        return nothing(Reason::Absent, "block-mapped: what a random write costs is a copy of its unit".into());
    }
    let written = series.block * (u64::from(series.window) * series.random.len() as u64);
    if series.in_order.len() < OF || series.random.len() < OF {
        return nothing(Reason::TooFew, format!("only {written} were written at random"));
    }
    let Some(end) = end(&series) else {
        return nothing(
            Reason::NothingShows,
            format!(
                "random writes are no slower than sequential ones after {written}: more space is spare, or the way to the \
             flash hides what collection costs"
            ),
        );
    };
    // Some space is always spare, and what is slow before it is used is so for another reason.
    if end.before < LEAST_BEFORE {
        return nothing(
            Reason::Ambiguous,
            format!(
                "random writes take {} times as long as sequential ones from the first on, and not for want of space",
                digits(end.behind / end.fresh)
            ),
        );
    }
    found(observations, &series, &end)
}

fn nothing(reason: Reason, seen: String) -> (Estimate<f64>, Estimate<f64>) {
    (Estimate::unknown(reason, seen.clone()), Estimate::unknown(reason, seen))
}

fn found(observations: &Observations, series: &Series, end: &End) -> (Estimate<f64>, Estimate<f64>) {
    let window = series.block * u64::from(series.window);
    let spare = window * end.before as u64;
    let whole = observations.capacity.is_some_and(|capacity| series.span.length + window >= capacity);
    let user = observations.capacity.unwrap_or(series.span.length).max(series.span.length).as_f64();
    let evidence = format!(
        "after {} sequential, {spare} random before a write takes {} times as long",
        series.span.length,
        digits(end.behind / end.fresh)
    );
    let ratio = |spare: f64| 1.0 + spare / user;
    let sure = SURE * end.clean;
    let high = ratio(spare.as_f64() * MOST + 2.0 * window.as_f64());
    let least = FEW_PIECES * emptiest_first(high);
    if !whole {
        let words = format!("{evidence}; what is spare elsewhere serves this part as well");
        let least = Estimate::at_least(least.max(1.0), sure, words.clone(), &[ExperimentName::Overwrite]);
        return (least, Estimate::at_most(high, sure, words, &[ExperimentName::Overwrite]));
    }
    let words = format!(
        "{evidence}: by the models {} (the emptiest collected first) to {} (the oldest first), less some that is always \
         free",
        digits(emptiest_first(ratio(spare.as_f64()))),
        digits(oldest_first(ratio(spare.as_f64())))
    );
    let most = oldest_first(ratio(spare.as_f64() * TURNED_OVER));
    let amplification = between(least.max(1.0), most, sure, words);
    (amplification, between(ratio(spare.as_f64() * LEAST), high, sure, evidence))
}

fn between(low: f64, high: f64, sure: f64, words: String) -> Estimate<f64> {
    Estimate::between(low, high, sure, words, &[ExperimentName::Overwrite])
}

/// Lower end of the bracket of the spare space, as a share of what was found: collection begins before the last of it
/// is used, and a rate falls a little late.
const LEAST: f64 = 0.8;
/// Upper end of the bracket, as a share of what was found.
const MOST: f64 = 1.1;

/// Not less than this share of it is turned over for good: some blocks always stay free, which nobody sees.
const TURNED_OVER: f64 = 0.6;

/// Where few writes fill what is erased as one, the emptiest is emptier than in the model of many pages, by this factor.
const FEW_PIECES: f64 = 0.8;

/// How often the bracket holds what is true, on drives drawn at random (`crates/proof/tests/collection.rs`).
const SURE: f64 = 0.95;

/// A = α / (α + W0(−α e^−α)): write amplification of uniform random writes where the oldest superblock is collected first, with
/// α physical over user capacity (Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012).
fn oldest_first(alpha: f64) -> f64 {
    // W0 by Newton's method, from the right of its only turning point.
    let target = -alpha * (-alpha).exp();
    let mut w = -0.5_f64;
    for _ in 0..60 {
        w -= (w * w.exp() - target) / (w.exp() * (w + 1.0));
    }
    (alpha / (alpha + w)).max(1.0)
}

/// A = α / (2 (α − 1)), where the one with the least valid data is collected first (Agarwal and Marrow, "A closed-form
/// expression for write amplification in NAND flash", GLOBECOM 2010).
fn emptiest_first(alpha: f64) -> f64 {
    (alpha / (2.0 * (alpha - 1.0))).max(1.0)
}

/// The runs over the last span that was written sequentially, in one piece.
fn series(observations: &Observations) -> Option<Series> {
    let mut series: Option<Series> = None;
    for run in &observations.runs {
        let Data::Overwrite(OverwriteData { block, span, window, in_order, random, .. }) = &run.data else { continue };
        // A fill for another question is no beginning of this one.
        if random.is_empty() {
            continue;
        }
        let seconds = |times: &[flashscope_units::Nanos]| times.iter().map(|time| time.as_secs_f64()).collect();
        match &mut series {
            Some(last) if in_order.is_empty() && (last.block, last.span, last.window) == (*block, *span, *window) => {
                let more: Vec<f64> = seconds(random);
                last.random.extend(more);
            }
            _ => {
                let (in_order, random) = (seconds(in_order), seconds(random));
                series = Some(Series { block: *block, span: *span, window: *window, in_order, random });
            }
        }
    }
    series
}

/// The first lasting loss of the rate at random.
fn end(series: &Series) -> Option<End> {
    // The first half may have gone to a cache of fast cells.
    let fresh = median(&series.in_order[series.in_order.len() / 2..])?;
    let slow = |time: &f64| *time > SLOWER * fresh;
    let before = series
        .random
        .windows(OF)
        .position(|few| slow(&few[0]) && few.iter().filter(|time| slow(time)).count() >= MOST_OF)?;
    let (fast, behind) = series.random.split_at(before);
    if behind.len() < LEAST_BEHIND {
        return None;
    }
    let wrong = fast.iter().filter(|time| slow(time)).count();
    let clean = 1.0 - wrong as f64 / series.random.len() as f64;
    Some(End { before, fresh, behind: median(behind)?, clean })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_models_give_the_published_figures() {
        for (alpha, oldest) in [(1.07, 7.82), (1.15, 4.02), (1.3, 2.36), (1.5, 1.72)] {
            assert!((oldest_first(alpha) / oldest - 1.0).abs() < 0.01, "{alpha}: {}", oldest_first(alpha));
            assert!(emptiest_first(alpha) < oldest_first(alpha), "{alpha}");
        }
    }
}
