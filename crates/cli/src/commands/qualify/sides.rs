//! Parts as they are named, and whether they are still the same and comparable.

use crate::args::{QualifyCourse, TargetArgs};
use crate::error::Failure;
use crate::target::{self, Opened, Writes};
use anyhow::anyhow;
use flashscope_device::Target;
use flashscope_host::{Surroundings, SysRoot};
use flashscope_model::comparison::Difference;
use flashscope_model::qualification::{Access, Part, Role};
use flashscope_units::Bytes;
use std::path::Path;

/// The parts that were named, each looked at.
pub(super) fn parts(named: &[(Role, String)], args: &QualifyCourse) -> Result<Vec<Part>, Failure> {
    let mut parts: Vec<Part> = Vec::new();
    for (role, typed) in named {
        let several = named.iter().filter(|(other, _)| other == role).count() > 1;
        let number = parts.iter().filter(|part| part.role == *role).count() + 1;
        let label = if several { format!("{} {number}", role.word()) } else { role.word().to_owned() };
        let part = part(*role, label, typed, args)?;
        let is_same = |other: &&Part| {
            other.access != Access::Simulated && other.identity.is_some() && other.identity == part.identity
        };
        if let Some(other) = parts.iter().find(is_same) {
            return Err(Failure::Cannot(anyhow!(
                "{typed} and {} are one part ({})\nhint: name two different parts",
                other.target,
                part.identity.unwrap_or_default()
            )));
        }
        parts.push(part);
    }
    Ok(parts)
}

fn part(role: Role, label: String, typed: &str, args: &QualifyCourse) -> Result<Part, Failure> {
    let simulated = typed.starts_with("sim:");
    if simulated && typed.split(',').any(|word| word.trim().starts_with("state=") && word.contains(['/', '.'])) {
        return Err(Failure::Cannot(anyhow!(
            "{typed}: a saved state is one device's, and each run begins anew\nhint: leave state=FILE away; the plan says which state"
        )));
    }
    let path = Path::new(typed);
    if path.is_dir() {
        let here = Surroundings::of(&SysRoot::live(), path);
        let disk = flashscope_host::disk_under(&SysRoot::live(), path);
        return Ok(Part {
            role,
            label,
            target: typed.to_owned(),
            identity: disk.as_ref().map(|disk| disk.identity.0.clone()),
            device: disk.as_ref().map(|disk| disk.facts().name),
            capacity: disk.as_ref().map(|disk| disk.capacity),
            access: Access::Files,
            host: Some(here.host()),
            bus_capability: here.bus_capability(),
        });
    }
    let mut asked = TargetArgs {
        target: typed.to_owned(),
        seed: args.seed,
        consent: args.consent.clone(),
        allow_cached: args.allow_cached,
    };
    asked.consent.read_only = true;
    // Only looked at: whoever uses it is told of by the runs.
    asked.consent.read_in_use = true;
    let facts = match target::open(&asked, Writes::Adaptive(|_| Bytes::ZERO))? {
        Opened::Simulated { target, .. } => target.facts().clone(),
        Opened::Host { target, .. } => target.facts().clone(),
    };
    let here = (!simulated).then(|| Surroundings::of(&SysRoot::live(), path));
    Ok(Part {
        role,
        label,
        target: typed.to_owned(),
        identity: if simulated { Some(typed.to_owned()) } else { facts.identity.as_ref().map(|own| own.0.clone()) },
        device: Some(facts.name.clone()),
        capacity: Some(facts.capacity),
        access: if simulated { Access::Simulated } else { Access::Raw },
        bus_capability: here.as_ref().and_then(Surroundings::bus_capability),
        host: here.map(|here| here.host()),
    })
}

/// Whether the part is still the one that was looked at.
///
/// # Errors
/// It is another one, or is not there any more.
pub(super) fn still(part: &Part) -> Result<(), Failure> {
    let now = match part.access {
        Access::Simulated => return Ok(()),
        Access::Raw if !is_block_device(Path::new(&part.target)) => return Ok(()),
        Access::Raw | Access::Files => flashscope_host::disk_under(&SysRoot::live(), Path::new(&part.target)),
    };
    let now = now.map(|disk| disk.identity.0);
    match (&part.identity, now) {
        (None, _) => Ok(()),
        (Some(before), Some(now)) if *before == now => Ok(()),
        (Some(before), now) => Err(Failure::Cannot(anyhow!(
            "{} is not the part that was measured before: it was {before}, and is {}\nhint: what was measured is kept; put the \
             part back, and the same command goes on",
            part.target,
            now.unwrap_or_else(|| "not there".to_owned())
        ))),
    }
}

/// A partition has an identity of its own, which names it among those of its disk.
fn is_block_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(path).is_ok_and(|found| found.file_type().is_block_device())
        && flashscope_host::disk_under(&SysRoot::live(), path)
            .is_some_and(|disk| disk.path == path.canonicalize().unwrap_or_default())
}

