//! The part of a qualification: the plan, the parts, every run, a result per requirement, and the verdict.

use super::comparison::{Centre, Control, Difference, Level, Ratio};
use super::envelope::Host;
use crate::mirror::{Mirror, mirror, mirror_tuple, words};
use crate::{RecordError, Recorded};
use flashscope_model::comparison as compared;
use flashscope_model::qualification as model;
use flashscope_model::{Envelope, Kind};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether one part may replace another.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct QualificationPart {
    /// What was asked for.
    pub plan: QualificationPlan,
    /// The parts that were measured, those of the reference first.
    pub parts: Vec<QualifiedPart>,
    /// What the results come to; null in the record of one side.
    pub verdict: Option<QualificationVerdict>,
    /// One result per requirement; empty in the record of one side.
    pub results: Vec<RequirementResult>,
    /// Why a functional result and the disk's figures disagree.
    pub causes: Vec<ParadoxCause>,
    /// The reference against itself, per workload that measured both sides in turns.
    pub controls: Vec<WorkloadControl>,
    /// What else is not the same on both sides.
    pub differences: Vec<Difference>,
    /// Whether sides that are not comparable were judged all the same.
    pub anyway: bool,
    /// What else a reader must know.
    pub notes: Vec<String>,
    /// Every run, in the order in which they were done.
    pub runs: Vec<QualificationRun>,
    /// SHA-256 of the record in which this is null; null while it is being made.
    pub seal_sha256: Option<String>,
}

impl Recorded for model::QualificationRecord {
    type Part = QualificationPart;

    const KINDS: &'static [Kind] = &[Kind::Qualification];

    fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    fn part(&self) -> QualificationPart {
        QualificationPart {
            plan: Mirror::from_model(&self.plan),
            parts: Mirror::from_model(&self.parts),
            verdict: Mirror::from_model(&self.verdict),
            results: Mirror::from_model(&self.rows),
            causes: Mirror::from_model(&self.causes),
            controls: Mirror::from_model(&self.controls),
            differences: Mirror::from_model(&self.differences),
            anyway: self.anyway,
            notes: self.notes.clone(),
            runs: Mirror::from_model(&self.runs),
            seal_sha256: self.seal.clone(),
        }
    }

    fn of(envelope: Envelope, part: QualificationPart) -> Result<model::QualificationRecord, RecordError> {
        let record = model::QualificationRecord {
            envelope,
            plan: part.plan.into_model()?,
            parts: part.parts.into_model()?,
            runs: part.runs.into_model()?,
            rows: part.results.into_model()?,
            controls: part.controls.into_model()?,
            verdict: part.verdict.into_model()?,
            differences: part.differences.into_model()?,
            anyway: part.anyway,
            causes: part.causes.into_model()?,
            notes: part.notes,
            seal: part.seal_sha256,
        };
        check(&record)?;
        Ok(record)
    }
}

/// Whoever reads the record takes places in lists at their word.
fn check(record: &model::QualificationRecord) -> Result<(), RecordError> {
    let deciding = record.verdict.iter().flat_map(|verdict| &verdict.deciding).copied();
    let lists = [
        ("runs", record.runs.iter().map(|run| run.part).max(), record.parts.len()),
        ("results", record.rows.iter().map(|row| row.requirement).max(), record.plan.requirements.len()),
        ("verdict", deciding.max(), record.rows.len()),
        ("causes", record.causes.iter().map(|cause| cause.row).max(), record.rows.len()),
    ];
    match lists.into_iter().find_map(|(field, most, length)| Some((field, most.filter(|most| *most >= length)?))) {
        None => Ok(()),
        Some((field, place)) => Err(RecordError::Contradiction {
            field: field.to_owned(),
            what: format!("there is no place {place} in the list that it speaks of"),
        }),
    }
}

