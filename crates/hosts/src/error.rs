//! What can go wrong between hosts.

use std::fmt;

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What was given makes no sense: an address, a token, a certificate.
    Given,
    /// It would be unsafe.
    Unsafe,
    /// The server cannot be reached, or does not take the token.
    Server,
    /// The server did not keep what it was to keep.
    Engine,
    /// Nobody answered, or not in words of this version.
    Answer,
}

/// A failure, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostsError {
    /// What kind.
    pub kind: Kind,
    /// What happened.
    pub what: String,
    /// What to do.
    pub hint: String,
}

impl HostsError {
    pub(crate) fn new(kind: Kind, what: impl fmt::Display, hint: &str) -> HostsError {
        HostsError { kind, what: what.to_string(), hint: hint.to_owned() }
    }

    pub(crate) fn engine(doing: &str, error: impl fmt::Display) -> HostsError {
        let hint = "look at the server's log and at the room on its disk; nothing is lost, and it is tried again";
        HostsError::new(Kind::Engine, format!("{doing}: {error}"), hint)
    }
}

impl fmt::Display for HostsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhint: {}", self.what, self.hint)
    }
}

impl std::error::Error for HostsError {}
