//! Findings in words: what stands in the columns of a report.

mod memory;

use crate::time;
use flashscope_model::StopReason;
use flashscope_model::drive::{MappingKind, SlcCache, SlcKind};
use flashscope_model::finding::{AreaKind, AreaPart, FastArea, Penalty};
use flashscope_model::run::RunRecord;
use flashscope_model::{Data, DeviceKind, DriveFindings, Estimate, Geometry, Run};
use flashscope_units::Bytes;

/// One finding, ready to be printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What was asked.
    pub name: &'static str,
    /// The figure or the bound; `None` where it is unknown.
    pub figure: Option<String>,
    /// Probability that it is right.
    pub confidence: Option<f64>,
    /// Other figures with their probabilities, where they are worth a line.
    pub alternatives: Vec<(String, f64)>,
    /// The evidence, or the reason why it is unknown.
    pub why: String,
    /// The experiments that it rests on.
    pub method: Vec<&'static str>,
}

/// Alternatives below this are not worth a line.
const ALTERNATIVE_AT_LEAST: f64 = 0.02;

/// All findings on how a device is built, in the order of a report. An inner page is only mentioned where there
/// is one, and never-written areas only where some were found.
pub fn answers(geometry: &Geometry) -> Vec<Answer> {
    let size = |size: &Bytes| size.to_string();
    let count = |count: &u32| count.to_string();
    let unit = geometry.allocation_unit.value;
    let mut answers = vec![
        answer("allocation unit", &geometry.allocation_unit, size),
        answer("page (effective)", &geometry.page, size),
    ];
    // On nearly every device units begin at 0, and the line of the unit says so.
    if geometry.boundary_offset.value.is_some_and(|offset| offset > Bytes::ZERO) {
        answers.insert(1, answer("  first one begins at", &geometry.boundary_offset, size));
    }
    if !geometry.page_inner.is_unknown() {
        answers.push(answer("page inside it", &geometry.page_inner, size));
    }
    answers.extend([
        answer("open units, in order", &geometry.open_units_linear, count),
        answer("open units, random", &geometry.open_units_random, count),
        answer("random-order penalty", &geometry.random_order_penalty, penalty),
        answer("fast area", &geometry.fast_area, |found| area(found, unit)),
    ]);
    // Where there is no area, or nothing is known of one, the line above says it.
    if geometry.fast_area_parts.value.is_some() {
        answers.push(answer("  inside it", &geometry.fast_area_parts, |parts| area_parts(parts)));
    }
    answers.push(answer("small-write path", &geometry.small_write_path, |size| format!("≤ {size}")));
    answers.extend(memory::answers(&geometry.memory));
    answers.extend(drive(&geometry.drive));
    if geometry.never_written.value.is_some_and(|share| share > 0.0) {
        answers.push(answer("never written", &geometry.never_written, |share| percent(*share)));
    }
    answers
}

/// What was found or asked of the inside of the controller.
fn drive(drive: &DriveFindings) -> Vec<Answer> {
    let size = |size: &Bytes| size.to_string();
    let ratio = |ratio: &f64| format!("{ratio:.2}×");
    let mut answers = vec![
        answer("mapping", &drive.mapping, |kind| mapping_word(*kind).to_owned()),
        answer("stripe", &drive.stripe, size),
        answer("parallel units", &drive.parallel_units, |count| count.to_string()),
        answer("channels", &drive.channels, |count| count.to_string()),
        answer("SLC cache", &drive.slc_cache, slc_cache),
        answer("SLC cache, rest", &drive.slc_cache_recovery, |time| time.to_string()),
        answer("map in memory", &drive.map_reach, size),
        answer("bits per cell", &drive.bits_per_cell, |count| count.to_string()),
        answer("write amplification", &drive.write_amplification, ratio),
        answer("physical over user", &drive.physical_over_user, ratio),
    ];
    // No fall, and no step, may mean that there is none at all.
    for (name, words) in
        [("SLC cache", drive.slc_cache.at_least.map(|bound| bound.size)), ("map in memory", drive.map_reach.at_least)]
    {
        let Some(bound) = words else { continue };
        for answer in answers.iter_mut().filter(|answer| answer.name == name) {
            let reached = if name == "SLC cache" { "none up to" } else { "at least" };
            answer.figure = Some(format!("{reached} {bound}"));
        }
    }
    // What nobody asked needs no line, nor does a second one that has the same reason.
    let mut reasons: Vec<String> = Vec::new();
    answers.retain(|answer| {
        if answer.figure.is_some() {
            return true;
        }
        let new = !SAID_BY_SILENCE.contains(&answer.why.as_str()) && !reasons.contains(&answer.why);
        reasons.push(answer.why.clone());
        new
    });
    answers
}

