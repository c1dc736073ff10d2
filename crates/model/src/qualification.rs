//! Whether one part may replace another: the requirements of a plan, the runs that were done for them, a result for each, and
//! the verdict.

use crate::comparison::{Centre, Control, Difference, Doubt, Level, Ratio};
use crate::envelope::{Envelope, HostFacts};
use flashscope_units::{Bytes, Nanos};

/// Everything about one qualification, or about one side of it.
#[derive(Clone, Debug, PartialEq)]
pub struct QualificationRecord {
    /// Who, when, on what, and how it ended.
    pub envelope: Envelope,
    /// What was asked for.
    pub plan: PlanFacts,
    /// The parts that were measured, those of the reference first.
    pub parts: Vec<Part>,
    /// Every run, in the order in which they were done.
    pub runs: Vec<RunDone>,
    /// One result per requirement, in the order of the plan; empty in the record of one side.
    pub rows: Vec<Row>,
    /// The reference against itself, for each workload that measured both sides in turns.
    pub controls: Vec<WorkloadControl>,
    /// What the results come to; `None` in the record of one side, which is judged with the other's.
    pub verdict: Option<Verdict>,
    /// What else is not the same on both sides.
    pub differences: Vec<Difference>,
    /// Whether sides that are not comparable were judged all the same, because the operator asked for it.
    pub anyway: bool,
    /// Why a functional result and the disk's figures disagree, where they do.
    pub causes: Vec<Cause>,
    /// What else a reader must know, a sentence each.
    pub notes: Vec<String>,
    /// SHA-256 of the record without this field, in hexadecimal digits: shows whether somebody changed it afterwards. `None`
    /// while it is being made.
    pub seal: Option<String>,
}

impl QualificationRecord {
    /// Parts of one role.
    pub fn parts_of(&self, role: Role) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(move |part| part.role == role)
    }

    /// A requirement with its result; in the record of one side there is none.
    pub fn results(&self) -> impl Iterator<Item = (&Requirement, &Row)> {
        self.rows.iter().filter_map(|row| Some((self.plan.requirements.get(row.requirement)?, row)))
    }
}

/// The plan, as far as a reader needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanFacts {
    /// Its name.
    pub name: String,
    /// What it asks, in a sentence.
    pub title: String,
    /// Whose requirements these are.
    pub source: String,
    /// The file, so that the same can be asked again.
    pub text: String,
    /// Whether its short form was run.
    pub quick: bool,
    /// What the short form cannot decide, a sentence each; empty in the full form.
    pub cannot_decide: Vec<String>,
    /// Blocks (of the reference and the candidate twice each) that a workload has at most.
    pub most_blocks: u32,
    /// No block began after this time.
    pub most_time: Option<Nanos>,
    /// Seed of all orders and loads.
    pub seed: u64,
    /// What is required.
    pub requirements: Vec<Requirement>,
}

/// One requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// Its name, unique within the plan.
    pub name: String,
    /// What it asks, for people.
    pub title: String,
    /// The workload whose runs it is judged by.
    pub workload: String,
    /// What this workload does: the command that it runs.
    pub work: Work,
    /// The state that the part is brought into before; `None`: as it is found.
    pub state: Option<String>,
    /// The figure of a run, by the name that `compare` uses, or what is asked of a record that says yes or no.
    pub figure: String,
    /// What it must come to.
    pub limit: Limit,
    /// How sure a result must be, 0 to 1.
    pub confidence: f64,
    /// Whether the verdict depends on it.
    pub weight: Weight,
    /// What kind of requirement it is.
    pub area: Area,
}

/// The command that a workload runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
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

impl Work {
    /// Its word in plans and records.
    pub const fn word(self) -> &'static str {
        match self {
            Work::Bench => "bench",
            Work::App => "app",
            Work::Replay => "replay",
            Work::Memory => "mem",
            Work::Capacity => "capacity",
            Work::Integrity => "integrity",
            Work::Registers => "registers",
            Work::Inspect => "inspect",
            Work::External => "external",
        }
    }
}

