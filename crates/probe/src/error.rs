//! Why an experiment cannot be run, or cannot go on.

use flashscope_device::DeviceError;
use flashscope_model::Run;
use flashscope_units::Bytes;
use std::fmt;

/// Why an experiment makes no sense on a device. Found before the first request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// A number is below (or above) what the experiment needs.
    OutOfRange {
        /// Which parameter.
        what: &'static str,
        /// What was asked for.
        value: u64,
        /// The least that makes sense.
        least: u64,
        /// The most that makes sense.
        most: u64,
    },
    /// A size or position is not a multiple of what it must be a multiple of.
    Unaligned {
        /// Which parameter.
        what: &'static str,
        /// What was asked for.
        value: Bytes,
        /// What it must be a multiple of.
        unit: Bytes,
        /// Why.
        why: &'static str,
    },
    /// The larger size cannot be halved down to the smaller one.
    NotHalves {
        /// Which parameter is the larger one.
        what: &'static str,
        /// The larger size.
        large: Bytes,
        /// The smaller size.
        small: Bytes,
    },
    /// The device is too small.
    DoesNotFit {
        /// What does not fit.
        what: &'static str,
        /// How far into the device the experiment would reach.
        needs: u128,
        /// Where the device (or the part of it that may be used) ends.
        has: Bytes,
        /// What would make it fit.
        hint: &'static str,
    },
    /// The device is large enough, but nowhere on it does this lie as it must.
    NoPlace {
        /// What has no place.
        what: &'static str,
        /// Its size.
        size: Bytes,
        /// How much of the device was to be searched.
        within: Bytes,
        /// What would make a place.
        hint: &'static str,
    },
    /// Two areas that must be disjoint are not.
    Overlap {
        /// Which areas.
        what: &'static str,
        /// Where they meet.
        at: Bytes,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange { what, value, least, most: u64::MAX } => {
                write!(f, "{what} is {value}, which is too few\nhint: use at least {least}")
            }
            Self::OutOfRange { what, value, least, most } => {
                write!(f, "{what} is {value}, which is out of range\nhint: use {least} to {most}")
            }
            Self::Unaligned { what, value, unit, why } => {
                write!(f, "{what} ({value}) is not a multiple of {unit}\nhint: {why}")
            }
            Self::NotHalves { what, large, small } => write!(
                f,
                "{what} ({large}) cannot be halved down to {small}\nhint: use {small} times a power of two, or another \
                 block"
            ),
            Self::DoesNotFit { what, needs, has, hint } => {
                let needs =
                    u64::try_from(*needs).map_or_else(|_| format!("{needs} B"), |needs| Bytes(needs).to_string());
                write!(f, "{what} would need {needs}, but there are only {has}\nhint: {hint}")
            }
            Self::NoPlace { what, size, within, hint } => {
                write!(f, "{what} of {size} has no place in {within}\nhint: {hint}")
            }
            Self::Overlap { what, at } => {
                write!(f, "{what} overlap at byte {}\nhint: give every unit a place of its own", at.get())
            }
        }
    }
}

impl std::error::Error for PlanError {}

/// Why there is no complete run.
#[derive(Clone, Debug, PartialEq)]
pub enum ProbeError {
    /// The experiment makes no sense on this device; nothing was done.
    Plan(PlanError),
    /// The experiment writes and there is no grant; nothing was done.
    NoGrant,
    /// The experiment writes and the target cannot be written to; nothing was done.
    NotWritable,
    /// The measurement could not go on.
    Device {
        /// Why.
        error: DeviceError,
        /// Everything that was measured until then.
        partial: Box<Run>,
    },
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => write!(f, "{error}"),
            Self::NoGrant => write!(f, "this experiment writes, and writing was not allowed"),
            Self::NotWritable => write!(f, "this experiment writes, and the target cannot be written to"),
            Self::Device { .. } => write!(f, "the measurement could not go on"),
        }
    }
}

impl std::error::Error for ProbeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Device { error, .. } => Some(error),
            Self::Plan(_) | Self::NoGrant | Self::NotWritable => None,
        }
    }
}

impl From<PlanError> for ProbeError {
    fn from(error: PlanError) -> ProbeError {
        ProbeError::Plan(error)
    }
}
