//! Buffers and read-ahead against the truth. "None" is told as an upper bound, or as a window of nothing.

use super::{Judged, Parameter, Verdict, judged, of, plain, twice};
use flashscope_model::finding::{BufferLimit, Collection, ReadAhead, WriteBuffer};
use flashscope_model::{Estimate, Geometry, Reason};
use flashscope_sim::truth::{AheadTruth, BufferTruth, Fact, StallTruth};
use flashscope_units::Bytes;

/// Right within one write of the block that it was filled with, if it is counted in what it is limited by.
pub(super) fn write_buffer(parameter: Parameter, fact: &Fact<BufferTruth>, estimate: &Estimate<WriteBuffer>) -> Judged {
    let off = |truth: BufferTruth, found: WriteBuffer| match truth.entries {
        Some(entries) => u64::from(entries).abs_diff(u64::from(found.writes)),
        None => truth.bytes.get().abs_diff(found.size.get()).div_ceil(found.block.get()),
    };
    let counted = |truth: BufferTruth, found: WriteBuffer| {
        found.limit == if truth.entries.is_some() { BufferLimit::Entries } else { BufferLimit::Bytes }
    };
    let verdict = match (fact.value, estimate.value(), estimate.most()) {
        (Some(truth), Some(found), _) if counted(truth, found) && off(truth, found) <= 1 => Verdict::Exact,
        // How many of these writes fit is true, and too little: it does not say what limits them.
        (Some(truth), Some(found), _) if found.limit == BufferLimit::Unknown && off(truth, found) <= 1 => {
            Verdict::Silent
        }
        (Some(truth), Some(found), _) if off(truth, found) <= 2 => Verdict::OneStep,
        (None, None, Some(_)) => Verdict::Exact,
        (_, None, None) => Verdict::Silent,
        _ => Verdict::Wrong,
    };
    let said = match (estimate.value(), estimate.most()) {
        (Some(found), _) => format!("{} × {}, counted in {:?}", found.writes, found.block, found.limit),
        (None, Some(_)) => "none".to_owned(),
        (None, None) => "cannot tell".to_owned(),
    };
    let words = fact.value.map_or("none".to_owned(), |truth| truth.to_string());
    with_alarm(
        judged(parameter, verdict, estimate, verdict != Verdict::Wrong && verdict != Verdict::OneStep, said, words),
        fact,
        estimate,
    )
}

/// What is said of a write buffer, unless it is said that there is none: then the report has no line for it.
pub(super) fn of_write_buffer(
    parameter: Parameter,
    fact: &Fact<bool>,
    found: &Geometry,
    estimate: &Estimate<bool>,
) -> Judged {
    let none = Estimate::unknown(Reason::Absent, "there is no write buffer");
    let is_none = found.write_buffer.value().is_none() && !found.write_buffer.is_unknown();
    let estimate = if is_none { &none } else { estimate };
    of(fact, plain(parameter, fact, estimate, |_, _| false))
}

pub(super) fn read_buffer(parameter: Parameter, fact: &Fact<Bytes>, estimate: &Estimate<Bytes>) -> Judged {
    let judgement = match (fact.value, estimate.value(), estimate.least(), estimate.most()) {
        (None, None, None, Some(_)) => {
            judged(parameter, Verdict::Exact, estimate, true, "none".to_owned(), "none".to_owned())
        }
        (None, None, Some(_), _) => {
            judged(parameter, Verdict::Wrong, estimate, false, "some".to_owned(), "none".to_owned())
        }
        _ => plain(parameter, fact, estimate, twice),
    };
    with_alarm(judgement, fact, estimate)
}

pub(super) fn read_ahead(parameter: Parameter, fact: &Fact<AheadTruth>, estimate: &Estimate<ReadAhead>) -> Judged {
    let found = estimate.value().map(|found| Some(found).filter(|found| found.window > Bytes::ZERO));
    let near = |truth: AheadTruth, found: ReadAhead| truth.trigger.abs_diff(found.trigger) <= 1;
    let least = estimate.least().map(|least| fact.value.is_some_and(|truth| least.window <= truth.window));
    let verdict = match (fact.value, found) {
        (None, Some(None)) => Verdict::Exact,
        (Some(truth), Some(Some(found))) if truth.window == found.window && near(truth, found) => Verdict::Exact,
        (Some(truth), Some(Some(found))) if twice(truth.window, found.window) => Verdict::OneStep,
        (_, None) if least != Some(false) => Verdict::Silent,
        _ => Verdict::Wrong,
    };
    let holds = verdict == Verdict::Exact || (verdict == Verdict::Silent && least == Some(true));
    let words = |window: Bytes, trigger: u32| format!("{window} behind {trigger}");
    let said = match (found, estimate.least()) {
        (Some(None), _) => "none".to_owned(),
        (Some(Some(found)), _) => words(found.window, found.trigger),
        (None, Some(least)) => format!("at least {}", words(least.window, least.trigger)),
        (None, None) => "cannot tell".to_owned(),
    };
    let truth = fact.value.map_or("none".to_owned(), |truth| words(truth.window, truth.trigger));
    let mut judged = judged(parameter, verdict, estimate, holds, said, truth);
    judged.false_alarm = fact.value.is_none() && (matches!(found, Some(Some(_))) || estimate.least().is_some());
    judged
}

