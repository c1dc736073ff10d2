//! Whose journal it is, and why one does not serve. (Like those of a state that is made; a fleet, which tests capacities, must not
//! see what makes states.)

use serde::{Deserialize, Serialize};
use std::fmt;

/// What is filled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// What names the very part: the identity that consent is given by, or the path of a file.
    pub identity: String,
    /// Its size.
    pub capacity_bytes: u64,
}

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
