//! What is said of a run as a whole: the device, its claims, the state it was found in, what was spent, how it ended.

use super::percent;
use crate::time;
use flashscope_model::run::RunRecord;
use flashscope_model::{Data, DeviceKind, Run, StopReason};
use flashscope_units::Bytes;

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
