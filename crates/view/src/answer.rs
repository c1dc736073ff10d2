//! Findings in words: what stands in the columns of a report.

mod memory;

use crate::time;
use flashscope_model::discard::{DiscardFound, DiscardReads};
use flashscope_model::finding::{
    AreaKind, AreaPart, Bound, FastArea, MappingKind, Penalty, SlcCache, SlcKind, Unknown,
};
use flashscope_model::run::RunRecord;
use flashscope_model::{Data, DeviceKind, Estimate, ExperimentName, Finding, Geometry, Reason, Run, StopReason};
use flashscope_units::{Bytes, Nanos};

/// One finding, ready to be printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Which one.
    pub finding: Finding,
    /// Its name; indented where it belongs to the one above.
    pub name: &'static str,
    /// The figure or the bound; `None` where it is unknown.
    pub figure: Option<String>,
    /// What stands in place of a figure: `cannot tell`, `unknown`, `not measured`.
    pub without: &'static str,
    /// Where there is no figure, the likeliest and the next, with their probabilities: `leaning to 4 MiB, 41 %; else 8 MiB`.
    pub leaning: Option<String>,
    /// Probability that the figure or bound is right; `None` where none is given.
    pub confidence: Option<f64>,
    /// Other figures with their probabilities, where they are worth a line.
    pub alternatives: Vec<(String, f64)>,
    /// The evidence, or why it is unknown; empty where what stands in place of a figure says all.
    pub why: String,
    /// The experiments that it rests on.
    pub method: Vec<ExperimentName>,
}

impl Answer {
    /// The figure, or `cannot tell (leaning to 4 MiB, 41 %; else 8 MiB)`.
    pub fn verdict(&self) -> String {
        match (&self.figure, &self.leaning) {
            (Some(figure), _) => figure.clone(),
            (None, Some(leaning)) => format!("{} ({leaning})", self.without),
            (None, None) => self.without.to_owned(),
        }
    }

    /// Whether anything was measured that could answer it, or there is something to lean to.
    pub fn was_asked(&self) -> bool {
        self.figure.is_some() || self.leaning.is_some() || self.without == "cannot tell"
    }

    /// The first clause of the evidence: what shows the answer.
    pub fn clause(&self) -> &str {
        clause(&self.why)
    }

    /// Other figures in words: `or 8 MiB (9.0 %), 2 MiB (2.1 %)`; `None` where none is worth a word.
    pub fn others(&self) -> Option<String> {
        let each: Vec<String> =
            self.alternatives.iter().map(|(figure, share)| format!("{figure} ({})", percent(*share))).collect();
        (!each.is_empty()).then(|| format!("or {}", each.join(", ")))
    }
}

/// The first clause of a sentence of evidence; what stands in brackets is not cut.
pub fn clause(evidence: &str) -> &str {
    let mut depth = 0_u32;
    for (at, letter) in evidence.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ';' if depth == 0 => return &evidence[..at],
            _ => {}
        }
    }
    evidence
}

/// A figure that is less likely is not claimed: it is what an answer leans to.
pub const CLAIMED_FROM: f64 = 0.5;

/// The figure of an estimate, where it is more likely right than not.
pub(crate) fn claimed<T>(estimate: &Estimate<T>) -> Option<&T> {
    estimate.figure().filter(|_| estimate.is_sure(CLAIMED_FROM))
}

/// Alternatives below this are not worth a line.
const ALTERNATIVE_AT_LEAST: f64 = 0.02;

/// The findings that a report has a line for, in its order.
pub fn answers(geometry: &Geometry) -> Vec<Answer> {
    let mut said: Vec<String> = Vec::new();
    // Of the inside of the controller, a second line with the same reason says nothing new.
    let mut worth_a_line = |answer: &Answer| {
        let new = !said.contains(&answer.why);
        said.push(answer.why.clone());
        answer.figure.is_some() || new || answer.finding < Finding::Mapping
    };
    Finding::ALL
        .iter()
        .filter(|finding| has_a_line(**finding, geometry))
        .map(|finding| answer(*finding, geometry))
        .filter(|answer| worth_a_line(answer))
        .collect()
}

