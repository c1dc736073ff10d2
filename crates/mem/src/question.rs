//! What can be asked of a memory, real or simulated.

use flashscope_model::memory::{Chase, Pages, Route};
use flashscope_units::Bytes;

/// How long does a load of this chase take?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// In which order places are visited.
    pub route: Route,
    /// The stretch of memory that they lie in.
    pub span: Bytes,
    /// Bytes between two neighbours.
    pub spacing: Bytes,
    /// Pages that are asked for.
    pub pages: Pages,
}

/// A memory that answers.
pub trait Memory {
    /// Why it cannot.
    type Error;

    /// Chases.
    ///
    /// # Errors
    /// What it says itself.
    fn chase(&mut self, question: &Question) -> Result<Chase, Self::Error>;
}