mirror! {
    /// A plan.
    QualificationPlan of model::PlanFacts {
        /// Its name.
        name: String = name,
        /// What it asks.
        title: String = title,
        /// Whose requirements these are.
        source: String = source,
        /// The file.
        text: String = text,
        /// Whether its short form was run.
        quick: bool = quick,
        /// What the short form cannot decide.
        cannot_decide: Vec<String> = cannot_decide,
        /// Blocks that a workload has at most.
        most_blocks: u32 = most_blocks,
        /// No block began after this time; null without such a limit.
        most_time_ns: Option<u64> = most_time,
        /// Seed of all orders and loads.
        seed: u64 = seed,
        /// What is required.
        requirements: Vec<Requirement> = requirements,
    }

    /// A requirement.
    Requirement of model::Requirement {
        /// Its name.
        name: String = name,
        /// What it asks.
        title: String = title,
        /// The workload whose runs it is judged by.
        workload: String = workload,
        /// The command that this workload runs.
        command: WorkloadCommand = work,
        /// The state that the part is brought into before; null: as it is found.
        state: Option<String> = state,
        /// The figure of a run, or what is asked of a record that says yes or no.
        figure: String = figure,
        /// What it must come to.
        limit: RequirementLimit = limit,
        /// How sure a result must be.
        confidence: f64 = confidence,
        /// Whether the verdict depends on it.
        weight: RequirementWeight = weight,
        /// What kind of requirement it is.
        area: RequirementArea = area,
    }

    /// A part, with the machine that it was measured on.
    QualifiedPart of model::Part {
        /// Which of the two it is one of.
        role: QualifiedRole = role,
        /// What it is called here.
        label: String = label,
        /// As typed.
        target: String = target,
        /// What tells it from others of its model; null where it does not say.
        identity: Option<String> = identity,
        /// What the device calls itself.
        device: Option<String> = device,
        /// Size that it claims.
        capacity_bytes: Option<u64> = capacity,
        /// How it was reached.
        access: PartAccess = access,
        /// The machine; null on virtual time.
        host: Option<Host> = host,
        /// What the host's bus can do, in the kernel's words; null where it does not tell.
        bus_capability: Option<String> = bus_capability,
    }

    /// A run.
    QualificationRun of model::RunDone {
        /// Its place in `parts`, from 0.
        part: u64 = part,
        /// The workload.
        workload: String = workload,
        /// The power-up and mount that it belongs to.
        session: String = session,
        /// The block of the design; null where no turns were taken.
        block: Option<u32> = block,
        /// Its place in the block, or its number, from 0.
        place: u32 = place,
        /// What came of it.
        outcome: QualificationOutcome = outcome,
        /// Whether a trace was replayed in virtual time in place of the application.
        replayed: bool = replayed,
        /// The record behind it; null where it made none.
        record: Option<KeptRecord> = record,
        /// How long it took on the clock of the machine.
        took_ns: u64 = took,
        /// What it wrote.
        written_bytes: u64 = written,
    }

    /// A figure of a run.
    RunFigure of model::FigureValue {
        /// Its name.
        name: String = name,
        /// Its unit: `B/s`, `IOPS`, `TPS`, `ns`, `B` or `count`.
        unit: String = unit,
        /// Its value.
        value: f64 = value,
    }

    /// The file of a record, and what tells that it is still the same.
    KeptRecord of model::KeptRecord {
        /// The file's name within the directory of the runs.
        file: String = file,
        /// SHA-256 of its bytes, in hexadecimal digits.
        sha256: String = sha256,
    }

    /// The result of a requirement.
    RequirementResult of model::Row {
        /// Its place in `requirements`, from 0.
        requirement: u64 = requirement,
        /// What it comes to.
        result: ResultJudged = result,
        /// Why.
        reason: String = reason,
        /// Where the reference lies; null where it has no such figure.
        reference: Option<Centre> = reference,
        /// Where the candidate lies.
        candidate: Option<Centre> = candidate,
        /// Unit of both.
        unit: String = unit,
        /// Candidate over reference, or over the limit where that stands by itself.
        ratio: Option<Ratio> = ratio,
        /// What was repeated; null without an interval.
        level: Option<Level> = level,
        /// p value of "the limit is not met".
        p_pass: Option<f64> = p_pass,
        /// p value of "the limit is met", adjusted by Holm's method over the requirements of its weight.
        p_fail: Option<f64> = p_fail,
        /// Whether any of its runs was a trace replayed in place of the application.
        replayed: bool = replayed,
    }

    /// The reference against itself within the blocks of one workload.
    WorkloadControl of model::WorkloadControl {
        /// The workload.
        workload: String = workload,
        /// What came of it.
        control: Control = control,
    }

    /// What all results come to.
    QualificationVerdict of model::Verdict {
        /// The answer.
        answer: QualificationAnswer = answer,
        /// The results that decide it: their places in `results`, from 0.
        deciding: Vec<u64> = deciding,
        /// Why, a sentence each.
        reasons: Vec<String> = reasons,
        /// For which parts it holds.
        scope: String = scope,
    }

    /// Why a functional result and the disk's figures disagree.
    ParadoxCause of model::Cause {
        /// The functional result: its place in `results`, from 0.
        result: u64 = row,
        /// What disagrees.
        paradox: String = paradox,
        /// The cause; null where it was not found.
        because: Option<String> = because,
        /// Why it was not found; null where it was.
        unknown: Option<String> = unknown,
    }
}

