//! What a run is to find out.

use crate::choose::{SUBJECTS, Subject};
use flashscope_model::Finding;
use flashscope_model::Finding as F;
use std::fmt;
use std::str::FromStr;

/// Which findings a run is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Want {
    /// How the device is built: units, pages, open units, what order costs, an area at the start, how addresses are mapped.
    Geometry,
    /// What the advice on partitions, file systems and mount options rests on.
    Advice,
    /// All findings, and the speeds.
    #[default]
    All,
}

const GEOMETRY: &[Finding] = &[
    F::AllocationUnit,
    F::BoundaryOffset,
    F::Page,
    F::PageInner,
    F::OpenUnitsLinear,
    F::OpenUnitsRandom,
    F::RandomOrderPenalty,
    F::FastArea,
    F::FastAreaParts,
    F::SmallWritePath,
    F::Mapping,
    F::Stripe,
    F::ParallelUnits,
    F::Channels,
    F::NeverWritten,
];

/// Spare space is not among them: it takes writing all of the device more than once, which nobody does for a mount option.
const ADVICE: &[Finding] = &[
    F::AllocationUnit,
    F::BoundaryOffset,
    F::Page,
    F::OpenUnitsLinear,
    F::RandomOrderPenalty,
    F::SmallWritePath,
    F::FastArea,
    F::Mapping,
    F::Stripe,
    F::ParallelUnits,
    F::Discard,
];

impl Want {
    /// All of them, in the order of the help text.
    pub const ALL: [Want; 3] = [Want::Geometry, Want::Advice, Want::All];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Want::Geometry => "geometry",
            Want::Advice => "advice",
            Want::All => "all",
        }
    }

    /// The findings that are wanted.
    pub const fn findings(self) -> &'static [Finding] {
        match self {
            Want::Geometry => GEOMETRY,
            Want::Advice => ADVICE,
            Want::All => Finding::ALL,
        }
    }

    /// Whether answers to this question are wanted themselves. Speeds are no findings, and wanted where all is.
    pub(crate) fn asks(self, subject: &Subject) -> bool {
        self == Want::All || subject.settles.iter().any(|finding| self.findings().contains(finding))
    }

    /// Whether a question is to be settled, for its own sake or for one that leans on it.
    pub(crate) fn needs(self, subject: &Subject) -> bool {
        let leans = |other: &Subject| other.after.contains(&subject.key) && LEANT_ON.contains(&subject.key);
        self.asks(subject) || SUBJECTS.iter().any(|other| leans(other) && self.needs(other))
    }
}

/// Questions that others lean on; what else comes before another one would only be disturbed by it.
const LEANT_ON: [&str; 7] = ["floor", "survey", "fill", "boundaries", "interval", "open-in-order", "open-random"];

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no [`Want`] has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWant(String);

impl fmt::Display for UnknownWant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no '{}' to ask for; known are geometry, advice and all", self.0)
    }
}

impl std::error::Error for UnknownWant {}

impl FromStr for Want {
    type Err = UnknownWant;

    fn from_str(text: &str) -> Result<Want, UnknownWant> {
        Want::ALL.into_iter().find(|want| want.name() == text).ok_or_else(|| UnknownWant(text.to_owned()))
    }
}
