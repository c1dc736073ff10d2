//! The envelope of every record: begun before the first request, sealed after the last one, and turned into an exit code.

use crate::args::TargetArgs;
use crate::error::{Failure, Outcome};
use crate::{making, smart};
use anyhow::anyhow;
use flashscope_device::Target;
use flashscope_host::{Surroundings, SysRoot, disk_under, wall_clock};
use flashscope_model::Health;
use flashscope_model::envelope::{ConditionList, Envelope, Kind, StopReason, Tool};
use flashscope_model::run::RunRecord;
use flashscope_session::SessionReport;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// This program.
pub(crate) fn tool() -> Tool {
    Tool {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("FLASHSCOPE_COMMIT").map(str::to_owned),
        target: Some(env!("FLASHSCOPE_TARGET").to_owned()),
    }
}

/// An envelope of something that touches no device of this machine; without a time, so that the same seed gives the same bytes.
pub(crate) fn bare(kind: Kind, command: impl Into<String>, target: impl Into<String>) -> Envelope {
    Envelope::new(kind, tool(), command, target)
}

/// The same on virtual time: one seed is one simulated device, and so one session with it.
pub(crate) fn simulated(kind: Kind, command: impl Into<String>, target: impl Into<String>, seed: u64) -> Envelope {
    Envelope { virtual_time: true, session: Some(format!("virtual-{seed}")), ..bare(kind, command, target) }
}

/// An envelope on this machine, as far as it is known before the first request.
pub(crate) fn begin(kind: Kind, command: impl Into<String>, target: &str, here: &Surroundings) -> Envelope {
    let mut envelope = bare(kind, command, target);
    envelope.started = Some(wall_clock());
    envelope.session = here.session();
    envelope.host = Some(here.host());
    envelope.conditions.before = conditions(target, here);
    // What an emulator counts is known at the end; before it only what it was told.
    envelope.conditions.before.retain(|(name, _)| !name.starts_with("emulation_") || name == "emulation_speed");
    envelope
}

/// Adds what is known only after the last request; nothing on virtual time.
pub(crate) fn seal(envelope: &mut Envelope, here: Option<&Surroundings>) {
    let Some(here) = here else { return };
    envelope.finished = Some(wall_clock());
    envelope.conditions.after = conditions(&envelope.target, here);
    // At the end, since how late an emulated device was is known then.
    let warning = flashscope_emulate::seen(Path::new(&envelope.target)).and_then(|seen| seen.warning);
    if let Some(path) = &mut envelope.path {
        path.fallbacks.extend(warning);
    }
}

fn conditions(target: &str, here: &Surroundings) -> ConditionList {
    let seen = flashscope_emulate::seen(Path::new(target));
    let wear = wear(Path::new(target))
        .iter()
        .flat_map(making::told)
        .map(|(name, value)| (format!("health_{name}"), value))
        .collect::<Vec<_>>();
    here.conditions().into_iter().chain(wear).chain(seen.into_iter().flat_map(|seen| seen.conditions)).collect()
}

/// What a block device says of its wear now; nothing of a file, which is not the disk that it lies on.
fn wear(path: &Path) -> Option<Health> {
    let is_device = std::fs::metadata(path).is_ok_and(|found| found.file_type().is_block_device());
    disk_under(&SysRoot::live(), path).filter(|_| is_device).and_then(|disk| smart::health(&disk))
}

/// The envelope of a session with this target, on this machine or, where there is nothing around it, on virtual time.
pub(crate) fn of<T: Target + ?Sized>(
    kind: Kind,
    command: impl Into<String>,
    asked: &TargetArgs,
    target: &T,
    here: Option<&Surroundings>,
) -> Envelope {
    let envelope = match here {
        Some(here) => begin(kind, command, &asked.target, here),
        None => simulated(kind, command, &asked.target, asked.seed),
    };
    let mut device = target.facts().clone();
    if here.is_some() {
        device.claims.health = device.claims.health.or_else(|| wear(Path::new(&asked.target)));
    }
    Envelope { device: Some(device), path: Some(target.path()), ..envelope }
}

/// Puts the record of a session together.
pub(crate) fn record(mut envelope: Envelope, here: Option<&Surroundings>, report: SessionReport) -> RunRecord {
    envelope.cost = Some(report.cost);
    envelope.stop = report.stop;
    seal(&mut envelope, here);
    RunRecord { envelope, plan: report.plan, observations: report.observations, findings: report.findings }
}

/// A run that was cut short has kept what it has; whether that is a failure depends on why.
pub(crate) fn exit(stop: &StopReason) -> Result<Outcome, Failure> {
    let kept = "the record holds what was measured until then and is marked truncated";
    match stop {
        StopReason::Complete | StopReason::BudgetSpent | StopReason::Stopped | StopReason::Failing => Ok(Outcome::Done),
        StopReason::Interrupted => Err(Failure::Cannot(anyhow!("interrupted; {kept}"))),
        StopReason::DeviceLost(why) => Err(Failure::Cannot(anyhow!("{why}\nhint: {kept}"))),
        StopReason::InternalError(what) => Err(Failure::Cannot(anyhow!(
            "a fault of flashscope itself: {what}\nhint: {kept}; please report it with the record"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_is_to_blame_for_is_no_failure() {
        let code = |stop: StopReason| exit(&stop).map(|_| 0).unwrap_or_else(|failure| failure.exit_code());
        assert_eq!((code(StopReason::Complete), code(StopReason::BudgetSpent)), (0, 0));
        assert_eq!((code(StopReason::Interrupted), code(StopReason::DeviceLost("gone".to_owned()))), (2, 2));
        let fault = StopReason::InternalError("no end after 400 experiments".to_owned());
        assert_eq!(code(fault.clone()), 2);
        let said = exit(&fault).expect_err("a failure").to_string();
        assert!(
            said.starts_with("a fault of flashscope itself: no end after 400") && said.contains("hint: "),
            "{said}"
        );
    }
}
