//! What survives power cuts: the record of `integrity`.

use crate::endurance::Endurance;
use crate::envelope::Envelope;
use flashscope_units::{Bytes, Nanos};

/// Everything about one run of `integrity`.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegrityRecord {
    /// Who, when, where, on what.
    pub envelope: Envelope,
    /// What was done.
    pub plan: IntegrityPlan,
    /// What it came to.
    pub verdict: Verdict,
    /// Every cut, in order; of a replay the last one alone.
    pub cuts: Vec<Cut>,
    /// What was asked for before the cut that was replayed; empty where none was.
    pub requests: Vec<Asked>,
    /// What stood on the device, and what became of it; `None` where the device was written to as it is.
    pub under: Option<Under>,
    /// What passes over the whole device came to; `None` of power cuts. Where it is there, the power was never cut.
    pub endurance: Option<Endurance>,
}

/// A file system or a database on the device, and whether it kept its own word.
#[derive(Clone, Debug, PartialEq)]
pub struct Under {
    /// What was named: `ext4`, `xfs`, `btrfs`, `sqlite`.
    pub subject: String,
    /// The file system on the device: the subject itself, or what a database lay on.
    pub file_system: String,
    /// Options that it was told: of the mount, or of the database; empty where none were.
    pub options: String,
    /// What programs made, checked and ran it, with their versions.
    pub programs: Vec<String>,
    /// Whose fault it is.
    pub blame: Blame,
    /// Steps that were acknowledged, over all cuts.
    pub acknowledged: u64,
    /// What it lost or damaged, the most frequent first.
    pub faults: Vec<UpperFault>,
    /// The same cuts as those of the device, as seen from above.
    pub cuts: Vec<UpperCut>,
}

/// Whose fault it is that something acknowledged is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Blame {
    /// Nobody's: both kept their word.
    Nobody,
    /// The device broke its promise; whatever is missing above is missing after the same cuts.
    Device,
    /// The device kept its promise, and what stands on it lost what it had acknowledged.
    Above,
    /// The device broke its promise after some cuts, and what stands on it lost something after others as well.
    Both,
    /// No cut could be judged.
    CannotTell,
}

/// A kind of fault of a file system or a database, and how often it was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct UpperFault {
    /// Which.
    pub kind: UpperKind,
    /// Cuts after which it was seen.
    pub cuts: u32,
    /// Those of them after which the device had broken its promise, too.
    pub beside_device: u32,
    /// The first of them, counted from 1.
    pub first: u32,
    /// What was seen then.
    pub evidence: String,
}

/// One power cut, as seen from above.
#[derive(Clone, Debug, PartialEq)]
pub struct UpperCut {
    /// Counted from 1.
    pub number: u32,
    /// Steps that were acknowledged since the cut before.
    pub acknowledged: u32,
    /// The step that was under way.
    pub under_way: Option<String>,
    /// What mounting took afterwards, on the clock of this machine; `None` where it could not be mounted.
    pub mounted_after: Option<Nanos>,
    /// Whether the device had broken its promise.
    pub device_broke: bool,
    /// What is not as acknowledged; of many the first.
    pub losses: Vec<UpperLoss>,
    /// How many there are.
    pub found: u32,
}

/// Something that a file system or a database had acknowledged, and that is not there.
#[derive(Clone, Debug, PartialEq)]
pub struct UpperLoss {
    /// What.
    pub kind: UpperKind,
    /// The file, or the transaction.
    pub name: String,
    /// What should be there, and what is.
    pub what: String,
}

/// The ways in which a file system or a database breaks its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UpperKind {
    /// A file whose name had been made safe is not there.
    LostFile,
    /// A file holds an older version than the one that had been made safe, or less of it.
    LostData,
    /// A file holds what nobody wrote to it.
    ForeignData,
    /// A file is back that had been removed or renamed.
    ReturnedFile,
    /// A renaming was neither done nor undone.
    HalfRenamed,
    /// A transaction that had been committed is not there.
    LostCommit,
    /// A part of a transaction is there.
    HalfTransaction,
    /// The offline check finds damage.
    Damaged,
    /// It cannot be mounted or opened.
    NotMountable,
    /// A file cannot be read.
    Unreadable,
}

