//! Files that commands are given to read.

use anyhow::anyhow;
use std::io::ErrorKind;
use std::path::Path;

/// The text of a file; `hint` says which file was expected.
pub(crate) fn text(path: &Path, hint: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(path).map_err(|error| {
        let shown = path.display();
        match error.kind() {
            ErrorKind::InvalidData => anyhow!("{shown} is not text\nhint: {hint}"),
            _ => anyhow!("cannot read {shown}: {}\nhint: {hint}", said(&error)),
        }
    })
}

/// The system's words, without its number.
pub(crate) fn said(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::StorageFull => "no space left on the device".to_owned(),
        _ => error.to_string(),
    }
}
