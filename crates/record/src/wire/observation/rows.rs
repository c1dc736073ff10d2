//! The rows and places that the figures of a run are made of.

use crate::RecordError;
use crate::wire::printed::{nanos, not_one_of, ns};
use crate::wire::{PrintedAlign, PrintedInterval, PrintedTime, Rate};
use flashscope_model::observation as seen;
use flashscope_units::Bytes;
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One place of a survey.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct SurveyPlace {
    /// Where.
    pub at_bytes: u64,
    /// The byte that fills the whole block; null where the block is not uniform.
    pub uniform_byte: Option<u8>,
    /// Service times.
    pub service_time_ns: Vec<u64>,
}

/// One alignment: either its places or what a log printed; the other is null.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct AlignRow {
    /// The alignment.
    pub align_bytes: u64,
    /// Every sample.
    pub places: Option<Vec<Boundary>>,
    /// What a log printed.
    pub printed: Option<PrintedAlign>,
}

/// Accesses around one boundary.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Boundary {
    /// The boundary.
    pub at_bytes: u64,
    /// Service times of accesses that end at it.
    pub pre_service_time_ns: Vec<u64>,
    /// Service times of accesses that straddle it by half.
    pub on_service_time_ns: Vec<u64>,
    /// Service times of accesses that start at it.
    pub post_service_time_ns: Vec<u64>,
}

/// One candidate size.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Candidate {
    /// The size.
    pub size_bytes: u64,
    /// Larger sizes of which no place is a multiple.
    pub excluded_bytes: Vec<u64>,
    /// The boundaries.
    pub places: Vec<Boundary>,
}

/// One block size of an open-units run.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct OpenUnitsRow {
    /// Block size.
    pub block_bytes: u64,
    /// Samples in the order of issue, one per unit in each round; or what a log printed.
    pub rate: Rate,
}

/// One block size of a fat run.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct FatRow {
    /// Block size.
    pub block_bytes: u64,
    /// One entry per unit, unit 0 first.
    pub units: Vec<Rate>,
}

/// Service times within one unit.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct UnitTimes {
    /// Start of the unit.
    pub at_bytes: u64,
    /// Service times in the order of issue.
    pub service_time_ns: Vec<u64>,
}

/// One position of a scatter run.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct ScatterPlace {
    /// Where.
    pub at_bytes: u64,
    /// Service times, one per pass; a log leaves their minimum.
    pub service_time_ns: Vec<u64>,
}

/// One size of an interval run: either its samples or what a log printed; the other is null.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct IntervalRow {
    /// Size of one read.
    pub size_bytes: u64,
    /// Service times, one per place.
    pub service_time_ns: Option<Vec<u64>>,
    /// What a log printed.
    pub printed: Option<PrintedInterval>,
}

/// One block size of a program run.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct ProgramRow {
    /// Block size.
    pub block_bytes: u64,
    /// Zeros, ones, 0x5a, read, in order; then the same four at random.
    pub columns: Vec<Rate>,
}

impl SurveyPlace {
    pub(super) fn from_model(place: &seen::SurveyPlace) -> SurveyPlace {
        SurveyPlace { at_bytes: place.at.get(), uniform_byte: place.uniform, service_time_ns: ns(&place.times) }
    }

    pub(super) fn into_model(self) -> seen::SurveyPlace {
        seen::SurveyPlace { at: Bytes(self.at_bytes), uniform: self.uniform_byte, times: nanos(self.service_time_ns) }
    }
}

impl AlignRow {
    pub(super) fn from_model(row: &seen::AlignRow) -> AlignRow {
        let (places, printed) = match &row.evidence {
            seen::AlignEvidence::Places(places) => (Some(places.iter().map(Boundary::from_model).collect()), None),
            seen::AlignEvidence::Printed { pre, on, post, diff } => {
                let [pre, on, post, diff] =
                    [pre, on, post, diff].map(|time| time.as_ref().map(PrintedTime::from_model));
                (None, Some(PrintedAlign { pre, on, post, diff }))
            }
        };
        AlignRow { align_bytes: row.align.get(), places, printed }
    }

    pub(super) fn into_model(self, field: &str) -> Result<seen::AlignRow, RecordError> {
        let evidence = match (self.places, self.printed) {
            (Some(places), None) => seen::AlignEvidence::Places(places.into_iter().map(Boundary::into_model).collect()),
            (None, Some(printed)) => seen::AlignEvidence::Printed {
                pre: printed.pre.map(PrintedTime::into_model),
                on: printed.on.map(PrintedTime::into_model),
                post: printed.post.map(PrintedTime::into_model),
                diff: printed.diff.map(PrintedTime::into_model),
            },
            (places, _) => return Err(not_one_of(field, places.is_some())),
        };
        Ok(seen::AlignRow { align: Bytes(self.align_bytes), evidence })
    }
}

