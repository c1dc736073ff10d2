//! What every record says, whatever was run.

use super::{Cost, Device, Path};
use crate::mirror::{Mirror, mirror, mirror_tuple, words};
use crate::{RecordError, SCHEMA};
use flashscope_model::{certificate, envelope as model};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One record of flashscope: who ran what, where and when, on what, at what cost, and how it ended. `kind` says what stands
/// beside these fields.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Envelope {
    /// Name and version of this format.
    #[cfg_attr(test, schemars(extend("const" = "flashscope.record/2")))]
    pub schema: String,
    /// What the record holds beside its envelope.
    pub kind: Kind,
    /// The program that wrote it.
    pub tool: Tool,
    /// What was typed (`inspect`, `probe align`, `bench --preset dd`).
    pub command: String,
    /// What was asked about, as typed.
    pub target: String,
    /// Whether time was simulated; then `started`, `finished` and `host` are null, so that the same seed gives the same bytes.
    pub virtual_time: bool,
    /// Start in RFC 3339, UTC; null on virtual time and for logs.
    pub started: Option<String>,
    /// End in RFC 3339, UTC; null likewise.
    pub finished: Option<String>,
    /// Equal for runs between which the device stayed attached and powered; null where nobody can tell.
    pub session: Option<String>,
    /// The machine; null on virtual time and for logs.
    pub host: Option<Host>,
    /// The device; null where a log does not tell, or there are several.
    pub device: Option<Device>,
    /// How requests reached the device; null where a log does not tell, or jobs took ways of their own.
    pub path: Option<Path>,
    /// The state that the device had been brought into; null where that was not done.
    pub state: Option<State>,
    /// What about the surroundings changes results.
    pub conditions: Conditions,
    /// What the run cost; null where nobody counted.
    pub cost: Option<Cost>,
    /// How it ended.
    pub ended: Stop,
}

words! {
    /// What a record holds beside its envelope.
    Kind mirrors model::Kind {
        /// A whole characterisation: plan, geometry, performance, advice, observations.
        Inspect,
        /// One experiment, in the same fields.
        Probe,
        /// Conclusions from a log or an older record, in the same fields.
        Infer,
        /// Which state a device is in: the same parts.
        State,
        /// Whether a device is as large as it says: verdict, places, rounds.
        Capacity,
        /// What survives power cuts: the verdict, and every cut.
        Integrity,
        /// Applications played on files: their runs, and what these come to.
        App,
        /// A run of load: phases, their runs and jobs.
        Bench,
        /// iozone's tests: passes, and where memory ends.
        Iozone,
        /// Many simulated devices inspected and scored.
        Fleet,
        /// A model fitted to a measured device.
        Twin,
        /// Sides compared, figure by figure.
        Compare,
        /// Conditions compared, and what their knobs do.
        Sweep,
        /// A block trace: where it came from, what it shows, what came of replaying it.
        Trace,
        /// Why one device takes longer than another for a workload: the difference shared out.
        Explanation,
        /// What a machine's memory does: rates, latencies, and what follows for its caches.
        Memory,
    }
}

mirror! {
    /// The program that wrote a record.
    Version of model::Tool {
        /// Its version.
        version: String = version,
        /// The commit that it was built from; null where nobody knows.
        commit: Option<String> = commit,
        /// The machine that it was built for, as compilers name it; null where nobody knows.
        target: Option<String> = target,
    }

    /// The machine that a run took place on.
    Host of model::HostFacts {
        /// Host name.
        name: String = name,
        /// Model of the board or the product; null where the firmware does not tell.
        board: Option<String> = board,
        /// Kernel release.
        kernel: String = kernel,
        /// Machine architecture.
        architecture: String = architecture,
        /// How the device is attached; null where the bus does not tell.
        bus_mode: Option<String> = bus_mode,
    }

    /// Conditions around a run.
    Conditions of model::Conditions {
        /// Before the first request.
        before: Vec<Named> = before,
        /// After the last one.
        after: Vec<Named> = after,
    }

    /// A state that the device was brought into.
    State of model::State {
        /// Its name.
        name: String = name,
        /// The certificate in a sentence: how that was seen; null where nobody looked.
        certificate: Option<String> = certificate,
        /// The whole of it; null where flashscope did not make the state, and in records of before it could.
        made: Option<Certificate> = made,
    }

    /// How a device was brought into a state.
    Certificate of certificate::Certificate {
        /// Whether the state was reached.
        reached: bool = reached,
        /// By what that was seen, or why it was not reached.
        why: String = why,
        /// The step of the purge ladder that was reached; null where the state needs none, or none was to be had.
        purge: Option<String> = purge,
        /// The steps of the purge ladder from the strongest down to the one that was reached.
        ladder: Vec<Rung> = ladder,
        /// What was done, in order.
        steps: Vec<MadeStep> = steps,
        /// Seed of every random choice.
        seed: u64 = seed,
        /// How often it was begun, the first time included.
        sessions: u32 = sessions,
        /// Share of the rated life that was spent, 0…1; null where nobody told what is rated.
        life_share_ratio: Option<f64> = life_share,
        /// Who says what is rated.
        life_source: String = life_source,
        /// Registers and counters of the device before the first step.
        registers_before: Vec<Named> = registers_before,
        /// The same after the last one.
        registers_after: Vec<Named> = registers_after,
        /// What else was seen: a device that slowed, places that failed.
        notes: Vec<String> = notes,
    }

    /// One step of the purge ladder.
    Rung of certificate::Rung {
        /// Its name.
        step: String = step,
        /// Whether it was reached.
        reached: bool = reached,
        /// What came of it, and what shows that it did something, or nothing.
        outcome: String = outcome,
    }

    /// One thing that was done to bring a device into a state.
    MadeStep of certificate::MadeStep {
        /// What.
        what: String = what,
        /// Bytes written.
        written_bytes: u64 = written,
        /// Bytes read.
        read_bytes: u64 = read,
        /// Time that the device took.
        time_ns: u64 = time,
        /// Requests that failed.
        failed: u64 = failed,
        /// Requests that found other bytes than were written.
        mismatched: u64 = mismatched,
        /// How it ended.
        end: String = end,
        /// Bytes written per second, part by part of the step, or round by round.
        rates_bytes_per_s: Vec<f64> = rates,
    }
}