impl UpperKind {
    /// Its name for people.
    pub const fn label(self) -> &'static str {
        match self {
            UpperKind::LostFile => "file lost",
            UpperKind::LostData => "data of a file lost",
            UpperKind::ForeignData => "foreign data in a file",
            UpperKind::ReturnedFile => "removed file is back",
            UpperKind::HalfRenamed => "renaming half done",
            UpperKind::LostCommit => "committed transaction lost",
            UpperKind::HalfTransaction => "transaction half there",
            UpperKind::Damaged => "damaged (offline check)",
            UpperKind::NotMountable => "cannot be mounted",
            UpperKind::Unreadable => "file cannot be read",
        }
    }
}

/// A request of a cut that was replayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// Requests and acknowledgements have a turn each, counted since the run began.
    pub turn: u32,
    /// What it was.
    pub what: AskedFor,
    /// Where; of a flush 0.
    pub at: Bytes,
    /// How much; of a flush 0.
    pub length: Bytes,
    /// The turn in which it was acknowledged; `None` where it never was.
    pub done: Option<u32>,
    /// How long before the cut a write had been covered; `None` where nothing covered it.
    pub covered: Option<Nanos>,
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedFor {
    /// A write.
    Write,
    /// A write that is durable by itself.
    DurableWrite,
    /// A flush.
    Flush,
}

impl AskedFor {
    /// In a few words.
    pub const fn label(self) -> &'static str {
        match self {
            AskedFor::Write => "write",
            AskedFor::DurableWrite => "durable write",
            AskedFor::Flush => "flush",
        }
    }
}

/// What was done.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegrityPlan {
    /// How often the power was to be cut.
    pub cuts: u32,
    /// All writes, flushes and moments follow from it.
    pub seed: u64,
    /// Where the writes went: from here …
    pub offset: Bytes,
    /// … over so much.
    pub length: Bytes,
    /// A device that takes longer from power on to its first answer comes back slowly.
    pub slow_after: Nanos,
    /// How far beyond the writes the device was looked through at the end, for writes that went elsewhere.
    pub searched: Bytes,
    /// What switched the power of a real device; `None` of a simulated one.
    pub switched_by: Option<SwitchedBy>,
}

/// The commands that cut the power and brought it back, and what they came to before the first write.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchedBy {
    /// Cuts it.
    pub off: String,
    /// Brings it back.
    pub on: String,
    /// From the start of the first one until the device did not answer any more.
    pub off_after: Nanos,
    /// From the start of the second one until it answered.
    pub on_after: Nanos,
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Cuts after which the device was looked at.
    pub cuts: u32,
    /// Those after which something was not as promised.
    pub broken: u32,
    /// Ends of the 95 % interval of the share of cuts after which something is not as promised. Without one such cut its lower
    /// end is zero and its upper end 3/n.
    pub share: (f64, f64),
    /// What was found, the most frequent first.
    pub faults: Vec<Fault>,
    /// What is not found but suspected.
    pub suspicions: Vec<Fault>,
    /// Why it could not go on to the last cut, if it could not.
    pub ended: Option<String>,
}

/// A kind of fault, and how often it was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Which.
    pub kind: FaultKind,
    /// How likely it is that the device has it; `None` where no such device was ever seen in the development fleets.
    pub confidence: Option<f64>,
    /// Cuts after which it was seen.
    pub cuts: u32,
    /// The first of them, counted from 1.
    pub first: u32,
    /// A place of it after that cut, where it has one.
    pub place: Option<Bytes>,
    /// The evidence in a sentence.
    pub evidence: String,
}

