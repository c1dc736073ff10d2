//! Reads by place and by size: floor, survey, scatter, slide and interval.

use super::Printed;
use flashscope_units::{Bytes, Contrast, Nanos};

/// A block read again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct FloorData {
    /// Block size.
    pub block: Bytes,
    /// Where it lies.
    pub at: Bytes,
    /// Service times.
    pub times: Vec<Nanos>,
}

/// Reads at random places.
#[derive(Clone, Debug, PartialEq)]
pub struct SurveyData {
    /// Size of each read.
    pub block: Bytes,
    /// The places.
    pub places: Vec<SurveyPlace>,
}

/// One place of a survey.
#[derive(Clone, Debug, PartialEq)]
pub struct SurveyPlace {
    /// Where.
    pub at: Bytes,
    /// The byte that fills the whole block, where one does (0x00 and 0xff are what erased areas answer).
    pub uniform: Option<u8>,
    /// Service times.
    pub times: Vec<Nanos>,
}

/// Minimum read time by position.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterData {
    /// Bytes read at each position, where known.
    pub length: Option<Bytes>,
    /// Position and times; a log leaves one time, its minimum.
    pub places: Vec<ScatterPlace>,
}

/// One position of a scatter plot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScatterPlace {
    /// Where.
    pub at: Bytes,
    /// Times, one per pass.
    pub times: Vec<Nanos>,
}

/// Reads across every step of some stretches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlideData {
    /// Size of each read; half of it lies before the place, half behind.
    pub block: Bytes,
    /// Distance of neighbouring places of one stretch.
    pub step: Bytes,
    /// Whether each round went from the last place of a stretch to its first; otherwise in a random order.
    pub descending: bool,
    /// The places in rising order, each with its times.
    pub places: Vec<ScatterPlace>,
}

/// Read time by size.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalData {
    /// One entry per size.
    pub rows: Vec<IntervalRow>,
}

/// One size of [`IntervalData`].
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalRow {
    /// Size of one read.
    pub size: Bytes,
    /// Times, one per place.
    pub evidence: IntervalEvidence,
}

/// The times of one size.
#[derive(Clone, Debug, PartialEq)]
pub enum IntervalEvidence {
    /// Every sample, one per place.
    Times(Vec<Nanos>),
    /// What a log printed; each figure may be missing.
    Printed {
        /// Smallest.
        min: Option<Printed<Contrast>>,
        /// Mean.
        avg: Option<Printed<Contrast>>,
        /// Largest.
        max: Option<Printed<Contrast>>,
    },
}
