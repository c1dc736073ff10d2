//! The part of a run of power cuts: what was done, what it came to, and every cut.

use super::endurance::Endurance;
use crate::mirror::{mirror, mirror_tuple, part, words};
use flashscope_model::integrity as model;

part! {
    /// What survives power cuts.
    IntegrityPart of model::IntegrityRecord as [Integrity] {
        /// What was done.
        plan: IntegrityPlan = plan,
        /// What it came to.
        verdict: IntegrityVerdict = verdict,
        /// Every cut, in order; of a replay the last one alone.
        power_cuts: Vec<PowerCut> = cuts,
        /// What was asked for before the cut that was replayed; empty where none was.
        replayed_requests: Vec<ReplayedRequest> = requests,
        /// What stood on the device, and what became of it; null where the device was written to as it is.
        under: Option<Under> = under,
        /// What passes over the whole device came to; null of power cuts.
        endurance: Option<Endurance> = endurance,
    }
}

mirror! {
    /// What was done.
    IntegrityPlan of model::IntegrityPlan {
        /// How often the power was to be cut.
        cuts: u32 = cuts,
        /// All writes, flushes and moments follow from it.
        seed: u64 = seed,
        /// Where the writes went: from here …
        offset_bytes: u64 = offset,
        /// … over so much.
        length_bytes: u64 = length,
        /// A device that takes longer from power on to its first answer comes back slowly.
        slow_after_ns: u64 = slow_after,
        /// How much of the device was looked through at the end for writes that went elsewhere.
        searched_bytes: u64 = searched,
        /// What switched the power of a real device; null of a simulated one.
        switched_by: Option<SwitchedBy> = switched_by,
    }

    /// The commands that cut the power and brought it back, and what they came to before the first write.
    SwitchedBy of model::SwitchedBy {
        /// Cuts it.
        off: String = off,
        /// Brings it back.
        on: String = on,
        /// From the start of the first one until the device did not answer any more.
        off_after_ns: u64 = off_after,
        /// From the start of the second one until it answered.
        on_after_ns: u64 = on_after,
    }

    /// What a run came to.
    IntegrityVerdict of model::Verdict {
        /// Cuts after which the device was looked at.
        cuts: u32 = cuts,
        /// Those after which something was not as promised.
        broken_cuts: u32 = broken,
        /// Interval of the share of cuts after which something is not as promised.
        broken_ratio: Interval95 = share,
        /// What was found, the most frequent first.
        faults: Vec<IntegrityFault> = faults,
        /// What is not found but suspected.
        suspicions: Vec<IntegrityFault> = suspicions,
        /// Why it could not go on to the last cut; null where it could.
        ended: Option<String> = ended,
    }

    /// A kind of fault, and how often it was seen.
    IntegrityFault of model::Fault {
        /// Which.
        kind: FaultKind = kind,
        /// Probability that the device has it; null where no such device was ever seen in the development fleets.
        confidence: Option<f64> = confidence,
        /// Cuts after which it was seen.
        cuts: u32 = cuts,
        /// The first of them, counted from 1.
        first_cut: u32 = first,
        /// A place of it after that cut; null where it has none.
        place_bytes: Option<u64> = place,
        /// The evidence in a sentence.
        evidence: String = evidence,
    }

    /// One power cut.
    PowerCut of model::Cut {
        /// Counted from 1.
        number: u32 = number,
        /// When it was to be.
        moment: CutMoment = moment,
        /// Since the run began, on the device's clock.
        at_ns: u64 = at,
        /// Writes since the cut before.
        writes: u32 = writes,
        /// Flushes since the cut before.
        flushes: u32 = flushes,
        /// What no flush had covered and is gone: the device's right.
        dropped_bytes: u64 = dropped,
        /// From power on to the first answer; null where there was none.
        recovery_ns: Option<u64> = recovery,
        /// How many stretches are not as promised.
        violation_count: u32 = found,
        /// The first of them, in order of place.
        violations: Vec<Violation> = violations,
    }

    /// Something that is not as promised.
    Violation of model::Violation {
        /// What, as far as this cut alone can tell.
        kind: FaultKind = kind,
        /// Where.
        at_bytes: u64 = at,
        /// How much; 0 is the whole device.
        length_bytes: u64 = length,
        /// What should stand there, and what does.
        what: String = what,
    }

    /// A file system or a database on the device, and whether it kept its own word.
    Under of model::Under {
        /// What was named: ext4, xfs, btrfs, sqlite.
        subject: String = subject,
        /// The file system on the device: the subject itself, or what a database lay on.
        file_system: String = file_system,
        /// Options that it was told: of the mount, or of the database; empty where none were.
        options: String = options,
        /// What programs made, checked and ran it, with their versions.
        programs: Vec<String> = programs,
        /// Whose fault it is.
        blame: Blame = blame,
        /// Steps that were acknowledged, over all cuts.
        acknowledged_steps: u64 = acknowledged,
        /// What it lost or damaged, the most frequent first.
        faults: Vec<UpperFault> = faults,
        /// The same cuts as those of the device, as seen from above.
        cuts: Vec<UpperCut> = cuts,
    }

    /// A kind of fault of a file system or a database, and how often it was seen.
    UpperFault of model::UpperFault {
        /// Which.
        kind: UpperKind = kind,
        /// Cuts after which it was seen.
        cuts: u32 = cuts,
        /// Those of them after which the device had broken its promise, too.
        beside_device_cuts: u32 = beside_device,
        /// The first of them, counted from 1.
        first_cut: u32 = first,
        /// What was seen then.
        evidence: String = evidence,
    }

    /// One power cut, as seen from above.
    UpperCut of model::UpperCut {
        /// Counted from 1.
        number: u32 = number,
        /// Steps that were acknowledged since the cut before.
        acknowledged_steps: u32 = acknowledged,
        /// The step that was under way; null where none was.
        under_way: Option<String> = under_way,
        /// What mounting took afterwards, on the clock of this machine; null where it could not be mounted.
        mounted_after_ns: Option<u64> = mounted_after,
        /// Whether the device had broken its promise.
        device_broke: bool = device_broke,
        /// How many things are not as acknowledged.
        loss_count: u32 = found,
        /// The first of them.
        losses: Vec<UpperLoss> = losses,
    }

    /// Something that had been acknowledged, and that is not there.
    UpperLoss of model::UpperLoss {
        /// What.
        kind: UpperKind = kind,
        /// The file or the row; empty where it is the whole.
        name: String = name,
        /// What should be there, and what is.
        what: String = what,
    }

    /// A request of a cut that was replayed.
    ReplayedRequest of model::Asked {
        /// Requests and acknowledgements have a turn each, counted since the run began.
        turn: u32 = turn,
        /// What it was.
        request: AskedFor = what,
        /// Where; of a flush 0.
        at_bytes: u64 = at,
        /// How much; of a flush 0.
        length_bytes: u64 = length,
        /// The turn in which it was acknowledged; null where it never was.
        done_turn: Option<u32> = done,
        /// How long before the cut a write had been covered; null where nothing covered it.
        covered_before_cut_ns: Option<u64> = covered,
    }
}

mirror_tuple! {
    /// An interval at 95 %.
    Interval95 of (f64, f64) {
        /// Its lower end.
        low: f64,
        /// Its upper end.
        high: f64,
    }
}

words! {
    /// The ways to break the promise.
    FaultKind mirrors model::FaultKind {
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
        /// All that was written since some moment is gone, flushed or not.
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
}

words! {
    /// The moment at which the power went.
    CutMoment mirrors model::Moment {
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
}

words! {
    /// What was asked for.
    AskedFor mirrors model::AskedFor {
        /// A write.
        Write,
        /// A write that is durable by itself.
        DurableWrite,
        /// A flush.
        Flush,
    }
}

words! {
    /// Whose fault it is that something acknowledged is gone.
    Blame mirrors model::Blame {
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
}

words! {
    /// The ways in which a file system or a database breaks its word.
    UpperKind mirrors model::UpperKind {
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
}