fn slc_cache(cache: &SlcCache) -> String {
    match cache.kind {
        SlcKind::Untested => cache.size.to_string(),
        SlcKind::Static => format!("{}, static", cache.size),
        SlcKind::Dynamic => format!("{}, dynamic", cache.size),
    }
}

/// Reasons that are not worth a line: the experiment was not done, or another line says it.
const SAID_BY_SILENCE: [&str; 4] = ["not measured", "nobody asked", "the rate never fell", "only one burst saw a fall"];

/// A kind of mapping in a few words.
pub fn mapping_word(kind: MappingKind) -> &'static str {
    match kind {
        MappingKind::Page => "by page",
        MappingKind::UnitLog => "unit logs",
        MappingKind::UnitInOrder => "units in order",
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

fn answer<T>(name: &'static str, estimate: &Estimate<T>, print: impl Fn(&T) -> String) -> Answer {
    let bound = match (&estimate.at_least, &estimate.at_most) {
        (Some(low), Some(high)) => Some(format!("{} … {}", print(low), print(high))),
        (Some(low), None) => Some(format!("at least {}", print(low))),
        (None, Some(high)) => Some(format!("at most {}", print(high))),
        (None, None) => None,
    };
    let alternatives = estimate.alternatives.iter().filter(|(_, confidence)| *confidence >= ALTERNATIVE_AT_LEAST);
    Answer {
        name,
        figure: estimate.value.as_ref().map(&print).or(bound),
        confidence: estimate.confidence,
        alternatives: alternatives.map(|(figure, confidence)| (print(figure), *confidence)).collect(),
        why: estimate.reason_unknown.clone().unwrap_or_else(|| estimate.evidence.clone()),
        method: estimate.method.clone(),
    }
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

/// `4–8 MiB 1.9×; 8–12 MiB by page`, or `1.9× throughout`. What is as elsewhere is left to the evidence.
fn area_parts(parts: &[AreaPart]) -> String {
    let differs = |ratio: &f64| ratio.ln().abs() > AS_ELSEWHERE.ln();
    let words = |part: &AreaPart| {
        let in_order = part.in_order.filter(differs).map(|ratio| format!("{ratio:.1}×"));
        let small = part.small.filter(differs).map(|ratio| format!("small writes {ratio:.1}×"));
        let by_page = part.by_page.filter(|by_page| *by_page).map(|_| "by page".to_owned());
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
        let print = |size: &Bytes| size.to_string();
        let known = Estimate::known(Bytes::mib(4), 0.9, "e", &["align"]);
        let known = known.with_alternatives(vec![(Bytes::mib(8), 0.09), (Bytes::mib(2), 0.01)]);
        let seen = answer("unit", &known, print);
        assert_eq!(seen.figure.as_deref(), Some("4 MiB"));
        assert_eq!(seen.alternatives, [("8 MiB".to_owned(), 0.09)]);

        let seen = answer("unit", &Estimate::at_least(Bytes::mib(4), 0.9, "e", &[]), print);
        assert_eq!(seen.figure.as_deref(), Some("at least 4 MiB"));

        let seen = answer("unit", &Estimate::<Bytes>::unknown("too noisy"), print);
        assert_eq!((seen.figure, seen.why.as_str()), (None, "too noisy"));
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
        assert_eq!(area_parts(&[fast, paged]), "4–8 MiB 1.9×; 8–12 MiB by page");
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