mirror_tuple! {
    /// A fact, a setting or a condition (`governor`, `scheduler`, `read_ahead_kb`).
    Named of (String, String) {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    }
}

/// The program that wrote a record.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its version and origin.
    #[serde(flatten)]
    pub version: Version,
}

/// How a run, or a job of one, ended.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Stop {
    /// In which way.
    pub how: StopReason,
    /// What happened to a device that was lost, or what is wrong with flashscope; null otherwise.
    pub reason: Option<String>,
}

/// In which way a run, or a job of one, ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It did all it set out to do.
    Complete,
    /// What it might write, or its time, was used up first.
    BudgetSpent,
    /// The operator stopped the run.
    Interrupted,
    /// A job was stopped with the others.
    Stopped,
    /// So many requests in a row failed that it gave up.
    Failing,
    /// The device went away or did not answer.
    DeviceLost,
    /// A fault of flashscope itself.
    InternalError,
}

impl Mirror<model::StopReason> for Stop {
    fn from_model(stop: &model::StopReason) -> Self {
        let (how, reason) = match stop {
            model::StopReason::Complete => (StopReason::Complete, None),
            model::StopReason::BudgetSpent => (StopReason::BudgetSpent, None),
            model::StopReason::Interrupted => (StopReason::Interrupted, None),
            model::StopReason::Stopped => (StopReason::Stopped, None),
            model::StopReason::Failing => (StopReason::Failing, None),
            model::StopReason::DeviceLost(why) => (StopReason::DeviceLost, Some(why.clone())),
            model::StopReason::InternalError(what) => (StopReason::InternalError, Some(what.clone())),
        };
        Stop { how, reason }
    }

    fn into_model(self) -> Result<model::StopReason, RecordError> {
        let reason = self.reason.unwrap_or_default();
        Ok(match self.how {
            StopReason::Complete => model::StopReason::Complete,
            StopReason::BudgetSpent => model::StopReason::BudgetSpent,
            StopReason::Interrupted => model::StopReason::Interrupted,
            StopReason::Stopped => model::StopReason::Stopped,
            StopReason::Failing => model::StopReason::Failing,
            StopReason::DeviceLost => model::StopReason::DeviceLost(reason),
            StopReason::InternalError => model::StopReason::InternalError(reason),
        })
    }
}

impl Mirror<model::Tool> for Tool {
    fn from_model(tool: &model::Tool) -> Self {
        Tool { name: "flashscope".to_owned(), version: Version::from_model(tool) }
    }

    fn into_model(self) -> Result<model::Tool, RecordError> {
        self.version.into_model()
    }
}

impl Mirror<model::Envelope> for Envelope {
    fn from_model(envelope: &model::Envelope) -> Self {
        Envelope {
            schema: SCHEMA.to_owned(),
            kind: envelope.kind.into(),
            tool: Mirror::from_model(&envelope.tool),
            command: envelope.command.clone(),
            target: envelope.target.clone(),
            virtual_time: envelope.virtual_time,
            started: envelope.started.clone(),
            finished: envelope.finished.clone(),
            session: envelope.session.clone(),
            host: Mirror::from_model(&envelope.host),
            device: Mirror::from_model(&envelope.device),
            path: Mirror::from_model(&envelope.path),
            state: Mirror::from_model(&envelope.state),
            conditions: Mirror::from_model(&envelope.conditions),
            cost: Mirror::from_model(&envelope.cost),
            ended: Mirror::from_model(&envelope.stop),
        }
    }

    fn into_model(self) -> Result<model::Envelope, RecordError> {
        Ok(model::Envelope {
            kind: self.kind.into(),
            tool: self.tool.into_model()?,
            command: self.command,
            target: self.target,
            virtual_time: self.virtual_time,
            started: self.started,
            finished: self.finished,
            session: self.session,
            host: self.host.into_model()?,
            device: self.device.into_model()?,
            path: self.path.into_model()?,
            state: self.state.into_model()?,
            conditions: self.conditions.into_model()?,
            cost: self.cost.into_model()?,
            stop: self.ended.into_model()?,
        })
    }
}
