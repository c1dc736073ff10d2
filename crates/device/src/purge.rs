//! The purge ladder: ways to make a device forget what it holds, the strongest first.
//!
//! What is common to all targets (a discard, an overwrite) is asked for as [`Request`](crate::Request)s. What only some
//! devices have, and no request can say, goes through [`Purge`]: the eMMC sanitise, the secure discard, other people's
//! tools. Like a write it needs the [`WriteGrant`] of the device.

use crate::WriteGrant;
use std::fmt;

/// A way to purge a device, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PurgeStep {
    /// eMMC: everything is trimmed, then the part removes what is not mapped from its flash (JESD84-B51, 6.6.13).
    MmcSanitize,
    /// NVMe: block erase of all user data, caches and spare area included (NVM Express base specification 2.0, 8.21).
    NvmeSanitize,
    /// ATA: block erase of all user data (ACS-3, 4.18).
    AtaSanitize,
    /// NVMe: the namespace is formatted, with its user data erased.
    NvmeFormat,
    /// The kernel's secure discard (`BLKSECDISCARD`): copies that the device made inside are to go as well.
    SecureDiscard,
    /// A plain discard (`BLKDISCARD`, a hole punched into a file): the device may forget, and need not.
    Discard,
    /// Everything is written over. What was there is gone; what the device maps is not, so that this is never `clean`.
    Overwrite,
}

impl PurgeStep {
    /// All of them, the strongest first.
    pub const ALL: [PurgeStep; 7] = [
        PurgeStep::MmcSanitize,
        PurgeStep::NvmeSanitize,
        PurgeStep::AtaSanitize,
        PurgeStep::NvmeFormat,
        PurgeStep::SecureDiscard,
        PurgeStep::Discard,
        PurgeStep::Overwrite,
    ];

    /// Its name in records and on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            PurgeStep::MmcSanitize => "mmc-sanitize",
            PurgeStep::NvmeSanitize => "nvme-sanitize",
            PurgeStep::AtaSanitize => "ata-sanitize",
            PurgeStep::NvmeFormat => "nvme-format",
            PurgeStep::SecureDiscard => "secure-discard",
            PurgeStep::Discard => "discard",
            PurgeStep::Overwrite => "overwrite",
        }
    }

    /// Whether nothing is mapped any more where it did what it promises.
    pub const fn unmaps(self) -> bool {
        !matches!(self, PurgeStep::Overwrite)
    }
}

/// Whether a step can be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// The device says that it has it.
    There,
    /// It cannot be had, and why.
    Absent(String),
    /// Only trying tells, and why.
    Unknown(String),
}

/// Why a step did not purge the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PurgeError {
    /// The device has no such step; it holds what it held.
    Absent(String),
    /// It was begun and failed; what the device holds now is unknown.
    Failed(String),
    /// It did not end in time; the device may still be at it.
    Hung(String),
    /// The operator stopped it; the device may still be at it.
    Stopped,
}

impl fmt::Display for PurgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(why) => write!(f, "not there: {why}"),
            Self::Failed(why) => write!(f, "failed: {why}"),
            Self::Hung(why) => write!(f, "did not end: {why}"),
            Self::Stopped => write!(f, "was stopped"),
        }
    }
}

impl std::error::Error for PurgeError {}

/// The steps that a device has beyond what requests can say.
pub trait Purge {
    /// Each such step with whether it can be had. Changes nothing.
    fn offers(&mut self) -> Vec<(PurgeStep, Availability)>;

    /// Purges the whole device by this step, with the right to write to it. `go_on` is asked now and then while it waits.
    /// Gives what was done, in words.
    ///
    /// # Errors
    /// Where the device has no such step, or it failed, or did not end in time, or `go_on` said no.
    fn purge(
        &mut self,
        step: PurgeStep,
        grant: &WriteGrant,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<String, PurgeError>;
}

/// Of a target that has nothing beyond its requests: a file, a simulated device.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPurge;

impl Purge for NoPurge {
    fn offers(&mut self) -> Vec<(PurgeStep, Availability)> {
        Vec::new()
    }

    fn purge(&mut self, step: PurgeStep, _: &WriteGrant, _: &mut dyn FnMut() -> bool) -> Result<String, PurgeError> {
        Err(PurgeError::Absent(format!("this target has no {}", step.word())))
    }
}
