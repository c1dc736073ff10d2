//! What a log left of samples: a figure, how it was rounded, and what it is a statistic of.

use flashscope_units::{ByteRate, Nanos};

/// A figure that a log printed: what is left of samples that are gone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Printed<T> {
    /// The figure.
    pub value: T,
    /// Half of this either way is lost to rounding: the last printed digit.
    pub quantum: T,
    /// What the figure is a statistic of.
    pub statistic: Statistic,
    /// Over how many places, where known.
    pub places: Option<u32>,
    /// Over how many tries per place, where known.
    pub tries: Option<u32>,
}

/// What a printed figure summarises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Statistic {
    /// The mean over places of the minimum over tries.
    MeanOfMinima,
    /// The mean.
    Mean,
    /// The smallest.
    Minimum,
    /// The largest.
    Maximum,
    /// Bytes over time of a whole region.
    Throughput,
}

/// A throughput: every request's service time in the order of issue, or a printed figure.
#[derive(Clone, Debug, PartialEq)]
pub enum RateEvidence {
    /// Service time of each request, in the order of issue; each moved one block.
    Times(Vec<Nanos>),
    /// What a log printed.
    Printed(Printed<ByteRate>),
}