/// Whether a report has a line for a finding: what nobody asked for, what another line says already and what is so on
/// nearly every device has none.
fn has_a_line(finding: Finding, geometry: &Geometry) -> bool {
    use Finding as F;
    match finding {
        F::AllocationUnit
        | F::Page
        | F::OpenUnitsLinear
        | F::OpenUnitsRandom
        | F::RandomOrderPenalty
        | F::FastArea
        | F::SmallWritePath
        | F::WriteBuffer
        | F::ReadBuffer
        | F::ReadAhead => true,
        F::BoundaryOffset => claimed(&geometry.boundary_offset).is_some_and(|offset| *offset > Bytes::ZERO),
        F::PageInner => !geometry.page_inner.is_unknown(),
        F::FastAreaParts => claimed(&geometry.fast_area_parts).is_some(),
        F::WriteBufferVolatile | F::WriteBufferFlushedByRead | F::WriteBufferFlushWindow => {
            claimed(&geometry.write_buffer).is_some()
        }
        F::Collection => claimed(&geometry.collection).is_some(),
        F::Mapping => was_looked_for(&geometry.mapping),
        F::Stripe => was_looked_for(&geometry.stripe),
        F::ParallelUnits => was_looked_for(&geometry.parallel_units),
        F::Channels => was_looked_for(&geometry.channels),
        F::SlcCache => was_looked_for(&geometry.slc_cache),
        F::SlcCacheRecovery => !geometry.slc_cache_recovery.is_unknown(),
        F::MapReach => was_looked_for(&geometry.map_reach),
        F::BitsPerCell => was_looked_for(&geometry.bits_per_cell),
        F::WriteAmplification => was_looked_for(&geometry.write_amplification),
        F::PhysicalOverUser => was_looked_for(&geometry.physical_over_user),
        F::Discard => was_looked_for(&geometry.discard),
        F::NeverWritten => claimed(&geometry.never_written).is_some_and(|share| *share > 0.0),
    }
}

/// Not so where nobody asked, unless there is something to say of that.
fn was_looked_for<T>(estimate: &Estimate<T>) -> bool {
    let reason = estimate.reason();
    !matches!(reason, Some(Reason::NotMeasured | Reason::NotLookedFor)) || !estimate.evidence().is_empty()
}

/// One finding in words.
pub fn answer(finding: Finding, geometry: &Geometry) -> Answer {
    use Finding as F;
    let size = Bytes::to_string;
    let count = u32::to_string;
    let ratio = |ratio: &f64| format!("{ratio:.2}×");
    let unit = claimed(&geometry.allocation_unit).copied();
    match finding {
        F::AllocationUnit => of(finding, &geometry.allocation_unit, size),
        F::BoundaryOffset => of(finding, &geometry.boundary_offset, size),
        F::Page => of(finding, &geometry.page, size),
        F::PageInner => of(finding, &geometry.page_inner, size),
        F::OpenUnitsLinear => of(finding, &geometry.open_units_linear, count),
        F::OpenUnitsRandom => of(finding, &geometry.open_units_random, count),
        F::RandomOrderPenalty => of(finding, &geometry.random_order_penalty, penalty),
        F::FastArea => of(finding, &geometry.fast_area, |found| area(found, unit)),
        F::FastAreaParts => of(finding, &geometry.fast_area_parts, |parts| area_parts(parts)),
        F::SmallWritePath => of(finding, &geometry.small_write_path, |up_to| format!("≤ {}", up_to.size)),
        F::WriteBuffer => none_above(finding, &geometry.write_buffer, memory::write_buffer, |buffer| buffer.size),
        F::WriteBufferVolatile => of(finding, &geometry.write_buffer_volatile, memory::yes),
        F::WriteBufferFlushedByRead => of(finding, &geometry.write_buffer_flushed_by_read, memory::yes),
        F::WriteBufferFlushWindow => of(finding, &geometry.write_buffer_flush_window, Nanos::to_string),
        F::ReadBuffer => none_above(finding, &geometry.read_buffer, size, |size| *size),
        F::ReadAhead => of(finding, &geometry.read_ahead, memory::read_ahead),
        F::Collection => of(finding, &geometry.collection, memory::collection),
        F::Mapping => of(finding, &geometry.mapping, |kind| mapping_word(*kind).to_owned()),
        F::Stripe => of(finding, &geometry.stripe, size),
        F::ParallelUnits => of(finding, &geometry.parallel_units, count),
        F::Channels => of(finding, &geometry.channels, count),
        F::SlcCache => none_below(finding, &geometry.slc_cache),
        F::SlcCacheRecovery => of(finding, &geometry.slc_cache_recovery, Nanos::to_string),
        F::MapReach => of(finding, &geometry.map_reach, size),
        F::BitsPerCell => of(finding, &geometry.bits_per_cell, count),
        F::WriteAmplification => of(finding, &geometry.write_amplification, ratio),
        F::PhysicalOverUser => of(finding, &geometry.physical_over_user, ratio),
        F::Discard => of(finding, &geometry.discard, discard),
        F::NeverWritten => of(finding, &geometry.never_written, |share| percent(*share)),
    }
}

