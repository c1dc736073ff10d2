//! Bugs planted on purpose, so that tests can show that they would be noticed. Never set outside tests.

use flashscope_units::Bytes;

/// A planted bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Merges take no time.
    FreeMerges,
    /// The grid of units lies half a unit off.
    ShiftedUnits,
    /// A merge leaves the last page behind.
    ForgottenCopies,
}

impl super::AuLog {
    #[cfg(test)]
    pub(crate) fn plant(&mut self, fault: Fault) {
        self.fault = Some(fault);
    }

    /// How far the grid of units is off.
    pub(super) fn phase(&self) -> Bytes {
        if self.fault == Some(Fault::ShiftedUnits) { self.params.unit / 2 } else { Bytes::ZERO }
    }
}
