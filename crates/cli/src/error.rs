//! How a command ends, and which exit code that is.

use flashscope_device::Refusal;
use std::fmt;

/// A command that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Exit code 0.
    Done,
    /// Exit code 1: it worked, but what was expected is not there.
    ExpectationFailed,
}

/// A command that could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Usage, environment or harness: exit code 2.
    Cannot(anyhow::Error),
    /// Refused for safety: exit code 3.
    Refused {
        /// What was to be used.
        target: String,
        /// Whether it was to be written to.
        writing: bool,
        /// Everything that speaks against it.
        refusals: Vec<Refusal>,
    },
    /// Nobody reads our stdout any more, which is no failure.
    ClosedPipe,
}

impl Failure {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::Cannot(_) => 2,
            Failure::Refused { .. } => 3,
            Failure::ClosedPipe => 0,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Cannot(error) => write!(f, "{error:#}"),
            Failure::ClosedPipe => write!(f, "stdout is closed"),
            Failure::Refused { target, writing, refusals } => {
                match writing {
                    true => write!(f, "refused for safety, nothing was written to {target}")?,
                    false => write!(f, "refused to read {target}, because others use it")?,
                }
                for refusal in refusals {
                    write!(f, "\n  - {}", refusal.what)?;
                    if let Some(release) = &refusal.release {
                        write!(f, "\n    hint: {release}")?;
                    }
                }
                if !writing {
                    write!(f, "\nhint: add --read-in-use to read it all the same; others then disturb the figures")?;
                }
                Ok(())
            }
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Failure::Cannot(error)
    }
}
