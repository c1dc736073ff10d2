//! The structs of the format, one module per part of a record, each with its way from and to the model.
//!
//! Field names read big-endian with the unit last (`_ns`, `_bytes`, `_bytes_per_s`, `_ratio`); a statistic
//! follows the unit (`service_time_ns_p99`). *Service time* is the time from issue to completion. What is
//! absent is `null`.

mod app;
mod bench;
mod capacity;
mod comparison;
mod device;
mod drive;
mod endurance;
mod envelope;
mod estimate;
mod explanation;
mod finding;
mod fleet;
mod integrity;
mod iozone;
mod lab;
mod memory;
mod observation;
mod preset;
mod printed;
mod qualification;
mod run;
mod stress;
mod sweep;
mod trace;
mod twin;
mod words;

pub use app::{
    ActFailure, AppFigures, AppPart, AppPlace, AppPlan, AppRun, AppStall, DeviceWork, OperationFigures, OperationRun,
    PlannedApp, Spread, TimeInterval, Underruns,
};
pub use bench::{
    BenchPart, Counter, Cpu, Evidence, Histogram, JobRun, Mismatch, Moved, OrderInterval, Phase, PhaseRun, ReadBack,
    RequestFailure, Series, Stall, Steady, Summary, Times, Verdict, Written,
};
pub use capacity::{
    Between, CapacityPart, CapacityVerdict, DamagedShare, FoundWord, Genuineness, HeldRun, Likely, Places, Quick, Round,
};
pub use comparison::{
    Better, CampaignEnd, Campaigned, Centre, Compared, Comparison, ComparisonPart, Control, Counts, Difference, Doubt,
    Ends, Family, Group, Judged, Level, Method, Metric, OrderEffect, Ratio, Reading, Readings, SideSource, SummaryRow,
    ValueOf, VerdictWord,
};
pub use device::{Claims, Device};
pub use drive::{Fan, Range, Stretch};
pub use envelope::{Conditions, Envelope, Host, Kind, Named, State, Stop, StopReason, Tool, Version};
pub use estimate::Geometry;
pub use explanation::{
    ExplainedBy, ExplainedShare, ExplainedSide, ExplainedTwin, ExplainedVerdict, ExplanationPart, GroupWithoutShare,
    ParameterChange, ParameterGroup, ReplayedWorkload, SharedTime,
};
pub use finding::{Advice, Note, PerformanceCell, TransferLine, TransferResidual};
pub use fleet::{
    Bin, Calibration, CostSummary, Coverage, DeviceCost, FleetCost, FleetDevice, FleetPart, FleetVerdict, Percentiles,
    Row, Scored, Scoring, Slow, WithoutResult, WorstCase,
};
pub use iozone::{
    Cliff, Fall, FileSize, IozonePart, Pass, PassFailure, Regions, SizeWhose, TableUnit, Throughput, Whose, Worker,
};
pub use lab::{LabDevice, LabNeighbour, LabPart, LabPhase, LabRun, LabRunState, LabSharedPart};
pub use memory::{
    ChaseRoute, LoadedLatency, MemoryAlternative, MemoryBandwidth, MemoryChase, MemoryFinding, MemoryKernel,
    MemoryPages, MemoryPart, MemoryQuantity, MemorySetup, MemoryStore, MemoryUnit, ToldCache,
};
pub use observation::{
    Ahead, AlignRow, BlockRun, Boundary, Burst, Candidate, Data, Failure, FatRow, IntervalRow, Observations,
    OpenUnitsRow, ProgramRow, Reread, Run, ScatterPlace, Source, Spent, SurveyPlace, UnitTimes,
};
pub use preset::{
    FigureStatistic, FigureUnit, LeftOut, Limit, LimitVerdict, Preset, PresetApps, PresetFigure, Rounds, Tracked,
};
pub use printed::{PrintedAlign, PrintedInterval, PrintedRate, PrintedTime, Rate};
pub use qualification::{
    KeptRecord, LackOf, LimitBound, LimitUnit, ParadoxCause, PartAccess, QualificationAnswer, QualificationOutcome,
    QualificationPart, QualificationPlan, QualificationRun, QualificationVerdict, QualifiedPart, QualifiedRole,
    Requirement, RequirementArea, RequirementLimit, RequirementResult, RequirementWeight, ResultJudged, RunAnswer,
    RunFigure, WorkloadCommand, WorkloadControl,
};
pub use run::{Budget, Cost, Erases, Path, Plan, Step};
pub use sweep::{Answer, Condition, Effect, Knob, KnobPlace, Layout, SweepPart, Term};
pub use trace::{
    ChunkClass, DepthShare, HeatCell, HeatMap, ReplayDepth, ReplayFailure, Replayed, ServiceTimes, SizeBin,
    TraceArrivals, TraceClass, TraceFigures, TraceKind, TraceOp, TracePart, TraceSource, TraceStreams, TraceSyncs,
    WorkingSet,
};
pub use twin::{
    Band, Cell, CellUnit, Errors, Goodness, HeldErrors, Origin, Parameter, Plateau, Pool, TwinFinding, TwinOutcome,
    TwinPart, Wrong,
};
pub use words::{AreaState, DeviceKind, Direction, NoteKind, Order, Purpose, Severity, Statistic, Then};

use crate::mirror::Mirror;
use crate::{RecordError, Recorded};
use flashscope_model as model;
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A characterisation, an experiment, or conclusions from either: what was concluded, and every sample it rests on.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct RunPart {
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
    /// What was seen, every sample included.
    pub observations: Observations,
}

impl Recorded for model::RunRecord {
    type Part = RunPart;

    const KINDS: &'static [model::Kind] =
        &[model::Kind::Inspect, model::Kind::Probe, model::Kind::Infer, model::Kind::State];

    fn envelope(&self) -> &model::Envelope {
        &self.envelope
    }

    fn part(&self) -> RunPart {
        let findings = &self.findings;
        RunPart {
            plan: Mirror::from_model(&self.plan),
            geometry: Geometry::from_model(&findings.geometry),
            transfer: findings.transfer.as_ref().map(TransferLine::from_model),
            performance: findings.performance.iter().map(PerformanceCell::from_model).collect(),
            advice: findings.advice.iter().map(Advice::from_model).collect(),
            notes: findings.notes.iter().map(Note::from_model).collect(),
            observations: Observations::from_model(&self.observations),
        }
    }

    fn of(envelope: model::Envelope, part: RunPart) -> Result<model::RunRecord, RecordError> {
        Ok(model::RunRecord {
            envelope,
            plan: part.plan.into_model()?,
            observations: part.observations.into_model()?,
            findings: model::Findings {
                geometry: part.geometry.into_model()?,
                transfer: part.transfer.map(TransferLine::into_model),
                performance: part.performance.into_iter().map(PerformanceCell::into_model).collect(),
                advice: part.advice.into_iter().map(Advice::into_model).collect(),
                notes: part.notes.into_iter().map(Note::into_model).collect(),
            },
        })
    }
}