mirror_tuple! {
    /// A question that a record answers.
    RunAnswer of (String, Option<bool>) {
        /// What is asked.
        question: String,
        /// The answer; null: it cannot tell.
        holds: Option<bool>,
    }
}

words! {
    /// The command that a workload runs.
    WorkloadCommand mirrors model::Work {
        /// Load on the device or on files.
        Bench,
        /// An application on a file system.
        App,
        /// A block trace replayed.
        Replay,
        /// The host's memory.
        Memory,
        /// Whether the part is as large as it says.
        Capacity,
        /// Whether it keeps what it acknowledged when the power is cut.
        Integrity,
        /// Whether it does what its registers say.
        Registers,
        /// How it is built.
        Inspect,
        /// A command of the product, or figures that somebody filled in.
        External,
    }
}

words! {
    /// Whether the verdict depends on a requirement.
    RequirementWeight mirrors model::Weight {
        /// It does.
        Must,
        /// It is told beside the verdict.
        Should,
    }
}

words! {
    /// What kind of requirement it is.
    RequirementArea mirrors model::Area {
        /// What the product does with the part.
        Functional,
        /// How fast the part is by itself.
        Disk,
        /// The memory beside it.
        Memory,
        /// What survives.
        Integrity,
        /// What the part says of itself.
        Registers,
    }
}

words! {
    /// Which of the two.
    QualifiedRole mirrors model::Role {
        /// The part that is in use.
        Reference,
        /// The part that may replace it.
        Candidate,
    }
}

words! {
    /// How a part was reached.
    PartAccess mirrors model::Access {
        /// Simulated, on virtual time.
        Simulated,
        /// As a block device or a plain file.
        Raw,
        /// Through files of a mounted file system.
        Files,
    }
}

words! {
    /// Whose lack it is.
    LackOf mirrors model::Lacking {
        /// The host's.
        Host,
        /// The part's.
        Part,
    }
}

words! {
    /// Whether one part may replace the other.
    QualificationAnswer mirrors model::Answer {
        /// Every requirement that must be met is met.
        MayReplace,
        /// One that must be met is not.
        MayNot,
        /// Neither is shown.
        NotShown,
    }
}

words! {
    /// Which side of a limit is good.
    LimitBound mirrors model::Bound {
        /// The limit or more.
        AtLeast,
        /// The limit or less.
        AtMost,
    }
}

words! {
    /// The unit of a limit.
    LimitUnit mirrors model::FigureUnit {
        /// Bytes per second.
        BytesPerSecond,
        /// Requests per second.
        RequestsPerSecond,
        /// Transactions per second.
        TransactionsPerSecond,
        /// Nanoseconds.
        Nanoseconds,
        /// Bytes.
        Bytes,
        /// A bare number of something.
        Count,
    }
}

/// What a figure must come to.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(tag = "form", rename_all = "snake_case", deny_unknown_fields)]
pub enum RequirementLimit {
    /// So much.
    Value {
        /// Which side is good.
        bound: LimitBound,
        /// How much, in `unit`.
        value: f64,
        /// The unit.
        unit: LimitUnit,
    },
    /// So many times the reference.
    Reference {
        /// Which side is good.
        bound: LimitBound,
        /// Candidate over reference.
        ratio: f64,
    },
    /// The record says yes.
    Holds {},
}