/// Stalls come at random: right is a spacing within a factor of two, and a middle one no shorter and no longer than they are.
pub(super) fn stalls(parameter: Parameter, fact: &Fact<StallTruth>, estimate: &Estimate<Collection>) -> Judged {
    let off = |truth: StallTruth, found: Collection| (found.spacing.as_f64() / truth.spacing.as_f64()).ln().abs();
    let lasts = |truth: StallTruth, found: Collection| {
        let (low, high) = (truth.shortest.as_f64() / ROOM, truth.longest.as_f64() * ROOM);
        (low..=high).contains(&found.stall.as_f64())
    };
    let verdict = match (fact.value, estimate.value()) {
        (_, None) => Verdict::Silent,
        (None, Some(_)) if !fact.can_be_told => Verdict::Unscored,
        (Some(truth), Some(found)) if lasts(truth, found) && off(truth, found) <= TWICE.ln() => Verdict::Exact,
        (Some(truth), Some(found)) if lasts(truth, found) && off(truth, found) <= 2.0 * TWICE.ln() => Verdict::OneStep,
        _ => Verdict::Wrong,
    };
    let words = |found: Collection| format!("{}, one in {}", found.stall, found.spacing);
    let said = estimate.value().map_or("cannot tell".to_owned(), words);
    let truth = fact.value.map_or("none".to_owned(), |truth| truth.to_string());
    judged(parameter, verdict, estimate, verdict == Verdict::Exact, said, truth)
}

/// What the device takes for the write itself, and noise, on top of a wait.
const ROOM: f64 = 1.1;

/// The spacing of a few stalls is no surer than that.
const TWICE: f64 = 2.0;

/// A value where there is nothing.
fn with_alarm<T, U: Copy>(judged: Judged, fact: &Fact<T>, estimate: &Estimate<U>) -> Judged {
    let claimed = estimate.value().is_some() || estimate.least().is_some();
    Judged { false_alarm: fact.value.is_none() && claimed, ..judged }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUFFER: Parameter = Parameter::Of(flashscope_model::Finding::WriteBuffer);

    #[test]
    fn a_write_buffer_is_right_within_one_write_and_by_what_it_counts() {
        let truth = |bytes, entries| Fact {
            value: Some(BufferTruth { bytes: Bytes::kib(bytes), entries }),
            aliases: Vec::new(),
            at_least: None,
            can_be_told: true,
            note: String::new(),
        };
        let check = |truth: &Fact<BufferTruth>, writes: u32, limit, expect: Verdict| {
            let block = Bytes::kib(4);
            let found = WriteBuffer { size: block * u64::from(writes), limit, block, writes };
            assert_eq!(write_buffer(BUFFER, truth, &Estimate::known(found, 0.9, "", &[])).verdict, expect, "{writes}");
        };
        check(&truth(64, None), 16, BufferLimit::Bytes, Verdict::Exact);
        check(&truth(64, None), 15, BufferLimit::Bytes, Verdict::Exact);
        check(&truth(64, None), 14, BufferLimit::Bytes, Verdict::OneStep);
        check(&truth(64, None), 16, BufferLimit::Entries, Verdict::OneStep);
        check(&truth(64, None), 16, BufferLimit::Unknown, Verdict::Silent);
        check(&truth(64, None), 12, BufferLimit::Bytes, Verdict::Wrong);
        check(&truth(4096, Some(9)), 9, BufferLimit::Entries, Verdict::Exact);
        check(&truth(4096, Some(9)), 9, BufferLimit::Bytes, Verdict::OneStep);
        let none = Fact { value: None, ..truth(0, None) };
        let found = WriteBuffer { size: Bytes::kib(4), limit: BufferLimit::Unknown, block: Bytes::kib(4), writes: 1 };
        assert_eq!(write_buffer(BUFFER, &none, &Estimate::at_most(found, 0.9, "", &[])).verdict, Verdict::Exact);
        assert!(write_buffer(BUFFER, &none, &Estimate::known(found, 0.9, "", &[])).false_alarm);
    }
}
