//! What a knob stands for: files of the kernel, or the options of a mount. Either is read, written and read back as a text.

use super::error::KnobError;
use super::file::{KnobFile, same};
use super::mount::Mount;
use std::path::Path;

/// One thing of the kernel that has one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    File(KnobFile),
    Mount(Mount),
}

impl Spot {
    /// The file, or the place of the mount.
    pub(super) fn path(&self) -> &Path {
        match self {
            Spot::File(file) => file.path(),
            Spot::Mount(mount) => mount.point(),
        }
    }

    /// The value.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn read(&self) -> Result<String, KnobError> {
        match self {
            Spot::File(file) => file.read(),
            Spot::Mount(mount) => mount.read(),
        }
    }

    /// Whether a value that was read is this one, however it is written.
    pub(super) fn says(&self, found: &str, value: &str) -> bool {
        match self {
            Spot::File(_) => same(found, value),
            Spot::Mount(mount) => mount.says(found, value),
        }
    }

    /// Whether the kernel has this value there now.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn is(&self, value: &str) -> Result<bool, KnobError> {
        self.read().map(|found| self.says(&found, value))
    }

    /// Writes a value. Whether the kernel made it its own is for whoever reads it back.
    ///
    /// # Errors
    /// The kernel's reason.
    pub(super) fn write(&self, value: &str) -> Result<(), KnobError> {
        match self {
            Spot::File(file) => file.write(value),
            Spot::Mount(mount) => mount.write(value),
        }
    }

    /// The values that the kernel lists, where it lists any.
    pub(super) fn choices(&self) -> Vec<String> {
        match self {
            Spot::File(file) => file.choices(),
            Spot::Mount(_) => Vec::new(),
        }
    }

    /// The disk or file system whose setting this is, by the kernel's number: another one in its place has another.
    pub(super) fn owner(&self) -> Option<String> {
        match self {
            Spot::File(file) => file.disk_sequence(),
            Spot::Mount(mount) => mount.device().map(str::to_owned),
        }
    }
}