/// Names the power-up and mount that is under way.
pub(super) fn session(part: &Part, seed: u64) -> String {
    match part.access {
        Access::Simulated => format!("virtual-{seed}"),
        Access::Raw | Access::Files => Surroundings::of(&SysRoot::live(), Path::new(&part.target))
            .session()
            .unwrap_or_else(|| "unknown".to_owned()),
    }
}

/// What is not the same on all parts that figures rest on. Another serial of one board model is to be expected, and so is a bus
/// mode that a part limits by itself.
pub(super) fn differences(parts: &[Part]) -> Vec<Difference> {
    let of = |what: &str, incomparable: bool, value: fn(&Part) -> Option<String>| {
        let mut values: Vec<(String, Vec<&str>)> = Vec::new();
        for part in parts {
            let value = value(part).unwrap_or_else(|| "unknown".to_owned());
            match values.iter_mut().find(|(other, _)| *other == value) {
                Some((_, labels)) => labels.push(&part.label),
                None => values.push((value, vec![&part.label])),
            }
        }
        let values: Vec<(String, String)> =
            values.into_iter().map(|(value, labels)| (value, labels.join(", "))).collect();
        (values.len() > 1).then(|| Difference { what: what.to_owned(), values, incomparable })
    };
    let time = |part: &Part| Some(if part.access == Access::Simulated { "simulated" } else { "real" }.to_owned());
    let access = |part: &Part| {
        let word = match part.access {
            Access::Simulated => return None,
            Access::Raw => "whole device",
            Access::Files => "files",
        };
        Some(word.to_owned())
    };
    let found = [
        of("time", true, time),
        of("access", true, access),
        of("board model", true, |part| part.host.as_ref().map(|host| host.board.clone().unwrap_or_default())),
        of("kernel", true, |part| part.host.as_ref().map(|host| host.kernel.clone())),
        of("bus of the host", true, |part| part.bus_capability.clone()),
        of("host", false, |part| part.host.as_ref().map(|host| host.name.clone())),
        of("bus mode", false, |part| part.host.as_ref().and_then(|host| host.bus_mode.clone())),
    ];
    found.into_iter().flatten().collect()
}

/// Refuses what is not comparable, unless the operator asked for it.
pub(super) fn allow(differences: &[Difference], anyway: bool) -> Result<(), Failure> {
    let grave: Vec<String> = differences
        .iter()
        .filter(|difference| difference.incomparable)
        .map(|difference| {
            let values = difference.values.iter().map(|(value, whose)| format!("{value} ({whose})"));
            format!("  - {}: {}", difference.what, values.collect::<Vec<_>>().join(", "))
        })
        .collect();
    if anyway || grave.is_empty() {
        return Ok(());
    }
    Err(Failure::Cannot(anyhow!(
        "the sides are not comparable: what differs beside the part would be taken for its doing\n{}\nhint: measure both on boards \
         of one model with one kernel, or add --anyway, which is then said with the verdict",
        grave.join("\n")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_model::envelope::HostFacts;

    fn on(board: &str, kernel: &str, bus: &str, mode: &str, name: &str) -> Part {
        Part {
            role: Role::Candidate,
            label: name.to_owned(),
            target: "/dev/mmcblk0".to_owned(),
            identity: Some(name.to_owned()),
            device: None,
            capacity: None,
            access: Access::Raw,
            host: Some(HostFacts {
                name: name.to_owned(),
                board: Some(board.to_owned()),
                kernel: kernel.to_owned(),
                architecture: "aarch64".to_owned(),
                bus_mode: Some(mode.to_owned()),
            }),
            bus_capability: Some(bus.to_owned()),
        }
    }

    #[test]
    fn what_the_part_decides_is_said_and_what_the_board_decides_is_refused() {
        let check = |other: Part, what: &[&str], refused: bool| {
            let differences = differences(&[on("board", "6.1", "caps", "HS400", "a"), other]);
            let names: Vec<&str> = differences.iter().map(|difference| difference.what.as_str()).collect();
            assert_eq!(names, what);
            assert_eq!(allow(&differences, false).is_err(), refused, "{what:?}");
            assert!(allow(&differences, true).is_ok());
        };
        check(on("board", "6.1", "caps", "HS400", "a"), &[], false);
        check(on("board", "6.1", "caps", "HS200", "b"), &["host", "bus mode"], false);
        check(on("other", "6.1", "caps", "HS400", "a"), &["board model"], true);
        check(on("board", "6.6", "caps", "HS400", "a"), &["kernel"], true);
        check(on("board", "6.1", "less", "HS200", "a"), &["bus of the host", "bus mode"], true);
    }
}
