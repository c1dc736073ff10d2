//! A drawn device: what it is built of, what it says of itself, and what is true of it.

use crate::around::Surroundings;
use crate::card::CardPlan;
use crate::drive::DrivePlan;
use crate::target::WorldTarget;
use crate::truth::Truth;
use flashscope_model::DeviceFacts;
use flashscope_units::Nanos;

/// A device of another world.
#[derive(Clone, Debug)]
pub struct World {
    /// What it is, in a few words.
    pub title: String,
    /// Which mechanisms it has; only scoring may read it.
    pub kinds: Vec<Kind>,
    /// Seed of all its chance.
    pub seed: u64,
    pub(crate) inside: Inside,
    pub(crate) facts: DeviceFacts,
    pub(crate) max_request: u64,
    pub(crate) flush: Nanos,
    pub(crate) discard_grain: Option<u64>,
    pub(crate) erased_byte: u8,
    pub(crate) around: Surroundings,
}

/// The two families of mappings.
#[derive(Clone, Debug)]
pub(crate) enum Inside {
    Card(CardPlan),
    Drive(DrivePlan),
}

/// A mechanism that a device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Log blocks of one unit each (BAST).
    OwnLogs,
    /// Log blocks that units share (FAST, LAST).
    SharedLogs,
    /// A map of which a part is in memory, entry by entry (DFTL).
    CachedMap,
    /// Rows of pages that begin with another channel each.
    RotatingRows,
    /// Reads cached by unit.
    UnitCache,
    /// Fast cells that are copied at rest.
    FoldedCells,
    /// A grid that does not begin at the host's first byte.
    ShiftedGrid,
    /// Log blocks that give way by another rule than that of least recent use.
    OtherEviction,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 8] = [
        Kind::OwnLogs,
        Kind::SharedLogs,
        Kind::CachedMap,
        Kind::RotatingRows,
        Kind::UnitCache,
        Kind::FoldedCells,
        Kind::ShiftedGrid,
        Kind::OtherEviction,
    ];

    /// In a few words.
    pub const fn words(self) -> &'static str {
        match self {
            Kind::OwnLogs => "own log blocks",
            Kind::SharedLogs => "shared log blocks",
            Kind::CachedMap => "demand-cached map",
            Kind::RotatingRows => "rotating rows",
            Kind::UnitCache => "reads cached by unit",
            Kind::FoldedCells => "fast cells folded at rest",
            Kind::ShiftedGrid => "shifted grid",
            Kind::OtherEviction => "other eviction",
        }
    }
}

impl World {
    /// The device, as it was drawn.
    pub fn open(&self) -> WorldTarget {
        WorldTarget::new(self, Some(&self.around))
    }

    /// The same device without any noise.
    pub fn open_quiet(&self) -> WorldTarget {
        WorldTarget::new(self, None)
    }

    /// What is true of it. Only scoring may read it.
    pub fn truth(&self) -> Truth {
        crate::truth::of(self)
    }

    /// Where what was written before the start ends.
    pub(crate) fn written(&self) -> u64 {
        let (grain, filled, hidden, capacity) = match &self.inside {
            Inside::Card(plan) => {
                let units = (plan.filled * plan.units() as f64) as u64;
                (plan.unit, units * plan.unit, plan.hidden, plan.capacity)
            }
            Inside::Drive(plan) => {
                let pages = (plan.filled * plan.pages() as f64) as u64;
                (plan.page, pages * plan.page, plan.hidden, plan.capacity)
            }
        };
        (filled / grain * grain).saturating_sub(hidden).min(capacity)
    }
}
