//! What may be wrong with a device, and what is to be said of it then.

use flashscope_model::integrity::FaultKind;

/// A fault that a device was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Planted {
    /// Some writes never reach the flash.
    Lost,
    /// What was covered is safe only some time later.
    Late,
    /// Flushes and durable writes are answered at once.
    Lying,
    /// The same, with a cache that is written out in any order.
    LyingReordered,
    /// A write under way leaves garbage.
    Torn,
    /// A write under way leaves a sector of new and old.
    Shorn,
    /// Some writes reach another place.
    Misdirected,
    /// A cut within a write damages an earlier one.
    Neighbours,
    /// The mapping is an older one.
    Rollback,
    /// It comes back smaller.
    Shrink,
    /// It does not come back.
    Dead,
    /// It comes back late.
    SlowStart,
}

impl Planted {
    /// All of them.
    pub const ALL: [Planted; 12] = [
        Planted::Lost,
        Planted::Late,
        Planted::Lying,
        Planted::LyingReordered,
        Planted::Torn,
        Planted::Shorn,
        Planted::Misdirected,
        Planted::Neighbours,
        Planted::Rollback,
        Planted::Shrink,
        Planted::Dead,
        Planted::SlowStart,
    ];

    /// Whether flushes lie.
    pub(crate) fn lies(self) -> bool {
        matches!(self, Planted::Lying | Planted::LyingReordered)
    }

    /// Whether it makes covered data disappear, so that another that does so too hides which of them it was.
    pub(crate) fn loses(self) -> bool {
        self.lies() || matches!(self, Planted::Lost | Planted::Late | Planted::Misdirected | Planted::Rollback)
    }

    /// Whether a device can have both. One that does not come back cannot come back smaller, too.
    pub(super) fn goes_with(self, other: Planted) -> bool {
        !(self.lies() && other.lies())
    }

    /// What is to be said of it.
    pub const fn due(self) -> FaultKind {
        match self {
            Planted::Lost => FaultKind::LostFlushed,
            Planted::Late => FaultKind::LateLoss,
            Planted::Lying => FaultKind::LyingFlush,
            Planted::LyingReordered => FaultKind::Reordered,
            Planted::Torn => FaultKind::Corrupted,
            Planted::Shorn => FaultKind::Shorn,
            Planted::Misdirected => FaultKind::Flying,
            Planted::Neighbours => FaultKind::Neighbour,
            Planted::Rollback => FaultKind::Rollback,
            Planted::Shrink => FaultKind::Shrunk,
            Planted::Dead => FaultKind::Dead,
            Planted::SlowStart => FaultKind::SlowRecovery,
        }
    }

    /// Everything that is true of a device that has it. A write that is lost or goes elsewhere is lost flushed data as well, and
    /// where a newer one survives it was reordered.
    pub fn implies(self) -> &'static [FaultKind] {
        use FaultKind::{LateLoss, LostFlushed, LyingFlush, Reordered, Rollback};
        match self {
            Planted::Lost => &[LostFlushed, Reordered],
            Planted::Late => &[LateLoss, LyingFlush, Reordered],
            Planted::Lying | Planted::LyingReordered => &[LostFlushed, LyingFlush, Reordered],
            Planted::Misdirected => &[FaultKind::Flying, LostFlushed, Reordered],
            Planted::Rollback => &[Rollback],
            Planted::Torn => &[FaultKind::Corrupted],
            Planted::Shorn => &[FaultKind::Shorn],
            Planted::Neighbours => &[FaultKind::Neighbour],
            Planted::Shrink => &[FaultKind::Shrunk],
            Planted::Dead => &[FaultKind::Dead],
            Planted::SlowStart => &[FaultKind::SlowRecovery],
        }
    }

    /// Whether the other fault of a device may hide this one: both make covered data disappear; or a write that would have gone
    /// elsewhere stays in a cache that is never flushed, or nothing is left to look through for it.
    pub(super) fn is_hidden_by(self, other: Planted) -> bool {
        match self {
            Planted::Misdirected => other.lies() || matches!(other, Planted::Dead | Planted::Shrink),
            _ => self.loses() && other.loses(),
        }
    }
}
