//! Why a simulated device could not be made.

use std::fmt;

/// Why a simulated device could not be made. The hint, where there is one, is on a line of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimError {
    /// No such model.
    UnknownModel {
        /// The name that was given.
        name: String,
        /// Models whose names are near; all of them where none is.
        hint: String,
    },
    /// The model has no such parameter.
    UnknownKey {
        /// The key that was given.
        key: String,
        /// Keys that are near.
        hint: String,
    },
    /// A value that its parameter cannot take.
    BadValue {
        /// The key.
        key: String,
        /// The value that was given.
        value: String,
        /// What is wrong with it.
        why: String,
    },
    /// A part of the target that is not `key=value`.
    NotAPair(String),
    /// A model file that could not be read.
    Unreadable {
        /// The file.
        path: String,
        /// What the reader said.
        why: String,
    },
    /// A file with a device's state that is none of this device, or none at all.
    BadState {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// A model file that is not valid.
    BadFile {
        /// The model or file.
        model: String,
        /// What is wrong with it.
        why: String,
    },
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownModel { name, hint } => write!(f, "there is no simulated device '{name}'\nhint: {hint}"),
            Self::UnknownKey { key, hint } => write!(f, "the model has no parameter '{key}'\nhint: {hint}"),
            Self::BadValue { key, value, why } => write!(f, "'{value}' does not do for {key}: {why}"),
            Self::NotAPair(text) => {
                write!(
                    f,
                    "'{text}' is not a parameter\nhint: write key=value, as in sim:sd-4mib,capacity=4GiB,noise=field"
                )
            }
            Self::Unreadable { path, why } => write!(f, "model file '{path}' could not be read: {why}"),
            Self::BadState { path, why } => write!(
                f,
                "'{path}' is no state of this simulated device: {why}\nhint: a state is saved by `flashscope state --make`, and is \
                 of the model that it was saved of; name a file that is not there to start as the model says"
            ),
            Self::BadFile { model, why } => {
                write!(
                    f,
                    "model '{model}' is not valid: {why}\nhint: `flashscope sim show sd-4mib` prints a whole model"
                )
            }
        }
    }
}

impl std::error::Error for SimError {}