/// The ways to break the promise: those of Zheng and others, "Understanding the Robustness of SSDs under Power Fault" (FAST '13),
/// and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// What a flush or a durable write had covered is gone.
    LostFlushed,
    /// The same, but only up to a second after the flush or write.
    LateLoss,
    /// A write from after a flush survived, one that the flush had covered did not.
    Reordered,
    /// A logical sector holds a part of one write and a part of another.
    Shorn,
    /// A sector that was being written holds what nobody wrote, or cannot be read.
    Corrupted,
    /// A write lies at another place.
    Flying,
    /// A sector that was not being written holds what nobody wrote.
    Neighbour,
    /// All that was written since some moment is gone, flushed or not: an older mapping.
    Rollback,
    /// It came back with another capacity.
    Shrunk,
    /// It came back, and takes no writes any more.
    ReadOnly,
    /// It did not come back.
    Dead,
    /// It came back late.
    SlowRecovery,
    /// Flushes take no time, and what they covered is gone.
    LyingFlush,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [FaultKind; 13] = [
        FaultKind::LostFlushed,
        FaultKind::LateLoss,
        FaultKind::Reordered,
        FaultKind::Shorn,
        FaultKind::Corrupted,
        FaultKind::Flying,
        FaultKind::Neighbour,
        FaultKind::Rollback,
        FaultKind::Shrunk,
        FaultKind::ReadOnly,
        FaultKind::Dead,
        FaultKind::SlowRecovery,
        FaultKind::LyingFlush,
    ];

    /// Its word in records and tables.
    pub const fn word(self) -> &'static str {
        match self {
            FaultKind::LostFlushed => "lost_flushed",
            FaultKind::LateLoss => "late_loss",
            FaultKind::Reordered => "reordered",
            FaultKind::Shorn => "shorn",
            FaultKind::Corrupted => "corrupted",
            FaultKind::Flying => "flying",
            FaultKind::Neighbour => "neighbour",
            FaultKind::Rollback => "rollback",
            FaultKind::Shrunk => "shrunk",
            FaultKind::ReadOnly => "read_only",
            FaultKind::Dead => "dead",
            FaultKind::SlowRecovery => "slow_recovery",
            FaultKind::LyingFlush => "lying_flush",
        }
    }

    /// Its name for people.
    pub const fn label(self) -> &'static str {
        match self {
            FaultKind::LostFlushed => "lost flushed data",
            FaultKind::LateLoss => "late loss",
            FaultKind::Reordered => "reordering across a flush",
            FaultKind::Shorn => "shorn write",
            FaultKind::Corrupted => "bit corruption",
            FaultKind::Flying => "flying write",
            FaultKind::Neighbour => "neighbour damage",
            FaultKind::Rollback => "rollback of an older mapping",
            FaultKind::Shrunk => "metadata loss (capacity)",
            FaultKind::ReadOnly => "read-only",
            FaultKind::Dead => "dead or hanging",
            FaultKind::SlowRecovery => "slow recovery",
            FaultKind::LyingFlush => "lying flush",
        }
    }
}

/// The moment at which the power went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Moment {
    /// While writes were under way.
    Writing,
    /// While a flush was under way.
    Flushing,
    /// In idle after a flush.
    AfterFlush,
    /// In idle after writes that nothing covered.
    AfterWrites,
    /// While a write took far longer than others: the device was busy inside.
    Busy,
}

impl Moment {
    /// All of them.
    pub const ALL: [Moment; 5] =
        [Moment::Writing, Moment::Flushing, Moment::AfterFlush, Moment::AfterWrites, Moment::Busy];

    /// In a few words.
    pub const fn label(self) -> &'static str {
        match self {
            Moment::Writing => "in a write",
            Moment::Flushing => "in a flush",
            Moment::AfterFlush => "idle after a flush",
            Moment::AfterWrites => "idle after writes",
            Moment::Busy => "busy inside",
        }
    }
}

/// One power cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// Counted from 1.
    pub number: u32,
    /// When it was to be.
    pub moment: Moment,
    /// Since the run began, on the device's clock.
    pub at: Nanos,
    /// Writes since the cut before.
    pub writes: u32,
    /// Flushes since the cut before.
    pub flushes: u32,
    /// Bytes that no flush had covered and that are gone: the device's right.
    pub dropped: Bytes,
    /// From power on to the first answer; `None` where there was none.
    pub recovery: Option<Nanos>,
    /// What is not as promised, in order of place; of many the first.
    pub violations: Vec<Violation>,
    /// How many there are.
    pub found: u32,
}

/// Something that is not as promised.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// What, as far as this cut alone can tell.
    pub kind: FaultKind,
    /// Where; the whole device has length 0.
    pub at: Bytes,
    /// How much.
    pub length: Bytes,
    /// What should stand there, and what does.
    pub what: String,
}
