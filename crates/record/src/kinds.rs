//! The kinds of records: which part stands beside the envelope of each.

use crate::{RecordError, Source};
use flashscope_model::bench::BenchRecord;
use flashscope_model::fleet::FleetRecord;
use flashscope_model::iozone::IozoneRecord;
use flashscope_model::twin::TwinRecord;
use flashscope_model::{Envelope, Kind, RunRecord};
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

/// A record of whatever kind; the one place in which readers tell kinds apart.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyRecord {
    /// `inspect`, `probe` and `infer`.
    Run(Box<RunRecord>),
    /// `bench`.
    Bench(Box<BenchRecord>),
    /// `bench iozone`.
    Iozone(Box<IozoneRecord>),
    /// `fleet`.
    Fleet(Box<FleetRecord>),
    /// `twin fit`.
    Twin(Box<TwinRecord>),
}

impl AnyRecord {
    pub(crate) fn from_source(source: &Source<'_>) -> Result<AnyRecord, RecordError> {
        let word = source.kind()?;
        Ok(match Kind::of_word(&word).ok_or_else(|| RecordError::other_kind(&word, &Kind::ALL))? {
            Kind::Inspect | Kind::Probe | Kind::Infer => AnyRecord::Run(Box::new(source.of_this_kind()?)),
            Kind::Bench => AnyRecord::Bench(Box::new(source.of_this_kind()?)),
            Kind::Iozone => AnyRecord::Iozone(Box::new(source.of_this_kind()?)),
            Kind::Fleet => AnyRecord::Fleet(Box::new(source.of_this_kind()?)),
            Kind::Twin => AnyRecord::Twin(Box::new(source.of_this_kind()?)),
        })
    }

    /// Who, when, where, on what, and how it ended.
    pub fn envelope(&self) -> &Envelope {
        match self {
            AnyRecord::Run(record) => &record.envelope,
            AnyRecord::Bench(record) => &record.envelope,
            AnyRecord::Iozone(record) => &record.envelope,
            AnyRecord::Fleet(record) => &record.envelope,
            AnyRecord::Twin(record) => &record.envelope,
        }
    }

    /// As [`crate::to_json`].
    pub fn to_json(&self) -> String {
        match self {
            AnyRecord::Run(record) => crate::to_json(record.as_ref()),
            AnyRecord::Bench(record) => crate::to_json(record.as_ref()),
            AnyRecord::Iozone(record) => crate::to_json(record.as_ref()),
            AnyRecord::Fleet(record) => crate::to_json(record.as_ref()),
            AnyRecord::Twin(record) => crate::to_json(record.as_ref()),
        }
    }
}
