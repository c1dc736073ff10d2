//! Passes over a whole device until it wears out: the section `endurance` of a record of `integrity`.

use crate::capacity::Totals;
use crate::facts::Health;
use crate::finding::words;
use flashscope_units::{ByteRate, Bytes, Nanos};

/// What passes over a whole device came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Endurance {
    /// What was asked for.
    pub plan: EndurancePlan,
    /// The device's registers before the first pass, where it has some.
    pub registers: Option<Health>,
    /// Every pass, in order; the last one may be cut short.
    pub passes: Vec<Pass>,
    /// Why the passes ended.
    pub end: End,
    /// Milestones that were reached, in order.
    pub milestones: Vec<Reached>,
    /// When the first error comes, or came.
    pub forecast: Forecast,
    /// What became of the data of the last pass while they were left alone; `None` where they were not read again.
    pub retention: Option<Retention>,
    /// How often it was begun: one more than it was stopped.
    pub sessions: u32,
}

impl Endurance {
    /// Bytes that were written in all.
    pub fn written(&self) -> Bytes {
        self.passes.iter().map(|pass| pass.written).sum()
    }

    /// The same over the capacity.
    pub fn capacity_writes(&self) -> f64 {
        self.plan.capacity_writes(self.written())
    }

    /// Whether the device lost data, or does not do its work any more.
    pub fn is_broken(&self) -> bool {
        !self.milestones.is_empty() || self.retention.is_some_and(|kept| kept.lost > Bytes::ZERO)
    }
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct EndurancePlan {
    /// The order of every pass follows from it.
    pub seed: u64,
    /// Size of the device.
    pub claimed: Bytes,
    /// Size of a request.
    pub request: Bytes,
    /// It ends after so many passes.
    pub most_passes: Option<u32>,
    /// It ends when this is reached.
    pub until: Option<Milestone>,
    /// It ends when this share of the rated life is spent.
    pub limit: Option<LifeLimit>,
    /// The data of the last pass are read again after this time.
    pub reread_after: Option<Nanos>,
}

impl EndurancePlan {
    /// Bytes over the capacity.
    pub fn capacity_writes(&self, written: Bytes) -> f64 {
        written.as_f64() / self.claimed.as_f64().max(1.0)
    }
}

/// How much of the rated life may be spent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LifeLimit {
    /// Share of it, above 0; above 1 past the rated life.
    pub share: f64,
    /// Bytes that the device is rated for.
    pub rated: Bytes,
    /// Who says so.
    pub rating: Rating,
}

impl LifeLimit {
    /// Share of the rated life that these writes take.
    pub fn share_of(&self, written: Bytes) -> f64 {
        written.as_f64() / self.rated.as_f64().max(1.0)
    }
}

words! {
    /// Who says what a device is rated for.
    Rating {
        /// The operator, from the data sheet.
        Given = "given",
        /// Nobody: the fewest capacity-writes that data sheets rate such devices for.
        Assumed = "assumed",
    }
}

/// One pass: every block written in shuffled parts, and read back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pass {
    /// Counted from 1.
    pub number: u32,
    /// Bytes written, whether that failed or not, pieces that were written again included.
    pub written: Bytes,
    /// Bytes read, whether that failed or not.
    pub read: Bytes,
    /// Time of the writes to parts without an error; `None` where no part was written whole.
    pub write_time: Option<Nanos>,
    /// Bytes written in that time.
    pub write_timed: Bytes,
    /// Time of the reads of parts without an error.
    pub read_time: Option<Nanos>,
    /// Bytes read in that time.
    pub read_timed: Bytes,
    /// What came back.
    pub totals: Totals,
    /// The first address that does not hold what was written there.
    pub first_bad: Option<Bytes>,
    /// The device's registers after the pass, where it has some.
    pub registers: Option<Health>,
    /// Whether it came to its end.
    pub whole: bool,
}

impl Pass {
    /// Rate of the writes.
    pub fn write_rate(&self) -> Option<ByteRate> {
        ByteRate::of(self.write_timed, self.write_time?)
    }

    /// Rate of the reads.
    pub fn read_rate(&self) -> Option<ByteRate> {
        ByteRate::of(self.read_timed, self.read_time?)
    }

    /// What is not as written, or could not be written or read.
    pub fn bad(&self) -> Bytes {
        self.totals.bad()
    }
}

