//! From a session's report to a record, and from a record's end to an exit code.

use crate::error::{Failure, Outcome};
use anyhow::anyhow;
use flashscope_device::Target;
use flashscope_model::run::{Ended, HostFacts, PathTaken};
use flashscope_model::{DeviceFacts, RunRecord};
use flashscope_session::SessionReport;
use std::path::Path;

/// What is measured, and where.
#[derive(Clone)]
pub(crate) struct Measured {
    command: String,
    asked_for: String,
    facts: DeviceFacts,
    path: PathTaken,
    host: Option<HostFacts>,
}

impl Measured {
    /// `host` is absent in a virtual run, so that the same seed gives the same bytes.
    pub(crate) fn of<T: Target>(command: String, asked_for: &str, target: &T, host: Option<HostFacts>) -> Measured {
        let (facts, path) = (target.facts().clone(), target.path());
        Measured { command, asked_for: asked_for.to_owned(), facts, path, host }
    }
}

/// Puts a record together.
pub(crate) fn record(measured: Measured, report: SessionReport) -> RunRecord {
    let Measured { command, asked_for, facts, mut path, host } = measured;
    let host = host.map(|mut host| {
        // At the end, since how late an emulated device was is known then.
        if let Some(seen) = flashscope_emulate::seen(Path::new(&asked_for)) {
            host.conditions.extend(seen.conditions);
            path.fallbacks.extend(seen.warning);
        }
        host
    });
    RunRecord {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command,
        target: asked_for,
        host,
        device: Some(facts),
        path: Some(path),
        plan: report.plan,
        observations: report.observations,
        findings: report.findings,
        cost: report.cost,
        ended: report.ended,
    }
}

/// A run that was cut short has kept what it has; whether that is a failure depends on why.
pub(crate) fn exit(ended: &Ended) -> Result<Outcome, Failure> {
    match ended {
        Ended::Complete | Ended::BudgetSpent => Ok(Outcome::Done),
        Ended::Interrupted => {
            Err(Failure::Cannot(anyhow!("interrupted; the record holds what was measured and is marked truncated")))
        }
        Ended::DeviceLost(why) => Err(Failure::Cannot(anyhow!(
            "{why}\nhint: the record holds what was measured until then and is marked truncated"
        ))),
    }
}
