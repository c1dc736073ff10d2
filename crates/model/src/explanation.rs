//! Why one device takes longer than another for a workload: the difference of their times, shared out over groups of parameters.

use crate::envelope::Envelope;
use crate::trace::TraceSource;
use flashscope_units::{Bytes, Nanos};

/// Everything about one run of `explain`.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplanationRecord {
    /// Who and when.
    pub envelope: Envelope,
    /// The first device.
    pub a: Side,
    /// The second one.
    pub b: Side,
    /// Where the workload came from.
    pub source: TraceSource,
    /// What was replayed.
    pub workload: Workload,
    /// How much longer B takes; negative where it takes less.
    pub difference: Gap,
    /// What comes of it.
    pub verdict: Verdict,
    /// What each group of parameters adds to the difference, the largest share first.
    pub shares: Vec<Share>,
    /// Groups that have no share.
    pub screened: Vec<Screened>,
    /// How it was worked out.
    pub method: Method,
    /// What must be known of it, a sentence each.
    pub notes: Vec<String>,
}

/// One of the two devices.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// As typed.
    pub name: String,
    /// The model that stands for it, as a model file.
    pub model: String,
    /// How well that fits, where it is a twin fitted to a record; `None` where it is the model that was named.
    pub twin: Option<Twin>,
    /// How long the workload takes, one time for each seed.
    pub times: Vec<Nanos>,
}

/// How well a fitted model stands for its device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Twin {
    /// Share of the measured figures that it gives within 15 %.
    pub within: f64,
    /// How often it was inspected itself, and a twin fitted to that.
    pub refits: u32,
}

/// What was replayed on every device.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Requests of the trace.
    pub requests: u64,
    /// What they read.
    pub read: Bytes,
    /// What they write.
    pub written: Bytes,
    /// What was changed of them, a sentence each.
    pub changes: Vec<String>,
}

/// A length of time that may be negative, with its interval of 95 %, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gap {
    /// The best guess.
    pub time_ns: f64,
    /// Lower end.
    pub low_ns: f64,
    /// Upper end.
    pub high_ns: f64,
}

impl Gap {
    /// Whether its sign is known.
    pub fn leaves_out_zero(&self) -> bool {
        self.low_ns > 0.0 || self.high_ns < 0.0
    }
}

/// Which of the two takes longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// B takes longer.
    Longer,
    /// B takes less time.
    Shorter,
    /// They differ by less than [`LEAST_SHARE`] of A's time.
    Same,
    /// The difference lies within the noise, or within what is not known of the twins.
    CannotTell,
}

/// A difference or a share below this part of A's time is taken for none.
pub const LEAST_SHARE: f64 = 0.005;

/// What some parameters add to the difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The groups of parameters: one, or several that have no meaning without each other.
    pub groups: Vec<GroupName>,
    /// The Shapley value.
    pub gap: Gap,
    /// What exchanging only these parameters of A for those of B adds, in nanoseconds.
    pub alone_ns: f64,
    /// Whether the share is one: its interval leaves out 0, and it is not below [`LEAST_SHARE`].
    pub told: bool,
    /// What differs.
    pub changes: Vec<Change>,
}

/// What a group of parameters is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupName {
    /// In a record.
    pub name: String,
    /// By people.
    pub words: String,
}

/// A group without a share.
#[derive(Clone, Debug, PartialEq)]
pub struct Screened {
    /// The group.
    pub group: GroupName,
    /// What differs; nothing where A and B are the same in it. Otherwise its exchange changes nothing.
    pub changes: Vec<Change>,
}

/// One parameter that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its path in a model file.
    pub path: String,
    /// Its value in A; `None` where A has no such part.
    pub a: Option<String>,
    /// Its value in B.
    pub b: Option<String>,
}

/// How shares were worked out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Method {
    /// Orders of exchange that were sampled; `None` where all hybrids were replayed, and shares are exact.
    pub orders: Option<u32>,
    /// Hybrids of the two devices that were replayed, the two themselves included.
    pub hybrids: u32,
    /// Replays altogether, those with other twins included.
    pub replays: u32,
    /// Seeds of the devices' own chance that each hybrid was replayed with.
    pub seeds: u32,
    /// Pairs of other twins of the same devices that were explained as well.
    pub refits: u32,
    /// What all seeds follow from.
    pub seed: u64,
    /// Whether the time was over before all that was set out was done.
    pub cut_short: bool,
}