/// What stands in the line of a finding that belongs to the line above it.
fn name(finding: Finding) -> &'static str {
    match finding {
        Finding::BoundaryOffset => "  first one begins at",
        Finding::FastAreaParts => "  inside it",
        Finding::WriteBufferVolatile => "  volatile",
        Finding::WriteBufferFlushedByRead => "  flushed by a read",
        Finding::WriteBufferFlushWindow => "  flushed after",
        other => other.label(),
    }
}

fn of<T>(finding: Finding, estimate: &Estimate<T>, print: impl Fn(&T) -> String) -> Answer {
    with_bound(finding, estimate, &print, |bound| match bound {
        Bound::Between(low, high) => format!("{} … {}", print(low), print(high)),
        Bound::AtLeast(low) => format!("at least {}", print(low)),
        Bound::AtMost(high) => format!("at most {}", print(high)),
    })
}

/// The one place that decides what is claimed, and what only leaned to.
fn with_bound<T>(
    finding: Finding,
    estimate: &Estimate<T>,
    print: impl Fn(&T) -> String,
    bound: impl Fn(&Bound<T>) -> String,
) -> Answer {
    let figure = estimate.figure().map(&print).or_else(|| estimate.bound().map(bound));
    let alternatives = estimate.alternatives().iter().filter(|(_, confidence)| *confidence >= ALTERNATIVE_AT_LEAST);
    let alternatives: Vec<(String, f64)> = alternatives.map(|(figure, share)| (print(figure), *share)).collect();
    let answer = Answer {
        finding,
        name: name(finding),
        figure: None,
        without: "cannot tell",
        leaning: None,
        confidence: None,
        alternatives: Vec::new(),
        why: estimate.evidence().to_owned(),
        method: estimate.method().to_vec(),
    };
    match (estimate, figure, estimate.confidence()) {
        (Estimate::Unknown(unknown), ..) => {
            let (without, why) = why_unknown(unknown);
            let leaning = unknown.leaning.as_ref().map(|(figure, share)| leaning(&print(figure), *share, &[]));
            Answer { without, leaning, why, ..answer }
        }
        (_, Some(figure), Some(share)) if share < CLAIMED_FROM => {
            Answer { leaning: Some(leaning(&figure, share, &alternatives)), ..answer }
        }
        (_, figure, confidence) => Answer { figure, confidence, alternatives, ..answer },
    }
}

/// `leaning to 4 MiB, 41 %; else 8 MiB`. Whole percents, rounded down: what is below a half stays below it.
fn leaning(figure: &str, share: f64, others: &[(String, f64)]) -> String {
    let other = others.first().map_or(String::new(), |(other, _)| format!("; else {other}"));
    format!("leaning to {figure}, {:.0} %{other}", (share * 100.0).floor())
}

/// What stands in place of a figure, and what there is to say of it.
fn why_unknown<T>(unknown: &Unknown<T>) -> (&'static str, String) {
    let said = |otherwise: &str| match unknown.evidence.as_str() {
        "" => otherwise.to_owned(),
        evidence => evidence.to_owned(),
    };
    match unknown.reason {
        Reason::NotMeasured => ("not measured", said("")),
        Reason::NeedsWrites => ("unknown", said(reason(Reason::NeedsWrites))),
        other => ("cannot tell", said(reason(other))),
    }
}

