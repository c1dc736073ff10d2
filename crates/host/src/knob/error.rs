//! Why a knob could not be found, read or set.

use std::fmt;
use std::path::PathBuf;

/// Why a knob could not be found, read or set. Prints as one line, and a hint on its own line where there is something to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnobError {
    /// There is no knob of this name.
    Unknown {
        /// As typed.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// The knob is known, and this machine or this target does not have it.
    Absent {
        /// Its name.
        name: String,
        /// What is missing (`/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor`).
        missing: String,
    },
    /// A path that leads elsewhere than below `/sys` and `/proc/sys`.
    Outside {
        /// As typed.
        path: PathBuf,
        /// Where it leads.
        leads: PathBuf,
    },
    /// It holds no single value that could be written back.
    NotAValue {
        /// The file.
        path: PathBuf,
        /// What it is instead (`a directory`).
        what: String,
    },
    /// The kernel, or the lack of a right, keeps it from being read or written.
    NotAllowed {
        /// The file.
        path: PathBuf,
        /// Whether writing was tried.
        writing: bool,
        /// Why (`EACCES: permission denied`).
        said: String,
    },
    /// The kernel did not take a value.
    Refused {
        /// The file.
        path: PathBuf,
        /// The value.
        value: String,
        /// What the kernel said (`EINVAL: invalid argument`), or what it made of the value.
        said: String,
    },
    /// A knob is not what it was set to.
    Changed {
        /// The file.
        path: PathBuf,
        /// What it was set to.
        wanted: String,
        /// What it is.
        found: String,
    },
    /// Another sweep holds the knobs of this machine.
    Busy {
        /// Its process, where the note tells.
        process: Option<u32>,
    },
    /// The old values could not be written down, so that nothing was changed.
    Note {
        /// The note.
        path: PathBuf,
        /// Why.
        said: String,
    },
    /// Knobs that could not be put back.
    NotRestored {
        /// Each with its value and the reason.
        what: Vec<String>,
    },
}

impl fmt::Display for KnobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, .. } => write!(f, "there is no knob '{name}'"),
            Self::Absent { name, missing } => write!(
                f,
                "this machine has no {name} for this target: there is no {missing}\nhint: `flashscope sweep TARGET --knobs` \
                 lists the knobs that it has"
            ),
            Self::Outside { path, leads } => write!(
                f,
                "{} leads to {}, and only what lies below /sys and /proc/sys is changed",
                path.display(),
                leads.display()
            ),
            Self::NotAValue { path, what } => write!(
                f,
                "{} is {what}\nhint: name a file that holds one value, so that it can be put back",
                path.display()
            ),
            Self::NotAllowed { path, writing, said } => {
                let deed = if *writing { "written" } else { "read" };
                write!(f, "{} may not be {deed}: {said}", path.display())?;
                if said.starts_with("EACCES") || said.starts_with("EPERM") {
                    write!(f, "\nhint: knobs of the kernel are root's; run with sudo")?;
                }
                Ok(())
            }
            Self::Refused { path, value, said } => {
                write!(f, "the kernel does not take '{value}' for {}: {said}", path.display())
            }
            Self::Changed { path, wanted, found } => {
                write!(f, "{} was set to '{wanted}' and is '{found}': another program changes it", path.display())
            }
            Self::Busy { process } => {
                let who = process.map_or_else(String::new, |process| format!(" (process {process})"));
                write!(
                    f,
                    "another sweep{who} is changing the knobs of this machine\nhint: wait for its end; two at once would \
                     measure each other"
                )
            }
            Self::Note { path, said } => write!(
                f,
                "the old values cannot be written down in {}, so nothing was changed: {said}\nhint: they must outlive a kill; \
                 run with sudo",
                path.display()
            ),
            Self::NotRestored { what } => write!(
                f,
                "not put back: {}\nhint: `flashscope sweep --restore` tries again, until the next boot",
                what.join("; ")
            ),
        }
    }
}

impl std::error::Error for KnobError {}
