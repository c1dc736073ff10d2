//! The structs of the format, one module per part of a record, each with its way from and to the model.
//!
//! Field names read big-endian with the unit last (`_ns`, `_bytes`, `_bytes_per_s`, `_ratio`); a statistic
//! follows the unit (`service_time_ns_p99`). *Service time* is the time from issue to completion. What is
//! absent is `null`.

mod device;
mod drive;
mod estimate;
mod finding;
mod observation;
mod printed;
mod run;
mod words;

pub use device::{Claims, Device};
pub use drive::{Fan, Range, Stretch};
pub use estimate::Geometry;
pub use finding::{Advice, Note, PerformanceCell, TransferLine, TransferResidual};
pub use observation::{
    Ahead, AlignRow, BlockRun, Boundary, Burst, Candidate, Data, Failure, FatRow, IntervalRow, Observations,
    OpenUnitsRow, ProgramRow, Reread, Run, ScatterPlace, Source, Spent, SurveyPlace, UnitTimes,
};
pub use printed::{PrintedAlign, PrintedInterval, PrintedRate, PrintedTime, Rate};
pub use run::{Budget, Condition, Cost, Ended, Erases, Host, Path, Plan, Step, Tool};
pub use words::{AreaState, DeviceKind, Direction, EndedHow, NoteKind, Order, Purpose, Severity, Statistic, Then};

use crate::{RecordError, SCHEMA};
use flashscope_model as model;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One run of flashscope: who, what, how, what was concluded, what it cost, and every sample it rests on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "flashscope.record/1", extend("$id" = "urn:flashscope:record:1"))]
pub struct Record {
    /// Name and version of this format.
    #[schemars(extend("const" = "flashscope.record/1"))]
    pub schema: String,
    /// The program that wrote the record.
    pub tool: Tool,
    /// The command (`inspect`, `probe align`, `infer`).
    pub command: String,
    /// What was asked about, as typed.
    pub target: String,
    /// Where and when; null in a virtual run, so that the same seed gives the same bytes.
    pub host: Option<Host>,
    /// The device; null where a log does not tell.
    pub device: Option<Device>,
    /// How requests reached the device; null where a log does not tell.
    pub path: Option<Path>,
    /// What the run was allowed and set out to do.
    pub plan: Plan,
    /// How the device is built.
    pub geometry: Geometry,
    /// The straight line through read time against size; null where not measured.
    pub transfer: Option<TransferLine>,
    /// How fast it is: direct I/O.
    pub performance: Vec<PerformanceCell>,
    /// What to type.
    pub advice: Vec<Advice>,
    /// What else a reader must know.
    pub notes: Vec<Note>,
    /// What the run cost.
    pub cost: Cost,
    /// How the run ended.
    pub ended: Ended,
    /// What was seen, every sample included.
    pub observations: Observations,
}

impl Record {
    /// The record of a run.
    pub fn from_model(run: &model::RunRecord) -> Record {
        let findings = &run.findings;
        Record {
            schema: SCHEMA.to_owned(),
            tool: Tool { name: "flashscope".to_owned(), version: run.tool_version.clone() },
            command: run.command.clone(),
            target: run.target.clone(),
            host: run.host.as_ref().map(Host::from_model),
            device: run.device.as_ref().map(Device::from_model),
            path: run.path.as_ref().map(Path::from_model),
            plan: Plan::from_model(&run.plan),
            geometry: Geometry::from_model(&findings.geometry),
            transfer: findings.transfer.as_ref().map(TransferLine::from_model),
            performance: findings.performance.iter().map(PerformanceCell::from_model).collect(),
            advice: findings.advice.iter().map(Advice::from_model).collect(),
            notes: findings.notes.iter().map(Note::from_model).collect(),
            cost: Cost::from_model(&run.cost),
            ended: Ended::from_model(&run.ended),
            observations: Observations::from_model(&run.observations),
        }
    }

    /// The run of a record.
    ///
    /// # Errors
    /// [`RecordError::Contradiction`] where fields that exclude or need each other do not fit.
    pub fn into_model(self) -> Result<model::RunRecord, RecordError> {
        Ok(model::RunRecord {
            tool_version: self.tool.version,
            command: self.command,
            target: self.target,
            host: self.host.map(Host::into_model),
            device: self.device.map(Device::into_model),
            path: self.path.map(Path::into_model),
            plan: self.plan.into_model(),
            observations: self.observations.into_model()?,
            findings: model::Findings {
                geometry: self.geometry.into_model()?,
                transfer: self.transfer.map(TransferLine::into_model),
                performance: self.performance.into_iter().map(PerformanceCell::into_model).collect(),
                advice: self.advice.into_iter().map(Advice::into_model).collect(),
                notes: self.notes.into_iter().map(Note::into_model).collect(),
            },
            cost: self.cost.into_model(),
            ended: self.ended.into_model(),
        })
    }
}