/// A reason in a few words, where nothing else is known of it.
pub fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::NotMeasured => "not measured",
        Reason::NeedsWrites => "needs write tests",
        Reason::NeedsAnother => "another finding has to be known first",
        Reason::TooFew => "too few samples",
        Reason::TooNoisy => "requests scatter too much",
        Reason::NothingShows => "nothing stands out",
        Reason::Ambiguous => "more than one explanation fits",
        Reason::Contradicted => "other findings speak against it",
        Reason::Absent => "there is none",
        Reason::NotLookedFor => "the version that wrote this record did not look for it",
        Reason::InWords => "unknown",
    }
}

/// Where only an upper bound is known, there is none that is larger.
fn none_above<T>(
    finding: Finding,
    estimate: &Estimate<T>,
    print: impl Fn(&T) -> String,
    size: impl Fn(&T) -> Bytes,
) -> Answer {
    with_bound(finding, estimate, &print, |bound| match bound {
        Bound::AtMost(most) => format!("none ≥ {}", size(most)),
        Bound::AtLeast(least) => format!("at least {}", print(least)),
        Bound::Between(low, high) => format!("{} … {}", print(low), print(high)),
    })
}

/// Where the rate never fell, there may be no cache at all.
fn none_below(finding: Finding, estimate: &Estimate<SlcCache>) -> Answer {
    with_bound(finding, estimate, slc_cache, |bound| match bound {
        Bound::AtLeast(least) => format!("none seen in the first {} written", least.size),
        Bound::AtMost(most) => format!("at most {}", slc_cache(most)),
        Bound::Between(low, high) => format!("{} … {}", slc_cache(low), slc_cache(high)),
    })
}

/// `zeros from 64 KiB, 412 µs`.
fn discard(found: &DiscardFound) -> String {
    let from = found.granularity.map_or(String::new(), |size| format!(" from {size}"));
    let time = found.smallest.map_or(String::new(), |time| format!(", {time}"));
    match found.reads {
        DiscardReads::Absent => "none".to_owned(),
        DiscardReads::Kept => format!("changes nothing{time}"),
        DiscardReads::Other => format!("mixed{from}{time}"),
        reads => format!("{}{from}{time}", reads.word()),
    }
}

fn slc_cache(cache: &SlcCache) -> String {
    match cache.kind {
        SlcKind::Untested => cache.size.to_string(),
        SlcKind::Static => format!("{}, static", cache.size),
        SlcKind::Dynamic => format!("{}, dynamic", cache.size),
    }
}

/// A kind of mapping in a few words.
pub fn mapping_word(kind: MappingKind) -> &'static str {
    match kind {
        MappingKind::Page => "page-mapped",
        MappingKind::UnitLog => "block-mapped, log blocks",
        MappingKind::UnitInOrder => "block-mapped, sequential writes only",
        MappingKind::Other => "none known",
    }
}

/// A probability as printed: never rounded up to certainty, never down to impossibility.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 99.94 && share < 1.0 => "> 99.9 %".to_owned(),
        percent if percent < 0.05 && share > 0.0 => "< 0.1 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

/// What people call a class of device.
pub fn kind_word(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::SdCard => "SD card",
        DeviceKind::Emmc => "eMMC",
        DeviceKind::Ufs => "UFS",
        DeviceKind::Usb => "USB storage",
        DeviceKind::Nvme => "NVMe drive",
        DeviceKind::Scsi => "SATA/SAS drive",
        DeviceKind::Virtio => "virtual disk",
        DeviceKind::Loop => "loop device",
        DeviceKind::Emulated => "emulated device",
        DeviceKind::File => "file",
        DeviceKind::Other => "block device",
    }
}

/// The state in which a run found the device, by its survey before anything was written; `None` without one. What
/// our own writes left behind says nothing of it.
pub fn state_word(runs: &[Run]) -> Option<&'static str> {
    let before_writes = runs.iter().take_while(|run| run.spent.written == Bytes::ZERO);
    let survey = before_writes.filter_map(|run| match &run.data {
        Data::Survey(survey) => Some(survey),
        _ => None,
    });
    let places: Vec<bool> = survey
        .flat_map(|survey| &survey.places)
        .filter(|place| !place.times.is_empty())
        .map(|place| matches!(place.uniform, Some(0x00 | 0xff)))
        .collect();
    let blank = places.iter().filter(|blank| **blank).count();
    match (blank, places.len()) {
        (_, 0) => None,
        (0, _) => Some("holds data"),
        (blank, all) if blank == all => Some("blank (zeros or ones throughout)"),
        _ => Some("partly blank"),
    }
}