/// What a figure must come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// At least, or at most, so much, in the unit of the figure.
    Value {
        /// Which of the two.
        bound: Bound,
        /// How much, in `unit`.
        value: f64,
        /// The unit of the figure.
        unit: FigureUnit,
    },
    /// At least, or at most, so many times the reference.
    Reference {
        /// Which of the two.
        bound: Bound,
        /// Candidate over reference.
        ratio: f64,
    },
    /// What is asked must be so: a record that says yes.
    Holds,
}

/// Which side of a limit is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The limit or more.
    AtLeast,
    /// The limit or less.
    AtMost,
}

/// The unit of a figure, as records have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureUnit {
    /// Bytes per second.
    BytesPerSecond,
    /// Requests per second.
    RequestsPerSecond,
    /// Transactions per second.
    TransactionsPerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes: a size, which is a fact and no measurement.
    Bytes,
    /// A bare number of something.
    Count,
}

impl FigureUnit {
    /// As records have it.
    pub const fn word(self) -> &'static str {
        match self {
            FigureUnit::BytesPerSecond => "B/s",
            FigureUnit::RequestsPerSecond => "IOPS",
            FigureUnit::TransactionsPerSecond => "TPS",
            FigureUnit::Nanoseconds => "ns",
            FigureUnit::Bytes => "B",
            FigureUnit::Count => "count",
        }
    }
}

/// Whether the verdict depends on a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// It does.
    Must,
    /// It is told beside the verdict.
    Should,
}

/// What kind of requirement it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Area {
    /// What the product does: OTA, flashing, factory reset, first boot, applications.
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

impl Area {
    /// Its word in plans and records.
    pub const fn word(self) -> &'static str {
        match self {
            Area::Functional => "functional",
            Area::Disk => "disk",
            Area::Memory => "memory",
            Area::Integrity => "integrity",
            Area::Registers => "registers",
        }
    }
}

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The part that is in use.
    Reference,
    /// The part that may replace it.
    Candidate,
}

impl Role {
    /// For people.
    pub const fn word(self) -> &'static str {
        match self {
            Role::Reference => "reference",
            Role::Candidate => "candidate",
        }
    }
}

/// One physical part, or a simulated one, with the board it was measured on.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Which of the two it is one of.
    pub role: Role,
    /// What it is called in this record; unique.
    pub label: String,
    /// As typed.
    pub target: String,
    /// What tells it from others of its model; `None` of a directory whose device does not say.
    pub identity: Option<String>,
    /// What the device calls itself.
    pub device: Option<String>,
    /// Size that it claims.
    pub capacity: Option<Bytes>,
    /// How it was reached.
    pub access: Access,
    /// The machine it was measured on; `None` on virtual time.
    pub host: Option<HostFacts>,
    /// What the host's bus can do, in the kernel's words, whatever the part makes of it; `None` where the kernel does not tell.
    pub bus_capability: Option<String>,
}

/// How a part was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Simulated, on virtual time.
    Simulated,
    /// As a block device or a plain file.
    Raw,
    /// Through files of a mounted file system; nothing was written past it.
    Files,
}

/// One run of one workload on one part.
#[derive(Clone, Debug, PartialEq)]
pub struct RunDone {
    /// An index into [`QualificationRecord::parts`].
    pub part: usize,
    /// The workload, by its name.
    pub workload: String,
    /// The power-up and mount that it belongs to.
    pub session: String,
    /// The block of the design, where both sides took turns.
    pub block: Option<u32>,
    /// Its place in the block, or its number on a part that took no turns, from 0.
    pub place: u32,
    /// What came of it.
    pub outcome: RunOutcome,
    /// Whether a trace was replayed in virtual time in place of the application.
    pub replayed: bool,
    /// The record behind it; `None` where the run made none.
    pub record: Option<KeptRecord>,
    /// How long it took on the clock of this machine.
    pub took: Nanos,
    /// What it wrote.
    pub written: Bytes,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunOutcome {
    /// Its figures, and what it answered.
    Done {
        /// Each figure by its name.
        figures: Vec<FigureValue>,
        /// Each question that the record answers with yes or no; `None`: it cannot tell.
        answers: Vec<(String, Option<bool>)>,
    },
    /// It cannot be done here.
    Unsupported {
        /// Whose fault that is.
        by: Lacking,
        /// Why, in words.
        why: String,
    },
    /// It was begun and gave nothing that counts.
    Failed {
        /// Why, in words.
        why: String,
    },
}

/// A figure of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureValue {
    /// Its name.
    pub name: String,
    /// Its unit: `B/s`, `IOPS`, `TPS`, `ns`, `B` or `count`.
    pub unit: String,
    /// Its value, in this unit.
    pub value: f64,
}