impl Boundary {
    pub(super) fn from_model(straddle: &seen::Straddle) -> Boundary {
        Boundary {
            at_bytes: straddle.at.get(),
            pre_service_time_ns: ns(&straddle.pre),
            on_service_time_ns: ns(&straddle.on),
            post_service_time_ns: ns(&straddle.post),
        }
    }

    pub(super) fn into_model(self) -> seen::Straddle {
        seen::Straddle {
            at: Bytes(self.at_bytes),
            pre: nanos(self.pre_service_time_ns),
            on: nanos(self.on_service_time_ns),
            post: nanos(self.post_service_time_ns),
        }
    }
}

impl Candidate {
    pub(super) fn from_model(candidate: &seen::CandidateData) -> Candidate {
        Candidate {
            size_bytes: candidate.size.get(),
            excluded_bytes: candidate.excluded.iter().map(|size| size.get()).collect(),
            places: candidate.places.iter().map(Boundary::from_model).collect(),
        }
    }

    pub(super) fn into_model(self) -> seen::CandidateData {
        seen::CandidateData {
            size: Bytes(self.size_bytes),
            excluded: self.excluded_bytes.into_iter().map(Bytes).collect(),
            places: self.places.into_iter().map(Boundary::into_model).collect(),
        }
    }
}

impl OpenUnitsRow {
    pub(super) fn from_model(row: &seen::OpenUnitsRow) -> OpenUnitsRow {
        OpenUnitsRow { block_bytes: row.block.get(), rate: Rate::from_model(&row.rate) }
    }

    pub(super) fn into_model(self, field: &str) -> Result<seen::OpenUnitsRow, RecordError> {
        Ok(seen::OpenUnitsRow { block: Bytes(self.block_bytes), rate: self.rate.into_model(field)? })
    }
}

impl FatRow {
    pub(super) fn from_model(row: &seen::FatRow) -> FatRow {
        FatRow { block_bytes: row.block.get(), units: row.units.iter().map(Rate::from_model).collect() }
    }

    pub(super) fn into_model(self, field: &str) -> Result<seen::FatRow, RecordError> {
        Ok(seen::FatRow { block: Bytes(self.block_bytes), units: each(self.units, |unit| unit.into_model(field))? })
    }
}

impl UnitTimes {
    pub(super) fn from_model(unit: &seen::UnitTimes) -> UnitTimes {
        UnitTimes { at_bytes: unit.at.get(), service_time_ns: ns(&unit.times) }
    }

    pub(super) fn into_model(self) -> seen::UnitTimes {
        seen::UnitTimes { at: Bytes(self.at_bytes), times: nanos(self.service_time_ns) }
    }
}

impl ScatterPlace {
    pub(super) fn from_model(place: &seen::ScatterPlace) -> ScatterPlace {
        ScatterPlace { at_bytes: place.at.get(), service_time_ns: ns(&place.times) }
    }

    pub(super) fn into_model(self) -> seen::ScatterPlace {
        seen::ScatterPlace { at: Bytes(self.at_bytes), times: nanos(self.service_time_ns) }
    }
}

impl IntervalRow {
    pub(super) fn from_model(row: &seen::IntervalRow) -> IntervalRow {
        let (service_time_ns, printed) = match &row.evidence {
            seen::IntervalEvidence::Times(times) => (Some(ns(times)), None),
            seen::IntervalEvidence::Printed { min, avg, max } => {
                let [min, avg, max] = [min, avg, max].map(|time| time.as_ref().map(PrintedTime::from_model));
                (None, Some(PrintedInterval { min, avg, max }))
            }
        };
        IntervalRow { size_bytes: row.size.get(), service_time_ns, printed }
    }

    pub(super) fn into_model(self, field: &str) -> Result<seen::IntervalRow, RecordError> {
        let evidence = match (self.service_time_ns, self.printed) {
            (Some(times), None) => seen::IntervalEvidence::Times(nanos(times)),
            (None, Some(printed)) => seen::IntervalEvidence::Printed {
                min: printed.min.map(PrintedTime::into_model),
                avg: printed.avg.map(PrintedTime::into_model),
                max: printed.max.map(PrintedTime::into_model),
            },
            (times, _) => return Err(not_one_of(field, times.is_some())),
        };
        Ok(seen::IntervalRow { size: Bytes(self.size_bytes), evidence })
    }
}

impl ProgramRow {
    pub(super) fn from_model(row: &seen::ProgramRow) -> ProgramRow {
        ProgramRow { block_bytes: row.block.get(), columns: row.columns.iter().map(Rate::from_model).collect() }
    }

    pub(super) fn into_model(self, field: &str) -> Result<seen::ProgramRow, RecordError> {
        Ok(seen::ProgramRow {
            block: Bytes(self.block_bytes),
            columns: each(self.columns, |column| column.into_model(field))?,
        })
    }
}

/// Each of them converted, or the first error.
pub(super) fn each<T, U>(items: Vec<T>, convert: impl Fn(T) -> Result<U, RecordError>) -> Result<Vec<U>, RecordError> {
    items.into_iter().map(convert).collect()
}