/// What a device claims of itself, each a short phrase.
pub fn claims(run: &RunRecord) -> Vec<String> {
    let Some(device) = &run.envelope.device else { return Vec::new() };
    let claims = &device.claims;
    let size = |name: &str, size: Option<Bytes>| size.map(|size| format!("{name} {size}"));
    let mut phrases: Vec<String> = claims.speed_class.iter().cloned().collect();
    phrases.extend(size("AU", claims.allocation_unit));
    phrases.extend(size("preferred erase", claims.preferred_erase));
    phrases.extend(size("erase", claims.erase));
    phrases.extend(claims.other.iter().cloned());
    phrases
}

/// What a run cost, in one line.
pub fn cost(run: &RunRecord) -> String {
    let Some(cost) = &run.envelope.cost else { return "not counted".to_owned() };
    if cost.time.get() == 0 && cost.read == Bytes::ZERO && cost.written == Bytes::ZERO {
        return "nothing: no device was touched".to_owned();
    }
    let capacity = run.observations.capacity.filter(|capacity| *capacity > Bytes::ZERO);
    let mut wear: Vec<String> = Vec::new();
    if let Some(capacity) = capacity.filter(|_| cost.written > Bytes::ZERO) {
        wear.push(format!("{} of capacity", percent(cost.written.as_f64() / capacity.as_f64())));
    }
    if let Some(erases) = &cost.erases {
        let about = if erases.counted { "" } else { "about " };
        let assuming =
            erases.assumption.as_ref().map_or(String::new(), |assumption| format!(", assuming {assumption}"));
        wear.push(format!("{about}{} unit erases{assuming}", erases.units));
    }
    let wear = if wear.is_empty() { String::new() } else { format!(" ({})", wear.join("; ")) };
    format!("{} written{wear}, {} read, {}", cost.written, cost.read, cost.time)
}

/// The time of a request that needs no flash, in one line; `None` where it was not measured.
pub fn floor(runs: &[Run]) -> Option<String> {
    let floor = runs.iter().find_map(|run| match &run.data {
        Data::Floor(floor) => Some(floor),
        _ => None,
    })?;
    let summary = time::summary(&floor.times)?;
    Some(format!("{} (median of {} reads of one block of {})", summary.median, summary.requests, floor.block))
}

/// Why a run ended before its end; `None` where it did not.
pub fn cut_short(stop: &StopReason) -> Option<String> {
    match stop {
        StopReason::Complete => None,
        StopReason::BudgetSpent => {
            Some("the run ended before every question was settled; what was left open stands in the notes".to_owned())
        }
        StopReason::Interrupted | StopReason::Stopped => {
            Some("the operator stopped the run; what was measured until then is kept".to_owned())
        }
        StopReason::Failing => Some("so many requests in a row failed that the run was given up".to_owned()),
        StopReason::InternalError(what) => Some(format!("a fault of flashscope itself: {what}")),
        StopReason::DeviceLost(why) => Some(format!("the device was lost: {why}")),
    }
}

/// How requests reached the device, in one line; `None` where a log does not tell.
pub fn path(run: &RunRecord) -> Option<String> {
    let path = run.envelope.path.as_ref()?;
    let mut parts = vec![path.engine.clone()];
    parts.extend((!path.flags.is_empty()).then(|| path.flags.join(" ")));
    parts.push(format!("queue depth {}", path.queue_depth));
    if let Some(host) = &run.envelope.host {
        parts.push(format!("kernel {} {}", host.kernel, host.architecture));
    }
    parts.extend(run.envelope.conditions.before.iter().map(|(name, value)| format!("{name} {value}")));
    Some(parts.join(", "))
}

/// What the findings do not say and a reader must know: ways not taken as asked, other users, failed requests.
pub fn warnings(run: &RunRecord) -> Vec<String> {
    let path = run.envelope.path.as_ref();
    let fallbacks =
        path.iter().flat_map(|path| &path.fallbacks).map(|fallback| format!("not as asked for: {fallback}"));
    let in_use = path.iter().flat_map(|path| &path.in_use).map(|user| format!("read while in use: {user}"));
    let failed: usize = run.observations.runs.iter().map(|run| run.failures.len()).sum();
    let first = run.observations.runs.iter().flat_map(|run| &run.failures).next();
    let failures =
        first.map(|failure| format!("{failed} requests failed, the first at {}: {}", failure.offset, failure.reason));
    let changed = run.envelope.conditions.changed();
    let changed =
        changed.iter().map(|(name, before, after)| format!("{name} changed meanwhile from {before} to {after}"));
    fallbacks.chain(in_use).chain(changed).chain(failures).collect()
}

