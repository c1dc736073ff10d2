//! The kinds of records: which part stands beside the envelope of each.

use crate::{RecordError, Source};
use flashscope_model::{AnyRecord, Envelope, Kind};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What is kept as a record: an envelope, and the part of its kind.
pub trait Recorded: Sized {
    /// The part on the wire.
    type Part: Serialize + DeserializeOwned;

    /// The kinds that have this part.
    const KINDS: &'static [Kind];

    /// Who, when, where, on what, and how it ended.
    fn envelope(&self) -> &Envelope;

    /// The rest, on its way out.
    fn part(&self) -> Self::Part;

    /// Both together again.
    ///
    /// # Errors
    /// [`RecordError::Contradiction`] where fields that exclude or need each other do not fit.
    fn of(envelope: Envelope, part: Self::Part) -> Result<Self, RecordError>;
}

pub(crate) fn any(source: &Source<'_>) -> Result<AnyRecord, RecordError> {
    let word = source.kind()?;
    Ok(match Kind::of_word(&word).ok_or_else(|| RecordError::other_kind(&word, &Kind::ALL))? {
        Kind::Inspect | Kind::Probe | Kind::Infer | Kind::State => AnyRecord::Run(Box::new(source.of_this_kind()?)),
        Kind::Capacity => AnyRecord::Capacity(Box::new(source.of_this_kind()?)),
        Kind::Integrity => AnyRecord::Integrity(Box::new(source.of_this_kind()?)),
        Kind::App => AnyRecord::App(Box::new(source.of_this_kind()?)),
        Kind::Bench => AnyRecord::Bench(Box::new(source.of_this_kind()?)),
        Kind::Iozone => AnyRecord::Iozone(Box::new(source.of_this_kind()?)),
        Kind::Fleet => AnyRecord::Fleet(Box::new(source.of_this_kind()?)),
        Kind::Twin => AnyRecord::Twin(Box::new(source.of_this_kind()?)),
        Kind::Compare => AnyRecord::Comparison(Box::new(source.of_this_kind()?)),
        Kind::Sweep => AnyRecord::Sweep(Box::new(source.of_this_kind()?)),
        Kind::Trace => AnyRecord::Trace(Box::new(source.of_this_kind()?)),
        Kind::Explanation => AnyRecord::Explanation(Box::new(source.of_this_kind()?)),
        Kind::Memory => AnyRecord::Memory(Box::new(source.of_this_kind()?)),
    })
}

/// As [`crate::to_json`], of a record of whatever kind.
pub fn any_to_json(record: &AnyRecord) -> String {
    match record {
        AnyRecord::Run(record) => crate::to_json(record.as_ref()),
        AnyRecord::Capacity(record) => crate::to_json(record.as_ref()),
        AnyRecord::Integrity(record) => crate::to_json(record.as_ref()),
        AnyRecord::App(record) => crate::to_json(record.as_ref()),
        AnyRecord::Bench(record) => crate::to_json(record.as_ref()),
        AnyRecord::Iozone(record) => crate::to_json(record.as_ref()),
        AnyRecord::Fleet(record) => crate::to_json(record.as_ref()),
        AnyRecord::Twin(record) => crate::to_json(record.as_ref()),
        AnyRecord::Comparison(record) => crate::to_json(record.as_ref()),
        AnyRecord::Sweep(record) => crate::to_json(record.as_ref()),
        AnyRecord::Trace(record) => crate::to_json(record.as_ref()),
        AnyRecord::Explanation(record) => crate::to_json(record.as_ref()),
        AnyRecord::Memory(record) => crate::to_json(record.as_ref()),
    }
}
