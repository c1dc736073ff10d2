//! What else a reader must know of a run: typed, so that nothing has to look for words in a sentence.

use super::reason::words;

/// A remark on a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// The remark: what was seen, and what follows from it.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
}

words! {
    /// What a remark is about.
    NoteKind {
        /// A file, or a loop device on one, stands in for a device.
        HostFile = "host_file",
        /// The device is not as large as it says, or does not keep what is written.
        NotGenuine = "not_genuine",
        /// A log of more than one device.
        SeveralDevices = "several_devices",
        /// Repeats of one experiment contradict each other.
        Contradiction = "contradiction",
        /// The device, or what is behind its name, changed under the test.
        Changed = "changed",
        /// The same experiment met a cache of fast cells now empty, now full.
        CacheInBetween = "cache_in_between",
        /// The head of a table seems to be lost.
        LostHead = "lost_head",
        /// Tables that repeat others figure by figure.
        Copies = "copies",
        /// Requests failed.
        Failures = "failures",
        /// Experiments were not run to their end.
        CutShort = "cut_short",
        /// Much of the device was never written.
        NeverWritten = "never_written",
        /// Writes went to units of another size than the device's.
        AssumedUnit = "assumed_unit",
        /// Times of one row fall into two classes.
        TwoClasses = "two_classes",
        /// A step in an align table may be the diluted one of a larger unit.
        DilutedStep = "diluted_step",
        /// The start of the device is shifted against its units.
        Shifted = "shifted",
        /// Boundaries that fit no level.
        NotUnderstood = "not_understood",
        /// Questions that the budget left open.
        LeftOpen = "left_open",
        /// The plan went on for longer than any should.
        TooManySteps = "too_many_steps",
        /// The next experiment of the plan does not fit the device.
        PlanEnded = "plan_ended",
        /// The record was kept while the run went on, which never came to its end.
        Unfinished = "unfinished",
        /// The findings were drawn anew from an earlier record.
        DrawnAnew = "drawn_anew",
        /// What was noticed when a log was read.
        Log = "log",
        /// No table was found in a log.
        NoTable = "no_table",
        /// An older record's remark that weakens an answer.
        OtherWarning = "other_warning",
        /// An older record's remark that is good to know.
        OtherInfo = "other_info",
    }
}

words! {
    /// How grave a note is.
    Severity {
        /// Good to know.
        Info = "info",
        /// Weakens an answer.
        Warning = "warning",
    }
}

impl Note {
    /// A remark on which nothing can be done.
    pub fn new(kind: NoteKind, text: impl Into<String>) -> Note {
        Note { kind, text: text.into(), hint: None }
    }

    /// The same with what to do about it.
    pub fn with_hint(self, hint: impl Into<String>) -> Note {
        Note { hint: Some(hint.into()), ..self }
    }
}

impl NoteKind {
    /// How grave such a note is.
    pub const fn severity(self) -> Severity {
        match self {
            NoteKind::HostFile
            | NoteKind::NotGenuine
            | NoteKind::SeveralDevices
            | NoteKind::Contradiction
            | NoteKind::Changed
            | NoteKind::Failures
            | NoteKind::NeverWritten
            | NoteKind::AssumedUnit
            | NoteKind::NotUnderstood
            | NoteKind::TooManySteps
            | NoteKind::PlanEnded
            | NoteKind::Unfinished
            | NoteKind::OtherWarning => Severity::Warning,
            NoteKind::CacheInBetween
            | NoteKind::LostHead
            | NoteKind::Copies
            | NoteKind::CutShort
            | NoteKind::TwoClasses
            | NoteKind::DilutedStep
            | NoteKind::Shifted
            | NoteKind::LeftOpen
            | NoteKind::DrawnAnew
            | NoteKind::Log
            | NoteKind::NoTable
            | NoteKind::OtherInfo => Severity::Info,
        }
    }
}