impl Mirror<model::Limit> for RequirementLimit {
    fn from_model(limit: &model::Limit) -> RequirementLimit {
        match *limit {
            model::Limit::Value { bound, value, unit } => {
                RequirementLimit::Value { bound: bound.into(), value, unit: unit.into() }
            }
            model::Limit::Reference { bound, ratio } => RequirementLimit::Reference { bound: bound.into(), ratio },
            model::Limit::Holds => RequirementLimit::Holds {},
        }
    }

    fn into_model(self) -> Result<model::Limit, RecordError> {
        Ok(match self {
            RequirementLimit::Value { bound, value, unit } => {
                model::Limit::Value { bound: bound.into(), value, unit: unit.into() }
            }
            RequirementLimit::Reference { bound, ratio } => model::Limit::Reference { bound: bound.into(), ratio },
            RequirementLimit::Holds {} => model::Limit::Holds,
        })
    }
}

/// What came of a run.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(tag = "word", rename_all = "snake_case", deny_unknown_fields)]
pub enum QualificationOutcome {
    /// Figures and answers.
    Done {
        /// Each figure by its name.
        figures: Vec<RunFigure>,
        /// Each question that the record answers.
        answers: Vec<RunAnswer>,
    },
    /// It cannot be done here.
    Unsupported {
        /// Whose lack it is.
        by: LackOf,
        /// Why.
        why: String,
    },
    /// It gave nothing that counts.
    Failed {
        /// Why.
        why: String,
    },
}

impl Mirror<model::RunOutcome> for QualificationOutcome {
    fn from_model(outcome: &model::RunOutcome) -> QualificationOutcome {
        match outcome {
            model::RunOutcome::Done { figures, answers } => QualificationOutcome::Done {
                figures: Mirror::from_model(figures),
                answers: Mirror::from_model(answers),
            },
            model::RunOutcome::Unsupported { by, why } => {
                QualificationOutcome::Unsupported { by: (*by).into(), why: why.clone() }
            }
            model::RunOutcome::Failed { why } => QualificationOutcome::Failed { why: why.clone() },
        }
    }

    fn into_model(self) -> Result<model::RunOutcome, RecordError> {
        Ok(match self {
            QualificationOutcome::Done { figures, answers } => {
                model::RunOutcome::Done { figures: figures.into_model()?, answers: answers.into_model()? }
            }
            QualificationOutcome::Unsupported { by, why } => model::RunOutcome::Unsupported { by: by.into(), why },
            QualificationOutcome::Failed { why } => model::RunOutcome::Failed { why },
        })
    }
}

/// What a requirement comes to.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(tag = "word", rename_all = "snake_case", deny_unknown_fields)]
pub enum ResultJudged {
    /// The candidate meets it.
    Pass {},
    /// It does not.
    Fail {},
    /// It cannot be tried.
    Unsupported {
        /// Whose lack it is.
        by: LackOf,
    },
    /// Neither is shown.
    Undecided {
        /// Why.
        doubt: super::Doubt,
        /// How many more repetitions would probably do; null where nobody knows.
        more: Option<u32>,
    },
}

impl Mirror<model::RowResult> for ResultJudged {
    fn from_model(result: &model::RowResult) -> ResultJudged {
        match result {
            model::RowResult::Pass => ResultJudged::Pass {},
            model::RowResult::Fail => ResultJudged::Fail {},
            model::RowResult::Unsupported(by) => ResultJudged::Unsupported { by: (*by).into() },
            model::RowResult::Undecided(doubt) => {
                let more = match doubt {
                    compared::Doubt::Open { more } => *more,
                    _ => None,
                };
                ResultJudged::Undecided { doubt: (*doubt).into(), more }
            }
        }
    }

    fn into_model(self) -> Result<model::RowResult, RecordError> {
        Ok(match self {
            ResultJudged::Pass {} => model::RowResult::Pass,
            ResultJudged::Fail {} => model::RowResult::Fail,
            ResultJudged::Unsupported { by } => model::RowResult::Unsupported(by.into()),
            ResultJudged::Undecided { doubt, more } => model::RowResult::Undecided(doubt.with(more)),
        })
    }
}