/// Who cannot do what a requirement needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// The host: a privilege, a program, a kernel, or the way the part was reached.
    Host,
    /// The part.
    Part,
}

impl Lacking {
    /// For people.
    pub const fn word(self) -> &'static str {
        match self {
            Lacking::Host => "host",
            Lacking::Part => "part",
        }
    }
}

/// The file of a record, and what tells that it is still the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRecord {
    /// The file's name within the directory of the runs.
    pub file: String,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
}

/// The result of one requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// An index into [`PlanFacts::requirements`].
    pub requirement: usize,
    /// What it comes to.
    pub result: RowResult,
    /// Why, in a clause.
    pub reason: String,
    /// Where the reference lies; `None` where it has no such figure.
    pub reference: Option<Centre>,
    /// Where the candidate lies.
    pub candidate: Option<Centre>,
    /// Unit of both centres (`B/s`, `IOPS`, `TPS`, `ns`, `B`, `count`); empty where no run has the figure.
    pub unit: String,
    /// Candidate over reference of a limit against it, else candidate over the limit.
    pub ratio: Option<Ratio>,
    /// What was repeated, and so what the interval holds for.
    pub level: Option<Level>,
    /// p value against "the limit is not met".
    pub p_pass: Option<f64>,
    /// p value against "the limit is met", adjusted by Holm's method over the requirements of its weight.
    pub p_fail: Option<f64>,
    /// Whether any of its runs was a trace replayed in place of the application.
    pub replayed: bool,
}

/// What one requirement comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowResult {
    /// The candidate meets it.
    Pass,
    /// It does not.
    Fail,
    /// It cannot be tried.
    Unsupported(Lacking),
    /// Neither is shown.
    Undecided(Doubt),
}

impl RowResult {
    /// Its word in records and tables.
    pub const fn word(self) -> &'static str {
        match self {
            RowResult::Pass => "pass",
            RowResult::Fail => "fail",
            RowResult::Unsupported(_) => "unsupported",
            RowResult::Undecided(_) => "undecided",
        }
    }
}

/// The reference against itself within the blocks of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadControl {
    /// The workload.
    pub workload: String,
    /// What came of it.
    pub control: Control,
}

/// What all results come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The answer.
    pub answer: Answer,
    /// The results that decide it: indices into [`QualificationRecord::rows`].
    pub deciding: Vec<usize>,
    /// Why, a sentence each, the weightiest first.
    pub reasons: Vec<String>,
    /// For which parts it holds, in words.
    pub scope: String,
}

/// Whether one part may replace the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Every requirement that must be met is met.
    MayReplace,
    /// One that must be met is not.
    MayNot,
    /// Neither is shown.
    NotShown,
}

impl Answer {
    /// For people.
    pub const fn words(self) -> &'static str {
        match self {
            Answer::MayReplace => "may replace",
            Answer::MayNot => "may not replace",
            Answer::NotShown => "not shown",
        }
    }
}

/// Why a functional result and the disk's figures disagree.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// The functional result: an index into [`QualificationRecord::rows`].
    pub row: usize,
    /// What disagrees, in a sentence.
    pub paradox: String,
    /// The cause, in a sentence; `None` where nobody could find it.
    pub because: Option<String>,
    /// Why it was not found; `None` where it was.
    pub unknown: Option<String>,
}