words! {
    /// How much of a device is bad: those of the large public surveys.
    Milestone {
        /// The first sector.
        FirstError = "first_error",
        /// One in a thousand.
        Permille = "permille",
        /// 10 %.
        Tenth = "tenth",
        /// 25 %.
        Quarter = "quarter",
        /// 50 %.
        Half = "half",
    }
}

impl Milestone {
    /// Share of the sectors that are bad; of the first error any.
    pub const fn share(self) -> f64 {
        match self {
            Milestone::FirstError => 0.0,
            Milestone::Permille => 0.001,
            Milestone::Tenth => 0.1,
            Milestone::Quarter => 0.25,
            Milestone::Half => 0.5,
        }
    }

    /// In a few words.
    pub const fn label(self) -> &'static str {
        match self {
            Milestone::FirstError => "first error",
            Milestone::Permille => "0.1 % of sectors",
            Milestone::Tenth => "10 % of sectors",
            Milestone::Quarter => "25 % of sectors",
            Milestone::Half => "50 % of sectors",
        }
    }

    /// Whether this many bad bytes of so many reach it.
    pub fn is_reached(self, bad: Bytes, of: Bytes) -> bool {
        bad > Bytes::ZERO && bad.as_f64() >= self.share() * of.as_f64()
    }
}

/// A milestone that was reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reached {
    /// Which.
    pub milestone: Milestone,
    /// In which pass, from 1.
    pub pass: u32,
    /// Bytes written until the end of that pass.
    pub written: Bytes,
    /// The same over the capacity.
    pub capacity_writes: f64,
}

/// Why the passes ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// In a word.
    pub kind: EndKind,
    /// What else is known of it.
    pub why: Option<String>,
}

words! {
    /// Why the passes ended.
    EndKind {
        /// As many were done as were asked for.
        Passes = "passes",
        /// The milestone that was asked for was reached.
        Until = "until",
        /// The share of the rated life was spent.
        Life = "life",
        /// What may be written was used up.
        Budget = "budget",
        /// The operator stopped it.
        Stopped = "stopped",
        /// The device takes no writes any more, and can be read.
        ReadOnly = "read_only",
        /// The device takes no writes any more, nor can it be read.
        Failing = "failing",
        /// The device went away or did not answer.
        Gone = "gone",
        /// The device has another capacity.
        Shrunk = "shrunk",
        /// A fault of flashscope itself.
        Internal = "internal",
    }
}

impl EndKind {
    /// Whether the device does not do its work any more.
    pub const fn is_death(self) -> bool {
        match self {
            EndKind::ReadOnly | EndKind::Failing | EndKind::Gone | EndKind::Shrunk => true,
            EndKind::Passes
            | EndKind::Until
            | EndKind::Life
            | EndKind::Budget
            | EndKind::Stopped
            | EndKind::Internal => false,
        }
    }

    /// In a few words.
    pub const fn label(self) -> &'static str {
        match self {
            EndKind::Passes => "as many passes as were asked for",
            EndKind::Until => "the milestone that was asked for",
            EndKind::Life => "the share of the rated life is spent",
            EndKind::Budget => "the write budget is used up",
            EndKind::Stopped => "stopped",
            EndKind::ReadOnly => "the device turned read-only",
            EndKind::Failing => "the device takes no requests any more",
            EndKind::Gone => "the device went away",
            EndKind::Shrunk => "the device shrank",
            EndKind::Internal => "a fault of flashscope",
        }
    }
}

/// When the first error comes, in capacity-writes since the test began.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// What it rests on.
    pub basis: Basis,
    /// As likely before as after; `None`: cannot tell.
    pub capacity_writes: Option<f64>,
    /// Lower end of the 90 % interval; where nothing can be told, what went without an error.
    pub low: f64,
    /// Upper end of the 90 % interval; `None`: cannot tell.
    pub high: Option<f64>,
    /// The evidence in a sentence.
    pub evidence: String,
}

words! {
    /// What a forecast of the first error rests on.
    Basis {
        /// It came.
        Seen = "seen",
        /// Spare blocks go.
        Spare = "spare",
        /// The registers of life used move.
        Life = "life",
        /// Nothing moves: cannot tell.
        Nothing = "nothing",
    }
}

/// What became of data that were left alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retention {
    /// How long they were to be left alone.
    pub asked: Nanos,
    /// How long they were.
    pub kept_for: Nanos,
    /// What came back.
    pub totals: Totals,
    /// What came back right at the end of the last pass, and does not any more. Where more than 10,000 stretches are bad, the
    /// difference of the totals: at least this.
    pub lost: Bytes,
    /// Whether all of it was read.
    pub whole: bool,
}