fn penalty(penalty: &Penalty) -> String {
    if penalty.ratio < 9.95 { format!("{:.1}×", penalty.ratio) } else { format!("{:.0}×", penalty.ratio) }
}

fn area(area: &FastArea, unit: Option<Bytes>) -> String {
    if area.kind == AreaKind::None {
        return "none".to_owned();
    }
    let kind = match area.kind {
        AreaKind::Slower => ", slower",
        AreaKind::Mixed => ", mixed",
        AreaKind::Faster | AreaKind::None => "",
    };
    let units = unit.filter(|unit| unit.get() > 0 && area.end > area.first).map(|unit| {
        let (first, last) = (area.first / unit, (area.end - Bytes(1)) / unit);
        if first == last { format!(" (AU {first})") } else { format!(" (AU {first}–{last})") }
    });
    format!("{}{}{kind}", span(area.first, area.end), units.unwrap_or_default())
}

/// `4–8 MiB 1.9×; 8–12 MiB page-mapped`, or `1.9× throughout`. What is as elsewhere is left to the evidence.
fn area_parts(parts: &[AreaPart]) -> String {
    let differs = |ratio: &f64| ratio.ln().abs() > AS_ELSEWHERE.ln();
    let words = |part: &AreaPart| {
        let in_order = part.in_order.filter(differs).map(|ratio| format!("{ratio:.1}×"));
        let small = part.small.filter(differs).map(|ratio| format!("small writes {ratio:.1}×"));
        let by_page = part.by_page.filter(|by_page| *by_page).map(|_| "page-mapped".to_owned());
        let said: Vec<String> = [in_order, small, by_page].into_iter().flatten().collect();
        if said.is_empty() { "nearly as elsewhere".to_owned() } else { said.join(", ") }
    };
    match parts {
        [one] => format!("{} throughout", words(one)),
        _ => {
            let each = parts.iter().map(|part| format!("{} {}", span(part.first, part.end), words(part)));
            each.collect::<Vec<String>>().join("; ")
        }
    }
}

/// Rates within this factor of each other are the same in a few words.
const AS_ELSEWHERE: f64 = 1.12;

