//! Why a journal of work that was stopped does not serve to go on with.

use std::fmt;

/// Why a journal does not serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalError {
    /// It is no journal of this version.
    Unreadable(String),
    /// It belongs to another part.
    OtherPart {
        /// Which.
        identity: String,
    },
    /// Something else was asked for.
    OtherWish {
        /// What differs.
        what: String,
    },
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => write!(f, "it is not a journal of this version: {why}"),
            Self::OtherPart { identity } => write!(f, "it was begun on another part ({identity})"),
            Self::OtherWish { what } => write!(f, "it was begun with another {what}"),
        }
    }
}

impl std::error::Error for JournalError {}