/// `4–8 MiB` where both ends have the same unit, else `512 KiB – 1 MiB`.
fn span(first: Bytes, end: Bytes) -> String {
    let (first, end) = (first.to_string(), end.to_string());
    match (first.split_once(' '), end.split_once(' ')) {
        (Some((low, unit)), Some((_, same))) if unit == same => format!("{low}–{end}"),
        (Some(("0", _)), _) => format!("0–{end}"),
        _ => format!("{first} – {end}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::finding::{BufferLimit, WriteBuffer};

    #[test]
    fn probabilities_never_round_to_certainty() {
        let check = |share: f64, expect: &str| assert_eq!(percent(share), expect);
        check(0.999, "99.9 %");
        check(0.9996, "> 99.9 %");
        check(1.0, "100.0 %");
        check(0.58, "58.0 %");
        check(0.0001, "< 0.1 %");
        check(0.0, "0.0 %");
    }

    #[test]
    fn answers_say_what_is_known() {
        let print = Bytes::to_string;
        let of = |estimate: &Estimate<Bytes>| of(Finding::AllocationUnit, estimate, print);
        let known = Estimate::known(Bytes::mib(4), 0.9, "e", &[ExperimentName::Align]);
        let known = known.with_alternatives(vec![(Bytes::mib(8), 0.09), (Bytes::mib(2), 0.01)]);
        let seen = of(&known);
        assert_eq!(seen.figure.as_deref(), Some("4 MiB"));
        assert_eq!(seen.alternatives, [("8 MiB".to_owned(), 0.09)]);

        let seen = of(&Estimate::at_least(Bytes::mib(4), 0.9, "e", &[]));
        assert_eq!(seen.figure.as_deref(), Some("at least 4 MiB"));

        let check = |estimate: Estimate<Bytes>, expect: &str| {
            let seen = of(&estimate);
            assert_eq!(seen.figure, None);
            assert_eq!(format!("{}: {}", seen.verdict(), seen.why), expect);
        };
        check(Estimate::unknown(Reason::TooNoisy, "reads scatter by 40 %"), "cannot tell: reads scatter by 40 %");
        check(Estimate::unknown(Reason::NeedsWrites, ""), "unknown: needs write tests");
        let leaning = Estimate::unknown(Reason::Ambiguous, "no size stands out").leaning_to(Bytes::mib(4), 0.41);
        check(leaning, "cannot tell (leaning to 4 MiB, 41 %): no size stands out");
        let unlikely = Estimate::known(Bytes::mib(4), 0.4999, "e", &[]).with_alternatives(vec![(Bytes::mib(8), 0.3)]);
        check(unlikely, "cannot tell (leaning to 4 MiB, 49 %; else 8 MiB): e");
        check(Estimate::at_least(Bytes::mib(4), 0.2, "e", &[]), "cannot tell (leaning to at least 4 MiB, 20 %): e");
    }

    #[test]
    fn a_clause_ends_outside_of_brackets() {
        assert_eq!(clause("one (a; b), two; three"), "one (a; b), two");
        assert_eq!(clause("one"), "one");
        assert_eq!(clause(""), "");
    }

    #[test]
    fn what_a_buffer_has_is_told_only_where_there_is_one() {
        let mut geometry = Geometry::unknown(Reason::NotMeasured);
        let named =
            |geometry: &Geometry, what: Finding| answers(geometry).into_iter().find(|answer| answer.finding == what);
        let buffer = WriteBuffer { size: Bytes::kib(64), limit: BufferLimit::Bytes, block: Bytes::kib(4), writes: 16 };
        geometry.write_buffer = Estimate::at_most(buffer, 0.98, "each write waits", &[ExperimentName::Buffer]);
        let seen = named(&geometry, Finding::WriteBuffer).unwrap();
        assert_eq!(seen.figure.as_deref(), Some("none ≥ 64 KiB"));
        geometry.write_buffer_volatile = Estimate::known(true, 0.98, "a flush waits", &[ExperimentName::Buffer]);
        assert_eq!(named(&geometry, Finding::WriteBufferVolatile), None);
        geometry.write_buffer = Estimate::known(buffer, 0.98, "the 17th write waits", &[ExperimentName::Buffer]);
        assert_eq!(named(&geometry, Finding::WriteBuffer).unwrap().figure.as_deref(), Some("64 KiB"));
        assert!(named(&geometry, Finding::WriteBufferVolatile).is_some());
    }

    #[test]
    fn every_finding_can_be_said() {
        let geometry = Geometry::unknown(Reason::TooFew);
        for finding in Finding::ALL {
            assert_eq!(answer(*finding, &geometry).why, "too few samples", "{finding:?}");
        }
    }

    #[test]
    fn parts_of_an_area_are_named_by_place_and_kind() {
        let part = |first, end, in_order, by_page| AreaPart {
            first: Bytes::mib(first),
            end: Bytes::mib(end),
            in_order: Some(in_order),
            small: Some(1.03),
            by_page: Some(by_page),
        };
        let (fast, paged) = (part(4, 8, 1.9, false), part(8, 12, 1.0, true));
        assert_eq!(area_parts(&[fast]), "1.9× throughout");
        assert_eq!(area_parts(&[fast, paged]), "4–8 MiB 1.9×; 8–12 MiB page-mapped");
        let plain = part(8, 12, 1.08, false);
        assert_eq!(area_parts(&[fast, plain]), "4–8 MiB 1.9×; 8–12 MiB nearly as elsewhere");
    }

    #[test]
    fn areas_are_named_by_place_and_unit() {
        let check = |first, end, kind, expect: &str| {
            let found = FastArea { first, end, kind, ratio: 1.9 };
            assert_eq!(area(&found, Some(Bytes::mib(4))), expect);
        };
        check(Bytes::mib(4), Bytes::mib(8), AreaKind::Faster, "4–8 MiB (AU 1)");
        check(Bytes::ZERO, Bytes::mib(8), AreaKind::Slower, "0–8 MiB (AU 0–1), slower");
        check(Bytes::ZERO, Bytes::ZERO, AreaKind::None, "none");
    }
}
